"""The same frames and the same encoder give the same bytes, whatever the process is like."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(__file__)
FORMATS = ("mp4", "webm", "mov", "apng", "webp", "gif")


def exported(folder, kind: str, surroundings: dict[str, str], cores: set[int] | None) -> str:
    """Export in a fresh process; return the digest of the product."""

    def confined() -> None:
        if cores is not None:
            os.sched_setaffinity(0, cores)

    subprocess.run(
        [sys.executable, os.path.join(HERE, "export_child.py"), str(folder), kind, "1"],
        env={**os.environ, **surroundings},
        preexec_fn=confined,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with open(os.path.join(folder, "out", "film", f"film.{kind}"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


@pytest.mark.process
@pytest.mark.parametrize("kind", FORMATS)
def test_processes_agree(tmp_path, kind):
    """Other hash seeds, time zones, locales, numbers of cores and threads: the same bytes."""
    one = {next(iter(os.sched_getaffinity(0)))} if hasattr(os, "sched_getaffinity") else None
    digests = {
        exported(tmp_path / "a", kind, {"PYTHONHASHSEED": "1", "TZ": "UTC"}, None),
        exported(tmp_path / "b", kind, {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"}, one),
        exported(tmp_path / "c", kind, {"OMP_NUM_THREADS": "1", "LC_ALL": "C"}, None),
    }

    assert len(digests) == 1


@pytest.mark.parametrize("kind", FORMATS)
def test_one_process_agrees_with_itself(tmp_path, kind):
    """Encoding again, and again: memory that was used before does not show."""
    from test_export_faults import export_turn

    digests = {str(export_turn(tmp_path / str(turn), kind, 0)) for turn in range(4)}

    assert len(digests) == 1
