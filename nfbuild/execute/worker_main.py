"""The worker process: makes its target, then performs what its line brings, one task at a time.

Three threads: the first performs; one reads the line, so that the parent never waits, and ends the
process at once when the line closes, whatever is being drawn; one finishes deferred answers while
the next task is performed. Limits of processor time and memory are the system's own, armed here:
they also end what never lets go of the interpreter lock.
"""

from __future__ import annotations

import faulthandler
import functools
import importlib
import os
import queue
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from nfbuild.errors import NfbuildError
from nfbuild.execute import wire
from nfbuild.execute.base import WorkerSetup
from nfbuild.execute.board import FINISHING, PERFORMING, Board
from nfbuild.execute.perform import Ended, Performer, Refusal, Reply, Rest, warmed

_CHUNK = 1 << 18
_STACK = 1 << 20  # bytes for each of the two other threads, which count against the memory limit


class _Line:
    """The stream to the parent, from the worker's end."""

    def __init__(self) -> None:
        """Take the line over from standard input, which becomes empty."""
        if sys.platform == "win32":
            import socket  # noqa: PLC0415  elsewhere a descriptor is enough, and starts faster

            shared = socket.fromshare(sys.stdin.buffer.read())
            self._read, self._write = shared.recv, shared.send
        else:
            line = os.dup(0)
            self._read = functools.partial(os.read, line)
            self._write = functools.partial(os.write, line)
            empty = os.open(os.devnull, os.O_RDONLY)
            os.dup2(empty, 0)
            os.close(empty)
        self._lock = threading.Lock()

    def receive(self) -> bytes:
        """Return the next bytes; none when the parent is gone."""
        try:
            return self._read(_CHUNK)
        except ConnectionError:
            return b""

    def send(self, message: tuple[Any, ...]) -> None:
        """Send one message; without a parent there is nothing left to do."""
        rest = memoryview(wire.pack(message))
        with self._lock:
            try:
                while rest:
                    rest = rest[self._write(rest) :]
            except ConnectionError:
                os._exit(0)


class _Worker:
    def __init__(self) -> None:
        self._line = _Line()
        self._board = Board(1)
        os.dup2(2, 1)  # what anybody prints belongs to the last words, not on the notice board
        self._setup: queue.SimpleQueue[tuple[int, WorkerSetup]] = queue.SimpleQueue()
        self._tasks: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        # One job being finished and one waiting: more would only hold more pixels in memory.
        self._rests: queue.Queue[tuple[int, Rest, int, int]] = queue.Queue(1)
        self._writer: threading.Thread | None = None

    def run(self) -> None:
        begun = time.perf_counter_ns()
        threading.stack_size(_STACK)
        threading.Thread(target=self._listen, daemon=True).start()
        _, setup = self._setup.get()
        _bound_memory(setup.limits.memory_bytes)
        self._arm(setup.limits.start_seconds)
        made = warmed(setup)
        if isinstance(made, NfbuildError):
            self._line.send((wire.BROKEN, made))
            self._leave()
        assert isinstance(made, Performer)
        self._performer = made
        self._line.send((wire.READY, begun, time.perf_counter_ns()))
        while True:
            self._perform(*self._tasks.get())

    def _perform(self, serial: int, payload: bytes) -> None:
        self._board.put(PERFORMING, serial)
        self._arm(self._performer.setup.limits.processor_seconds)
        begun = time.perf_counter_ns()
        made = self._performer.perform(payload)
        performed = time.perf_counter_ns()
        if isinstance(made, Rest):
            if self._writer is None:
                self._writer = threading.Thread(target=self._finish_all, daemon=True)
                self._writer.start()
            self._rests.put((serial, made, begun, performed))
        else:
            self._reply(serial, made, begun, performed, performed)
        self._board.put(PERFORMING, 0)

    def _finish_all(self) -> None:
        while True:
            serial, rest, begun, performed = self._rests.get()
            self._board.put(FINISHING, serial)
            reply = self._performer.finish(rest)
            self._reply(serial, reply, begun, performed, time.perf_counter_ns())
            self._board.put(FINISHING, 0)

    def _reply(self, serial: int, reply: Reply, begun: int, performed: int, finished: int) -> None:
        match reply:
            case Ended(cause, fact):
                self._line.send((wire.ENDED, serial, cause, fact))
                self._leave()
            case Refusal(error, trace):
                self._line.send((wire.REFUSAL, serial, error, trace))
            case _:
                self._line.send((wire.ANSWER, serial, reply.data, begun, performed, finished))

    def _listen(self) -> None:
        inbox = wire.Inbox()
        while data := self._line.receive():
            for message in inbox.feed(data):
                if message[0] == wire.TASKS:
                    for item in message[1]:
                        self._tasks.put(item)
                else:
                    self._setup.put(message[1:])
        self._leave()

    def _leave(self) -> None:
        # Not `sys.exit`: the other threads may be anywhere, in C code too.
        os._exit(0)

    def _arm(self, seconds: float) -> None:
        # The system itself ends the process when the time is used up, also one that a C library
        # keeps busy. It counts this process's processor time, so a busy machine shortens nothing.
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_PROF, seconds)


def _bound_memory(limit: int | None) -> None:
    if limit is None or sys.platform == "win32":
        return
    import resource  # noqa: PLC0415  not on every system

    # Private memory, not address space: libraries reserve much that they never touch.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):  # a system that cannot is the documented fallback
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _prepare_signals() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  not on every system

        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    faulthandler.enable()


def main(prepare: str = "") -> None:
    """Be a worker until the line closes; `prepare` names a function to call before any setup."""
    _prepare_signals()
    worker = _Worker()
    if prepare:
        module, _, name = prepare.partition(":")
        # What fails here fails again, and is told, when the target is made.
        with suppress(ImportError, OSError, NfbuildError):
            getattr(importlib.import_module(module), name)()
    worker.run()
