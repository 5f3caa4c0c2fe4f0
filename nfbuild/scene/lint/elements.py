"""Elements that the rasterizer does not know: it draws their children, or their words, and goes on.

Source: drawn in pairs, with the element and with what is said to come of it (ThorVG 1.0.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.scene.sheet import DRAWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nfbuild.scene.lint.finding import Findings
    from nfbuild.scene.tree import Element

CODE = "render.unsupported_element"

_NOT_MOVED = ("moves nothing: only the timeline does", "write it as keyframes of the timeline")
_FACTS = {
    "animate": _NOT_MOVED,
    "animateColor": _NOT_MOVED,
    "animateMotion": _NOT_MOVED,
    "animateTransform": _NOT_MOVED,
    "set": _NOT_MOVED,
    "foreignObject": (
        "is not known: shapes in it are drawn as in a group, and nothing else of it",
        "write what it shows as shapes and texts",
    ),
    "switch": (
        "is not known: all of its children are drawn",
        "keep the one that is meant, and remove the others and the `<switch>`",
    ),
    "textPath": (
        "is not known: its words are drawn straight",
        "write `data-curve-d` or `data-curve-circle` on the `<text>`",
    ),
}
# Known by others, or drawn right: the children of `<a>` are, and nothing else of these should be.
_FINE = DRAWN | {"a", "desc", "marker", "metadata", "pattern", "script", "title", "view"}
_CLOSED = frozenset(["filter", "metadata", "script", "style", *_FACTS]) - {"switch"}


def check_element(element: Element, parents: Mapping[Element, Element], findings: Findings) -> None:
    """Add what comes of an element that is not known."""
    tag = element.tag
    above = parents.get(element)
    if above is not None and above.tag == "filter":
        if tag not in ("feGaussianBlur", "desc", "title") and tag not in _FACTS:
            findings.add(
                CODE,
                element,
                "is not drawn: the only filter is `<feGaussianBlur>`",
                "remove it, and draw shadows and glows as shapes of their own",
            )
    elif tag in _FACTS:
        findings.add(CODE, element, *_FACTS[tag])
    elif tag in ("desc", "title"):
        if above is not None and above.tag in ("text", "tspan"):
            fact = "stands in a text, and its words are drawn"
            findings.add(CODE, element, fact, "move it before the `<text>`")
    elif tag not in _FINE and "{" not in tag and not _closed(above, parents):
        findings.add(
            CODE,
            element,
            "is no element that is drawn; what stands in it is",
            "look at its spelling, and write it with shapes, texts and groups",
        )


def _closed(around: Element | None, parents: Mapping[Element, Element]) -> bool:
    """Tell whether something around an element is spoken of already, or draws nothing."""
    while around is not None:
        if around.tag in _CLOSED or around.tag not in _FINE | {"switch"}:
            return True
        around = parents.get(around)
    return False
