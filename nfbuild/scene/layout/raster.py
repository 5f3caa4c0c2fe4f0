"""Raster text: a `<text data-raster="kind">` drawn by a function of the library's caller.

Without a handler, or where it returns None, the text is drawn by font like any other. A handler
says who it is: its `identity` is an input like a file's digest. One without an identity is
answered afresh every time, and nothing of its composition may be cached (`is_cacheable`).

The picture stands where the text says: `x`, `y` are the point that `data-anchor` names on it,
`data-width` and `data-height` a box that it is scaled into without distortion, `data-yaw` a turn
in degrees about that point.

Not here: reading PNG files (`pixels` prepares the picture) and layout by font (`apply`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import file_digest
from nfbuild.errors import MediaError, Place, SourceError
from nfbuild.scene.layout.values import size_of, value
from nfbuild.scene.numbers import shown
from nfbuild.scene.protocols import SourceFile
from nfbuild.scene.tree import Element, describe

if TYPE_CHECKING:
    from nfbuild.scene.protocols import Picture

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"

# Where the anchor lies on the picture, in widths and heights from its top left corner.
ANCHORS = {
    f"{row}-{column}": (across, down)
    for row, down in (("top", 0.0), ("middle", 0.5), ("bottom", 1.0))
    for column, across in (("left", 0.0), ("center", 0.5), ("right", 1.0))
    if (row, column) != ("middle", "center")
} | {"center": (0.5, 0.5)}

_ON_GROUP = ("id", "class", "transform", "opacity", "display")


@dataclass(frozen=True, slots=True)
class TextRequest:
    """What a handler is asked: the words of this frame, and how the author wants them."""

    text: str
    kind: str
    font_size: float
    family: str | None
    weight: str | None
    fill: str | None
    attributes: Mapping[str, str] = field(default_factory=dict)


class TextHandler(Protocol):
    """Draws raster text. Must be a pure function of the request."""

    @property
    def identity(self) -> str | None:
        """A string that moves whenever the handler would draw something else; None: unknown."""
        ...

    def __call__(self, request: TextRequest) -> bytes | None:
        """Return a PNG file, or None to have the text drawn by font."""
        ...


@dataclass(frozen=True, slots=True)
class Rastering:
    """A handler, and who makes a drawable picture of its bytes (may raise `NeedsAnswers`)."""

    handler: TextHandler
    prepare: Callable[[SourceFile, Place], Picture]


def is_cacheable(handler: TextHandler | None) -> bool:
    """Tell whether frames drawn with `handler` may be kept: not without an identity."""
    return handler is None or handler.identity is not None


def replace(text: Element, rastering: Rastering, file: str) -> tuple[Element, Picture] | None:
    """Return what stands for `text`, with its picture; None where it is drawn by font.

    The image names the picture as a baked document does. Raises `MediaError` where the handler
    returns something other than a PNG file.
    """
    kind = text.get("data-raster")
    if text.tag != "text" or kind is None:
        return None
    place = Place(file, text.line)
    request = TextRequest(
        text.all_text(),
        kind,
        size_of(text, file),
        text.get("font-family"),
        text.get("font-weight"),
        text.get("fill"),
        dict(text.attributes),
    )
    data = rastering.handler(request)
    if data is None:
        return None
    if not data.startswith(PNG_MAGIC):
        raise MediaError(
            f"the text handler returned no PNG file for `{describe(text)}`",
            place=place,
            hint="a handler returns the bytes of a PNG file, or None",
        )
    name = f"{file}#raster-{file_digest(data)[:16]}"
    picture = rastering.prepare(SourceFile(name, data, file_digest(data)), place)
    return _standing(text, picture, file, place), picture


def _standing(text: Element, picture: Picture, file: str, place: Place) -> Element:
    anchor = text.get("data-anchor") or "center"
    if anchor not in ANCHORS:
        raise SourceError(
            f'`data-anchor="{anchor}"` of `{describe(text)}` is no anchor',
            place=place,
            hint=f"one of {', '.join(sorted(ANCHORS))}",
        )
    across, down = ANCHORS[anchor]
    x, y = value(text, "x", 0.0, file), value(text, "y", 0.0, file)
    wide, high = value(text, "data-width", 0.0, file), value(text, "data-height", 0.0, file)
    scales = [box / side for box, side in ((wide, picture.width), (high, picture.height)) if box]
    scale = min(scales, default=1.0)
    width, height = picture.width * scale, picture.height * scale
    attributes = {
        "x": shown(x - across * width),
        "y": shown(y - down * height),
        "width": shown(width),
        "height": shown(height),
        "href": picture.name,
    }
    yaw = value(text, "data-yaw", 0.0, file)
    if yaw:
        attributes["transform"] = f"rotate({shown(yaw)} {shown(x)} {shown(y)})"
    carried = {name: text.attributes[name] for name in _ON_GROUP if name in text.attributes}
    image = Element("image", attributes, line=text.line)
    return Element("g", carried, children=[image], line=text.line)
