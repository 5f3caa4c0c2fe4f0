"""Draw thousands of random documents over an opaque ground, and look for a pixel that is not.

    python scripts/opaque_grounds.py [--documents 20000] [--seed 0]

The long form of a test in `tests/render/test_render_reuse.py`. Ends with exit code 1 when a frame
drawn in the rasterizer's own colours differs from the straight one.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "render"))

import render_random

from nfbuild.digests import file_digest
from nfbuild.pixels import png

BATCH = 1000


def main() -> int:
    """Run all batches; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
    bad = own = 0
    with tempfile.TemporaryDirectory() as staging:
        picture = f"{file_digest(data)}.png"
        Path(staging, picture).write_bytes(data)
        for start in range(asked.seed, asked.seed + asked.documents, BATCH):
            seeds = range(start, min(start + BATCH, asked.seed + asked.documents))
            tasks = [render_random.task(seed, picture, face) for seed in seeds]
            found = render_random.compare(staging, {face: path}, tasks, trust=False)
            own += found["own"]
            for number in found["differ"]:
                bad += 1
                print(f"seed {seeds[number]} differs", flush=True)
    print(f"{asked.documents} documents, {own} in the rasterizer's own colours, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
