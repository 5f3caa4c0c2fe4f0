"""Two build graphs side by side: what differs, by names that people know.

Rows are matched by what they are called (a file by its path, a composition by its name, an export
by where it stands), so a moved digest is one difference and not a row gone and a row come. A
frame key with two answers is the alarm: the same question, another picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from nfbuild.dataclasses import dataclass
from nfbuild.digests import by_utf8
from nfbuild.ledger.runs import Run, ranges, stretches
from nfbuild.ops.graph.model import FrameNode, Graph, ordered
from nfbuild.ops.graph.text import section_digests


@dataclass(frozen=True)
class Difference:
    """One thing that differs, appeared (`before` is None) or went (`after` is None).

    `section` is where, `node` what it is called, `what` which of its fields. `frames` are the
    ranges of frame numbers of a film that moved, both ends included.
    """

    section: str
    node: str
    what: str
    before: str | None
    after: str | None
    frames: tuple[tuple[int, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the difference as reports print it."""
        return {
            "section": self.section,
            "node": self.node,
            "what": self.what,
            "before": self.before,
            "after": self.after,
            "frames": [list(one) for one in self.frames],
        }


@dataclass(frozen=True)
class Comparison:
    """Two graphs compared: the sections whose digests differ, and every difference in order."""

    sections: tuple[str, ...]
    differences: tuple[Difference, ...]

    @property
    def equal(self) -> bool:
        """Tell whether the two texts are the same bytes."""
        return not self.sections

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as reports print it."""
        return {
            "schema": "nfbuild.graph-comparison/1",
            "ok": True,
            "equal": self.equal,
            "sections": list(self.sections),
            "differences": [one.to_json() for one in self.differences],
        }


def compare_graphs(before: Graph, after: Graph) -> Comparison:
    """Return what differs between two graphs, in the order of their sections and names."""
    old, new = section_digests(before), section_digests(after)
    sections = tuple(name for name in old if name != "graph" and old[name] != new[name])
    if not sections:
        return Comparison((), ())
    found = [
        *_named(
            "files",
            {f"{row.kind} {row.path}": row for row in before.files},
            {f"{row.kind} {row.path}": row for row in after.files},
            ("digest",),
        ),
        *_named(
            "compositions",
            {row.name: row for row in before.compositions},
            {row.name: row for row in after.compositions},
            ("source", "media", "fonts", "toolchain", "path"),
        ),
        *_frames(before, after),
        *_films(before, after),
        *_named(
            "exports",
            {row.target: row for row in before.exports},
            {row.target: row for row in after.exports},
            ("format", "first", "last", "key"),
        ),
        *_named(
            "failed",
            {row.name: row for row in before.failed},
            {row.name: row for row in after.failed},
            ("code",),
        ),
    ]
    if not found:
        found = list(_rows(before, after, sections))
    return Comparison(sections, tuple(found))


def _named(
    section: str, before: Mapping[str, Any], after: Mapping[str, Any], fields: Iterable[str]
) -> Iterator[Difference]:
    for name in by_utf8({**before, **after}):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            shown = [None if row is None else str(row[0]) for row in (old, new)]
            yield Difference(section, name, "", shown[0], shown[1])
            continue
        for field in fields:
            was, now = str(getattr(old, field)), str(getattr(new, field))
            if was != now:
                yield Difference(section, name, field, was, now)


def _frames(before: Graph, after: Graph) -> Iterator[Difference]:
    """Yield the questions that have two answers: in sound builds there are none."""
    for old, new in _joined(before.frames, after.frames):
        if old.digest != new.digest:
            yield Difference("frames", old.key, "digest", old.digest, new.digest)


def _joined(
    before: Iterable[FrameNode], after: Iterable[FrameNode]
) -> Iterator[tuple[FrameNode, FrameNode]]:
    left, right = iter(before), iter(after)
    old, new = next(left, None), next(right, None)
    while old is not None and new is not None:
        if old.key == new.key:
            yield old, new
            old, new = next(left, None), next(right, None)
        elif old.key < new.key:
            old = next(left, None)
        else:
            new = next(right, None)


def _films(before: Graph, after: Graph) -> Iterator[Difference]:
    old, new = films(before), films(after)
    for name, size in ordered({**old, **new}):
        was, now = old.get((name, size)), new.get((name, size))
        label = f"{name} at {size}"
        if was is None or now is None:
            gone = None if was is None else was.sequence
            come = None if now is None else now.sequence
            yield Difference("sequences", label, "", gone, come)
            continue
        moved = ranges(
            (first, count)
            for first, count, one, other in stretches(was.runs, now.runs)
            if _run(one) != _run(other)
        )
        if was.sequence != now.sequence:
            yield Difference("sequences", label, "digest", was.sequence, now.sequence, moved)
        elif moved:
            yield Difference("sequences", label, "keys", None, None, moved)


def _run(run: Run | None) -> tuple[str | None, str | None] | None:
    return None if run is None else (run.key, run.digest)


@dataclass(frozen=True)
class FilmRow:
    """A composition at one raster size: its sequence digest, and its frames as runs.

    Keys are frame keys, and digests are whole: these are not a ledger's sixteen digits.
    """

    sequence: str
    runs: tuple[Run, ...]


def films(graph: Graph) -> dict[tuple[str, str], FilmRow]:
    """Return the films of a graph by (composition's name, `WxH`)."""
    digests = {frame.key: frame.digest for frame in graph.frames}
    sizes = {one.digest: f"{one.width}x{one.height}" for one in graph.sequences}
    shown: dict[tuple[str, str], list[Run]] = {}
    for show in graph.shows:
        run = Run(show.length, show.key, digests[show.key])
        shown.setdefault((show.composition, show.sequence), []).append(run)
    return {
        (draw.name, sizes[draw.sequence]): FilmRow(
            draw.sequence, tuple(shown.get((draw.composition, draw.sequence), ()))
        )
        for draw in graph.draws
    }


def _rows(before: Graph, after: Graph, sections: Iterable[str]) -> Iterator[Difference]:
    """Yield the first row that differs of each section: what no name explains (an edge)."""
    for name in sections:
        for old, new in zip_longest(getattr(before, name), getattr(after, name)):
            if old != new:
                yield Difference(name, "", "row", _told(old), _told(new))
                break


def _told(row: tuple[Any, ...] | None) -> str | None:
    return None if row is None else " ".join(str(field) for field in row)
