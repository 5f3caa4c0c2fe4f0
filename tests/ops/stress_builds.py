"""Builds under stress, each compared with the inline executor's: always the same bytes.

`scripts/stress_build.py` runs all of it for long, `test_ops_reproduce_stress.py` a part.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from nfbuild.dataclasses import dataclass, field, replace
from nfbuild.ops.reproduce.evidence import Place, compare
from nfbuild.ops.reproduce.proof import cores
from nfbuild.ops.reproduce.surroundings import REFERENCE, matrix
from nfbuild.ops.reproduce.trial import Built, ReproduceOptions, Running, Trial, make_trial
from nfbuild.ops.run.session import Settings, open_session

HERE = Path(__file__).resolve().parent
PATHS = {"PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parents[1])])}


@dataclass
class Stressed:
    """What was tried: builds compared, places where they differed, workers killed."""

    builds: int = 0
    killed: int = 0
    places: list[Place] = field(default_factory=list)

    def add(self, reference: Built, built: Built, *, report: bool = True) -> None:
        """Compare one build; its report counts where it had no company and no deaths."""
        self.builds += 1
        found = compare(reference.evidence, built.evidence)
        self.places += [place for place in found if report or place.section != "report"]
        shutil.rmtree(built.checkout.base, ignore_errors=True)


@contextlib.contextmanager
def trial_of(root: Path, target: str | None = None) -> Iterator[tuple[Trial, Built]]:
    """Return what builds copies of a project, and the inline executor's build of it."""
    options = ReproduceOptions(start=str(root), target=target, environment=PATHS)
    scratch = tempfile.mkdtemp(prefix="nfbuild-stress-")
    try:
        with open_session(str(root), Settings(observe=True)) as session:
            making = make_trial(session, options, scratch, [])
            while True:
                try:
                    next(making)
                except StopIteration as done:
                    trial = done.value
                    break
        reference = trial.build(REFERENCE)
        assert reference.report["totals"]["frames"] > 0
        yield trial, reference
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def hog() -> Iterator[None]:
    """Keep one core busy with nothing."""
    running = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        running.kill()
        running.wait()


def again_and_again(root: Path, builds: int, seed: int) -> Stressed:
    """Build with more workers than cores beside a hog, in another order each time."""
    done = Stressed()
    with trial_of(root) as (trial, reference), hog():
        for surroundings in matrix(seed, [2 * cores() + 1], builds):
            done.add(reference, trial.build(surroundings))
    return done


def two_at_once(root: Path, rounds: int) -> Stressed:
    """Start two builds of one project with one cache at the same moment."""
    done = Stressed()
    with trial_of(root) as (trial, reference):
        for number in range(rounds):
            checkout = trial.checkout(REFERENCE)
            one = trial.start(checkout, replace(REFERENCE, jobs=2, order=number))
            other = trial.start(checkout, replace(REFERENCE, jobs=3, order=number + 100))
            first, second = one.finish(), other.finish()
            # Which of the two drew a frame is theirs to find out; what was made is not.
            done.places += [
                place
                for place in compare(reference.evidence, second.evidence)
                if place.section != "report"
            ]
            done.builds += 1
            done.add(reference, first, report=False)
    return done


def workers_killed(root: Path, builds: int, seed: int, every: float) -> Stressed:
    """Kill a worker at random moments, at most every `every` seconds on average.

    Between two kills a frame must have been finished: workers that die before they have done
    anything, one after the other, end a build, and rightly.
    """
    done = Stressed()
    chance = random.Random(seed)
    with trial_of(root, "planted_worker:Slow") as (trial, reference):
        for number in range(builds):
            around = replace(REFERENCE, jobs=3, order=number)
            running = trial.start(trial.checkout(around), around)
            over = threading.Event()
            hits: list[int] = []
            killer = threading.Thread(
                target=_kill_workers, args=(running, chance, every, over, hits)
            )
            killer.start()
            try:
                built = running.finish()
            finally:
                over.set()
                killer.join()
            done.killed += len(hits)
            done.add(reference, built, report=False)
    return done


def one_slow(root: Path, builds: int) -> Stressed:
    """Let every other worker take 30 ms more for each frame."""
    done = Stressed()
    with trial_of(root, "planted_worker:Slow") as (trial, reference):
        for number in range(builds):
            done.add(reference, trial.build(replace(REFERENCE, jobs=4, order=number)))
    return done


def _kill_workers(
    running: Running, chance: random.Random, every: float, over: threading.Event, hits: list[int]
) -> None:
    before = 0
    while not over.wait(chance.uniform(0.5, 1.5) * every):
        workers = _children(running.popen.pid)
        finished = _blobs(running.checkout.cache)
        if workers and finished > before:
            before = finished
            victim = chance.choice(workers)
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
                hits.append(victim)


def _blobs(cache: str) -> int:
    return sum(len(names) for _, _, names in os.walk(os.path.join(cache, "blobs")))


def _children(parent: int) -> list[int]:
    """Return the direct children of a process of ours (Linux)."""
    path = f"/proc/{parent}/task/{parent}/children"
    try:
        with open(path, encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def has_children_file() -> bool:
    """Tell whether this system says which children a process has."""
    pid = os.getpid()
    return os.path.exists(f"/proc/{pid}/task/{pid}/children")


def seconds_since(began: float) -> str:
    """Return how long it took, for people."""
    return f"{time.monotonic() - began:.0f} s"
