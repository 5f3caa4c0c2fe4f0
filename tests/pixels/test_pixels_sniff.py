"""What a picture's header says, and whether ThorVG may have the file as it is."""

import random
import zlib

import pytest
from pixels_pictures import (
    DRAWN_RIGHT,
    HEIGHT,
    NEEDS_DECODING,
    RGB,
    WIDTH,
    chunk,
    raw_png,
    srgb_profile,
    swapped_profile,
)

from nfbuild.errors import MediaError
from nfbuild.pixels.profile import is_srgb
from nfbuild.pixels.sniff import sniff, whole


@pytest.mark.parametrize("name", DRAWN_RIGHT)
def test_what_is_drawn_right_is_left_alone(name):
    """A file that ThorVG draws right is not decoded, so Pillow stays out of its identity."""
    header = sniff(DRAWN_RIGHT[name])

    assert header.drawn_right
    assert (header.width, header.height) == header.size == (WIDTH, HEIGHT)
    assert header.suffix == name[-4:]
    assert whole(DRAWN_RIGHT[name])


@pytest.mark.parametrize("name", NEEDS_DECODING)
def test_what_is_drawn_wrong_is_decoded(name):
    header = sniff(NEEDS_DECODING[name])

    assert not header.drawn_right
    assert (header.width, header.height) == (WIDTH, HEIGHT)


def test_facts_of_headers():
    """The fields that messages and findings are made of."""
    assert sniff(NEEDS_DECODING["turned-6.jpg"]).size == (HEIGHT, WIDTH)
    assert [sniff(NEEDS_DECODING[f"turned-{o}.jpg"]).orientation for o in range(2, 9)] == [
        *range(2, 9)
    ]
    assert sniff(NEEDS_DECODING["cmyk.jpg"]).colors == "cmyk"
    assert sniff(NEEDS_DECODING["cmyk.tif"]).colors == "cmyk"
    assert sniff(NEEDS_DECODING["interlaced.png"]).interlaced
    assert sniff(NEEDS_DECODING["16-bit.png"]).depth == 16
    assert sniff(NEEDS_DECODING["animated.webp"]).animated
    assert sniff(DRAWN_RIGHT["animated.png"]).animated
    assert sniff(NEEDS_DECODING["profile.jpg"]).profile
    assert sniff(DRAWN_RIGHT["gamma.png"]).gamma


def test_only_srgb_is_srgb():
    """A profile is known by its numbers: by its primaries and its curves."""
    good = srgb_profile()

    assert is_srgb(good)
    assert not is_srgb(swapped_profile())
    assert not any(is_srgb(good[:length]) for length in range(0, len(good) - 150, 7))
    assert not is_srgb(b"sRGB IEC61966-2.1" * 30)


def test_tabled_curves_are_judged_by_nine_points():
    """Old sRGB profiles have a table of 1024 points; a gamma of 1.8 in a table is not sRGB."""
    import struct

    good = srgb_profile()

    def with_curve(shape):
        points = [round(65535 * shape(i / 1023)) for i in range(1024)]
        curve = b"curv" + bytes(4) + struct.pack(">I1024H", 1024, *points)
        profile = bytearray(good + curve)
        (count,) = struct.unpack_from(">I", profile, 128)
        for index in range(count):
            at = 132 + 12 * index
            if profile[at : at + 4] in (b"rTRC", b"gTRC", b"bTRC"):
                profile[at + 4 : at + 12] = struct.pack(">II", len(good), len(curve))
        return bytes(profile)

    def srgb(x):
        return x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4

    assert is_srgb(with_curve(srgb))
    assert not is_srgb(with_curve(lambda x: x**1.8))
    assert not is_srgb(with_curve(lambda x: x))


@pytest.mark.parametrize("name", ["rgb.png", "420.jpg", "progressive.jpg"])
def test_a_file_cut_off_anywhere_is_not_whole(name):
    """ThorVG draws half of a cut file and reports success, so it must not get one."""
    data = DRAWN_RIGHT[name]

    assert not any(whole(data[:length]) for length in range(len(data)))


def test_a_png_whose_pixels_were_damaged_is_not_whole():
    data = bytearray(DRAWN_RIGHT["rgb.png"])
    data[len(data) // 2] ^= 1

    assert not whole(bytes(data))


@pytest.mark.parametrize("data", [b"", b"<svg/>", b"\x89PNG\r\n\x1a\r", b"BA\0\0", b"RIFF1234WAVE"])
def test_no_picture_is_a_clear_error(data):
    with pytest.raises(MediaError, match=r"`x\.png` is not a picture") as caught:
        sniff(data, name="x.png")

    assert caught.value.hint is not None


def test_headers_cut_off_are_clear_errors():
    """Every prefix of every kind is a header or a MediaError, never another exception."""
    for data in (DRAWN_RIGHT | NEEDS_DECODING).values():
        for length in range(min(len(data), 400)):
            try:
                header = sniff(data[:length])
            except MediaError:
                continue
            assert (header.width, header.height) == (WIDTH, HEIGHT)


def test_hostile_headers_are_headers_or_clear_errors():
    """Seeded noise in the first bytes of every kind raises nothing but MediaError."""
    source = random.Random(20260101)
    survived = 0
    for data in (DRAWN_RIGHT | NEEDS_DECODING).values():
        for _ in range(60):
            noisy = bytearray(data)
            for _ in range(source.randrange(1, 8)):
                noisy[source.randrange(min(len(noisy), 300))] = source.randrange(256)
            try:
                survived += sniff(bytes(noisy)).width > 0
            except MediaError:
                continue
            whole(bytes(noisy))

    assert survived > 500


def test_a_packed_profile_that_grows_without_end_is_bounded():
    """A profile of a gigabyte is judged by its first megabyte: it is not sRGB."""
    bomb = b"x\0\0" + zlib.compress(bytes(100_000_000), 9)

    assert sniff(raw_png(RGB, 8, 2, chunk(b"iCCP", bomb))).profile
