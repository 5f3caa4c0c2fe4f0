"""`reproduce`: the proof that parallel execution changes no byte of what is made.

From empty caches the inline executor builds the project once, in plain surroundings: the reference.
Then every worker count builds it again, in several dispatch orders drawn from a seed, each in
other surroundings (`reproduce_surroundings`), each a process of its own over a copy of its own.
Whatever was written is compared (`reproduce_evidence`). On a difference the surroundings of that
build are tried one at a time, to name the one that does it.

A green result says that these builds were equal on this machine; `docs/portability.md` says what
it does not say.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nfbuild.digests import shown
from nfbuild.errors import EXIT_GATE, DrawError, NfbuildError, UsageError, worst_exit
from nfbuild.events import Failed, Warned
from nfbuild.execute.launch import PASSED_ON
from nfbuild.ops.films import load_film
from nfbuild.ops.options import read_scale
from nfbuild.ops.products import audio_of, listed_exports, plan_of
from nfbuild.ops.reports import failure, talk_json
from nfbuild.ops.reproduce_evidence import Evidence, Place, compare, files_below, gather
from nfbuild.ops.reproduce_surroundings import (
    DIMENSIONS,
    REFERENCE,
    Checkout,
    Surroundings,
    make_checkout,
    matrix,
)
from nfbuild.project import Discovery, Listed, discover, select

if TYPE_CHECKING:
    from nfbuild.ops.session import Session

DEFAULT_JOBS = ("1", "2", "4", "8", "max")
DEFAULT_ROUNDS = 3
DEFAULT_SEED = 20260701
_MOST_JOBS = 256

CHANCE = "time or chance"
"""What is to blame where two builds in the same surroundings differ."""


@dataclass(frozen=True)
class ReproduceOptions:
    """What a proof is asked for.

    `jobs` are worker counts as they are asked for (`max` is one a core). `target`, `prelude` and
    `environment` are for tests that plant faults: what performs tasks, what is called before a
    build, and further variables.
    """

    names: tuple[str, ...] = ()
    start: str = "."
    jobs: tuple[str, ...] = DEFAULT_JOBS
    seed: int = DEFAULT_SEED
    rounds: int = DEFAULT_ROUNDS
    narrow: bool = True
    target: str | None = None
    prelude: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Compared:
    """Occurs when one build of the matrix was compared with the reference."""

    number: int
    of: int
    run: Run


@dataclass
class Run:
    """One build: its surroundings, where it first differs in each section, how long it took.

    `alone` names the surroundings each of which makes a difference when nothing else is varied;
    empty where none does, or where it was not tried.
    """

    surroundings: Surroundings
    places: list[Place] = field(default_factory=list)
    seconds: float = 0.0
    alone: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Tell whether nothing differs."""
        return not self.places

    def to_json(self) -> dict[str, Any]:
        """Return the build as the report prints it."""
        return {
            "surroundings": self.surroundings.to_json(),
            "equal": self.equal,
            "differences": [place.to_json() for place in self.places],
            "differs_from_reference": {} if self.equal else self.surroundings.differing(REFERENCE),
            "alone": self.alone,
            "seconds": round(self.seconds, 3),
        }


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
) -> Generator[Failed | Warned | Compared, None, ReproduceReport]:
    """Build the matrix and compare; yields each build as it was compared."""
    workers = read_jobs(options.jobs)
    if options.rounds < 1:
        raise UsageError("a proof takes at least one round")
    report = ReproduceReport(options, workers, session.toolchain.lane, session.toolchain.level)
    scratch = tempfile.mkdtemp(prefix="nfbuild-reproduce-")
    try:
        discovery = discover(session.project)
        chosen = select(session.project, discovery.compositions, options.names, options.start)
        names = [listed.name for listed in chosen] if options.names else []
        paths = yield from _inputs(session, discovery, chosen, report)
        trial = _Trial(session, options, scratch, names, paths)
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


def _note(report: ReproduceReport, first: _Built) -> None:
    report.digests = dict(first.evidence.digests)
    report.reference_exit = first.exit
    rows = first.report["compositions"]
    report.films = [
        {"name": row["name"], "frames": row["frames"], "digest": row["digest"]} for row in rows
    ]
    found = {row["identity"]["toolchain"]: None for row in rows if row.get("identity")}
    report.toolchains = sorted(one.partition(":")[2] or one for one in found)


def _inputs(
    session: Session, discovery: Discovery, chosen: Sequence[Listed], report: ReproduceReport
) -> Generator[Failed | Warned, None, list[str]]:
    """Return every file that the project is made of, relative to its root.

    Of compositions that were not asked for, only their own files: the configuration lists them.
    """
    project = session.project
    found: dict[str, None] = {}
    for path in project.sources:
        # What one checkout says about its caches is not copied: a proof has its own.
        if os.path.isfile(path) and not path.endswith("nfbuild.local.toml"):
            found[path] = None
    for listed in discovery.compositions:
        found[os.path.join(project.root, *listed.path.split("/"))] = None
    found.update(dict.fromkeys(session.faces.files.values()))
    for index, listed in enumerate(chosen):
        film = load_film(session, index, listed, read_scale("1"))
        found.update(film.used)
        if film.error is not None:
            failed = film.fail(film.error)
            report.errors.append(failed)
            yield failed
            continue
        for owed in listed_exports(session, film):
            audio = audio_of(session, plan_of(session, film, owed))
            if audio is not None:
                found[audio.path] = None
    relative = [project.relative(path) for path in found]
    return [path for path in relative if _is_copied(session, path)]


def _is_copied(session: Session, path: str) -> bool:
    """Tell whether a file belongs to the checkout: a face of an installed package does not."""
    if os.path.isabs(path):
        return False
    if not path.startswith("../"):
        return True
    allowed = [session.project.relative(os.path.abspath(os.path.join(session.project.root, one)))
               for one in session.project.outside if not os.path.isabs(one)]  # fmt: skip
    return any(path == one or path.startswith(f"{one}/") for one in allowed)


@dataclass(frozen=True)
class _Built:
    evidence: Evidence
    report: dict[str, Any]
    exit: int
    checkout: Checkout


class _Trial:
    """Builds one project again and again, each time in a checkout and a process of its own."""

    def __init__(
        self,
        session: Session,
        options: ReproduceOptions,
        scratch: str,
        names: list[str],
        paths: list[str],
    ) -> None:
        self._root = session.project.root
        self._ledger = session.project.ledger
        self._options = options
        self._scratch = scratch
        self._paths = paths
        # By name: what was asked for may be a path that means nothing from within a copy.
        self._names = names
        self._count = 0

    def compare(self, first: _Built, surroundings: Surroundings) -> Run:
        """Build in these surroundings, compare, and let the copy go."""
        began = time.perf_counter()
        other = self.build(surroundings)
        places = compare(first.evidence, other.evidence)
        if other.exit != first.exit:
            fact = f"exit code {first.exit} against {other.exit}"
            places.append(Place("report", "exit code", fact=fact))
        shutil.rmtree(other.checkout.base, ignore_errors=True)
        return Run(surroundings, places, time.perf_counter() - began)

    def narrow(self, first: _Built, surroundings: Surroundings) -> list[str]:
        """Return the surroundings each of which differs from the reference alone.

        Where the reference does not even equal itself, no surroundings are to blame: `CHANCE`.
        """
        if not self.compare(first, REFERENCE).equal:
            return [CHANCE]
        guilty = []
        for name in surroundings.differing(REFERENCE):
            alone = replace(REFERENCE, **{name: getattr(surroundings, name)})
            if not self.compare(first, alone).equal:
                guilty.append(name)
        return guilty

    def build(self, surroundings: Surroundings) -> _Built:
        """Build once; raises DrawError where the process did not come to its end."""
        self._count += 1
        base = os.path.join(self._scratch, str(self._count))
        checkout = make_checkout(base, self._root, self._paths, surroundings)
        before = files_below(checkout.root)
        task = self._task(base, checkout, surroundings)
        path = os.path.join(base, "task.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(task, file)
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "nfbuild.ops.reproduce_one", path],
            env=self._environment(base, checkout, surroundings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        result = _read_result(task["result"])
        if result is None or result["error"] is not None:
            words = ran.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise DrawError(
                f"a build of the proof failed: {words if result is None else result['error']}",
                hint=f"its surroundings were {surroundings}",
                code="reproduce.build",
            )
        evidence = gather(
            checkout.root,
            checkout.cache,
            ledger=self._ledger,
            graph_file=task["graph"],
            before=before,
            result=result,
        )
        return _Built(evidence, result["report"], result["exit"], checkout)

    def _task(self, base: str, checkout: Checkout, surroundings: Surroundings) -> dict[str, Any]:
        options = self._options
        return {
            "root": checkout.root,
            "cache": checkout.cache,
            "folder": checkout.stands_in(surroundings.folder),
            "graph": os.path.join(base, "graph.txt"),
            "result": os.path.join(base, "result.json"),
            "names": self._names,
            "jobs": surroundings.jobs,
            "order": surroundings.order,
            "reuse": surroundings.reuse,
            "umask": surroundings.umask,
            "open_files": surroundings.open_files,
            "nice": surroundings.nice,
            "target": options.target,
            "prelude": options.prelude,
            "worker_environment": {**_variables(surroundings), **options.environment},
        }

    def _environment(
        self, base: str, checkout: Checkout, surroundings: Surroundings
    ) -> dict[str, str]:
        temporary = os.path.join(base, "temporary")
        os.makedirs(temporary, exist_ok=True)
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        known = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), package]
        return {
            **{name: os.environ[name] for name in (*PASSED_ON, "PATH") if name in os.environ},
            **_variables(surroundings),
            "HOME": checkout.home,
            "TMPDIR": temporary,
            "PYTHONPATH": os.pathsep.join(os.path.abspath(one) for one in known if one),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NFBUILD_CACHE_DIR": checkout.cache,
            "NFBUILD_SHARED": "off",
            **self._options.environment,
        }


def _variables(surroundings: Surroundings) -> dict[str, str]:
    return {
        "PYTHONHASHSEED": str(surroundings.hash_seed),
        "LC_ALL": surroundings.locale,
        "LANG": surroundings.locale,
        "TZ": surroundings.zone,
    }


def _read_result(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        return None
    return found
