"""Alone in a translucent group: the one case in which an element that is not seen is drawn with.

The rasterizer draws a translucent group into a picture of its own and blends that, except where
the group has a single child that is a shape: then the shape itself is drawn translucent, and
rounds otherwise. So leaving out the siblings of such a shape moves pixels. Where that happens, an
empty path stands for them: it draws nothing and makes the group one of two children.
"""

from __future__ import annotations

import re

from nfbuild.scene.sheet import SHAPES
from nfbuild.scene.tree import Element

COMPANY = "<path/>"

_LONE = tuple(f"<{tag} " for tag in sorted({*SHAPES, "image"}))
_TRANSLUCENT = re.compile(r' opacity="| style="[^"]*opacity| class="')
_NOT_COUNTED = frozenset(
    [
        *("clipPath", "defs", "feGaussianBlur", "filter", "linearGradient", "mask"),
        *("radialGradient", "stop", "style", "symbol", "tspan"),
    ]
)
_COUNTED = SHAPES | {"image", "use"}


def is_lone(text: str) -> bool:
    """Tell whether `text` is exactly one shape or image."""
    return text.startswith(_LONE) and text.count("<") == 1


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
            count += child.all_text() != "" or any(name[:5] == "data-" for name in child.attributes)
        elif tag in ("g", "svg"):
            count += bool(child.children) or child.text != ""
        elif tag not in _NOT_COUNTED:
            stack.extend(child.children)  # it is not known, so its children stand in its place
        if count > 1:
            return True
    return False
