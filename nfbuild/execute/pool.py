"""The process pool: one worker per core, and what happens when workers die.

All of it runs in the calling thread, between the caller's steps: sockets are polled, jobs handed
out, outcomes collected. The parent never waits on a worker's line in either direction, so one
that is stopped cannot hold up the others. A job counts as begun only when the worker's notice
board says so; jobs that merely waited in a dead worker are handed out again without blame.
"""

from __future__ import annotations

import itertools
import os
import pickle
import selectors
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
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
    Skipped,
    Timing,
    WorkerSetup,
)
from nfbuild.execute.blame import Blame
from nfbuild.execute.launch import Process
from nfbuild.execute.order import shuffled
from nfbuild.execute.portions import Portions

LOOK_AHEAD = 64
"""So many jobs for each worker may be taken from the caller and not yet be answered."""
LOOK_AHEAD_BYTES = 16 << 20
"""With so many bytes of tasks waiting no more are taken, whatever their number."""

_CHUNK = 1 << 18
_TICK = 0.25  # seconds between two looks at who has stopped moving
_BARREN_DEATHS = 5  # so many workers may die in a row with nothing in hand and nothing answered


@dataclass(slots=True, eq=False)
class _Entry:
    serial: int
    run: _Run
    position: int
    group: str
    payload: bytes
    is_suspect: bool = False


@dataclass(slots=True, eq=False)
class _Run:
    """One call of `run`: where its jobs come from and where its outcomes wait."""

    jobs: Iterator[Job]
    blame: Blame = field(default_factory=Blame)
    pending: deque[_Entry] = field(default_factory=deque)
    outcomes: deque[Outcome] = field(default_factory=deque)
    open: int = 0  # taken from the caller and not yet given back
    waiting_bytes: int = 0
    is_exhausted: bool = False
    is_abandoned: bool = False

    def settle(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


@dataclass(slots=True, eq=False)
class _Worker:
    number: int
    process: Process
    inbox: wire.Inbox = field(default_factory=wire.Inbox)
    outbox: bytearray = field(default_factory=bytearray)
    flight: dict[int, _Entry] = field(default_factory=dict)
    is_ready: bool = False
    is_fresh: bool = True  # nothing was ever sent to it
    is_alone: bool = False  # it has a suspect and gets nothing else until that is answered
    answered: int = 0
    ended: tuple[int, Death] | None = None
    killed: Death | None = None
    stood_at: tuple[int, tuple[int, ...]] = (0, ())
    stood_for: float = 0.0


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
        self._selector: selectors.BaseSelector | None = None
        self._workers: list[_Worker] = []
        self._runs: list[_Run] = []
        self._retries: deque[_Entry] = deque()
        self._portions = Portions(workers)
        self._barren = 0
        self._looked = 0.0
        self.warmings: list[Timing] = []
        """When each worker began, was ready, by its number; for a profile."""

    @property
    def look_ahead(self) -> int:
        """How many jobs one run takes at most before it has yielded their outcomes.

        A shuffle holds back as many again.
        """
        return LOOK_AHEAD * self.workers

    @property
    def pids(self) -> tuple[int, ...]:
        """The system's names for the present workers, for tests and `doctor`."""
        return tuple(worker.process.pid for worker in self._workers)

    def start(self) -> None:
        """Start the workers and return; they get warm while the caller goes on."""
        if self._selector is None:
            self._selector = selectors.DefaultSelector()
            self._looked = time.monotonic()
            for _ in range(self.workers):
                self._hire()

    def run(self, jobs: Iterable[Job], /) -> Iterator[Outcome]:
        """Yield one outcome for each job, as they complete."""
        self.start()
        if self._shuffle is not None:
            jobs = shuffled(jobs, self._shuffle, self.look_ahead)
        run = _Run(iter(jobs))
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
                self._pump(_TICK)
        finally:
            self._abandon(run)

    def close(self) -> None:
        """End every worker, whatever it is doing."""
        workers, self._workers = self._workers, []
        for worker in workers:  # all first, so that they go side by side
            worker.process.kill()
        for worker in workers:
            worker.process.close()
        if self._selector is not None:
            self._selector.close()
            self._selector = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # Taking jobs

    def _take(self, run: _Run) -> None:
        """Take jobs from the caller until enough are waiting or an outcome has come."""
        pumped = time.monotonic()
        while (
            not run.is_exhausted
            and not run.outcomes
            and run.open < self.look_ahead
            and not (run.waiting_bytes > LOOK_AHEAD_BYTES and len(run.pending) > self.workers)
        ):
            try:
                job = next(run.jobs)
            except StopIteration:
                run.is_exhausted = True
            else:
                run.open += 1
                if run.blame.is_given_up(job.group):
                    run.settle(Skipped(job.position, job.group))
                    return
                payload = pickle.dumps(job.task, pickle.HIGHEST_PROTOCOL)
                entry = _Entry(next(self._serials), run, job.position, job.group, payload)
                run.pending.append(entry)
                run.waiting_bytes += len(payload)
            # Making the next job may take the caller a while: nobody is to starve meanwhile.
            if (now := time.monotonic()) - pumped > 0.001 or run.open <= 2 * self.workers:
                pumped = now
                self._pump(0)

    def _abandon(self, run: _Run) -> None:
        run.is_abandoned = True
        run.pending.clear()
        if run in self._runs:
            self._runs.remove(run)

    # Handing out

    def _hand_out(self) -> None:
        resting = self._retry()
        # The latest run first: it is the one that somebody waits for inside another's jobs.
        for run in reversed(self._runs):
            while run.pending:
                worker = min(
                    (w for w in self._workers if not (w.is_alone or w.killed or w is resting)),
                    key=lambda w: len(w.flight),
                    default=None,
                )
                if worker is None:
                    return
                waiting = len(run.pending)
                size = self._portions.size(waiting, len(worker.flight), ends=run.is_exhausted)
                if not size:
                    break
                portion: list[_Entry] = []
                while run.pending and len(portion) < size:
                    entry = run.pending.popleft()
                    run.waiting_bytes -= len(entry.payload)
                    if not self._is_void(entry):
                        portion.append(entry)
                if portion:
                    self._send(worker, portion)

    def _retry(self) -> _Worker | None:
        """Try suspects, each alone in a fresh worker.

        Returns the worker that is to be given nothing, so that a fresh one can take its place
        when it has done what it has: suspects must not wait until all the others are through.
        """
        while self._retries:
            if self._is_void(self._retries[0]):
                self._retries.popleft()
                continue
            worker = self._find_fresh()
            if worker is None:
                return min(
                    (w for w in self._workers if not (w.is_alone or w.killed)),
                    key=lambda w: len(w.flight),
                    default=None,
                )
            worker.is_alone = True
            self._send(worker, [self._retries.popleft()])
        return None

    def _find_fresh(self) -> _Worker | None:
        """Return a worker that was never given anything, in the place of an idle one if need be."""
        alive = [worker for worker in self._workers if not worker.killed]
        fresh = next((worker for worker in alive if worker.is_fresh), None)
        idle = next((worker for worker in alive if not worker.flight), None)
        if fresh is None and idle is not None:
            self._dismiss(idle)
            fresh = self._hire()
        return fresh

    def _is_void(self, entry: _Entry) -> bool:
        """Tell whether an entry need not be tried; settle it then."""
        if entry.run.is_abandoned:
            return True
        if entry.run.blame.is_given_up(entry.group):
            entry.run.settle(Skipped(entry.position, entry.group))
            return True
        return False

    def _send(self, worker: _Worker, entries: list[_Entry]) -> None:
        worker.is_fresh = False
        worker.flight.update((entry.serial, entry) for entry in entries)
        self._write(worker, (wire.TASKS, [(entry.serial, entry.payload) for entry in entries]))

    def _write(self, worker: _Worker, message: tuple[Any, ...]) -> None:
        worker.outbox += wire.pack(message)
        self._flush(worker)

    def _flush(self, worker: _Worker) -> None:
        assert self._selector is not None
        # A line that broke is seen where it is read.
        with suppress(BlockingIOError, ConnectionError):
            while worker.outbox:
                del worker.outbox[: worker.process.line.send(worker.outbox)]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.outbox else 0)
        if self._selector.get_key(worker.process.line).events != events:
            self._selector.modify(worker.process.line, events, worker)

    # Listening

    def _pump(self, timeout: float) -> None:
        """Hand out what can be handed out, then take in what has come, waiting for it a little."""
        assert self._selector is not None
        self._hand_out()
        for key, events in self._selector.select(timeout):
            worker: _Worker = key.data
            if events & selectors.EVENT_WRITE:
                self._flush(worker)
            if events & selectors.EVENT_READ and not self._read(worker):
                self._bury(worker)
        self._look_round()
        self._hand_out()

    def _read(self, worker: _Worker) -> bool:
        """Take in all that a worker has sent; tell whether its line is still open."""
        data = b"-"
        while data and worker in self._workers:
            try:
                data = worker.process.line.recv(_CHUNK)
            except BlockingIOError:
                return True
            except ConnectionError:
                return False
            for message in worker.inbox.feed(data):
                self._hear(worker, message)
        return bool(data)

    def _hear(self, worker: _Worker, message: tuple[Any, ...]) -> None:
        kind, *facts = message
        if kind == wire.READY:
            worker.is_ready = True
            begun, warm = facts
            self.warmings.append(Timing(worker.number, begun, warm, warm))
            return
        if kind == wire.BROKEN:
            error: NfbuildError = facts[0]
            raise error
        if kind == wire.ENDED:
            serial, cause, fact = facts
            worker.ended = (serial, Death(cause, fact))
            return
        entry = worker.flight.pop(facts[0])
        worker.is_alone = False
        worker.answered += 1
        self._barren = 0
        run = entry.run
        run.blame.acquit(entry.serial)
        if kind == wire.REFUSAL:
            _, refusal, trace = facts
            outcome: Outcome = Refused(entry.position, refusal, trace)
        else:
            _, data, begun, performed, finished = facts
            self._portions.learn(finished - begun)
            if run.is_abandoned:
                return
            value = pickle.loads(data)  # noqa: S301  both ends are this program
            timing = Timing(worker.number, begun, performed, finished)
            outcome = Done(entry.position, value, timing)
        run.settle(outcome)

    def _look_round(self) -> None:
        """End workers that have not moved for longer than any frame may take."""
        now = time.monotonic()
        # A parent that was itself stopped or busy must not count that against its workers.
        passed = min(now - self._looked, 2 * _TICK)
        if passed < _TICK:
            return
        self._looked = now
        for worker in list(self._workers):
            stands_at = (worker.answered, worker.process.board.in_hand())
            is_idle = worker.is_ready and not worker.flight
            if is_idle or stands_at != worker.stood_at:
                worker.stood_at, worker.stood_for = stands_at, 0.0
            else:
                worker.stood_for += passed
            limits = self._setup.limits
            limit = limits.wall_seconds if worker.is_ready else limits.start_seconds
            if worker.stood_for > limit and not worker.killed:
                worker.killed = Death("wall-clock", f"it did not move for {limit:g} s")
                worker.process.kill()
            if worker.process.is_gone():  # its line may be held open by a process that it made
                self._read(worker)
                self._bury(worker)

    # Coming and going

    def _hire(self) -> _Worker:
        assert self._selector is not None
        worker = _Worker(next(self._numbers), Process(self._setup.environment))
        self._workers.append(worker)
        self._selector.register(worker.process.line, selectors.EVENT_READ, worker)
        self._write(worker, (wire.SETUP, worker.number, self._setup))
        return worker

    def _dismiss(self, worker: _Worker) -> None:
        assert self._selector is not None
        self._selector.unregister(worker.process.line)
        self._workers.remove(worker)
        worker.process.close()

    def _bury(self, worker: _Worker) -> None:
        """Find out what a dead worker died of, give its jobs back, and hire another."""
        if worker not in self._workers:
            return
        death = worker.process.post_mortem()
        guilty = worker.process.board.in_hand()
        if worker.ended is not None:
            serial, death = worker.ended
            guilty = (serial,)
        elif worker.killed is not None:
            death = worker.killed
        self._dismiss(worker)
        innocent = []
        accused = 0
        for entry in worker.flight.values():
            if entry.serial in guilty:
                accused += 1
                self._accuse(entry, death)
            elif entry.is_suspect:
                self._retries.append(entry)
            else:
                innocent.append(entry)
        for entry in reversed(innocent):
            entry.run.pending.appendleft(entry)
            entry.run.waiting_bytes += len(entry.payload)
        if not accused:
            self._barren += 1
            if self._barren >= _BARREN_DEATHS:
                raise _no_workers(death)
        self._hire()

    def _accuse(self, entry: _Entry, death: Death) -> None:
        if entry.run.is_abandoned:
            return
        entry.is_suspect = True
        if entry.run.blame.accuse(entry.serial, entry.group):
            entry.run.settle(Died(entry.position, death))
        else:
            self._retries.append(entry)


def _no_workers(death: Death) -> UsageError:
    words = death.last_words.strip().rpartition("\n")[2]
    return UsageError(
        f"workers die before they have anything to do: {death.fact}",
        hint=f"its last words were `{words}`" if words else "`nfbuild doctor` may tell why",
        code="worker",
    )


def available_workers() -> int:
    """Return how many workers suit this machine: the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
