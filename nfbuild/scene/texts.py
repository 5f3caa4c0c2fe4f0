"""Texts: their words, blanks and faces; which are drawn as they stand and which are laid out.

A text is one run of characters to the rasterizer: what stands in its spans is joined, and nothing
else of a span is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.scene.frametext import ATTRIBUTE as FRAME_TEXT
from nfbuild.scene.frametext import Template, read_template
from nfbuild.scene.laid import Laid
from nfbuild.scene.layout import wants_layout
from nfbuild.scene.normal import normal_text
from nfbuild.scene.program import Item, Words
from nfbuild.scene.tree import Element
from nfbuild.scene.write import LEADING, character_text

if TYPE_CHECKING:
    from nfbuild.scene.compile import Compiler


def text_items(compiler: Compiler, element: Element, *, preserved: bool, kept: bool) -> list[Item]:
    """Return what draws a text; `preserved` where its blanks are kept as they are."""
    sheet = compiler.sheet
    template = element.get(FRAME_TEXT)
    words: Words | str
    read = None
    if template is not None:
        read = read_template(element, sheet.path, compiler.start_clock.fields)
    rastering = compiler.drawing.rastering
    if wants_layout(element) or (rastering is not None and element.get("data-raster")):
        return _laid(compiler, element, read, preserved=preserved, kept=kept)
    if read is not None:
        words = Words(read, preserved=preserved)
    else:
        text = element.all_text()
        flat = normal_text(text)
        preserved = preserved and flat != text
        if not preserved:
            text = flat
        if not text and not kept:
            return []
        # A blank text draws nothing, but the rasterizer counts it (see `lone`).
        words = f">{character_text(text or ' ')}</text>" if element.all_text() else "/>"
    drawn = compiler.drawn(element)
    if preserved:
        drawn["xml:space"] = "preserve"
    face = sheet.faces.face_of(element)
    drawn["font-family"] = face.digest
    mask = compiler.mask_of(element) | compiler.pool.face(face.digest)
    return compiler.wrapped(element, drawn, words, mask, kept=kept)


def _laid(
    compiler: Compiler,
    element: Element,
    template: Template | None,
    *,
    preserved: bool,
    kept: bool,
) -> list[Item]:
    if element.get("display") == "none":
        return []
    drawn = compiler.drawn(element)
    name = drawn.get("id")
    dressing = compiler.dressed(element, drawn, kept=kept)
    face = compiler.sheet.faces.face_of(element)
    laid = Laid(
        element,
        dressing,
        template=template,
        preserved=preserved,
        name=name,
        styled=bool(compiler.sheet.styles),
        style_first=LEADING in drawn,
        face=face,
        mask=compiler.mask_of(element),
        rename=compiler.rename,
        context=compiler.drawing.layout,
        rastering=compiler.drawing.rastering if element.get("data-raster") else None,
        pool=compiler.pool,
    )
    return [laid]
