"""The PNG codec: what is written, who else can read it, and what is refused."""

import io
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pixels_pictures import chunk, saved

from nfbuild.errors import Corrupt
from nfbuild.pixels import png


def raster(width, height, seed=0):
    return np.random.default_rng(seed).integers(0, 256, 4 * width * height, np.uint8).tobytes()


def rewritten(data, **bodies):
    """The file with chunk bodies replaced and their checksums made right again."""
    out, at = data[:8], 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind = data[at + 4 : at + 8]
        out += chunk(kind, bodies.get(kind.decode(), data[at + 8 : at + 8 + length]))
        at += 12 + length
    return out


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 90), st.integers(1, 200), st.binary(min_size=1, max_size=64))
def test_frames_come_back_and_pillow_agrees(width, height, pattern):
    """Two independent decoders give the pixels that went in."""
    size = 4 * width * height
    pixels = (pattern * (size // len(pattern) + 1))[:size]
    data = png.encode(memoryview(bytearray(pixels)), width, height)

    with Image.open(io.BytesIO(data)) as picture:
        assert (picture.mode, picture.size) == ("RGBA", (width, height))
        assert picture.tobytes() == pixels
    assert png.decode_own(data) == png.decode(data) == (pixels, width, height)


def test_wide_rows_and_many_rows_come_back():
    """Rows wider than a piece, and more rows than fit one, join without a seam."""
    for width, height in ((140_000, 2), (3, 50_000), (1920, 131)):
        pixels = raster(width, height)

        assert png.decode_own(png.encode(pixels, width, height))[0] == pixels


def test_equal_pixels_give_equal_files():
    """One machine names one frame's blob once."""
    pixels = raster(200, 100)

    assert png.encode(pixels, 200, 100) == png.encode(bytearray(pixels), 200, 100)


def test_an_encoder_with_memory_writes_the_same_files():
    """Bands that stood still, moved once, keep moving, or belong to another size."""
    source = np.random.default_rng(5)
    width, height = 300, 1_000
    still = source.integers(0, 64, (height, width, 4), np.uint8)
    encoder = png.Encoder()
    for number in range(24):
        frame = still.copy()
        frame[(number * 40) % height :][:25] ^= 1
        frame[:9, 7] = number
        if number in (9, 10, 17):
            pixels, size = frame[:500].tobytes(), (width, 500)
        else:
            pixels, size = frame.tobytes(), (width, height)
        data = encoder.encode(bytearray(pixels), *size)

        assert data == png.encode(pixels, *size)
        assert png.decode_own(data)[0] == pixels


def test_bands_that_stood_still_are_not_packed_again(monkeypatch):
    """Of a frame in which one row moved, one band is packed."""
    packed = []
    pack = png._pack
    monkeypatch.setattr(png, "_pack", lambda *a: packed.append(a[1]) or pack(*a))
    encoder = png.Encoder()
    raster = bytearray(4 * 500 * 1_000)
    encoder.encode(raster, 500, 1_000)
    whole = len(packed)
    encoder.encode(raster, 500, 1_000)
    raster[4 * 500 * 600] ^= 1
    encoder.encode(raster, 500, 1_000)

    assert whole == 8
    assert packed[whole:] == [packed[4]]


@pytest.mark.process
def test_one_raster_has_one_file_whatever_the_process_did_before(tmp_path):
    """ISA-L alone varies between processes and with time; the files may not."""
    script = tmp_path / "pack.py"
    script.write_text(
        "import hashlib, random, sys\n"
        "from nfbuild.pixels import png\n"
        "random.seed(int(sys.argv[1]))\n"
        "rows = [bytes(4 * (x * y // 99 % 251 if x % 7 else y) % 256 for x in range(7680))"
        " for y in range(64)]\n"
        "raster = b''.join(rows)\n"
        "kept, seen = [], set()\n"
        "for turn in range(30):\n"
        "    kept.append(bytearray(random.randrange(1, 400_000)))\n"
        "    del kept[: random.randrange(2)]\n"
        "    seen.add(hashlib.sha256(png.encode(bytearray(raster), 1920, 64)).hexdigest())\n"
        "print(*seen)\n"
    )
    seen = set()
    for seed in range(4):
        done = subprocess.run(
            [sys.executable, str(script), str(seed)], capture_output=True, text=True, check=True
        )
        seen |= set(done.stdout.split())

    assert len(seen) == 1


def test_a_wrong_size_is_refused_when_writing():
    with pytest.raises(ValueError, match="pixels of RGBA"):
        png.encode(bytes(16), 2, 3)
    with pytest.raises(ValueError, match="pixels of RGBA"):
        png.Encoder().encode(bytes(16), 2, 3)


def test_every_truncation_is_corrupt():
    data = png.encode(raster(5, 4), 5, 4)

    for length in range(len(data)):
        for read in (png.decode_own, png.decode):
            with pytest.raises(Corrupt):
                read(data[:length])


def test_every_flipped_bit_is_corrupt():
    """Each byte of a file is covered by a checksum or by the format itself."""
    data = png.encode(raster(5, 4), 5, 4)

    for at in range(len(data)):
        for bit in (1, 16, 128):
            damaged = bytearray(data)
            damaged[at] ^= bit
            with pytest.raises(Corrupt):
                png.decode_own(bytes(damaged))


def test_anything_left_over_is_corrupt():
    data = png.encode(raster(5, 4), 5, 4)
    packed = zlib.compress(b"\0" * (21 * 4))

    for bad in (
        data + b"\0",
        rewritten(data, IDAT=packed + b"x"),
        rewritten(data, IDAT=zlib.compress(b"\0" * (21 * 4 + 1))),
        rewritten(data, IDAT=zlib.compress(b"\0" * (21 * 4 - 1))),
        rewritten(data, IDAT=packed[:-1]),
        rewritten(data, IDAT=b""),
        data[:33] + chunk(b"tEXt", b"a\0b") + data[33:],
        data[:33] + data[33:-12] * 2 + data[-12:],
    ):
        with pytest.raises(Corrupt):
            png.decode_own(bad)


def test_filtered_rows_are_not_ours_but_readable():
    """Pillow filters rows; a store never holds such a file, an import may."""
    pixels = raster(9, 7)
    data = saved(Image.frombytes("RGBA", (9, 7), pixels).resize((40, 30)), "PNG")
    ramp = saved(np.add.outer(np.arange(40), np.arange(40)).astype(np.uint8), "PNG")

    with pytest.raises(Corrupt):
        png.decode_own(data)
    with pytest.raises(Corrupt):
        png.decode(ramp)
    with Image.open(io.BytesIO(data)) as picture:
        assert png.decode(data) == (picture.tobytes(), 40, 30)


def test_each_filter_is_undone():
    """Rows filtered by hand with every kind give the rows that Pillow reads."""
    rows = [bytes([kind, *raster(6, 1, kind)]) for kind in (0, 1, 2, 3, 4, 4, 3, 2, 1)]
    data = rewritten(png.encode(raster(6, 9), 6, 9), IDAT=zlib.compress(b"".join(rows)))

    with Image.open(io.BytesIO(data)) as picture:
        assert png.decode(data) == (picture.tobytes(), 6, 9)
    rows[3] = b"\5" + rows[3][1:]
    with pytest.raises(Corrupt, match="filter"):
        png.decode(rewritten(data, IDAT=zlib.compress(b"".join(rows))))


def test_a_bomb_is_not_unpacked():
    """A stream that unpacks to far more than its header says costs no memory."""
    small = png.encode(raster(5, 4), 5, 4)
    bomb = rewritten(small, IDAT=zlib.compress(bytes(300_000_000), 9))
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Corrupt, match="as long as"):
        png.decode_own(bomb)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize("size", [(0, 4), (5, 0), (1 << 16, 1 << 16), (2**31 - 1, 2**31 - 1)])
def test_absurd_sizes_are_corrupt(size):
    data = png.encode(raster(5, 4), 5, 4)

    with pytest.raises(Corrupt):
        png.decode_own(rewritten(data, IHDR=struct.pack(">IIBBBBB", *size, 8, 6, 0, 0, 0)))
