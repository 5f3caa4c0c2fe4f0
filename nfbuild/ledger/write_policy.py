"""What `build` may write into the ledger: the table of the design, as a pure function.

A build product is written like a lock file: an edit updates it, so that the diff is reviewed; a
picture that moved without an edit does not, so that it cannot pass unseen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from nfbuild.dataclasses import dataclass
from nfbuild.errors import EXIT_COMPOSITION, EXIT_DONE, EXIT_GATE
from nfbuild.ledger.entry import Entry, Present
from nfbuild.ledger.verdict import Verdict

Action: TypeAlias = Literal["write", "refresh", "untouched"]
"""`write`: a new or another promise. `refresh`: the same promise under its present inputs."""


@dataclass(frozen=True)
class Decision:
    """What to do with an entry, and what it means for the exit code.

    `locked` is the action that `--locked` held back, or None. `hint` names the next step.
    """

    action: Action
    exit_code: int = EXIT_DONE
    locked: Action | None = None
    hint: str | None = None


def decide(
    verdict: Verdict,
    entry: Entry | None,
    tag: str,
    name: str,
    *,
    whole: bool = True,
    canonical: bool = True,
    locked: bool = False,
) -> Decision:
    """Return what `build` does about the entry of the composition `name` in the lane `tag`.

    `whole` is false for a sample, a range or another scale than 1: these write nothing.
    `canonical` is false where the file's bytes are not those that would be written.
    """
    decision = _unlocked(verdict, entry, tag, name, canonical=canonical)
    if decision.action == "untouched":
        return decision
    if not whole:
        return Decision("untouched")
    if not locked:
        return decision
    if decision.action == "refresh":
        # The promise stands; only what it is explained by is older than need be.
        return Decision("untouched", locked="refresh")
    hint = f"`nfbuild build --record {name}` writes the entry; commit it"
    return Decision("untouched", EXIT_GATE, locked="write", hint=hint)


def _unlocked(
    verdict: Verdict, entry: Entry | None, tag: str, name: str, *, canonical: bool
) -> Decision:
    if verdict.kind == "regression":
        hint = (
            f"`nfbuild explain {name}` shows the frames; `nfbuild ledger accept {name}` takes them"
        )
        return Decision("untouched", EXIT_GATE, hint=hint)
    if verdict.kind == "failed":
        return Decision("untouched", EXIT_COMPOSITION)
    if verdict.kind == "orphaned":
        return Decision("untouched", hint="`nfbuild ledger prune` removes the entry")
    if verdict.kind == "missing":
        return Decision("write")
    if verdict.kind == "match":
        if verdict.identity_moved or not canonical or entry is None:
            return Decision("refresh")
        own, film = entry.lanes.get(tag), entry.film()
        # A merge may have left lanes of another film, or inputs that no lane was drawn of.
        coherent = all(lane.same_film(film) for lane in entry.lanes.values())
        if own is None or own.sampled or not coherent:
            return Decision("refresh")
        return Decision("untouched")
    # Changed, or excused, which is a change of the toolchain that `verify` lets pass.
    parts = verdict.moved_parts()
    if verdict.only_toolchain or ("toolchain" in parts and verdict.redrawn):
        hint = f"`nfbuild ledger accept {name}` takes what another toolchain draws"
        return Decision("untouched", hint=hint)
    return Decision("write")


def recorded(
    entry: Entry | None,
    tag: str,
    present: Present,
    *,
    reason: str | None = None,
    facts: Mapping[str, str] | None = None,
) -> Entry:
    """Return the entry with `present` as the lane `tag`.

    Every lane whose source, media or fonts are not the present ones is removed: it speaks of
    another film. The reason and the facts of a lane stay as long as its digest does. A sample
    never takes the place of a whole lane of the same film.
    """
    lanes = {} if entry is None else dict(entry.lanes)
    old = lanes.get(tag)
    new = present.lane(reason=reason, facts=facts)
    if old is not None and old.digest == new.digest:
        new = present.lane(
            reason=old.reason if reason is None else reason,
            facts=old.facts if facts is None else facts,
        )
    keeps = old is not None and new.sampled and not old.sampled
    if old is None or not keeps or not old.same_film(present.identity.digests()):
        lanes[tag] = new
    identity = present.identity
    return Entry(identity.source, identity.media, identity.fonts, lanes).without_other_films()
