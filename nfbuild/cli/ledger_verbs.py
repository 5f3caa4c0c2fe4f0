"""The `ledger` commands as functions: call the operation, print what it returns.

Not here: option names (`app`), what an operation decides (`ops.ledgers`, `ops.accept`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nfbuild.cli.plain import printable, put, put_json, say, spoken
from nfbuild.cli.telling import describe, speaking
from nfbuild.cli.terminal import Voice, follow

if TYPE_CHECKING:
    from nfbuild.ledger.matrix import Matrix
    from nfbuild.ops.accept import AcceptReport, AcceptRow
    from nfbuild.ops.ledgers import ImportReport, ShowReport

_MARKS = {"sampled": "sample", "stale": "stale", "absent": "-"}


@speaking
def ledger_check(voice: Voice, start: str) -> int:
    """`nfbuild ledger check`."""
    from nfbuild.ops.ledgers import check  # noqa: PLC0415  each verb loads what it needs
    from nfbuild.project import load  # noqa: PLC0415

    report = check(load(start))
    if voice.as_json:
        put_json(report.to_json())
        return report.exit_code
    for finding in report.findings:
        message = f"`{finding.name}` {finding.message}"
        put(spoken(message, finding.file, finding.line, finding.hint))
    if not voice.quiet:
        count = len(report.findings)
        found = "in shape" if not count else f"{count} finding{'' if count == 1 else 's'}"
        say(f"ledger: {report.entries} entries, {found}")
    return report.exit_code


@speaking
def ledger_show(voice: Voice, start: str, names: list[str]) -> int:
    """`nfbuild ledger show`."""
    from nfbuild.ops.ledgers import show  # noqa: PLC0415
    from nfbuild.project import load  # noqa: PLC0415

    report = show(load(start), names, start)
    if voice.as_json:
        put_json(report.to_json())
        return report.exit_code
    for error in report.errors:
        say("error: " + spoken(error.message, error.file, error.line, error.hint))
    for line in matrix_lines(report.matrix):
        put(printable(line))
    if names:
        _print_entries(report)
    return report.exit_code


def matrix_lines(matrix: Matrix) -> list[str]:
    """Return the matrix as lines: lanes across, compositions down.

    Lanes with one letter drew one film, pixel for pixel; below a row stand the frames in which the
    other letters differ from `A`.
    """
    if not matrix.rows:
        return ["no entries"]
    wide = max(len("composition"), *(len(row.name) for row in matrix.rows))
    columns = [max(len(tag), 6) for tag in matrix.lanes]
    cells = [tag.ljust(width) for tag, width in zip(matrix.lanes, columns, strict=True)]
    lines = [f"{'composition'.ljust(wide)}  {'  '.join(cells)}".rstrip()]
    for row in matrix.rows:
        cells = []
        for tag, width in zip(matrix.lanes, columns, strict=True):
            mark = _MARKS.get(row.cells[tag]) or _letter(row.group[tag])
            cells.append(mark.ljust(width))
        lines.append(f"{row.name.ljust(wide)}  {'  '.join(cells)}".rstrip())
        for tag, ranges in row.frames.items():
            lines.append(f"  {describe(tag, 'differs', list(ranges), _frames(ranges))}")
    return lines


def _frames(ranges: Any) -> int:
    return int(sum(last - first + 1 for first, last in ranges))


def _letter(group: int) -> str:
    return chr(ord("A") + group - 1) if group <= 26 else str(group)


def _print_entries(report: ShowReport) -> None:
    for row in report.to_json()["compositions"]:
        put()
        put(printable(row["name"]))
        for tag, lane in row["lanes"].items():
            sample = f" (sample of {lane['drawn']})" if lane["sampled"] else ""
            size = f"{lane['width']} x {lane['height']}"
            put(f"  {tag}: {lane['frames']} frames{sample} at {lane['rate']} a second, {size}")
            put(f"    {lane['digest']}")
            for part, digest in lane["identity"].items():
                put(f"    {part}: {digest}")
            for name, fact in lane["facts"].items():
                put(f"    {name}: {fact}")
            if lane["reason"]:
                put(printable(f"    accepted: {lane['reason']}"))


@speaking
def ledger_prune(voice: Voice, start: str, *, dry_run: bool) -> int:
    """`nfbuild ledger prune`."""
    from nfbuild.ops.ledgers import prune  # noqa: PLC0415
    from nfbuild.project import load  # noqa: PLC0415

    report = prune(load(start), dry_run=dry_run)
    if voice.as_json:
        put_json(report.to_json())
        return report.exit_code
    for path in report.removed:
        put(printable(f"{'would remove' if dry_run else 'removed'} {path}"))
    for path in report.left:
        say(printable(f"left {path}: it is no entry by its content"))
    if not voice.quiet and not report.removed:
        say("no entry is without its composition")
    if report.removed and report.missing and dry_run:
        say("hint: build first: a composition that was renamed takes its entry along")
    return report.exit_code


@speaking
def ledger_accept(voice: Voice, start: str, names: list[str], **options: Any) -> int:
    """`nfbuild ledger accept`."""
    from nfbuild.ops.accept import AcceptOptions, accept  # noqa: PLC0415
    from nfbuild.ops.run.session import open_session  # noqa: PLC0415
    from nfbuild.ops.verify import verify_settings  # noqa: PLC0415

    jobs = options.pop("jobs")
    chosen = AcceptOptions(names=tuple(names), start=start, **options)
    with open_session(start, verify_settings(jobs)) as session:
        report = follow(accept(session, chosen), voice)
    if voice.as_json:
        put_json(report.to_json())
        return report.exit_code
    _print_accept(report, voice, yes=chosen.yes)
    return report.exit_code


def _print_accept(report: AcceptReport, voice: Voice, *, yes: bool) -> None:
    for row in report.rows:
        if row.action != "nothing" or row.note or voice.verbose:
            put(printable(_accept_line(row)))
            if row.note:
                put(printable(f"  {row.note}"))
    taken = sum(row.action in ("accepted", "would accept") for row in report.rows)
    if report.sheet is not None:
        say(f"wrote {report.sheet}")
    if not taken and not voice.quiet:
        say("there is nothing to accept")
    elif taken and not yes:
        say('hint: nothing was written; `--yes --reason "..."` takes it')


def _accept_line(row: AcceptRow) -> str:
    line = f"`{row.name}` {row.verdict}"
    if row.moved:
        line += f": {row.moved} of {row.frames} frames moved"
    if row.measured:
        line += (
            f", {row.total:,} pixels in all, at most {row.pixels:,} in one frame,"
            f" by at most {row.step}/255"
        )
    return f"{line}; {row.action}"


@speaking
def ledger_import(voice: Voice, start: str, file: str, *, jobs: int | None) -> int:
    """`nfbuild ledger import`."""
    from nfbuild.ops.ledgers import import_ledger  # noqa: PLC0415
    from nfbuild.ops.run.session import open_session  # noqa: PLC0415
    from nfbuild.ops.verify import verify_settings  # noqa: PLC0415

    with open_session(start, verify_settings(jobs)) as session:
        report = follow(import_ledger(session, file), voice)
    if voice.as_json:
        put_json(report.to_json())
    else:
        _print_import(report, voice)
    return report.exit_code


def _print_import(report: ImportReport, voice: Voice) -> None:
    for row in report.rows:
        one = row.imported
        if one.outcome == "agrees" and not row.note and voice.quiet:
            continue
        written = ", entry written" if row.written else ""
        put(printable(f"{one.path}: {one.outcome}: {one.fact}{written}"))
        if row.note:
            put(printable(f"  the entry was left as it is: {row.note}"))
    agreed = sum(row.imported.outcome == "agrees" for row in report.rows)
    if not voice.quiet:
        say(f"{agreed} of {len(report.rows)} entries agree")
