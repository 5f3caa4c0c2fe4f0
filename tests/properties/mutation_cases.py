"""The compositions that the mutation engine edits: generated, of the corpus, of the project."""

import json
import os
import random
import re

import mutation_pictures
from mutation_edits import COLOURS, Case

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(TESTS)
CORPUS = os.path.join(TESTS, "corpus")
WORDS = ("Hello", "Wide world", "a b c", "Type", "Ten frames", "x")
LAYOUTS = ('data-wrap="60"', 'data-fit="50"', 'data-bg="#204060"', 'data-anchor="middle"')
FAMILIES = ("Body", "Strong", "Sarasa Mono SC", "Sarasa Mono SC", "Fallback")
COUNTERS = ("{frame}", "{time}", "{frame} of {frames}")
EASES = ("linear", "ease-in", "ease-out", "ease-in-out", "standard", "accelerate")


def generated(seed):
    """Return a composition of 200 x 100 pixels and ten frames with something of everything."""
    rng = random.Random(f"composition {seed}")
    n = rng.randrange

    def colour():
        return rng.choice([c for c in COLOURS if c != "none"])

    defs = [
        (
            f'<linearGradient id="fade"><stop offset="0" stop-color="{colour()}"/>'
            f'<stop offset="1" stop-color="{colour()}" stop-opacity="0.5"/></linearGradient>'
        ),
        f'<clipPath id="window"><rect x="{n(50)}" y="{n(20)}" width="120" height="70"/></clipPath>',
        f'<g id="mark"><circle r="{4 + n(9)}" fill="{colour()}"/><rect width="9" height="3"/></g>',
    ]
    body = [
        f'<rect id="back" width="200" height="100" fill="{colour()}"/>',
        (
            f'<rect id="box" x="{n(100)}" y="{n(40)}" width="{10 + n(60)}" height="{10 + n(40)}" '
            f'fill="url(#fade)" stroke="{colour()}" stroke-width="1.5"/>'
        ),
        (
            f'<circle id="ball" cx="{20 + n(150)}" cy="{20 + n(60)}" r="{5 + n(30)}" '
            f'fill="{colour()}" fill-opacity="0.8"/>'
        ),
        (
            f'<path id="line" d="M{n(50)} {n(50)} L{n(200)},{n(100)} C 10 20 30 {n(90)} 50 60 Z" '
            f'fill="none" stroke="{colour()}" '
            f'transform="translate({n(20)}, {n(20)}) rotate({n(90)})"/>'
        ),
        f'<polygon points="{n(50)},{n(50)} {n(200)},{n(100)} {n(99)},9" fill="{colour()}"/>',
        (
            f'<text id="title" x="{n(60)}" y="{20 + n(70)}" font-size="{12 + n(20)}" '
            f'font-family="{rng.choice(FAMILIES)}" fill="{colour()}">'
            f"{rng.choice(WORDS)} <tspan>{rng.choice(WORDS)}</tspan> {rng.choice(WORDS)}</text>"
        ),
        (
            f'<text x="{n(60)}" y="{20 + n(70)}" font-size="{10 + n(9)}" fill="{colour()}" '
            f'font-family="{rng.choice(FAMILIES[2:])}" xml:space="preserve">'
            f"two  {rng.choice(WORDS)}</text>"
        ),
        (
            f'<text id="words" x="{n(30)}" y="{20 + n(30)}" font-size="{9 + n(6)}" '
            f'fill="{colour()}" font-family="Body" {rng.choice(LAYOUTS)}>'
            f"{rng.choice(WORDS)} {rng.choice(WORDS)}</text>"
        ),
        (
            f'<text x="{n(100)}" y="{20 + n(70)}" font-size="14" fill="{colour()}" '
            f'data-frame-text="{rng.choice(COUNTERS)}">0</text>'
        ),
        f'<use id="used" href="#mark" x="{n(180)}" y="{n(80)}"/>',
        (
            f'<g id="group" clip-path="url(#window)" opacity="0.7"><rect x="{n(99)}" width="60" '
            f'height="{20 + n(60)}" fill="{colour()}"/><circle cx="{n(200)}" cy="50" r="22" '
            f'fill="{colour()}"/></g>'
        ),
        (
            f'<image id="picture" href="dots.png" x="{n(150)}" y="{n(60)}" width="{20 + n(40)}" '
            f'height="{20 + n(30)}"/>'
        ),
        f'<image href="art/tiles.png" x="{n(150)}" y="{n(60)}" width="24" height="18"/>',
        f'<image id="nested" href="child.nf.svg" x="{n(120)}" y="{n(50)}" width="60" height="30"/>',
        f'<rect class="marked" x="{n(180)}" y="{n(80)}" width="12" height="12" fill="{colour()}"/>',
        (
            f'<rect id="late" x="{n(180)}" y="{n(80)}" width="15" height="9" fill="{colour()}" '
            f'data-start="0.{n(5)}" data-duration="0.{2 + n(4)}"/>'
        ),
    ]
    rng.shuffle(body)
    first = next(one for one in body if 'id="back"' in one)
    # The texts stay: which face each of them means is a matter of its own.
    body = [
        first,
        *(one for one in body if one is not first and ("<text" in one or rng.random() < 0.75)),
    ]
    whole = "".join(body)
    animations = []
    for target in ("#box", "#ball", "#title", "#group", "#used", "#picture", "#line", ".marked"):
        name = target.strip("#.")
        if f'"{name}"' not in whole or rng.random() < 0.45:
            continue
        keys = []
        for at in sorted(rng.sample([0, 0.2, 0.3, 0.5, 0.7, 1], 2 + n(2))):
            key = {"t": at}
            way = n(4)
            if way == 0:
                key["transform"] = {"translate": [n(40), n(20)]}
            elif way == 1:
                key["transform"] = {"scale": [1, 0.5 + n(9) / 10], "center": [n(99), 50]}
            elif way == 2:
                key["opacity"] = n(11) / 10
            else:
                key["fill"] = rng.choice(["#ff0000", "#204060", "#00ff80"])
            if keys:
                key["ease"] = rng.choice(EASES)
            keys.append(key)
        animations.append({"target": target, "keyframes": keys})
    timeline = json.dumps({"animations": animations}, indent=rng.choice([None, 1, 2]))
    style = "<style>.marked{stroke:#204060}</style>" if rng.random() < 0.3 else ""
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg" data-width="200" data-height="100" data-fps="10" '
        'data-duration="1">\n  <!-- generated -->\n  '
        f"<defs>{''.join(defs)}</defs>{style}\n  " + "\n  ".join(body) + "\n  "
        f'<script type="application/nanoframes+json">{timeline}</script>\n</svg>\n'
    )
    child = (
        '<svg xmlns="http://www.w3.org/2000/svg" data-width="60" data-height="30" data-fps="10" '
        f'data-duration="1"><rect id="a" width="60" height="30" fill="{colour()}"/>'
        f'<circle id="b" cx="9" cy="15" r="{3 + n(9)}" fill="{colour()}"/>'
        '<script type="application/nanoframes+json">{"animations": [{"target": "#b", "keyframes": '
        f'[{{"t": 0, "opacity": 1}}, {{"t": 1, "transform": {{"translate": [{n(60)}, 0]}}}}]}}]}}'
        "</script></svg>"
    )
    files = {
        "compositions/case.nf.svg": text.encode(),
        "compositions/child.nf.svg": child.encode(),
        "compositions/dots.png": mutation_pictures.pattern(rng),
        "compositions/art/tiles.png": mutation_pictures.pattern(rng),
    }
    return Case(files, name=f"generated {seed}")


def plain(seed):
    """Return a document without time, text and files, which bare ThorVG draws as it is."""
    case = generated(seed)
    text = case.files[case.main].decode()
    text = re.sub(r"<(text|image)\b.*?(/>|</text>)", "", text, flags=re.DOTALL)
    text = re.sub(r"<image\b[^>]*/>|<script.*?</script>", "", text, flags=re.DOTALL)
    text = re.sub(r' data-[a-z]+="[^"]*"', "", text)
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" viewBox="0 0 200 100"'
    text = text.replace('<svg xmlns="http://www.w3.org/2000/svg"', head, 1)
    return Case(
        {"compositions/case.svg": text.encode()},
        main="compositions/case.svg",
        frames=(0,),
        still=True,
        name=f"plain {seed}",
    )


def corpus():
    """Return every case of the corpus that the peer draws as nfbuild does."""
    found = []
    for folder, _, names in sorted(os.walk(CORPUS)):
        matter = os.path.relpath(folder, CORPUS).replace(os.sep, "/")
        files = {}
        for name in sorted(names):
            if not name.endswith(".txt"):
                with open(os.path.join(folder, name), "rb") as file:
                    files[f"compositions/{matter}/{name}"] = file.read()
        for path, data in files.items():
            if path.endswith(".nf.svg") and b"departure:" not in data:
                used = {
                    p: d
                    for p, d in files.items()
                    if p == path or not p.endswith(".nf.svg") or matter == "nested"
                }
                found.append(Case(used, main=path, name=path[13:-7]))
    return found


def project():
    """Return the project's own compositions, drawn on 200 pixels of width, ten frames of each."""
    folder = os.path.join(ROOT, "compositions")
    files = {}
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.endswith((".svg", ".jpg", ".png")):
                with open(path, "rb") as file:
                    data = file.read()
                if name.endswith(".svg"):
                    data = data.replace(b"SourceSansPro-Regular", b"Body")
                    data = data.replace(b"SourceSansPro-Bold", b"Strong")
                files[os.path.relpath(path, ROOT).replace(os.sep, "/")] = data
    found = []
    for path, data in files.items():
        if not path.endswith(".nf.svg"):
            continue
        text = data.decode()
        width, height, rate, duration = (
            float(re.search(rf'data-{name}="([0-9.]+)"', text)[1])
            for name in ("width", "height", "fps", "duration")
        )
        if rate != int(rate):
            continue
        text = text.replace(f'data-width="{width:g}"', 'data-width="200"', 1)
        text = text.replace(
            f'data-height="{height:g}"', f'data-height="{200 * height / width:g}"', 1
        )
        if "viewBox" not in text:
            text = text.replace("<svg ", f'<svg viewBox="0 0 {width:g} {height:g}" ', 1)
        used = {p: d for p, d in files.items() if p == path or p.rpartition("/")[2] in text}
        count = round(rate * duration)
        frames = tuple(sorted({round(at * (count - 1) / 9) for at in range(10)}))
        found.append(
            Case({**used, path: text.encode()}, main=path, frames=frames, name=path[13:-7])
        )
    return found


def lottie(seed):
    """Return a Lottie scene of 200 x 100 pixels and ten frames, without text and files."""
    rng = random.Random(f"scene {seed}")
    n = rng.randrange

    def number(value):
        return {"a": 0, "k": value}

    def moving(*values):
        keys = [
            {"t": t, "s": value, "i": {"x": [0.5], "y": [1]}, "o": {"x": [0.5], "y": [0]}}
            for t, value in zip((0, 4 + n(4), 9), values, strict=False)
        ]
        return {"a": 1, "k": keys}

    layers = []
    for index in range(2 + n(4)):
        shape = rng.choice(
            [
                {"ty": "el", "p": number([0, 0]), "s": number([20 + n(40), 20 + n(40)])},
                {
                    "ty": "rc",
                    "p": number([n(9), 0]),
                    "s": number([30, 20 + n(30)]),
                    "r": number(n(9)),
                },
            ]
        )
        fill = {"ty": "fl", "c": number([n(10) / 10, n(10) / 10, n(10) / 10, 1]), "o": number(90)}
        place = {"ty": "tr", "p": number([0, 0]), "a": number([0, 0]), "s": number([100, 100])}
        place |= {"r": number(0), "o": number(100)}
        group = {"ty": "gr", "nm": f"group {index}", "it": [shape, fill, place]}
        position = moving([n(200), n(100), 0], [n(200), n(100), 0], [n(200), 50, 0])
        transform = {"p": rng.choice([position, number([n(200), n(100), 0])])}
        transform |= {"a": number([0, 0, 0]), "s": number([100, 100, 100]), "r": number(n(90))}
        transform["o"] = rng.choice([number(80), moving([100], [20], [60])])
        layers.append(
            {"ddd": 0, "ind": index + 1, "ty": 4, "nm": f"layer {index}", "ks": transform, "ao": 0}
            | {"shapes": [group], "ip": 0, "op": 10, "st": 0, "bm": 0, "sr": 1}
        )
    scene = {"v": "5.7.0", "fr": 10, "ip": 0, "op": 10, "w": 200, "h": 100, "nm": "scene"}
    scene |= {"ddd": 0, "assets": [], "layers": layers}
    return Case(
        {"compositions/case.lottie.json": json.dumps(scene, indent=1).encode()},
        main="compositions/case.lottie.json",
        lottie=True,
        name=f"scene {seed}",
    )


def base(rng, number):
    """Return the base of run `number`: most are generated, every tenth is the project's."""
    if number % 10 == 9:
        return rng.choice(project())
    if number % 10 in (4, 8):
        return rng.choice(corpus())
    if number % 10 == 2:
        return lottie(rng.randrange(10**6))
    if number % 10 == 6:
        return plain(rng.randrange(10**6))
    return generated(rng.randrange(10**6))
