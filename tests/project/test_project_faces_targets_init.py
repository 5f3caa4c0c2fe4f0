"""Face files, export targets, the project that `init` writes, and what loading imports."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nfbuild.errors import Place, ProjectError, UsageError
from nfbuild.project import discover, init, load
from nfbuild.project.faces import face_files
from nfbuild.project.targets import parse_template, targets


def test_the_default_face_is_found_in_its_package(space):
    """Text draws the same on every machine that has the declared dependencies."""
    space.config("")
    (face,) = face_files(space.load())

    assert face.label == "package:font_source_sans_pro/files/SourceSansPro-Regular.ttf"
    assert os.path.isfile(face.path)


def test_a_package_is_located_without_running_its_code(space, tmp_path, monkeypatch):
    """A face is data; importing a package for it could do anything."""
    package = tmp_path / "site" / "poisonfonts"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "A.ttf").write_bytes(b"face")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    space.config("[fonts]\nfaces = ['package:poisonfonts/A.ttf']\n")
    (face,) = face_files(space.load())

    assert face.path == str(package / "A.ttf")
    assert "poisonfonts" not in sys.modules


@pytest.mark.parametrize(
    ("label", "fact", "hint"),
    [
        ("fonts/Gone.ttf", "is not there", None),
        ("fonts/Intre.ttf", "is not there", "did you mean `fonts/Inter.ttf`?"),
        ("../x.ttf", "outside of the project", "`outside`"),
        ("package:no_such_package/A.ttf", "which is not installed", "install"),
        ("package:nfbuild", "does not name a file", "package:NAME/PATH"),
        ("package:nfbuild/../secret", "does not name a file", "package:NAME/PATH"),
        ("package:nf.build/x", "does not name a file", "package:NAME/PATH"),
        ("package:nfbuild/py.tped", "has no file `py.tped`", "`package:nfbuild/py.typed`"),
    ],
)
def test_a_face_that_cannot_be_used_is_named(space, label, fact, hint):
    """Place, fact and hint."""
    space.write("fonts/Inter.ttf")
    space.config(f"[fonts]\nfaces = [\n  '{label}',\n]\n")

    with pytest.raises(ProjectError) as caught:
        face_files(space.load())

    assert caught.value.place == Place("nfbuild.toml", 3)
    assert fact in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")


EXPORT = "[[export]]\ncomposition = '{}'\nformat = '{}'\nto = '{}'\n"


def _exports(*rows):
    return "".join(EXPORT.format(*row) for row in rows)


def test_targets_are_paths_of_compositions(space):
    """Slashes in a name are folders; a number is padded as written."""
    space.config(_exports(("*", "png", "out/{name}/{number:05d}.png"), ("a", "gif", "a.gif")))
    found = targets(space.load(), ["a", "b/c"])

    assert [(one.composition, one.export.format) for one in found] == [
        ("a", "png"),
        ("b/c", "png"),
        ("a", "gif"),
    ]
    assert found[1].template.path("b/c", 7) == "out/b/c/00007.png"
    assert found[2].template.path("a") == "a.gif"


@pytest.mark.parametrize(
    ("rows", "fact", "line"),
    [
        ([("*", "gif", "out/film.gif")], "`a` and `b` would be exported to one path", 4),
        ([("a", "gif", "out/a.gif"), ("*", "gif", "out/{name}.gif")], "two exports write", 8),
        ([("a", "gif", "out/a.gif"), ("a", "webp", "out/../out/a.gif")], "two exports write", 8),
        (
            [("a", "png", "o/{number:05d}.png"), ("a", "png", "o/{number}.png")],
            "two exports write",
            8,
        ),
        ([("a", "png", "o/{number:05d}.png"), ("b", "png", "o/00001.png")], "two exports", 4),
    ],
)
def test_two_exports_that_write_one_path_are_an_error(space, rows, fact, line):
    """One of them would win, by an order that nobody chose."""
    space.config(_exports(*rows))

    with pytest.raises(ProjectError) as caught:
        targets(space.load(), ["a", "b"])

    assert fact in caught.value.message
    assert caught.value.place == Place("nfbuild.toml", line)


def test_exports_that_never_meet_are_fine(space):
    """Selections that are disjoint, folders that differ, names like numbers elsewhere."""
    space.config(
        _exports(
            ("a", "gif", "out/x.gif"),
            ("b", "gif", "out/x.webp"),
            ("*", "png", "out/{name}/{number}.png"),
            ("*", "png", "out/{name}/n{number}.png"),
        )
    )

    assert len(targets(space.load(), ["a", "b"])) == 6


def test_a_template_keeps_what_it_is_not_asked_to_fill():
    """Plain text stays; a name with braces is not read again."""
    template = parse_template("o/{name}-{number:03d}.png")

    assert template.path("{number}", 12) == "o/{number}-012.png"


def test_init_writes_a_project_that_loads(tmp_path):
    """One composition, one PNG export, and what git must know."""
    plan = init.plan(str(tmp_path / "new"))
    init.write(plan)
    project = load(str(tmp_path / "new"), {})
    found = discover(project)

    assert [one.name for one in found.compositions] == ["hello"]
    assert [one.export.format for one in targets(project, ["hello"])] == ["png"]
    assert (tmp_path / "new/.gitignore").read_text() == "/cache/\n/out/\n/nfbuild.local.toml\n"
    assert [name for name, _ in plan.files] == [
        "nfbuild.toml",
        "compositions/hello.nf.svg",
        ".gitignore",
        ".gitattributes",
    ]


def test_init_tells_what_it_wrote_as_it_was_called(tmp_path, monkeypatch):
    """Relative stays relative."""
    monkeypatch.chdir(tmp_path)

    assert init.init_project("new") == [
        "new/nfbuild.toml",
        "new/compositions/hello.nf.svg",
        "new/.gitignore",
        "new/.gitattributes",
    ]
    with pytest.raises(UsageError) as caught:
        init.init_project("new")
    assert caught.value.place == Place("new/nfbuild.toml")


@pytest.mark.parametrize("name", ["nfbuild.toml", "compositions/hello.nf.svg"])
def test_init_refuses_what_is_there(tmp_path, name):
    """Nothing is written when anything is in the way."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(UsageError, match="is there already"):
        init.plan(str(tmp_path))

    assert sorted(tmp_path.rglob("*")) == before
    assert path.read_text() == "mine"


def test_init_in_a_used_folder_leaves_the_rest_alone(tmp_path):
    """An existing `.gitignore` stays, and what it lacks is told."""
    (tmp_path / ".gitignore").write_text("*.o\n/out/\n")
    (tmp_path / "README").write_text("mine")
    plan = init.plan(str(tmp_path))
    init.write(plan)

    assert plan.lacking == ((".gitignore", "/cache/"), (".gitignore", "/nfbuild.local.toml"))
    assert (tmp_path / ".gitignore").read_text() == "*.o\n/out/\n"


def test_init_never_writes_over_what_appears_meanwhile(tmp_path):
    """Between plan and act, someone else may have written."""
    plan = init.plan(str(tmp_path))
    (tmp_path / "nfbuild.toml").write_text("mine")

    with pytest.raises(UsageError, match="is there already"):
        init.write(plan)

    assert (tmp_path / "nfbuild.toml").read_text() == "mine"


@pytest.mark.oracle
def test_the_peer_accepts_the_composition_that_init_writes(tmp_path):
    """The example is written in the language as an independent implementation reads it."""
    init.write(init.plan(str(tmp_path)))
    done = subprocess.run(
        [sys.executable, "-m", "nanoframes", "check", "compositions/hello.nf.svg"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 errors" in done.stdout
    assert "#" not in "".join(
        line for line in done.stdout.splitlines() if line.startswith("[warning] #")
    )


def test_loading_a_project_imports_nothing_heavy(space):
    """Every command pays for it, also the one that has nothing to do."""
    space.config("[project]\nledger = 'ledger'\n[[export]]\nformat = 'png'\nto = '{name}.png'\n")
    space.write("compositions/a.nf.svg")
    script = (
        "import sys; before = set(sys.modules)\n"
        "import nfbuild.errors, nfbuild.digests; base = set(sys.modules)\n"
        "from nfbuild.project import load, discover; discover(load(sys.argv[1]))\n"
        "print(*sorted(name.split('.')[0] for name in set(sys.modules) - base))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, space.folder], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())

    # What `tomllib` needs, and this package.
    assert loaded <= {"nfbuild", "tomllib", "datetime", "_datetime", "string", "_string", "math"}
