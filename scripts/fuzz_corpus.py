"""Damage every file of the corpus in thousands of ways, and build what comes of it.

    python scripts/fuzz_corpus.py [--variants 10000] [--from 0] [--seed 20261201] [--jobs 2]

The long form of `tests/ops/test_ops_fuzz.py`. Prints a line a batch, then every variant that broke
a rule; ends with exit code 1 if one did. A variant is made again by `--from N --variants 1`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ops"))

import fuzzing

BATCH = 250


def main() -> int:
    """Run all batches; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", type=int, default=10_000)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--seed", type=int, default=20261201)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    total = fuzzing.Tally()
    end = asked.first + asked.variants
    with tempfile.TemporaryDirectory() as folder:
        for start in range(asked.first, end, BATCH):
            numbers = range(start, min(start + BATCH, end))
            tally = fuzzing.run(Path(folder), asked.seed, numbers, jobs=asked.jobs)
            total.frames += tally.frames
            total.refused += tally.refused
            total.deaths += tally.deaths
            total.seconds += tally.seconds
            total.slowest = max(total.slowest, tally.slowest)
            total.faults += tally.faults
            print(
                f"{numbers[0]}-{numbers[-1]}: {tally.frames} drawn, {tally.refused} refused, "
                f"{tally.deaths} of them killed workers, {tally.seconds:.1f} s",
                flush=True,
            )
    print(
        f"{total.variants} variants: {total.frames} drawn, {total.refused} refused, {total.deaths} "
        f"killed workers, {total.seconds:.0f} s, slowest {total.slowest:.2f} s a frame"
    )
    for fault in total.faults:
        print(fault)
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main())
