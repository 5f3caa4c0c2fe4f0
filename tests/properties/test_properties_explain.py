"""`explain` names the true cause and nothing else: of a table of edits, from each old source."""

import json
import os
import shutil
import subprocess
import sys

import mutation_pictures
import pytest
from explain_edits import CHILD, CHILD_TEXT, EDITS, MAIN, MAIN_TEXT, SCENE
from mutation_cases import lottie

from nfbuild.dataclasses import replace
from nfbuild.ops.build import build
from nfbuild.ops.explain import ExplainOptions, explain
from nfbuild.ops.run import toolchain
from nfbuild.ops.run.options import read_options
from nfbuild.ops.run.session import Settings, open_session

pytestmark = pytest.mark.process

CONFIGURATION = """[project]
compositions = ["compositions/*.nf.svg", "compositions/*.lottie.json"]

[fonts]
faces = ["fonts/Body.ttf", "fonts/Strong.ttf"]
"""


def faces():
    import font_source_sans_pro

    place = os.path.join(os.path.dirname(font_source_sans_pro.__file__), "files")
    found = {}
    for name, style in (("Body", "Regular"), ("Strong", "Bold"), ("Spare", "Light")):
        with open(os.path.join(place, f"SourceSansPro-{style}.ttf"), "rb") as file:
            found[name] = file.read()
    return found


def dots(step):
    return mutation_pictures.png(9, 9, lambda x, y: (step * x % 256, 40 * y % 256, 90, 255))


def run_to_end(running):
    while True:
        try:
            next(running)
        except StopIteration as done:
            return done.value


def git(folder, *words):
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "n",
        "GIT_AUTHOR_EMAIL": "e",
        "GIT_COMMITTER_NAME": "n",
        "GIT_COMMITTER_EMAIL": "e",
    }
    ran = subprocess.run(
        ["git", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


class Project:
    """A built project whose files can be edited and put back."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, path, content):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def read(self, path):
        return (self.folder / path).read_text(encoding="utf-8")

    def build(self):
        options, settings = read_options([], str(self.folder), jobs=1, record=True)
        with open_session(str(self.folder), settings) as session:
            assert run_to_end(build(session, options)).exit_code == 0

    def explain(self, name, **options):
        with open_session(str(self.folder), Settings(observe=True, jobs=1)) as session:
            chosen = ExplainOptions(name, start=str(self.folder), **options)
            return run_to_end(explain(session, chosen))

    def edited(self, path, before, after):
        """Replace a text that stands once in a file; a context that puts it back."""
        text = self.read(path)
        assert text.count(before) >= 1, f"`{before}` is not in {path}"
        return Held(self, {path: text.replace(before, after, 1).encode()})

    def holding(self, files):
        return Held(self, files)


class Held:
    """Files with other bytes for a while."""

    def __init__(self, project, files):
        self.project = project
        self.files = files

    def __enter__(self):
        folder = self.project.folder
        self.before = {path: (folder / path).read_bytes() for path in self.files}
        for path, data in self.files.items():
            self.project.write(path, data)

    def __exit__(self, *exc_info):
        for path, data in self.before.items():
            self.project.write(path, data)


def make(folder):
    project = Project(folder)
    found = faces()
    files = {
        "nfbuild.toml": CONFIGURATION,
        MAIN: MAIN_TEXT,
        CHILD: CHILD_TEXT,
        "compositions/dots.png": dots(20),
        "compositions/more.png": dots(21),
        SCENE: lottie(1).files["compositions/case.lottie.json"],
        "fonts/Body.ttf": found["Body"],
        "fonts/Strong.ttf": found["Strong"],
        ".gitignore": "cache\n",
    }
    for path, content in files.items():
        project.write(path, content)
    project.build()
    return project


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Built, with the snapshot of every source in its cache, and no git."""
    return make(tmp_path_factory.mktemp("explain") / "snapshot")


@pytest.fixture(scope="module")
def committed(built, tmp_path_factory):
    """Built and committed; the cache is gone."""
    folder = tmp_path_factory.mktemp("explain") / "git"
    shutil.copytree(built.folder, folder, ignore=shutil.ignore_patterns("cache"))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Record")
    return Project(folder)


@pytest.fixture(scope="module")
def bare(built, tmp_path_factory):
    """Only the entry is left of what was recorded: no cache, no git."""
    folder = tmp_path_factory.mktemp("explain") / "bare"
    shutil.copytree(built.folder, folder, ignore=shutil.ignore_patterns("cache"))
    return Project(folder)


def named(answer):
    return sorted(reason.what for reason in answer.reasons)


def line_of(text, needle):
    return text[: text.index(needle)].count("\n") + 1


def check(project, edit, came_from):
    with project.edited(edit.path, edit.before, edit.after):
        answer = project.explain(edit.composition)
        text = project.read(edit.path)

    assert named(answer) == sorted(edit.fine)
    assert {reason.part for reason in answer.reasons} == set(edit.parts)
    assert answer.old_source is not None
    assert answer.old_source.startswith(came_from)
    first = next(reason for reason in answer.reasons if reason.part == "source")
    assert first.file == edit.path
    if edit.line is not None:
        assert first.line == line_of(text, edit.line)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_a_single_edit_is_named_by_the_snapshot(built, edit):
    """Element and attribute, target, keyframe and property, file and line: no other."""
    check(built, edit, "the cache")


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_a_single_edit_is_named_by_git(committed, edit):
    """The same words where the cache is gone and git has what the entry was written of."""
    check(committed, edit, "git ")


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_a_single_edit_is_named_by_the_entry_alone(bare, edit):
    """Without the old source the sub-inputs of the entry are named, and why no more is."""
    with bare.edited(edit.path, edit.before, edit.after):
        answer = bare.explain(edit.composition)

    assert named(answer) == sorted(edit.coarse)
    assert answer.old_source is None
    assert any("neither in the cache nor in git" in fact for fact in answer.facts)


def test_the_table_is_long_enough(built):
    """Forty edits of a source at least, no two alike."""
    assert len({edit.name for edit in EDITS}) == len(EDITS) >= 40


@pytest.mark.parametrize("projects", ["built", "committed", "bare"])
def test_nothing_moved(projects, request):
    """Without an edit there is no reason, whatever is at hand."""
    project = request.getfixturevalue(projects)
    answer = project.explain("main")

    assert answer.reasons == []
    assert answer.moved == []


QUIET = [
    ("a comment", MAIN, "  <defs>", "  <!-- note -->\n  <defs>"),
    ("order of attributes", MAIN, 'cx="9" cy="9"', 'cy="9" cx="9"'),
    ("blanks", MAIN, '  <rect id="panel"', '\n\n      <rect id="panel"'),
    ("for checks only", MAIN, 'data-fps="10"', 'data-fps="10" data-safe-margin="4"'),
    ("layout of the timeline", MAIN, '"opacity": 0.5', '"opacity"  :  0.5'),
]


@pytest.mark.parametrize("edit", QUIET, ids=lambda edit: edit[0])
def test_what_draws_nothing_is_no_reason(built, edit):
    """It is not an input: neither a reason, nor a frame to render."""
    with built.edited(*edit[1:]):
        answer = built.explain("main")

    assert answer.reasons == []
    assert (answer.moved, answer.to_render) == ([], 0)


PAIRS = [(0, 29), (12, 27), (36, 3), (25, 9), (40, 13), (31, 32), (18, 15), (37, 0)]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_both_causes_of_a_double_edit(built, pair):
    """Each of the two is named, with its line; the one does not hide the other."""
    one, two = (EDITS[at] for at in pair)
    with (
        built.edited(one.path, one.before, one.after),
        built.edited(two.path, two.before, two.after),
    ):
        answer = built.explain("main")

    assert named(answer) == sorted([*one.fine, *two.fine])


# --- media, faces, tools ------------------------------------------------------------------------


def test_a_media_file(built):
    """The file is named by its path, with both digests."""
    with built.holding({"compositions/dots.png": dots(33)}):
        answer = built.explain("main")
    (reason,) = answer.reasons

    assert (reason.part, reason.what) == ("media", "compositions/dots.png")
    assert None not in (reason.before, reason.after)
    assert reason.before != reason.after


def test_a_face(built):
    """The face is named as the entry names it."""
    with built.holding({"fonts/Body.ttf": faces()["Spare"]}):
        answer = built.explain("main")
    (reason,) = answer.reasons

    assert (reason.part, reason.what) == ("fonts", "Body")


def test_an_unused_face_is_no_reason(built):
    """A face that no text uses is no input."""
    with built.holding({"fonts/Strong.ttf": faces()["Spare"]}):
        answer = built.explain("main")

    assert answer.reasons == []


def test_faces_in_another_order(tmp_path):
    """Which face a text falls back to is of the configuration: named beside an edit too."""
    project = make(tmp_path / "order")
    text = project.read(MAIN).replace("</svg>", '<text y="9" font-family="Nobody">n</text></svg>')
    text = text.replace('font-family="Body" xml', 'font-family="Strong" xml')
    project.write(MAIN, text)
    project.build()
    order = CONFIGURATION.replace(
        '"fonts/Body.ttf", "fonts/Strong.ttf"', '"fonts/Strong.ttf", "fonts/Body.ttf"'
    )
    with project.holding({"nfbuild.toml": order.encode()}):
        alone = project.explain("main")
        edit = EDITS[0]
        with project.edited(edit.path, edit.before, edit.after):
            both = project.explain("main")

    assert [(reason.part, reason.what) for reason in alone.reasons] == [("source", "faces")]
    assert named(both) == ["#panel@fill", "faces"]


def test_media_and_source_together(built):
    """A double edit over two parts: both, each in its part."""
    edit = EDITS[0]
    with (
        built.holding({"compositions/dots.png": dots(33)}),
        built.edited(edit.path, edit.before, edit.after),
    ):
        answer = built.explain("main")

    assert [(reason.part, reason.what) for reason in answer.reasons] == [
        ("source", "#panel@fill"),
        ("media", "compositions/dots.png"),
    ]


def _padded(path, folder):
    copy = folder / os.path.basename(path)
    with open(path, "rb") as source:
        copy.write_bytes(source.read() + b"\n")
    return str(copy)


def _library(monkeypatch, folder, found):
    changed = replace(found, library=_padded(found.library, folder))
    monkeypatch.setattr(toolchain.rasterizer, "find", lambda: changed)
    return "libthorvg"


def _version(monkeypatch, folder, found):
    changed = replace(found, version="9.9.9")
    monkeypatch.setattr(toolchain.rasterizer, "find", lambda: changed)
    return "thorvg-python version"


def _binding(monkeypatch, folder, found):
    name = min(found.modules)
    modules = {**found.modules, name: _padded(found.modules[name], folder)}
    monkeypatch.setattr(toolchain.rasterizer, "find", lambda: replace(found, modules=modules))
    return f"thorvg_python/{name}"


def _c_library(monkeypatch, folder, found):
    monkeypatch.setattr(toolchain.rasterizer, "c_library", lambda: "glibc 0.1")
    return "c library"


def _module(monkeypatch, folder, found):
    copy = folder / "nfbuild"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(toolchain.package_folder(), copy, ignore=ignore)
    with open(copy / "scene" / "ease.py", "ab") as file:
        file.write(b"# another\n")
    monkeypatch.setattr(toolchain, "package_folder", lambda: str(copy))
    return "nfbuild/scene/ease.py"


def _options(monkeypatch, folder, found):
    monkeypatch.setattr(toolchain.rasterizer, "ENGINE_OPTIONS", "threads=4")
    return "engine options"


TOOLS = {
    "library": _library,
    "version": _version,
    "binding": _binding,
    "c library": _c_library,
    "module": _module,
    "options": _options,
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool(built, monkeypatch, tmp_path, tool):
    """The library, its version, a module of the binding or of the core: that one by name."""
    what = TOOLS[tool](monkeypatch, tmp_path, toolchain.rasterizer.find())
    answer = built.explain("main")

    assert [(reason.part, reason.what) for reason in answer.reasons] == [("toolchain", what)]


# --- what else an answer says -------------------------------------------------------------------


def test_which_frames_moved(built):
    """The frames that another scene shows, as ranges; the still ones are not among them."""
    with built.edited(MAIN, '"opacity": 0.5', '"opacity": 0.4'):
        answer = built.explain("main")

    assert answer.moved == [(1, 3)]
    assert answer.to_render == 3


def test_one_frame(built):
    """`--frame` tells of that frame whether it is the scene that was recorded."""
    with built.edited(MAIN, '"opacity": 0.5', '"opacity": 0.4'):
        still = built.explain("main", frame=0)
        moved = built.explain("main", frame=2)

    assert any(
        "frame 0" in fact and "is the scene that was recorded" in fact for fact in still.facts
    )
    assert any("frame 2" in fact and "another scene" in fact for fact in moved.facts)


def test_by_how_much(tmp_path):
    """Where both pictures are at hand, pixels and the largest step are told without drawing."""
    project = make(tmp_path / "pixels")
    entry = (project.folder / "ledger/compositions/main.json").read_bytes()
    text = project.read(MAIN)
    project.write(MAIN, text.replace('fill="#00ff00"', 'fill="#00f000"'))
    project.build()
    project.write("ledger/compositions/main.json", entry)
    answer = project.explain("main")

    assert named(answer) == ["rect[2]@fill"]
    assert [row["frame"] for row in answer.pixels] == [0, 1, 2, 3]
    assert {row["pixels"] for row in answer.pixels} == {25}
    assert {row["step"] for row in answer.pixels} == {15}


def test_the_program_says_it_in_words_and_in_json(built):
    """Text for people, one document for tools, the same causes; nothing is written."""
    before = sorted(str(path) for path in built.folder.rglob("*"))
    with built.edited(MAIN, 'fill="#102030"', 'fill="#102031"'):
        command = [sys.executable, "-m", "nfbuild", "explain", "main", "-C", str(built.folder)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        told = subprocess.run(
            [*command, "--json"], capture_output=True, text=True, check=False, timeout=120
        )
    document = json.loads(told.stdout)

    assert "source: #panel@fill (compositions/main.nf.svg:10) #102030 \u2192 #102031" in ran.stdout
    assert document["schema"] == "nfbuild.explain/1"
    assert [reason["what"] for reason in document["reasons"]] == ["#panel@fill"]
    assert sorted(str(path) for path in built.folder.rglob("*")) == before


def test_status_says_the_same(built):
    """`status` has the same reasons, down to the attribute."""
    with built.edited(MAIN, 'fill="#102030"', 'fill="#102031"'):
        command = [sys.executable, "-m", "nfbuild", "status", "main", "-C", str(built.folder)]
        told = subprocess.run(
            [*command, "--json"], capture_output=True, text=True, check=False, timeout=120
        )
    (row,) = json.loads(told.stdout)["compositions"]

    assert row["to_render"] == 4
    assert [reason["what"] for reason in row["reasons"]] == ["#panel@fill"]


# --- history ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """A history: recorded, worded otherwise, moved by a colour, untouched, moved by a picture."""
    project = make(tmp_path_factory.mktemp("history") / "project")
    folder = project.folder
    git(folder, "init", "-q", "-b", "main")
    names = {}

    def commit(subject):
        git(folder, "add", ".")
        git(folder, "commit", "-q", "--allow-empty", "-m", subject)
        names[subject] = git(folder, "rev-parse", "HEAD")

    def edit(path, before, after):
        text = project.read(path)
        assert before in text
        project.write(path, text.replace(before, after, 1))
        project.build()

    commit("Record")
    # Another source, the same picture: the entry is refreshed and shows the same digest.
    edit(MAIN, 'fill="#00ff00"', 'fill="#0f0"')
    commit("Spell a colour shorter")
    edit(MAIN, 'fill="#102030"', 'fill="#302010"')
    commit("Paint the panel")
    commit("Do nothing")
    project.write("compositions/dots.png", dots(77))
    project.build()
    commit("Draw other dots")
    return project, names


def test_since_names_the_commit_that_moved_the_picture(history):
    """From entries alone: the commits that moved it, oldest first, each with part and cause."""
    project, names = history
    answer = project.explain("main", since=names["Record"])

    assert [commit["commit"] for commit in answer.commits] == [
        names["Paint the panel"],
        names["Draw other dots"],
    ]
    assert [commit["parts"] for commit in answer.commits] == [["source"], ["media"]]
    assert [reason["what"] for reason in answer.commits[0]["reasons"]] == ["#panel"]
    assert answer.commits[1]["moved"] == [[0, 3]]
    assert names["Paint the panel"][:12] in answer.facts[0]
    assert "Paint the panel" in answer.facts[0]


def test_since_a_later_revision(history):
    """What lies before the revision is not told; nothing after it is an answer too."""
    project, names = history
    later = project.explain("main", since=names["Do nothing"])
    never = project.explain("main", since="HEAD")

    assert [commit["subject"] for commit in later.commits] == ["Draw other dots"]
    assert never.commits == []
    assert "no commit since" in never.facts[0]


def test_since_draws_nothing(history, monkeypatch):
    """The answer stands in the entries: no worker is started, no frame is baked."""
    from nfbuild.ops.frames import films
    from nfbuild.ops.run.session import Session

    def never(*_args, **_kwargs):
        raise AssertionError("nothing is baked or drawn")

    monkeypatch.setattr(Session, "_make_executor", never)
    monkeypatch.setattr(films, "bake", never)
    project, names = history

    assert len(project.explain("main", since=names["Record"]).commits) == 2


def test_between_two_revisions(history):
    """What two states of the ledger differ in: inputs, frames, whether the picture moved."""
    project, names = history
    one = f"{names['Record']}:{names['Paint the panel']}"
    spelled = f"{names['Record']}:{names['Spell a colour shorter']}"

    moved = project.explain("main", between=one)
    same = project.explain("main", between=spelled)
    assert named(moved) == ["#panel", "rect[2]"]
    assert moved.moved == [(0, 3)]
    assert any("the picture moved" in fact for fact in moved.facts)
    assert named(same) == ["rect[2]"]
    assert same.moved == []
    assert any("the picture is the same" in fact for fact in same.facts)


def test_between_a_revision_and_the_working_tree(history):
    """`REV:` alone compares with the ledger as it lies on disk."""
    project, names = history
    answer = project.explain("main", between=f"{names['Paint the panel']}:")

    assert named(answer) == ["compositions/dots.png"]


def test_a_revision_that_is_none(history):
    """A name that git does not know is a mistake of the user's, told with a hint."""
    from nfbuild.errors import UsageError

    project, _ = history
    for options in ({"since": "nowhere"}, {"between": "nowhere:"}, {"since": "--all"}):
        with pytest.raises(UsageError, match="names no commit"):
            project.explain("main", **options)
