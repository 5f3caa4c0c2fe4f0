"""Read the `d` of a path that text follows, into straight pieces.

The format's reference reads such a path in its own way, and compositions are drawn to look right
under it, so that way comes first: it knows M, L, C, S, T and Z; it skips every other letter but
A, so that the numbers of Q, H and V continue the command before them; Z does nothing; S and T
never continue the bend before them. Where that reading is impossible (an arc, or a number too few)
the reference stops with an error, and here the path is read as SVG defines it instead. `check`
tells the author of either.

A line becomes one piece per whole px of its length, a curve 48 pieces.

Not here: placing anything along the pieces (`curve`).
"""

from __future__ import annotations

import re
from math import sqrt

from nfbuild.dataclasses import dataclass, field
from nfbuild.scene.layout.series import arctangent, cosine, sine

CURVE_PIECES = 48

_TOKEN = re.compile(r"[A-Za-z]|[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_EXPONENT = "eE"
_LIMIT = 100_000  # pieces: a path across a canvas of any allowed size stays far below

Point = tuple[float, float]


class PathError(ValueError):
    """The text is no path; the message says why."""


@dataclass(slots=True)
class Pieces:
    """A polyline with the distance of each point from the start, built command by command."""

    points: list[Point] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)

    def add(self, x: float, y: float) -> None:
        """Go straight to a point."""
        if len(self.points) >= _LIMIT:
            raise PathError(f"the path is longer than {_LIMIT} px")
        if not self.points:
            self.distances.append(0.0)
        else:
            before = self.points[-1]
            self.distances.append(self.distances[-1] + _length(x - before[0], y - before[1]))
        self.points.append((x, y))

    def line(self, start: Point, end: Point) -> None:
        """Go along a line, one piece per whole px."""
        along = (end[0] - start[0], end[1] - start[1])
        length = _length(*along)
        if length > _LIMIT:
            raise PathError(f"the path is longer than {_LIMIT} px")
        count = max(1, int(length))
        for index in range(1, count + 1):
            part = index / count
            self.add(start[0] + along[0] * part, start[1] + along[1] * part)

    def cubic(self, a: Point, b: Point, c: Point, d: Point) -> None:
        """Go along a cubic curve from `a` to `d`."""
        for index in range(1, CURVE_PIECES + 1):
            t = index / CURVE_PIECES
            u = 1.0 - t
            first, second, third, fourth = u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t
            self.add(
                first * a[0] + second * b[0] + third * c[0] + fourth * d[0],
                first * a[1] + second * b[1] + third * c[1] + fourth * d[1],
            )

    def quadratic(self, a: Point, b: Point, c: Point) -> None:
        """Go along a quadratic curve from `a` to `c`."""
        for index in range(1, CURVE_PIECES + 1):
            t = index / CURVE_PIECES
            u = 1.0 - t
            first, second, third = u * u, 2.0 * u * t, t * t
            self.add(
                first * a[0] + second * b[0] + third * c[0],
                first * a[1] + second * b[1] + third * c[1],
            )


class _Corners(Pieces):
    """Points whose box is that of the polyline: a line needs its end alone, and no distance."""

    def add(self, x: float, y: float) -> None:
        """Go straight to a point."""
        self.points.append((x, y))

    def line(self, start: Point, end: Point) -> None:  # noqa: ARG002  the polyline's signature
        """Go along a line."""
        self.points.append(end)


def flatten(d: str) -> Pieces:
    """Return the pieces of the path `d`; raises `PathError` where no reading has any."""
    commands = _commands(d)
    try:
        pieces = _as_reference(commands)
    except PathError:
        pieces = _as_svg(commands, Pieces())
    if not pieces.points:
        raise PathError("the path has no point")
    return pieces


def outline(d: str) -> list[Point]:
    """Return points of the path as SVG defines it: what is drawn, for its box."""
    return _as_svg(_commands(d), _Corners()).points


def follows_reference_oddly(d: str) -> bool:
    """Tell whether `d` is drawn otherwise than SVG says, because the reference does so."""
    commands = _commands(d)
    try:
        _as_reference(commands)
    except PathError:
        return False
    letters = [name.lower() for name, _ in commands]
    return any(name in "qhvst" for name in letters) or "z" in letters[:-1]


def _commands(d: str) -> list[tuple[str, list[float]]]:
    """Split `d` into letters with their numbers; numbers before any letter have the letter ""."""
    commands: list[tuple[str, list[float]]] = []
    for token in _TOKEN.findall(d):
        if token.isascii() and token in _LETTERS:
            if token not in _EXPONENT:
                commands.append((token, []))
            continue
        if not commands:
            commands.append(("", []))
        commands[-1][1].append(float(token))
    return commands


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _as_reference(commands: list[tuple[str, list[float]]]) -> Pieces:
    merged: list[tuple[str, list[float]]] = []
    for letter, numbers in commands:
        if letter and letter in "MmLlCcSsTtZzAa":
            merged.append((letter, list(numbers)))
        elif merged:
            merged[-1][1].extend(numbers)
        elif numbers:
            raise PathError("the path does not begin with M")
    pieces = Pieces()
    at: Point = (0.0, 0.0)
    for letter, numbers in merged:
        name = letter.lower()
        if name == "z":
            continue
        if name == "a":
            raise PathError("an arc")
        if name != "m" and not pieces.points:
            raise PathError("the path does not begin with M")
        for index, group in enumerate(_groups(numbers, {"c": 6, "s": 4}.get(name, 2))):
            points = _pairs(group, at if letter == name else (0.0, 0.0))
            end = points[-1]
            if name == "m" and index == 0:
                if not pieces.points:
                    pieces.add(*end)
            elif name in "ml":
                pieces.line(at, end)
            elif name == "t":
                pieces.quadratic(at, at, end)
            elif name == "c":
                pieces.cubic(at, points[0], points[1], end)
            else:
                pieces.cubic(at, at, points[0], end)
            at = end
    return pieces


def _as_svg(commands: list[tuple[str, list[float]]], pieces: Pieces) -> Pieces:
    """Read the path as SVG 1.1 section 8.3 defines it; a move is travelled like a line."""
    at: Point = (0.0, 0.0)
    start = at
    cubic: Point | None = None
    square: Point | None = None
    if commands and commands[0][0] not in ("M", "m"):
        raise PathError("the path does not begin with M")
    for letter, numbers in commands:
        name = letter.lower()
        if name == "z":
            pieces.line(at, start)
            at, cubic, square = start, None, None
            continue
        count = _ARGUMENTS.get(name)
        if count is None:
            raise PathError(f"`{letter}` is no path command")
        base = at if letter == name else (0.0, 0.0)
        for index, group in enumerate(_groups(numbers, count)):
            if index:
                base = at if letter == name else (0.0, 0.0)
            next_cubic: Point | None = None
            next_square: Point | None = None
            if name == "h":
                end = (base[0] + group[0], at[1])
                pieces.line(at, end)
            elif name == "v":
                end = (at[0], base[1] + group[0])
                pieces.line(at, end)
            elif name == "a":
                end = (base[0] + group[5], base[1] + group[6])
                _arc(pieces, at, group, end)
            else:
                points = _pairs(group, base)
                end = points[-1]
                if name == "m" and index == 0:
                    pieces.add(*end)
                    start = end
                elif name in "ml":
                    pieces.line(at, end)
                elif name == "c":
                    pieces.cubic(at, points[0], points[1], end)
                    next_cubic = points[1]
                elif name == "s":
                    pieces.cubic(at, _mirrored(cubic, at), points[0], end)
                    next_cubic = points[0]
                elif name == "q":
                    pieces.quadratic(at, points[0], end)
                    next_square = points[0]
                else:
                    next_square = _mirrored(square, at)
                    pieces.quadratic(at, next_square, end)
            at, cubic, square = end, next_cubic, next_square
    return pieces


_ARGUMENTS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7}


def _groups(numbers: list[float], count: int) -> list[list[float]]:
    if len(numbers) % count:
        raise PathError(f"{len(numbers)} numbers stand where groups of {count} are needed")
    return [numbers[index : index + count] for index in range(0, len(numbers), count)]


def _pairs(group: list[float], base: Point) -> list[Point]:
    return [
        (base[0] + group[index], base[1] + group[index + 1]) for index in range(0, len(group), 2)
    ]


def _mirrored(control: Point | None, at: Point) -> Point:
    return at if control is None else (2.0 * at[0] - control[0], 2.0 * at[1] - control[1])


def _length(x: float, y: float) -> float:
    return sqrt(x * x + y * y)


def _arc(pieces: Pieces, start: Point, group: list[float], end: Point) -> None:
    """Go along an elliptical arc: SVG 1.1 appendix F.6, from end points to the centre."""
    rx, ry = abs(group[0]), abs(group[1])
    if start == end:
        return
    if rx == 0.0 or ry == 0.0:
        pieces.line(start, end)
        return
    cos, sin = cosine(group[2]), sine(group[2])
    half = ((start[0] - end[0]) / 2.0, (start[1] - end[1]) / 2.0)
    x = cos * half[0] + sin * half[1]
    y = cos * half[1] - sin * half[0]
    too_small = x * x / (rx * rx) + y * y / (ry * ry)
    if too_small > 1.0:
        rx, ry = rx * sqrt(too_small), ry * sqrt(too_small)
        too_small = 1.0
    root = sqrt((1.0 - too_small) / too_small)
    if (group[3] != 0.0) == (group[4] != 0.0):
        root = -root
    across = (root * rx * y / ry, -root * ry * x / rx)
    centre = (
        cos * across[0] - sin * across[1] + (start[0] + end[0]) / 2.0,
        sin * across[0] + cos * across[1] + (start[1] + end[1]) / 2.0,
    )
    first = arctangent((y - across[1]) / ry, (x - across[0]) / rx)
    sweep = arctangent((-y - across[1]) / ry, (-x - across[0]) / rx) - first
    if group[4] != 0.0 and sweep < 0.0:
        sweep += 360.0
    elif group[4] == 0.0 and sweep > 0.0:
        sweep -= 360.0
    # As many pieces as a circle has in 360 degrees, but never fewer than a curve.
    count = max(CURVE_PIECES, int(abs(sweep) / 1.5))
    for index in range(1, count):
        angle = first + sweep * index / count
        along, up = rx * cosine(angle), ry * sine(angle)
        pieces.add(cos * along - sin * up + centre[0], sin * along + cos * up + centre[1])
    pieces.add(*end)
