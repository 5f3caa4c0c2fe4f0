"""Every kind of picture becomes the pixels it should show."""

import random

import numpy as np
import pytest
from PIL import Image
from pixels_pictures import (
    ALPHA,
    GREY,
    HEIGHT,
    RGB,
    RGBA,
    WIDTH,
    as_grey,
    chunk,
    interlaced_png,
    oriented,
    raw_png,
    saved,
    srgb_profile,
    swapped_profile,
    with_alpha,
)

from nfbuild.errors import MediaError
from nfbuild.pixels import decoder
from nfbuild.pixels.decode import decode_picture

FLAT = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
FLAT[:, : WIDTH // 2] = (200, 40, 90)
FLAT[:, WIDTH // 2 :] = (20, 120, 220)
PALETTE = Image.fromarray(FLAT).quantize(2)
SIXTEEN = RGB.astype(np.uint16) * 256 + 77
BELOW = np.dstack([RGB, np.full_like(ALPHA, 255)])


def decoded(data, **options):
    picture = decode_picture(data, **{"max_pixels": 1_000_000, **options})
    rows = np.frombuffer(picture.pixels, np.uint8)
    return rows.reshape(picture.height, picture.width, 4)


EXACT = {
    "rgb.png": (saved(RGB, "PNG"), with_alpha(RGB)),
    "rgba.png": (saved(RGBA, "PNG"), RGBA),
    "palette.png": (saved(PALETTE, "PNG"), with_alpha(FLAT)),
    "interlaced.png": (interlaced_png(RGB, 2), with_alpha(RGB)),
    "interlaced-alpha.png": (interlaced_png(RGBA, 6), RGBA),
    "16-bit.png": (raw_png(SIXTEEN, 16, 2), with_alpha(RGB)),
    "16-bit-alpha.png": (
        raw_png(np.dstack([SIXTEEN, ALPHA.astype(np.uint16) * 257]), 16, 6),
        RGBA,
    ),
    "16-bit-grey.png": (raw_png(GREY.astype(np.uint16) * 256 + 200, 16, 0), as_grey(GREY)),
    "grey-alpha.png": (
        raw_png(np.dstack([GREY, ALPHA]), 8, 4),
        with_alpha(np.dstack([GREY] * 3), ALPHA),
    ),
    "key-color.png": (
        raw_png(FLAT, 8, 2, chunk(b"tRNS", bytes((0, 200, 0, 40, 0, 90)))),
        with_alpha(FLAT, np.where(FLAT[..., 0] == 200, 0, 255).astype(np.uint8)),
    ),
    "a.gif": (saved(PALETTE, "GIF"), with_alpha(FLAT)),
    "first-frame.gif": (
        saved(PALETTE, "GIF", save_all=True, append_images=[PALETTE.rotate(180)]),
        with_alpha(FLAT),
    ),
    "a.bmp": (saved(RGB, "BMP"), with_alpha(RGB)),
    "a.tif": (saved(RGBA, "TIFF"), RGBA),
    "packed.tif": (saved(RGB, "TIFF", compression="tiff_lzw"), with_alpha(RGB)),
    "16-bit.tif": (saved(GREY.astype(np.uint16) * 257, "TIFF"), as_grey(GREY)),
    "lossless.webp": (saved(RGBA, "WEBP", lossless=True, exact=True), RGBA),
    "srgb.png": (saved(RGB, "PNG", icc_profile=srgb_profile()), with_alpha(RGB)),
    "broken-profile.png": (saved(RGB, "PNG", icc_profile=b"nonsense" * 40), with_alpha(RGB)),
}


@pytest.mark.parametrize("name", EXACT)
def test_lossless_pictures_decode_exactly(name):
    data, expected = EXACT[name]

    assert np.array_equal(decoded(data), expected)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_applied(orientation):
    """EXIF says how the stored rows must be turned to be seen upright."""
    turned = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.transpose(1, 0, 2),
        6: lambda a: a.transpose(1, 0, 2)[:, ::-1],
        7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
        8: lambda a: a.transpose(1, 0, 2)[::-1],
    }[orientation](with_alpha(RGB))

    for kind in ("PNG", "TIFF"):
        data = saved(RGB, kind, exif=oriented(orientation))
        assert np.array_equal(decoded(data), turned), kind


def test_orientation_applies_to_grey_of_16_bits():
    upright = decoded(
        raw_png(
            GREY.astype(np.uint16) * 256,
            16,
            0,
            chunk(b"eXIf", oriented(6).tobytes().removeprefix(b"Exif\0\0")),
        )
    )

    assert np.array_equal(upright, as_grey(GREY).transpose(1, 0, 2)[:, ::-1])


@pytest.mark.parametrize(
    ("data", "expected", "slack"),
    [
        (saved(FLAT, "JPEG", quality=95, subsampling=0), FLAT, 6),
        (saved(GREY, "JPEG", quality=95), np.dstack([GREY] * 3), 6),
        (saved(Image.fromarray(FLAT).convert("CMYK"), "JPEG", quality=95), FLAT, 8),
        (saved(Image.fromarray(FLAT).convert("CMYK"), "TIFF"), FLAT, 1),
        (saved(FLAT, "WEBP", quality=95), FLAT, 30),
    ],
    ids=["ycc", "grey", "cmyk", "cmyk-tiff", "webp"],
)
def test_lossy_and_converted_pictures_come_close(data, expected, slack):
    """A few columns at the colour edge aside, lossy kinds show the colours they were made of."""
    away = np.abs(decoded(data).astype(int) - with_alpha(expected))
    away[:, WIDTH // 2 - 2 : WIDTH // 2 + 2] = 0

    assert away.max() <= slack


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_a_profile_is_converted(kind):
    """With red and green primaries exchanged, pure red is shown as pure green."""
    red = np.zeros((4, 4, 4), np.uint8)
    red[...] = (255, 0, 0, 130)
    shown = decoded(saved(red, kind, icc_profile=swapped_profile()))

    assert np.abs(shown.astype(int) - (0, 255, 0, 130)).max() <= 2


def test_too_many_pixels_are_refused_before_they_are_unpacked():
    with pytest.raises(MediaError, match="32 x 24 pixels, more than 700") as caught:
        decode_picture(saved(RGB, "PNG"), max_pixels=700, name="x")

    assert caught.value.code == "media.large"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_a_file_cut_off_is_a_clear_error(kind):
    """Half a picture is not a picture with a grey half."""
    data = saved(RGB, kind)

    for length in (0, 1, 10, len(data) // 2, len(data) * 3 // 4):
        with pytest.raises(MediaError, match="cannot be decoded"):
            decode_picture(data[:length], max_pixels=10_000, name="cut")


def test_unlisted_formats_are_refused():
    """Pillow reads forty formats; only the listed ones are tried."""
    for kind in ("PPM", "TGA", "PCX", "ICO"):
        with pytest.raises(MediaError):
            decode_picture(saved(RGB, kind), max_pixels=10_000)


def test_noise_ends_in_pixels_or_in_a_clear_error():
    """Seeded damage to every kind raises MediaError or decodes, nothing else."""
    source = random.Random(7)
    refused = 0
    for data, _ in EXACT.values():
        for _ in range(30):
            noisy = bytearray(data)
            for _ in range(source.randrange(1, 6)):
                noisy[source.randrange(len(noisy))] = source.randrange(256)
            try:
                decode_picture(bytes(noisy), max_pixels=1_000_000)
            except MediaError:
                refused += 1

    assert 0 < refused < 30 * len(EXACT)


def test_the_decoder_is_known_by_the_bytes_of_its_files():
    """The codecs that Pillow's wheel brings along are in its identity, its modules too."""
    files = decoder.files()
    names = list(files)

    assert names == sorted(names)
    assert any("_imaging." in name for name in names)
    assert any("jpeg" in name for name in names)
    assert "PIL/JpegImagePlugin.py" in files
    assert decoder.libraries().keys() == files.keys()
