"""Entries as files: where they stand, how they are written, what is removed, how branches merge."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tracemalloc

import pytest
from ledger_films import LINUX, MAC, Film

from nfbuild.errors import ProjectError
from nfbuild.ledger.book import Book, Rename, renames
from nfbuild.ledger.canonical import write
from nfbuild.ledger.write_policy import recorded


def _entry(word: str = "a"):
    return recorded(None, LINUX, Film().edited("source", "#a", word).present())


@pytest.fixture
def book(tmp_path) -> Book:
    return Book(str(tmp_path / "ledger"))


def test_an_entry_stands_at_the_path_of_its_composition(book, tmp_path):
    """And is read back from there."""
    assert book.read("compositions/intro/card") is None
    assert book.write("compositions/intro/card", _entry())

    assert (tmp_path / "ledger/compositions/intro/card.json").is_file()
    page = book.read("compositions/intro/card")
    assert page is not None
    assert (page.entry, page.canonical) == (_entry(), True)


@pytest.mark.parametrize("stem", ["a b", "line\nend", "caf\udce9", "[x]", "a.b", "-", "con/nul"])
def test_odd_names_have_entries(book, stem):
    """Whatever a composition may be called."""
    book.write(stem, _entry())

    assert book.stems() == ([stem], [])
    assert book.read(stem) is not None


def test_an_entry_that_did_not_move_is_not_touched(book):
    """Same bytes: not written, so nothing that watches the file wakes up."""
    book.write("a", _entry())
    before = os.stat(book.path("a"))

    assert not book.write("a", _entry())
    after = os.stat(book.path("a"))
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert book.write("a", _entry("b"))


@pytest.mark.parametrize(
    "rewritten",
    [
        lambda data: data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: json.dumps(json.loads(data)).encode(),
        lambda data: json.dumps(json.loads(data), indent=4).encode(),
        lambda data: re.sub(rb"([\[{])", rb"\n\1", data),
        lambda data: re.sub(rb"([\[,])", rb"\1\n", data),
    ],
)
def test_lanes_are_read_without_their_frames(book, rewritten):
    """However the entry is written: who needs no frame must not pay for a long film's."""
    entry = _entry()
    entry = recorded(entry, MAC, Film().edited("source", "#a", "a").but(width=48).present())
    book.write("a", entry)
    with open(book.path("a"), "r+b") as file:
        data = rewritten(file.read())
        file.seek(0)
        file.write(data)
        file.truncate()

    heads = book.heads("a")
    assert {(head.width, head.identity["source"]) for head in heads} == {
        (lane.width, lane.identity["source"]) for lane in entry.lanes.values()
    }
    assert [lane.head for lane in book.read("a").entry.lanes.values()] == heads
    assert book.heads("b") == []


@pytest.mark.parametrize(
    ("before", "after", "fact"),
    [
        (b'"lanes": {', b'"lanes": [', "is not JSON"),
        (b'"canvas": [96, 54]', b'"canvas": [96]', "is not a width and a height"),
        (b'"identity": {', b'"identity": {"x": "y",', "has the unknown key `x`"),
        (b"}\n", b"}\n<<<<<<< HEAD\n", "merge conflict"),
    ],
)
def test_lanes_of_a_damaged_entry_are_refused(book, before, after, fact):
    """As reading the whole entry refuses them."""
    book.write("a", _entry())
    with open(book.path("a"), "r+b") as file:
        data = file.read()
        assert before in data
        file.seek(0)
        file.write(data.replace(before, after))
        file.truncate()

    with pytest.raises(ProjectError, match=fact):
        book.heads("a")


def _long(frames: int):
    words = [str(number) for number in range(frames)]
    return recorded(None, LINUX, Film(scenes=words, pixels=words).present())


@pytest.mark.parametrize(
    "moved",
    [
        lambda data: data[:-1],
        lambda data: data + b" ",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-3] + b"x" + data[-2:],
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"",
    ],
)
def test_an_entry_that_moved_by_a_byte_is_written(book, moved):
    """Longer, shorter, or other bytes anywhere: what stands afterwards is the entry."""
    entry = _long(300)
    book.write("a", entry)
    with open(book.path("a"), "r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(moved(data))
        file.truncate()

    assert book.write("a", entry)
    assert book.read_bytes("a") == data == write(entry)


def test_writing_a_long_entry_takes_no_memory(book):
    """Its text is several megabytes, which are never held at once, also when it stands already."""
    entry = _long(20_000)
    size = len(write(entry))
    tracemalloc.start()
    try:
        moved = [book.write("a", entry), book.write("a", entry)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert moved == [True, False]
    assert peak < size / 5


def test_a_write_that_fails_leaves_the_former_entry_and_nothing_else(book, monkeypatch):
    """Written beside, then renamed: the disk may fill up at any moment."""
    book.write("a", _entry())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ProjectError, match="cannot be written: No space left") as caught:
        book.write("a", _entry("b"))

    assert str(caught.value.place) == "ledger/a.json"
    page = book.read("a")
    assert page is not None
    assert page.entry == _entry()
    assert book.stems() == (["a"], [])


def test_a_damaged_entry_is_written_over_on_request(book, tmp_path):
    """What the hint of every refusal says works."""
    book.write("a", _entry())
    (tmp_path / "ledger/a.json").write_text("<<<<<<< HEAD\n")
    with pytest.raises(ProjectError, match="merge conflict"):
        book.read("a", "a")

    assert book.write("a", _entry("b"))
    assert book.read("a") is not None


def test_a_folder_in_an_entry_s_place_is_an_error(book, tmp_path):
    """With the place, not a traceback."""
    (tmp_path / "ledger/a.json").mkdir(parents=True)
    for act in (lambda: book.read("a"), lambda: book.write("a", _entry())):
        with pytest.raises(ProjectError) as caught:
            act()
        assert str(caught.value.place) == "ledger/a.json"


def test_the_shelf_says_what_is_missing_and_what_is_orphaned(book, tmp_path):
    """Files that are no entries are told apart and never touched."""
    for stem in ("c/a", "c/gone", "other"):
        book.write(stem, _entry())
    (tmp_path / "ledger/README").write_text("mine")
    (tmp_path / "ledger/c/a.json.7-0.tmp").write_text("left by a crash")
    (tmp_path / "ledger/notes.json").write_text("{}")
    shelf = book.shelf(["c/a", "c/new"])

    assert shelf.present == ("c/a",)
    assert shelf.missing == ("c/new",)
    assert shelf.orphaned == ("c/gone", "notes", "other")
    assert shelf.foreign == ("README", "c/a.json.7-0.tmp")

    plan = book.prunable(shelf.orphaned)
    assert plan == ("c/gone", "other")
    book.prune(plan)
    assert book.stems()[0] == ["c/a", "notes"]


def test_pruning_removes_folders_that_it_emptied_and_no_others(book, tmp_path):
    """The ledger's own folder stays."""
    book.write("a/b/c", _entry())
    book.write("a/d", _entry())
    (tmp_path / "ledger/kept").mkdir()
    book.prune(["a/b/c"])
    assert not (tmp_path / "ledger/a/b").exists()
    assert (tmp_path / "ledger/a").exists()

    book.prune(["a/d", "never/there"])
    assert sorted(path.name for path in (tmp_path / "ledger").iterdir()) == ["kept"]


def test_a_linked_folder_is_not_walked(book, tmp_path):
    """What it holds may be anybody's."""
    outside = Book(str(tmp_path / "outside"))
    outside.write("theirs", _entry())
    book.write("a", _entry())
    (tmp_path / "ledger/link").symlink_to(tmp_path / "outside")

    assert book.stems() == (["a"], ["link"])


def test_a_renamed_composition_takes_its_entry_along():
    """Same source, same film, another path: not an orphan and a stranger."""
    entry = recorded(None, LINUX, Film().present())
    other = Film().edited("source", "#a").redrawn(5).present()

    found = renames({"old": entry}, {"new": Film().present(), "else": other})
    assert found == (Rename("old", "new"),)


def test_a_rename_needs_both_the_source_and_the_picture():
    """A copy that was edited, or drawn by something else, is a new composition."""
    entry = recorded(None, LINUX, Film().present())

    assert renames({"old": entry}, {"new": Film().edited("source", "#a").present()}) == ()
    assert renames({"old": entry}, {"new": Film().flipped(5).present()}) == ()
    sample = recorded(None, LINUX, Film(drawn=(1,)).present())
    assert renames({"old": sample}, {"new": Film(drawn=(1,)).present()}) == ()


def test_copies_are_paired_once_and_in_order():
    """Two equal films: each entry goes to one composition, the same on every machine."""
    film = Film().present()
    entry = recorded(None, LINUX, film)

    found = renames({"b": entry, "a": entry}, {"y": film, "x": film, "z": film})
    assert found == (Rename("a", "x"), Rename("b", "y"))


def _git(folder, *words):
    return subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@example.com", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )


@pytest.mark.process
def test_branches_that_change_different_compositions_merge(tmp_path):
    """Two people, two compositions, no conflict; one composition twice is a named conflict."""
    book = Book(str(tmp_path / "ledger"))
    for stem in ("c/one", "c/two"):
        book.write(stem, _entry())
    _git(tmp_path, "init", "-q", "-b", "main")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-q", "-m", "record")

    for branch, stem, word in (("left", "c/one", "l"), ("right", "c/two", "r")):
        _git(tmp_path, "checkout", "-q", "-b", branch, "main")
        book.write(stem, _entry(word))
        assert _git(tmp_path, "commit", "-q", "-a", "-m", branch).returncode == 0
    assert _git(tmp_path, "merge", "-q", "-m", "merge", "left").returncode == 0
    for stem, word in (("c/one", "l"), ("c/two", "r")):
        page = book.read(stem)
        assert page is not None
        assert (page.entry, page.canonical) == (_entry(word), True)

    _git(tmp_path, "checkout", "-q", "-b", "again", "main")
    book.write("c/one", _entry("other"))
    _git(tmp_path, "commit", "-q", "-a", "-m", "again")
    assert _git(tmp_path, "merge", "left").returncode == 1
    with pytest.raises(ProjectError, match="markers of a merge conflict") as caught:
        book.read("c/one", "one")
    assert caught.value.hint == "`nfbuild build one` writes the entry again"
    assert book.write("c/one", _entry("both"))


def test_the_bytes_on_disk_are_the_canonical_text(book):
    """No byte-order mark, no translation."""
    book.write("a", _entry())

    assert book.read_bytes("a") == write(_entry())
