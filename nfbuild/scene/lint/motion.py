"""Animations that nobody would see, or that would not move as written.

Not here: targets without an element and eases that mean nothing: loading finds these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from nfbuild.errors import SourceError
from nfbuild.scene.box import center
from nfbuild.scene.lint.colours import misread
from nfbuild.scene.window import Window, read_window

if TYPE_CHECKING:
    from nfbuild.scene.lint.finding import Findings
    from nfbuild.scene.sheet import Sheet
    from nfbuild.scene.timeline import Animation
    from nfbuild.scene.tree import Element


Moves: TypeAlias = "dict[Element, list[Animation]]"


def moves_of(sheet: Sheet) -> Moves:
    """Return the animations of each element that has some."""
    by_selector: dict[str, list[Animation]] = {}
    for animation in sheet.animations:
        by_selector.setdefault(animation.target, []).append(animation)
    moves: Moves = {}
    for element in sheet.tracks:
        names = [element.tag, f"#{element.get('id')}"]
        names += [f".{word}" for word in dict.fromkeys((element.get("class") or "").split())]
        moves[element] = [one for name in names for one in by_selector.get(name, ())]
    return moves


def check_motion(
    sheet: Sheet, moves: Moves, parents: dict[Element, Element], findings: Findings
) -> None:
    """Add what is wrong with the timeline of a file."""
    duration = float(sheet.canvas.duration)
    for animation in sheet.animations:
        for keyframe in animation.keyframes:
            if not 0.0 <= keyframe.seconds <= duration:
                findings.at(
                    "animation.keyframe_out_of_range",
                    keyframe.line,
                    f"a keyframe of `{animation.target}` at {keyframe.seconds:g} s lies outside"
                    f" of the {duration:g} s of the composition",
                    "move it inside, or lengthen `data-duration`",
                )
        _shapes(animation, findings)
        _paints(animation, findings)
    for element, animations in moves.items():
        window = _visible(element, sheet, parents)
        for animation in animations:
            _unseen(element, animation, window, findings)
            _far(element, animation, sheet, findings)
            _inert(element, animation, sheet, findings)


def check_window(element: Element, sheet: Sheet, findings: Findings) -> None:
    """Add what is wrong with an element's own window."""
    window = read_window(element, sheet.path, sheet.canvas.duration)
    if window is None:
        return
    duration = float(sheet.canvas.duration)
    if window.start > duration or window.end < 0.0 or window.end < window.start:
        findings.add(
            "animation.never_visible",
            element,
            f"shows from {window.start:g} to {window.end:g} s, and the composition has"
            f" {duration:g} s",
            "move its window inside",
        )


def _visible(element: Element, sheet: Sheet, parents: dict[Element, Element]) -> Window:
    """Return the span in which an element and everything around it show."""
    start, end = 0.0, float(sheet.canvas.duration)
    around: Element | None = element
    while around is not None:
        # The root's `data-duration` is the composition's own length, not a window.
        window = None
        if around in parents:
            window = read_window(around, sheet.path, sheet.canvas.duration)
        if window is not None:
            start, end = max(start, window.start), min(end, window.end)
        around = parents.get(around)
    return Window(start, end, 0.0)


def _unseen(element: Element, animation: Animation, window: Window, findings: Findings) -> None:
    first, last = animation.keyframes[0].seconds, animation.keyframes[-1].seconds
    if len(animation.keyframes) < 2 or (last >= window.start and first <= window.end):
        return
    findings.at(
        "animation.outside_visibility",
        animation.line,
        f"the animation of `{animation.target}` runs from {first:g} to {last:g} s, and"
        f" `<{element.tag}>` of line {element.line} shows from {window.start:g} to"
        f" {window.end:g} s",
        "move the keyframes into the window, or the window to the keyframes",
    )


def _shapes(animation: Animation, findings: Findings) -> None:
    seen: dict[str, str] = {}
    for keyframe in animation.keyframes:
        transform = keyframe.properties.get("transform")
        if not isinstance(transform, dict):
            continue
        for part, value in transform.items():
            shape = _shape(value)
            if seen.setdefault(part, shape) != shape:
                findings.at(
                    "animation.transform_shape_mixed",
                    keyframe.line,
                    f"`{part}` of `{animation.target}` is {shape} here and {seen[part]} before:"
                    " it jumps instead of moving",
                    "write the same shape in every keyframe",
                )
                return


def _paints(animation: Animation, findings: Findings) -> None:
    """Add colours that the rasterizer does not read, each once."""
    said: set[tuple[str, str]] = set()
    for keyframe in animation.keyframes:
        for name in ("fill", "stroke"):
            value = keyframe.properties.get(name)
            if not isinstance(value, str) or (name, value) in said:
                continue
            said.add((name, value))
            told = misread(name, value)
            if told is not None:
                fact = f"`{animation.target}` gets `{name}: {value}`, {told[0]}"
                findings.at("render.degraded_paint", keyframe.line, fact, told[1])


def _inert(element: Element, animation: Animation, sheet: Sheet, findings: Findings) -> None:
    """Add a stroke for a text, and a pivot that needs a geometry where there is none."""
    if element.tag == "text" and any("stroke" in one.properties for one in animation.keyframes):
        findings.at(
            "render.inert_attribute",
            animation.line,
            f"the `stroke` of `{animation.target}` is ignored: a text has none",
            "draw the outline as a path",
        )
    if not any(_asks_middle(one.properties.get("transform")) for one in animation.keyframes):
        return
    try:
        middle = center(element, sheet.path, lambda _text: (0.0, 0.0, 1.0, 1.0))
    except SourceError:
        return
    if middle is None:
        findings.at(
            "animation.inert_pivot",
            animation.line,
            f'`"center": "auto"` of `{animation.target}` does nothing: `<{element.tag}>` of line'
            f" {element.line} has no geometry of its own",
            'write the point: `"center": [x, y]`',
        )


def _asks_middle(transform: object) -> bool:
    return isinstance(transform, dict) and transform.get("center") == "auto"


def _shape(value: Any) -> str:
    return f"a list of {len(value)}" if isinstance(value, list) else "one value"


def _far(element: Element, animation: Animation, sheet: Sheet, findings: Findings) -> None:
    """Add a turn or growth about a point that throws the element far off."""
    if element.tag == "text" or not _pivots_on_origin(animation):
        return
    try:
        middle = center(element, sheet.path, lambda _text: None)
    except SourceError:
        return
    if middle is None:
        return
    limit = max(sheet.canvas.width, sheet.canvas.height) / 4
    if middle[0] * middle[0] + middle[1] * middle[1] <= limit * limit:
        return
    findings.at(
        "animation.unanchored_pivot",
        animation.line,
        f"`{animation.target}` turns or grows about (0, 0), far from its own centre at"
        f" ({middle[0]:g}, {middle[1]:g})",
        'add `"center": "auto"` to each `transform`',
    )


def _pivots_on_origin(animation: Animation) -> bool:
    for keyframe in animation.keyframes:
        transform = keyframe.properties.get("transform")
        if not isinstance(transform, dict) or transform.get("center") is not None:
            continue
        turn = transform.get("rotate")
        if turn not in (None, 0, [0]) and not (isinstance(turn, list) and len(turn) == 3):
            return True
        if transform.get("scale") not in (None, 1, [1, 1], [1]):
            return True
    return False
