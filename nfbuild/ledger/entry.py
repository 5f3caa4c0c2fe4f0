"""A ledger entry: what one composition is made of, and what each platform drew of it.

Documented in `docs/formats-ledger.md`. An entry holds no time, no path and no name of a machine,
so the same film recorded twice is the same bytes. Values are the plain hexadecimal digits of
`digests`.
Not here: the JSON text (`canonical`), the folder (`book`), comparing (`verdict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from nfbuild.dataclasses import dataclass, field, replace
from nfbuild.identity.manifest import PARTS, Identity, Part, PartName, Reason, diff_inputs
from nfbuild.ledger.runs import Runs

FORMAT = "nfbuild.ledger/1"

FILM_PARTS: tuple[PartName, ...] = ("source", "media", "fonts")
"""The parts that say what film it is, whoever draws it."""


@dataclass(frozen=True)
class Lane:
    """What one platform recorded of a film.

    `identity` are the four part digests it was drawn under, `toolchain` the named sub-inputs of the
    last of them. `width` and `height` are the canvas in pixels. `digest` is the sequence digest,
    that of a sample when `sampled`. `reason` is why it was accepted, where it was; `facts` are
    notes (the processor's feature level) that are no inputs.
    """

    identity: Mapping[PartName, str]
    toolchain: Mapping[str, str]
    width: int
    height: int
    rate: Fraction
    digest: str
    runs: Runs
    sampled: bool = False
    reason: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def frames(self) -> int:
        """How many frames the film has, drawn or not."""
        return self.runs.frames

    @property
    def head(self) -> LaneHead:
        """The lane without its frames."""
        return LaneHead(self.identity, self.width, self.height)

    def same_film(self, digests: Mapping[PartName, str]) -> bool:
        """Tell whether source, media and fonts were those of `digests`."""
        return all(self.identity[part] == digests[part] for part in FILM_PARTS)


@dataclass(frozen=True)
class LaneHead:
    """What a lane drew its film from and at which size, as in `Lane`: all but the frames."""

    identity: Mapping[PartName, str]
    width: int
    height: int


@dataclass(frozen=True)
class Entry:
    """One composition's file in the ledger: its inputs, and lanes by platform tag."""

    source: Part
    media: Part
    fonts: Part
    lanes: Mapping[str, Lane]

    def part(self, name: PartName) -> Part:
        """Return a part of the inputs; the toolchain is a lane's."""
        found: Part = getattr(self, name)
        return found

    def film(self) -> dict[PartName, str]:
        """Return the digests of source, media and fonts."""
        return {name: self.part(name).digest for name in FILM_PARTS}

    def without_other_films(self) -> Entry:
        """Return the entry without lanes whose source, media or fonts are not those recorded."""
        film = self.film()
        lanes = {tag: lane for tag, lane in self.lanes.items() if lane.same_film(film)}
        return replace(self, lanes=lanes)


@dataclass(frozen=True)
class Present:
    """What is there now: a film as it was just drawn, or as its frames are known.

    `runs` holds None-frames where a sample or a range left frames out; then `sampled` is true and
    `digest` is that of the sample. `unsound` are frame numbers that were drawn twice under one
    frame key and differed.
    """

    identity: Identity
    width: int
    height: int
    rate: Fraction
    digest: str
    runs: Runs
    sampled: bool = False
    unsound: tuple[int, ...] = ()

    @property
    def frames(self) -> int:
        """How many frames the film has, drawn or not."""
        return self.runs.frames

    def lane(self, *, reason: str | None = None, facts: Mapping[str, str] | None = None) -> Lane:
        """Return this film as a lane of an entry."""
        return Lane(
            identity=self.identity.digests(),
            toolchain=dict(self.identity.toolchain.inputs),
            width=self.width,
            height=self.height,
            rate=self.rate,
            digest=self.digest,
            runs=self.runs,
            sampled=self.sampled,
            reason=reason,
            facts=dict(facts or {}),
        )


def reasons_since(entry: Entry, lane: Lane, present: Identity) -> list[Reason]:
    """Return every named input that moved since `lane` was recorded, part by part.

    A part whose sub-inputs are not at hand (the entry's inputs are those of another film than the
    lane's) gives one reason for the part as a whole.
    """
    reasons: list[Reason] = []
    for name in PARTS:
        before, after = lane.identity[name], present.part(name)
        if before == after.digest:
            continue
        recorded = Part(name, lane.toolchain) if name == "toolchain" else entry.part(name)
        if recorded.digest == before:
            reasons.extend(diff_inputs(name, recorded.inputs, after.inputs))
        else:
            reasons.append(Reason(name, name, before, after.digest))
    return reasons
