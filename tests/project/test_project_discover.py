"""Which files are compositions, what they are called, and what NAME means."""

from __future__ import annotations

import os

import pytest

from nfbuild.errors import ProjectError, UsageError
from nfbuild.project import select
from nfbuild.project.discover import name_of, without_suffix
from nfbuild.project.glob import matches_text


def test_a_name_is_the_path_below_the_fixed_part_without_suffix(space):
    """`.nf.svg` goes as a whole, of any other name the last suffix."""
    space.config(
        '[project]\ncompositions = ["compositions/**/*.nf.svg", "compositions/**/*.lottie",'
        ' "compositions/**/*.lottie.json", "marks/*.svg", "art/logo.svg", "badge.svg"]\n'
    )
    for path in (
        "compositions/loop.nf.svg",
        "compositions/intro/title-card.nf.svg",
        "compositions/bounce.lottie",
        "compositions/deep/er/spin.lottie.json",
        "marks/seal.svg",
        "art/logo.svg",
        "badge.svg",
        "unlisted.svg",
        "compositions/notes.txt",
    ):
        space.write(path)

    assert space.names() == [
        "badge",
        "bounce",
        "deep/er/spin.lottie",
        "intro/title-card",
        "logo",
        "loop",
        "seal",
    ]


def test_the_ledger_path_is_the_composition_path_without_suffix(space):
    """Where the entry stands does not depend on the patterns."""
    space.config('[project]\ncompositions = ["a/*/*.nf.svg"]\n')
    space.write("a/b/c.nf.svg")
    (one,) = space.discover().compositions

    assert (one.name, one.path, one.stem) == ("b/c", "a/b/c.nf.svg", "a/b/c")


def test_the_order_is_that_of_utf8_bytes(space):
    """Not of a locale, and not of UTF-16."""
    space.config("")
    names = ["Z", "a", "Ä", "\uffee", "\U0001f600", "10", "9"]
    for name in names:
        space.write(f"compositions/{name}.nf.svg")

    assert space.names() == sorted(names, key=lambda name: name.encode())


def test_two_files_with_one_name_are_an_error_that_names_both(space):
    """Neither is chosen silently."""
    space.config("")
    space.write("compositions/loop.nf.svg")
    space.write("compositions/loop.lottie")

    with pytest.raises(ProjectError) as caught:
        space.discover()

    assert "`compositions/loop.lottie` and `compositions/loop.nf.svg`" in caught.value.message
    assert "`loop`" in caught.value.message


def test_one_file_found_by_two_patterns_is_one_composition(space):
    """Patterns may overlap."""
    space.config('[project]\ncompositions = ["c/**/*.nf.svg", "c/*.svg", "c//./*.nf.svg"]\n')
    space.write("c/a.nf.svg")

    assert space.names() == ["a"]


def test_what_was_looked_at_is_told(space, tmp_path):
    """A later run can tell by these alone that it would find the same."""
    space.config('[project]\ncompositions = ["c/**/*.nf.svg", "gone/*.svg", "one.svg"]\n')
    space.write("c/a/x.nf.svg")
    space.write("c/b/notes")
    found = space.discover()

    assert found.folders == tuple(str(tmp_path / name) for name in ("c", "c/a", "c/b"))
    assert found.absent == (str(tmp_path / "gone"), str(tmp_path / "one.svg"))


def test_odd_names_are_names(space, tmp_path):
    """Blanks, line ends, quotes, brackets, bytes that are no text: all are found."""
    space.config("")
    names = [b"a b", b"line\nend", b"[draft]", b'"q"', b"caf\xe9", "naïve".encode(), b"-x"]
    folder = os.fsencode(tmp_path / "compositions")
    os.mkdir(folder)
    for name in names:
        with open(os.path.join(folder, name + b".nf.svg"), "wb"):
            pass

    assert sorted(os.fsencode(name) for name in space.names()) == sorted(names)


def test_hidden_names_and_own_folders_are_passed_over(space):
    """`**` does not look into `.git`, the cache or the ledger."""
    space.config('[project]\ncompositions = ["**/*.svg", ".hidden/*.svg"]\n')
    for path in (".git/a.svg", "cache/b.svg", "ledger/c.svg", "d.svg", ".e.svg", ".hidden/f.svg"):
        space.write(path)

    assert space.names() == ["d", "f"]


def test_links_are_followed_but_never_in_a_circle(space, tmp_path):
    """A link to a folder above ends the walk there; a link to a file is a composition."""
    space.config("")
    space.write("compositions/a.nf.svg")
    space.write("elsewhere/b.nf.svg")
    compositions = tmp_path / "compositions"
    (compositions / "up").symlink_to(compositions)
    (compositions / "self").symlink_to("self")
    (compositions / "more").symlink_to(tmp_path / "elsewhere")
    (compositions / "c.nf.svg").symlink_to("a.nf.svg")

    assert space.names() == ["a", "c", "more/b"]


def test_what_cannot_be_read_is_still_found(space, tmp_path):
    """A folder or a dead link with a composition's name is an error when it is read."""
    space.config("")
    (tmp_path / "compositions" / "folder.nf.svg").mkdir(parents=True)
    (tmp_path / "compositions" / "dead.nf.svg").symlink_to("nowhere")

    assert space.names() == ["dead", "folder"]


def test_names_that_differ_in_case_are_told(space, tmp_path):
    """Two files here, one file on other systems."""
    space.config("")
    space.write("compositions/Loop.nf.svg")
    space.write("compositions/loop.nf.svg")
    if len(os.listdir(tmp_path / "compositions")) == 1:
        pytest.skip("this file system ignores case")
    found = space.discover()

    assert [one.name for one in found.compositions] == ["Loop", "loop"]
    assert [(clash.first, clash.second) for clash in found.clashes] == [
        ("compositions/Loop.nf.svg", "compositions/loop.nf.svg")
    ]


def test_two_spellings_of_one_folder_are_one_composition(space, tmp_path):
    """As on a file system that ignores case, where two patterns may name one folder."""
    space.config('[project]\ncompositions = ["Films/*.nf.svg", "films/*.nf.svg"]\n')
    space.write("Films/a.nf.svg")
    if not (tmp_path / "films").exists():
        (tmp_path / "films").symlink_to("Films")

    assert [one.path for one in space.discover().compositions] == ["Films/a.nf.svg"]


def test_a_folder_that_cannot_be_listed_is_named(space, monkeypatch):
    """What is in it would otherwise be missing without a word."""
    space.config("")
    space.write("compositions/locked/a.nf.svg")
    real = os.scandir

    def scandir(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(ProjectError, match="cannot list the folder: Permission denied") as caught:
        space.discover()

    assert str(caught.value.place) == "compositions/locked"


def test_the_order_of_the_file_system_does_not_matter(space, monkeypatch):
    """A walk over names in another order finds the same."""
    space.config('[project]\ncompositions = ["**/*.nf.svg"]\n')
    for path in ("b/x.nf.svg", "a/y.nf.svg", "a/x.nf.svg", "z.nf.svg"):
        space.write(path)
    before = space.discover()
    real = os.scandir

    class Backwards:
        def __init__(self, path):
            with real(path) as entries:
                self.entries = sorted(entries, key=lambda entry: entry.name, reverse=True)

        def __enter__(self):
            return iter(self.entries)

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(os, "scandir", Backwards)

    assert space.discover() == before


def test_an_entry_without_composition_is_called_as_the_composition_was(space):
    """The name of a path that is no longer there."""
    space.config('[project]\ncompositions = ["compositions/**/*.nf.svg", "*.svg"]\n')
    project = space.load()

    assert name_of(project, "compositions/intro/card.v2") == "intro/card.v2"
    assert name_of(project, "badge") == "badge"


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("a/b.nf.svg", "a/b"),
        ("a/b.NF.SVG", "a/b"),
        ("a.d/b", "a.d/b"),
        ("b.lottie.json", "b.lottie"),
        ("c/.x", "c/.x"),
    ],
)
def test_suffixes(path, stem):
    """Only the file's own last suffix goes."""
    assert without_suffix(path) == stem


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*", "", True),
        ("*.nf.svg", "a.nf.svg", True),
        ("*.nf.svg", "a.svg", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("[ab]x", "bx", True),
        ("[!ab]x", "bx", False),
        ("[a-c]x", "bx", True),
        ("[]]", "]", True),
        ("[draft", "[draft", True),
        ("*a*b", "xaxb", True),
        ("*a*b", "xbxa", False),
        ("A", "a", False),
        ("*" * 30 + "b", "a" * 200, False),
    ],
)
def test_patterns(pattern, text, expected):
    """One name against one pattern; many stars are no trap."""
    assert matches_text(pattern, text) is expected


@pytest.fixture
def three(space):
    space.config("")
    for name in ("loop", "intro/card", "intro/end", "[draft]"):
        space.write(f"compositions/{name}.nf.svg")
    space.write("compositions/notes.txt")
    return space


@pytest.mark.parametrize(
    ("names", "start", "expected"),
    [
        ([], "", ["[draft]", "intro/card", "intro/end", "loop"]),
        (["loop"], "", ["loop"]),
        (["loop", "intro/*", "loop"], "", ["intro/card", "intro/end", "loop"]),
        (["*"], "", ["[draft]", "intro/card", "intro/end", "loop"]),
        (["*card"], "", ["intro/card"]),
        (["[draft]"], "", ["[draft]"]),
        (["compositions/loop.nf.svg"], "", ["loop"]),
        (["./compositions/../compositions/loop.nf.svg"], "", ["loop"]),
        (["card.nf.svg"], "compositions/intro", ["intro/card"]),
        (["compositions/loop.nf.svg"], "compositions/intro", ["loop"]),
    ],
)
def test_a_name_a_path_or_a_pattern_selects(three, names, start, expected):
    """Each composition once, in the order of names."""
    project = three.load()
    found = select(project, three.discover().compositions, names, os.path.join(three.folder, start))

    assert [one.name for one in found] == expected


def test_an_absolute_path_and_a_link_select(three, tmp_path):
    """A path means the file it leads to."""
    (tmp_path / "shortcut.svg").symlink_to(tmp_path / "compositions/loop.nf.svg")
    project, listed = three.load(), three.discover().compositions
    for name in (str(tmp_path / "compositions/loop.nf.svg"), "shortcut.svg"):
        assert [one.name for one in select(project, listed, [name], str(tmp_path))] == ["loop"]


@pytest.mark.parametrize(
    ("name", "fact", "hint"),
    [
        ("lop", "no composition has this name", "did you mean `loop`?"),
        ("card", "no composition has this name", "did you mean `intro/card`?"),
        ("quite-other", "no composition has this name", "`nfbuild status` lists"),
        ("x*", "pattern matches no composition", "`nfbuild status` lists"),
        ("compositions/notes.txt", "is not a composition", "compositions/**/*.nf.svg"),
    ],
)
def test_a_name_that_means_nothing_is_a_usage_error(three, name, fact, hint):
    """With the nearest name, where one is near."""
    with pytest.raises(UsageError) as caught:
        select(three.load(), three.discover().compositions, [name], three.folder)

    assert name in caught.value.message
    assert fact in caught.value.message
    assert hint in (caught.value.hint or "")
