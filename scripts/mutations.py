#!/usr/bin/env python3
"""The long form of the mutation run: seeded edits against real drawings, figures as a table.

    scripts/mutations.py [--mutations 20000] [--seed long] [--part 1/4]

A part takes every base of its own range of seeds, so that parts may run side by side. Exits with
1 when a case is unsound, the oracle draws otherwise, or a bound of tightness is missed.
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "properties"))

from mutation_bench import Bench
from mutation_controls import controls
from mutation_run import Run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", default="long")
    parser.add_argument("--part", default="1/1")
    chosen = parser.parse_args()
    part, parts = (int(number) for number in chosen.part.split("/"))

    looking = controls()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        try:
            run = Run(bench, f"{chosen.seed} {part}", looking)
            report = run.run(chosen.mutations // parts)
        finally:
            bench.close()
    print(report.table())
    for line in report.unsound[:50]:
        print("UNSOUND", line)
    for seed, number in report.disagreements[:50]:
        print("THE ORACLE DRAWS OTHERWISE", seed, "frame", number)
    for control in looking:
        print(f"control `{control.name}`: {control.caught or 'NOT CAUGHT'}")
    _, mean = report.tightness()
    distinct, _ = report.cost()
    good = not report.unsound and not report.disagreements and mean <= 0.1 and distinct <= 1.1
    return 0 if good and all(control.caught for control in looking) else 1


if __name__ == "__main__":
    sys.exit(main())
