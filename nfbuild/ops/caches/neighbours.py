"""Whose frames a tier holds: the toolchains that have drawn for it.

Frames of another toolchain answer other questions, so nobody whose toolchain differs ever hits. To
say *why*, a tier keeps one record with the toolchains that wrote to it, newest first. It is a hint
and nothing rests on it: two builds that write it at once may lose one of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from nfbuild.dataclasses import dataclass
from nfbuild.digests import RecordKey, derive
from nfbuild.errors import StoreError
from nfbuild.ops.run.toolchain import Toolchain
from nfbuild.store.base import ANSWER
from nfbuild.store.breaker import Tier

_KEY = RecordKey(derive("nfbuild 2026 tier toolchains v1"))
_MOST = 16
_LONGEST = 400

Parts = Mapping[str, str]


@dataclass(frozen=True)
class Difference:
    """A part of a toolchain that is another at a tier; None where one side has no such part."""

    what: str
    theirs: str | None
    ours: str | None


def parts_of(toolchain: Toolchain) -> dict[str, str]:
    """Return a toolchain's parts; the many modules of the pixel core are one."""
    parts = {
        name: value for name, value in toolchain.base.items() if not name.startswith("nfbuild/")
    }
    parts["pixel core"] = toolchain.core
    return parts


def note_toolchain(tier: Tier, toolchain: Toolchain) -> None:
    """Write down at a tier that this toolchain draws for it; a tier that takes nothing is fine."""
    own = parts_of(toolchain)
    known = read_toolchains(tier)
    if own in known or tier.off is not None:
        return
    try:
        payload = json.dumps([own, *known][:_MOST], sort_keys=True, separators=(",", ":"))
        tier.put_record(ANSWER, _KEY, payload.encode("utf-8"), replace=True)
    except StoreError:
        return


def read_toolchains(tier: Tier) -> list[dict[str, str]]:
    """Return the toolchains that wrote to a tier, newest first; none where that is not known."""
    try:
        rows = json.loads(tier.peek(ANSWER, _KEY))
    except (StoreError, ValueError):
        return []
    if not isinstance(rows, list):
        return []
    return [row for row in rows[:_MOST] if _is_parts(row)]


def _is_parts(row: object) -> bool:
    return isinstance(row, dict) and all(
        isinstance(text, str) and len(text) <= _LONGEST for pair in row.items() for text in pair
    )


def differences(known: Sequence[Parts], own: Parts) -> list[Difference]:
    """Return how `own` differs from the nearest of the toolchains that are known at a tier.

    Empty where the same toolchain has written there, or none is known.
    """
    nearest: list[Difference] | None = None
    for theirs in known:
        found = [
            Difference(name, theirs.get(name), own.get(name))
            for name in sorted({*theirs, *own})
            if theirs.get(name) != own.get(name)
        ]
        if nearest is None or len(found) < len(nearest):
            nearest = found
    return nearest or []
