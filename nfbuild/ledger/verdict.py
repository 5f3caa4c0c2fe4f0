"""The verdict: what was promised against what is there.

A pure function of one entry, one lane and one film. Two events look the same from outside, an edit
and a fault; the recorded identity tells them apart for the film, and recorded scene keys tell them
apart for every frame: whatever else moved, a scene that the same toolchain once drew as one
picture must be that picture.
Not here: what may be written (`write_policy`), accepted differences (`excuse`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from nfbuild.dataclasses import dataclass, replace
from nfbuild.identity.manifest import PARTS, PartName, Reason
from nfbuild.ledger.entry import Entry, Lane, Present, reasons_since
from nfbuild.ledger.runs import Runs, ranges, stretches

Kind: TypeAlias = Literal[
    "match", "changed", "regression", "excused", "missing", "orphaned", "failed"
]
Ranges: TypeAlias = "tuple[tuple[int, int], ...]"

SEVERITY: tuple[Kind, ...] = (
    "regression",
    "failed",
    "changed",
    "orphaned",
    "missing",
    "excused",
    "match",
)
"""Worst first: the order of reports."""

PASSING: tuple[Kind, ...] = ("match", "excused")


@dataclass(frozen=True)
class Verdict:
    """What a comparison found.

    `reasons` are the named inputs that moved, empty for a regression of the whole film.
    `moved` are the frames that differ from the record, by number, both ends included; it reaches
    to the end of the longer film. `regressed` are those of them whose scene stood in the record,
    drawn by the same toolchain as another picture; `redrawn` are frames whose scene stood in
    the record and whose picture differs while the toolchain moved too. `unsound` frames were
    drawn twice under one key and differed.
    `lane` is the tag of the lane compared with; `across` names the other lanes whose digest agrees,
    when this lane has no whole recording. `sampled` says that not every frame was compared.
    `shape_moved` says that canvas, frame rate or frame count differ. `digest` is what is there,
    `recorded` what was promised, `compared` the number of frames that both sides have.
    """

    kind: Kind
    identity_moved: bool = False
    reasons: tuple[Reason, ...] = ()
    moved: Ranges = ()
    regressed: Ranges = ()
    redrawn: Ranges = ()
    unsound: Ranges = ()
    lane: str | None = None
    across: tuple[str, ...] = ()
    sampled: bool = False
    shape_moved: bool = False
    digest: str | None = None
    recorded: str | None = None
    compared: int = 0

    @property
    def passes(self) -> bool:
        """Tell whether the gate is open."""
        return self.kind in PASSING

    def moved_parts(self) -> tuple[PartName, ...]:
        """Return the parts that moved, in the order of the identity."""
        named = {reason.part for reason in self.reasons}
        return tuple(part for part in PARTS if part in named)

    @property
    def only_toolchain(self) -> bool:
        """Tell whether the toolchain, and nothing else, moved."""
        return self.moved_parts() == ("toolchain",)


MISSING = Verdict("missing")
ORPHANED = Verdict("orphaned")
FAILED = Verdict("failed")


def judge(entry: Entry | None, tag: str, present: Present) -> Verdict:
    """Compare a film with its entry, in the lane `tag` of this platform.

    Without a whole recording in this lane, the other lanes are asked: the film matches when one
    agrees. A sample is never a whole: where nothing but samples is recorded and they agree, the
    film is `missing`.
    """
    missing = Verdict("missing", digest=present.digest)
    if entry is None:
        return missing
    own = entry.lanes.get(tag)
    if own is not None and not own.sampled:
        return _against(entry, tag, own, present)
    if own is not None:
        sample = _against(entry, tag, own, present)
        if not sample.passes:
            return sample
        missing = replace(missing, lane=tag, sampled=True, compared=sample.compared)
    whole = {name: lane for name, lane in sorted(entry.lanes.items()) if not lane.sampled}
    if not whole:
        return missing
    verdicts = {name: _against(entry, name, lane, present) for name, lane in whole.items()}
    agreeing = tuple(name for name, verdict in verdicts.items() if verdict.kind == "match")
    # None agrees: the nearest lane explains best, that with the fewest parts moved.
    chosen = min(agreeing or verdicts, key=lambda name: (len(verdicts[name].moved_parts()), name))
    verdict = replace(verdicts[chosen], across=agreeing)
    if agreeing:
        # Another platform has another toolchain: under an equal digest that is no news.
        reasons = tuple(reason for reason in verdict.reasons if reason.part != "toolchain")
        verdict = replace(verdict, reasons=reasons, identity_moved=bool(reasons))
    return verdict


def _against(entry: Entry, tag: str, lane: Lane, present: Present) -> Verdict:
    reasons = tuple(reasons_since(entry, lane, present.identity))
    same_toolchain = lane.identity["toolchain"] == present.identity.toolchain.digest
    redrawn = ranges(_redrawn(lane.runs, present.runs))
    unsound = ranges(sorted({*_unsound(present.runs), *((n, 1) for n in present.unsound)}))
    sampled = present.sampled or lane.sampled
    shape_moved = (lane.width, lane.height, lane.rate, lane.frames) != (
        present.width,
        present.height,
        present.rate,
        present.frames,
    )
    moved = ranges(_moved(lane.runs, present.runs))
    digest_moved = bool(moved) or shape_moved or (not sampled and lane.digest != present.digest)
    regressed = redrawn if same_toolchain else ()
    kind: Kind = "match"
    if regressed or unsound or (digest_moved and not reasons):
        kind = "regression"
    elif digest_moved:
        kind = "changed"
    return Verdict(
        kind=kind,
        identity_moved=bool(reasons),
        reasons=reasons,
        moved=moved,
        regressed=regressed,
        redrawn=redrawn,
        unsound=unsound,
        lane=tag,
        sampled=sampled,
        shape_moved=shape_moved,
        digest=present.digest,
        recorded=lane.digest,
        compared=_compared(lane.runs, present.runs),
    )


def _moved(before: Runs, after: Runs) -> Iterator[tuple[int, int]]:
    """Yield stretches whose pictures differ, or that only one of the films has."""
    for first, count, old, new in stretches(before, after):
        if old is None or new is None:
            yield first, count
            continue
        both = old.digest is not None and new.digest is not None
        if both and old.digest != new.digest:
            yield first, count


def _compared(before: Runs, after: Runs) -> int:
    return sum(
        count
        for _, count, old, new in stretches(before, after)
        if old is not None and new is not None and old.digest and new.digest
    )


def _redrawn(before: Runs, after: Runs) -> Iterator[tuple[int, int]]:
    """Yield stretches whose scene is in the record, wherever in the film, as another picture."""
    recorded = before.pictures()
    first = 0
    for run in after:
        if recorded.contradict(run):
            yield first, run.count
        first += run.count


def _unsound(runs: Runs) -> Iterator[tuple[int, int]]:
    """Yield stretches whose scene is two pictures within one film."""
    drawn = runs.pictures()
    first = 0
    for run in runs:
        if drawn.are_several(run):
            yield first, run.count
        first += run.count
