"""The page itself: what the gate found, worst first, in one file without a network.

Everything that a person must know stands in the page as text, so it can be read without script;
the script adds the looking. The page may load nothing: its policy says so.
Not here: finding and packing pictures (`gather`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from nfbuild.events import Failed
from nfbuild.ledger.verdict import SEVERITY
from nfbuild.ops.gate.report.card import (
    MOST_LINES,
    badge,
    card,
    counted,
    error_text,
    marked,
    moved_count,
    shown_value,
    times,
    view_data,
)
from nfbuild.ops.gate.report.values import View
from nfbuild.ops.run.reports import VerifyReport, VerifyRow

_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'"
)
_KEYS = (
    ("j / k", "next, previous composition"),
    ("← / →", "previous, next moved picture"),
    ("1 2 3 4", "slider, before, after, difference"),
    ("f", "flip between before and after"),
    ("[ / ]", "move the slider"),
    ("+ / -", "larger, smaller"),
    ("m / 0", "what moved, the whole frame"),
    ("t", "light or dark"),
    ("?", "this list"),
)


def render(report: VerifyReport, views: Mapping[str, View], project: str) -> str:
    """Return the page; `views` are by composition name, `project` is the name of its folder."""
    rows = sorted(report.rows, key=lambda row: (SEVERITY.index(_kind(row)), row.name))
    told = [row for row in rows if row.verdict != "match"]
    quiet = [row for row in rows if row.verdict == "match"]
    ids = {row.name: f"c{index}" for index, row in enumerate(told)}
    data = {
        "views": {ids[row.name]: view_data(views[row.name]) for row in told if row.name in views}
    }
    body = [
        _bar(project),
        "<main>",
        _hero(report),
        _list(told, quiet, ids),
        _lies(report),
        *(card(row, ids[row.name], views.get(row.name), _errors_of(row, report)) for row in told),
        _rest(report),
        _foot(report),
        "</main>",
        _help(),
        f'<script type="application/json" id="data">{_json(data)}</script>',
        f"<script>{_own('page.js')}</script>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(_title(report))} · {escape(project)}</title>\n"
        f"<style>{_own('page.css')}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _own(name: str) -> str:
    return files("nfbuild.ops.gate.report").joinpath(name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    # Within a script element only `</` and `<!--` could end it: no `<` is written at all.
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _kind(row: VerifyRow) -> Any:
    return row.verdict


# --- the head -----------------------------------------------------------------------------------


def _bar(project: str) -> str:
    return (
        f'<div class="bar"><div><strong>nfbuild verify</strong> <span>{escape(project)}</span>'
        '<span class="grow"></span><button type="button" id="keys">Keys <kbd>?</kbd></button>'
        '<button type="button" id="theme">Light / dark</button></div></div>'
    )


def _title(report: VerifyReport) -> str:
    if report.exit_code == 0:
        return "The gate is open"
    if not report.compared:
        return "Nothing was compared"
    return "The gate is shut"


def _hero(report: VerifyReport) -> str:
    counts = [f"{count} {kind}" for kind in SEVERITY if (count := report.totals()[kind])]
    color = "green" if report.exit_code == 0 else "red"
    sampled = ""
    if report.sampled:
        sampled = ' <span class="sampled">a sample: not every frame was drawn</span>'
    lies = ""
    if report.cache_lied:
        lies = f" · the cache lied about {counted(len(report.cache_lied), 'frame')}"
    return (
        f'<div class="hero {color}"><h1>{escape(_title(report))}: '
        f"{escape(', '.join(counts) or 'no compositions')}</h1>"
        f"<p>{counted(report.compared, 'frame')} compared in"
        f" <code>{escape(report.lane)}</code>{lies}{sampled}</p></div>"
    )


def _list(told: Sequence[VerifyRow], quiet: Sequence[VerifyRow], ids: Mapping[str, str]) -> str:
    parts = []
    if told:
        lines = [
            f'<tr><td>{badge(row.verdict)}</td><td><a href="#{ids[row.name]}">{escape(row.name)}'
            f'</a></td><td class="num">{escape(moved_count(row))}</td>'
            f'<td class="num">{escape(times(row))}</td></tr>'
            for row in told
        ]
        parts.append(
            '<div class="scroll"><table class="list"><thead><tr><th>verdict</th>'
            "<th>composition</th><th>moved</th><th>when</th></tr></thead><tbody>"
            + "".join(lines)
            + "</tbody></table></div>"
        )
    if quiet:
        lines = [
            f"<tr><td>{badge('match')}</td><td>{escape(row.name)}</td>"
            f"<td>{escape(_matched(row))}</td></tr>"
            for row in quiet
        ]
        is_open = "" if told else " open"
        parts.append(
            f"<details{is_open}><summary>{counted(len(quiet), 'composition')} as recorded"
            f'</summary><table class="list"><tbody>{"".join(lines)}</tbody></table></details>'
        )
    if not parts:
        parts.append("<p>the project lists no composition</p>")
    return f'<nav class="card" aria-label="verdicts">{"".join(parts)}</nav>'


def _matched(row: VerifyRow) -> str:
    said = [counted(row.frames, "frame")]
    if row.across:
        said.append(f"compared with {', '.join(row.across)}: this lane has no recording")
    if row.identity_moved:
        said.append("inputs moved under an equal picture: a build refreshes the entry")
    return " · ".join(said)


# --- the rest -----------------------------------------------------------------------------------


def _lies(report: VerifyReport) -> str:
    if not report.cache_lied:
        return ""
    lines = "".join(
        f"<tr><td>{escape(lie['composition'])}</td><td>frame {lie['frame']}</td>"
        f'<td class="digest">{shown_value(lie["cached"], "")}</td>'
        f'<td class="digest">{shown_value(lie["drawn"], "")}</td></tr>'
        for lie in report.cache_lied[:MOST_LINES]
    )
    return (
        '<section class="card red"><header><h2>The cache lied</h2></header><p class="facts">what it'
        " kept of these frames is not what they are; it has been replaced</p>"
        '<div class="scroll"><table><thead><tr><th>composition</th><th>frame</th><th>kept</th>'
        f"<th>drawn</th></tr></thead><tbody>{lines}</tbody></table></div></section>"
    )


def _rest(report: VerifyReport) -> str:
    parts = []
    loose = [error for error in report.errors if error.composition is None]
    if loose:
        parts.append("<h3>errors</h3>" + "".join(error_text(error) for error in loose))
    if report.warnings:
        lines = "".join(
            f"<li>{marked(_placed(warning))}</li>" for warning in report.warnings[:MOST_LINES]
        )
        parts.append(
            f"<details><summary>{counted(len(report.warnings), 'warning')}</summary>"
            f"<ul>{lines}</ul></details>"
        )
    return f'<section class="card">{"".join(parts)}</section>' if parts else ""


def _placed(talk: Mapping[str, Any]) -> str:
    line = "" if talk["line"] is None else f":{talk['line']}"
    place = "" if talk["file"] is None else f"{talk['file']}{line}: "
    return f"{place}{talk['message']}"


def _foot(report: VerifyReport) -> str:
    return (
        f"<footer>lane <code>{escape(report.lane)}</code> · seed {report.seed} · every picture of"
        " this page is in it; nothing is loaded</footer>"
    )


def _help() -> str:
    lines = "".join(
        "<tr><td>"
        + " ".join(f"<kbd>{escape(key)}</kbd>" for key in keys.split(" ") if key != "/")
        + f"</td><td>{escape(what)}</td></tr>"
        for keys, what in _KEYS
    )
    return (
        f'<dialog id="help" aria-label="keys"><h2>Keys</h2><table>{lines}</table>'
        '<form method="dialog"><p><button>Close</button></p></form></dialog>'
    )


def _errors_of(row: VerifyRow, report: VerifyReport) -> list[Failed]:
    return [error for error in report.errors if error.composition == row.name]
