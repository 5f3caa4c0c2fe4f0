"""What a run found: rows of the table, judged targets, facts of the machine; as text and JSON."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata

from benchmarks.cases import Case
from benchmarks.measure import Figures
from benchmarks.targets import Judged, Target


@dataclass(frozen=True)
class Row:
    """One contender of one case; `ratio` is to the first contender of the case."""

    case: str
    title: str
    contender: str
    runs: int
    seconds: float
    ratio: float
    parent_mb: float
    worker_mb: float


@dataclass(frozen=True)
class Verdict:
    """One target of one case."""

    case: str
    target: str
    reached: str
    passed: bool


def rows_of(case: Case, figures: Mapping[str, Figures]) -> list[Row]:
    """Return the rows of one case."""
    first = next(iter(figures.values())).median
    return [
        Row(
            case.name,
            case.title,
            each.name,
            len(each.seconds),
            each.median,
            each.median / first,
            each.parent_bytes / 1e6,
            each.worker_bytes / 1e6,
        )
        for each in figures.values()
    ]


def judge(case: Case, targets: Sequence[Target], figures: Mapping[str, Figures]) -> list[Verdict]:
    """Return how each target of a case was met."""
    judged: list[Judged] = [target.judge(figures) for target in targets]
    return [Verdict(case.name, each.text, each.reached, each.passed) for each in judged]


def machine() -> dict[str, object]:
    """Return the facts that a reader needs to compare two runs, and nothing that names a user."""
    packages = ("nfbuild", "nanoframes", "thorvg-python", "typer", "numpy", "isal", "blake3")
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "python": sys.version.split()[0],
        "packages": {name: _version(name) for name in packages},
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"


def table(rows: Sequence[Row], verdicts: Sequence[Verdict]) -> str:
    """Return the table that people read."""
    lines: list[str] = []
    case = ""
    for row in rows:
        if row.case != case:
            case = row.case
            lines.append(f"\n{row.case}: {row.title}")
        memory = ""
        if row.parent_mb:
            memory = f"   parent {row.parent_mb:.0f} MB, worker {row.worker_mb:.0f} MB"
        lines.append(
            f"  {row.contender:<20} {row.seconds:>9.3f} s  {row.ratio:>8.2f} x"
            f"  of {row.runs}{memory}"
        )
    if verdicts:
        lines.append("\ntargets")
    for each in verdicts:
        word = "met   " if each.passed else "MISSED"
        lines.append(f"  {word}  {each.case}: {each.target}: {each.reached}")
    return "\n".join(lines)


def document(
    rows: Sequence[Row], verdicts: Sequence[Verdict], *, rounds: int, shrink: int
) -> dict[str, object]:
    """Return the run as one JSON document."""
    return {
        "schema": "nfbuild.benchmarks/1",
        "rounds": rounds,
        "shrink": shrink,
        "machine": machine(),
        "rows": [asdict(row) for row in rows],
        "targets": [asdict(each) for each in verdicts],
    }
