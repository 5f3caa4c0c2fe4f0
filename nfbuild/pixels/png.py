"""PNG files of frames: written as fast as the processor allows, read as strictly as can be.

Written files are 8-bit RGBA, not interlaced, filter 0 on every row, one compressed chunk, nothing
else in them. Two readers: `decode_own` takes exactly such files, as everything in a store is; and
`decode` any 8-bit RGBA file that is not interlaced. Both raise `Corrupt` on anything else and never
unpack more than the header announces.

The compressed data is a row of bands of about a quarter megabyte of pixels, each packed by itself
(raw DEFLATE ended by a full flush), so a band's bytes depend on its pixels alone. `Encoder`
remembers the bands of the frame before: most of a film stands still, and a band that did is
compared instead of packed. The bytes are the same with and without that memory.

ISA-L (isal 1.9.1) is not a function of its input: about one process in ten packs some bands
differently for a while, all of them valid (seen at levels 1 and 2, on one thread, whatever the
memory's content; the traces part at matches with the first two bytes of a stream). So a band's
first bytes are stored, and given to ISA-L as the dictionary of the rest, which leads around the
start of a stream: 0 of 35 processes differed where 5 of 35 did without, and none of 55 with
`encode` itself.

Measured on 1920 x 1080 (isal 1.9.1, x86-64 with AVX-512): level 1 takes 2.6 ms and gives 235 KB,
level 0 takes 2.7 ms and 311 KB, so level 1. The filter byte before every row is the whole cost
above plain compression (2.2 ms): one call for the byte and one for the row takes 4.0 ms, one
interleaved buffer of the frame 2.9, joining a band at a time 2.6, as it stays in the processor's
cache; it also bounds the extra memory. Padding the raster by a pixel to make room for the byte
breaks up the digest's input, which then costs 0.6 ms more than is won here. Bands apart make the
file no larger (232 KB), and a frame of which nine tenths stand still takes 0.5 ms.
Not here: other kinds of picture (`decode`), names of files.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, TypeAlias, cast

from isal import isal_zlib

from nfbuild.errors import Corrupt

if TYPE_CHECKING:
    from typing_extensions import Buffer

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_PIXELS = 1 << 28
"""More pixels than any raster that is drawn here; a header with more is not one of ours."""

_LEVEL = 1
_UNPACK_ERROR = cast("type[Exception]", isal_zlib.error)  # its stub says it is an instance
_BAND = 250_000  # bytes of pixels joined and packed at a time
_FIRST = 8  # bytes of a band that are stored as they are
_STORED = struct.Struct("<BHH")  # a stored block: not the last, its length, and that inverted
_ZLIB_HEADER = b"\x78\x01"
_LAST_BLOCK = b"\x03\0"  # an empty one, as no band is marked as the last
_HEADER = struct.Struct(">IIBBBBB")
_RGBA8 = (8, 6, 0, 0, 0)  # bit depth, colour type, compression, filter, interlace


def encode(pixels: Buffer, width: int, height: int) -> bytes:
    """Return the PNG file of `width` x `height` straight RGBA pixels, rows from the top."""
    rows = memoryview(pixels).cast("B")
    _require_size(rows.nbytes, width, height)
    return _file(
        width, height, [_pack(rows, *band, 4 * width) for band in _bands(width, rows.nbytes)]
    )


class Encoder:
    """Writes PNG files frame after frame, packing only the bands that moved; one raster's size.

    Which bands are remembered is a matter of speed alone: a band that keeps moving is not copied
    at every frame, only tried again now and then.
    """

    _PATIENCE = 2  # times in a row that a moving band is copied in hope
    _AGAIN = 8  # frames until it is tried again

    def __init__(self) -> None:
        self._size = (0, 0)
        self._frames = 0
        self._before: dict[int, tuple[bytes, _Packed]] = {}
        self._moves: dict[int, int] = {}

    def encode(self, raster: bytes | bytearray, width: int, height: int) -> bytes:
        """Return what the function `encode` returns."""
        _require_size(len(raster), width, height)
        if self._size != (width, height):
            self._size = (width, height)
            self._before.clear()
            self._moves.clear()
        self._frames += 1
        rows = memoryview(raster)
        packed = []
        for start, end in _bands(width, len(raster)):
            remembered = self._before.get(start)
            # `startswith` is the one comparison of Python's that copies nothing.
            if remembered is not None and raster.startswith(remembered[0], start):
                self._moves[start] = 0
                packed.append(remembered[1])
                continue
            band = _pack(rows, start, end, 4 * width)
            moves = self._moves[start] = self._moves.get(start, 0) + 1
            if moves <= self._PATIENCE or self._frames % self._AGAIN == 0:
                self._before[start] = (bytes(rows[start:end]), band)
            elif remembered is not None:
                del self._before[start]
            packed.append(band)
        return _file(width, height, packed)


def decode_own(data: bytes) -> tuple[bytes, int, int]:
    """Return (straight RGBA rows, width, height) of a file that `encode` wrote.

    Every checksum is verified, every filter must be 0 and no byte may be left over; `Corrupt`
    otherwise. That the bytes are the ones that were written is the blob digest's business.
    """
    width, height, packed = _parts(data, ours=True)
    stride = 4 * width
    view = memoryview(_unpack(packed, (stride + 1) * height))
    if any(view[:: stride + 1]):
        raise Corrupt("the PNG has a filtered row, which no frame has")
    starts = range(1, len(view), stride + 1)
    return b"".join([view[at : at + stride] for at in starts]), width, height


def decode(data: bytes) -> tuple[bytes, int, int]:
    """Return (straight RGBA rows, width, height) of any 8-bit RGBA file without interlacing.

    Filtered rows are undone in plain Python, some seconds for a megapixel of them: this is for
    reading what other programs wrote in tests and imports, not for pictures of compositions.
    """
    width, height, packed = _parts(data, ours=False)
    stride = 4 * width
    raw = _unpack(packed, (stride + 1) * height)
    above = bytearray(stride)
    rows = []
    for at in range(0, len(raw), stride + 1):
        above = _unfiltered(raw[at], bytearray(raw[at + 1 : at + 1 + stride]), above)
        rows.append(above)
    return b"".join(rows), width, height


# A packed band: raw DEFLATE, the Adler-32 of what it unpacks to, and how many bytes that is.
_Packed: TypeAlias = tuple[bytes, int, int]


def _require_size(size: int, width: int, height: int) -> None:
    if width < 1 or height < 1 or size != 4 * width * height:
        raise ValueError(f"{size} bytes are not {width} x {height} pixels of RGBA")


def _bands(width: int, size: int) -> list[tuple[int, int]]:
    """Return where the bands of a raster of `size` bytes start and end."""
    step = max(1, _BAND // (4 * width)) * 4 * width
    return [(start, min(start + step, size)) for start in range(0, size, step)]


def _pack(rows: memoryview, start: int, end: int, stride: int) -> _Packed:
    # Filter 0 stands before every row, so an empty one leads.
    raw = b"\0".join([b"", *[rows[at : at + stride] for at in range(start, end, stride)]])
    first = raw[:_FIRST]
    compressor = isal_zlib.compressobj(
        _LEVEL, isal_zlib.DEFLATED, -15, isal_zlib.DEF_MEM_LEVEL, 0, first
    )
    packed = (
        _STORED.pack(0, len(first), len(first) ^ 0xFFFF),
        first,
        compressor.compress(memoryview(raw)[_FIRST:]),
        compressor.flush(isal_zlib.Z_FULL_FLUSH),
    )
    return b"".join(packed), isal_zlib.adler32(raw), len(raw)


def _file(width: int, height: int, bands: list[_Packed]) -> bytes:
    check = 1
    for _, band_check, length in bands:
        check = _joined_check(check, band_check, length)
    data = (_ZLIB_HEADER, *(packed for packed, _, _ in bands), _LAST_BLOCK)
    return b"".join(
        (
            SIGNATURE,
            _chunk(b"IHDR", _HEADER.pack(width, height, *_RGBA8)),
            _chunk(b"IDAT", b"".join((*data, struct.pack(">I", check)))),
            _chunk(b"IEND", b""),
        )
    )


def _joined_check(before: int, after: int, length: int) -> int:
    """Return the Adler-32 of two texts after one another, the second `length` bytes long.

    RFC 1950: both halves are sums modulo 65521, the lower one starting at 1.
    """
    low, added = before & 0xFFFF, after & 0xFFFF
    high = (before >> 16) + (after >> 16) + length * (low - 1)
    return high % 65521 << 16 | (low + added - 1) % 65521


def _chunk(kind: bytes, body: bytes) -> bytes:
    check = isal_zlib.crc32(body, isal_zlib.crc32(kind))
    return b"".join((struct.pack(">I", len(body)), kind, body, struct.pack(">I", check)))


def _parts(data: bytes, *, ours: bool) -> tuple[int, int, bytes]:
    """Return width, height and the compressed data of a PNG whose every chunk checks."""
    if data[:8] != SIGNATURE:
        raise Corrupt("the file is no PNG")
    size: tuple[int, int] | None = None
    packed: list[bytes] = []
    ended = False
    at = 8
    while not ended:
        if at + 12 > len(data):
            raise Corrupt("the PNG is cut off")
        (length,) = struct.unpack_from(">I", data, at)
        kind = data[at + 4 : at + 8]
        end = at + 8 + length
        if end + 4 > len(data):
            raise Corrupt("the PNG is cut off")
        body = data[at + 8 : end]
        (check,) = struct.unpack_from(">I", data, end)
        if isal_zlib.crc32(body, isal_zlib.crc32(kind)) != check:
            raise Corrupt("a PNG chunk fails its checksum")
        at = end + 4
        if size is None:
            size = _size(kind, body)
        elif kind == b"IDAT" and not (ours and packed):
            packed.append(body)
        elif kind == b"IEND" and not body:
            ended = True
        elif ours or not kind[0] & 0x20 or kind == b"IHDR":
            raise Corrupt("the PNG has a chunk that no frame has")
    if size is None or not packed or at != len(data):
        raise Corrupt("the PNG is not one whole picture")
    return *size, b"".join(packed)


def _size(kind: bytes, body: bytes) -> tuple[int, int]:
    if kind != b"IHDR" or len(body) != _HEADER.size:
        raise Corrupt("the PNG does not begin with its header")
    width, height, *rest = _HEADER.unpack(body)
    if tuple(rest) != _RGBA8:
        raise Corrupt("the PNG is not 8-bit RGBA without interlacing")
    if not 0 < width * height <= MAX_PIXELS:
        raise Corrupt("the PNG has no pixels or too many")
    return width, height


def _unpack(packed: bytes, size: int) -> bytes:
    """Return exactly `size` bytes out of one whole zlib stream; never unpacks more."""
    inflater = isal_zlib.decompressobj()
    try:
        # One byte more than announced is enough to see that there is too much, and lets the
        # stream come to its end, where its own checksum is verified.
        raw = inflater.decompress(packed, size + 1)
    except _UNPACK_ERROR as error:
        raise Corrupt("the PNG's data does not unpack") from error
    if len(raw) != size or not inflater.eof or inflater.unused_data:
        raise Corrupt("the PNG's data is not as long as its header says")
    return bytes(raw)


def _unfiltered(kind: int, row: bytearray, above: bytearray) -> bytearray:
    # Filters of the PNG specification, section 9, for four bytes a pixel.
    if kind == 0:
        return row
    if kind == 1:
        for i in range(4, len(row)):
            row[i] = row[i] + row[i - 4] & 255
    elif kind == 2:
        for i in range(len(row)):
            row[i] = row[i] + above[i] & 255
    elif kind == 3:
        for i in range(len(row)):
            left = row[i - 4] if i >= 4 else 0
            row[i] = row[i] + (left + above[i] >> 1) & 255
    elif kind == 4:
        for i in range(len(row)):
            left, corner = (row[i - 4], above[i - 4]) if i >= 4 else (0, 0)
            row[i] = row[i] + _paeth(left, above[i], corner) & 255
    else:
        raise Corrupt("the PNG has an unknown row filter")
    return row


def _paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    by_left, by_above, by_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
    if by_left <= by_above and by_left <= by_corner:
        return left
    return above if by_above <= by_corner else corner
