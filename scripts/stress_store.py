"""Stress the stores: the whole of what `tests/store/test_store_crowd.py` does a part of.

    python scripts/stress_store.py [--kills 300] [--seconds 60] [--seed 20260701] [--folder DIR]

Kills writers, collectors and uploaders with SIGKILL at seeded random moments and checks after
every ten that all blobs and records are whole; then lets eight builders, two collectors and a
scrubber work on one folder with too little room. Ends with exit code 1 at the first thing that is
wrong; the same seed kills at the same moments of the clock, not of the program.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "store"))

from store_crowds import crowd, kill_at_random


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
        folder.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        hits = kill_at_random(folder / "killed", kills=options.kills, seed=options.seed)
        seconds = time.monotonic() - began
        print(f"kills: {options.kills} ({hits} while writing), all whole, {seconds:.0f} s")
        reports = crowd(folder / "crowd", seconds=options.seconds, seed=options.seed)
        rounds = sum(report["rounds"] for report in reports["build"])
        gone = sum(report["files"] for report in reports["collect"])
        scrubs = sum(report["done"] for report in reports["scrub"])
        print(
            f"crowd: {rounds} builds, {gone} blobs collected under them, {scrubs} scrubs, all right"
        )


if __name__ == "__main__":
    main()
