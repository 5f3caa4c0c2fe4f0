"""The long form of the proof: this project and the peer's examples, many orders.

    python scripts/reproduce_all.py [--rounds 3] [--seed S] [--jobs 1,2,4,8,max] [--certify DIR]

Ends with exit code 1 at the first project that is not equal. With 3 rounds it is the claim as the
design states it: every worker count in three dispatch orders, kept rasters on and off.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ops"))

from reproduce_projects import ROOT, peer_examples, prove

from nfbuild.ops.reproduce.certificate import save
from nfbuild.ops.reproduce.proof import Compared
from nfbuild.ops.reproduce.trial import DEFAULT_JOBS, DEFAULT_SEED, ReproduceOptions


def _tell(event: Compared) -> None:
    state = "equal" if event.run.equal else f"DIFFERENT {event.run.places[0]}"
    print(f"  {event.number}/{event.of} {event.run.seconds:.0f} s {state}", flush=True)


def main() -> int:
    """Prove both projects; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--jobs", default=",".join(DEFAULT_JOBS))
    parser.add_argument("--certify", type=Path, default=None, help="write certificates there")
    asked = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        projects = {"project": ROOT, "peer": peer_examples(Path(temporary) / "examples")}
        for name, root in projects.items():
            print(name, flush=True)
            options = ReproduceOptions(
                start=str(root), jobs=tuple(asked.jobs.split(",")), seed=asked.seed,
                rounds=asked.rounds,
            )  # fmt: skip
            report = prove(root, options, _tell)
            equal = len(report.runs) - len(report.different)
            print(f"  {equal} of {len(report.runs)} builds equal, {len(report.films)} compositions")
            failed |= report.exit_code != 0
            if asked.certify is not None and report.exit_code == 0:
                asked.certify.mkdir(parents=True, exist_ok=True)
                save(report, str(asked.certify / f"{name}.json"))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
