"""One composition of the page: its verdict, reasons, excuse, and the place to look at it.

Not here: the page around it (`page`), its script (`page.js`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from nfbuild.events import Failed
from nfbuild.ops.gate.report.values import Move, Ranges, View
from nfbuild.ops.run.reports import VerifyRow

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
MOST_LINES = 40
_TICKS = 8


def badge(verdict: str) -> str:
    """Return a verdict as a coloured word."""
    shown = verdict.upper() if verdict in ("regression", "excused") else verdict
    return f'<span class="badge {verdict}">{shown}</span>'


def moved_count(row: VerifyRow) -> str:
    """Return how many frames moved, as text; empty for none."""
    count = sum(last - first + 1 for first, last in row.moved)
    # A film that became shorter moved in frames that it has no more.
    frames = max(row.frames, row.moved[-1][1] + 1) if row.moved else row.frames
    return f"{count:,} of {frames:,} frames" if count else ""


def times(row: VerifyRow) -> str:
    """Return from when to when frames moved, as text; empty for none."""
    if not row.moved or row.rate is None:
        return ""
    rate = Fraction(row.rate)
    return f"{float(row.moved[0][0] / rate):.3f} s to {float((row.moved[-1][1] + 1) / rate):.3f} s"


def counted(count: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


# --- one composition ----------------------------------------------------------------------------


def card(row: VerifyRow, ident: str, view: View | None, errors: Sequence[Failed]) -> str:
    """Return the section of one composition; `ident` is its anchor in the page."""
    parts = [
        f"<header>{badge(row.verdict)}<h2>{escape(row.name)}</h2></header>",
        f'<p class="facts">{escape(_facts(row))}</p>',
    ]
    parts.extend(error_text(error) for error in errors)
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
        parts.append(f'<p class="hint">hint: {marked(hint.format(name=row.name, frame=frame))}</p>')
    red = " red" if row.verdict == "regression" else ""
    return f'<section class="card{red}" id="{ident}" tabindex="-1">{"".join(parts)}</section>'


def _facts(row: VerifyRow) -> str:
    said = [_SAYS.get(row.verdict, "")]
    if moved_count(row):
        said.append(f"{moved_count(row)} ({_shown(row.moved)})")
        said.append(times(row))
    if row.source:
        said.append(row.source)
    return " · ".join(part for part in said if part)


def _shown(ranges: Iterable[tuple[int, int]], most: int = 10) -> str:
    every = [f"{a}" if a == b else f"{a}\N{EN DASH}{b}" for a, b in ranges]
    more = f" and {len(every) - most} more ranges" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def _reasons(reasons: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for reason in reasons[:MOST_LINES]:
        place = ""
        if reason["file"]:
            line = "" if reason["line"] is None else f":{reason['line']}"
            place = f"{reason['file']}{line}"
        lines.append(
            f"<tr><td>{escape(reason['part'])}</td><td><code>{escape(reason['what'])}</code></td>"
            f"<td>{escape(place)}</td>"
            f'<td class="digest">{shown_value(reason["before"], "appeared")}</td>'
            f'<td class="digest">{shown_value(reason["after"], "went")}</td></tr>'
        )
    more = ""
    if len(reasons) > MOST_LINES:
        more = f'<p class="note">and {len(reasons) - MOST_LINES} more inputs</p>'
    return (
        '<h3>reasons: inputs that moved</h3><div class="scroll"><table class="reasons"><thead><tr>'
        "<th>part</th><th>what</th><th>where</th><th>before</th><th>after</th></tr></thead><tbody>"
        + "".join(lines)
        + f"</tbody></table></div>{more}"
    )


def shown_value(value: str | None, absent: str) -> str:
    """Return a digest or another value, short, in full when pointed at; `absent` for None."""
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


def error_text(error: Failed) -> str:
    """Return an error as place, fact and hint."""
    line = "" if error.line is None else f":{error.line}"
    place = "" if error.file is None else f"<code>{escape(error.file)}{line}</code>: "
    hint = "" if error.hint is None else f"<br>hint: {marked(error.hint)}"
    return f'<p class="hint">{place}{marked(error.message)}{hint}</p>'


def marked(text: str) -> str:
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
        parts.append(f'<p class="hint">{marked(view.note)}</p>')
    if view.moves:
        parts.append('<div class="viewer"></div><noscript><p>pictures need script</p></noscript>')
    if view.left_out:
        parts.append(
            f'<p class="note">{counted(view.left_out, "moved frame")} more without a picture here,'
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


def view_data(view: View) -> dict[str, Any]:
    """Return what the script of the page reads of a composition."""
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
