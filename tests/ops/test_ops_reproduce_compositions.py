"""The claim itself, on every change: this project and the peer's examples are equal in parallel.

Every worker count once, each in a dispatch order and surroundings of its own. The longer form, with
three orders and more, is `scripts/reproduce_all.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from reproduce_projects import ROOT, peer_examples, prove

from nfbuild.ops.reproduce.proof import ReproduceReport
from nfbuild.ops.reproduce.trial import DEFAULT_JOBS, ReproduceOptions


def told(report: ReproduceReport) -> str:
    """Return where builds differ, for the message of a failure."""
    return "\n".join(
        f"{run.surroundings}: {place}" for run in report.different for place in run.places
    )


@pytest.mark.process
def test_this_project_is_equal_in_parallel():
    """1, 2, 4, 8 and all workers against the inline executor, from empty caches."""
    report = prove(ROOT, ReproduceOptions(start=str(ROOT), jobs=DEFAULT_JOBS, rounds=1))

    assert report.different == [], told(report)
    assert report.exit_code == 0, report.errors
    assert len(report.runs) == 5
    assert len(report.films) >= 10


@pytest.mark.process
@pytest.mark.oracle
def test_the_peers_twelve_examples_are_equal_in_parallel(tmp_path: Path):
    """Held frames, nested compositions, raster text and pictures, with the peer's face."""
    root = peer_examples(tmp_path / "examples")

    report = prove(root, ReproduceOptions(start=str(root), jobs=DEFAULT_JOBS, rounds=1))

    assert report.different == [], told(report)
    assert report.exit_code == 0, report.errors
    assert len(report.films) == 12
    assert sum(row["frames"] for row in report.films) == 840
