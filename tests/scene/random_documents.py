"""Random compositions: every element kind, attribute order, spelling, window and animation."""

import json
import random

DEFS = (
    '<defs><linearGradient id="g1"><stop offset="0" stop-color="red"/><stop offset="1.0"'
    ' stop-color="#00f" stop-opacity="0.5"/></linearGradient><radialGradient id="g2" href="#g1"'
    ' r="0.7"/><clipPath id="c1"><circle cx="50" cy="50" r="45"/></clipPath><mask id="m1"><rect'
    ' width="200" height="60" fill="#aaa"/></mask><g id="u1"><rect width="20" height="10"'
    ' fill="url(#g2)"/></g><rect id="unused"/></defs>'
)
SHEET = "<style>.a{fill:#0aa} rect{stroke:red}</style>"
COLOURS = [
    *("red", "#0f0", "#1234ab", "Gold", "rgb(10,200,30)", "none", "url(#g1)", "url(#g2)"),
    *("#ABCDEF", "currentColor", "transparent", "url(#nope)"),
]
STYLES = [
    *("fill:blue", "opacity:0.4", "stroke:#f0f;stroke-width:3", "display:none"),
    *(" fill : red ; ", "fill:url(#g1)"),
]
KINDS = [
    *("rect", "rect", "circle", "ellipse", "line", "path", "polygon", "text", "image"),
    *("g", "g", "g", "use", "svg", "zork", "a", "title"),
]


class Writer:
    """Writes one composition; `media` are files that it may show."""

    def __init__(self, seed, media):
        self.random = random.Random(seed)
        self.media = media
        self.ids = []

    def number(self, low=0, high=100):
        value = self.random.uniform(low, high)
        return self.random.choice(
            [f"{value:.0f}", f"{value:.1f}", f"{value:.3f}", f"+{value:.0f}", f"{value:.0f}.0"]
        )

    def colour(self):
        return self.random.choice(COLOURS)

    def transform(self):
        n = self.number
        return self.random.choice(
            [
                "",
                f"translate({n()} {n()})",
                f"rotate({n()})",
                f"scale({n(0.5, 2)})",
                f" translate({n(0, 20)},{n(0, 20)}) , rotate( {n()} 50,50)",
                f"skewX({n(0, 30)})",
                "matrix(1 0.1 -0.1 1 5 5)",
            ]
        )

    def common(self):
        choice = self.random.choice
        options = [
            ("fill", self.colour, 0.6),
            ("stroke", self.colour, 0.3),
            ("stroke-width", lambda: self.number(0, 8), 0.3),
            ("opacity", lambda: choice(["0.5", ".3", "1", "1.0", "0", "0.0", "50%"]), 0.2),
            ("fill-opacity", lambda: choice(["0.5", ".25"]), 0.1),
            ("transform", self.transform, 0.3),
            ("class", lambda: choice(["a", "b", "a b"]), 0.3),
            ("style", lambda: choice(STYLES), 0.12),
            ("display", lambda: choice(["none", "inline", "block"]), 0.07),
            ("clip-path", lambda: "url(#c1)", 0.07),
            ("mask", lambda: "url(#m1)", 0.05),
            ("data-start", lambda: choice(["0", "0.2", "0.5"]), 0.2),
            ("data-duration", lambda: choice(["0.3", "0.5", "1"]), 0.15),
            ("data-fade", lambda: choice(["0.1", "0.4"]), 0.15),
            ("visibility", lambda: "hidden", 0.03),
            ("color", self.colour, 0.05),
            ("data-x", lambda: "1", 0.1),
            ("stroke-dasharray", lambda: choice(["5 3", "4,2,1", "none"]), 0.1),
            ("xml:space", lambda: choice(["preserve", "default"]), 0.05),
        ]
        written = {}
        if self.random.random() < 0.5:
            written["id"] = f"e{len(self.ids)}"
            self.ids.append(written["id"])
        for name, value, share in options:
            if self.random.random() < share:
                written[name] = value()
        pairs = list(written.items())
        self.random.shuffle(pairs)
        return pairs

    def geometry(self, kind):
        n, choice = self.number, self.random.choice
        if kind == "path":
            form = choice(
                [
                    "M{} {}L{},{} {} {}Z",
                    "m{},{} l{} {} {} {}",
                    "M {} {} C {} {} 50 50 {} {}",
                    "M{} {}Q{} {} {} {}",
                ]
            )
            return [("d", form.format(*(n() for _ in range(6))))]
        if kind == "polygon":
            return [("points", " ".join(n() + choice([",", " "]) + n() for _ in range(4)))]
        if kind == "use":
            return [("href", "#" + choice([*self.ids, "u1", "u1", "zz"])), ("x", n())]
        if kind == "image":
            box = [("x", n()), ("y", n()), ("width", n(5, 60)), ("height", n(5, 60))]
            aspect = [("data-aspect", choice(["contain", "cover"]))]
            return [*box, ("href", choice(self.media)), *aspect[: self.random.random() < 0.4]]
        return {
            "rect": lambda: [("x", n()), ("y", n()), ("width", n()), ("height", n())],
            "circle": lambda: [("cx", n()), ("cy", n()), ("r", n(1, 40))],
            "ellipse": lambda: [("cx", n()), ("cy", n()), ("rx", n(1, 40)), ("ry", n(1, 40))],
            "line": lambda: [("x1", n()), ("y1", n()), ("x2", n()), ("y2", n())],
            "text": lambda: [("x", n()), ("y", n()), ("font-size", n(8, 30))],
        }.get(kind, list)()

    def words(self, pairs):
        choice = self.random.choice
        if self.random.random() < 0.15:
            pairs.append(choice([("data-bg", "#ff0"), ("data-wrap", "60"), ("data-fit", "40")]))
            return choice(["hello there", "漢字 mix"])
        if self.random.random() < 0.2:
            pairs.append(("data-frame-text", "f {frame} {second:.2f}"))
        return choice(
            [
                "hello",
                "  a  b ",
                'one <tspan fill="red">two</tspan> three',
                "x\n   y",
                "a<!-- -->b",
            ]
        )

    def element(self, depth=0):
        kind = self.random.choice(KINDS if depth < 4 else ["rect", "circle", "text"])
        pairs = self.common() + self.geometry(kind)
        inside = ""
        if kind == "use":
            pairs = [pair for pair in pairs if pair[0] != "id"]
        if kind == "text":
            inside = self.words(pairs)
        elif kind in ("g", "svg", "zork", "a"):
            inside = "".join(self.element(depth + 1) for _ in range(self.random.randint(0, 3)))
        elif self.random.random() < 0.05:
            inside = "<title>x</title>"
        joint = self.random.choice([" ", "\n  "])
        start = f"<{kind} " + joint.join(f'{name}="{value}"' for name, value in pairs)
        if inside or self.random.random() < 0.5:
            return f"{start}>{inside}</{kind}>"
        return f"{start}/>"

    def keyframe(self, seconds):
        r = self.random
        frame = {"t": seconds}
        if r.random() < 0.6:
            frame["opacity"] = round(r.uniform(-0.1, 1.2), 3)
        if r.random() < 0.4:
            frame["fill"] = r.choice(["#ff0000", "#00ff00", "#0000ff", "red", "url(#g1)"])
        if r.random() < 0.2:
            frame["stroke"] = r.choice(["#ff0000", "#00ff00"])
        if r.random() < 0.6:
            motion = {}
            if r.random() < 0.7:
                motion["translate"] = [r.randint(-30, 30), r.uniform(-9, 9)]
            if r.random() < 0.5:
                motion["rotate"] = r.choice([r.randint(-90, 90), [20, 10, 10]])
            if r.random() < 0.5:
                motion["scale"] = r.choice([r.uniform(0.5, 2), [1, r.uniform(0.2, 2)]])
            if r.random() < 0.6:
                motion["center"] = r.choice(["auto", [50, 50]])
            frame["transform"] = motion
        if r.random() < 0.4:
            frame["ease"] = r.choice(["ease-in", "gentle", "nope"])
        return frame

    def document(self):
        r = self.random
        body = "".join(self.element() for _ in range(r.randint(1, 5)))
        if r.random() < 0.3:
            body += SHEET
        body = DEFS + body if r.random() < 0.7 else body + DEFS
        targets = [*(f"#{name}" for name in self.ids), ".a", ".b", "rect", "g", "text", "image"]
        animations = [
            {
                "target": r.choice([*targets, "svg", "#u1", "#zz"]),
                "keyframes": [self.keyframe(seconds) for seconds in (0, 0.5, 0.9)],
            }
            for _ in range(r.randint(0, 3))
        ]
        timeline = json.dumps({"animations": animations})
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" data-width="120" data-height="100" '
            f'data-fps="10" data-duration="1">{body}<script type="application/nanoframes+json">'
            f"<![CDATA[{timeline}]]></script></svg>"
        )
