"""Names and sizes: one word per thing, modules that fit in a head, nothing of a machine."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from house_reading import ROOT, Finding, Module, modules, planted, report

MAX_LINES = 450

# Refused word -> the word of docs/glossary.md. One word per thing, in code, messages and docs.
REFUSED = {
    "fingerprint": "identity (of inputs) or digest (of bytes)",
    "fingerprints": "identity (of inputs) or digest (of bytes)",
    "artifact": "export, blob or build graph",
    "artifacts": "export, blob or build graph",
    "artefact": "export, blob or build graph",
    "hash": "digest (of bytes), key (of a question)",
    "hashes": "digests",
    "cachekey": "frame key, record key",
    "lockfile": "ledger",
    "movie": "composition",
    "thumbnail": "export",
    "status_code": "exit code",
    "frame_index": "frame number",
    "frame_idx": "frame number",
    "frame_no": "frame number",
    "frame_id": "frame key or frame number",
    "cache_key": "frame key, record key",
    "scene_hash": "scene key",
    "thread_pool": "executor",
}
VERBS_TOO = ("hash", "hashes")
ALLOWED_PARTS = {
    *("__hash__", "hashlib", "hasher", "rehash", "unhashable"),
    "_hash",  # the standard library's object, private to its holder
}
# A folder's names, sizes and times in one value: of no content, so no digest of this house.
ALLOWED_IN = {"fingerprint": ("export", "ops"), "fingerprints": ("export", "ops")}

# Assembled from parts, so that this file does not mention what it forbids.
MACHINE = re.compile(
    "|".join(
        (
            "/" + "work/",
            "/" + "tmp/w/",
            "/" + "root/",
            "/" + r"home/(?!me/|user/)[a-z][a-z0-9_-]*/",
            "/" + r"Users/[A-Za-z][A-Za-z0-9._-]*/",
            r"[A-Z]:\\" + r"Users\\",
            "python" + "hosted",
            "pypi" + r"\.org/simple",
        )
    )
)


def refused_words(module: Module) -> Iterator[Finding]:
    """Yield names of the module that use a word the glossary has another word for."""
    for node in ast.walk(module.tree):
        name = ""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.attr
        if not name or name in ALLOWED_PARTS:
            continue
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
        for word, instead in REFUSED.items():
            # `hash_files` is a verb and passes; `frame_hash` is a thing with another name.
            end = "$" if word in VERBS_TOO else "(?:_|$)"
            if module.room in ALLOWED_IN.get(word, ()):
                continue
            if re.search(rf"(?:^|_){word}{end}", snake):
                why = f"`{name}`: the glossary's word is {instead}"
                yield Finding("word", module, node.lineno, why)
                break


def undocumented(module: Module) -> Iterator[Finding]:
    """Yield the module, and its public classes and functions, that have no docstring."""
    if ast.get_docstring(module.tree) is None:
        yield Finding(
            "docstring", module, 1, "a module says its job, its promise, what is not here"
        )
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        holder = module.parents.get(node)
        nested = isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
        private_class = isinstance(holder, ast.ClassDef) and holder.name.startswith("_")
        marks = [ast.dump(each) for each in node.decorator_list]
        overridden = any("override" in mark or "overload" in mark for mark in marks)
        if node.name.startswith("_") or nested or private_class or overridden:
            continue
        if isinstance(holder, ast.ClassDef) and _is_named_value(node, holder):
            continue
        if ast.get_docstring(node) is None:
            why = f"`{node.name}` is public: say what it returns and what must be true before"
            yield Finding("docstring", module, node.lineno, why)


def _is_named_value(node: ast.AST, holder: ast.ClassDef) -> bool:
    # A property of a protocol without a body is a field: the protocol's docstring tells of it.
    is_protocol = any("Protocol" in ast.dump(base) for base in holder.bases)
    properties = getattr(node, "decorator_list", [])
    return is_protocol and any("property" in ast.dump(each) for each in properties)


def texts() -> Iterator[tuple[str, str]]:
    """Yield path and text of every file of the repository that a person wrote."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("the list of files comes from git, and this is no clone")
    command = [git, "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.split(b"\0")
    for name in sorted(each.decode() for each in listed if each):
        path = ROOT / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            yield name, data.decode("utf-8", "replace")


def machine_facts(name: str, text: str) -> Iterator[str]:
    """Yield the lines of a text that name a folder, a user or a server of one machine."""
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE.search(line):
            yield f"{name}:{number}: {line.strip()[:120]}"


def test_one_word_for_one_thing() -> None:
    """Names in the code are the words of the glossary, never a synonym."""
    found = [finding for module in modules() for finding in refused_words(module)]

    assert found == [], report(found)


def test_no_module_outgrows_a_head() -> None:
    """A module above the limit holds two concepts: split it by concept."""
    too_long = {m.path: len(m.text.splitlines()) for m in modules()}
    too_long = {path: lines for path, lines in too_long.items() if lines > MAX_LINES}

    assert too_long == {}


def test_everything_public_is_documented() -> None:
    """A module says its job and what is not here; a public name says what it promises."""
    found = [finding for module in modules() for finding in undocumented(module)]

    assert found == [], report(found)


def test_nothing_of_one_machine_is_in_the_repository() -> None:
    """No file names a folder, a user or a server of the machine it was written on."""
    found = [line for name, text in texts() for line in machine_facts(name, text)]

    assert found == [], "\n".join(["", *found])


@pytest.mark.parametrize(
    "text",
    [
        "def frame_hash(x):\n    return x\n",
        "class SceneFingerprint:\n    pass\n",
        "def f(frame_index):\n    pass\n",
        "def f(self):\n    self.cache_key = 1\n",
        "for artifact in ():\n    pass\n",
    ],
)
def test_a_planted_synonym_is_found(text: str) -> None:
    """The rule of words finds a synonym in a function, class, parameter, attribute and loop."""
    assert [each.rule for each in refused_words(planted("nfbuild.planted", text))] == ["word"]


def test_a_word_is_allowed_only_where_it_is_the_right_one() -> None:
    """A folder is looked at by its fingerprint; a scene has a key."""
    text = "def fingerprint(folder):\n    pass\n"

    assert list(refused_words(planted("nfbuild.export.scan", text))) == []
    assert len(list(refused_words(planted("nfbuild.scene.bake", text)))) == 1


def test_words_that_only_contain_a_refused_one_pass() -> None:
    """`__hash__`, a hasher and `--rehash` are words of their own."""
    text = "class A:\n    def __hash__(self):\n        hasher = 1\n        rehash = hasher\n"

    assert list(refused_words(planted("nfbuild.planted", text))) == []


def test_a_planted_silent_function_is_found() -> None:
    """A public method without a docstring is found; private, nested and documented ones pass."""
    text = '"""Job."""\nclass A:\n    """A."""\n    def f(self):\n        def g(): ...\n'
    text += '    def _h(self): ...\ndef k():\n    """K."""\n'

    found = list(undocumented(planted("nfbuild.planted", text)))
    assert [each.message.split("`")[1] for each in found] == ["f"]
    assert len(list(undocumented(planted("nfbuild.planted", "x = 1\n")))) == 1


def test_a_planted_path_of_a_machine_is_found() -> None:
    """Home folders and build folders are found, folders of a plan are not."""
    planted_path = "see /" + "home/ada/film and /" + "work/main"

    assert list(machine_facts("notes.md", f"one\n{planted_path}\n")) == [
        f"notes.md:2: {planted_path}"
    ]
    assert list(machine_facts("notes.md", "file:///srv/nfbuild-cache and /usr/lib\n")) == []
