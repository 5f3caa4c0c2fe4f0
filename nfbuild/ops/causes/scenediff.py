"""What moved in a Lottie scene: two versions of its JSON, down to layer, member and value.

Layers are matched by name, assets by id, both numbered as in the entry's sub-inputs; inside
of one a difference is named by its path: `layer Dot.ks.p.k[1].s[0]`. Numbers are compared as they
are written, since that is how they reach the rasterizer.
Not here: documents (`sourcediff`).
"""

from __future__ import annotations

from collections.abc import Iterator

from nfbuild.identity.manifest import Reason
from nfbuild.scene.lottie_archive import ZIP_MAGIC, Archive
from nfbuild.scene.lottie_json import Members, Number, Value, read, write
from nfbuild.scene.protocols import Limits

_NAMED = {"layers": ("layer", "nm"), "assets": ("asset", "id")}
_SHOWN = 60


def diff_scenes(path: str, before: bytes, after: bytes) -> Iterator[Reason]:
    """Yield what moved between two versions of a scene; raises SourceError for what is none."""
    old, new = _scene(path, before), _scene(path, after)
    for member, (kind, name) in _NAMED.items():
        olds, news = _labelled(old, member, kind, name), _labelled(new, member, kind, name)
        yield from _diff_named(path, olds, news)
        if [one for one in olds if one in news] != [one for one in news if one in olds]:
            yield Reason("source", f"{member} order", ", ".join(olds), ", ".join(news), path)
    rest = [name for name in dict.fromkeys([*_names(old), *_names(new)]) if name not in _NAMED]
    for name in rest:
        yield from _diff(path, f"scene.{name}", old.get(name), new.get(name))


def _scene(path: str, data: bytes) -> Members:
    if data.startswith(ZIP_MAGIC):
        data = Archive(data, path, Limits()).scene()
    return read(data, path)


def _names(members: Members) -> list[str]:
    return [name for name, _ in members.pairs]


def _labelled(scene: Members, member: str, kind: str, name: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    value = scene.get(member)
    for index, one in enumerate(value if isinstance(value, list) else []):
        label = (one.text(name) if isinstance(one, Members) else None) or f"[{index}]"
        numbered, number = f"{kind} {label}", 2
        while numbered in found:
            numbered, number = f"{kind} {label} ({number})", number + 1
        found[numbered] = one
    return found


def _diff_named(path: str, olds: dict[str, Value], news: dict[str, Value]) -> Iterator[Reason]:
    for label in dict.fromkeys([*olds, *news]):
        if label not in news:
            yield Reason("source", label, _shown(olds[label]), None, path)
        elif label not in olds:
            yield Reason("source", label, None, _shown(news[label]), path)
        else:
            yield from _diff(path, label, olds[label], news[label])


def _diff(path: str, label: str, old: Value, new: Value) -> Iterator[Reason]:
    stack: list[tuple[str, Value, Value]] = [(label, old, new)]
    while stack:
        label, old, new = stack.pop()
        inner: list[tuple[str, Value, Value]] = []
        if isinstance(old, Members) and isinstance(new, Members):
            names = dict.fromkeys([*_names(old), *_names(new)])
            inner = [(f"{label}.{name}", old.get(name), new.get(name)) for name in names]
        elif isinstance(old, list) and isinstance(new, list):
            inner = [
                (
                    f"{label}[{at}]",
                    old[at] if at < len(old) else None,
                    new[at] if at < len(new) else None,
                )
                for at in range(max(len(old), len(new)))
            ]
        elif _written(old) != _written(new):
            yield Reason("source", label, _shown(old), _shown(new), path)
        stack.extend(reversed(inner))


def _written(value: Value) -> tuple[bool, bytes | None]:
    # A text `1` is no number 1.
    return isinstance(value, Number), None if value is None else write(value)


def _shown(value: Value) -> str | None:
    if value is None:
        return None
    text = write(value).decode("utf-8", "replace")
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}\u2026"
