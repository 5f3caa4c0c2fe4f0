"""Random documents over one opaque ground: whatever a document may draw, in all its company."""

from __future__ import annotations

import random
import re

from nfbuild.render import reuse
from nfbuild.render.tasks import DrawTask

WIDTH, HEIGHT = 120, 80
HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
    f' height="{HEIGHT}"><defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="#123"/>'
    '<stop offset="1" stop-color="#fa8"/></linearGradient><linearGradient id="g1"><stop'
    ' stop-color="red"/><stop offset="1" stop-color="#00f" stop-opacity="0.3"/></linearGradient>'
    '<radialGradient id="g2" r="0.7"><stop stop-color="#0f0" stop-opacity="0.1"/><stop offset="1"'
    ' stop-color="#fff"/></radialGradient><clipPath id="c1"><circle cx="60" cy="40" r="33"/>'
    '</clipPath><mask id="m1"><rect width="90" height="60" fill="#aaa" rx="9"/></mask>'
    '<filter id="f1"><feGaussianBlur stdDeviation="2"/></filter></defs>'
).encode()
GLASS = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#c4a" fill-opacity="0.4"/>'.encode()
GROUND = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#sky)"/>'.encode()
PAINTS = ("red", "#0f08", "#1234ab", "url(#g1)", "url(#g2)", "none", "#fff")
BLENDS = (
    *("multiply", "screen", "overlay", "darken", "lighten", "color-dodge", "color-burn"),
    *("hard-light", "soft-light", "difference", "exclusion", "hue", "saturation", "color"),
    "luminosity",
)


class _Writer:
    def __init__(self, seed: int, picture: str, face: str) -> None:
        self._chance = random.Random(seed)
        self._picture = picture
        self._face = face

    def body(self) -> str:
        return "".join(self._element(0) for _ in range(self._chance.randint(1, 6)))

    def _number(self, low: float, high: float) -> str:
        return f"{self._chance.uniform(low, high):.{self._chance.randint(0, 3)}f}"

    def _dress(self) -> str:
        chance, n = self._chance, self._number
        options = [
            (0.7, f' fill="{chance.choice(PAINTS)}"'),
            (0.4, f' stroke="{chance.choice(PAINTS)}" stroke-width="{n(0, 7)}"'),
            (0.4, f' opacity="{n(0, 1)}"'),
            (0.3, f' fill-opacity="{n(0, 1)}"'),
            (0.3, f' transform="rotate({n(-90, 90)} 60 40) scale({n(0.3, 2)})"'),
            (0.15, ' clip-path="url(#c1)"'),
            (0.1, ' mask="url(#m1)"'),
            (0.05, ' filter="url(#f1)"'),
            (0.1, ' stroke-dasharray="5 3"'),
        ]
        return "".join(text for share, text in options if chance.random() < share)

    def _element(self, depth: int) -> str:
        chance, n, dress = self._chance, self._number, self._dress()
        kind = chance.choice("rrcpptigg" if depth < 3 else "rcp")
        if kind == "r":
            box = f'x="{n(-20, 100)}" y="{n(-20, 70)}" width="{n(0, 120)}" height="{n(0, 90)}"'
            return f'<rect {box} rx="{n(0, 9)}"{dress}/>'
        if kind == "c":
            centre = f'cx="{n(0, 120)}" cy="{n(0, 80)}"'
            return f'<ellipse {centre} rx="{n(1, 60)}" ry="{n(1, 40)}"{dress}/>'
        if kind == "p":
            points = " ".join(f"{n(-9, 130)},{n(-9, 90)}" for _ in range(6))
            return f'<path d="M{points.replace(" ", " C", 1)}Z"{dress}/>'
        if kind == "t":
            size = n(5, 60)
            text = chance.choice(["ink", "Ag yj", "o"])
            return (
                f'<text x="{n(-9, 90)}" y="{n(0, 80)}" font-size="{size}"'
                f' font-family="{self._face}"{dress}>{text}</text>'
            )
        if kind == "i":
            box = f'x="{n(-9, 90)}" y="{n(-9, 60)}" width="{n(4, 99)}" height="{n(4, 70)}"'
            return f'<image href="{self._picture}" {box}{dress}/>'
        inside = "".join(self._element(depth + 1) for _ in range(chance.randint(0, 3)))
        return f"<g{dress}>{inside}</g>"


def task(
    seed: int, picture: str, face: str, *, blend: bool = False, ground: bytes = GROUND
) -> DrawTask:
    """Return the random document of a seed; with `blend` its upper part blends."""
    body = _Writer(seed, picture, face).body()
    if blend:
        mode = random.Random(seed).choice(BLENDS)
        body = f'<g opacity="0.7"><g style="mix-blend-mode:{mode}">{body}</g></g>'
    pieces = (ground, body.encode())
    return DrawTask(
        HEAD + b"".join(pieces) + b"</svg>",
        WIDTH,
        HEIGHT,
        pictures=(picture,),
        faces=(face,),
        ground=reuse.ground(HEAD, pieces),
    )


def film(seed: int, picture: str, face: str) -> list[DrawTask]:
    """Return frames of a seed: some elements stand still above others that move.

    What moves is large in one film and small in the next; hairlines cover single steps of pixels.
    """
    chance = random.Random(seed)
    top = [*_elements(_Writer(seed, picture, face).body()), _hairline(chance)]
    size = chance.choice((1.0, 0.4, 0.15))
    tasks = []
    for number in range(6):
        body = _Writer(1000 * seed + number + 7, picture, face).body()
        place = f"translate({chance.uniform(-20, 100):.2f} {chance.uniform(-20, 60):.2f})"
        moving = f'<g transform="{place} scale({size})">{body}</g>'.encode()
        pieces = (GROUND, moving, _hairline(chance), *top)
        split = reuse.split(HEAD, pieces, 1)
        document = HEAD + b"".join(pieces) + b"</svg>"
        tasks.append(
            DrawTask(document, WIDTH, HEIGHT, pictures=(picture,), faces=(face,), split=split)
        )
    return tasks


def _hairline(chance: random.Random) -> bytes:
    x, y = chance.uniform(-20, 110), chance.uniform(-20, 60)
    width = chance.choice((0.004, 0.008, 9))
    fill = chance.choice(("#000", "#fff", "#8a3", "url(#g1)"))
    return f'<rect x="{x:.3f}" y="{y:.3f}" width="{width}" height="70" fill="{fill}"/>'.encode()


def _elements(body: str) -> list[bytes]:
    """Return the elements at the root of a piece of markup."""
    found, depth, start = [], 0, 0
    for tag in re.finditer(r"<(/?)[a-z]+[^>]*?(/?)>", body):
        depth += 0 if tag[2] else -1 if tag[1] else 1
        if depth == 0:
            found.append(body[start : tag.end()].encode())
            start = tag.end()
    return found


def compare_tops(
    staging: str, faces: dict, films: list[list[DrawTask]], changed: dict[str, object]
) -> dict[str, object]:
    """Draw films with kept tops and whole; tell which differ, and how tops were put on.

    Every top is taken to pay, and looked at in small tiles; `changed` are further names of the
    module with other values.
    """
    import collections
    import os

    from nfbuild.render import renderer as module
    from nfbuild.render import top

    os.chdir(staging)
    counts = collections.Counter()
    boxes_of = top.Top._boxes

    def counted(self, boxes):
        found = boxes_of(self, boxes)
        counts["whole" if found is None else "boxes" if found else "untouched"] += 1
        return found

    top.Top._boxes = counted
    top.Top.pays = True
    for name, value in {"_LEAST": 0.0, "_TILE": 32, "_AGAIN": 0, **changed}.items():
        setattr(top, name, value)
    plain = module.Renderer(faces, keep_rasters=False)
    keeping = module.Renderer(faces)
    differ = []
    for number, tasks in enumerate(films):
        for one in tasks:
            whole = bytes(plain.draw(one))
            if bytes(keeping.draw(one)) != whole:
                differ.append(number)
    return {"differ": differ, **counts}


def compare(staging: str, faces: dict, tasks: list[DrawTask], *, trust: bool) -> dict[str, object]:
    """Draw tasks on their ground and plain; tell which differ, and how many left the pass out.

    With `trust` every ground is taken for an opaque one.
    """
    import os

    from nfbuild.dataclasses import replace
    from nfbuild.render import renderer as module

    os.chdir(staging)
    if trust:
        module.is_opaque = lambda _raster: True
    renderer = module.Renderer(faces)
    plain = [bytes(renderer.draw(replace(one, ground=0))) for one in tasks]
    differ, own = [], 0
    for number, one in enumerate(tasks):
        if bytes(renderer.draw(one)) != plain[number]:
            differ.append(number)
        own += not renderer._is_straight
    return {"differ": differ, "own": own}
