"""How big a run of text is: drawn alone by the rasterizer, its ink box read.

A run is drawn at the left edge of a fixed page, on a baseline half way down, in its own face and
size and nothing else of its style. So equal runs of all compositions share one measurement. Ink
is what is at least half covered. The page is as big as the format's: ink beyond it is not seen,
and a run wider than the page measures as wide as the page.

A missing answer does not stop a layout: the ruler answers with a guess, notes the question, and
the layout goes on asking what it would ask next. Whoever drives the layout throws such a result
away and raises all the questions at once (`Ruler.settle`), so that rounds stay few.

Not here: what is done with a box (`chips`, `lines`, `curve`), and who draws (`render`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.scene.numbers import shown
from nfbuild.scene.protocols import Ink, NeedsAnswers, Request
from nfbuild.scene.tree import SVG_NAMESPACE
from nfbuild.scene.write import character_text

if TYPE_CHECKING:
    from nfbuild.scene.protocols import Face, Measurer

PAGE_WIDTH = 1024
PAGE_HEIGHT = 512
BASELINE = 256

# The rasterizer folds a group's opacity into what the group drew as `c * (o + 1) >> 8`, with
# 8-bit alpha c and o. 0.004 is o = 1: what remains is 1 where c >= 128 and 0 elsewhere, so "not
# transparent" is "at least half covered". A plain black run would count every grazed pixel.
_HALF_COVERED = "0.004"

# Guesses only choose which questions are asked together; they never reach a document.
_WIDE_FROM = "\u1100"
_WIDE = 1.0
_NARROW = 0.52


@dataclass(frozen=True, slots=True)
class Box:
    """The ink of a run, in px from its origin on the baseline; y grows downwards.

    `left` lies half a pixel outside the first column, as the format has it. A run without ink,
    such as blanks, is all zero.
    """

    left: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """The last row of ink, as the format counts a block of lines: inclusive."""
        return self.top + self.height - 1.0 if self.height else 0.0


NO_INK = Box(0.0, 0.0, 0.0, 0.0)


class Ruler:
    """Measures runs of one face, and collects the questions that have no answer yet."""

    def __init__(self, measurer: Measurer, face: Face) -> None:
        self._measurer = measurer
        self._face = face
        self._known: dict[tuple[str, str], Box] = {}
        self._missing: dict[Request, None] = {}
        self._stretch = 1.0

    def box(self, text: str, size: float) -> Box:
        """Return the ink box of `text` at `size` px, or a guess while the answer is missing."""
        if not text:
            return NO_INK
        written = shown(size)
        key = (text, written)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._ask(text, written, size)
        return known

    def width(self, text: str, size: float) -> float:
        """Return the width of the ink of `text`, or a guess while the answer is missing."""
        return self.box(text, size).width

    def settle(self) -> None:
        """Raise `NeedsAnswers` with every question that was answered by a guess, if there is one.

        Only a layout after which this returns is the layout.
        """
        if self._missing:
            raise NeedsAnswers(tuple(self._missing))

    def _ask(self, text: str, written: str, size: float) -> Box:
        document = page(text, written, self._face)
        try:
            ink = self._measurer.ink(document, PAGE_WIDTH, PAGE_HEIGHT, (self._face.digest,))
        except NeedsAnswers as missing:
            self._missing.update(dict.fromkeys(missing.requests))
            return Box(0.0, -0.7 * size, self._guess(text, size) * self._stretch, 0.7 * size)
        box = _boxed(ink)
        guess = self._guess(text, size)
        if guess and box.width:
            self._stretch = box.width / guess
        return box

    @staticmethod
    def _guess(text: str, size: float) -> float:
        wide = sum(1 for character in text if character >= _WIDE_FROM)
        return size * (wide * _WIDE + (len(text) - wide) * _NARROW)


def page(text: str, size: str, face: Face) -> bytes:
    """Return the document that is drawn to measure `text`: a page with nothing else on it."""
    return (
        f'<svg xmlns="{SVG_NAMESPACE}" viewBox="0 0 {PAGE_WIDTH} {PAGE_HEIGHT}"'
        f' width="{PAGE_WIDTH}" height="{PAGE_HEIGHT}"><g opacity="{_HALF_COVERED}">'
        f'<text x="0" y="{BASELINE}" font-family="{face.digest}" font-size="{size}">'
        f"{character_text(text)}</text></g></svg>"
    ).encode()


def _boxed(ink: Ink) -> Box:
    if ink.empty:
        return NO_INK
    return Box(
        ink.left - 0.5,
        float(ink.top - BASELINE),
        float(ink.right - ink.left),
        float(ink.bottom - ink.top),
    )
