"""Texts that would not say, or not show, what the author wrote.

Not here: families that no face answers to, and bad frame fields: loading finds these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nfbuild.scene.layout.ink import PAGE_WIDTH, Ruler
from nfbuild.scene.layout.path import follows_reference_oddly
from nfbuild.scene.layout.values import DEFAULT_SIZE
from nfbuild.scene.numbers import double
from nfbuild.scene.window import ATTRIBUTES as TIMING

if TYPE_CHECKING:
    from nfbuild.scene.lint.finding import Findings
    from nfbuild.scene.protocols import Face, Measurer
    from nfbuild.scene.sheet import Sheet
    from nfbuild.scene.tree import Element

_BLANKS = " \t\r\n"
_SPAN_STYLE = (
    *("baseline-shift", "display", "dominant-baseline", "dx", "dy", "fill", "fill-opacity"),
    *("font-family", "font-size", "font-style", "font-weight", "opacity", "rotate", "stroke"),
    *("style", "text-decoration", "textLength", "transform", "x", "y"),
)
# Wrapped and bent text is drawn without its size, which the rasterizer takes for this one.
DRAWN_SIZE = 10.0
_CONTROL = "\ufeff\u200b\u200c\u200d"


class Glyphs(Protocol):
    """Which characters a face can draw: its character map."""

    def lacks(self, face: Face, characters: str) -> str:
        """Return those of `characters` that `face` has no glyph for, in their order."""
        ...


def check_text(
    element: Element,
    sheet: Sheet,
    findings: Findings,
    *,
    glyphs: Glyphs | None,
    measurer: Measurer,
) -> None:
    """Add what is wrong with one `<text>`; may raise `NeedsAnswers` for its width."""
    words = element.all_text().strip(_BLANKS)
    if element.get("data-frame-text") is not None and words:
        findings.add(
            "text.inert_content",
            element,
            "has words of its own, which `data-frame-text` replaces",
            "remove the words or the attribute",
        )
    if glyphs is not None and words:
        face = sheet.faces.face_of(element)
        asked = "".join(dict.fromkeys(c for c in words if c > " " and c not in _CONTROL))
        lacking = glyphs.lacks(face, asked)
        if lacking:
            listed = ", ".join(f"`{c}` (U+{ord(c):04X})" for c in lacking[:5])
            more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
            findings.add(
                "text.missing_glyph",
                element,
                f"has characters that `{face.full_name or face.family}` lacks: {listed}{more}",
                "choose a face that has them, or add one to `[fonts] faces`",
            )
    _layout(element, words, sheet, findings, measurer)
    for span in element.walk():
        if span.tag == "tspan":
            _span(span, sheet, findings)


def _layout(
    element: Element, words: str, sheet: Sheet, findings: Findings, measurer: Measurer
) -> None:
    path = element.get("data-curve-d")
    circle = element.get("data-curve-circle")
    wrapped = element.get("data-wrap") is not None
    written = (element.get("font-size") or "").strip(_BLANKS)
    size = double(written.removesuffix("px"))
    if (path or circle or wrapped) and (size or DEFAULT_SIZE) != DRAWN_SIZE:
        measured = f"at {size:g} px" if size else f"at {DEFAULT_SIZE:g} px, without a `font-size`,"
        findings.add(
            "text.size_dropped",
            element,
            f"is measured {measured} but drawn at {DRAWN_SIZE:g} px, as all wrapped and bent text",
            f'write `font-size="{DRAWN_SIZE:g}"`, and scale a group around it',
        )
    if path and not circle and follows_reference_oddly(path):
        findings.add(
            "text.odd_path",
            element,
            "follows a path with H, V, Q, S, T or an inner Z, which the format reads its own way",
            "write the path with M, L and C",
        )
    chip = element.get("data-bg") is not None
    if chip and not (path or circle or wrapped) and element.get("transform") is not None:
        findings.add(
            "text.chip_stays",
            element,
            "has a `transform` that its chip does not follow",
            "move the transform to a group around it",
        )
    if chip and (path or circle):
        findings.add(
            "text.inert_layout",
            element,
            "is bent, so it gets no chip",
            "remove `data-bg`, or draw the chip yourself",
        )
    if (chip or element.get("data-fit") is not None) and words and not (path or circle or wrapped):
        ruler = Ruler(measurer, sheet.faces.face_of(element))
        em = size or DEFAULT_SIZE
        box = ruler.box(element.all_text(), em)
        ruler.settle()
        # The edge of the page may lie in a gap between two characters.
        if box.left + box.width > PAGE_WIDTH - em:
            findings.add(
                "text.measured_short",
                element,
                f"is wider than the {PAGE_WIDTH} px that a run is measured in",
                "wrap it, or break it into several texts",
            )


def _span(span: Element, sheet: Sheet, findings: Findings) -> None:
    timed = [name for name in TIMING if span.get(name) is not None]
    if timed or span in sheet.tracks:
        what = f"`{timed[0]}`" if timed else "an animation"
        findings.add(
            "render.inert_tspan",
            span,
            f"has {what}, and a text is drawn as one unit",
            "time or animate the `<text>`, or split it into several",
        )
        return
    styled = [name for name in _SPAN_STYLE if span.get(name) is not None]
    if styled:
        findings.add(
            "render.inert_tspan",
            span,
            f"has `{styled[0]}`, and every attribute of a span is ignored",
            "write one `<text>` for each style or line",
        )
