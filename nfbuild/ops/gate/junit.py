"""The gate's answer as JUnit XML, the form that every CI system shows.

A composition is a test case. What fails the gate is a `failure`, what could not be drawn an
`error`; an excused composition passes and says so in its output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from nfbuild.events import Failed
from nfbuild.ops.run.reports import VerifyReport, VerifyRow

# What XML 1.0 has no way to write, not even as a reference.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MOST_REASONS = 50


def junit(report: VerifyReport, failing: Iterable[str]) -> str:
    """Return the document; `failing` are the verdicts that fail this gate."""
    failing = frozenset(failing)
    cases: list[str] = []
    failures = errors = 0
    for row in report.rows:
        if row.verdict == "failed":
            errors += 1
        elif row.verdict in failing or _dead(row):
            failures += 1
        cases.append(_case(row, report, failing))
    for fact in _of_the_gate(report):
        failures += 1
        cases.append(_open_case("the gate") + f"<failure{_says(fact)}/></testcase>")
    head = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    name = "nfbuild verify (sampled)" if report.sampled else "nfbuild verify"
    properties = "".join(
        f"<property name={_attribute(key)} value={_attribute(value)}/>"
        for key, value in (
            ("lane", report.lane),
            ("seed", str(report.seed)),
            ("sampled", "true" if report.sampled else "false"),
            ("compared", str(report.compared)),
        )
    )
    body = "\n".join(cases)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="nfbuild" {head}>\n'
        f"<testsuite name={_attribute(name)} {head}>\n<properties>{properties}</properties>\n"
        f"{body}\n</testsuite>\n</testsuites>\n"
    )


def _of_the_gate(report: VerifyReport) -> Iterator[str]:
    """Yield what fails the gate and is no composition's own."""
    if report.compared == 0:
        yield "nothing was compared"
    if report.cache_lied:
        first = report.cache_lied[0]
        where = f"first `{first['composition']}` frame {first['frame']}"
        yield f"the cache lied about {len(report.cache_lied)} frames, {where}"


def _case(row: VerifyRow, report: VerifyReport, failing: frozenset[str]) -> str:
    parts = [_open_case(row.name, row.source)]
    text = "\n".join(said(row))
    if row.verdict == "failed":
        told = [error for error in report.errors if error.composition == row.name]
        facts = [
            f"{error.file or row.source}{'' if error.line is None else f':{error.line}'}:"
            f" {error.message}"
            for error in told
        ]
        message = facts[0] if facts else "could not be drawn"
        parts.append(f"<error{_says(message)} type={_attribute(_code(told))}>")
        parts.append(f"{_text(chr(10).join(facts))}</error>")
    elif row.verdict in failing or _dead(row):
        kind = _attribute(row.verdict)
        parts.append(f"<failure{_says(headline(row))} type={kind}>{_text(text)}</failure>")
    elif row.verdict != "match" or row.identity_moved or row.across:
        parts.append(f"<system-out>{_text(text)}</system-out>")
    return "".join([*parts, "</testcase>"])


def _code(told: Sequence[Failed]) -> str:
    return told[0].code if told else "failed"


def _dead(row: VerifyRow) -> bool:
    return row.excuse is not None and row.excuse["outcome"] in ("expired", "exceeded")


def headline(row: VerifyRow) -> str:
    """Return one line about a composition: its verdict and which frames moved."""
    count = sum(last - first + 1 for first, last in row.moved)
    if not count:
        return f"`{row.name}` {row.verdict}"
    every = [f"{a}" if a == b else f"{a}-{b}" for a, b in row.moved]
    shown = ", ".join(every[:8]) + (f" and {len(every) - 8} more ranges" if len(every) > 8 else "")
    return f"`{row.name}` {row.verdict}: {count} of {row.frames} frames ({shown})"


def said(row: VerifyRow) -> list[str]:
    """Return everything there is to say about a composition, line by line."""
    lines = [headline(row)]
    if row.note:
        lines.append(row.note)
    for reason in row.reasons[:_MOST_REASONS]:
        line = "" if reason["line"] is None else f":{reason['line']}"
        place = f" ({reason['file']}{line})" if reason["file"] else ""
        lines.append(f"{reason['part']}: {reason['what']}{place}{_became(reason)}")
    if len(row.reasons) > _MOST_REASONS:
        lines.append(f"and {len(row.reasons) - _MOST_REASONS} more inputs")
    if row.verdict == "regression" and not row.reasons:
        lines.append("every declared input is as recorded")
    if row.across:
        lines.append(f"compared with the lane {', '.join(row.across)}: this one has none")
    if row.identity_moved and row.verdict == "match":
        lines.append("the picture is the same, its inputs moved: a build refreshes the entry")
    if row.excuse is not None:
        lines.append(f"excuse ({row.excuse['outcome']}): {row.excuse['fact']}")
        lines.append(f"because: {row.excuse['reason']}; until {row.excuse['until']}")
    return lines


def _became(reason: dict[str, str | None]) -> str:
    before, after = reason["before"], reason["after"]
    if before is None:
        return " appeared"
    return " went" if after is None else f": {before} -> {after}"


def _open_case(name: str, file: str | None = None) -> str:
    where = "" if file is None else f" file={_attribute(file)}"
    return f'<testcase classname="nfbuild.verify" name={_attribute(name)}{where}>'


def _says(message: str) -> str:
    return f" message={_attribute(message)}"


def _attribute(text: str) -> str:
    # Python's XML tools load HTTP and TLS, 25 ms: a gate that writes no XML goes without.
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415

    # A line end in an attribute would be read as a blank.
    return quoteattr(_written(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _text(text: str) -> str:
    from xml.sax.saxutils import escape  # noqa: PLC0415  as above

    return escape(_written(text))


def _written(text: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
