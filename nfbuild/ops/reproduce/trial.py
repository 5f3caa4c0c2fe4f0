"""Building one project again and again, each time in a checkout and a process of its own.

Not here: which builds a proof takes (`proof`), what surrounds one (`surroundings`), what is
compared (`evidence`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from nfbuild.dataclasses import dataclass, field, replace
from nfbuild.errors import DrawError
from nfbuild.events import Failed
from nfbuild.execute.launch import PASSED_ON
from nfbuild.ops.exports.products import audio_of, listed_exports, plan_of
from nfbuild.ops.frames.films import load_film
from nfbuild.ops.reproduce.evidence import Evidence, Place, compare, gather
from nfbuild.ops.reproduce.surroundings import REFERENCE, Checkout, Surroundings, make_checkout
from nfbuild.ops.run.options import read_scale
from nfbuild.project import Discovery, Listed, discover, select

if TYPE_CHECKING:
    from nfbuild.ops.run.session import Session

DEFAULT_JOBS = ("1", "2", "4", "8", "max")
DEFAULT_ROUNDS = 3
DEFAULT_SEED = 20260701

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


def make_trial(
    session: Session, options: ReproduceOptions, scratch: str, errors: list[Failed]
) -> Generator[Failed, None, Trial]:
    """Return what builds the project again and again in folders below `scratch`.

    Compositions that cannot be loaded are yielded and added to `errors`; they are built too.
    """
    discovery = discover(session.project)
    chosen = select(session.project, discovery.compositions, options.names, options.start)
    names = [listed.name for listed in chosen] if options.names else []
    paths = yield from _inputs(session, discovery, chosen, errors)
    return Trial(session, options, scratch, names, paths)


def _inputs(
    session: Session, discovery: Discovery, chosen: Sequence[Listed], errors: list[Failed]
) -> Generator[Failed, None, list[str]]:
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
            errors.append(failed)
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
class Built:
    """A build that came to its end: what it left, its report, its exit code, and where it was."""

    evidence: Evidence
    report: dict[str, Any]
    exit: int
    checkout: Checkout


@dataclass(frozen=True)
class Running:
    """A build under way in a process of its own."""

    popen: subprocess.Popen[bytes]
    words: BinaryIO
    task: dict[str, Any]
    checkout: Checkout
    surroundings: Surroundings
    paths: Sequence[str]
    ledger: str

    def finish(self) -> Built:
        """Wait for its end and gather what it left; raises DrawError where there is no report."""
        with self.words:
            try:
                self.popen.wait()
            except BaseException:
                # Its workers end with it.
                self.popen.kill()
                self.popen.wait()
                raise
            self.words.seek(0)
            said = self.words.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        result = _read_result(self.task["result"])
        if result is None or result["error"] is not None:
            raise DrawError(
                f"a build of the proof failed: {said if result is None else result['error']}",
                hint=f"its surroundings were {self.surroundings}",
                code="reproduce.build",
            )
        evidence = gather(
            self.checkout.root,
            self.checkout.cache,
            ledger=self.ledger,
            graph_file=self.task["graph"],
            before=self.paths,
            result=result,
        )
        return Built(evidence, result["report"], result["exit"], self.checkout)


class Trial:
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

    def compare(self, first: Built, surroundings: Surroundings) -> Run:
        """Build in these surroundings, compare, and let the copy go."""
        began = time.perf_counter()
        other = self.build(surroundings)
        places = compare(first.evidence, other.evidence)
        if other.exit != first.exit:
            fact = f"exit code {first.exit} against {other.exit}"
            places.append(Place("report", "exit code", fact=fact))
        shutil.rmtree(other.checkout.base, ignore_errors=True)
        return Run(surroundings, places, time.perf_counter() - began)

    def narrow(self, first: Built, surroundings: Surroundings) -> list[str]:
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

    def build(self, surroundings: Surroundings) -> Built:
        """Build once; raises DrawError where the process did not come to its end."""
        return self.start(self.checkout(surroundings), surroundings).finish()

    def checkout(self, surroundings: Surroundings) -> Checkout:
        """Make a copy of the project in a new folder."""
        self._count += 1
        base = os.path.join(self._scratch, str(self._count))
        return make_checkout(base, self._root, self._paths, surroundings)

    def start(self, checkout: Checkout, surroundings: Surroundings) -> Running:
        """Start a build in a copy; two may run in one copy at once."""
        self._count += 1
        beside = os.path.join(checkout.base, f"run-{self._count}")
        os.makedirs(beside)
        task = self._task(beside, checkout, surroundings)
        path = os.path.join(beside, "task.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(task, file)
        words = open(os.path.join(beside, "words.txt"), "w+b")  # noqa: SIM115  closed by `finish`
        popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "nfbuild.ops.reproduce.one", path],
            env=self._environment(beside, checkout, surroundings),
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
        )
        return Running(popen, words, task, checkout, surroundings, self._paths, self._ledger)

    def _task(self, beside: str, checkout: Checkout, surroundings: Surroundings) -> dict[str, Any]:
        options = self._options
        return {
            "root": checkout.root,
            "cache": checkout.cache,
            "folder": checkout.stands_in(surroundings.folder),
            "graph": os.path.join(beside, "graph.txt"),
            "result": os.path.join(beside, "result.json"),
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
        self, beside: str, checkout: Checkout, surroundings: Surroundings
    ) -> dict[str, str]:
        temporary = os.path.join(beside, "temporary")
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
