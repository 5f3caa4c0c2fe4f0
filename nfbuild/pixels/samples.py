"""Decoded video frames as straight RGBA: which planes mean what, in how many bits.

Samples of more than eight bits are rounded to eight, halves up. What the file does not say of its
colours is taken as the peer takes it: BT.601, limited range. Pictures are turned upright where the
file says how it was filmed, by quarters of a turn.
Not here: the arithmetic of luma and chroma (`planes`), decoding (`video`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nfbuild.errors import MediaError

from .arrays import np
from .decoded import DecodedPicture
from .planes import Layout, Matrix, Plane, Siting, to_rgba

if TYPE_CHECKING:
    from .arrays import Bytes

_YUV = re.compile(r"yuv(a?)(j?)(420|422|444)p(?:([0-9]{1,2})le)?")
_GREY = re.compile(r"gray(?:([0-9]{1,2})le)?")
_GBR = re.compile(r"gbr(a?)p(?:([0-9]{1,2})le)?")
_SAMPLING = {"420": (2, 2), "422": (2, 1), "444": (1, 1)}
# Packed bytes: where red, green, blue and alpha stand in a pixel, and how many bytes it has.
_PACKED = {
    "rgb24": (0, 1, 2, None, 3),
    "bgr24": (2, 1, 0, None, 3),
    "rgba": (0, 1, 2, 3, 4),
    "bgra": (2, 1, 0, 3, 4),
    "argb": (1, 2, 3, 0, 4),
    "abgr": (3, 2, 1, 0, 4),
    "rgb0": (0, 1, 2, None, 4),
    "bgr0": (2, 1, 0, None, 4),
    "0rgb": (1, 2, 3, None, 4),
    "0bgr": (3, 2, 1, None, 4),
}
# Numbers of ITU-T H.273.
_MATRICES: dict[int, Matrix] = {
    1: "bt709",
    2: "bt601",
    3: "bt601",
    5: "bt601",
    6: "bt601",
    9: "bt2020",
}
_HIGH_RANGE = (16, 18)
_FULL = 2


def straight(frame: Any, *, name: str) -> DecodedPicture:
    """Return a frame of PyAV as straight RGBA; MediaError for a kind that is not read."""
    kind = frame.format.name
    if int(frame.color_trc) in _HIGH_RANGE:
        raise _unread(name, "has a high dynamic range")
    yuv, grey, gbr = _YUV.fullmatch(kind), _GREY.fullmatch(kind), _GBR.fullmatch(kind)
    if yuv is not None:
        pixels = _from_yuv(frame, yuv, name)
    elif kind == "nv12":
        pixels = _from_nv12(frame, name)
    elif grey is not None:
        pixels = _from_grey(frame, int(grey[1] or 8), name)
    elif gbr is not None:
        pixels = _from_gbr(frame, int(gbr[2] or 8), alpha=bool(gbr[1]))
    elif kind in _PACKED:
        pixels = _from_packed(frame, kind)
    else:
        raise _unread(name, f"has pixels of the kind `{kind}`")
    return _upright(pixels, int(getattr(frame, "rotation", 0)), name)


def _from_yuv(frame: Any, kind: re.Match[str], name: str) -> Bytes:
    bits = int(kind[4] or 8)
    across, down = _SAMPLING[kind[3]]
    full = bool(kind[2]) or int(frame.color_range) == _FULL
    siting: Siting = "center" if kind[2] else "left"
    layout = Layout(frame.width, frame.height, across, down, _matrix(frame, name), full, siting)
    luma, blue, red, *alpha = [_eight(plane, bits) for plane in frame.planes]
    return _shaped(frame, to_rgba(luma, blue, red, layout, alpha=alpha[0] if alpha else None))


def _from_nv12(frame: Any, name: str) -> Bytes:
    pairs = _rows(frame.planes[1], 8)
    full = int(frame.color_range) == _FULL
    layout = Layout(frame.width, frame.height, 2, 2, _matrix(frame, name), full)
    blue, red = (_plane(np.ascontiguousarray(pairs[:, at::2])) for at in (0, 1))
    return _shaped(frame, to_rgba(_eight(frame.planes[0], 8), blue, red, layout))


def _from_grey(frame: Any, bits: int, name: str) -> Bytes:
    full = int(frame.color_range) == _FULL
    layout = Layout(frame.width, frame.height, 1, 1, _matrix(frame, name), full)
    none = _plane(np.full((frame.height, frame.width), 128, dtype=np.uint8))
    return _shaped(frame, to_rgba(_eight(frame.planes[0], bits), none, none, layout))


def _from_gbr(frame: Any, bits: int, *, alpha: bool) -> Bytes:
    out = np.full((frame.height, frame.width, 4), 255, dtype=np.uint8)
    for channel, plane in zip((1, 2, 0, 3) if alpha else (1, 2, 0), frame.planes, strict=True):
        out[..., channel] = _rows(plane, bits)[:, : frame.width]
    return out


def _from_packed(frame: Any, kind: str) -> Bytes:
    *places, size = _PACKED[kind]
    assert size is not None
    rows = _rows(frame.planes[0], 8)[:, : size * frame.width]
    pixels = rows.reshape(frame.height, frame.width, size)
    out = np.full((frame.height, frame.width, 4), 255, dtype=np.uint8)
    for channel, place in enumerate(places):
        if place is not None:
            out[..., channel] = pixels[..., place]
    return out


def _rows(plane: Any, bits: int) -> Bytes:
    """Return a plane's rows with their padding, as eight-bit samples."""
    height = plane.buffer_size // plane.line_size
    if bits == 8:
        return np.frombuffer(plane, dtype=np.uint8).reshape(height, -1)
    rows = np.frombuffer(plane, dtype=np.dtype("<u2")).reshape(height, -1)
    shift = bits - 8
    rounded = (rows.astype(np.int32) + (1 << shift >> 1)) >> shift
    eight: Bytes = np.minimum(rounded, 255).astype(np.uint8)
    return eight


def _eight(plane: Any, bits: int) -> Plane:
    return _plane(_rows(plane, bits))


def _plane(rows: Bytes) -> Plane:
    return Plane(rows.tobytes(), rows.shape[1])


def _shaped(frame: Any, pixels: bytes) -> Bytes:
    return np.frombuffer(pixels, dtype=np.uint8).reshape(frame.height, frame.width, 4)


def _matrix(frame: Any, name: str) -> Matrix:
    found = _MATRICES.get(int(frame.colorspace))
    if found is None:
        raise _unread(name, f"has the colour matrix {int(frame.colorspace)}")
    return found


def _upright(pixels: Bytes, rotation: int, name: str) -> DecodedPicture:
    if rotation % 90:
        raise _unread(name, f"is turned by {rotation} degrees")
    turned = np.ascontiguousarray(np.rot90(pixels, rotation // 90 % 4))
    height, width = turned.shape[:2]
    return DecodedPicture(turned.tobytes(), width, height)


def _unread(name: str, why: str) -> MediaError:
    return MediaError(
        f"the video `{name}` {why}, which is not read",
        hint="save it with 8-bit `yuv420p` pixels in BT.709 or BT.601",
        code="media.kind",
    )
