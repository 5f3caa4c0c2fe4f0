"""`ledger accept`: take what another toolchain draws, or a regression, with a reason.

Draws everything afresh and shows how many frames and pixels moved, and by how much; writes only
when told to. The reason stays in the lane for as long as its digest does. An edit is no matter of
this verb: `build` records it. Two pictures under one key are never taken.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import UsageError, worst_exit
from nfbuild.events import Event, Failed
from nfbuild.ledger.excuse import Measured
from nfbuild.ledger.verdict import SEVERITY
from nfbuild.ledger.write_policy import decide, recorded
from nfbuild.ops.causes.snapshot import keep_snapshot
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.gate.moves import Judgement, Move, draw_again, find_moves, measure, rasters
from nfbuild.ops.run.outputs import write_output
from nfbuild.ops.run.reports import talk_json
from nfbuild.ops.run.session import Session
from nfbuild.ops.verify import Verification, VerifyOptions, draw_and_judge, present_of

if TYPE_CHECKING:
    from nfbuild.pixels.compare import Raster

_SHEET_ROWS = 12
"""How many moved frames of one composition a contact sheet shows, evenly spread."""
_SHEET_CELL = 320


@dataclass(frozen=True)
class AcceptOptions:
    """What is to be accepted; `sheet` is the path of a contact sheet (PNG) to write."""

    names: tuple[str, ...] = ()
    start: str = "."
    reason: str | None = None
    yes: bool = False
    sheet: str | None = None


@dataclass
class AcceptRow:
    """One composition: what moved, and what became of its entry.

    `action` is `accepted`, `would accept`, `nothing` or `refused`; `note` says why. `pixels` and
    `step` are the largest of one frame, `total` all pixels of the `measured` frames that differ.
    """

    name: str
    verdict: str
    action: str = "nothing"
    note: str | None = None
    frames: int = 0
    moved: int = 0
    measured: int = 0
    pixels: int = 0
    total: int = 0
    step: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the row of the JSON document."""
        return dict(vars(self))


@dataclass
class AcceptReport:
    """What was shown, and what was written."""

    rows: list[AcceptRow] = field(default_factory=list)
    errors: list[Failed] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    sheet: str | None = None

    @property
    def exit_code(self) -> int:
        """0, or the code of a composition that could not be drawn; 1 where one was refused."""
        refused = {1} if any(row.action == "refused" for row in self.rows) else set()
        return worst_exit(refused | {error.exit_code for error in self.errors})

    def to_json(self) -> dict[str, Any]:
        """Return the document of `ledger accept --json`."""
        return {
            "schema": "nfbuild.ledger-accept/1",
            "ok": self.exit_code == 0,
            "compositions": [row.to_json() for row in self.rows],
            "sheet": self.sheet,
            "errors": [talk_json(error) for error in self.errors],
            "warnings": self.warnings,
        }


def accept(session: Session, options: AcceptOptions) -> Generator[Event, None, AcceptReport]:
    """Draw, show, and with `yes` write; yields events. Raises `UsageError` without a reason."""
    reason = None if options.reason is None else options.reason.strip()
    if options.yes and not reason:
        raise UsageError(
            "a change is accepted for a reason",
            hint='`--reason "ThorVG 1.1 rounds corners otherwise"` is kept in the entry',
        )
    chosen = VerifyOptions(names=options.names, start=options.start)
    run, drawing, _ = yield from draw_and_judge(session, chosen, png=True)
    report = AcceptReport(errors=run.report.errors, warnings=run.report.warnings)
    cells: list[Raster] = []
    for one in run.judged:
        row = AcceptRow(one.film.name, one.verdict.kind, frames=one.film.scene.frames)
        report.rows.append(row)
        _decide(run, one, row)
        if row.action != "would accept":
            continue
        moves = find_moves(drawing, one, one.verdict.moved)
        yield from draw_again(drawing, [move.new for move in moves if move.new is not None])
        _measure(drawing, moves, row)
        if options.sheet is not None:
            cells.extend(_cells(drawing, moves))
        if options.yes:
            _write(run, drawing, one, reason)
            row.action = "accepted"
    report.rows.sort(key=lambda row: (SEVERITY.index(_kind(row)), row.name))
    if options.sheet is not None and cells:
        _write_sheet(options.sheet, cells)
        report.sheet = options.sheet
    return report


def _kind(row: AcceptRow) -> Any:
    return row.verdict


def _decide(run: Verification, one: Judgement, row: AcceptRow) -> None:
    verdict = one.verdict
    if verdict.kind == "match":
        return
    if verdict.unsound:
        row.action = "refused"
        row.note = "two drawings under one key gave different pixels: there is nothing to record"
        return
    decision = decide(verdict, one.entry, run.report.lane, one.film.name)
    if decision.action == "untouched":
        row.action = "would accept"
    else:
        row.note = f"an edit or a new film: `nfbuild build {one.film.name}` records it"


def _measure(drawing: Drawing, moves: Sequence[Move], row: AcceptRow) -> None:
    row.moved = sum(len(move.frames) for move in moves)
    for move, found in measure(drawing, moves):
        _add(row, found, len(move.frames))
    if row.measured < row.moved:
        absent = row.moved - row.measured
        row.note = (
            f"{absent} of the moved frames have no recorded picture in a cache or shared tier"
        )


def _add(row: AcceptRow, found: Measured, frames: int) -> None:
    row.measured += frames
    row.pixels = max(row.pixels, found.pixels)
    row.step = max(row.step, found.step)
    row.total += found.pixels * frames


def _write(run: Verification, drawing: Drawing, one: Judgement, reason: str | None) -> None:
    session = run.session
    facts = {"processor": session.toolchain.level}
    drawing.recall.remember_film(one.film, run.questions)
    entry = recorded(
        one.entry, run.report.lane, present_of(run, one.film), reason=reason, facts=facts
    )
    run.book.write(one.film.listed.stem, entry)
    keep_snapshot(session, one.film)


# --- the contact sheet --------------------------------------------------------------------------


def _cells(drawing: Drawing, moves: Sequence[Move]) -> list[Raster]:
    """Return rows of three: as recorded, as drawn now, the difference; all reduced."""
    from nfbuild.pixels.compare import heat_map, reduced  # noqa: PLC0415  NumPy, where needed

    cells: list[Raster] = []
    last = len(moves) - 1
    count = min(_SHEET_ROWS, len(moves))
    for at in dict.fromkeys(part * last // max(1, count - 1) for part in range(count)):
        old, new = rasters(drawing, moves[at])
        if old is None or new is None or (old.width, old.height) != (new.width, new.height):
            continue
        three = (old, new, heat_map(old, new))
        cells.extend(reduced(raster, _SHEET_CELL) for raster in three)
    return cells


def _write_sheet(path: str, cells: Sequence[Raster]) -> None:
    from nfbuild.ops.gate.report.pack import pack  # noqa: PLC0415  as above
    from nfbuild.pixels.compare import contact_sheet  # noqa: PLC0415

    sheet = contact_sheet(cells, columns=3, largest=_SHEET_CELL)
    write_output(path, [pack(sheet)])
