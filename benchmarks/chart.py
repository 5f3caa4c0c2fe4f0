"""One run as a picture: bars of median seconds by case, on a logarithmic scale, as plain SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from benchmarks.report import Row

INK, PAPER, OURS, OTHERS, FLOOR = "#12161f", "#f4efe6", "#ff5a36", "#8a93a6", "#c9c2b4"
LEFT, WIDTH, LINE, GAP = 250, 960, 20, 26


def draw(rows: Sequence[Row]) -> str:
    """Return the chart; `rows` are the rows of the table, contenders of a case together."""
    shown = [row for row in rows if row.seconds > 0]
    low = 10 ** math.floor(math.log10(min((row.seconds for row in shown), default=0.01)))
    high = 10 ** math.ceil(math.log10(max((row.seconds for row in shown), default=10)))
    span = math.log10(high / low) or 1.0
    room = WIDTH - LEFT - 90

    def at(seconds: float) -> float:
        return LEFT + room * max(0.0, math.log10(seconds / low)) / span

    body: list[str] = []
    y = 40.0
    case = ""
    for row in shown:
        if row.case != case:
            case = row.case
            y += GAP
            body.append(_text(24, y + 4, row.title, weight=600))
            y += LINE
        colour = OURS if row.contender.startswith("nfbuild") else OTHERS
        if row.contender in ("floor", "typer"):
            colour = FLOOR
        width = max(2.0, at(row.seconds) - LEFT)
        body.append(_text(24, y + 11, row.contender))
        body.append(
            f'<rect x="{LEFT}" y="{y:.0f}" width="{width:.1f}" height="14" fill="{colour}"/>'
        )
        body.append(_text(LEFT + width + 8, y + 11, f"{row.seconds:.3g} s"))
        y += LINE
    height = y + 30
    lines: list[str] = []
    tick = low
    while tick <= high * 1.001:
        x = at(tick)
        lines.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="46" y2="{height - 24:.0f}" stroke="#ddd6c8"/>'
        )
        lines.append(_text(x - 10, 38, f"{tick:g} s"))
        tick *= 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {WIDTH} {height:.0f}" font-family="sans-serif" font-size="12">'
    )
    return "\n".join(
        [
            head,
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            *lines,
            *body,
            "</svg>",
            "",
        ]
    )


def _text(x: float, y: float, words: str, *, weight: int = 400) -> str:
    told = escape(words)
    return f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}" fill="{INK}">{told}</text>'
