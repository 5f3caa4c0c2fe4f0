"""What GitHub Actions shows of the gate: annotations beside the lines, and a summary of the step.

GitHub shows ten annotations of a kind in one step, so at most ten are made, the most severe first,
and the last one says how many there are more. The forms are GitHub's workflow commands and the
Markdown file that `GITHUB_STEP_SUMMARY` names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from nfbuild.dataclasses import dataclass
from nfbuild.errors import UsageError
from nfbuild.ledger.verdict import SEVERITY, Kind
from nfbuild.ops.gate.junit import headline, said
from nfbuild.ops.run.reports import VerifyReport, VerifyRow

MOST = 10
SUMMARY = "GITHUB_STEP_SUMMARY"
_SUMMARY_ROWS = 200
_SUMMARY_DETAILS = 30


@dataclass(frozen=True)
class Annotation:
    """One thing to see beside a line; `level` is `error`, `warning` or `notice`."""

    level: str
    title: str
    message: str
    file: str | None = None
    line: int | None = None

    def command(self) -> str:
        """Return the workflow command."""
        properties = {"file": self.file, "line": self.line, "title": self.title}
        told = ",".join(
            f"{name}={_property(str(value))}"
            for name, value in properties.items()
            if value is not None
        )
        return f"::{self.level} {told}::{_data(self.message)}"


def annotate(report: VerifyReport, failing: Iterable[str], prefix: str = "") -> list[Annotation]:
    """Return at most ten annotations, most severe first.

    `failing` are the verdicts that fail this gate. `prefix` is the project's folder below the
    repository: GitHub wants paths from there.
    """
    found = list(_all(report, frozenset(failing), prefix))
    if len(found) <= MOST:
        return found
    rest = len(found) - MOST + 1
    more = Annotation(
        "warning", "nfbuild", f"and {rest} more; the summary and the report have all of them"
    )
    return [*found[: MOST - 1], more]


def _all(report: VerifyReport, failing: frozenset[str], prefix: str) -> Iterator[Annotation]:
    for kind in SEVERITY:
        for row in report.rows:
            if row.verdict == kind:
                yield from _of_row(row, report, failing, prefix)
        if kind == "regression" and report.cache_lied:
            first = report.cache_lied[0]
            yield Annotation(
                "error",
                "nfbuild: the cache lied",
                f"{len(report.cache_lied)} frames, first `{first['composition']}`"
                f" frame {first['frame']}; the cache has been put right",
            )
    if report.compared == 0:
        yield Annotation("error", "nfbuild", "nothing was compared")
    for warning in report.warnings:
        yield Annotation(
            "warning",
            f"nfbuild: {warning['code']}",
            warning["message"],
            _from(prefix, warning["file"]),
            warning["line"],
        )


def _of_row(
    row: VerifyRow, report: VerifyReport, failing: frozenset[str], prefix: str
) -> Iterator[Annotation]:
    title = f"nfbuild: {row.verdict}"
    if row.verdict == "failed":
        for error in report.errors:
            if error.composition == row.name:
                file = _from(prefix, error.file or row.source)
                yield Annotation("error", title, error.message, file, error.line)
        return
    if row.verdict == "match":
        return
    placed = [one for one in row.reasons if one["part"] == "source" and one["line"] is not None]
    file, line = (placed[0]["file"], placed[0]["line"]) if placed else (row.source, 1)
    level = "error" if row.verdict in failing else "notice"
    if row.verdict != "excused" and row.excuse and row.excuse["outcome"] != "unneeded":
        level = "error"
    yield Annotation(
        level,
        title,
        "\n".join(said(row)[:12]),
        _from(prefix, file),
        None if file is None else line,
    )


def _from(prefix: str, file: str | None) -> str | None:
    return file if file is None or not prefix else f"{prefix}/{file}"


def summary(report: VerifyReport) -> str:
    """Return the step's summary in Markdown, worst first."""
    gate = "open" if report.exit_code == 0 else "shut"
    lines = [f"## nfbuild verify: the gate is {gate}", ""]
    totals = report.totals()
    counted = ", ".join(f"{totals[kind]} {kind}" for kind in SEVERITY if totals[kind])
    sample = f" (a sample, seed {report.seed})" if report.sampled else ""
    facts = f"{report.compared:,} frames compared in `{report.lane}`{sample}"
    lines += [f"{counted or 'no compositions'}; {facts}", ""]
    if report.cache_lied:
        lines += [f"**The cache lied** about {len(report.cache_lied)} frames.", ""]
    told = [row for kind in SEVERITY for row in report.rows if _is(row, kind)]
    if told:
        lines += ["| verdict | composition | frames moved | why |", "| --- | --- | --- | --- |"]
        lines += [_line(row) for row in told[:_SUMMARY_ROWS]]
        if len(told) > _SUMMARY_ROWS:
            lines.append(f"| | and {len(told) - _SUMMARY_ROWS} more | | |")
        lines.append("")
    for row in told[:_SUMMARY_DETAILS]:
        block = "\n".join(said(row))
        lines += [f"<details><summary>{_html(row.name)}</summary>", "", _fenced(block), ""]
        lines += ["</details>", ""]
    return "\n".join(lines) + "\n"


def _is(row: VerifyRow, kind: Kind) -> bool:
    return row.verdict == kind and (kind != "match" or row.identity_moved)


def _line(row: VerifyRow) -> str:
    why = ", ".join(dict.fromkeys(reason["part"] for reason in row.reasons))
    if row.verdict == "regression":
        why = row.note or "no input moved"
    if row.excuse is not None:
        why = str(row.excuse["fact"])
    moved = headline(row).partition(": ")[2]
    verdict = f"**{row.verdict.upper()}**" if row.verdict == "regression" else row.verdict
    return f"| {verdict} | {_cell(row.name)} | {_cell(moved)} | {_cell(why)} |"


def _cell(text: str) -> str:
    return _html(text).replace("|", "\\|").replace("\n", " ")


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"


def append_summary(text: str, environment: Mapping[str, str]) -> str | None:
    """Append to the step's summary file; returns its path, None where there is none."""
    path = environment.get(SUMMARY)
    if not path:
        return None
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as fault:
        raise UsageError(f"`{path}` cannot be written: {fault.strerror or 'unknown'}") from None
    return path


def below_repository(root: str, environment: Mapping[str, str]) -> str:
    """Return the project's folder below the checkout, with forward slashes; empty for itself."""
    top = environment.get("GITHUB_WORKSPACE")
    if not top:
        return ""
    below = os.path.relpath(os.path.realpath(root), os.path.realpath(top)).replace(os.sep, "/")
    return "" if below == "." or below.startswith("../") else below


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
