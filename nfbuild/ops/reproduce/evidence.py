"""What one build left behind, and the first place where two builds differ.

Six sections are compared, bytes and BLAKE3: the build graph, the frames' digests, the ledger, the
exports, the blobs (on one machine) and the report without its times and its counts of cache
traffic. A difference is located as far as it can be: to the line, the composition, the frame, the
pixel.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import by_utf8, derive, file_digest
from nfbuild.errors import NfbuildError
from nfbuild.ledger.canonical import read as read_entry
from nfbuild.ledger.runs import ranges, stretches
from nfbuild.ops.graph import text as graph_text
from nfbuild.ops.graph.compare import compare_graphs, films
from nfbuild.ops.graph.model import Graph

SECTIONS = ("graph", "frames", "ledger", "exports", "blobs", "report")
"""What is compared, in the order in which it is looked at."""

_SECTION_CONTEXT = "nfbuild 2026 reproduce section v1"
_SHOWN = 200


@dataclass(frozen=True)
class Evidence:
    """What a build left: the digest of each section, and where its files are.

    `files` maps the path of a written file below the checkout to the digest of its bytes, `blobs`
    that of a blob below the cache.
    """

    root: str
    cache: str
    ledger: str
    graph_file: str
    graph: bytes
    frames: Mapping[str, str]
    files: Mapping[str, str]
    blobs: Mapping[str, str]
    report: bytes
    shows: Mapping[str, str] = field(repr=False)
    digests: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        digests = {
            "graph": file_digest(self.graph),
            "frames": _digest_of("frames", self.frames),
            "ledger": _digest_of("ledger", self.part("ledger")),
            "exports": _digest_of("exports", self.part("exports")),
            "blobs": _digest_of("blobs", self.blobs),
            "report": file_digest(self.report),
        }
        object.__setattr__(self, "digests", digests)

    def part(self, section: str) -> dict[str, str]:
        """Return the written files of `ledger`, or all others, by path."""
        inside = f"{self.ledger}/"
        wanted = section == "ledger"
        return {
            path: digest for path, digest in self.files.items() if path.startswith(inside) == wanted
        }

    def path(self, path: str) -> str:
        """Return the absolute path of a written file."""
        return os.path.join(self.root, *path.split("/"))


@dataclass(frozen=True)
class Place:
    """Where two builds differ first in a section, as near as it can be told.

    `node` is a row of the graph, a file or a blob; `line` counts from 1; `pixel` is (x, y) of the
    first pixel in rows from the top; `before` is the reference's.
    """

    section: str
    node: str
    line: int | None = None
    composition: str | None = None
    frame: int | None = None
    pixel: tuple[int, int] | None = None
    before: str | None = None
    after: str | None = None
    fact: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the place as reports print it."""
        return {
            "section": self.section,
            "node": self.node,
            "line": self.line,
            "composition": self.composition,
            "frame": self.frame,
            "pixel": None if self.pixel is None else list(self.pixel),
            "before": self.before,
            "after": self.after,
            "fact": self.fact,
        }


# --- gathering --------------------------------------------------------------------------------


def gather(
    root: str,
    cache: str,
    *,
    ledger: str,
    graph_file: str,
    before: Iterable[str],
    result: Mapping[str, Any],
) -> Evidence:
    """Return what a build left; `before` are the files that were there, `result` its report."""
    known = dict.fromkeys(before)
    graph = _bytes(graph_file)
    return Evidence(
        root=root,
        cache=cache,
        ledger=ledger,
        graph_file=graph_file,
        graph=graph,
        frames=_frame_digests(graph),
        files={
            path: file_digest(_bytes(os.path.join(root, path)))
            for path in files_below(root)
            if path not in known
        },
        blobs={
            path: file_digest(_bytes(os.path.join(cache, path)))
            for path in files_below(cache)
            if path.startswith("blobs/")
        },
        report=_timeless(result["report"]),
        shows=result.get("blobs") or {},
    )


def files_below(root: str) -> list[str]:
    """Return the files below a folder, relative to it with forward slashes, sorted."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            found.append(path.replace(os.sep, "/"))
    return by_utf8(found)


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _frame_digests(graph: bytes) -> dict[str, str]:
    """Return frame key to frame digest from the text itself, which a fault may have damaged."""
    found: dict[str, str] = {}
    inside = False
    for line in graph.decode("ascii", "replace").split("\n"):
        if line.startswith("section "):
            inside = line.startswith("section frames ")
        elif inside and line:
            words = line.split(" ")
            found[words[0]] = words[-1]
    return found


def _timeless(report: Mapping[str, Any]) -> bytes:
    """Return the report without what is no product, as canonical JSON.

    Times; and how often a cache was written to, which depends on how answers were gathered.
    """
    kept = {key: value for key, value in report.items() if key != "cache"}
    return json.dumps(_without_seconds(kept), indent=1, sort_keys=True).encode("ascii")


def _without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_seconds(one) for key, one in value.items() if key != "seconds"}
    if isinstance(value, list):
        return [_without_seconds(one) for one in value]
    return value


def _digest_of(section: str, rows: Mapping[str, str]) -> str:
    return derive(_SECTION_CONTEXT, section, [[name, rows[name]] for name in by_utf8(rows)])


# --- comparing --------------------------------------------------------------------------------


def compare(reference: Evidence, other: Evidence) -> list[Place]:
    """Return the first place of each section that differs, in the order of `SECTIONS`.

    Equal digests alone are not believed: the bytes of every file are compared too.
    """
    finders = {
        "graph": _graph,
        "frames": _frames,
        "ledger": lambda one, two: _files("ledger", one, two),
        "exports": lambda one, two: _files("exports", one, two),
        "blobs": _blobs,
        "report": _report,
    }
    return [place for section in SECTIONS for place in finders[section](reference, other)]


def _graph(one: Evidence, two: Evidence) -> Iterator[Place]:
    if one.graph == two.graph:
        return
    line, before, after = _first_line(one.graph, two.graph)
    section = _section_at(two.graph, line) or _section_at(one.graph, line)
    graphs = _graphs(one, two)
    if graphs is None:
        yield Place(
            "graph",
            section,
            line,
            before=before,
            after=after,
            fact="the rows are not in canonical order, or the text is damaged",
        )
        return
    differences = compare_graphs(*graphs).differences
    first = differences[0]
    moved = next((each for each in differences if each.frames), None)
    yield Place(
        "graph",
        f"{first.section}: {first.node} {first.what}".strip(),
        line,
        composition=None if moved is None else moved.node.rpartition(" at ")[0],
        frame=None if moved is None else moved.frames[0][0],
        before=first.before or before,
        after=first.after or after,
    )


def _graphs(one: Evidence, two: Evidence) -> tuple[Graph, Graph] | None:
    try:
        return graph_text.read(one.graph), graph_text.read(two.graph)
    except NfbuildError:
        return None


def _section_at(graph: bytes, line: int) -> str:
    name = ""
    for text in graph.split(b"\n")[:line]:
        if text.startswith(b"section "):
            name = text.split(b" ")[1].decode("ascii", "replace")
    return name


def _frames(one: Evidence, two: Evidence) -> Iterator[Place]:
    if one.frames == two.frames:
        return
    graphs = _graphs(one, two)
    found = None if graphs is None else _first_frame(*graphs)
    if found is None:
        key = next(
            key for key in by_utf8({**one.frames, **two.frames})
            if one.frames.get(key) != two.frames.get(key)
        )  # fmt: skip
        yield Place("frames", key, before=one.frames.get(key), after=two.frames.get(key))
        return
    composition, number, before, after = found
    pixel, fact = (
        (None, "one of the films has no such frame")
        if before is None or after is None
        else _pixel_of(
            _bytes(os.path.join(one.cache, one.shows.get(before, ""))),
            _bytes(os.path.join(two.cache, two.shows.get(after, ""))),
        )
    )
    yield Place(
        "frames",
        f"{composition} frame {number}",
        composition=composition,
        frame=number,
        pixel=pixel,
        before=before,
        after=after,
        fact=fact,
    )


def _first_frame(before: Graph, after: Graph) -> tuple[str, int, str | None, str | None] | None:
    old, new = films(before), films(after)
    for which in sorted({**old, **new}):
        was, now = old.get(which), new.get(which)
        if was is None or now is None:
            return which[0], 0, None, None
        for first, _, one, other in stretches(was.runs, now.runs):
            digests = (one and one.digest, other and other.digest)
            if digests[0] != digests[1]:
                return which[0], first, digests[0] or None, digests[1] or None
    return None


def _files(section: str, one: Evidence, two: Evidence) -> Iterator[Place]:
    old, new = one.part(section), two.part(section)
    for path in by_utf8({**old, **new}):
        if path not in old or path not in new:
            before, after = old.get(path), new.get(path)
            fact = "is written in one of the two alone"
            yield Place(section, path, before=before, after=after, fact=fact)
            return
        first, second = _bytes(one.path(path)), _bytes(two.path(path))
        if old[path] != new[path] or first != second:
            yield (
                _text_place(path, first, second)
                if section == "ledger"
                else _product_place(path, first, second)
            )
            return


def _text_place(path: str, first: bytes, second: bytes) -> Place:
    line, before, after = _first_line(first, second)
    return Place(
        "ledger",
        path,
        line,
        composition=os.path.splitext(path.rpartition("/")[2])[0],
        frame=_moved_frame(path, first, second),
        before=before,
        after=after,
    )


def _moved_frame(path: str, first: bytes, second: bytes) -> int | None:
    """Return the first frame that two entries tell differently, where both are entries."""
    try:
        old, new = read_entry(first, path, path), read_entry(second, path, path)
    except NfbuildError:
        return None
    for tag in by_utf8(old.lanes):
        if tag in new.lanes:
            moved = ranges(
                (at, count)
                for at, count, one, two in stretches(old.lanes[tag].runs, new.lanes[tag].runs)
                if (one and (one.key, one.digest)) != (two and (two.key, two.digest))
            )
            if moved:
                return moved[0][0]
    return None


def _product_place(path: str, first: bytes, second: bytes) -> Place:
    number = re.search(r"([0-9]+)\.png\Z", path)
    pixel, fact = _pixel_of(first, second)
    return Place(
        "exports",
        path,
        frame=None if number is None else int(number[1]),
        pixel=pixel,
        before=file_digest(first),
        after=file_digest(second),
        fact=fact,
    )


def _blobs(one: Evidence, two: Evidence) -> Iterator[Place]:
    for path in by_utf8({**one.blobs, **two.blobs}):
        before, after = one.blobs.get(path), two.blobs.get(path)
        if before != after:
            fact = "is in one of the two alone" if None in (before, after) else "differs"
            yield Place("blobs", path, before=before, after=after, fact=fact)
            return


def _report(one: Evidence, two: Evidence) -> Iterator[Place]:
    if one.report != two.report:
        line, before, after = _first_line(one.report, two.report)
        yield Place("report", f"line {line}", line, before=before, after=after)


def _first_line(first: bytes, second: bytes) -> tuple[int, str | None, str | None]:
    old, new = first.split(b"\n"), second.split(b"\n")
    at = 0
    while at < min(len(old), len(new)) and old[at] == new[at]:
        at += 1
    return at + 1, _shown(old, at), _shown(new, at)


def _shown(lines: list[bytes], at: int) -> str | None:
    return lines[at].decode("utf-8", "replace").strip()[:_SHOWN] if at < len(lines) else None


def _pixel_of(first: bytes, second: bytes) -> tuple[tuple[int, int] | None, str]:
    """Return the first pixel in which two PNG files differ, and what is to be said of it."""
    from nfbuild.pixels.png import decode_own  # noqa: PLC0415  only where something differs

    try:
        old, width, height = decode_own(first)
        new, *size = decode_own(second)
    except NfbuildError:
        at = _first_byte(first, second)
        return None, "equal bytes" if at is None else f"the files differ from byte {at}"
    if [width, height] != size:
        return None, f"{width} x {height} pixels against {size[0]} x {size[1]}"
    at = _first_byte(old, new)
    if at is None:
        same = first == second
        return None, "the pixels are equal" + ("" if same else ", their encodings are not")
    start = at // 4 * 4
    told = f"{list(old[start : start + 4])} against {list(new[start : start + 4])}"
    return (at // 4 % width, at // 4 // width), told


def _first_byte(first: bytes, second: bytes) -> int | None:
    if first == second:
        return None
    low, high = 0, max(len(first), len(second))
    # The longest equal beginning, by halving: comparing two slices is one call.
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle] and middle <= min(len(first), len(second)):
            low = middle
        else:
            high = middle - 1
    return low
