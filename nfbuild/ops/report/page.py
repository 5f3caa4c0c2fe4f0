"""The page itself: what the gate found, worst first, in one file without a network.

Everything that a person must know stands in the page as text, so it can be read without script;
the script adds the looking. The page may load nothing: its policy says so.
Not here: finding and packing pictures (`gather`).
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from importlib.resources import files
from typing import Any

from nfbuild.events import Failed
from nfbuild.ledger.verdict import SEVERITY
from nfbuild.ops.report.values import Move, Ranges, View
from nfbuild.ops.reports import VerifyReport, VerifyRow

_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'"
)
_SAYS = {
    "regression": "the picture moved and its inputs did not",
    "failed": "it could not be drawn",
    "changed": "the picture moved, and so did an input",
    "orphaned": "an entry without a composition",
    "missing": "a composition without an entry",
    "excused": "the renderer moved it, within the bounds of an excuse",
    "match": "as recorded",
}
_HINTS = {
    "changed": (
        "`nfbuild build {name}` records an edit; `nfbuild ledger accept {name} --reason …`"
        " takes what another toolchain draws"
    ),
    "regression": "`nfbuild explain {name} --frame {frame}` says what is known of the frame",
    "missing": "`nfbuild build --record {name}` records it; commit the entry",
    "orphaned": "`nfbuild ledger prune` removes the entry",
}
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
_MOST_REASONS = 40
_TICKS = 8


def render(report: VerifyReport, views: Mapping[str, View], project: str) -> str:
    """Return the page; `views` are by composition name, `project` is the name of its folder."""
    rows = sorted(report.rows, key=lambda row: (SEVERITY.index(_kind(row)), row.name))
    told = [row for row in rows if row.verdict != "match"]
    quiet = [row for row in rows if row.verdict == "match"]
    ids = {row.name: f"c{index}" for index, row in enumerate(told)}
    data = {"views": {ids[row.name]: _data(views[row.name]) for row in told if row.name in views}}
    body = [
        _bar(project),
        "<main>",
        _hero(report),
        _list(told, quiet, ids),
        _lies(report),
        *(_card(row, ids[row.name], views.get(row.name), _errors_of(row, report)) for row in told),
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
    return files("nfbuild.ops.report").joinpath(name).read_text(encoding="utf-8")


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
        lies = f" · the cache lied about {_counted(len(report.cache_lied), 'frame')}"
    return (
        f'<div class="hero {color}"><h1>{escape(_title(report))}: '
        f"{escape(', '.join(counts) or 'no compositions')}</h1>"
        f"<p>{_counted(report.compared, 'frame')} compared in"
        f" <code>{escape(report.lane)}</code>{lies}{sampled}</p></div>"
    )


def _list(told: Sequence[VerifyRow], quiet: Sequence[VerifyRow], ids: Mapping[str, str]) -> str:
    parts = []
    if told:
        lines = [
            f'<tr><td>{_badge(row.verdict)}</td><td><a href="#{ids[row.name]}">{escape(row.name)}'
            f'</a></td><td class="num">{escape(_moved_count(row))}</td>'
            f'<td class="num">{escape(_times(row))}</td></tr>'
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
            f"<tr><td>{_badge('match')}</td><td>{escape(row.name)}</td>"
            f"<td>{escape(_matched(row))}</td></tr>"
            for row in quiet
        ]
        is_open = "" if told else " open"
        parts.append(
            f"<details{is_open}><summary>{_counted(len(quiet), 'composition')} as recorded"
            f'</summary><table class="list"><tbody>{"".join(lines)}</tbody></table></details>'
        )
    if not parts:
        parts.append("<p>the project lists no composition</p>")
    return f'<nav class="card" aria-label="verdicts">{"".join(parts)}</nav>'


def _matched(row: VerifyRow) -> str:
    said = [_counted(row.frames, "frame")]
    if row.across:
        said.append(f"compared with {', '.join(row.across)}: this lane has no recording")
    if row.identity_moved:
        said.append("inputs moved under an equal picture: a build refreshes the entry")
    return " · ".join(said)


def _badge(verdict: str) -> str:
    shown = verdict.upper() if verdict in ("regression", "excused") else verdict
    return f'<span class="badge {verdict}">{shown}</span>'


def _moved_count(row: VerifyRow) -> str:
    count = sum(last - first + 1 for first, last in row.moved)
    return f"{count:,} of {row.frames:,} frames" if count else ""


def _times(row: VerifyRow) -> str:
    if not row.moved or row.rate is None:
        return ""
    rate = Fraction(row.rate)
    return f"{float(row.moved[0][0] / rate):.3f} s to {float((row.moved[-1][1] + 1) / rate):.3f} s"


# --- one composition ----------------------------------------------------------------------------


def _card(row: VerifyRow, ident: str, view: View | None, errors: Sequence[Failed]) -> str:
    parts = [
        f"<header>{_badge(row.verdict)}<h2>{escape(row.name)}</h2></header>",
        f'<p class="facts">{escape(_facts(row))}</p>',
    ]
    parts.extend(_error(error) for error in errors)
    if row.note and not row.note.startswith("hint: "):
        parts.append(f"<p><strong>{escape(row.note)}</strong></p>")
    if row.reasons:
        parts.append(_reasons(row.reasons))
    elif row.verdict == "regression":
        parts.append(
            "<h3>reasons</h3><p>none: source, media, fonts and toolchain are as recorded</p>"
        )
    if row.excuse is not None:
        parts.append(_excuse(row.excuse))
    if view is not None:
        parts.append(_looking(row, view))
    hint = _HINTS.get(row.verdict)
    if hint is not None:
        frame = row.moved[0][0] if row.moved else 0
        parts.append(
            f'<p class="hint">hint: {_marked(hint.format(name=row.name, frame=frame))}</p>'
        )
    red = " red" if row.verdict == "regression" else ""
    return f'<section class="card{red}" id="{ident}" tabindex="-1">{"".join(parts)}</section>'


def _facts(row: VerifyRow) -> str:
    said = [_SAYS.get(row.verdict, "")]
    if _moved_count(row):
        said.append(f"{_moved_count(row)} ({_shown(row.moved)})")
        said.append(_times(row))
    if row.source:
        said.append(row.source)
    return " · ".join(part for part in said if part)


def _shown(ranges: Iterable[tuple[int, int]], most: int = 10) -> str:
    every = [f"{a}" if a == b else f"{a}\N{EN DASH}{b}" for a, b in ranges]
    more = f" and {len(every) - most} more ranges" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def _reasons(reasons: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for reason in reasons[:_MOST_REASONS]:
        place = ""
        if reason["file"]:
            line = "" if reason["line"] is None else f":{reason['line']}"
            place = f"{reason['file']}{line}"
        lines.append(
            f"<tr><td>{escape(reason['part'])}</td><td><code>{escape(reason['what'])}</code></td>"
            f"<td>{escape(place)}</td>"
            f'<td class="digest">{_value(reason["before"], "appeared")}</td>'
            f'<td class="digest">{_value(reason["after"], "went")}</td></tr>'
        )
    more = ""
    if len(reasons) > _MOST_REASONS:
        more = f'<p class="note">and {len(reasons) - _MOST_REASONS} more inputs</p>'
    return (
        '<h3>reasons: inputs that moved</h3><div class="scroll"><table class="reasons"><thead><tr>'
        "<th>part</th><th>what</th><th>where</th><th>before</th><th>after</th></tr></thead><tbody>"
        + "".join(lines)
        + f"</tbody></table></div>{more}"
    )


def _value(value: str | None, absent: str) -> str:
    if value is None:
        return f"<em>{absent}</em>"
    _, colon, rest = value.partition(":")
    short = f"{rest[:12]}…" if colon and len(rest) == 64 else value
    return f'<span title="{escape(value)}">{escape(short)}</span>'


def _excuse(excuse: Mapping[str, Any]) -> str:
    return (
        f"<h3>excuse ({escape(str(excuse['outcome']))})</h3><p>{escape(str(excuse['fact']))};"
        f" because: {escape(str(excuse['reason']))}; until {escape(str(excuse['until']))}</p>"
    )


def _error(error: Failed) -> str:
    line = "" if error.line is None else f":{error.line}"
    place = "" if error.file is None else f"<code>{escape(error.file)}{line}</code>: "
    hint = "" if error.hint is None else f"<br>hint: {_marked(error.hint)}"
    return f'<p class="hint">{place}{_marked(error.message)}{hint}</p>'


def _marked(text: str) -> str:
    """Return text with what stands in backticks as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return "".join(
        f"<code>{escape(piece)}</code>" if index % 2 else escape(piece)
        for index, piece in enumerate(pieces)
    )


# --- looking ------------------------------------------------------------------------------------


def _looking(row: VerifyRow, view: View) -> str:
    parts = []
    if view.moved:
        parts.append(_strip(row, view))
    if view.note:
        parts.append(f'<p class="hint">{_marked(view.note)}</p>')
    if view.moves:
        parts.append('<div class="viewer"></div><noscript><p>pictures need script</p></noscript>')
    if view.left_out:
        parts.append(
            f'<p class="note">{_counted(view.left_out, "moved frame")} more without a picture here,'
            " so that the page stays small</p>"
        )
    return "".join(parts)


def _strip(row: VerifyRow, view: View) -> str:
    def bars(ranges: Ranges, name: str) -> str:
        least = view.frames / 600  # a single frame of a long film is still to be seen
        return "".join(
            f'<rect class="{name}" x="{min(first, view.frames - max(last - first + 1, least)):g}"'
            f' y="0" width="{max(last - first + 1, least):g}" height="24"/>'
            for first, last in ranges
        )

    title = f"frames of {row.name} that moved: {_shown(view.moved)}"
    numbers = f'aria-valuemin="0" aria-valuemax="{max(0, view.frames - 1)}" aria-valuenow="0"'
    role = f'role="slider" tabindex="0" {numbers}' if view.moves else 'role="img"'
    legend = '<span class="key"><i style="background:var(--changed)"></i>moved</span>'
    if view.regressed:
        legend += (
            '<span class="key"><i style="background:var(--regression)"></i>'
            "moved, its inputs did not</span>"
        )
    legend += '<span class="key"><i style="background:var(--accent)"></i>shown below</span>'
    return (
        f'<div class="strip"><svg viewBox="0 0 {view.frames} 34" preserveAspectRatio="none" {role}'
        f' aria-label="{escape(title)}">{bars(view.moved, "moved")}'
        f"{bars(view.regressed, 'regressed')}</svg>{_axis(view)}<div>{legend}</div></div>"
    )


def _axis(view: View) -> str:
    """Return labels of frames and times, evenly spread."""
    every = max(1, -(-view.frames // _TICKS))
    ticks = [
        f'<span style="left:{100 * frame / view.frames:.3f}%">'
        f"{frame} · {frame / view.rate:.2f} s</span>"
        for frame in range(0, view.frames, every)
        if view.frames - frame >= every / 2 or frame == 0
    ]
    ticks.append(f'<span class="end" style="left:100%">{view.frames}</span>')
    return f'<div class="axis">{"".join(ticks)}</div>'


def _data(view: View) -> dict[str, Any]:
    return {
        "width": view.width,
        "height": view.height,
        "rate": view.rate,
        "frames": view.frames,
        "moves": [_move(move, view.regressed) for move in view.moves],
    }


def _move(move: Move, alarms: Ranges) -> dict[str, Any]:
    pictures = {
        "before": move.before,
        "after": move.after,
        "heat": move.heat,
        "whole": move.whole,
        "wholeBefore": move.whole_before,
    }
    return {
        "frames": move.frames,
        "alarm": any(first <= move.frames[0][0] <= last for first, last in alarms),
        "note": move.note,
        "pixels": move.pixels,
        "step": move.step,
        "moved": move.moved,
        "box": move.box,
        **{
            name: f"data:image/png;base64,{b64encode(png).decode('ascii')}"
            for name, png in pictures.items()
            if png is not None
        },
    }


# --- the rest -----------------------------------------------------------------------------------


def _errors_of(row: VerifyRow, report: VerifyReport) -> list[Failed]:
    return [error for error in report.errors if error.composition == row.name]


def _lies(report: VerifyReport) -> str:
    if not report.cache_lied:
        return ""
    lines = "".join(
        f"<tr><td>{escape(lie['composition'])}</td><td>frame {lie['frame']}</td>"
        f'<td class="digest">{_value(lie["cached"], "")}</td>'
        f'<td class="digest">{_value(lie["drawn"], "")}</td></tr>'
        for lie in report.cache_lied[:_MOST_REASONS]
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
        parts.append("<h3>errors</h3>" + "".join(_error(error) for error in loose))
    if report.warnings:
        lines = "".join(
            f"<li>{_marked(_placed(warning))}</li>" for warning in report.warnings[:_MOST_REASONS]
        )
        parts.append(
            f"<details><summary>{_counted(len(report.warnings), 'warning')}</summary>"
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


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
