"""A compiled composition: what a frame runs.

A program is a flat list. Text that never changes is one constant; an element that changes is an
item that writes itself for the clock, or says how far to jump when it does not show. Groups that
may turn out empty take their start tag back. No recursion: a composition may be nested deep.

Not here: how a tree becomes a program (`compile`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from nfbuild.scene.clock import Clock
from nfbuild.scene.frametext import Template
from nfbuild.scene.lone import COMPANY, is_lone, is_translucent
from nfbuild.scene.normal import normal_text
from nfbuild.scene.protocols import NeedsAnswers, Request
from nfbuild.scene.timeline import Track, Values
from nfbuild.scene.transform import Motion, Pivot, anchor
from nfbuild.scene.window import Window
from nfbuild.scene.write import character_text, escaped


class Run:
    """One frame being put together."""

    __slots__ = ("clock", "definitions", "late_definitions", "marks", "mask", "missing", "out")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.out: list[str] = []
        self.mask = 0
        self.marks: list[tuple[int, int]] = []
        self.definitions: list[str] = []
        self.late_definitions: list[str] = []
        self.missing: list[Request] = []


class Item(Protocol):
    """Something that writes itself; returns the index of the item to go on with."""

    def run(self, run: Run, following: int) -> int:
        """Write to `run.out`; `following` is the index of the next item in the list."""
        ...


Program: TypeAlias = "Sequence[Item]"

State: TypeAlias = "tuple[str | None, str | None, str | None, str | None]"
"""Opacity, fill, stroke, transform."""


def execute(program: Program, run: Run) -> None:
    """Run all items; questions that cannot be answered yet are collected in `run.missing`."""
    index = 0
    count = len(program)
    while index < count:
        index = program[index].run(run, index + 1)


class Constant:
    """Text that is the same in every frame in which it is reached."""

    __slots__ = ("mask", "text")

    def __init__(self, text: str, mask: int = 0) -> None:
        self.text = text
        self.mask = mask

    def run(self, run: Run, following: int) -> int:
        """Write the text."""
        run.out.append(self.text)
        run.mask |= self.mask
        return following


class Start:
    """The start tag of a group that never changes but may turn out empty."""

    __slots__ = ("mask", "text")

    def __init__(self, text: str, mask: int) -> None:
        self.text = text
        self.mask = mask

    def run(self, run: Run, following: int) -> int:
        """Write the tag and remember where."""
        run.marks.append((len(run.out), run.mask))
        run.out.append(self.text)
        run.mask |= self.mask
        return following


class End:
    """The end tag that belongs to a `Start` or `Moving`; an empty group takes both back.

    With `company` the author wrote more than one child into the group (see `lone`).
    """

    __slots__ = ("company", "text")

    def __init__(self, text: str, *, company: bool) -> None:
        self.text = text
        self.company = company

    def run(self, run: Run, following: int) -> int:
        """Write the tag, or take the start tag back."""
        out = run.out
        length, mask = run.marks.pop()
        if len(out) == length + 1:
            out.pop()
            run.mask = mask
            return following
        if self.company:
            keep_company(out, length)
        out.append(self.text)
        return following


def keep_company(out: list[str], start: int) -> None:
    """Give the only child of a translucent group company; `out[start]` is its start tag."""
    if is_translucent(out[start]) and is_lone("".join(out[start + 1 :])):
        out.append(COMPANY)


class FullEnd(End):
    """The end tag of an element that is never empty, or that is drawn when it is."""

    __slots__ = ()

    def run(self, run: Run, following: int) -> int:
        """Write the tag."""
        length, _ = run.marks.pop()
        if self.company:
            keep_company(run.out, length)
        run.out.append(self.text)
        return following


class Dressing:
    """The attributes that move: window, fade and animations of one element.

    `fixed` are the author's own values of the attributes that move. `wrapped` elements (text,
    images) carry opacity and display on a group around them. `kept` elements are never left
    out, since something refers to them: they are written with `display="none"`. `paint` is None
    where a timeline moves no paints. `masks` has the bits of definitions that paints of the
    timeline refer to.
    """

    __slots__ = (
        "_anchor",
        "_dressed",
        "_fixed",
        "_motion",
        "_paint",
        "_text",
        "_tracks",
        "_values",
        "_window",
        "kept",
        "masks",
        "wrapped",
    )

    def __init__(
        self,
        *,
        window: Window | None,
        tracks: tuple[Track, ...],
        fixed: dict[str, str],
        auto: Pivot,
        kept: bool,
        wrapped: bool,
        paint: PaintRule | None,
        masks: dict[str, int] | None = None,
    ) -> None:
        self.masks = masks
        self.kept = kept
        self.wrapped = wrapped
        self._window = window
        self._tracks = tracks
        own = {name: escaped(value) for name, value in fixed.items()}
        self._fixed: State = (
            own.get("opacity"),
            own.get("fill"),
            own.get("stroke"),
            own.get("transform"),
        )
        self._anchor = anchor(auto)
        self._paint = paint
        # What was said last: most frames of a hold say the same again.
        self._motion: Motion | None = None
        self._text: str | None = None
        self._values: Values | None = None
        self._dressed: tuple[str, str] | None = None

    def dress(self, clock: Clock) -> tuple[str, str] | None:
        """Return (opacity, attribute text); None where the element does not show.

        The attribute text holds fill, opacity (unless `wrapped`), stroke and transform.
        """
        window = self._window
        seconds = clock.seconds
        presence = 1.0
        if window is not None:
            if not window.start <= seconds <= window.end:
                return None
            if window.fade > 0.0:
                presence = window.presence(seconds)
        tracks = self._tracks
        if len(tracks) == 1:
            values = tracks[0].at(seconds)
            if presence == 1.0:
                if values is self._values:
                    return self._dressed
                dressed = self._written(self._moved(presence, (values,)))
                self._values, self._dressed = values, dressed
                return dressed
            return self._written(self._moved(presence, (values,)))
        return self._written(self._moved(presence, [track.at(seconds) for track in tracks]))

    def state(self, clock: Clock) -> State | None:
        """Return opacity, fill, stroke and transform as they are written; None where hidden."""
        window = self._window
        seconds = clock.seconds
        if window is not None and not window.visible(seconds):
            return None
        presence = 1.0 if window is None else window.presence(seconds)
        return self._moved(presence, [track.at(seconds) for track in self._tracks])

    def mask(self, clock: Clock) -> int:
        """Return the bits of the definitions that the timeline's paints refer to now."""
        found = 0
        for values in [track.at(clock.seconds) for track in self._tracks]:
            for paint in (values.fill, values.stroke):
                if paint is not None and self.masks is not None:
                    found |= self.masks.get(paint, 0)
        return found

    def _written(self, state: State | None) -> tuple[str, str] | None:
        if state is None:
            return None
        opacity, fill, stroke, transform = state
        parts = ""
        if fill is not None:
            parts = f' fill="{fill}"'
        if opacity is not None and not self.wrapped:
            parts += f' opacity="{opacity}"'
        if stroke is not None:
            parts += f' stroke="{stroke}"'
        if transform is not None:
            parts += f' transform="{transform}"'
        return (opacity or "", parts)

    def _moved(self, presence: float, all_values: Sequence[Values]) -> State | None:
        opacity, fill, stroke, transform = self._fixed
        share = motion = None
        paint = self._paint
        for values in all_values:
            if values.opacity is not None:
                share = values.opacity
            if values.transform is not None:
                motion = values.transform
            if paint is not None:
                if values.fill is not None:
                    fill = paint(values.fill)
                if values.stroke is not None:
                    stroke = paint(values.stroke)
        if share is not None or presence < 1.0:
            # A fade replaces an opacity that the author wrote and multiplies an animated one.
            opacity = opacity_text(presence if share is None else share * presence)
            if opacity == "0" and not self.kept:
                return None
        if motion is not None:
            if motion is not self._motion:
                text = motion.written(self._anchor)
                self._motion = motion
                self._text = f"{transform} {text}" if transform and text else text or transform
            transform = self._text
        return (opacity, fill, stroke, transform)


class PaintRule(Protocol):
    """Turns a paint of the timeline into the text that is drawn."""

    def __call__(self, text: str) -> str:
        """Return the paint as it is written: ids renamed, one spelling, escaped."""
        ...


def opacity_text(share: float) -> str | None:
    """Return an opacity with at most four decimals, kept inside 0..1; None for opaque."""
    if share >= 1.0:
        return None
    if share <= 0.0:
        return "0"
    text = f"{share:.4f}".rstrip("0").rstrip(".")
    return None if text == "1" else text


class Moving:
    """The start tag of an element that changes; jumps behind its `End` when it does not show.

    `tag` is `<rect`, `rest` the attributes that never move with the closing bracket. For an
    element without content `closing` is empty and there is no `End`.
    """

    __slots__ = ("dressing", "end", "hidden", "mask", "rest", "tag")

    def __init__(self, tag: str, dressing: Dressing, rest: str, hidden: str, mask: int) -> None:
        self.tag = tag
        self.dressing = dressing
        self.rest = rest
        self.hidden = hidden
        self.mask = mask
        self.end: int | None = None

    def run(self, run: Run, following: int) -> int:
        """Write the start tag, or jump."""
        dressed = self.dressing.dress(run.clock)
        if dressed is None:
            if not self.dressing.kept:
                return following if self.end is None else self.end
            text = f"{self.tag}{self.hidden}"
        else:
            text = f"{self.tag}{dressed[1]}{self.rest}"
        if self.end is not None:
            run.marks.append((len(run.out), run.mask))
        run.out.append(text)
        run.mask |= self.mask
        if self.dressing.masks is not None:
            run.mask |= self.dressing.mask(run.clock)
        return following


class Wrapped:
    """A text or an image: what it is drawn with stands on the element, when it shows around it."""

    __slots__ = ("after", "content", "dressing", "mask", "rest", "tag")

    def __init__(
        self, tag: str, dressing: Dressing, rest: str, content: Content | str, mask: int
    ) -> None:
        self.after = ""
        self.tag = tag
        self.dressing = dressing
        self.rest = rest
        self.content = content
        self.mask = mask

    def around(self, before: str, after: str) -> None:
        """Stand something directly around the element, inside the group."""
        self.tag = before + self.tag
        self.after = after + self.after

    def run(self, run: Run, following: int) -> int:
        """Write the element, in a group where opacity or display has to be carried."""
        dressed = self.dressing.dress(run.clock)
        if dressed is None and not self.dressing.kept:
            return following
        content = self.content
        if not isinstance(content, str):
            content = content.text(run.clock)
            if not content:
                return following
        opacity, moving = dressed or ("", "")
        text = f"{self.tag}{moving}{self.rest}{content}{self.after}"
        if dressed is None:
            text = f'<g display="none">{text}</g>'
        elif opacity:
            text = f'<g opacity="{opacity}">{text}</g>'
        run.out.append(text)
        run.mask |= self.mask
        if self.dressing.masks is not None:
            run.mask |= self.dressing.mask(run.clock)
        return following


class Content(Protocol):
    """Content that changes from frame to frame, from the end of the start tag on."""

    def text(self, clock: Clock) -> str:
        """Return the content for the clock; empty where nothing would be drawn."""
        ...


class Words:
    """The words of a `data-frame-text` template."""

    __slots__ = ("preserved", "template")

    def __init__(self, template: Template, *, preserved: bool) -> None:
        self.template = template
        self.preserved = preserved

    def text(self, clock: Clock) -> str:
        """Return the rest of the start tag, the words as character data, and the end tag."""
        words = self.template.words(clock.fields)
        if not self.preserved:
            words = normal_text(words)
        return f">{character_text(words)}</text>" if words else ""


def answers_missing(missing: Sequence[Request]) -> NeedsAnswers:
    """Return the exception for the collected questions, each once, in the order asked."""
    return NeedsAnswers(tuple(dict.fromkeys(missing)))
