"""A text that layout or a handler turns into something else, frame by frame.

What layout makes of a text depends on the text's attributes and words alone, and these repeat:
each distinct state is laid out once.
"""

from __future__ import annotations

from collections.abc import Callable

from nfbuild.scene.baked import PictureRef
from nfbuild.scene.clock import Clock
from nfbuild.scene.frametext import Template
from nfbuild.scene.layout import apply
from nfbuild.scene.layout.raster import Rastering, replace
from nfbuild.scene.normal import normal_text, normal_value
from nfbuild.scene.pool import Pool
from nfbuild.scene.program import Dressing, Run
from nfbuild.scene.protocols import Face, LayoutContext, NeedsAnswers
from nfbuild.scene.references import renamed
from nfbuild.scene.tree import Element
from nfbuild.scene.write import LEADING, attributes_text, character_text

_NEVER_DRAWN = frozenset(["id", "font-weight", "font-style", "font-family"])


class Laid:
    """A `<text>` with layout attributes, or one that a handler draws."""

    __slots__ = (
        "context",
        "dressing",
        "dropped",
        "element",
        "face",
        "made",
        "mask",
        "name",
        "pool",
        "preserved",
        "rastering",
        "rename",
        "style_first",
        "template",
    )

    def __init__(
        self,
        element: Element,
        dressing: Dressing,
        *,
        template: Template | None,
        preserved: bool,
        name: str | None,
        styled: bool,
        style_first: bool,
        face: Face,
        mask: int,
        rename: Callable[[str], str],
        context: LayoutContext,
        rastering: Rastering | None,
        pool: Pool,
    ) -> None:
        self.element = element
        self.dressing = dressing
        self.template = template
        self.preserved = preserved
        self.name = name
        self.style_first = style_first
        self.dropped = _NEVER_DRAWN if styled else _NEVER_DRAWN | {"class"}
        self.face = face
        self.mask = mask
        self.rename = rename
        self.context = context
        self.rastering = rastering
        self.pool = pool
        self.made: dict[tuple[str | None, ...], tuple[str, int]] = {}

    def run(self, run: Run, following: int) -> int:
        """Write what the text has become, in the group that carries opacity and display."""
        dressing = self.dressing
        state = dressing.state(run.clock)
        if state is None and not dressing.kept:
            return following
        opacity, fill, stroke, transform = state or (None, None, None, None)
        words = self._words(run.clock)
        key = (fill, stroke, transform, words)
        known = self.made.get(key)
        if known is None:
            try:
                known = self.made[key] = self._make(key, words)
            except NeedsAnswers as need:
                run.missing += need.requests
                return following
        text, mask = known
        if not text:
            return following
        if state is None:
            text = f'<g display="none">{text}</g>'
        elif opacity is not None:
            text = f'<g opacity="{opacity}">{text}</g>'
        run.out.append(text)
        run.mask |= mask
        if dressing.masks is not None:
            run.mask |= dressing.mask(run.clock)
        return following

    def _words(self, clock: Clock) -> str:
        if self.template is None:
            return self.element.all_text()
        return self.template.words(clock.fields)

    def _make(self, key: tuple[str | None, ...], words: str) -> tuple[str, int]:
        own = {name: renamed(value, self.rename) for name, value in self.element.attributes.items()}
        text = Element("text", own, text=words, line=self.element.line)
        for attribute, value in zip(("fill", "stroke", "transform"), key, strict=False):
            if value is not None:
                text.attributes[attribute] = value
        text.attributes.pop("display", None)
        text.attributes.pop("xml:space", None)
        if self.preserved:
            text.attributes["xml:space"] = "preserve"
        if self.rastering is not None:
            replaced = replace(text, self.rastering, self.context.file)
            if replaced is not None:
                group, picture = replaced
                bit = self.pool.picture(PictureRef(picture.digest, picture.suffix))
                return self._text(group), self.mask | bit
        tree = Element("g", children=[text], line=text.line)
        apply(tree, self.context)
        made = "".join(self._text(child) for child in tree.children)
        return made, self.mask | self.pool.face(self.face.digest)

    def _text(self, element: Element) -> str:
        """Return one element that layout made; what it made is shallow."""
        attributes = {
            name: normal_value(name, value)
            for name, value in element.attributes.items()
            if name not in self.dropped and not name.startswith("data-") and "{" not in name
        }
        if self.style_first and "style" in attributes:
            attributes[LEADING] = attributes.pop("style")
        if self.name is not None and element.get("id") == self.element.get("id"):
            attributes["id"] = self.name
        inside = "".join(self._text(child) for child in element.children)
        if element.tag == "text":
            attributes.pop("opacity", None)
            attributes["font-family"] = self.face.digest
            words = element.all_text()
            flat = normal_text(words)
            if attributes.get("xml:space") != "preserve" or flat == words:
                attributes.pop("xml:space", None)
                words = flat
            if not words:
                return ""
            inside = character_text(words)
        elif element.tag == "g" and not inside:
            return ""
        if not inside:
            return f"<{element.tag}{attributes_text(attributes)}/>"
        return f"<{element.tag}{attributes_text(attributes)}>{inside}</{element.tag}>"
