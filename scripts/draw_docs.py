"""Draw the pictures of `docs/format.md` from the examples in it, with nfbuild itself.

    python scripts/draw_docs.py [--check]

Every example is a fenced block whose first line names its file in a comment (JSON has no comments:
there the line before the block is the name in backticks and a colon). All of them together are one
project, and are built by one build. The title of an image names what it shows, `first: 4 8 12`:
frames of one composition, left to right. Prints what moved and writes it; with `--check` it writes
nothing and exits with 1 where something moved.

The pictures are pinned by decoded pixels (`tests/docs/test_docs_format.py`), on linux-x86_64.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from PIL import Image

from nfbuild.scene.ease import NAMED, Ease

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "format.md"
PICTURES = ROOT / "docs" / "pictures"
EASES = PICTURES / "eases.nf.svg"
GAP = 8

_BLOCK = re.compile(r"(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"(?:<!-- |# )([\w./-]+\.\w+)(?:: (.+?))?(?: -->)?")
_PICTURE = re.compile(r'!\[[^\]]+\]\(pictures/([\w-]+\.png) "([\w-]+): ([\d ]+)"\)')


@dataclass(frozen=True)
class Example:
    """A file of the project; `findings` are the codes of what `check` says of it."""

    path: str
    text: str
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A picture of the page: frames of one composition side by side."""

    file: str
    composition: str
    frames: tuple[int, ...]


def examples(page: str) -> Iterator[Example]:
    """Yield the examples of a page, in its order."""
    for name, _, text in _BLOCK.findall(page):
        if name:
            yield Example(name, text, ())
            continue
        named = _NAME.fullmatch(text.partition("\n")[0])
        if named is not None:
            findings = (named[2] or "").replace(",", " ").split()
            yield Example(named[1], text, tuple(findings))


def pictures(page: str) -> list[Picture]:
    """Return the pictures that a page shows."""
    return [
        Picture(file, name, tuple(int(number) for number in frames.split()))
        for file, name, frames in _PICTURE.findall(page)
    ]


def lay_out(page: str, folder: Path) -> None:
    """Write the project: the examples, the picture of the eases, and the files they refer to."""
    for example in examples(page):
        target = folder / example.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(example.text, "utf-8")
    (folder / "compositions" / "eases.nf.svg").write_text(eases(), "utf-8")
    assets = folder / "compositions" / "assets"
    assets.mkdir()
    mark = PICTURES / "mark.png"
    if mark.exists():
        shutil.copy(mark, assets / "mark.png")
    else:  # the very first time: any picture, the next round has the right one
        Image.new("RGB", (160, 80)).save(assets / "mark.png")
    film(assets / "clip.mp4")
    spec = find_spec("font_source_sans_pro")
    assert spec is not None
    assert spec.origin is not None
    files = Path(spec.origin).parent / "files"
    shutil.copy(files / "SourceSansPro-Bold.ttf", assets / "Label.ttf")


def film(path: Path) -> None:
    """Write a film of ten grey pictures, for the example that shows one."""
    import av  # noqa: PLC0415  the extra `video`

    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=10)
        stream.width, stream.height = 64, 36
        for number in range(10):
            picture = Image.new("RGB", (64, 36), (25 * number,) * 3)
            file.mux(stream.encode(av.VideoFrame.from_image(picture)))
        file.mux(stream.encode(None))


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run nfbuild in the project, as its author would."""
    env = {key: value for key, value in os.environ.items() if key != "CI"}
    return subprocess.run(
        [sys.executable, "-m", "nfbuild", *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def drawn(folder: Path, picture: Picture) -> Image.Image:
    """Return a picture put together from the frames that a build has exported."""
    frames = []
    for number in picture.frames:
        with Image.open(folder / "out" / picture.composition / f"{number:05d}.png") as file:
            frames.append(file.convert("RGBA"))
    width, height = frames[0].size
    strip = Image.new("RGBA", (len(frames) * (width + GAP) - GAP, height))
    for index, frame in enumerate(frames):
        strip.paste(frame, (index * (width + GAP), 0))
    return strip


def is_kept(picture: Picture, image: Image.Image) -> bool:
    """Tell whether the file of a picture has exactly these pixels."""
    path = PICTURES / picture.file
    if not path.exists():
        return False
    with Image.open(path) as file:
        kept = file.convert("RGBA")
    return kept.size == image.size and kept.tobytes() == image.tobytes()


def small(image: Image.Image) -> Image.Image:
    """Return the same pixels in the smallest mode that holds them."""
    if image.getchannel("A").getextrema() != (255, 255):
        return image
    flat = image.convert("RGB")
    colors = flat.getcolors(256)
    if colors is None:
        return flat
    indexed = flat.quantize(len(colors), Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    return indexed if indexed.convert("RGB").tobytes() == flat.tobytes() else flat


# -- the picture of all eases

_WIDE, _HIGH, _COLUMNS = 152, 150, 5
_PLOT, _LEFT, _FLOOR = 72, 30, 110  # side of a plot, and where its origin is in its cell
_POINTS, _BEATS = 48, 12


def eases() -> str:
    """Return a composition with the curve of every ease, and a ball that moves by it.

    Below each curve the ball's places at equal steps of time: where they are close, it is slow.
    """
    rows = -(-len(NAMED) // _COLUMNS)
    width, height = _WIDE * _COLUMNS, _HIGH * rows
    sizes = f'data-width="{width}" data-height="{height}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {sizes} data-fps="12" data-duration="1.5">',
        "  <!-- Written by scripts/draw_docs.py from the eases of the program. -->",
        f'  <rect width="{width}" height="{height}" fill="#12161f"/>',
    ]
    moves = []
    for index, (name, ease) in enumerate(NAMED.items()):
        x, y = _WIDE * (index % _COLUMNS), _HIGH * (index // _COLUMNS)
        out += [f'  <g transform="translate({x} {y})">', *_cell(name, ease), "  </g>"]
        frames = [{"t": 0.25, "transform": {"translate": [0, 0]}}]
        frames.append({"t": 1.25, "transform": {"translate": [_PLOT, 0]}, "ease": name})
        text = str(frames).replace("'", '"')
        moves.append(f'    {{"target": "#{name}", "keyframes": {text}}}')
    out.append('  <script type="application/nanoframes+json"><![CDATA[')
    out.append('  {"animations": [\n' + ",\n".join(moves) + "\n  ]}\n  ]]></script>\n</svg>\n")
    return "\n".join(out)


def _cell(name: str, ease: Ease) -> Iterator[str]:
    left, floor, side = _LEFT, _FLOOR, _PLOT
    curve = [
        f"{left + side * u:.2f} {floor - side * ease(u):.2f}"
        for u in (number / _POINTS for number in range(_POINTS + 1))
    ]
    yield f'    <rect x="{left}" y="{floor - side}" width="{side}" height="{side}" fill="#1b2130"/>'
    yield f'    <text x="{left}" y="24" font-size="14" fill="#f4efe6">{name}</text>'
    yield (
        f'    <polyline points="{" ".join(curve)}" fill="none" stroke="#ff5a36" stroke-width="2.5"'
        ' stroke-linecap="round" stroke-linejoin="round"/>'
    )
    places = [left + side * ease(number / _BEATS) for number in range(_BEATS + 1)]
    for place in dict.fromkeys(f"{place:.2f}" for place in places):
        yield f'    <circle cx="{place}" cy="{floor + 18}" r="2" fill="#5b6579"/>'
    yield f'    <circle id="{name}" cx="{left}" cy="{floor + 18}" r="5" fill="#f4efe6"/>'


# -- all of it


def refresh(*, write: bool) -> list[str]:
    """Draw everything, write what moved, and return its names."""
    page = PAGE.read_text("utf-8")
    moved = []
    if not EASES.exists() or EASES.read_text("utf-8") != eases():
        moved.append(EASES.name)
        if write:
            EASES.write_text(eases(), "utf-8")
    with tempfile.TemporaryDirectory(prefix="nfbuild-docs-") as name:
        folder = Path(name) / "project"
        folder.mkdir()
        lay_out(page, folder)
        built = run(folder, "build", "--quiet")
        if built.returncode:
            sys.exit(f"the examples do not build:\n{built.stdout}{built.stderr}")
        for picture in pictures(page):
            image = drawn(folder, picture)
            if is_kept(picture, image):
                continue
            moved.append(picture.file)
            if write:
                small(image).save(PICTURES / picture.file, optimize=True)
    return moved


def main() -> int:
    """Refresh until nothing moves: one example shows the picture of another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, say what moved")
    options = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    for _ in range(3):
        moved = refresh(write=not options.check)
        for name in moved:
            print(f"{'moved' if options.check else 'wrote'} docs/pictures/{name}")
        if options.check or not moved:
            return 1 if moved else 0
    sys.exit("the pictures do not come to rest")


if __name__ == "__main__":
    sys.exit(main())
