"""Random documents over one opaque ground: whatever a document may draw, in all its company."""

from __future__ import annotations

import random
import re

from random_markup import HEAD, HEIGHT, WIDTH, Writer

from nfbuild.render import reuse
from nfbuild.render.tasks import DrawTask

GLASS = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#c4a" fill-opacity="0.4"/>'.encode()
GROUND = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#sky)"/>'.encode()
BLENDS = (
    *("multiply", "screen", "overlay", "darken", "lighten", "color-dodge", "color-burn"),
    *("hard-light", "soft-light", "difference", "exclusion", "hue", "saturation", "color"),
    "luminosity",
)


def task(
    seed: int, picture: str, face: str, *, blend: bool = False, ground: bytes = GROUND
) -> DrawTask:
    """Return the random document of a seed; with `blend` its upper part blends."""
    body = Writer(seed, picture, face).body()
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
    top = [*_elements(Writer(seed, picture, face).body()), _hairline(chance)]
    size = chance.choice((1.0, 0.4, 0.15))
    tasks = []
    for number in range(6):
        body = Writer(1000 * seed + number + 7, picture, face).body()
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
    modules with other values.
    """
    import collections
    import os

    from nfbuild.render import renderer as module
    from nfbuild.render import standing, top

    os.chdir(staging)
    counts = collections.Counter()
    boxes_of = top.Top._boxes

    def counted(self, boxes):
        found = boxes_of(self, boxes)
        counts["whole" if found is None else "boxes" if found else "untouched"] += 1
        return found

    top.Top._boxes = counted
    standing._pays = lambda *_: True
    for name, value in {"_TILE": 32, "_NEAR": 3, "_LEAST": 0.0, "_AGAIN": 0, **changed}.items():
        setattr(standing if hasattr(standing, name) else top, name, value)
    plain = module.Renderer(faces, keep_rasters=False)
    keeping = module.Renderer(faces)
    differ = []
    for number, tasks in enumerate(films):
        counts["drawn"] += len(tasks)
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
    return {"differ": differ, "own": own, "drawn": len(tasks)}
