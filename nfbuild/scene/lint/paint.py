"""Attributes that the rasterizer ignores or draws wrong.

Source: the facts measured with ThorVG 1.0.4 (design, section 8), under the codes of the format's
own checker.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nfbuild.scene.aspect import declared_box
from nfbuild.scene.lint.colours import PAINTS, misread
from nfbuild.scene.lint.ignored import ignored
from nfbuild.scene.numbers import double
from nfbuild.scene.references import ids_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nfbuild.scene.lint.finding import Findings
    from nfbuild.scene.tree import Element

ALPHAS = ("fill-opacity", "opacity", "stop-opacity", "stroke-opacity")
MARKERS = ("marker", "marker-end", "marker-mid", "marker-start")
ASPECTS = ("stretch", "contain", "cover")

_ID_RULE = re.compile(r"(?:^|[},;\s])(#[A-Za-z_][A-Za-z0-9_-]*)[^{};]*\{", re.ASCII)
_DEFAULTS = {"letter-spacing": ("0", "normal"), "text-anchor": ("start",)}


def check_paint(element: Element, ids: Mapping[str, Element], findings: Findings) -> None:
    """Add what is wrong with the attributes of one element."""
    attributes = element.attributes
    for name in PAINTS:
        value = attributes.get(name)
        if value is not None:
            _paint(element, name, value.strip(" \t\r\n"), ids, findings)
    for name in ALPHAS:
        number = double(attributes.get(name, ""))
        if number is not None and not 0.0 <= number <= 1.0:
            findings.add(
                "render.out_of_range_alpha",
                element,
                f'has `{name}="{attributes[name]}"`, which wraps round instead of saturating',
                "write a number from 0 to 1",
            )
    for name in MARKERS:
        if "url" in attributes.get(name, "").lower():
            findings.add(
                "render.degraded_paint",
                element,
                f"asks for a marker with `{name}`, and none is drawn",
                "draw the arrow head as a polygon of its own",
            )
    if attributes.get("visibility", "").strip(" ") in ("hidden", "collapse"):
        ignored(element, "visibility", 'write `display="none"`', findings)
    if element.tag == "image":
        _image(element, findings)
    if element.get("href") is not None and element.get("xlink:href") is not None:
        findings.add(
            "render.two_references",
            element,
            "has both `href` and `xlink:href`; `href` is drawn",
            "remove `xlink:href`",
        )
    if element.tag in ("g", "text", "tspan"):
        for name, defaults in _DEFAULTS.items():
            value = attributes.get(name)
            if value is not None and value.strip(" ") not in defaults:
                ignored(element, name, _REMEDIES[name], findings)
    if element.tag == "style":
        for selector in dict.fromkeys(_ID_RULE.findall(element.all_text())):
            findings.add(
                "render.inert_attribute",
                element,
                f"has a rule for `{selector}`, and rules for an id are ignored",
                "give the element a class, or write the properties on it",
            )


_REMEDIES = {
    "text-anchor": "place the run by its measured ink: every run starts at its `x`",
    "letter-spacing": "put the space between the characters into the words",
}


def _paint(
    element: Element, name: str, value: str, ids: Mapping[str, Element], findings: Findings
) -> None:
    told = misread(name, value)
    if told is not None:
        fact = f'has `{name}="{value}"`, {told[0]}'
        findings.add("render.degraded_paint", element, fact, told[1])
    for target in ids_in(value):
        found = ids.get(target)
        if found is not None and found.tag != "pattern":
            continue
        why = "is a `<pattern>`, which is not drawn" if found is not None else "does not exist"
        findings.add(
            "render.degraded_paint",
            element,
            f"paints nothing: `#{target}` of its `{name}` {why}",
            "give it a colour or a gradient",
        )


def _image(element: Element, findings: Findings) -> None:
    aspect = element.get("data-aspect")
    if aspect is not None and aspect.strip(" \t\r\n") not in ASPECTS:
        findings.add(
            "image.bad_aspect",
            element,
            f'has `data-aspect="{aspect}"`, so it is stretched',
            f"one of {', '.join(ASPECTS)}",
        )
    elif aspect is not None and aspect.strip(" ") != "stretch" and declared_box(element) is None:
        findings.add(
            "image.bad_aspect",
            element,
            "has `data-aspect` but no `width` and `height` to fit into",
            "declare both",
        )
    if element.get("preserveAspectRatio") is not None:
        ignored(
            element, "preserveAspectRatio", 'write `data-aspect="contain"` or `cover`', findings
        )
