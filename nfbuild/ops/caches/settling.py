"""The end of a build for its caches: uploads finished, room made, and what they did told.

Nothing here changes an answer. What the stores did is counted where it happens (`store.stats`);
here the counts of one run become one object of the report and a line or two for people.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import StoreRequired
from nfbuild.events import Event, Warned
from nfbuild.ops.caches.collecting import Protected, folders, policy_of, reached
from nfbuild.ops.caches.neighbours import differences, note_toolchain, parts_of, read_toolchains
from nfbuild.ops.frames.questions import State
from nfbuild.ops.run.reports import failure, shown_value, talk_json
from nfbuild.store import stats
from nfbuild.store.breaker import Tier
from nfbuild.store.collect import collect_if_due
from nfbuild.store.stats import Journal

if TYPE_CHECKING:
    from nfbuild.digests import BlobDigest
    from nfbuild.ops.frames.drawing import Drawing
    from nfbuild.ops.frames.underway import Build

_COLLECT_SECONDS = 2.0
_SHOWN_LOST = 3


@dataclass(frozen=True)
class TierTally:
    """What one place did in a run.

    `off` says why it was given up, `differs` which parts of toolchains keep it from answering.
    """

    name: str
    counts: Mapping[str, int]
    off: str | None = None
    differs: list[dict[str, str | None]] = field(default_factory=list)

    def total(self, event: str) -> int:
        """Return the count of an event, with all its reasons."""
        return sum(count for name, count in self.counts.items() if name.partition(".")[0] == event)

    def to_json(self) -> dict[str, Any]:
        """Return the tally as the report of a build prints it."""
        return {
            "name": self.name,
            "hits": self.total(stats.HIT),
            "misses": {
                name.partition(".")[2]: count
                for name, count in self.counts.items()
                if name.startswith(f"{stats.MISS}.")
            },
            "corrupt": self.total(stats.CORRUPT),
            "healed": self.total(stats.HEALED),
            "evicted_in_use": self.total(stats.EVICTED_IN_USE),
            "written": self.total(stats.PUT),
            "lost": self.total(stats.LOST),
            "bytes_read": self.total(stats.BYTES_READ),
            "bytes_written": self.total(stats.BYTES_WRITTEN),
            "off": self.off,
            "toolchain": self.differs,
        }


@dataclass(frozen=True)
class Tally:
    """What all caches did in a run; frames are distinct ones, `saved` seconds of workers."""

    kept: int
    shared: int
    tiers: list[TierTally]
    lost: tuple[str, ...]
    saved: float | None
    collected: list[dict[str, Any]]

    def total(self, event: str) -> int:
        """Return the count of an event at all places."""
        return sum(tier.total(event) for tier in self.tiers)

    def to_json(self) -> dict[str, Any]:
        """Return the object `cache` of `build --json`."""
        return {
            "kept": self.kept,
            "shared": self.shared,
            "corrupt": self.total(stats.CORRUPT),
            "healed": self.total(stats.HEALED),
            "evicted_in_use": self.total(stats.EVICTED_IN_USE),
            "lost": list(self.lost),
            "bytes_read": self.total(stats.BYTES_READ),
            "bytes_written": self.total(stats.BYTES_WRITTEN),
            "seconds_saved": None if self.saved is None else round(self.saved, 3),
            "tiers": [tier.to_json() for tier in self.tiers],
            "collected": self.collected,
        }

    def lines(self) -> list[str]:
        """Return what a person is told: nothing where the caches did nothing to speak of."""
        told = []
        if self.shared or len(self.tiers) > 1:
            places = "".join(
                f", `{tier.name}` answered {tier.total(stats.HIT):,} times"
                for tier in self.tiers[1:]
            )
            told.append(f"{self.kept:,} frames known here, {self.shared:,} shared{places}")
        elif self.kept:
            told.append(f"{self.kept:,} frames known here")
        if told and self.saved:
            told[-1] += f", {self.saved:.1f} s of drawing saved"
        corrupt, healed = self.total(stats.CORRUPT), self.total(stats.HEALED)
        if corrupt:
            told.append(f"{corrupt:,} damaged, {healed:,} replaced")
        if evicted := self.total(stats.EVICTED_IN_USE):
            told.append(f"{evicted:,} went while they were used")
        if self.lost:
            names = ", ".join(self.lost[:_SHOWN_LOST])
            more = f" and {len(self.lost) - _SHOWN_LOST:,} more" if len(self.lost) > 3 else ""
            told.append(f"{len(self.lost):,} uploads lost: {names}{more}")
        told.extend(
            f"{one['files']:,} files with {one['freed']:,} bytes went from `{one['folder']}`"
            for one in self.collected
            if one["files"]
        )
        return [f"cache: {line}" for line in told]


def settle(run: Build, drawing: Drawing) -> Generator[Event, None, None]:
    """Finish uploads, collect where that is due, and put what the caches did into the report."""
    session = run.session
    caches, journal = session.caches, session.caches.journal
    wrote = drawing.rendered + _shared(drawing)
    differing = {tier.name: _differs(run, tier) for tier in caches.tiers}
    if drawing.rendered:
        for tier in caches.tiers:
            if tier.writable and tier.off is None:
                note_toolchain(tier, session.toolchain)
    try:
        caches.finish_uploads()
    except StoreRequired as error:
        run.report.errors.append(failure(error))
        yield run.report.errors[-1]
    collected = _collect(run, drawing) if wrote else []
    saved = _count_times(drawing, journal, caches.local.lifetime())
    places = [TierTally(caches.local.name, journal.by_tier().get(caches.local.name, {}))]
    for tier in caches.tiers:
        differs = differing[tier.name]
        counts = journal.by_tier().get(tier.name, {})
        places.append(TierTally(tier.name, counts, tier.off, differs))
        if differs:
            parts = ", ".join(f"`{one['what']}`" for one in differs)
            warning = Warned(
                "cache.toolchain",
                f"the shared cache `{tier.name}` has no frame of this toolchain: {parts} differ",
                hint="frames are shared by those who draw with the same parts; "
                "`nfbuild --version` lists them",
            )
            run.report.warnings.append(talk_json(warning))
            yield warning
    tally = Tally(
        kept=sum(1 for _ in drawing.questions.numbers(State.CACHED)),
        shared=_shared(drawing),
        tiers=places,
        lost=journal.lost,
        saved=saved,
        collected=collected,
    )
    run.report.extra["cache"] = tally.to_json()
    run.report.notes.extend(tally.lines())


def _shared(drawing: Drawing) -> int:
    return sum(1 for _ in drawing.questions.numbers(State.SHARED))


def _count_times(drawing: Drawing, journal: Journal, lifetime: Mapping[str, int]) -> float | None:
    """Count what drawing took; return the seconds that were not spent, by the mean of this cache.

    None where this cache has never seen a frame drawn.
    """
    journal.count("local", stats.DRAWN, drawing.rendered)
    journal.count("local", stats.DRAWN_MILLISECONDS, int(drawing.spent * 1000))
    frames = lifetime.get(f"local {stats.DRAWN}", 0) + drawing.rendered
    spent = lifetime.get(f"local {stats.DRAWN_MILLISECONDS}", 0) / 1000 + drawing.spent
    if not frames:
        return None
    reused = sum(1 for _ in drawing.questions.numbers(State.CACHED, State.SHARED))
    saved = reused * spent / frames
    journal.count("local", stats.SAVED_MILLISECONDS, int(saved * 1000))
    return saved


def _differs(run: Build, tier: Tier) -> list[dict[str, str | None]]:
    """Return which parts differ when a tier that was asked had nothing of this toolchain."""
    journal = run.session.caches.journal
    if journal.total(stats.HIT, tier.name) or not journal.total(stats.MISS, tier.name):
        return []
    found = differences(read_toolchains(tier), parts_of(run.session.toolchain))
    return [
        {"what": one.what, "before": shown_value(one.theirs), "after": shown_value(one.ours)}
        for one in found
    ]


def _collect(run: Build, drawing: Drawing) -> list[dict[str, Any]]:
    """Make room where there is too little and nobody has for hours; bounded in time."""
    session = run.session

    def used() -> Iterator[BlobDigest]:
        yield from reached(session.project, session.caches)
        answered = drawing.questions.numbers(State.CACHED, State.SHARED, State.DRAWN)
        yield from drawing.recall.blobs(map(drawing.questions.digest, answered))

    protected = Protected(used)
    told = []
    until = time.monotonic() + _COLLECT_SECONDS
    for root, mode in folders(session.project, session.caches):
        found = collect_if_due(
            root,
            policy_of(session.project),
            protected=protected,
            lock_mode=mode,
            seconds=max(0.0, until - time.monotonic()),
        )
        if found is not None and found[1].files:
            told.append({"folder": root, "files": found[1].files, "freed": found[1].freed})
    return told
