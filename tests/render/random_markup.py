"""Random markup: all that a document may draw, and what is hard to draw in a part of the canvas.

Sharp tips, hairlines, shapes without a width, points far outside, dashes of no length, gradients
that turn, repeat or end clear, colours a step from white or black.
"""

from __future__ import annotations

import random

WIDTH, HEIGHT = 120, 80
HEAD = f"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"
 width="{WIDTH}" height="{HEIGHT}">
<defs>
<linearGradient id="sky" x2="0" y2="1">
<stop stop-color="#123"/><stop offset="1" stop-color="#fa8"/>
</linearGradient>
<linearGradient id="g1">
<stop stop-color="red"/><stop offset="1" stop-color="#00f" stop-opacity="0.3"/>
</linearGradient>
<radialGradient id="g2" r="0.7">
<stop stop-color="#0f0" stop-opacity="0.1"/><stop offset="1" stop-color="#fff"/>
</radialGradient>
<linearGradient id="g3" gradientUnits="userSpaceOnUse" x1="10" y1="20" x2="60" y2="33"
 spreadMethod="reflect">
<stop stop-color="red"/><stop offset="0.3" stop-color="#0f0" stop-opacity="0.5"/>
<stop offset="1" stop-color="#00f" stop-opacity="0"/>
</linearGradient>
<radialGradient id="g4" gradientUnits="userSpaceOnUse" cx="40" cy="30" r="22" fx="30" fy="25"
 spreadMethod="repeat">
<stop stop-color="#fff"/><stop offset="1"/>
</radialGradient>
<radialGradient id="g5" gradientTransform="rotate(30) scale(0.7 1.4)" r="0.5">
<stop stop-color="#ff0" stop-opacity="0.01"/><stop offset="0.9" stop-color="#08f"
 stop-opacity="0.99"/>
</radialGradient>
<linearGradient id="g6" gradientTransform="skewX(30)" x2="0" y2="1">
<stop offset="0.5" stop-color="#fff"/><stop offset="0.5" stop-color="#000"/>
</linearGradient>
<clipPath id="c1"><circle cx="60" cy="40" r="33"/></clipPath>
<clipPath id="c2"><path d="M10 10h60v50z" clip-rule="evenodd"/></clipPath>
<mask id="m1"><rect width="90" height="60" fill="#aaa" rx="9"/></mask>
<mask id="m2" mask-type="alpha"><circle cx="60" cy="40" r="30" fill-opacity="0.6"/></mask>
<filter id="f1"><feGaussianBlur stdDeviation="2"/></filter>
</defs>""".replace("\n", "").encode()
PAINTS = (
    *("red", "#0f08", "#1234ab", "none", "#fff", "#fefefe", "#010101", "rgba(3,4,5,0.004)"),
    *(f"url(#g{number})" for number in range(1, 7)),
)
_CLEAR = ("0.004", "0.002", "0.996", "0.4", "0.7")


class Writer:
    """Writes the same markup for the same seed; `picture` and `face` are what it refers to."""

    def __init__(self, seed: int, picture: str, face: str) -> None:
        self._chance = random.Random(seed)
        self._picture = picture
        self._face = face

    def body(self) -> str:
        """Return one to six elements."""
        return "".join(self._element(0) for _ in range(self._chance.randint(1, 6)))

    def _element(self, depth: int) -> str:
        kinds = [
            *(self._rect, self._rect, self._sharp_rect, self._ellipse, self._line, self._lines),
            *(self._lines, self._curves, self._arcs, self._far, self._text, self._text),
            self._image,
        ]
        groups = 2 if depth < 3 else 0
        number = self._chance.randrange(len(kinds) + groups)
        return kinds[number]() if number < len(kinds) else self._group(depth)

    def _number(self, low: float, high: float) -> str:
        return f"{self._chance.uniform(low, high):.{self._chance.randint(0, 3)}f}"

    def _points(self, count: int) -> str:
        n = self._number
        return " ".join(f"{n(-9, 130)},{n(-9, 90)}" for _ in range(count))

    def _transform(self) -> str:
        chance, n = self._chance, self._number
        return chance.choice(
            [
                f"rotate({n(-90, 90)} 60 40) scale({n(0.3, 2)})",
                f"matrix({n(-2, 2)} {n(-1, 1)} {n(-1, 1)} {n(-2, 2)} {n(0, 80)} {n(0, 60)})",
                f"skewX({n(-60, 60)}) translate({n(-9, 9)} 3)",
                f"scale({n(-2, 2)} {n(-3, 3)})",
                f"translate({n(-200, 200)} {n(-90, 90)})",
                f"scale({n(0.001, 0.05)}) translate(900 700)",
            ]
        )

    def _dress(self) -> str:
        chance, n = self._chance, self._number
        width = n(0, 0.3) if chance.random() < 0.3 else n(0, 9)
        options = [
            (0.7, f' fill="{chance.choice(PAINTS)}"'),
            (0.5, f' stroke="{chance.choice(PAINTS)}" stroke-width="{width}"'),
            (0.2, f' stroke-linejoin="{chance.choice(["miter", "round", "bevel"])}"'),
            (0.2, f' stroke-miterlimit="{n(1, 40)}"'),
            (0.2, f' stroke-linecap="{chance.choice(["butt", "round", "square"])}"'),
            (0.15, f' stroke-dasharray="{n(0, 9)} {n(0.1, 4)} {n(0, 2)}"'),
            (0.1, f' stroke-dashoffset="{n(-20, 20)}"'),
            (0.2, f' stroke-opacity="{n(0, 1)}"'),
            (0.3, f' fill-opacity="{chance.choice([*_CLEAR, n(0, 1)])}"'),
            (0.2, ' fill-rule="evenodd"'),
            (0.2, f' opacity="{n(0, 1)}"'),
            (0.3, f' transform="{self._transform()}"'),
            (0.1, f' clip-path="url(#c{chance.randint(1, 2)})"'),
            (0.08, f' mask="url(#m{chance.randint(1, 2)})"'),
            (0.04, ' filter="url(#f1)"'),
            (0.05, ' paint-order="stroke"'),
            (0.03, ' visibility="hidden"'),
        ]
        return "".join(text for share, text in options if chance.random() < share)

    def _rect(self) -> str:
        n = self._number
        box = f'x="{n(-20, 100)}" y="{n(-20, 70)}" width="{n(0, 120)}" height="{n(0, 90)}"'
        return f'<rect {box} rx="{n(0, 40)}"{self._dress()}/>'

    def _sharp_rect(self) -> str:
        chance, n = self._chance, self._number
        width = chance.choice(["0", "0.003", "0.5", "1", "60", "2000"])
        height = chance.choice(["0", "0.01", "1", "50", n(300, 330)])
        place = chance.choice([f'x="{n(0, 100)}" y="{n(0, 70)}"', 'x="-400" y="-300"'])
        return f'<rect {place} width="{width}" height="{height}"{self._dress()}/>'

    def _ellipse(self) -> str:
        n = self._number
        width = n(0, 0.6) if self._chance.random() < 0.2 else n(1, 70)
        centre = f'cx="{n(-30, 150)}" cy="{n(-30, 110)}"'
        return f'<ellipse {centre} rx="{width}" ry="{n(1, 40)}"{self._dress()}/>'

    def _line(self) -> str:
        n = self._number
        ends = f'x1="{n(-9, 120)}" y1="{n(-9, 80)}" x2="{n(-9, 120)}" y2="{n(-9, 80)}"'
        return f"<line {ends}{self._dress()}/>"

    def _lines(self) -> str:
        kind = self._chance.choice(["polyline", "polygon"])
        return f'<{kind} points="{self._points(5)}"{self._dress()}/>'

    def _curves(self) -> str:
        return f'<path d="M{self._points(6).replace(" ", " C", 1)}Z"{self._dress()}/>'

    def _arcs(self) -> str:
        chance, n = self._chance, self._number
        flags = f"{chance.choice('01')} {chance.choice('01')}"
        arc = f"a{n(1, 40)} {n(1, 40)} {n(0, 90)} {flags} {n(-40, 40)} {n(-40, 40)}"
        curve = f"q{n(-30, 30)} {n(-30, 30)} {n(-30, 30)} {n(-30, 30)}t{n(-9, 9)} 4"
        rest = f"m3 3h{n(-20, 20)}v{n(-9, 9)}z"
        return f'<path d="M{n(0, 90)} {n(0, 60)}{arc}{curve}{rest}"{self._dress()}/>'

    def _far(self) -> str:
        n = self._number
        points = f"M{n(-5000, 5000)} {n(-3000, 3000)}L{n(-50, 200)} {n(0, 80)}"
        return f'<path d="{points}L{n(0, 120)} {n(-900, 900)}Z"{self._dress()}/>'

    def _text(self) -> str:
        chance, n = self._chance, self._number
        place = f'x="{n(-30, 110)}" y="{n(-5, 95)}" font-size="{n(1, 90)}"'
        more = f'text-anchor="{chance.choice(["start", "middle", "end"])}"'
        if chance.random() < 0.3:
            more += f' letter-spacing="{n(-3, 9)}"'
        text = chance.choice(["ink", "Ag yj", "o", "fi W", ".", "many words in a line of text"])
        return f'<text {place} font-family="{self._face}" {more}{self._dress()}>{text}</text>'

    def _image(self) -> str:
        n = self._number
        box = f'x="{n(-9, 90)}" y="{n(-9, 60)}" width="{n(0.2, 99)}" height="{n(0.2, 70)}"'
        ratio = self._chance.choice(["none", "xMidYMid slice", "xMinYMax meet"])
        image = f'<image href="{self._picture}" {box} preserveAspectRatio="{ratio}"'
        return f"{image}{self._dress()}/>"

    def _group(self, depth: int) -> str:
        count = self._chance.randint(0, 3)
        inside = "".join(self._element(depth + 1) for _ in range(count))
        return f"<g{self._dress()}>{inside}</g>"
