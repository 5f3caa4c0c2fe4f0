"""The timeline: JSON in, the values of every animated property at an instant out.

Read once into segments, so that a frame costs a search and a few multiplications per animation.
Between two keyframes numbers, lists of numbers and colours blend, eased by the *later* keyframe;
anything else holds the earlier value. A property that only the later keyframe has shows its
value at once. Before the first and after the last keyframe their values hold.

Not here: which elements an animation moves (`select`), what a transform prints (`transform`).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from itertools import pairwise
from typing import Any, NamedTuple

from nfbuild.dataclasses import dataclass
from nfbuild.errors import Place, SourceError
from nfbuild.scene.colour import blend, hex_rgb
from nfbuild.scene.ease import NAMED, Ease, find, linear
from nfbuild.scene.numbers import json_number
from nfbuild.scene.protocols import Finding
from nfbuild.scene.transform import AUTO, Motion, check_transform, motion_between, motion_of
from nfbuild.scene.tree import Element

SCRIPT_TYPE = "application/nanoframes+json"
PROPERTIES = ("fill", "opacity", "stroke", "transform")


class Values(NamedTuple):
    """What an animation says of its targets at one instant; None where it says nothing."""

    fill: str | None
    opacity: float | None
    stroke: str | None
    transform: Motion | None


@dataclass(frozen=True, slots=True)
class Keyframe:
    """One keyframe: seconds, the properties it sets, and the ease of the segment that ends here."""

    seconds: float
    properties: dict[str, Any]
    ease: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Animation:
    """One animation: the selector of its targets and its keyframes in order of time."""

    target: str
    keyframes: tuple[Keyframe, ...]
    index: int
    line: int


class Track:
    """An animation compiled: `at` is the only thing a frame calls."""

    __slots__ = ("_first", "_last", "_segments", "_times", "automatic", "moves", "paints")

    def __init__(self, animation: Animation) -> None:
        keyframes = animation.keyframes
        self._times = [keyframe.seconds for keyframe in keyframes]
        self._first = _held(keyframes[0])
        self._last = _held(keyframes[-1])
        # Whether a pivot is asked for that only the target's geometry can tell.
        self.automatic = any(_asks_auto(keyframe) for keyframe in keyframes)
        self._segments = [_Segment(*pair) for pair in pairwise(keyframes)]

        # Whether it says anything but paints.
        self.moves = any(
            name in keyframe.properties
            for keyframe in keyframes
            for name in ("opacity", "transform")
        )
        self.paints = [
            value
            for keyframe in keyframes
            for name in ("fill", "stroke")
            if isinstance(value := keyframe.properties.get(name), str)
        ]

    def at(self, seconds: float) -> Values:
        """Return the values at `seconds`."""
        times = self._times
        if seconds <= times[0]:
            return self._first
        if seconds >= times[-1]:
            return self._last
        # The first segment whose end is not before now: an inner keyframe's instant belongs to
        # the segment that arrives there.
        return self._segments[bisect_left(times, seconds, 1) - 1].at(seconds)


class _Segment:
    __slots__ = ("_constant", "_ease", "_fill", "_length", "_opacity", "_start", "_stroke", "_tf")

    def __init__(self, low: Keyframe, high: Keyframe) -> None:
        self._start = low.seconds
        self._length = high.seconds - low.seconds
        self._ease: Ease = (find(high.ease) if high.ease is not None else None) or linear
        self._fill = _paint(low, high, "fill")
        self._stroke = _paint(low, high, "stroke")
        before, after = low.properties.get("opacity"), high.properties.get("opacity")
        self._opacity: tuple[float, float] | None = None
        held: float | None = None
        if isinstance(before, _NUMBER) and isinstance(after, _NUMBER) and _blends(before, after):
            self._opacity = (float(before), float(after) - float(before))
        elif before is not None or after is not None:
            held = json_number(after if before is None else before)
        self._tf = motion_between(low.properties.get("transform"), high.properties.get("transform"))
        self._constant = Values(
            self._fill if isinstance(self._fill, str) else None,
            held,
            self._stroke if isinstance(self._stroke, str) else None,
            None,
        )

    def at(self, seconds: float) -> Values:
        position = self._ease((seconds - self._start) / self._length)
        constant = self._constant
        fill, stroke, opacity = self._fill, self._stroke, self._opacity
        return Values(
            blend(*fill, position) if isinstance(fill, tuple) else constant.fill,
            constant.opacity if opacity is None else opacity[0] + opacity[1] * position,
            blend(*stroke, position) if isinstance(stroke, tuple) else constant.stroke,
            None if self._tf is None else self._tf(position),
        )


_Rgb = tuple[int, int, int]


def _paint(low: Keyframe, high: Keyframe, name: str) -> str | tuple[_Rgb, _Rgb] | None:
    before, after = low.properties.get(name), high.properties.get(name)
    if before is None:
        return after
    if after is not None:
        first, second = hex_rgb(before), hex_rgb(after)
        if first is not None and second is not None:
            return (first, second)
    assert isinstance(before, str)
    return before


def _held(keyframe: Keyframe) -> Values:
    properties = keyframe.properties
    opacity = properties.get("opacity")
    return Values(
        properties.get("fill"),
        None if opacity is None else json_number(opacity),
        properties.get("stroke"),
        motion_of(properties.get("transform")),
    )


def _asks_auto(keyframe: Keyframe) -> bool:
    transform = keyframe.properties.get("transform")
    return isinstance(transform, dict) and transform.get("center") == AUTO


_NUMBER = (int, float)


def _blends(before: float, after: float) -> bool:
    return not isinstance(before, bool) and not isinstance(after, bool)


def scripts(root: Element) -> list[Element]:
    """Return the timeline scripts below `root`, in document order."""
    return [
        element
        for element in root.walk()
        if element.tag == "script" and (element.get("type") or "").strip() == SCRIPT_TYPE
    ]


def read_timeline(root: Element, file: str) -> tuple[tuple[Animation, ...], list[Finding]]:
    """Return the animations of the document's timeline and what is odd about them."""
    findings: list[Finding] = []
    animations: list[Animation] = []
    for script in scripts(root):
        text = script.all_text()
        if not text.strip(" \t\r\n"):
            continue
        animations += _read_script(text, script.line, file, findings, len(animations))
    return tuple(animations), findings


def _read_script(
    text: str, line: int, file: str, findings: list[Finding], start: int
) -> list[Animation]:
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise SourceError(
            f"the timeline is no JSON: {error.msg[:1].lower()}{error.msg[1:]}",
            place=Place(file, line + error.lineno - 1),
            hint=f"column {error.colno} of that line; JSON has no comments and no trailing commas",
        ) from None
    except (ValueError, RecursionError) as error:
        raise SourceError(
            f"the timeline cannot be read: {error}",
            place=Place(file, line),
            hint="numbers are finite, and nothing is nested hundreds deep",
        ) from None
    place = Place(file, line)
    if not isinstance(data, dict):
        raise SourceError(
            "the timeline is no JSON object", place=place, hint='write {"animations": [...]}'
        )
    entries = data.get("animations", [])
    if not isinstance(entries, list):
        raise SourceError(
            "`animations` is no list", place=place, hint='write {"animations": [...]}'
        )
    lines = _Lines(text, line)
    read = (
        _read_animation(entry, index, lines, file, findings)
        for index, entry in enumerate(entries, start)
    )
    return [animation for animation in read if animation is not None]


def _no_constant(name: str) -> float:
    raise ValueError(f"`{name}` is no number")


class _Lines:
    """Finds the line of a thing in the script's text by looking forward for its `"target"`."""

    def __init__(self, text: str, first: int) -> None:
        self.text = text
        self.first = first
        self.position = 0

    def next(self, needle: str) -> int:
        found = self.text.find(needle, self.position)
        if found >= 0:
            self.position = found + len(needle)
        return self.first + self.text.count("\n", 0, self.position)


def _read_animation(
    entry: object, index: int, lines: _Lines, file: str, findings: list[Finding]
) -> Animation | None:
    line = lines.next('"target"')
    place = Place(file, line)
    if not isinstance(entry, dict):
        raise SourceError(
            f"animation {index + 1} is no JSON object",
            place=place,
            hint='write {"target": "#id", "keyframes": [...]}',
        )
    target = entry.get("target", "")
    if not isinstance(target, str):
        raise SourceError(
            f"`target` of animation {index + 1} is no text",
            place=place,
            hint='write "#id", ".class" or a tag name',
        )
    keyframes = entry.get("keyframes", [])
    if not isinstance(keyframes, list):
        raise SourceError(
            f"`keyframes` of `{target}` is no list",
            place=place,
            hint='write [{"t": 0, "opacity": 0}, {"t": 1, "opacity": 1}]',
        )
    read = [_read_keyframe(frame, target, lines, file, findings) for frame in keyframes]
    if not read:
        return None
    read.sort(key=lambda keyframe: keyframe.seconds)
    first = read[0]
    if first.ease is not None and len(read) > 1:
        findings.append(
            Finding(
                "animation.inert_ease",
                f"the ease on the first keyframe of `{target}` shapes nothing",
                file,
                first.line,
                "an ease belongs to the keyframe that its segment arrives at",
            )
        )
    return Animation(target, tuple(read), index, line)


def _read_keyframe(
    frame: object, target: str, lines: _Lines, file: str, findings: list[Finding]
) -> Keyframe:
    line = lines.next('"t"')
    place = Place(file, line)
    if not isinstance(frame, dict) or "t" not in frame:
        raise SourceError(
            f"a keyframe of `{target}` has no `t`",
            place=place,
            hint='write {"t": 0.5, "opacity": 1}',
        )
    seconds = json_number(frame["t"])
    if seconds is None or isinstance(frame["t"], bool):
        raise SourceError(
            f"`t` of a keyframe of `{target}` is `{json.dumps(frame['t'])}`, not seconds",
            place=place,
            hint='write {"t": 0.5}',
        )
    properties: dict[str, Any] = {}
    for name in PROPERTIES:
        value = frame.get(name)
        if value is not None:
            _check_value(name, value, target, place)
            properties[name] = value
    findings += [
        Finding(
            "animation.unknown_property",
            f"`{name}` of `{target}` cannot be animated",
            file,
            line,
            "a timeline moves `opacity`, `transform`, `fill` and `stroke`",
        )
        for name in frame
        if name not in PROPERTIES and name not in ("t", "ease")
    ]
    ease = frame.get("ease")
    if ease is not None and (not isinstance(ease, str) or find(ease) is None):
        findings.append(_unknown_ease(ease, target, file, line))
        ease = None
    return Keyframe(seconds, properties, ease, line)


def _check_value(name: str, value: object, target: str, place: Place) -> None:
    if name == "transform":
        check_transform(value, target, place)
    elif name == "opacity":
        if json_number(value) is None:
            raise SourceError(
                f"`opacity` of `{target}` is `{json.dumps(value)}`, which is no number",
                place=place,
                hint='write a number from 0 to 1: "opacity": 0.5',
            )
    elif not isinstance(value, str):
        raise SourceError(
            f"`{name}` of `{target}` is `{json.dumps(value)}`, which is no colour",
            place=place,
            hint=f'write "{name}": "#38bdf8"',
        )


def _unknown_ease(ease: object, target: str, file: str, line: int) -> Finding:
    shown = ease if isinstance(ease, str) else json.dumps(ease)
    import difflib  # noqa: PLC0415  milliseconds, and only a mistake needs it

    near = difflib.get_close_matches(shown, list(NAMED), 1)
    hint = f"did you mean `{near[0]}`?" if near else "it is drawn as `linear`"
    if shown.startswith("cubic-bezier"):
        hint = "write `cubic-bezier(x1, y1, x2, y2)` with x1 and x2 in 0..1; drawn as `linear`"
    return Finding(
        "animation.unknown_ease",
        f"ease `{shown}` of `{target}` is not known",
        file,
        line,
        hint,
    )
