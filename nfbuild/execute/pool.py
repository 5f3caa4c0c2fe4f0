"""The process pool: one worker per core, and what happens when workers die.

All of it runs in the calling thread, between the caller's steps: lines are polled, jobs handed
out, outcomes collected. A job counts as begun only when the worker's notice board says so; jobs
that merely waited in a dead worker are handed out again without blame.
"""

from __future__ import annotations

import itertools
import pickle
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

from nfbuild.errors import NfbuildError, UsageError
from nfbuild.execute import wire
from nfbuild.execute.base import (
    Death,
    Died,
    Done,
    Job,
    Outcome,
    Refused,
    Timing,
    WorkerSetup,
)
from nfbuild.execute.crew import TICK, Crew, Worker
from nfbuild.execute.order import shuffled
from nfbuild.execute.portions import Portions
from nfbuild.execute.runs import Entry, Run

LOOK_AHEAD = 64
"""So many jobs for each worker may be taken from the caller and not yet be answered."""
LOOK_AHEAD_BYTES = 16 << 20
"""With so many bytes of tasks waiting no more are taken, whatever their number."""

_BREATH = 0.001  # seconds for which the caller's own work may keep the pool from its lines
_BARREN_DEATHS = 5  # so many workers may die in a row with nothing in hand and nothing answered


class ProcessPool:
    """Performs jobs in processes; one thread only may use it.

    With a `shuffle` seed jobs are handed out in another order, neighbourhood by neighbourhood.
    """

    name: ClassVar[str] = "pool"

    def __init__(self, setup: WorkerSetup, workers: int, *, shuffle: int | None = None) -> None:
        if workers < 1:
            raise UsageError(f"a pool needs at least one worker, not `{workers}`")
        self.workers = workers
        self._setup = setup
        self._shuffle = shuffle
        self._serials = itertools.count(1)
        self._numbers = itertools.count()
        self._gives_way = False
        self._crew: Crew | None = None
        self._runs: list[Run] = []
        self._retries: deque[Entry] = deque()
        self._portions = Portions(workers)
        self._barren = 0
        self._retired: list[Crew] = []
        self.warmings: list[Timing] = []
        """When each worker began and was ready, by its number; for a profile."""

    @property
    def look_ahead(self) -> int:
        """How many jobs one run takes at most before it has yielded their outcomes.

        A shuffle holds back as many again.
        """
        return LOOK_AHEAD * self.workers

    @property
    def pids(self) -> tuple[int, ...]:
        """The system's names for the present workers, for tests and `doctor`."""
        return tuple(w.process.pid for w in self._crew.workers) if self._crew else ()

    def start(self) -> None:
        """Start the workers and return; they get warm while the caller goes on."""
        if self._crew is None:
            self._crew = Crew(self._setup, self._numbers, gives_way=self._gives_way)
            for _ in range(self.workers):
                self._crew.hire()

    def give_way(self) -> None:
        """Let the caller's own work go first: a build that encodes beside drawing."""
        self._gives_way = True
        self.start()
        assert self._crew is not None
        self._crew.give_way()

    def run(self, jobs: Iterable[Job], /) -> Iterator[Outcome]:
        """Yield one outcome for each job, as they complete."""
        self.start()
        if self._shuffle is not None:
            jobs = shuffled(jobs, self._shuffle, self.look_ahead)
        run = Run(iter(jobs), self._serials)
        self._runs.append(run)
        try:
            while True:
                while run.outcomes:
                    run.open -= 1
                    yield run.outcomes.popleft()
                self._take(run)
                if run.outcomes:
                    continue
                if run.is_exhausted and not run.open:
                    return
                self._pump(TICK)
        finally:
            run.is_abandoned = True
            self._runs.remove(run)

    def retire(self) -> None:
        """End the workers if no run is under way; what is left of them is gone by `close`."""
        if self._crew is not None and not self._runs:
            self._crew.end()
            self._retired.append(self._crew)
            self._crew = None

    def close(self) -> None:
        """End every worker, whatever it is doing."""
        crews = [*self._retired, *([self._crew] if self._crew is not None else [])]
        self._retired, self._crew = [], None
        for crew in crews:
            crew.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _take(self, run: Run) -> None:
        """Take jobs from the caller until enough are waiting or an outcome has come."""
        pumped = time.monotonic()
        while (
            not run.is_exhausted
            and not run.outcomes
            and run.open < self.look_ahead
            and not (run.waiting_bytes > LOOK_AHEAD_BYTES and len(run.pending) > self.workers)
        ):
            run.take()
            # Making the next job may take the caller a while: nobody is to starve meanwhile.
            now = time.monotonic()
            if now - pumped > _BREATH or run.open <= 2 * self.workers:
                pumped = now
                self._pump(0)

    def _pump(self, timeout: float) -> None:
        """Hand out what can be handed out, then take in what has come, waiting for it a little."""
        if self._crew is None:
            raise UsageError("the pool was closed while a run was going on")
        self._hand_out(self._crew)
        for worker, message in self._crew.listen(timeout):
            if message is None:
                self._bury(self._crew, worker)
            else:
                self._hear(worker, message)
        self._hand_out(self._crew)

    # Handing out

    def _hand_out(self, crew: Crew) -> None:
        resting = self._retry(crew)
        # The latest run first: it is the one that somebody waits for inside another's jobs.
        for run in reversed(self._runs):
            while run.pending:
                worker = _least_busy(w for w in crew.workers if w is not resting)
                if worker is None:
                    return
                waiting = len(run.pending)
                size = self._portions.size(waiting, len(worker.flight), ends=run.is_exhausted)
                if not size:
                    break
                if portion := run.portion(size):
                    crew.send(worker, worker.give(portion))

    def _retry(self, crew: Crew) -> Worker | None:
        """Try suspects, each alone in a fresh worker.

        Returns the worker that is to be given nothing, so that a fresh one can take its place
        when it has done what it has: suspects must not wait until all the others are through.
        """
        while self._retries:
            worker = _fresh(crew)
            if worker is None:
                return _least_busy(crew.workers)
            entry = self._retries.popleft()
            if not entry.is_void():
                worker.is_alone = True
                crew.send(worker, worker.give([entry]))
        return None

    # Taking in

    def _hear(self, worker: Worker, message: tuple[Any, ...]) -> None:
        kind, *facts = message
        if kind == wire.READY:
            worker.is_ready = True
            begun, warm = facts
            self.warmings.append(Timing(worker.number, begun, warm, warm))
        elif kind == wire.BROKEN:
            error: NfbuildError = facts[0]
            raise error
        elif kind == wire.ENDED:
            serial, cause, fact = facts
            worker.ended = (serial, Death(cause, fact))
        else:
            entry = worker.flight.pop(facts[0])
            worker.is_alone = False
            worker.answered += 1
            self._barren = 0
            entry.run.blame.acquit(entry.serial)
            if not entry.run.is_abandoned:
                entry.run.outcomes.append(self._outcome(worker, entry, kind, facts))

    def _outcome(self, worker: Worker, entry: Entry, kind: int, facts: list[Any]) -> Outcome:
        if kind == wire.REFUSAL:
            _, error, trace = facts
            return Refused(entry.position, error, trace)
        _, data, begun, performed, finished = facts
        self._portions.learn(finished - begun)
        value = pickle.loads(data)  # noqa: S301  both ends are this program
        return Done(entry.position, value, Timing(worker.number, begun, performed, finished))

    def _bury(self, crew: Crew, worker: Worker) -> None:
        """Find out what a dead worker died of, give its jobs back, and hire another."""
        death, guilty = worker.autopsy()
        crew.dismiss(worker)
        accused = [entry for entry in worker.flight.values() if entry.serial in guilty]
        innocent = [entry for entry in worker.flight.values() if entry.serial not in guilty]
        for entry in accused:
            self._accuse(entry, death)
        for entry in reversed(innocent):
            if entry.is_suspect:
                self._retries.append(entry)
            else:
                entry.run.give_back(entry)
        if not accused:
            self._barren += 1
            if self._barren >= _BARREN_DEATHS:
                raise _no_workers(death)
        crew.hire()

    def _accuse(self, entry: Entry, death: Death) -> None:
        entry.is_suspect = True
        if entry.run.blame.accuse(entry.serial, entry.group):
            entry.run.outcomes.append(Died(entry.position, death))
        else:
            self._retries.append(entry)


def _least_busy(workers: Iterable[Worker]) -> Worker | None:
    """Return the worker with the fewest jobs among those that may be given some."""
    able = (worker for worker in workers if not (worker.is_alone or worker.killed))
    return min(able, key=lambda worker: len(worker.flight), default=None)


def _fresh(crew: Crew) -> Worker | None:
    """Return a worker that was never given anything, in the place of an idle one if need be."""
    alive = [worker for worker in crew.workers if not worker.killed]
    fresh = next((worker for worker in alive if worker.is_fresh), None)
    idle = next((worker for worker in alive if not worker.flight), None)
    if fresh is None and idle is not None:
        crew.dismiss(idle)
        fresh = crew.hire()
    return fresh


def _no_workers(death: Death) -> UsageError:
    words = death.last_words.strip().rpartition("\n")[2]
    return UsageError(
        f"workers die before they have anything to do: {death.fact}",
        hint=f"its last words were `{words}`" if words else "`nfbuild doctor` may tell why",
        code="worker.start",
    )
