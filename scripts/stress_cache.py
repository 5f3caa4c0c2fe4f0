"""Stress the cache with whole programs: `tests/ops/test_ops_cache_crowd.py` does a part of it.

    python scripts/stress_cache.py [--kills 300] [--seconds 60] [--seed 20260701] [--folder DIR]

Kills builds, builds that upload and collections with SIGKILL at seeded random moments, three at a
time on one cache folder and one shared directory, and checks that all is whole and the next build
equals a cold one; then lets eight builders, two collectors and a scrubber work on one folder with
too little room. Ends with exit code 1 at the first thing that is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ops"))

from cache_crowds import crowd, kill_at_random


def main() -> None:
    """Run both and print what was done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=20260701)
    parser.add_argument("--folder", type=Path, default=None, help="kept; a temporary one is not")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        (folder / "killed").mkdir(parents=True)
        began = time.monotonic()
        seen = kill_at_random(folder / "killed", kills=options.kills, seed=options.seed)
        seconds = time.monotonic() - began
        print(
            f"kills: {seen['killed']} ({seen['ended']} more had ended), all whole, every next "
            f"build as a cold one, at most {seen['litter']} temporary files, {seconds:.0f} s"
        )
        reports = crowd(
            folder / "crowd", seconds=options.seconds, builders=8, collectors=2, scrubbers=1
        )
        rounds = sum(report["rounds"] for report in reports["build"])
        gone = sum(report["gone"] for report in reports["collect"])
        scrubs = sum(report["rounds"] for report in reports["scrub"])
        print(f"crowd: {rounds} builds, {gone} files collected, {scrubs} scrubs, all right")


if __name__ == "__main__":
    main()
