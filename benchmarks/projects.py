"""Projects to measure with: the peer's examples, and generated ones of any size.

Everything generated is a function of its arguments: two runs measure the same work.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import struct
import zlib

FACES = '[fonts]\nfaces = ["package:font_source_sans_pro/files/SourceSansPro-Regular.ttf"]\n'
PEER_FACES = '[fonts]\nfaces = ["package:nanoframes/fonts/Sarasa Mono SC.ttf"]\n'


def png_export(scale: int = 1) -> str:
    """Return the configuration of a PNG sequence of every composition."""
    size = "" if scale == 1 else f"scale = {scale}\n"
    target = 'to = "out/{name}/{number:05d}.png"\n'
    return f'[[export]]\ncomposition = "*"\nformat = "png"\n{size}{target}'


def write(folder: str, name: str, text: str) -> None:
    """Write one file of a project."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def package(name: str) -> str:
    """Return the folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"`{name}` is not installed: `pip install 'nfbuild[dev]'`")
    return spec.submodule_search_locations[0]


def peer_examples(folder: str, *, exports: str) -> list[str]:
    """Copy the peer's twelve examples into a project; returns the names of their files."""
    examples = os.path.join(package("nanoframes"), "examples")
    target = os.path.join(folder, "examples")
    shutil.copytree(examples, target, ignore=shutil.ignore_patterns("lottie", "*.nf.json"))
    config = f'[project]\ncompositions = ["examples/*.nf.svg"]\n{PEER_FACES}{exports}'
    write(folder, "nfbuild.toml", config)
    return sorted(name for name in os.listdir(target) if name.endswith(".nf.svg"))


def many(folder: str, compositions: int, frames: int, *, exports: str = "") -> None:
    """Make a project of many small compositions with holds: three distinct frames in each."""
    for number in range(compositions):
        hue = f"{number * 2_654_435_761 % 0xFFFFFF:06x}"
        text = f"""<svg xmlns="http://www.w3.org/2000/svg" data-width="64" data-height="36"
     data-fps="25" data-duration="{frames / 25:g}">
  <rect width="64" height="36" fill="#101418"/>
  <rect x="{number % 48}" y="8" width="16" height="16" fill="#{hue}"/>
  <circle cx="32" cy="18" r="{3 + number % 7}" fill="#ffffff"
          data-start="{frames / 25 / 3:g}" data-duration="{frames / 25 / 3:g}"/>
  <rect y="32" width="64" height="4" fill="#ff5a36" data-start="{frames / 25 * 0.8:g}"/>
</svg>
"""
        write(folder, f"compositions/{number // 100:03d}/c{number:05d}.nf.svg", text)
    write(folder, "nfbuild.toml", f'[cache]\nmax_size = "50 GB"\n{exports}')


def moving(folder: str, frames: int, elements: int, *, each: int = 1000) -> None:
    """Make compositions in which every frame is distinct, `each` frames in one of them."""
    shapes = "\n".join(
        f'  <rect x="{i * 37 % 320}" y="{i * 53 % 180}" width="3" height="3" fill="#3b82f6"/>'
        for i in range(elements - 2)
    )
    for number in range(max(1, frames // each)):
        count = min(frames, each)
        end = count / 25
        text = f"""<svg xmlns="http://www.w3.org/2000/svg" data-width="320" data-height="180"
     data-fps="25" data-duration="{end:g}">
  <rect width="320" height="180" fill="#101418"/>
{shapes}
  <rect id="dot" y="{number}" width="8" height="8" fill="#ff5a36"/>
  <script type="application/nanoframes+json"><![CDATA[{{"animations": [{{"target": "#dot",
    "keyframes": [{{"t": 0, "transform": {{"translate": [0, 0]}}}},
                  {{"t": {end:g}, "transform": {{"translate": [312, 170]}}}}]}}]}}]]></script>
</svg>
"""
        write(folder, f"compositions/m{number:05d}.nf.svg", text)
    write(folder, "nfbuild.toml", FACES)


def overlays(folder: str, count: int = 16) -> None:
    """Make a film at 1080p: a shape moves below gradients that cover the canvas and stand still."""
    glass = "\n".join(
        f'  <rect width="1920" height="1080" rx="{number}" fill="url(#glass)"/>'
        for number in range(count)
    )
    text = f"""<svg xmlns="http://www.w3.org/2000/svg"
     data-width="1920" data-height="1080" data-fps="25" data-duration="1">
  <defs>
    <linearGradient id="sky">
      <stop offset="0" stop-color="#12161f"/><stop offset="1" stop-color="#2a3550"/>
    </linearGradient>
    <linearGradient id="glass">
      <stop offset="0" stop-color="#fff" stop-opacity="0.02"/><stop offset="1" stop-color="#000"
        stop-opacity="0.02"/>
    </linearGradient>
  </defs>
  <rect width="1920" height="1080" fill="url(#sky)"/>
  <circle id="dot" cy="540" r="40" fill="#ff5a36"/>
{glass}
  <script type="application/nanoframes+json"><![CDATA[{{"animations": [{{"target": "#dot",
    "keyframes": [{{"t": 0, "transform": {{"translate": [0, 0]}}}},
                  {{"t": 1, "transform": {{"translate": [1900, 0]}}}}]}}]}}]]></script>
</svg>
"""
    write(folder, "compositions/overlays.nf.svg", text)
    write(folder, "nfbuild.toml", FACES)


# In the long film the badge moves only between these seconds: 30 frames of 900.
WINDOW = (10.0, 11.0)


def long_film(folder: str, top: float = 0.0) -> None:
    """Write a film of 900 frames at 1080p; `top` is the one keyframe that an edit moves.

    A gradient and some hundred shapes stand still, a title and bars move at all times, and a badge
    hops once: another `top` moves the frames strictly inside the hop and no other.
    """
    grid = "\n".join(
        f'    <circle cx="{80 + 120 * (i % 15)}" cy="{120 + 120 * (i // 15)}" r="{3 + i % 5}"/>'
        for i in range(120)
    )
    bars = "\n".join(
        f'  <rect class="bar" x="{200 + 160 * i}" y="600" width="110" height="{120 + 37 * i}"/>'
        for i in range(9)
    )
    start, end = WINDOW
    middle = (start + end) / 2
    text = f"""<svg xmlns="http://www.w3.org/2000/svg"
     data-width="1920" data-height="1080" data-fps="30" data-duration="30">
  <defs>
    <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">
      <stop offset="0" stop-color="#12161f"/><stop offset="1" stop-color="#2a3550"/>
    </linearGradient>
  </defs>
  <rect width="1920" height="1080" fill="url(#sky)"/>
  <g fill="#3c4763">
{grid}
  </g>
  <g fill="#6fd3b5">
{bars}
  </g>
  <text id="title" x="200" y="300" font-family="SourceSansPro-Regular" font-size="120"
        fill="#f4efe6">Nine hundred frames</text>
  <rect id="sweep" x="0" y="1060" width="1920" height="20" fill="#f4efe6"/>
  <circle id="badge" cx="1700" cy="240" r="60" fill="#ff5a36"/>
  <script type="application/nanoframes+json"><![CDATA[{{"animations": [
    {{"target": "#sweep", "keyframes": [
      {{"t": 0, "transform": {{"scale": [0.001, 1]}}}},
      {{"t": 30, "transform": {{"scale": [1, 1]}}}}]}},
    {{"target": ".bar", "keyframes": [
      {{"t": 0, "transform": {{"translate": [0, 0]}}}},
      {{"t": 15, "transform": {{"translate": [0, -80]}}, "ease": "ease-in-out"}},
      {{"t": 30, "transform": {{"translate": [0, 0]}}, "ease": "ease-in-out"}}]}},
    {{"target": "#badge", "keyframes": [
      {{"t": {start:g}, "transform": {{"translate": [0, 0]}}}},
      {{"t": {middle:g}, "transform": {{"translate": [0, {-40 - top:g}]}}, "ease": "ease-out"}},
      {{"t": {end:g}, "transform": {{"translate": [0, 0]}}, "ease": "ease-in"}}]}}
  ]}}]]></script>
</svg>
"""
    write(folder, "compositions/long.nf.svg", text)
    if not os.path.exists(os.path.join(folder, "nfbuild.toml")):
        write(folder, "nfbuild.toml", FACES)


def family(folder: str, children: int = 20) -> None:
    """Make a parent that nests children, each with a picture of its own."""
    places = []
    for number in range(children):
        picture(folder, number, shade=number)
        text = f"""<svg xmlns="http://www.w3.org/2000/svg" data-width="160" data-height="90"
     data-fps="30" data-duration="3">
  <rect width="160" height="90" fill="#12161f"/>
  <image href="pictures/p{number:02d}.png" x="10" y="10" width="70" height="70"/>
  <rect id="bar" x="90" y="20" width="60" height="10" fill="#ff5a36"/>
  <script type="application/nanoframes+json"><![CDATA[{{"animations": [{{"target": "#bar",
    "keyframes": [{{"t": 0, "transform": {{"translate": [0, 0]}}}},
                  {{"t": 1, "transform": {{"translate": [0, 40]}}, "ease": "ease-out"}}]}}
  ]}}]]></script>
</svg>
"""
        write(folder, f"compositions/child{number:02d}.nf.svg", text)
        x, y = 20 + 188 * (number % 5), 20 + 130 * (number // 5)
        places.append(
            f'  <image href="child{number:02d}.nf.svg" x="{x}" y="{y}" width="160" height="90"/>'
        )
    body = "\n".join(places)
    text = f"""<svg xmlns="http://www.w3.org/2000/svg" data-width="960" data-height="540"
     data-fps="30" data-duration="3">
  <rect width="960" height="540" fill="#f4efe6"/>
{body}
</svg>
"""
    write(folder, "compositions/parent.nf.svg", text)
    write(folder, "nfbuild.toml", '[project]\ncompositions = ["compositions/parent.nf.svg"]\n')


def titles(folder: str) -> None:
    """Make a title card of 90 distinct frames whose face is the project's own `face.ttf`."""
    text = """<svg xmlns="http://www.w3.org/2000/svg" data-width="960" data-height="540"
     data-fps="30" data-duration="3">
  <rect width="960" height="540" fill="#12161f"/>
  <text id="title" x="90" y="300" font-size="104" fill="#f4efe6">Every frame, once</text>
  <script type="application/nanoframes+json"><![CDATA[{"animations": [{"target": "#title",
    "keyframes": [{"t": 0, "transform": {"translate": [0, 100]}},
                  {"t": 3, "transform": {"translate": [0, 0]}, "ease": "ease-out"}]}]}]]></script>
</svg>
"""
    write(folder, "compositions/card.nf.svg", text)
    write(folder, "nfbuild.toml", '[fonts]\nfaces = ["face.ttf"]\n')


def picture(folder: str, number: int, *, shade: int) -> None:
    """Write one small picture; another `shade` is another picture of the same size."""
    side = 64
    rows = b"".join(
        b"\0" + b"".join(bytes((x * 4, y * 4, shade * 11 % 256)) for x in range(side))
        for y in range(side)
    )

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    data += chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    path = os.path.join(folder, f"compositions/pictures/p{number:02d}.png")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def ninja_file(folder: str, edges: int) -> None:
    """Make a ninja project of so many edges, one input and one output each."""
    lines = ["rule copy", "  command = cp $in $out", ""]
    for number in range(edges):
        write(folder, f"in/{number // 100:03d}/{number:05d}", str(number))
        lines.append(
            f"build out/{number // 100:03d}/{number:05d}: copy in/{number // 100:03d}/{number:05d}"
        )
    write(folder, "build.ninja", "\n".join(lines) + "\n")
