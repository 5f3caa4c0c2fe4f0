"""Where the ink of a text is, for pivots: asked of the rasterizer, never computed from tables."""

from __future__ import annotations

from nfbuild.scene.box import Box
from nfbuild.scene.layout.ink import Ruler
from nfbuild.scene.layout.values import size_of, value
from nfbuild.scene.normal import normal_text
from nfbuild.scene.protocols import NeedsAnswers, Request, Services
from nfbuild.scene.sheet import Sheet
from nfbuild.scene.tree import Element


class TextBoxes:
    """Measures the texts of one sheet; a question that is not answered yet goes to `missing`."""

    def __init__(self, services: Services, sheet: Sheet, missing: list[Request]) -> None:
        self._services = services
        self._sheet = sheet
        self._missing = missing

    def box(self, element: Element) -> Box | None:
        """Return the ink's box in the text's own coordinates, None where there is no ink."""
        path = self._sheet.path
        text = normal_text(element.all_text())
        if not text:
            return None
        ruler = Ruler(self._services.measurer, self._sheet.faces.face_of(element))
        ink = ruler.box(text, size_of(element, path))
        try:
            ruler.settle()
        except NeedsAnswers as need:
            self._missing += need.requests
            return None
        if not ink.width:
            return None
        x, y = value(element, "x", 0.0, path), value(element, "y", 0.0, path)
        # From the first to the last column and row of ink, as the format's pivots count them.
        left = x + ink.left + 0.5
        return (left, y + ink.top, left + ink.width - 1.0, y + ink.bottom)
