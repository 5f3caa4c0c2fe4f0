"""Geometry boxes: what `"center": "auto"` turns and grows an element around.

The box is taken in the element's own coordinates: its own transform is not in it, those of its
descendants are. A group's box is the union of its children's, definitions and hidden ones too:
the pivot must not jump when a child appears. Sources: the format's table of pivots, and for
paths the sampling of its peer, whose pixels a pivot must reproduce (see `_path_points`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import sqrt
from typing import TypeAlias

from nfbuild.errors import Place, SourceError
from nfbuild.scene.matrix import IDENTITY, Matrix, apply, read_transform
from nfbuild.scene.numbers import double
from nfbuild.scene.tree import Element, describe

Box: TypeAlias = "tuple[float, float, float, float]"
"""Left, top, right, bottom."""

TextBox: TypeAlias = "Callable[[Element], Box | None]"
"""Answers where the ink of a text is; None where it has none."""

_NUMBERS = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_PATH = re.compile(r"[A-DF-Za-df-z]|" + _NUMBERS.pattern, re.ASCII)

# The rasterizer's curves are smooth; a pivot needs the peer's eight chords.
_CHORDS = 8


def center(element: Element, file: str, text_box: TextBox) -> tuple[float, float] | None:
    """Return the centre of an element's geometry, None where it has none that can be told."""
    box = _bounds(element, file, text_box)
    return None if box is None else ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)


def _bounds(root: Element, file: str, text_box: TextBox) -> Box | None:
    """Return the box of an element, without its own transform.

    A group's box is made of its children's boxes, each box mapped by the child's transform and
    boxed again: what is turned twice is boxed twice.
    """
    # Each entry is an element, the box found so far, and the children still to look at.
    levels: list[tuple[Element, list[Box | None], list[Element]]] = []
    done: Box | None = None
    element: Element | None = root
    while True:
        if element is not None:
            inner = [] if element.tag == "text" else element.children
            levels.append((element, [_leaf(element, file, text_box)], list(reversed(inner))))
            element = None
        current, found, waiting = levels[-1]
        if waiting:
            element = waiting.pop()
            continue
        levels.pop()
        done = found[0]
        if not levels:
            return done
        if done is None:
            continue
        own = current.get("transform")
        if own:
            step = read_transform(own)
            if step is None:
                return None
            done = _mapped(done, step)
        above = levels[-1][1]
        above[0] = _union(above[0], done)


def _union(first: Box | None, second: Box) -> Box:
    if first is None:
        return second
    return (
        min(first[0], second[0]),
        min(first[1], second[1]),
        max(first[2], second[2]),
        max(first[3], second[3]),
    )


def _mapped(box: Box, matrix: Matrix) -> Box:
    if matrix == IDENTITY:
        return box
    left, top, right, bottom = box
    points = [apply(matrix, x, y) for x in (left, right) for y in (top, bottom)]
    return _around(points)


def _around(points: list[tuple[float, float]]) -> Box:
    xs = [x for x, _ in points]
    ys = [y for _, y in points]
    return (min(xs), min(ys), max(xs), max(ys))


def _leaf(element: Element, file: str, text_box: TextBox) -> Box | None:
    def number(name: str) -> float:
        text = element.get(name)
        if text is None:
            return 0.0
        value = double(text)
        if value is None:
            raise SourceError(
                f"`{name}` of `{describe(element)}` is `{text}`, and a pivot needs plain numbers",
                place=Place(file, element.line),
                hint='write the length without a unit, or an explicit "center": [x, y]',
            )
        return value

    tag = element.tag
    if tag in ("rect", "image"):
        if tag == "rect" and (element.get("width") is None or element.get("height") is None):
            return None
        x, y = number("x"), number("y")
        width, height = number("width"), number("height")
        return (min(x, x + width), min(y, y + height), max(x, x + width), max(y, y + height))
    if tag in ("circle", "ellipse"):
        x, y = number("cx"), number("cy")
        rx = number("r") if tag == "circle" else number("rx")
        ry = rx if tag == "circle" else number("ry")
        return (x - abs(rx), y - abs(ry), x + abs(rx), y + abs(ry))
    if tag == "line":
        ends = [(number("x1"), number("y1")), (number("x2"), number("y2"))]
        return _around(ends)
    if tag in ("polygon", "polyline"):
        values = [float(text) for text in _NUMBERS.findall(element.get("points") or "")]
        xs, ys = values[0::2], values[1::2]
        return (min(xs), min(ys), max(xs), max(ys)) if ys else None
    if tag == "path":
        points = _path_points(element.get("d") or "")
        return _around(points) if points else None
    if tag == "text":
        return text_box(element)
    return None


def _path_points(d: str) -> list[tuple[float, float]]:
    """Return the points whose box is a path's; empty where the path has an arc or none at all.

    The format's peer walks a path in chords and knows M, L, T, C and S; the numbers of H, V and
    Q it reads as points. Where that reading works out, its pivot is this one, quirk for quirk,
    since the pixels must be equal. Where it does not (an odd number of values), the path is
    walked as SVG defines it.
    """
    tokens = _PATH.findall(d)
    if "A" in tokens or "a" in tokens or not tokens or tokens[0] not in "Mm":
        return []
    points = _as_the_peer(tokens)
    return _as_defined(tokens) if points is None else points


def _is_letter(token: str) -> bool:
    return token[-1] not in "0123456789."


def _as_the_peer(tokens: list[str]) -> list[tuple[float, float]] | None:
    numbers = [None if _is_letter(token) else float(token) for token in tokens]
    index = 0
    command = ""
    x = y = 0.0
    points: list[tuple[float, float]] = []

    def take(count: int) -> list[float] | None:
        nonlocal index
        taken: list[float] = []
        while len(taken) < count:
            if index >= len(numbers):
                return None
            value = numbers[index]
            index += 1
            if value is not None:
                taken.append(value)
        return taken

    while index < len(tokens):
        fresh = numbers[index] is None
        if fresh:
            command = tokens[index]
            index += 1
            if command in "Zz":
                continue
            if index >= len(tokens):
                return None
        upper = command.upper()
        relative = command in "mltcs"
        base_x, base_y = (x, y) if relative else (0.0, 0.0)
        taken = take(6 if upper == "C" else 4 if upper == "S" else 2)
        if taken is None:
            return None
        shifted = [value + (base_y if place % 2 else base_x) for place, value in enumerate(taken)]
        end_x, end_y = shifted[-2], shifted[-1]
        if upper == "M" and fresh:
            if not points:
                points.append((end_x, end_y))
        elif upper in ("C", "S"):
            first = (shifted[0], shifted[1]) if upper == "C" else (x, y)
            points += _chords((x, y), first, (shifted[-4], shifted[-3]), (end_x, end_y))
        else:
            # A line is walked in steps of about one unit, from the first step on.
            steps = max(1, int(sqrt((end_x - x) * (end_x - x) + (end_y - y) * (end_y - y))))
            points.append((x + (end_x - x) / steps, y + (end_y - y) / steps))
            points.append((end_x, end_y))
        x, y = end_x, end_y
    return points


def _chords(
    p0: tuple[float, float],
    p1: tuple[float, float],
    p2: tuple[float, float],
    p3: tuple[float, float],
) -> list[tuple[float, float]]:
    points = []
    for step in range(1, _CHORDS + 1):
        t = step / _CHORDS
        s = 1.0 - t
        a, b, c, e = s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t
        points.append(
            (
                a * p0[0] + b * p1[0] + c * p2[0] + e * p3[0],
                a * p0[1] + b * p1[1] + c * p2[1] + e * p3[1],
            )
        )
    return points


_ARITY = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2}


def _as_defined(tokens: list[str]) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    x = y = start_x = start_y = 0.0
    last_control: tuple[float, float] | None = None
    last_kind = ""
    index = 0
    command = ""
    while index < len(tokens):
        if _is_letter(tokens[index]):
            command = tokens[index]
            index += 1
            if command in "Zz":
                x, y, last_kind = start_x, start_y, ""
                continue
        upper = command.upper()
        arity = _ARITY.get(upper)
        values = tokens[index : index + (arity or 1)]
        if arity is None or len(values) < arity or any(_is_letter(value) for value in values):
            break  # what SVG says of a path with an error: it is drawn up to there
        index += arity
        numbers = [float(value) for value in values]
        base_x, base_y = (x, y) if command >= "a" else (0.0, 0.0)
        if upper == "H":
            end = (base_x + numbers[0], y)
        elif upper == "V":
            end = (x, base_y + numbers[0])
        else:
            end = (base_x + numbers[-2], base_y + numbers[-1])
        if not points:
            points.append((x, y) if upper != "M" else end)
        if upper == "M":
            start_x, start_y = end
            command = "l" if command == "m" else "L"
        if upper in ("C", "S"):
            second = (base_x + numbers[-4], base_y + numbers[-3])
            if upper == "C":
                first = (base_x + numbers[0], base_y + numbers[1])
            else:
                first = _reflected((x, y), last_control if last_kind == "C" else None)
            points += _chords((x, y), first, second, end)
            last_control, last_kind = second, "C"
        elif upper in ("Q", "T"):
            if upper == "Q":
                control = (base_x + numbers[0], base_y + numbers[1])
            else:
                control = _reflected((x, y), last_control if last_kind == "Q" else None)
            first = (x + (control[0] - x) * 2 / 3, y + (control[1] - y) * 2 / 3)
            second = (
                end[0] + (control[0] - end[0]) * 2 / 3,
                end[1] + (control[1] - end[1]) * 2 / 3,
            )
            points += _chords((x, y), first, second, end)
            last_control, last_kind = control, "Q"
        else:
            points.append(end)
            last_kind = ""
        x, y = end
    return points


def _reflected(
    point: tuple[float, float], control: tuple[float, float] | None
) -> tuple[float, float]:
    if control is None:
        return point
    return (2 * point[0] - control[0], 2 * point[1] - control[1])
