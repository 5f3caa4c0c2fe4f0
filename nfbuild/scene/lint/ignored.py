"""Attributes and declarations that the rasterizer passes over, by the element that has them.

Source: drawn in pairs, with and without (ThorVG 1.0.4). What bake itself carries on a group, such
as `display` of a text or `opacity` of a paragraph, is drawn and is no finding.

Not here: attributes with a wrong value (`paint`), elements that are not known (`elements`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nfbuild.scene.lint.colours import PAINTS, misread
from nfbuild.scene.numbers import double
from nfbuild.scene.references import NESTED_SUFFIXES, hyperlink, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nfbuild.scene.lint.finding import Findings
    from nfbuild.scene.tree import Element

FONT = ("font-family", "font-size", "font-style", "font-weight")
BENT = ("data-curve-circle", "data-curve-d", "data-wrap")

_BLANKS = " \t\r\n"
_GROUP = 'put it on a `<g>` around it: `<g opacity="...">`'
_PLACE = "place the text by its `x`, `y` and `transform`"
_UNITLESS = "write its numbers without units"
_OUTLINE = "draw the outline as a path"

# Of a `<text>`, besides what it shares with its groups: remedy, and the value that asks nothing.
_OF_TEXT = {
    "dominant-baseline": (_PLACE, ("auto", "alphabetic")),
    "dx": (_PLACE, ("0",)),
    "dy": (_PLACE, ("0",)),
    "rotate": ("turn the text by its `transform`", ("0",)),
    "stroke": (_OUTLINE, ("none",)),
    "text-decoration": ("draw the line as a shape", ("none",)),
    "textLength": ("choose another `font-size`, or `data-fit`", ()),
    "word-spacing": ("put the space between the words", ("0", "normal")),
    "writing-mode": ("write one `<text>` for each line", ("horizontal-tb", "lr-tb", "lr")),
}
# Declarations of a style that are ignored on every element.
_IN_STYLE = {
    "animation": "write it in the timeline",
    "animation-name": "write it in the timeline",
    "transition": "write it in the timeline",
    "visibility": 'write `display="none"`',
}
_ON_TEXT_AND_IMAGE = {"display": 'write `display="none"` as an attribute', "opacity": _GROUP}
_DECLARATION = re.compile(r"(?:^|[;{])\s*([A-Za-z-]+)\s*:\s*([^;{}]*)", re.ASCII)
_UNIT = re.compile(r"[0-9.](?:[a-df-z]|%|em)", re.ASCII | re.IGNORECASE)
_KEYFRAMES = re.compile(r"@(?:-[a-z]+-)?keyframes\b[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", re.ASCII)
_COMMENT = re.compile(r"/\*.*?\*/", re.ASCII | re.DOTALL)


def check_ignored(element: Element, findings: Findings, *, driven: bool) -> None:
    """Add what is ignored of one element; `driven` where a timeline sets its opacity."""
    tag = element.tag
    written = element.get("opacity")
    lost = written is not None and double(written.strip(_BLANKS)) != 1.0 and not driven
    if lost and _drops_opacity(element):
        ignored(element, "opacity", _GROUP, findings)
    if tag == "text":
        for name, (remedy, defaults) in _OF_TEXT.items():
            value = element.get(name)
            if value is not None and value.strip(_BLANKS) not in defaults:
                ignored(element, name, remedy, findings)
    if _UNIT.search(element.get("transform") or ""):
        ignored(element, "transform", _UNITLESS, findings)
    style = element.get("style")
    if style is not None:
        for name, value in _declared(style):
            _declaration(element, name, value, findings)
    if tag == "style":
        _sheet(element, findings)


def check_inheritance(
    text: Element, parents: Mapping[Element, Element], said: set[tuple[Element, str]]
) -> Iterator[tuple[Element, str]]:
    """Yield groups around a text that set a font which it does not set itself, each once."""
    for name in FONT:
        if text.get(name) is not None:
            continue
        around = parents.get(text)
        while around is not None:
            if around.get(name) is not None and (around, name) not in said:
                said.add((around, name))
                yield around, name
            around = parents.get(around)


def ignored(element: Element, name: str, hint: str, findings: Findings) -> None:
    """Add that an attribute of an element is ignored."""
    fact = f'has `{name}="{element.attributes[name]}"`, which is ignored'
    findings.add("render.inert_attribute", element, fact, hint)


def _drops_opacity(element: Element) -> bool:
    """Tell whether nobody carries an element's own opacity."""
    if element.tag == "text":
        return not any(element.get(name) for name in BENT)
    if element.tag != "image":
        return False
    # A nested composition is drawn as a group, which has its opacity.
    reference = (hyperlink(element) or "").strip(_BLANKS)
    inline = reference[:5].lower() == "data:"
    return inline or not path_of(reference).lower().endswith(NESTED_SUFFIXES)


def _declared(style: str) -> list[tuple[str, str]]:
    """Return the declarations of a style or of all rules of a sheet, in their order."""
    plain = _COMMENT.sub(" ", style)
    return [(name, value.strip(_BLANKS)) for name, value in _DECLARATION.findall(plain)]


def _declaration(element: Element, name: str, value: str, findings: Findings) -> None:
    value = value.removesuffix("!important").strip(_BLANKS)
    remedy = None
    if name in _IN_STYLE and value not in ("none", "visible"):
        remedy = _IN_STYLE[name]
    elif name == "transform" and _UNIT.search(value):
        remedy = _UNITLESS
    elif name == "filter" and "(" in value and value[:3].lower() != "url":
        remedy = "write a `<filter>` with an `<feGaussianBlur>`"
    elif element.tag in ("text", "image") and name in _ON_TEXT_AND_IMAGE:
        remedy = None if value in ("1", "inline") else _ON_TEXT_AND_IMAGE[name]
    elif element.tag == "text" and name in (*FONT, "letter-spacing", "text-anchor"):
        remedy = "write it as an attribute" if name in FONT else _PLACE
    elif element.tag == "text" and name in _OF_TEXT and value not in _OF_TEXT[name][1]:
        remedy = _OF_TEXT[name][0]
    if remedy is not None:
        fact = f"has `{name}: {value}` in its style, which is ignored"
        findings.add("render.inert_attribute", element, fact, remedy)
    _paint(element, name, value, findings)


def _sheet(element: Element, findings: Findings) -> None:
    """Add what no rule of a style sheet can say: fonts, motion, visibility."""
    text = _COMMENT.sub(" ", element.all_text())
    if _KEYFRAMES.search(text):
        fact = "has `@keyframes`, which are ignored"
        findings.add("render.inert_attribute", element, fact, "write them in the timeline")
        text = _KEYFRAMES.sub(" ", text)
    for rule in re.findall(r"([^{}]*\{[^{}]*)\}", text):
        if rule.lstrip(_BLANKS).startswith("@"):
            continue
        for name, value in _declared(rule):
            moved = name == "transform" and _UNIT.search(value) is not None
            if name in FONT or name in _IN_STYLE or moved:
                remedy = _IN_STYLE.get(name, "write it on each `<text>`")
                remedy = _UNITLESS if moved else remedy
                fact = f"has `{name}: {value}` in a rule, which is ignored"
                findings.add("render.inert_attribute", element, fact, remedy)
            _paint(element, name, value.removesuffix("!important"), findings)


def _paint(element: Element, name: str, value: str, findings: Findings) -> None:
    told = misread(name, value) if name in PAINTS else None
    if told is not None:
        fact = f"has `{name}: {value}` in its style, {told[0]}"
        findings.add("render.degraded_paint", element, fact, told[1])
