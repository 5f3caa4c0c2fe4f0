"""Elements that never land on the canvas: drawn, clipped away, and nobody told.

A box is followed through every transform around it at the instants of the keyframes and between
them; what two neighbouring instants enclose counts as passed. Where a geometry cannot be told
(text that is laid out, a picture without a declared size, several timelines on one transform) the
element is taken to land: a false alarm is worse than none here.

Not here: what other elements paint over, which only pixels tell.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from nfbuild.errors import SourceError
from nfbuild.scene.box import Box, center
from nfbuild.scene.layout import wants_layout
from nfbuild.scene.layout.path import PathError, outline
from nfbuild.scene.matrix import IDENTITY, Matrix, apply, multiply, read_transform
from nfbuild.scene.numbers import double
from nfbuild.scene.window import read_window

if TYPE_CHECKING:
    from nfbuild.scene.box import TextBox
    from nfbuild.scene.lint.finding import Findings
    from nfbuild.scene.lint.motion import Moves
    from nfbuild.scene.sheet import Sheet
    from nfbuild.scene.tree import Element

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_STEPS = 8  # instants between two keyframes
_NOT_DRAWN = frozenset(
    ["clipPath", "defs", "filter", "linearGradient", "marker", "mask", "pattern", "radialGradient"]
) | {"script", "style", "symbol"}


def check_landing(
    sheet: Sheet, moves: Moves, parents: dict[Element, Element], findings: Findings, boxes: TextBox
) -> None:
    """Add every drawn leaf of a file whose box never meets the canvas."""
    canvas = _visible_region(sheet)
    if canvas is None:
        return
    flight = _Flight(sheet, moves, parents, boxes)
    stack = [sheet.root]
    while stack:
        element = stack.pop()
        if element.tag in _NOT_DRAWN or element.get("display") == "none":
            continue
        if element.tag != "text":
            stack.extend(reversed(element.children))
        box = _leaf(element, boxes)
        if box is None or flight.lands(element, box, canvas):
            continue
        findings.add(
            "geometry.never_on_canvas",
            element,
            "never lands on the canvas",
            "look at its position, its transform and the pivot of its animation",
        )


def _visible_region(sheet: Sheet) -> Box | None:
    """Return the canvas in the root's coordinates, None where a `viewBox` cannot be read."""
    width, height = float(sheet.canvas.width), float(sheet.canvas.height)
    written = sheet.root.get("viewBox")
    if written is None:
        return (0.0, 0.0, width, height)
    values = [float(text) for text in _NUMBER.findall(written)]
    if len(values) != 4 or values[2] <= 0.0 or values[3] <= 0.0:
        return None
    # The box is fitted into the canvas and centred: more of one direction shows.
    scale = min(width / values[2], height / values[3])
    across, down = width / scale - values[2], height / scale - values[3]
    return (
        values[0] - across,
        values[1] - down,
        values[0] + values[2] + across,
        values[1] + values[3] + down,
    )


def _leaf(element: Element, text_box: TextBox) -> Box | None:
    """Return the box of what an element itself draws, stroke and all; None where unknown."""
    tag = element.tag
    points: list[tuple[float, float]] = []
    if tag in ("rect", "image"):
        x, y = _number(element, "x"), _number(element, "y")
        width, height = _number(element, "width"), _number(element, "height")
        if x is None or y is None or not width or not height:
            return None
        points = [(x, y), (x + width, y + height)]
    elif tag in ("circle", "ellipse"):
        x, y = _number(element, "cx"), _number(element, "cy")
        rx = _number(element, "r" if tag == "circle" else "rx")
        ry = rx if tag == "circle" else _number(element, "ry")
        if x is None or y is None or not rx or not ry:
            return None
        points = [(x - rx, y - ry), (x + rx, y + ry)]
    elif tag == "line":
        ends = [_number(element, name) for name in ("x1", "y1", "x2", "y2")]
        known = [end for end in ends if end is not None]
        if len(known) == 4:
            points = [(known[0], known[1]), (known[2], known[3])]
    elif tag in ("polygon", "polyline"):
        values = [float(text) for text in _NUMBER.findall(element.get("points") or "")]
        points = list(zip(values[0::2], values[1::2], strict=False))
    elif tag == "path":
        try:
            points = outline(element.get("d") or "")
        except PathError:
            return None
    elif tag == "text" and not wants_layout(element) and element.get("data-raster") is None:
        return text_box(element)
    if not points:
        return None
    width = double(element.get("stroke-width") or "1") or 0.0
    # A mitre reaches twice its stroke's width at the default limit.
    room = 2.0 * width if element.get("stroke") not in (None, "none") else 0.0
    if element.get("filter") is not None or element.get("style") is not None:
        room += 100.0
    left, top, right, bottom = _around(points)
    return (left - room, top - room, right + room, bottom + room)


def _number(element: Element, name: str) -> float | None:
    text = element.get(name)
    return 0.0 if text is None else double(text.strip(" ").removesuffix("px"))


class _Flight:
    """Where boxes go through a file's windows, transforms and timelines."""

    def __init__(
        self, sheet: Sheet, moves: Moves, parents: dict[Element, Element], boxes: TextBox
    ) -> None:
        self.sheet = sheet
        self.moves = moves
        self.parents = parents
        self.boxes = boxes

    def lands(self, element: Element, box: Box, canvas: Box) -> bool:
        chain = [element]
        while (above := self.parents.get(chain[-1])) is not None and above is not self.sheet.root:
            chain.append(above)
        before: Box | None = None
        for seconds in self.instants(chain):
            matrix = IDENTITY
            for each in reversed(chain):
                step = self.step(each, seconds)
                if step is None:
                    return True
                matrix = multiply(matrix, step)
            corners = [(x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]
            here = _around([apply(matrix, x, y) for x, y in corners])
            if _meets(here if before is None else _union(before, here), canvas):
                return True
            before = here
        return before is None

    def instants(self, chain: list[Element]) -> list[float]:
        """Return the instants to look at, inside every window around the element."""
        sheet = self.sheet
        start, end = 0.0, float(sheet.canvas.duration)
        turns: list[float] = []
        for element in chain:
            window = read_window(element, sheet.path, sheet.canvas.duration)
            if window is not None:
                start, end = max(start, window.start), min(end, window.end)
            for animation in self.moves.get(element, ()):
                turns += [keyframe.seconds for keyframe in animation.keyframes]
        if end < start:
            return []
        inside = [turn for turn in turns if start < turn < end]
        corners = sorted(dict.fromkeys([start, end, *inside]))
        if not turns:
            return corners[:1]
        found = [corners[0]]
        for low, high in pairwise(corners):
            found += [low + (high - low) * step / _STEPS for step in range(1, _STEPS + 1)]
        return found

    def step(self, element: Element, seconds: float) -> Matrix | None:
        """Return an element's own matrix at an instant, None where it cannot be told."""
        if element.tag in ("svg", "switch", "use"):
            return None
        written = element.get("transform")
        matrix = read_transform(written) if written else IDENTITY
        if matrix is None or element.get("style") is not None:
            return None
        motions = [
            motion
            for track in self.sheet.tracks.get(element, ())
            if (motion := track.at(seconds).transform) is not None
        ]
        if not motions:
            return matrix
        if len(motions) > 1:
            return None
        try:
            middle = center(element, self.sheet.path, self.boxes)
        except SourceError:
            return None
        text = motions[0].text(middle)
        moved = read_transform(text) if text else IDENTITY
        return None if moved is None else multiply(matrix, moved)


def _around(points: list[tuple[float, float]]) -> Box:
    xs = [x for x, _ in points]
    ys = [y for _, y in points]
    return (min(xs), min(ys), max(xs), max(ys))


def _union(first: Box, second: Box) -> Box:
    return (
        min(first[0], second[0]),
        min(first[1], second[1]),
        max(first[2], second[2]),
        max(first[3], second[3]),
    )


def _meets(box: Box, canvas: Box) -> bool:
    return box[0] < canvas[2] and box[2] > canvas[0] and box[1] < canvas[3] and box[3] > canvas[1]
