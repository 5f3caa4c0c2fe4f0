"""Small PNG files, written with the standard library alone."""

import struct
import zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, pixel):
    """Return an RGBA picture; `pixel(x, y)` gives four bytes."""
    rows = b"".join(
        b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return (
        _SIGNATURE
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def pattern(rng, width=24, height=18):
    a, b, c = (rng.randrange(1, 250) for _ in range(3))
    return png(width, height, lambda x, y: ((a * x) % 256, (b * y) % 256, (c + x * y) % 256, 255))


def chunks(data):
    at = len(_SIGNATURE)
    while at + 8 <= len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def repainted(rng, data):
    """Return a picture of the same size with other pixels, or only the last one changed."""
    parts = list(chunks(data))
    head = next(body for name, body in parts if name == b"IHDR")
    width, height = struct.unpack(">II", head[:8])
    if head[8:10] != b"\x08\x06" or rng.random() < 0.3:
        return pattern(rng, width, height)
    rows = bytearray(zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT")))
    at = len(rows) - rng.choice([2, 3, 4, 1 + 4 * rng.randrange(1, width)])
    rows[at] ^= 0x40
    out = _SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows)))
    return out + chunk(b"IEND", b"")


def annotated(rng, data):
    """Return the same picture with a chunk of text before its end."""
    end = data.rindex(b"IEND") - 4
    note = chunk(b"tEXt", b"Comment\0" + str(rng.randrange(10**9)).encode())
    return data[:end] + note + data[end:]
