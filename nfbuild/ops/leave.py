"""Leaving the state behind that a build with nothing to do rests on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nfbuild.digests import file_digest
from nfbuild.ops.nothing import state_path
from nfbuild.ops.run.state import State, Witness, filesystem_now, stat_of, wait_past, write_state

if TYPE_CHECKING:
    from nfbuild.ledger.book import Book
    from nfbuild.ops.frames.underway import Build


def leave_state(run: Build, book: Book) -> None:
    """Write down everything that the report of a good build rests on; never fails the build."""
    session = run.session
    folder = session.project.cache.folder
    if not session.began:
        return
    state = State(began=session.began, toolchain=session.toolchain.core)
    witnesses = state.witnesses
    for path in session.project.sources:
        witnesses[path] = _present(path)
    for path in (*run.discovery.folders, *run.discovery.absent, *_ledger_folders(book)):
        witnesses[path] = Witness(stat_of(path))
    witnesses.update(session.toolchain.watched)
    witnesses.update(session.faces.watched)
    witnesses.update(session.decoder_witnesses)
    state.common = list(witnesses)
    written = _ledger_folders(book)
    for film in run.films:
        used: list[str] = []
        for path in film.used:
            witnesses[path] = session.files.witness(path)
            used.append(path)
        entry = book.path(film.listed.stem)
        witnesses[entry] = _present(entry)
        written.append(entry)
        state.compositions[film.name] = [*used, entry]
    state.rows = {row.name: row.to_json() for row in run.report.rows}
    state.totals = run.report.to_json()["totals"]
    state.warnings = run.report.warnings
    for product in run.products:
        state.exports.append([product.folder, product.name, product.fingerprint])
    for path in run.watched:
        witnesses[path] = session.files.witness(path)
    try:
        _age(state, folder, written)
        write_state(state_path(folder, session.project.root), state)
    except OSError:
        # A full disk or a read-only cache: the next build looks at everything, as it must.
        return


def _age(state: State, folder: str, written: list[str]) -> None:
    """Wait until files that this build wrote are provably older than the state.

    Inputs are judged by the time at which the run began. What was written since then (entries,
    exports) was read back above; once the clock has moved on, a later write cannot have the same
    times.
    """
    stats = [state.witnesses[path].stat for path in written]
    youngest = max((max(stat[1], stat[2]) for stat in stats if stat), default=0)
    if youngest >= state.began:
        wait_past(folder, youngest)
        if filesystem_now(folder) > youngest:
            for path in written:
                if stat_of(path) == state.witnesses[path].stat:
                    state.settled.append(path)


def _present(path: str) -> Witness:
    stat = stat_of(path)
    if not stat:
        return Witness(stat)
    with open(path, "rb") as file:
        return Witness(stat, file_digest(file.read()))


def _ledger_folders(book: Book) -> list[str]:
    """Return the ledger's folders: an entry that appears or goes moves one of them."""
    return [folder for folder, _, _ in os.walk(book.folder)] or [book.folder]
