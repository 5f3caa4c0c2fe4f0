"""The ledger's shape, without drawing anything: fit for a test suite.

Every composition has an entry and every entry a composition; every entry can be read, is written
canonically and says what each part is made of; within a lane the rasterizer and the pixel core
are the same in all entries, as of one pass. It does not say that the recorded toolchain is the
present one: a legitimate edit moves it, and then a gate like that would be red every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nfbuild.dataclasses import dataclass
from nfbuild.digests import by_utf8
from nfbuild.errors import ProjectError
from nfbuild.ledger.book import Book
from nfbuild.ledger.entry import Entry, Lane


@dataclass(frozen=True)
class Finding:
    """One thing wrong with the ledger; `code` is stable, `name` the composition it is about."""

    code: str
    name: str
    message: str
    file: str | None = None
    line: int | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Checked:
    """What was found, in the order of names; `entries` are those that could be read."""

    findings: tuple[Finding, ...]
    entries: Mapping[str, Entry]

    @property
    def ok(self) -> bool:
        """Tell whether the ledger is in shape."""
        return not self.findings


def check(book: Book, compositions: Mapping[str, str], orphan_names: Mapping[str, str]) -> Checked:
    """Check the ledger of a project.

    `compositions` maps stems to names; `orphan_names` may name the stems of entries without
    composition, which otherwise are called by their stem.
    """
    shelf = book.shelf(compositions)
    findings: list[Finding] = []
    entries: dict[str, Entry] = {}
    findings.extend(_missing(compositions[stem]) for stem in shelf.missing)
    findings.extend(
        _orphaned(orphan_names.get(stem, stem), str(book.place(stem))) for stem in shelf.orphaned
    )
    for stem in shelf.present:
        name = compositions[stem]
        file = str(book.place(stem))
        try:
            page = book.read(stem, name)
        except ProjectError as fault:
            line = None if fault.place is None else fault.place.line
            findings.append(Finding(fault.code, name, fault.message, file, line, fault.hint))
            continue
        if page is None:  # removed while looking
            continue
        entries[name] = page.entry
        findings.extend(_of_entry(name, file, page.entry, canonical=page.canonical))
    findings.extend(
        _of_lanes(entries, {name: book.place(s).file for s, name in compositions.items()})
    )
    order = {name: i for i, name in enumerate(by_utf8({finding.name for finding in findings}))}
    findings.sort(key=lambda finding: order[finding.name])
    return Checked(tuple(findings), entries)


def _missing(name: str) -> Finding:
    hint = f"`nfbuild build --record {name}` writes it"
    return Finding("ledger.missing", name, "has no ledger entry", hint=hint)


def _orphaned(name: str, file: str) -> Finding:
    message = "is the entry of a composition that is not there"
    hint = "`nfbuild ledger prune` removes it"
    return Finding("ledger.orphaned", name, message, file, hint=hint)


def _of_entry(name: str, file: str, entry: Entry, *, canonical: bool) -> Iterable[Finding]:
    again = f"`nfbuild build {name}` writes the entry again"
    if not canonical:
        message = "is not written as nfbuild writes it"
        yield Finding("ledger.canonical", name, message, file, hint=again)
    if not entry.source.inputs:
        yield Finding("ledger.inputs", name, "names no input of its source", file, hint=again)
    if not entry.lanes:
        yield Finding("ledger.incomplete", name, "has no lane", file, hint=again)
    film = entry.film()
    for tag, lane in sorted(entry.lanes.items()):
        if not lane.same_film(film):
            message = f"the lane `{tag}` was recorded of another film than its inputs say"
            yield Finding("ledger.stale", name, message, file, hint=again)
        if not lane.toolchain:
            message = f"the lane `{tag}` does not say what drew it"
            yield Finding("ledger.inputs", name, message, file, hint=again)
        if lane.sampled:
            drawn = f"{lane.runs.drawn()} of {lane.frames} frames"
            message = f"the lane `{tag}` is a sample of {drawn}"
            hint = f"`nfbuild build --record {name}` on that platform records every frame"
            yield Finding("ledger.incomplete", name, message, file, hint=hint)


def _of_lanes(entries: Mapping[str, Entry], files: Mapping[str, str]) -> Iterable[Finding]:
    """Yield a finding for each entry whose lane was drawn by another rasterizer or pixel core."""
    for tag in by_utf8({tag for entry in entries.values() for tag in entry.lanes}):
        shared = _shared_inputs(
            [entry.lanes[tag] for entry in entries.values() if tag in entry.lanes]
        )
        drawn: dict[tuple[str | None, ...], list[str]] = {}
        for name in by_utf8(entries):
            lane = entries[name].lanes.get(tag)
            if lane is not None:
                values = tuple(lane.toolchain.get(key) for key in shared)
                drawn.setdefault(values, []).append(name)
        if len(drawn) < 2:
            continue
        # The newest pass is not known without a clock: the larger part is taken for it.
        most = max(drawn, key=lambda values: len(drawn[values]))
        for values, names in drawn.items():
            if values == most:
                continue
            what = next(key for i, key in enumerate(shared) if values[i] != most[i])
            for name in names:
                yield Finding(
                    "ledger.pass",
                    name,
                    f"the lane `{tag}` was drawn by another `{what}` than most entries",
                    files.get(name),
                    hint=f"`nfbuild build --record {name}` brings it to one pass with the others",
                )


def _shared_inputs(lanes: list[Lane]) -> list[str]:
    """Return the sub-inputs that every composition has: decoders are some compositions' own."""
    shared = set(lanes[0].toolchain)
    everything = set(shared)
    for lane in lanes[1:]:
        everything |= set(lane.toolchain)
        shared &= set(lane.toolchain)
    # A module of the core that only some entries know is a difference of passes, not of films.
    return by_utf8(shared | {name for name in everything if name.startswith("nfbuild/")})
