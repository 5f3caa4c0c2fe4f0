"""A nanoframes ledger, as a promise to compare with: read, paired with compositions, judged.

The form is `{"version": 1, "compositions": {PATH: {"digest", "frames", "sampled", "identity"}}}`,
described in the peer's `docs/determinism.md`. Its digests are SHA-256 and its identities name
inputs in its own way, so an entry of ours is only ever written from frames that were drawn here
and agree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from nfbuild.dataclasses import dataclass
from nfbuild.digests import HEX_LENGTH, by_utf8
from nfbuild.errors import Place, ProjectError

VERSION = 1

Outcome: TypeAlias = Literal["agrees", "differs", "frames", "sampled", "absent", "failed"]
"""`agrees`: the same digest. `differs`: another one. `frames`: another number of frames.
`sampled`: the peer recorded a sample, which promises no whole. `absent`: no such composition here.
`failed`: it could not be drawn here."""


@dataclass(frozen=True)
class PeerEntry:
    """What the peer recorded of one composition, which it calls by its path."""

    path: str
    digest: str
    frames: int
    sampled: bool


@dataclass(frozen=True)
class Imported:
    """What became of one of the peer's entries; `name` is the composition here, `fact` says why."""

    path: str
    name: str | None
    outcome: Outcome
    fact: str


def parse(data: bytes, file: str) -> tuple[PeerEntry, ...]:
    """Return the entries of a nanoframes ledger, sorted by path; raises `ProjectError`."""
    try:
        raw = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise _refused(file, "is not JSON") from None
    compositions = raw.get("compositions") if isinstance(raw, dict) else None
    if not isinstance(compositions, dict):
        raise _refused(file, "is not a nanoframes ledger: it has no `compositions`")
    if raw.get("version") != VERSION or isinstance(raw["version"], bool):
        found = raw.get("version")
        raise _refused(file, f"has the version `{found}`; `{VERSION}` is known")
    return tuple(_entry(path, compositions[path], file) for path in by_utf8(compositions))


def _entry(path: str, raw: Any, file: str) -> PeerEntry:
    digest, frames, sampled = (
        (raw.get("digest"), raw.get("frames"), raw.get("sampled", False))
        if isinstance(raw, dict)
        else (None, None, None)
    )
    if not isinstance(digest, str) or len(digest) != HEX_LENGTH or digest.strip("0123456789abcdef"):
        raise _refused(file, f"`{path}` has no SHA-256 digest")
    if not isinstance(frames, int) or isinstance(frames, bool) or frames < 1:
        raise _refused(file, f"`{path}` has no number of frames")
    if not isinstance(sampled, bool):
        raise _refused(file, f"`{path}`: `sampled` is neither true nor false")
    return PeerEntry(path, digest, frames, sampled)


def pair(entries: Sequence[PeerEntry], compositions: Mapping[str, str]) -> dict[str, str]:
    """Return which composition each of the peer's paths is, as path to name.

    `compositions` maps project-relative paths to names. An equal path counts first; else the one
    composition whose path ends in the longest part of it, if there is only one such.
    """
    pairs: dict[str, str] = {}
    for entry in entries:
        wanted = entry.path.replace("\\", "/").split("/")
        if entry.path in compositions:
            pairs[entry.path] = compositions[entry.path]
            continue
        shared = {path: _shared_end(wanted, path.split("/")) for path in by_utf8(compositions)}
        most = max(shared.values(), default=0)
        nearest = [path for path, count in shared.items() if count == most]
        if most and len(nearest) == 1:
            pairs[entry.path] = compositions[nearest[0]]
    return pairs


def _shared_end(left: list[str], right: list[str]) -> int:
    count = 0
    while count < min(len(left), len(right)) and left[-1 - count] == right[-1 - count]:
        count += 1
    return count


def judge_import(
    entry: PeerEntry, name: str | None, drawn: tuple[int, str] | None, failure: str | None = None
) -> Imported:
    """Return what became of one entry.

    `drawn` is the number of frames and the SHA-256 sequence digest that were drawn here; None
    where nothing was, with the reason in `failure`.
    """
    if name is None:
        fact = "no composition of this project has this path or file name"
        return Imported(entry.path, None, "absent", fact)
    if entry.sampled:
        fact = "the peer recorded a sample, which does not stand for the whole film"
        return Imported(entry.path, name, "sampled", fact)
    if drawn is None:
        return Imported(entry.path, name, "failed", failure or "could not be drawn")
    frames, digest = drawn
    if frames != entry.frames:
        fact = f"has {frames} frames here, {entry.frames} in the peer's ledger"
        return Imported(entry.path, name, "frames", fact)
    if digest != entry.digest:
        fact = f"sha256:{digest[:16]}… was drawn, sha256:{entry.digest[:16]}… is recorded"
        return Imported(entry.path, name, "differs", fact)
    return Imported(entry.path, name, "agrees", f"{frames} frames, sha256:{digest[:16]}…")


def _refused(file: str, fact: str) -> ProjectError:
    return ProjectError(
        fact,
        place=Place(file),
        hint="a nanoframes ledger is what `nanoframes digest --all --record` writes",
        code="ledger.import",
    )
