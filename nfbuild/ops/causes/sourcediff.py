"""What moved in a source: two versions of its files, down to element, attribute, line and keyframe.

Elements are matched by their id, others by tag and order among their equals. A difference is a
`Reason` whose `what` is a stable path: `#panel@fill`, `#title text`, `rect[3]` (appeared or went),
`timeline #ring[2].opacity` (the second keyframe), `order` (siblings changed places).
Not here: where the old version comes from (`snapshot`, `history`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nfbuild.errors import NfbuildError
from nfbuild.identity.manifest import Reason
from nfbuild.scene.timeline import SCRIPT_TYPE, Animation, Keyframe, read_timeline
from nfbuild.scene.tree import Element
from nfbuild.scene.xml import parse

_NOT_DRAWN = frozenset(["data-safe-margin", "data-palette-budget", "data-composition-id"])
_BLANKS = " \t\r\n"


def diff_sources(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[Reason]:
    """Return what moved between two sets of source files, by project path."""
    reasons: list[Reason] = []
    for path in sorted({**before, **after}, key=lambda name: name.encode("utf-8", "replace")):
        old, new = before.get(path), after.get(path)
        if old is None or new is None:
            reasons.append(
                Reason("source", path, None if old is None else "", None if new is None else "")
            )
        elif old != new:
            reasons.extend(_diff_file(path, old, new))
    return reasons


def _diff_file(path: str, old: bytes, new: bytes) -> list[Reason]:
    try:
        if not path.lower().endswith(".svg"):
            from nfbuild.ops.causes.scenediff import diff_scenes  # noqa: PLC0415  many projects have none

            return list(diff_scenes(path, old, new))
        before, after = parse(old, path), parse(new, path)
        reasons = list(_diff_elements(path, "svg", before, after))
        reasons.extend(_diff_timelines(path, before, after))
    except NfbuildError:
        # One of the two cannot be read: then the file as a whole is all there is to say.
        return [Reason("source", path, "unreadable", "changed", path)]
    return reasons


def _label(element: Element, tag_number: int) -> str:
    name = element.get("id")
    return f"#{name}" if name else f"{element.tag}[{tag_number}]"


def _labelled(parent: Element, prefix: str) -> dict[str, Element]:
    counts: dict[str, int] = {}
    found: dict[str, Element] = {}
    for child in parent.children:
        if child.tag == "script" and (child.get("type") or "").strip(_BLANKS) == SCRIPT_TYPE:
            continue
        counts[child.tag] = counts.get(child.tag, 0) + 1
        label = _label(child, counts[child.tag])
        if not label.startswith("#") and prefix:
            label = f"{prefix}/{label}"
        found.setdefault(label, child)
    return found


def _diff_elements(path: str, label: str, before: Element, after: Element) -> Iterator[Reason]:
    stack = [(label, before, after)]
    while stack:
        label, old, new = stack.pop()
        if old.tag != new.tag:
            yield Reason("source", f"{label} tag", old.tag, new.tag, path, new.line)
        yield from _diff_attributes(path, label, old, new)
        yield from _diff_texts(path, label, old, new)
        prefix = "" if label == "svg" else label
        olds, news = _labelled(old, prefix), _labelled(new, prefix)
        for name in olds:
            if name not in news:
                yield Reason("source", name, _start(olds[name]), None, path, new.line)
        for name in news:
            if name not in olds:
                yield Reason("source", name, None, _start(news[name]), path, news[name].line)
        common_old = [name for name in olds if name in news]
        common_new = [name for name in news if name in olds]
        if common_old != common_new:
            what = "order" if label == "svg" else f"{label} order"
            yield Reason("source", what, " ".join(common_old), " ".join(common_new), path, new.line)
        stack.extend((name, olds[name], news[name]) for name in reversed(common_new))


def _start(element: Element) -> str:
    return f"<{element.tag}>"


def _diff_attributes(path: str, label: str, old: Element, new: Element) -> Iterator[Reason]:
    for name in sorted({**old.attributes, **new.attributes}):
        before, after = old.get(name), new.get(name)
        if before != after and name not in _NOT_DRAWN:
            what = name if label == "svg" else f"{label}@{name}"
            yield Reason("source", what, before, after, path, new.line)


def _diff_texts(path: str, label: str, old: Element, new: Element) -> Iterator[Reason]:
    before, after = _texts(old), _texts(new)
    if before != after:
        yield Reason("source", f"{label} text", before, after, path, new.line)


def _texts(element: Element) -> str:
    """Return the character data between an element's children; blank runs as one blank."""
    pieces = [element.text, *(child.tail for child in element.children)]
    if element.tag in ("text", "tspan", "style"):
        return "\u2026".join(pieces)
    return "\u2026".join(piece.strip(_BLANKS) for piece in pieces).strip("\u2026")


# --- timelines --------------------------------------------------------------------------------


def _diff_timelines(path: str, before: Element, after: Element) -> Iterator[Reason]:
    olds, _ = read_timeline(before, path)
    news, _ = read_timeline(after, path)
    old_by, new_by = _by_target(olds), _by_target(news)
    for name in {**old_by, **new_by}:
        old, new = old_by.get(name), new_by.get(name)
        if old is None or new is None:
            line = None if new is None else new.line
            yield Reason("source", name, _keys(old), _keys(new), path, line)
        else:
            yield from _diff_animation(path, name, old, new)
    if [n for n in old_by if n in new_by] != [n for n in new_by if n in old_by]:
        yield Reason("source", "timeline order", " ".join(old_by), " ".join(new_by), path)


def _by_target(animations: tuple[Animation, ...]) -> dict[str, Animation]:
    found: dict[str, Animation] = {}
    for animation in animations:
        name = f"timeline {animation.target}"
        number = 2
        while name in found:
            name = f"timeline {animation.target} ({number})"
            number += 1
        found[name] = animation
    return found


def _keys(animation: Animation | None) -> str | None:
    return None if animation is None else f"{len(animation.keyframes)} keyframes"


def _diff_animation(path: str, name: str, old: Animation, new: Animation) -> Iterator[Reason]:
    if len(old.keyframes) != len(new.keyframes):
        yield Reason("source", f"{name} keyframes", _keys(old), _keys(new), path, new.line)
    for number, (before, after) in enumerate(
        zip(old.keyframes, new.keyframes, strict=False), start=1
    ):
        yield from _diff_keyframe(path, f"{name}[{number}]", before, after)


def _diff_keyframe(path: str, name: str, old: Keyframe, new: Keyframe) -> Iterator[Reason]:
    if old.seconds != new.seconds:
        yield Reason("source", f"{name}.t", f"{old.seconds:g}", f"{new.seconds:g}", path, new.line)
    if old.ease != new.ease:
        yield Reason("source", f"{name}.ease", old.ease, new.ease, path, new.line)
    before, after = dict(_leaves("", old.properties)), dict(_leaves("", new.properties))
    for leaf in {**before, **after}:
        if before.get(leaf) != after.get(leaf):
            yield Reason(
                "source", f"{name}{leaf}", before.get(leaf), after.get(leaf), path, new.line
            )


def _leaves(prefix: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{prefix}.{key}", inner)
    else:
        yield prefix, _shown(value)


def _shown(value: object) -> str:
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    if isinstance(value, list):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    return str(value)
