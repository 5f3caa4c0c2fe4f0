"""Reasons as fine as they go: which element, attribute, text or keyframe of a source moved.

An entry names its sub-inputs by digest; what moved inside of one is found by comparing the recorded
source with the present one. The recorded source comes from its snapshot in the cache, else
from git at the revision that last wrote the entry. Where neither has it the reasons stop at the
entry's sub-inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nfbuild.identity.manifest import Reason, composition_id
from nfbuild.ledger.book import Book
from nfbuild.ledger.entry import Lane
from nfbuild.ops.causes.history import History
from nfbuild.ops.causes.snapshot import read_snapshot, sources_of
from nfbuild.ops.causes.sourcediff import diff_sources
from nfbuild.ops.frames.films import Film
from nfbuild.ops.run.session import Session
from nfbuild.scene.inputs import FACES

# Of the source part, and decided by `nfbuild.toml` alone: no file of the source shows them.
CONFIGURED = (FACES, "background")


def refine(
    session: Session, film: Film, lane: Lane | None, reasons: Sequence[Reason]
) -> tuple[list[Reason], str | None]:
    """Return the reasons with those of the source replaced by what moved in its files.

    Also where the recorded source came from: None where it is not at hand, or where it does not
    show what moved; then the reasons are those that came in.
    """
    if lane is None or not any(reason.part == "source" for reason in reasons):
        return list(reasons), None
    old, came_from = _recorded_source(session, film, lane)
    if old is None:
        return list(reasons), None
    fine = diff_sources(old, sources_of(session, film))
    if not fine:
        return list(reasons), None
    kept = [reason for reason in reasons if reason.part != "source" or reason.what in CONFIGURED]
    return [*fine, *kept], came_from


def _recorded_source(
    session: Session, film: Film, lane: Lane
) -> tuple[Mapping[str, bytes] | None, str | None]:
    snapshot = read_snapshot(session, composition_id(lane.identity), film.listed.path)
    if snapshot is not None:
        return snapshot, "the cache"
    history = History(session.project.root)
    book = Book(session.project.ledger_folder, session.project.ledger)
    revision = history.last_writer(session.project.relative(book.path(film.listed.stem)))
    if revision is None:
        return None, None
    files = {
        path: data
        for path in sources_of(session, film)
        if (data := history.read(revision, path)) is not None
    }
    return (files, f"git {revision[:12]}") if film.listed.path in files else (None, None)
