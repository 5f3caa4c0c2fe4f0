"""`reproduce`: the proof that parallel execution changes no byte of what is made.

From empty caches the inline executor builds the project once, in plain surroundings: the reference.
Then every worker count builds it again, in several dispatch orders drawn from a seed, each in
other surroundings (`surroundings`), each a process of its own over a copy of its own.
Whatever was written is compared (`evidence`). On a difference the surroundings of that
build are tried one at a time, to name the one that does it.

A green result says that these builds were equal on this machine; `docs/portability.md` says what
it does not say.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import shown
from nfbuild.errors import EXIT_GATE, NfbuildError, UsageError, worst_exit
from nfbuild.events import Failed
from nfbuild.ops.reproduce.surroundings import DIMENSIONS, REFERENCE, matrix
from nfbuild.ops.reproduce.trial import Built, ReproduceOptions, Run, make_trial
from nfbuild.ops.run.reports import failure, talk_json

if TYPE_CHECKING:
    from nfbuild.ops.run.session import Session

_MOST_JOBS = 256


@dataclass(frozen=True)
class Compared:
    """Occurs when one build of the matrix was compared with the reference."""

    number: int
    of: int
    run: Run


@dataclass
class ReproduceReport:
    """What a proof found; `films` are the reference's rows of `build --json`."""

    options: ReproduceOptions
    workers: list[int]
    lane: str
    level: str
    toolchains: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    films: list[dict[str, Any]] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    errors: list[Failed] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    reference_exit: int = 0

    @property
    def different(self) -> list[Run]:
        """The builds that differ from the reference."""
        return [run for run in self.runs if not run.equal]

    @property
    def exit_code(self) -> int:
        """The exit code: nothing compared is a failure too."""
        exits = {self.reference_exit, *(error.exit_code for error in self.errors)}
        if self.different or not self.runs or not self.films:
            exits.add(EXIT_GATE)
        return worst_exit(exits)

    def to_json(self) -> dict[str, Any]:
        """Return the document of `reproduce --json`."""
        return {
            "schema": "nfbuild.reproduce/1",
            "ok": self.exit_code == 0,
            "lane": self.lane,
            "toolchains": [shown(one) for one in self.toolchains],
            "seed": self.options.seed,
            "rounds": self.options.rounds,
            "jobs": list(self.options.jobs),
            "workers": self.workers,
            "dimensions": list(DIMENSIONS),
            "reference": {
                "surroundings": REFERENCE.to_json(),
                "digests": {name: shown(one) for name, one in self.digests.items()},
                "compositions": self.films,
            },
            "runs": [run.to_json() for run in self.runs],
            "different": len(self.different),
            "errors": [talk_json(error) for error in self.errors],
            "warnings": self.warnings,
        }


def reproduce(
    session: Session, options: ReproduceOptions
) -> Generator[Failed | Compared, None, ReproduceReport]:
    """Build the matrix and compare; yields each build as it was compared."""
    workers = read_jobs(options.jobs)
    if options.rounds < 1:
        raise UsageError("a proof takes at least one round")
    report = ReproduceReport(options, workers, session.toolchain.lane, session.toolchain.level)
    scratch = tempfile.mkdtemp(prefix="nfbuild-reproduce-")
    try:
        trial = yield from make_trial(session, options, scratch, report.errors)
        first = trial.build(REFERENCE)
        _note(report, first)
        if not report.films:
            return report
        runs = matrix(options.seed, workers, options.rounds)
        for number, surroundings in enumerate(runs, 1):
            run = trial.compare(first, surroundings)
            if run.places and options.narrow and not report.different:
                run.alone = trial.narrow(first, surroundings)
            report.runs.append(run)
            yield Compared(number, len(runs), run)
    except NfbuildError as error:
        failed = failure(error, None)
        report.errors.append(failed)
        yield failed
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return report


def read_jobs(words: Sequence[str]) -> list[int]:
    """Return worker counts; `max` is one a core, `inline` no worker. Raises UsageError."""
    counts = []
    for word in words:
        if word == "max":
            counts.append(cores())
        elif word == "inline":
            counts.append(0)
        elif word.isascii() and word.isdigit() and 0 < int(word) <= _MOST_JOBS:
            counts.append(int(word))
        else:
            raise UsageError(
                f"`{word}` is no worker count", hint="write them as `1,2,4,8,max`, or `inline`"
            )
    if not counts:
        raise UsageError("a proof needs a worker count", hint="write them as `1,2,4,8,max`")
    return counts


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _note(report: ReproduceReport, first: Built) -> None:
    report.digests = dict(first.evidence.digests)
    report.reference_exit = first.exit
    rows = first.report["compositions"]
    report.films = [
        {"name": row["name"], "frames": row["frames"], "digest": row["digest"]} for row in rows
    ]
    found = {row["identity"]["toolchain"]: None for row in rows if row.get("identity")}
    report.toolchains = sorted(one.partition(":")[2] or one for one in found)
