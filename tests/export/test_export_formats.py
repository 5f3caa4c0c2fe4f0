"""Every format, decoded by a second library: the right count, the right times, the right pixels."""

from __future__ import annotations

import os
import struct
from fractions import Fraction

import pytest
from export_decode import needs_ffmpeg, second_look
from export_frames import Frames, flat, numbered

from nfbuild.errors import Place
from nfbuild.export.make import export
from nfbuild.export.plan import Subject, resolve
from nfbuild.project.values import Export

FORMATS = ("mp4", "webm", "mov", "apng", "webp", "gif")
SIZE = (96, 54)
NTSC = Fraction(30000, 1001)

# size, frame numbers shown, rate, translucent
CASES = {
    "opaque": (SIZE, [0, 1, 2, 3, 4, 5], Fraction(25), False),
    "translucent": (SIZE, [0, 1, 2, 3, 4, 5], Fraction(25), True),
    "one-pixel": ((1, 1), [0, 1, 2], Fraction(10), False),
    "odd": ((97, 55), [0, 1, 2, 3], Fraction(30), True),
    "one-frame": (SIZE, [0], Fraction(30), True),
    "900-frames": (SIZE, [(i // 7) % 5 for i in range(900)], Fraction(30), False),
    "29.97": (SIZE, [0, 1, 2, 3, 4] * 6, Fraction(2997, 100), False),
    "ntsc": (SIZE, [0, 1, 2, 3, 4] * 6, NTSC, False),
    "holds": (SIZE, [0] * 40 + [1] + [2] * 59 + [0] * 20, Fraction(30), True),
    "all-equal": (SIZE, [0] * 30, Fraction(1000, 33), False),
}
# The greatest step of one channel on average, and of alpha at one pixel; measured, then rounded up.
MEAN_STEP = {"mp4": 4.0, "webm": 5.0, "mov": 1.5, "gif": 3.0}
ALPHA_STEP = {"webm": 16, "mov": 1}


def made(tmp_path, kind: str, frames: Frames, **options):
    choice = Export("*", kind, f"out/{{name}}.{kind}", Place("nfbuild.toml", 5), **options)
    subject = Subject("film", frames.width, frames.height, frames.rate, frames.count, {})
    plan = resolve(choice, subject, str(tmp_path))
    report = export(plan, frames, str(tmp_path / "state" / f"{kind}.json"))
    assert report.written == 1
    assert os.listdir(plan.folder) == [f"film.{kind}"]
    return plan


def frames_of(tmp_path, case: str) -> Frames:
    size, order, rate, translucent = CASES[case]
    rasters = [numbered(size, shade, alpha=translucent) for shade in range(max(order) + 1)]
    return Frames(str(tmp_path / "blobs"), rasters, order, size, rate=rate)


@needs_ffmpeg
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_second_library_sees_the_film(tmp_path, kind, case):
    """In the middle of every frame the frame is on screen, and the whole lasts what it should."""
    frames = frames_of(tmp_path, case)
    plan = made(tmp_path, kind, frames)
    seen = second_look(plan.target, kind)

    assert (seen.width, seen.height) == (plan.stored_width, plan.stored_height)
    assert abs(seen.end - frames.count / frames.rate) <= {"gif": Fraction(1, 200)}.get(
        kind, Fraction(1, 1000)
    )
    if kind in ("mp4", "webm", "mov"):
        assert len(seen.pictures) == frames.count
    looks: dict[int, dict[bytes, None]] = {}
    for position in range(frames.count):
        picture = seen.at((position + Fraction(1, 2)) / frames.rate)
        looks.setdefault(frames.order[position], {})[picture] = None
    for shade, pictures in looks.items():
        raster = frames.rasters[shade]
        for picture in pictures if len(pictures) < 9 else [*pictures][:: len(pictures) // 8]:
            check_pixels(kind, raster, (frames.width, frames.height), picture, seen)


def check_pixels(kind, raster, size, picture, seen):
    width, height = size
    stride = 4 * seen.width
    cut = b"".join(picture[y * stride : y * stride + 4 * width] for y in range(height))
    if kind in ("apng", "webp"):
        assert cut == raster
        return
    wanted = on_black(raster) if kind == "mp4" else raster
    if kind == "gif":
        wanted = b"".join(
            wanted[i : i + 3] + b"\xff" if wanted[i + 3] >= 128 else bytes(4)
            for i in range(0, len(wanted), 4)
        )
        assert cut[3::4] == wanted[3::4]
    elif kind in ALPHA_STEP:
        assert (
            max(abs(a - b) for a, b in zip(cut[3::4], wanted[3::4], strict=True))
            <= (ALPHA_STEP[kind])
        )
    # Colours count by how much of them is seen.
    steps = [abs(a - b) for a, b in zip(on_black(cut), on_black(wanted), strict=True)]
    assert sum(steps) / len(steps) <= MEAN_STEP[kind]


def on_black(raster: bytes) -> bytes:
    out = bytearray(raster)
    for at in range(0, len(out), 4):
        alpha = out[at + 3]
        for channel in range(at, at + 3):
            out[channel] = (out[channel] * alpha + 127) // 255
        out[at + 3] = 255
    return bytes(out)


@needs_ffmpeg
@pytest.mark.parametrize(("kind", "step"), [("apng", 0), ("webp", 0), ("mov", 1), ("webm", 13)])
def test_half_transparent_white_comes_back(tmp_path, kind, step):
    """Over nothing, not over black: white stays white and half stays half."""
    frames = Frames(str(tmp_path / "blobs"), [flat(SIZE, (255, 255, 255, 128))], [0, 0, 0], SIZE)
    plan = made(tmp_path, kind, frames)

    for picture in second_look(plan.target, kind).pictures:
        for channel, value in enumerate((255, 255, 255, 128)):
            found = set(picture[channel::4])
            assert max(abs(value - one) for one in found) <= step, (channel, found)


@needs_ffmpeg
def test_odd_sizes_are_enlarged_by_repeating_the_edge(tmp_path):
    """One column at the right and one row at the bottom, the same as their neighbours."""
    size = (5, 3)
    frames = Frames(str(tmp_path / "blobs"), [flat(size, (10, 200, 40, 255))], [0], size)
    plan = made(tmp_path, "mp4", frames, quality=95)
    seen = second_look(plan.target, "mp4")

    assert (seen.width, seen.height) == (6, 4)
    for channel, value in enumerate((10, 200, 40)):
        assert max(abs(one - value) for one in seen.pictures[0][channel::4]) <= 4


@pytest.mark.parametrize("kind", ["mp4", "webm", "mov", "apng", "webp", "gif"])
def test_a_background_leaves_nothing_transparent(tmp_path, kind):
    """Half-transparent white on red is pink in every format."""
    frames = Frames(str(tmp_path / "blobs"), [flat(SIZE, (255, 255, 255, 128))], [0, 0], SIZE)
    plan = made(tmp_path, kind, frames, background="#ff0000")
    if kind in ("mp4", "webm", "mov", "apng", "gif"):
        pytest.importorskip("av")
    seen = second_look(plan.target, kind)

    for channel, value in enumerate((255, 128, 128, 255)):
        assert max(abs(one - value) for one in seen.pictures[0][channel::4]) <= 3


def test_gif_delays_add_up(tmp_path):
    """Thirty different frames at 30 a second stand for 3, 3, 4 hundredths: one second in all."""
    rasters = [flat((4, 4), (i * 8, 0, 0, 255)) for i in range(30)]
    frames = Frames(str(tmp_path / "blobs"), rasters, list(range(30)), (4, 4))
    plan = made(tmp_path, "gif", frames)
    with open(plan.target, "rb") as file:
        data = file.read()
    delays = [
        struct.unpack_from("<H", data, at + 4)[0]
        for at in range(len(data))
        if data[at : at + 3] == b"\x21\xf9\x04"
    ]

    assert delays[:6] == [3, 4, 3, 3, 4, 3]
    assert len(delays) == 30
    assert sum(delays) == 100


@needs_ffmpeg
def test_a_film_of_few_colours_is_an_exact_gif(tmp_path):
    """Up to 255 colours, or as many as the palette has, are kept as they are."""
    size = (16, 16)
    rasters = [
        bytes(v for i in range(256) for v in ((i * 3 + s) % 200, i % 5, 7, 255)) for s in (0, 9)
    ]
    frames = Frames(str(tmp_path / "blobs"), rasters, [0, 1], size)
    colors = {raster[i : i + 3] for raster in rasters for i in range(0, 1024, 4)}
    assert len(colors) > 255
    small = [bytes(v for i in range(256) for v in (i % 9 * 20, s, 7, 255)) for s in (0, 9)]
    exact = Frames(str(tmp_path / "blobs"), small, [0, 1], size)
    plan = made(tmp_path, "gif", exact)
    assert second_look(plan.target, "gif").pictures == small

    os.unlink(plan.target)
    plan = made(tmp_path, "gif", frames)
    assert second_look(plan.target, "gif").pictures != rasters


@needs_ffmpeg
def test_a_gif_becomes_transparent_again(tmp_path):
    """What a picture showed is cleared where the next one shows nothing."""
    size = (6, 4)
    dot = bytearray(flat(size, (0, 0, 0, 0)))
    dot[0:4] = bytes((255, 0, 0, 255))
    other = bytearray(flat(size, (0, 0, 0, 0)))
    other[-4:] = bytes((0, 255, 0, 255))
    rasters = [bytes(dot), bytes(other), flat(size, (0, 0, 0, 0))]
    frames = Frames(str(tmp_path / "blobs"), rasters, [0, 1, 2, 0], size, rate=Fraction(10))
    plan = made(tmp_path, "gif", frames)
    pictures = second_look(plan.target, "gif").pictures

    assert [p[3::4] for p in pictures] == [rasters[i][3::4] for i in (0, 1, 2, 0)]
    assert pictures[1][-4:] == rasters[1][-4:]


@pytest.mark.parametrize("kind", ["apng", "gif", "webp"])
def test_an_animation_plays_as_often_as_asked(tmp_path, kind):
    """`loop = 3` plays three times; without it, for ever."""
    from PIL import Image

    frames = Frames(
        str(tmp_path / "blobs"), [flat((4, 4), (i, 0, 0, 255)) for i in range(2)], [0, 1], (4, 4)
    )
    plan = made(tmp_path, kind, frames, loop=3)
    with Image.open(plan.target) as image:
        assert image.info["loop"] == (2 if kind == "gif" else 3)  # GIF counts repeats
    os.unlink(plan.target)
    plan = made(tmp_path, kind, frames)
    with Image.open(plan.target) as image:
        assert image.info["loop"] == 0


@pytest.mark.parametrize("kind", FORMATS)
def test_an_unchanged_film_is_not_encoded_again(tmp_path, kind):
    """Equal frames and settings: the file is not even dated anew. One frame moved: made once."""
    frames = frames_of(tmp_path, "opaque")
    plan = made(tmp_path, kind, frames)
    before = os.stat(plan.target)
    state = str(tmp_path / "state" / f"{kind}.json")
    frames.asked.clear()
    report = export(plan, frames, state)

    assert (report.written, report.kept) == (0, 1)
    assert frames.asked == []
    after = os.stat(plan.target)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    moved = Frames(
        str(tmp_path / "blobs"),
        [*frames.rasters[:3], numbered(SIZE, 9), *frames.rasters[4:]],
        frames.order,
        SIZE,
        rate=frames.rate,
    )
    assert export(plan, moved, state).written == 1
    assert export(plan, moved, state).written == 0
    with open(plan.target, "ab") as file:
        file.write(b"x")
    assert export(plan, moved, state).written == 1
