"""Video planes become straight RGBA by integer arithmetic of our own, on whole planes.

swscale's conversion differs from call to call and from processor to processor; this one is a pure
function of the planes. Matrices of ITU-R BT.601, BT.709 and BT.2020, limited and full range, in 16
bits after the point, rounded to the nearest. Chroma is interpolated linearly from where it is
sited: in 4:2:0 and 4:2:2 on every second column (`left`, as MPEG-2, H.264 and VP9 default to) or
between two columns (`center`, as JPEG), in 4:2:0 always between two rows.
Not here: decoding video, which frames are wanted (whoever holds PyAV).
"""

from __future__ import annotations

from typing import Literal

from nfbuild.dataclasses import dataclass, field

from .arrays import Bytes, Ints, np

Matrix = Literal["bt601", "bt709", "bt2020"]
Siting = Literal["left", "center"]

# Factors times 65536: of luma, of V in red, of U and of V in green, of U in blue. With Kr, Kb of
# the matrix and Kg = 1 - Kr - Kb they are s, 2(1-Kr)t, 2(1-Kb)Kb/Kg t, 2(1-Kr)Kr/Kg t, 2(1-Kb)t,
# where s = 255/219 and t = 255/224 in limited range and both are 1 in full range.
_FACTORS = {
    ("bt601", False): (76309, 104597, 25675, 53279, 132201),
    ("bt709", False): (76309, 117489, 13975, 34925, 138438),
    ("bt2020", False): (76309, 110014, 12277, 42626, 140363),
    ("bt601", True): (65536, 91881, 22553, 46802, 116130),
    ("bt709", True): (65536, 103206, 12276, 30679, 121609),
    ("bt2020", True): (65536, 96639, 10784, 37444, 123299),
}
_HALF = 1 << 15


@dataclass(frozen=True)
class Plane:
    """One plane of 8-bit samples; `stride` is the bytes from a row to the next."""

    data: bytes | bytearray | memoryview = field(repr=False)
    stride: int


@dataclass(frozen=True)
class Layout:
    """How the planes of a picture are to be read.

    `across` and `down` say how many luma samples share a chroma sample: (2, 2) is 4:2:0, (2, 1)
    is 4:2:2, (1, 1) is 4:4:4.
    """

    width: int
    height: int
    across: int = 2
    down: int = 2
    matrix: Matrix = "bt601"
    full_range: bool = False
    siting: Siting = "left"


def to_rgba(
    luma: Plane, blue: Plane, red: Plane, layout: Layout, *, alpha: Plane | None = None
) -> bytes:
    """Return straight RGBA rows of a Y, U, V (and alpha) picture.

    ValueError where a plane is shorter than the layout says or the sampling is not one of ours.
    Alpha is full range always; without it the picture is opaque.
    """
    width, height = layout.width, layout.height
    if (layout.across, layout.down) not in ((1, 1), (2, 1), (2, 2)):
        raise ValueError(f"chroma sampling {layout.across} x {layout.down} is not supported")
    small = -(-width // layout.across), -(-height // layout.down)
    brightness = _samples(luma, width, height)
    u = _upsampled(_samples(blue, *small), layout) - 128
    v = _upsampled(_samples(red, *small), layout) - 128
    scale, v_red, u_green, v_green, u_blue = _FACTORS[layout.matrix, layout.full_range]
    base = (brightness - (0 if layout.full_range else 16)) * scale + _HALF
    out = np.empty((height, width, 4), dtype=np.uint8)
    out[..., 0] = _clipped(base + v * v_red)
    out[..., 1] = _clipped(base - u * u_green - v * v_green)
    out[..., 2] = _clipped(base + u * u_blue)
    out[..., 3] = 255 if alpha is None else _samples(alpha, width, height)
    return out.tobytes()


def _samples(plane: Plane, width: int, height: int) -> Ints:
    flat = np.frombuffer(plane.data, dtype=np.uint8)
    if width < 1 or height < 1 or plane.stride < width:
        raise ValueError(f"a plane of {width} x {height} does not fit a stride of {plane.stride}")
    if flat.size < plane.stride * (height - 1) + width:
        raise ValueError(f"a plane of {width} x {height} has only {flat.size} bytes")
    rows = np.lib.stride_tricks.as_strided(
        flat, shape=(height, width), strides=(plane.stride, 1), writeable=False
    )
    return rows.astype(np.int32)


def _upsampled(plane: Ints, layout: Layout) -> Ints:
    if layout.down == 2:
        plane = _between(plane, layout.height)
    if layout.across == 2:
        across = plane.T
        across = (
            _between(across, layout.width)
            if layout.siting == "center"
            else _beside(across, layout.width)
        )
        plane = across.T
    return plane


def _between(plane: Ints, length: int) -> Ints:
    """Double the rows of samples that sit between two of the wanted rows: 3 parts to 1."""
    before = np.concatenate((plane[:1], plane[:-1]))
    after = np.concatenate((plane[1:], plane[-1:]))
    out = np.empty((2 * plane.shape[0], plane.shape[1]), dtype=np.int32)
    out[0::2] = (3 * plane + before + 2) >> 2
    out[1::2] = (3 * plane + after + 2) >> 2
    return out[:length]


def _beside(plane: Ints, length: int) -> Ints:
    """Double the rows of samples that sit on every second wanted row: the mean between two."""
    after = np.concatenate((plane[1:], plane[-1:]))
    out = np.empty((2 * plane.shape[0], plane.shape[1]), dtype=np.int32)
    out[0::2] = plane
    out[1::2] = (plane + after + 1) >> 1
    return out[:length]


def _clipped(values: Ints) -> Bytes:
    clipped: Bytes = np.clip(values >> 16, 0, 255).astype(np.uint8)
    return clipped
