"""Draw thousands of random documents with what is kept and without, and look for one that differs.

    python scripts/kept_pixels.py [grounds|tops]... [--documents 20000] [--seed 0]

`grounds`: documents over an opaque ground, drawn in the rasterizer's own colours. `tops`: films of
six documents with elements that stand still above moving ones. The long form of tests in
`tests/render`. Ends with exit code 1 when a frame differs from the one that is drawn whole. A
document that the rasterizer never ends drawing costs its batch, which is named.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "render"))

import render_random

from nfbuild.digests import file_digest
from nfbuild.pixels import png

BATCH = 1000
PATIENCE = 120.0  # seconds for a batch, which takes two
FILM = 6


def grounds(staging: str, faces: dict[str, str], seeds: range, picture: str) -> dict[str, object]:
    """Compare documents on their grounds."""
    tasks = [render_random.task(seed, picture, next(iter(faces))) for seed in seeds]
    return render_random.compare(staging, faces, tasks, trust=False)


def tops(staging: str, faces: dict[str, str], seeds: range, picture: str) -> dict[str, object]:
    """Compare films with kept tops, as many as give so many documents."""
    films = [
        render_random.film(seed, picture, next(iter(faces)))
        for seed in range(seeds.start, seeds.start + len(seeds) // FILM)
    ]
    return render_random.compare_tops(staging, faces, films, {})


KINDS = {"grounds": grounds, "tops": tops}


def main() -> int:
    """Run all batches; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", nargs="?", choices=KINDS, help="one of them; both unless given")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    fonts = importlib.util.find_spec("font_source_sans_pro")
    assert fonts is not None
    assert fonts.submodule_search_locations
    path = os.path.join(fonts.submodule_search_locations[0], "files", "SourceSansPro-Regular.ttf")
    face = file_digest(Path(path).read_bytes())
    rows = bytes((x * 37 + x // 7) % 256 for x in range(4 * 40 * 30))
    data = png.encode(rows, 40, 30)
    bad = 0
    with tempfile.TemporaryDirectory() as staging:
        picture = f"{file_digest(data)}.png"
        Path(staging, picture).write_bytes(data)
        for name in [asked.kind] if asked.kind else KINDS:
            counts: Counter[str] = Counter()
            for start in range(asked.seed, asked.seed + asked.documents, BATCH):
                seeds = range(start, min(start + BATCH, asked.seed + asked.documents))
                # A process for each: the comparisons set names of the modules that they compare.
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    asking = pool.apply_async(KINDS[name], (staging, {face: path}, seeds, picture))
                    try:
                        found = asking.get(PATIENCE)
                    except multiprocessing.TimeoutError:
                        print(f"{name}: no end of the batch from seed {start}", flush=True)
                        continue
                for number in found.pop("differ"):
                    bad += 1
                    print(f"{name}: {number} of the batch from seed {start} differs", flush=True)
                counts.update(found)
            print(f"{name}: {dict(counts)}", flush=True)
    print(f"{bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
