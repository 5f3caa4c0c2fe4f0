"""Alone in a translucent group: the one case in which an element that is not seen is drawn with.

The rasterizer draws a translucent group into a picture of its own and blends that, except where
the group has a single child that is a shape: then the shape itself is drawn translucent, and
rounds otherwise. So leaving out the siblings of such a shape moves pixels. Where that happens, an
empty path stands for them: it draws nothing and makes the group one of two children.
"""

from __future__ import annotations

import re

from nfbuild.scene.sheet import DRAWN, SHAPES
from nfbuild.scene.tree import Element

COMPANY = "<path/>"

_START = re.compile(r"<([A-Za-z]+)", re.ASCII)
_LONE = SHAPES | {"image"}
_TRANSLUCENT = re.compile(r' opacity="| style="[^"]*opacity| class="')
_NOT_COUNTED = frozenset(
    [
        *("clipPath", "defs", "feGaussianBlur", "filter", "linearGradient", "mask"),
        *("radialGradient", "stop", "style", "symbol", "tspan"),
    ]
)
_COUNTED = SHAPES | {"image", "use"}


def is_lone(text: str) -> bool:
    """Tell whether `text` has one drawn element and that is a shape or an image.

    A style sheet and an element that the rasterizer does not know count for nothing.
    """
    found = False
    for match in _START.finditer(text):
        tag = match.group(1)
        if tag in DRAWN and tag != "style":
            if found or tag not in _LONE:
                return False
            found = True
    return found


def is_translucent(start: str) -> bool:
    """Tell whether a start tag may make its element translucent."""
    return _TRANSLUCENT.search(start) is not None


def has_company(element: Element) -> bool:
    """Tell whether the rasterizer counts two children or more in what the author wrote."""
    count = 0
    stack = list(element.children)
    while stack:
        child = stack.pop()
        tag = child.tag
        if tag in _COUNTED:
            count += 1
        elif tag == "text":
            count += child.all_text() != "" or "data-frame-text" in child.attributes
        elif tag in ("g", "svg"):
            count += bool(child.children) or child.text != ""
        elif tag not in _NOT_COUNTED:
            stack.extend(child.children)  # it is not known, so its children stand in its place
        if count > 1:
            return True
    return False
