"""Where the ink of a text is, for pivots: asked of the rasterizer, never computed from tables."""

from __future__ import annotations

from nfbuild.scene.box import Box
from nfbuild.scene.normal import normal_text
from nfbuild.scene.numbers import double
from nfbuild.scene.protocols import NeedsAnswers, Request, Services
from nfbuild.scene.sheet import Sheet
from nfbuild.scene.tree import Element
from nfbuild.scene.write import attributes_text, character_text

_DEFAULT_SIZE = 16.0


class TextBoxes:
    """Measures the texts of one sheet; a question that is not answered yet goes to `missing`."""

    def __init__(self, services: Services, sheet: Sheet, missing: list[Request]) -> None:
        self._services = services
        self._sheet = sheet
        self._missing = missing

    def box(self, element: Element) -> Box | None:
        """Return the ink's box in the text's own coordinates, None where there is no ink.

        The text is drawn alone at a whole pixel and its box moved to where it stands: what is
        measured does not depend on the place, so one answer serves every place.
        """
        text = normal_text(element.all_text())
        if not text:
            return None
        size = double(element.get("font-size") or "") or _DEFAULT_SIZE
        face = self._sheet.faces.face_of(element)
        margin = int(size * 2) + 2
        width = margin * 2 + int(size * (len(text) + 1))
        height = margin * 2 + int(size)
        attributes = {
            "font-family": face.digest,
            "font-size": f"{size:g}",
            "x": str(margin),
            "y": str(margin + int(size)),
        }
        document = (
            f'<svg height="{height}" viewBox="0 0 {width} {height}" width="{width}" '
            f'xmlns="http://www.w3.org/2000/svg"><text{attributes_text(attributes)}>'
            f"{character_text(text)}</text></svg>"
        ).encode()
        try:
            ink = self._services.measurer.ink(document, width, height, (face.digest,))
        except NeedsAnswers as need:
            self._missing += need.requests
            return None
        if ink.empty:
            return None
        x = (double(element.get("x") or "0") or 0.0) - margin
        y = (double(element.get("y") or "0") or 0.0) - margin - int(size)
        return (x + ink.left, y + ink.top, x + ink.right, y + ink.bottom)
