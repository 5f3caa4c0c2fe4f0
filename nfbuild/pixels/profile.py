"""Tell whether an ICC profile says what sRGB says anyway, in plain Python.

Cameras and editors attach an sRGB profile to most pictures; ignoring it draws them right. The
profile is sRGB when it is an RGB display profile of matrix and curves, its primaries are those of
sRGB adapted to D50 and its curves pass through sRGB's curve (ICC.1:2022, IEC 61966-2-1). Its
name decides nothing. Any doubt, damage included, is answered with no.
Not here: converting (`decode`).
"""

from __future__ import annotations

import struct

# Red, green, blue as XYZ in parts of 65536.
_PRIMARIES = {
    b"rXYZ": (28578, 14581, 912),
    b"gXYZ": (25241, 46981, 6362),
    b"bXYZ": (9376, 3974, 46799),
}
_PRIMARY_SLACK = 90  # writers round differently, by 0.001

# sRGB's curve at eighths of the input, in parts of 65535.
_CURVE = (0, 940, 3334, 7603, 14027, 22840, 34243, 48420, 65535)
_CURVE_SLACK = 260  # 0.4 %: curves of 256 steps are interpolated

# 'para' function 3: exponent, scale, offset, slope and limit in parts of 65536.
_PARAMETRIC = (157286, 62119, 3417, 5072, 2651)
_PARAMETRIC_SLACK = 40


def is_srgb(profile: bytes) -> bool:
    """Tell whether a profile may be ignored because it describes sRGB."""
    try:
        return _is_srgb(profile)
    except struct.error:
        return False


def _is_srgb(profile: bytes) -> bool:
    if profile[16:20] != b"RGB " or profile[20:24] != b"XYZ " or profile[36:40] != b"acsp":
        return False
    (count,) = struct.unpack_from(">I", profile, 128)
    tags: dict[bytes, bytes] = {}
    for index in range(min(count, 100)):
        name, offset, length = struct.unpack_from(">4sII", profile, 132 + 12 * index)
        tags[name] = profile[offset : offset + length]
    if any(name.startswith(b"A2B") for name in tags):
        return False  # a table overrides matrix and curves
    for name, wanted in _PRIMARIES.items():
        found = struct.unpack_from(">4s4xiii", tags.get(name, b""))
        if found[0] != b"XYZ " or not _near(found[1:], wanted, _PRIMARY_SLACK):
            return False
    return all(_is_srgb_curve(tags.get(name, b"")) for name in (b"rTRC", b"gTRC", b"bTRC"))


def _is_srgb_curve(curve: bytes) -> bool:
    if curve[:4] == b"para":
        (function,) = struct.unpack_from(">H", curve, 8)
        if function not in (3, 4):
            return False
        values = struct.unpack_from(f">{5 if function == 3 else 7}i", curve, 12)
        return _near(values[:5], _PARAMETRIC, _PARAMETRIC_SLACK) and not any(values[5:])
    if curve[:4] != b"curv":
        return False
    (count,) = struct.unpack_from(">I", curve, 8)
    if count < 256:
        return False
    points = struct.unpack_from(f">{count}H", curve, 12)
    found = []
    for eighth in range(9):
        whole, part = divmod((count - 1) * eighth, 8)
        following = points[min(whole + 1, count - 1)]
        found.append((points[whole] * (8 - part) + following * part) // 8)
    return _near(found, _CURVE, _CURVE_SLACK)


def _near(found: tuple[int, ...] | list[int], wanted: tuple[int, ...], slack: int) -> bool:
    return all(abs(a - b) <= slack for a, b in zip(found, wanted, strict=True))
