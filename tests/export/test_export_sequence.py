"""PNG sequences: only what moved is written, only what is ours is removed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from fractions import Fraction

import pytest
from export_frames import Frames, flat, numbered

from nfbuild.digests import file_digest
from nfbuild.errors import Place
from nfbuild.export.base import ExportError
from nfbuild.export.plan import Subject, resolve
from nfbuild.export.pngs import export_sequence
from nfbuild.export.scan import NamePattern, parse_pattern, scan_fingerprint
from nfbuild.pixels import png
from nfbuild.pixels.png import decode
from nfbuild.project.values import Export

SIZE = (12, 8)


class Space:
    """A project folder with one exported sequence."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.state = os.path.join(root, "cache", "exports", "one.json")
        self.folder = os.path.join(root, "out", "film")
        self.options: dict = {}

    def frames(self, order, shades=None) -> Frames:
        shades = range(1 + max(order)) if shades is None else shades
        rasters = [numbered(SIZE, shade) for shade in shades]
        return Frames(os.path.join(self.root, "cache", "blobs"), rasters, order, SIZE)

    def export(self, source: Frames, **options):
        export = Export(
            "*", "png", "out/{name}/{number:03d}.png", Place("nfbuild.toml", 3), **options
        )
        subject = Subject("film", *SIZE, source.rate, source.count, source.markers)
        return export_sequence(resolve(export, subject, self.root), source, self.state)

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def read(self, name: str) -> bytes:
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def write(self, name: str, data: bytes) -> None:
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def forget(self) -> None:
        shutil.rmtree(os.path.join(self.root, "cache", "exports"))


@pytest.fixture
def space(tmp_path) -> Space:
    return Space(str(tmp_path))


def test_a_first_export_writes_every_frame(space):
    """Each file holds its frame, under the number of the frame."""
    frames = space.frames([0, 1, 1, 2])
    report = space.export(frames)

    assert report.written == ("000.png", "001.png", "002.png", "003.png")
    assert space.names() == ["000.png", "001.png", "002.png", "003.png"]
    for number in range(4):
        assert decode(space.read(f"{number:03d}.png")) == (frames.rgba(number), *SIZE)


def test_a_second_export_touches_nothing(space):
    """Nothing moved: no file is written, read or even dated anew."""
    space.export(space.frames([0, 1, 2]))
    before = scan_fingerprint(space.folder, "{number:03d}.png")
    report = space.export(space.frames([0, 1, 2]))

    assert (report.written, report.removed, report.kept) == ((), (), 3)
    assert report.fingerprint == before == scan_fingerprint(space.folder, "{number:03d}.png")


def test_one_changed_frame_is_one_written_file(space):
    """The files of the other frames keep their inode and their time."""
    space.export(space.frames([0, 1, 2, 3]))
    before = {name: os.stat(os.path.join(space.folder, name)) for name in space.names()}
    report = space.export(space.frames([0, 1, 2, 3], shades=[0, 1, 7, 3]))

    assert report.written == ("002.png",)
    for name in ("000.png", "001.png", "003.png"):
        after = os.stat(os.path.join(space.folder, name))
        assert (after.st_ino, after.st_mtime_ns) == (before[name].st_ino, before[name].st_mtime_ns)


def test_a_shorter_film_removes_its_last_files(space):
    """Frames that the film no longer has are removed, and only those."""
    space.export(space.frames([0, 1, 2, 3]))
    space.write("notes.txt", b"mine")
    space.write("099.png", b"mine too")
    report = space.export(space.frames([0, 1]))

    assert report.removed == ("002.png", "003.png")
    assert report.left == ("099.png",)
    assert space.names() == ["000.png", "001.png", "099.png", "notes.txt"]


def test_a_foreign_file_at_a_frames_name_stops_the_export(space):
    """It is named, and neither it nor anything else is changed."""
    space.write("001.png", b"a holiday picture")

    with pytest.raises(ExportError, match=r"`001\.png`") as caught:
        space.export(space.frames([0, 1, 2]))
    assert caught.value.code == "export.foreign"
    assert caught.value.place == Place("nfbuild.toml", 3)
    assert space.names() == ["001.png"]
    assert space.read("001.png") == b"a holiday picture"


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_file_at_a_frames_name_is_foreign(space, kind, tmp_path):
    """A link is not followed: what it points to would be replaced in somebody else's place."""
    os.makedirs(space.folder)
    path = os.path.join(space.folder, "000.png")
    frames = space.frames([0])
    os.mkdir(path) if kind == "folder" else os.symlink(frames.png_path(0), path)

    with pytest.raises(ExportError, match=r"000\.png"):
        space.export(frames)
    assert os.path.isdir(path) if kind == "folder" else os.path.islink(path)


def test_a_lost_state_costs_reading_and_no_writing(space):
    """Equal content is recognised; the files stay as they are."""
    space.export(space.frames([0, 1, 2]))
    before = scan_fingerprint(space.folder, "{number:03d}.png")
    space.forget()
    report = space.export(space.frames([0, 1, 2]))

    assert (report.written, report.kept) == ((), 3)
    assert scan_fingerprint(space.folder, "{number:03d}.png") == before


def test_a_lost_state_never_removes(space):
    """Without a list of ours, surplus files may be anybody's; frames of ours are still replaced."""
    space.export(space.frames([0, 1, 2]))
    space.forget()
    report = space.export(space.frames([0, 1], shades=[0, 9]))

    assert (report.written, report.removed, report.left) == (("001.png",), (), ("002.png",))
    assert space.names() == ["000.png", "001.png", "002.png"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"schema":"nfbuild.export-state/9"}'])
def test_a_damaged_state_is_a_lost_one(space, damage):
    """It is disposable, so it is never an error."""
    space.export(space.frames([0, 1]))
    with open(space.state, "wb") as file:
        file.write(damage)
    report = space.export(space.frames([0, 1]))

    assert (report.written, report.kept) == ((), 2)


def test_the_state_of_another_folder_does_not_speak_for_this_one(space, tmp_path):
    """A project copied with its cache must not remove files in the copy by the original's list."""
    space.export(space.frames([0, 1, 2]))
    copy = Space(str(tmp_path / "copy"))
    shutil.copytree(os.path.join(space.root, "cache"), os.path.join(copy.root, "cache"))
    copy.write("002.png", b"somebody's")
    report = copy.export(copy.frames([0, 1]))

    assert report.left == ("002.png",)
    assert copy.read("002.png") == b"somebody's"


def test_a_file_of_ours_that_was_edited_is_restored(space):
    """A product is what the build says it is."""
    space.export(space.frames([0, 1]))
    space.write("001.png", b"scribble")
    report = space.export(space.frames([0, 1]))

    assert report.written == ("001.png",)
    assert decode(space.read("001.png"))[0] == numbered(SIZE, 1)


def test_a_stale_file_of_ours_that_was_overwritten_is_left(space):
    """Somebody put something of theirs there: it is no longer ours to remove."""
    space.export(space.frames([0, 1]))
    space.write("001.png", b"a holiday picture")
    report = space.export(space.frames([0]))

    assert (report.removed, report.left) == ((), ("001.png",))


def test_a_removed_file_comes_back_alone(space):
    """Only what is missing is written."""
    space.export(space.frames([0, 1, 2]))
    os.unlink(os.path.join(space.folder, "001.png"))

    assert space.export(space.frames([0, 1, 2])).written == ("001.png",)


def test_an_output_folder_that_is_a_link_stays_one(space, tmp_path):
    """People put exports on another disk; the frames go there."""
    elsewhere = tmp_path / "disk"
    elsewhere.mkdir()
    os.makedirs(os.path.join(space.root, "out"))
    os.symlink(elsewhere, space.folder)
    space.export(space.frames([0, 1]))
    space.export(space.frames([0, 1], shades=[5, 1]))

    assert os.path.islink(space.folder)
    assert sorted(os.listdir(elsewhere)) == ["000.png", "001.png"]


def test_an_editor_never_damages_the_cache(space):
    """Writing into an exported file in place leaves the blob as it was, and needs no permission."""
    frames = space.frames([0])
    blob = frames.png_bytes(0)
    space.export(frames)
    path = os.path.join(space.folder, "000.png")
    with open(path, "r+b") as file:
        file.write(b"damaged")

    assert frames.png_bytes(0) == blob
    assert os.stat(path).st_nlink == 1
    assert not os.path.samefile(path, frames.png_path(0))


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_exported_files_follow_the_umask(space, mask):
    """The cache is read-only; what people get is theirs."""
    former = os.umask(mask)
    try:
        space.export(space.frames([0]))
    finally:
        os.umask(former)
    mode = stat.S_IMODE(os.stat(os.path.join(space.folder, "000.png")).st_mode)

    assert mode == 0o666 & ~mask


def test_a_background_is_under_every_frame(space, tmp_path):
    """Half-transparent white on black is 128 grey; another background moves every file."""
    frames = Frames(str(tmp_path / "blobs"), [flat(SIZE, (255, 255, 255, 128))], [0, 0], SIZE)
    space.export(frames, background="#000000")
    assert decode(space.read("000.png"))[0] == flat(SIZE, (128, 128, 128, 255))

    assert space.export(frames, background="#000000").written == ()
    assert space.export(frames, background="#ff0000").written == ("000.png", "001.png")
    assert decode(space.read("001.png"))[0] == flat(SIZE, (255, 128, 128, 255))


def test_a_range_keeps_the_numbers_of_its_frames(space):
    """File 007 is frame 7 also where the export begins at frame 6."""
    frames = space.frames(list(range(10)))
    report = space.export(frames, frames=(6, 8))

    assert report.written == ("006.png", "007.png", "008.png")
    assert decode(space.read("007.png"))[0] == frames.rgba(7)


def test_a_lower_rate_drops_frames(space):
    """At half the rate every second frame is there, numbered without gaps."""
    frames = space.frames(list(range(6)))
    space.export(frames, rate=Fraction(15))

    assert space.names() == ["000.png", "001.png", "002.png"]
    assert decode(space.read("002.png"))[0] == frames.rgba(4)


def test_an_error_while_drawing_leaves_the_former_sequence(space):
    """A frame that will never be there stops the export; nothing was put in place."""
    space.export(space.frames([0, 1, 2]))
    before = scan_fingerprint(space.folder, "{number:03d}.png")
    moved = space.frames([0, 1, 2], shades=[4, 5, 6])

    def fail(number):
        if number == 2:
            raise ExportError("no such frame")

    moved.wait = fail
    with pytest.raises(ExportError, match="no such frame"):
        space.export(moved)
    assert scan_fingerprint(space.folder, "{number:03d}.png") == before
    assert space.names() == ["000.png", "001.png", "002.png"]


def test_scan_sees_what_a_null_build_must_see(space):
    """A written, removed, added or replaced file moves the fingerprint; a foreign name does not."""
    space.export(space.frames([0, 1, 2]))
    pattern = NamePattern("", 3, ".png")
    seen = [scan_fingerprint(space.folder, pattern)]
    space.write("notes.txt", b"")
    assert scan_fingerprint(space.folder, pattern) == seen[0]

    data = space.read("001.png")
    space.write("001.png", data)
    seen.append(scan_fingerprint(space.folder, pattern))
    os.unlink(os.path.join(space.folder, "001.png"))
    seen.append(scan_fingerprint(space.folder, pattern))
    space.write("0077.png", b"")
    assert scan_fingerprint(space.folder, pattern) == seen[-1]
    space.write("077.png", b"")
    seen.append(scan_fingerprint(space.folder, pattern))

    assert len(set(seen)) == len(seen)
    assert scan_fingerprint(space.folder + "-not-there", pattern) not in seen


def test_names_and_numbers_are_one_to_one():
    """A pattern accepts exactly the names that it gives."""
    pattern = parse_pattern("a{number:03d}b.png")
    assert pattern == NamePattern("a", 3, "b.png")
    assert [pattern.name(number) for number in (0, 42, 12345)] == [
        "a000b.png",
        "a042b.png",
        "a12345b.png",
    ]
    for number in (0, 7, 999, 1000, 123456):
        assert pattern.number(pattern.name(number)) == number
    for name in (
        "a00b.png",
        "a0042b.png",
        "a0x2b.png",
        "a\u0660\u0660\u0660b.png",
        "b000b.png",
        "a000b.jpg",
        "ab.png",
    ):
        assert pattern.number(name) is None
    assert parse_pattern("film.mp4") is None


def test_looking_at_a_folder_is_light():
    """A null build scans folders: it must not pay for NumPy, Pillow or PyAV."""
    code = (
        "import sys, nfbuild.export.scan, nfbuild.export.plan, nfbuild.export.pngs\n"
        "print(sorted({'numpy', 'PIL', 'av', 'isal'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


def test_export_writes_what_the_cache_holds_byte_for_byte(space):
    """No frame is encoded again for a plain sequence."""
    frames = space.frames([0, 1])
    space.export(frames)

    assert file_digest(space.read("001.png")) == file_digest(frames.png_bytes(1))
    assert frames.asked == []


class Fleeting(Frames):
    """Frames whose files go between being named and being opened, as under a collector."""

    def png_path(self, number):
        path = super().png_path(number)
        if os.path.exists(path):
            os.unlink(path)
        return path

    def png_bytes(self, number):
        return png.encode(self.rasters[self.order[number]], self.width, self.height)


def test_a_blob_that_goes_before_it_is_opened_is_no_error(tmp_path):
    """What a collector of another build takes in that moment is taken by its bytes."""
    space = Space(str(tmp_path))
    rasters = [numbered(SIZE, shade) for shade in range(3)]
    frames = Fleeting(str(tmp_path / "cache" / "blobs"), rasters, [0, 1, 2, 1], SIZE)
    made = space.export(frames)

    assert len(made.written) == 4
    for number, shown in enumerate(frames.order):
        with open(os.path.join(space.folder, f"{number:03d}.png"), "rb") as file:
            assert decode(file.read())[0] == rasters[shown]
    # And what nobody remembers is compared without an error.
    os.unlink(space.state)
    assert space.export(frames).written == ()


@pytest.mark.skipif(sys.platform != "linux", reason="blocks are shared on Linux alone")
@pytest.mark.parametrize(("can", "often"), [(False, 1), (True, 4)])
def test_blocks_are_shared_where_the_file_system_can(space, monkeypatch, can, often):
    """A clone is asked for once where it fails, and for every file where it works."""
    asked = []

    def clone(reader, writer):
        asked.append(os.fstat(writer).st_size)
        if can:
            os.write(writer, os.read(reader, 1 << 20))
        return can

    monkeypatch.setattr("nfbuild.export.publish._clone", clone)
    source = space.frames([0, 1, 2, 2])
    report = space.export(source)

    assert asked == [0] * often
    assert len(report.written) == 4
    for number, name in enumerate(space.names()):
        assert space.read(name) == source.png_bytes(number)


def test_a_blob_that_went_away_is_asked_for_anew(space, monkeypatch):
    """Another build's collector may take a blob between looking and opening."""
    source = space.frames([0, 1])
    monkeypatch.setattr(source, "png_path", lambda number: f"{space.root}/no such {number}.png")

    assert len(space.export(source).written) == 2
    assert space.read(space.names()[1]) == source.png_bytes(1)
