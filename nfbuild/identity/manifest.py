"""The four-part manifest of a composition: what a digest is taken of, and what `explain` reads.

One value serves both: the digest of a part is the digest of exactly the named sub-inputs that
a diff of two parts compares, so an explanation cannot drift from the decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import NONE, CompositionId, ManifestDigest, by_utf8, derive

PartName: TypeAlias = Literal["source", "media", "fonts", "toolchain"]
PARTS: tuple[PartName, ...] = ("source", "media", "fonts", "toolchain")

_PART_CONTEXT = "nfbuild 2026 identity part v1"
_COMPOSITION_CONTEXT = "nfbuild 2026 composition id v1"


@dataclass(frozen=True)
class Reason:
    """One named input that differs, appeared (`before` is None) or went (`after` is None).

    `what` is a stable path: `#panel@fill`, `timeline #ring[2].opacity`, `fonts/Inter.ttf`.
    """

    part: PartName
    what: str
    before: str | None
    after: str | None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Part:
    """One part: its name, its sub-inputs (name to digest) and the digest over exactly these.

    A part without sub-inputs has the digest `none`: there is nothing of its kind.
    """

    name: PartName
    inputs: Mapping[str, str]
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", MappingProxyType(dict(self.inputs)))
        object.__setattr__(self, "digest", part_digest(self.name, self.inputs))


def part_digest(name: PartName, inputs: Mapping[str, str]) -> str:
    """Return the digest of a part's sub-inputs, which does not depend on their order.

    The part's own name is a field: a file that moves from one part to another, or two parts
    that change places, give other digests.
    """
    if not inputs:
        return NONE
    rows = [[key, inputs[key]] for key in by_utf8(inputs)]
    return ManifestDigest(derive(_PART_CONTEXT, name, rows))


@dataclass(frozen=True)
class Identity:
    """What a composition is made of, in four parts."""

    source: Part
    media: Part
    fonts: Part
    toolchain: Part

    @classmethod
    def of(
        cls,
        *,
        source: Mapping[str, str],
        media: Mapping[str, str],
        fonts: Mapping[str, str],
        toolchain: Mapping[str, str],
    ) -> Identity:
        """Return the identity over the named sub-inputs of each part."""
        return cls(
            Part("source", source),
            Part("media", media),
            Part("fonts", fonts),
            Part("toolchain", toolchain),
        )

    def __iter__(self) -> Iterator[Part]:
        return iter((self.source, self.media, self.fonts, self.toolchain))

    def part(self, name: PartName) -> Part:
        """Return the part of that name."""
        found: Part = getattr(self, name)
        return found

    def digests(self) -> dict[PartName, str]:
        """Return the four digests by part name, in the order of `PARTS`."""
        return {part.name: part.digest for part in self}


def composition_id(digests: Mapping[PartName, str]) -> CompositionId:
    """Return the id of a whole composition from the digests of its four parts.

    Equal ids mean equal declared inputs, hence equal frames; the reverse need not hold, as the
    parts are taken over whole files.
    """
    return CompositionId(derive(_COMPOSITION_CONTEXT, *(digests[name] for name in PARTS)))


def diff_inputs(
    part: PartName, before: Mapping[str, str], after: Mapping[str, str]
) -> list[Reason]:
    """Return a reason for every sub-input that differs, in the order of their names."""
    return [
        Reason(part, name, before.get(name), after.get(name))
        for name in by_utf8({**before, **after})
        if before.get(name) != after.get(name)
    ]


def diff(before: Identity, after: Identity) -> list[Reason]:
    """Return every named input that differs between two identities, part by part."""
    reasons: list[Reason] = []
    for old, new in zip(before, after, strict=True):
        if old.digest != new.digest:
            reasons.extend(diff_inputs(old.name, old.inputs, new.inputs))
    return reasons
