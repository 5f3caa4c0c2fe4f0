"""Run the cases side by side and print one table.

    python -m benchmarks [CASE...] [--rounds N] [--json FILE] [--chart FILE.svg]

Exits with 1 when a target is missed. `--shrink N` divides the generated sizes, to try the suite
out: its figures then mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile

from benchmarks import chart
from benchmarks.cases import Options
from benchmarks.every import CASES
from benchmarks.measure import take_turns
from benchmarks.report import Row, Verdict, document, judge, rows_of, table


def main() -> int:
    """Read the command line, run, print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [case.name for case in CASES]
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer-rounds", type=int, default=1, help="of the slow peer")
    parser.add_argument("--shrink", type=int, default=1, help="divide the generated sizes")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--chart", metavar="FILE.svg")
    parser.add_argument("--folder", help="work here, on the disk that is to be measured")
    asked = parser.parse_args()
    unknown = [name for name in asked.cases if name not in names]
    if unknown:
        parser.error(f"no case `{unknown[0]}`: there are {', '.join(names)}")

    options = Options(shrink=asked.shrink, peer_rounds=asked.peer_rounds)
    rows: list[Row] = []
    verdicts: list[Verdict] = []
    failed: list[str] = []
    if asked.folder is not None:
        os.makedirs(asked.folder, exist_ok=True)
    base = tempfile.mkdtemp(prefix="nfbuild-benchmarks-", dir=asked.folder)
    try:
        for case in CASES:
            if asked.cases and case.name not in asked.cases:
                continue
            print(f"{case.name} ...", file=sys.stderr, flush=True)
            folder = os.path.join(base, case.name)
            os.makedirs(folder)
            try:
                setup = case.make(folder, options)
                figures = take_turns(setup.contenders, asked.rounds)
            except RuntimeError as error:
                # One case that does wrong work must not cost an hour of the others.
                failed.append(f"{case.name}: {error}")
                print(f"{case.name}: {error}", file=sys.stderr, flush=True)
                continue
            rows += rows_of(case, figures)
            verdicts += judge(case, setup.targets, figures)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        shutil.rmtree(base, ignore_errors=True)

    print(table(rows, verdicts))
    for each in failed:
        print(f"\nnot measured: {each}")
    if asked.json:
        told = document(rows, verdicts, rounds=asked.rounds, shrink=asked.shrink)
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=1)
            file.write("\n")
    if asked.chart:
        with open(asked.chart, "w", encoding="utf-8") as file:
            file.write(chart.draw(rows))
    return 0 if not failed and all(each.passed for each in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
