"""Stress the builds: the whole of what `tests/ops/test_ops_reproduce_stress.py` does a part of.

    python scripts/stress_build.py [--builds 50] [--seed 20260701] [--root DIR]

The same build again and again with more workers than cores beside a process that eats one; two
builds of one project at once; workers killed at random; a slow worker. Every build is compared with
that of the inline executor. Ends with exit code 1 where a byte differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "ops"))

import stress_builds as stress  # noqa: E402  the path is set above


def main() -> int:
    """Run all four and print what was done; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--builds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=20260701)
    parser.add_argument("--root", type=Path, default=ROOT, help="the project")
    asked = parser.parse_args()
    some = max(1, asked.builds // 5)
    kinds = {
        "beside a hog": lambda: stress.again_and_again(asked.root, asked.builds, asked.seed),
        "two at once": lambda: stress.two_at_once(asked.root, some),
        "workers killed": lambda: stress.workers_killed(asked.root, some, asked.seed, every=0.5),
        "a slow worker": lambda: stress.one_slow(asked.root, some),
    }
    failed = False
    for name, run in kinds.items():
        began = time.monotonic()
        done = run()
        killed = f", {done.killed} workers killed" if done.killed else ""
        state = "the same bytes" if not done.places else "DIFFERENT"
        print(
            f"{name}: {done.builds} builds{killed}, {state}, {stress.seconds_since(began)}",
            flush=True,
        )
        for place in done.places[:5]:
            print(f"  {place}")
        failed |= bool(done.places)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
