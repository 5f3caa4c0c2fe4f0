"""`ledger check`, `show`, `prune` and `import`: looking after the committed promise.

`check`, `show` and `prune` draw nothing and start no worker. `import` draws every composition that
a nanoframes ledger names, and writes entries for those whose SHA-256 digest agrees.
Not here: what is right and wrong (`ledger`), taking a change (`accept`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import shown
from nfbuild.errors import EXIT_GATE, ProjectError, UsageError, worst_exit
from nfbuild.events import Event, Failed, Planned
from nfbuild.ledger.book import Book
from nfbuild.ledger.check import Finding
from nfbuild.ledger.check import check as check_shape
from nfbuild.ledger.entry import Entry
from nfbuild.ledger.importing import Imported, PeerEntry, judge_import, pair, parse
from nfbuild.ledger.matrix import Matrix, matrix
from nfbuild.ledger.sequence import PeerSequence
from nfbuild.ledger.verdict import judge
from nfbuild.ledger.write_policy import decide, recorded
from nfbuild.ops.causes.snapshot import keep_snapshot
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.gate.judging import present_of
from nfbuild.ops.run.reports import failure, identity_json, talk_json
from nfbuild.ops.run.session import Session
from nfbuild.project import Project, discover, select
from nfbuild.project.discover import name_of

# --- check --------------------------------------------------------------------------------------


@dataclass
class CheckReport:
    """What is wrong with the ledger's shape; `entries` is how many could be read."""

    findings: Sequence[Finding]
    entries: int

    @property
    def exit_code(self) -> int:
        """0, or 1 where something is wrong."""
        return EXIT_GATE if self.findings else 0

    def to_json(self) -> dict[str, Any]:
        """Return the document of `ledger check --json`."""
        return {
            "schema": "nfbuild.ledger-check/1",
            "ok": self.exit_code == 0,
            "entries": self.entries,
            "findings": [vars(finding) for finding in self.findings],
        }


def check(project: Project) -> CheckReport:
    """Check the whole ledger without drawing."""
    book = _book(project)
    compositions = {one.stem: one.name for one in discover(project).compositions}
    orphans = {stem: name_of(project, stem) for stem in book.shelf(compositions).orphaned}
    checked = check_shape(book, compositions, orphans)
    return CheckReport(checked.findings, len(checked.entries))


# --- show ---------------------------------------------------------------------------------------


@dataclass
class ShowReport:
    """Entries by composition name, and which lanes agree on them."""

    entries: Mapping[str, Entry]
    matrix: Matrix
    errors: list[Failed] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0, or the code of an entry that cannot be read."""
        return worst_exit({error.exit_code for error in self.errors})

    def to_json(self) -> dict[str, Any]:
        """Return the document of `ledger show --json`."""
        return {
            "schema": "nfbuild.ledger-show/1",
            "ok": self.exit_code == 0,
            "lanes": list(self.matrix.lanes),
            "compositions": [
                {
                    "name": row.name,
                    "cells": dict(row.cells),
                    "groups": dict(row.group),
                    "differs": {
                        tag: [list(span) for span in row.frames[tag]] for tag in row.frames
                    },
                    "lanes": _lanes(self.entries[row.name]),
                }
                for row in self.matrix.rows
            ],
            "errors": [talk_json(error) for error in self.errors],
        }


def _lanes(entry: Entry) -> dict[str, Any]:
    return {
        tag: {
            "digest": shown(lane.digest),
            "frames": lane.frames,
            "drawn": lane.runs.drawn(),
            "sampled": lane.sampled,
            "rate": str(lane.rate),
            "width": lane.width,
            "height": lane.height,
            "identity": identity_json(lane.identity),
            "reason": lane.reason,
            "facts": dict(lane.facts),
        }
        for tag, lane in sorted(entry.lanes.items())
    }


def show(project: Project, names: Sequence[str], start: str) -> ShowReport:
    """Read the entries of the compositions that `names` mean; a composition without is left out."""
    book = _book(project)
    entries: dict[str, Entry] = {}
    errors: list[Failed] = []
    for one in select(project, discover(project).compositions, names, start):
        try:
            page = book.read(one.stem, one.name)
        except ProjectError as error:
            errors.append(failure(error, one.name))
            continue
        if page is not None:
            entries[one.name] = page.entry
    return ShowReport(entries, matrix(entries), errors)


# --- prune --------------------------------------------------------------------------------------


@dataclass
class PruneReport:
    """Entries without composition: which are removed, and which files are none by their content.

    `missing` are compositions without entry: one of them may be a film that was renamed.
    """

    removed: Sequence[str]
    left: Sequence[str]
    missing: Sequence[str]
    dry_run: bool = False
    exit_code: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the document of `ledger prune --json`."""
        return {
            "schema": "nfbuild.ledger-prune/1",
            "ok": True,
            "dry_run": self.dry_run,
            "removed": list(self.removed),
            "left": list(self.left),
            "missing": list(self.missing),
        }


def prune(project: Project, *, dry_run: bool = False) -> PruneReport:
    """Remove the entries that no composition has any more."""
    book = _book(project)
    compositions = {one.stem: one.name for one in discover(project).compositions}
    shelf = book.shelf(compositions)
    plan = book.prunable(shelf.orphaned)
    if not dry_run:
        book.prune(plan)
    return PruneReport(
        removed=[str(book.place(stem)) for stem in plan],
        left=[str(book.place(stem)) for stem in shelf.orphaned if stem not in plan],
        missing=[compositions[stem] for stem in shelf.missing],
        dry_run=dry_run,
    )


# --- import -------------------------------------------------------------------------------------


@dataclass
class ImportRow:
    """One entry of the peer's ledger: what became of it, and whether an entry was written."""

    imported: Imported
    written: bool = False
    note: str | None = None


@dataclass
class ImportReport:
    """What a nanoframes ledger promised, and what is so here."""

    rows: list[ImportRow] = field(default_factory=list)
    errors: list[Failed] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 when everything agrees, 1 where something does not, 3 where it could not be drawn."""
        differs = any(row.imported.outcome != "agrees" or row.note for row in self.rows)
        return worst_exit(
            ({EXIT_GATE} if differs else set()) | {error.exit_code for error in self.errors}
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document of `ledger import --json`."""
        return {
            "schema": "nfbuild.ledger-import/1",
            "ok": self.exit_code == 0,
            "entries": [
                {**vars(row.imported), "written": row.written, "note": row.note}
                for row in self.rows
            ],
            "errors": [talk_json(error) for error in self.errors],
        }


def import_ledger(session: Session, file: str) -> Generator[Event, None, ImportReport]:
    """Draw what a nanoframes ledger names, compare, and write entries for what agrees."""
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except OSError as fault:
        raise UsageError(f"`{file}` cannot be read: {fault.strerror or 'unknown'}") from None
    promised = parse(data, file)
    listed = discover(session.project).compositions
    names = pair(promised, {one.path: one.name for one in listed})
    by_name = {one.name: one for one in listed}
    report = ImportReport()
    films: dict[str, Film] = {}
    for entry in promised:
        name = names.get(entry.path)
        if name is not None and not entry.sampled and name not in films:
            films[name] = load_film(session, len(films), by_name[name], Fraction(1))
    questions = Questions()
    drawing = Drawing(session, list(films.values()), questions, Recall(session), sha256=True)
    for film in films.values():
        if film.error is None:
            ask(session, film, questions, range(film.scene.frames))
    numbers = list(questions.numbers(State.UNKNOWN))
    frames = sum(len(film.frames) for film in films.values())
    yield Planned(len(films), frames, len(numbers), len(numbers))
    yield from drawing.draw(numbers)
    for entry in promised:
        name = names.get(entry.path)
        taken = None if name is None else films.get(name)
        row = _compare(drawing, entry, name, taken)
        report.rows.append(row)
        if taken is not None and taken.error is not None:
            report.errors.append(failure(taken.error, name))
            yield report.errors[-1]
        if row.imported.outcome == "agrees" and taken is not None:
            _record(session, drawing, taken, row)
    return report


def _compare(drawing: Drawing, entry: PeerEntry, name: str | None, film: Film | None) -> ImportRow:
    if film is None:
        return ImportRow(judge_import(entry, name, None))
    if film.error is not None:
        return ImportRow(judge_import(entry, name, None, film.error.message))
    peer = PeerSequence()
    for number in film.frames:
        peer.add(drawing.peer[number])
    return ImportRow(judge_import(entry, name, (len(film.frames), peer.digest())))


def _record(session: Session, drawing: Drawing, film: Film, row: ImportRow) -> None:
    """Write the entry of a film that agrees with the peer, as far as `build` would write it."""
    book = _book(session.project)
    try:
        page = book.read(film.listed.stem, film.name)
    except ProjectError as error:
        row.note = error.message
        return
    entry = None if page is None else page.entry
    tag = session.toolchain.lane
    present = present_of(film, drawing.questions)
    decision = decide(judge(entry, tag, present), entry, tag, film.name)
    drawing.recall.remember_film(film, drawing.questions)
    if decision.action == "untouched":
        row.note = decision.hint
        return
    facts = {"processor": session.toolchain.level}
    row.written = book.write(film.listed.stem, recorded(entry, tag, present, facts=facts))
    keep_snapshot(session, film)


def _book(project: Project) -> Book:
    return Book(project.ledger_folder, project.ledger)
