"""Lay out one text: fit it, wrap it, bend it, and put a chip behind it.

The order of precedence is the format's: along a circle, along a path, wrapped, fitted. A bent text
has no chip; a wrapped one has one chip behind all its lines. What replaces the text carries its
`transform`, `opacity` and `display` on a group; its lines and characters keep family, weight,
style, fill and its opacity, and nothing else. In particular they are drawn at the rasterizer's
own size: the format's reference drops `font-size` there, and its pixels are the contract.
A chip behind a single line stands beside the text and does not share its `transform`.

Not here: who draws with which face (`compile`), and when a text shows (`window`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nfbuild.errors import Place, SourceError
from nfbuild.scene.layout.curve import circle, place
from nfbuild.scene.layout.ink import Box, Ruler
from nfbuild.scene.layout.lines import wrap
from nfbuild.scene.layout.path import PathError, flatten
from nfbuild.scene.layout.values import required, size_of, value
from nfbuild.scene.numbers import double, shown
from nfbuild.scene.tree import Element, describe

if TYPE_CHECKING:
    from nfbuild.scene.layout.path import Pieces
    from nfbuild.scene.protocols import LayoutContext

LINE_ADVANCE = 1.2
FIT_FLOOR = 9.0
FIT_STEP = 0.25
CHIP_RADIUS = 10.0
CHIP_PAD_X = 12.0
CHIP_PAD_Y = 8.0

LAYOUT_ATTRIBUTES = ("data-bg", "data-wrap", "data-fit", "data-curve-d", "data-curve-circle")

_PARTS = re.compile(r"[^, \t\r\n]+")

_ON_GROUP = ("transform", "opacity", "display")
_ON_LINE = ("font-weight", "font-style", "font-family", "fill", "fill-opacity")


def wants_layout(element: Element) -> bool:
    """Tell whether `element` is a text that `apply` would change."""
    return element.tag == "text" and (
        any(element.get(name) is not None for name in LAYOUT_ATTRIBUTES[:3])
        or any(element.get(name) for name in LAYOUT_ATTRIBUTES[3:])
    )


def apply(tree: Element, context: LayoutContext) -> None:
    """Lay out every text that is a child of the group `tree`, in place.

    Raises `NeedsAnswers` with all questions that can be foreseen, `tree` then being unfit for
    use, and `SourceError` for a value that means nothing.
    """
    children: list[Element] = []
    rulers: list[Ruler] = []
    for child in tree.children:
        if not wants_layout(child):
            children.append(child)
            continue
        ruler = Ruler(context.measurer, context.face_of(child))
        rulers.append(ruler)
        laid = _laid_out(child, context.file, ruler)
        if laid[-1] is not child:
            laid[-1].tail = child.tail
        children += laid
    for ruler in rulers:
        ruler.settle()
    tree.children[:] = children


def _laid_out(text: Element, file: str, ruler: Ruler) -> list[Element]:
    pieces = _track(text, file)
    if pieces is not None:
        return [_bent(text, pieces, file, ruler)]
    if text.get("data-wrap") is not None:
        return _wrapped(text, file, ruler)
    if text.get("data-fit") is not None:
        _fit(text, file, ruler)
    color = text.get("data-bg")
    if color is None:
        return [text]
    x, y = value(text, "x", 0.0, file), value(text, "y", 0.0, file)
    box = ruler.box(text.all_text(), size_of(text, file))
    return [_chip(text, file, Box(x + box.left, y + box.top, box.width, box.height)), text]


def _track(text: Element, file: str) -> Pieces | None:
    """Return what the characters follow, None for a text that stays straight."""
    written = text.get("data-curve-circle")
    if written:
        numbers = [double(part) for part in _PARTS.findall(written)]
        known = [number for number in numbers if number is not None]
        if len(known) != len(numbers) or len(known) < 3:
            raise SourceError(
                f'`data-curve-circle="{written}"` of `{describe(text)}` is no circle',
                place=Place(file, text.line),
                hint="write `cx,cy,r` or `cx,cy,r,start`, the start in degrees",
            )
        return circle(known[0], known[1], known[2], known[3] if len(known) > 3 else -90.0)
    path = text.get("data-curve-d")
    if not path:
        return None
    try:
        return flatten(path)
    except PathError as error:
        raise SourceError(
            f"`data-curve-d` of `{describe(text)}` cannot be followed: {error}",
            place=Place(file, text.line),
            hint="write an SVG path that begins with `M`, such as `M 0 0 C 50 -80 150 -80 200 0`",
        ) from None


def _bent(text: Element, pieces: Pieces, file: str, ruler: Ruler) -> Element:
    group = _group(text)
    for glyph in place(text.all_text(), size_of(text, file), ruler, pieces):
        turn = f"rotate({shown(glyph.turn)} {shown(glyph.pivot_x)} {shown(glyph.pivot_y)})"
        attributes = {"x": shown(glyph.x), "y": shown(glyph.y), "transform": turn}
        group.children.append(_line(text, glyph.character, attributes))
    return group


def _wrapped(text: Element, file: str, ruler: Ruler) -> list[Element]:
    size = size_of(text, file)
    limit = required(text, "data-wrap", file)
    lines = wrap(text.all_text(), limit, lambda run: ruler.width(run, size))
    x, y = value(text, "x", 0.0, file), value(text, "y", 0.0, file)
    advance = size * LINE_ADVANCE
    group = _group(text)
    name = text.get("id")
    for index, line in enumerate(lines):
        attributes = {"x": shown(x), "y": shown(y + index * advance)}
        if name is not None:
            attributes["id"] = name if index == 0 else f"{name}-l{index}"
        group.children.append(_line(text, line, attributes))
    if not text.get("data-bg"):
        return [group]
    boxes = [ruler.box(line, size) for line in lines]
    width = max(box.width for box in boxes)
    height = (len(lines) - 1) * advance + boxes[-1].bottom - boxes[0].top
    return [_chip(text, file, Box(x, y + boxes[0].top, width, height)), group]


def _fit(text: Element, file: str, ruler: Ruler) -> None:
    """Give `text` the greatest size, in steps, at which it is no wider than `data-fit`."""
    limit = required(text, "data-fit", file)
    content = text.all_text()
    size = size_of(text, file)
    floor = value(text, "data-fit-min", FIT_FLOOR, file)
    if ruler.width(content, size) <= limit or size <= floor:
        return
    best, low, high = floor, floor, size
    while low <= high:
        middle = (low + high) / 2.0
        if ruler.width(content, middle) <= limit:
            best, low = middle, middle + FIT_STEP
        else:
            high = middle - FIT_STEP
    text.attributes["font-size"] = shown(round(best, 2))


def _chip(text: Element, file: str, ink: Box) -> Element:
    """Return the rounded rectangle behind `ink`, which is in the text's own coordinates."""
    pad_x = value(text, "data-bg-pad-x", CHIP_PAD_X, file)
    pad_y = value(text, "data-bg-pad-y", CHIP_PAD_Y, file)
    attributes = {
        "x": shown(ink.left - pad_x),
        "y": shown(ink.top - pad_y),
        "width": shown(ink.width + 2.0 * pad_x),
        "height": shown(ink.height + 2.0 * pad_y),
        "rx": shown(value(text, "data-bg-rx", CHIP_RADIUS, file)),
        "fill": text.get("data-bg") or "",
    }
    return Element("rect", attributes, line=text.line)


def _group(text: Element) -> Element:
    return Element("g", _some(text, _ON_GROUP), line=text.line)


def _line(text: Element, content: str, attributes: dict[str, str]) -> Element:
    return Element("text", {**_some(text, _ON_LINE), **attributes}, text=content, line=text.line)


def _some(text: Element, names: tuple[str, ...]) -> dict[str, str]:
    return {name: text.attributes[name] for name in names if name in text.attributes}
