"""The crew: the worker processes of a pool, their lines, and who has stopped moving.

Lines are polled and written without ever waiting, so a worker that is stopped holds up nobody.
Not here: what the messages mean for jobs, and who is to blame for a death (`pool`).
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.execute import ahead, wire
from nfbuild.execute.base import Death, WorkerSetup
from nfbuild.execute.launch import Process
from nfbuild.execute.runs import Entry

_CHUNK = 1 << 18

TICK = 0.25
"""Seconds between two looks at who has stopped moving."""


@dataclass(slots=True, eq=False)
class Worker:
    """A process with what its parent knows of it."""

    number: int
    process: Process
    inbox: wire.Inbox = field(default_factory=wire.Inbox)
    outbox: bytearray = field(default_factory=bytearray)
    flight: dict[int, Entry] = field(default_factory=dict)
    is_ready: bool = False
    is_fresh: bool = True
    """No job was ever sent to it."""
    is_alone: bool = False
    """It has a suspect, and gets nothing else until that is answered."""
    answered: int = 0
    ended: tuple[int, Death] | None = None
    """The job with which it ended itself, as it said, and how."""
    killed: Death | None = None
    stood_at: tuple[int, tuple[int, ...]] = (0, ())
    stood_for: float = 0.0

    def give(self, entries: list[Entry]) -> tuple[Any, ...]:
        """Note that these jobs are in its hands; return the message that says so."""
        self.is_fresh = False
        self.flight.update((entry.serial, entry) for entry in entries)
        return (wire.TASKS, [(entry.serial, entry.payload) for entry in entries])

    def autopsy(self) -> tuple[Death, tuple[int, ...]]:
        """Say how it ended, and which jobs it had in hand then."""
        death = self.process.post_mortem()
        if self.ended is not None:
            serial, death = self.ended
            return death, (serial,)
        return self.killed or death, self.process.board.in_hand()


class Crew:
    """Hires, hears, watches and dismisses workers, which are numbered by `numbers`."""

    def __init__(
        self, setup: WorkerSetup, numbers: Iterator[int], *, gives_way: bool = False
    ) -> None:
        self.workers: list[Worker] = []
        self._setup = setup
        self._numbers = numbers
        self._selector = selectors.DefaultSelector()
        self._looked = time.monotonic()
        self._gives_way = gives_way

    def give_way(self) -> None:
        """Let the parent's own work go before that of every worker, hired already or later."""
        self._gives_way = True
        for worker in self.workers:
            worker.process.give_way()

    def hire(self) -> Worker:
        """Start one more worker; it gets warm by itself."""
        environment = self._setup.environment
        process = None if environment else ahead.take()
        if process is None:
            process = Process(environment)
        process.memory_bytes = self._setup.limits.memory_bytes
        if self._gives_way:
            process.give_way()
        worker = Worker(next(self._numbers), process)
        self.workers.append(worker)
        self._selector.register(worker.process.line, selectors.EVENT_READ, worker)
        self.send(worker, (wire.SETUP, worker.number, self._setup))
        return worker

    def dismiss(self, worker: Worker) -> None:
        """End a worker, if it has not ended."""
        self._selector.unregister(worker.process.line)
        self.workers.remove(worker)
        worker.process.close()

    def end(self) -> None:
        """End every worker, whatever it is doing, and do not wait until it has gone."""
        for worker in self.workers:
            worker.process.kill()

    def close(self) -> None:
        """End every worker, whatever it is doing."""
        self.end()  # all first, so that they go side by side
        workers, self.workers = self.workers, []
        for worker in workers:
            worker.process.close()
        self._selector.close()

    def send(self, worker: Worker, message: tuple[Any, ...]) -> None:
        """Send a message, now or as soon as the line takes it."""
        worker.outbox += wire.pack(message)
        self._flush(worker)

    def listen(self, timeout: float) -> Iterator[tuple[Worker, tuple[Any, ...] | None]]:
        """Yield what has come from workers, waiting a little for it; None for one that ended.

        Whoever hears that a worker has ended dismisses it before going on.
        """
        for key, events in self._selector.select(timeout):
            worker: Worker = key.data
            if events & selectors.EVENT_WRITE:
                self._flush(worker)
            if events & selectors.EVENT_READ:
                yield from self._hear(worker)
        if (passed := time.monotonic() - self._looked) >= TICK:
            self._looked += passed
            # A parent that was itself stopped or busy must not count that against its workers.
            yield from self._look_round(min(passed, 2 * TICK))

    def _hear(self, worker: Worker) -> Iterator[tuple[Worker, tuple[Any, ...] | None]]:
        """Yield what a worker has sent, and its end if its line is closed."""
        size = _CHUNK
        while size == _CHUNK:  # less is all that there is: another look would be in vain
            try:
                data = worker.process.line.recv(_CHUNK)
            except BlockingIOError:
                return
            except ConnectionError:
                data = b""
            for message in worker.inbox.feed(data):
                yield worker, message
            size = len(data)
        if not size:
            yield worker, None

    def _look_round(self, passed: float) -> Iterator[tuple[Worker, tuple[Any, ...] | None]]:
        """Kill workers that have not moved for longer than any job may take."""
        limits = self._setup.limits
        for worker in list(self.workers):
            stands_at = (worker.answered, worker.process.board.in_hand())
            is_idle = worker.is_ready and not worker.flight
            if is_idle or stands_at != worker.stood_at:
                worker.stood_at, worker.stood_for = stands_at, 0.0
            else:
                worker.stood_for += passed
            limit = limits.wall_seconds if worker.is_ready else limits.start_seconds
            if worker.stood_for > limit and not worker.killed:
                worker.killed = Death("wall-clock", f"it did not move for {limit:g} s")
                worker.process.kill()
            if worker.process.is_gone():  # its line may be held open by a process that it made
                for heard in self._hear(worker):
                    yield heard
                    if heard[1] is None:
                        break
                else:
                    yield worker, None

    def _flush(self, worker: Worker) -> None:
        # A line that broke is seen where it is read.
        with suppress(BlockingIOError, ConnectionError):
            while worker.outbox:
                del worker.outbox[: worker.process.line.send(worker.outbox)]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.outbox else 0)
        if self._selector.get_key(worker.process.line).events != events:
            self._selector.modify(worker.process.line, events, worker)
