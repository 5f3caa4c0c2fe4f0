"""What `verify` says: one screen that names what moved, why, where to look and what to do.

Worst first. Also which files it writes beside the answer. Not here: what is in them (`ops.gate`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nfbuild.cli.plain import printable, put, put_json, say
from nfbuild.cli.telling import describe, reason_lines
from nfbuild.cli.terminal import follow
from nfbuild.ledger.verdict import SEVERITY

if TYPE_CHECKING:
    from nfbuild.cli.terminal import Voice
    from nfbuild.ops.run.reports import VerifyReport, VerifyRow

_HINTS = {
    "changed": "`nfbuild` records an edit; `nfbuild ledger accept {name}` takes another toolchain",
    "regression": "no input moved, the picture did: `nfbuild explain {name} --frame {frame}`",
    "missing": "`nfbuild build {name}` records it; commit the entry",
    "orphaned": "`nfbuild ledger prune` removes the entry",
}


def run_verify(
    voice: Voice,
    start: str,
    names: list[str],
    *,
    junit: str | None = None,
    github: bool | None = None,
    jobs: int | None = None,
    **options: Any,
) -> int:
    """Verify, print the answer, and write what was asked for or is expected here."""
    from nfbuild.ops.run.outputs import (  # noqa: PLC0415
        check_output,
        writable,
        write_output,
    )
    from nfbuild.ops.run.session import open_session  # noqa: PLC0415  each verb loads what it needs
    from nfbuild.ops.verify import (  # noqa: PLC0415
        VerifyOptions,
        failing_verdicts,
        verify,
        verify_settings,
    )

    for path in (options.get("report"), junit):
        check_output(path)
    chosen = VerifyOptions(names=tuple(names), start=start, **options)
    with open_session(start, verify_settings(jobs)) as session:
        root = session.project.root
        report = follow(verify(session, chosen), voice)
    print_verify(report, voice)
    failing = failing_verdicts(chosen.fail_on)
    written = [] if chosen.report is None else [chosen.report]
    if junit is not None:
        from nfbuild.ops.gate.junit import junit as document  # noqa: PLC0415

        write_output(junit, [writable(document(report, failing))])
        written.append(junit)
    _tell_github(report, failing, root, asked=github, as_json=voice.as_json)
    if not voice.quiet:
        for path in written:
            say(f"wrote {path}")
    return report.exit_code


def _tell_github(
    report: VerifyReport, failing: tuple[str, ...], root: str, *, asked: bool | None, as_json: bool
) -> None:
    if asked is False or not (asked or os.environ.get("GITHUB_ACTIONS") == "true"):
        return
    from nfbuild.ops.gate import annotations  # noqa: PLC0415  elsewhere nobody reads them

    prefix = annotations.below_repository(root, os.environ)
    for one in annotations.annotate(report, failing, prefix):
        # GitHub reads both streams; with --json stdout holds one document and nothing else.
        (say if as_json else put)(printable(one.command()))
    annotations.append_summary(annotations.summary(report), os.environ)


def print_verify(report: VerifyReport, voice: Voice) -> None:
    """Print the gate's answer as text or as JSON."""
    if voice.as_json:
        put_json(report.to_json())
        return
    for kind in SEVERITY:
        for row in report.rows:
            if row.verdict == kind and _is_said(row, voice):
                _print_row(row)
    for lie in report.cache_lied:
        put(
            f"the cache lied: `{lie['composition']}` frame {lie['frame']}:"
            f" kept {lie['cached'][:23]}, drawn {lie['drawn'][:23]}"
        )
        put("hint: `nfbuild build --no-cache` replaces what it says")
    if not voice.quiet or report.exit_code:
        put(_last_line(report))


def _is_said(row: VerifyRow, voice: Voice) -> bool:
    if row.verdict == "match":
        return voice.verbose or row.identity_moved or bool(row.across)
    return row.verdict != "failed"  # its error was said when it happened


def _print_row(row: VerifyRow) -> None:
    name = row.verdict.upper() if row.verdict in ("regression", "excused") else row.verdict
    put("verify: " + describe(row.name, name, row.moved, row.frames) + _times(row))
    for line in reason_lines(row.reasons):
        put(f"  {line}")
    if row.across:
        put(f"  compared with the lane {', '.join(row.across)}: this one has none")
    if row.identity_moved and row.verdict == "match":
        put("  the picture is the same, its inputs moved: `nfbuild` refreshes the entry")
    if row.note:
        put(f"  {row.note}")
    if row.excuse is not None:
        put(f"  excuse ({row.excuse['outcome']}): {row.excuse['fact']}")
        put(f"  because: {row.excuse['reason']}; until {row.excuse['until']}")
    hint = _HINTS.get(row.verdict)
    if hint is not None:
        frame = row.moved[0][0] if row.moved else 0
        put("hint: " + hint.format(name=row.name, frame=frame))


def _times(row: VerifyRow) -> str:
    if not row.moved or row.rate is None:
        return ""
    from fractions import Fraction  # noqa: PLC0415  only where something moved

    rate = Fraction(row.rate)
    first, last = row.moved[0][0], row.moved[-1][1]
    return f", {float(first / rate):.3f} s to {float((last + 1) / rate):.3f} s"


def _last_line(report: VerifyReport) -> str:
    totals: dict[str, Any] = report.totals()
    counted = ", ".join(f"{count} {kind}" for kind, count in totals.items() if count)
    sampled = f" of a sample (seed {report.seed})" if report.sampled else ""
    if not report.compared:
        return f"verify: nothing was compared: {counted or 'no compositions'}"
    return f"verify: {counted}; {report.compared:,} frames compared{sampled} in {report.lane}"
