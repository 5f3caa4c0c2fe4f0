"""One task, one reply: what a worker does, and the inline executor too.

Whatever a target does comes back as a value: an answer, a refusal with a typed error, or the fact
that this process should not go on. Tasks and answers are pickled in every executor, so that one
that cannot cross a process border fails in all of them alike.
"""

from __future__ import annotations

import importlib
import pickle
import traceback
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from nfbuild.dataclasses import dataclass
from nfbuild.errors import DrawError, NfbuildError, UsageError
from nfbuild.execute.audit import Watch
from nfbuild.execute.base import Cause, Declaring, Deferred, Target, WorkerSetup
from nfbuild.execute.confine import confine


@dataclass(frozen=True, slots=True)
class Value:
    """The answer, pickled."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error of the task; `trace` where it is a fault of this program."""

    error: NfbuildError
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The process must not perform another task."""

    cause: Cause
    fact: str


Reply: TypeAlias = Value | Refusal | Ended


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a task for the writer thread, and what it may open."""

    deferred: Deferred
    watch: Watch | None


class Performer:
    """A target with the rules around it; made once per worker."""

    def __init__(self, setup: WorkerSetup) -> None:
        self.setup = setup
        self.target: Target = _make(setup)

    def perform(self, payload: bytes) -> Reply | Rest:
        """Perform one pickled task."""
        watch: Watch | None = None

        def work() -> Rest | bytes:
            nonlocal watch
            task = pickle.loads(payload)  # noqa: S301  both ends are this program
            if self.setup.audited:
                watch = Watch(self.setup.readable, self.setup.writable, self._declared(task))
                with watch:
                    value = self.target.perform(task)
            else:
                value = self.target.perform(task)
            if isinstance(value, Deferred):
                return Rest(value, watch)
            return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)

        reply = _guarded(work)
        return reply if isinstance(reply, Rest) else _judged(reply, watch)

    def finish(self, rest: Rest) -> Reply:
        """Make what a deferred answer left to do."""

        def work() -> bytes:
            if rest.watch is None:
                value = rest.deferred.finish()
            else:
                with rest.watch:
                    value = rest.deferred.finish()
            return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)

        return _judged(_guarded(work), rest.watch)

    def _declared(self, task: Any) -> Iterable[str]:
        return self.target.declares(task) if isinstance(self.target, Declaring) else ()


def _make(setup: WorkerSetup) -> Target:
    module, _, name = setup.target.partition(":")
    target: Target = getattr(importlib.import_module(module), name)(setup.value)
    return target


def warmed(setup: WorkerSetup) -> Performer | NfbuildError:
    """Return a performer that is ready, or why there can be none."""
    try:
        performer = Performer(setup)
        performer.target.warm()
        if setup.confined:
            confine(setup.readable, setup.writable)
    except NfbuildError as error:
        return _portable(error).error
    except Exception as error:  # noqa: BLE001  whatever it is, the parent must hear of it
        return UsageError(
            f"a worker cannot be made: {_told(error)}",
            hint="`nfbuild doctor` tells whether this machine can build",
            code="worker.start",
        )
    return performer


def _guarded(work: Callable[[], bytes | Rest]) -> Reply | Rest:
    try:
        made = work()
    except NfbuildError as error:
        return _portable(error)
    except MemoryError:
        return Ended("memory", "it ran out of memory")
    except SystemExit as end:
        return Ended("exit", f"it ended itself with status {end.code or 0}")
    except Exception as error:  # noqa: BLE001  a fault in one frame must not take the others along
        return _fault(error)
    return made if isinstance(made, Rest) else Value(made)


def _judged(reply: Reply | Rest, watch: Watch | None) -> Reply:
    """Return the reply, or a refusal if the task opened something that was not declared."""
    assert not isinstance(reply, Rest)
    if watch is None or not watch.surprises or isinstance(reply, Ended):
        return reply
    return Refusal(
        DrawError(
            f"drawing {watch.surprises[0]}, which is not among its declared inputs",
            hint="what no key names must not decide pixels: this is a fault of nfbuild, "
            "please report it",
            code="draw.undeclared",
        )
    )


def _portable(error: NfbuildError) -> Refusal:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  made one line above
    except Exception as fault:  # noqa: BLE001  pickling runs the error's own code
        return _fault(fault)
    return Refusal(error)


def _fault(error: Exception) -> Refusal:

    return Refusal(
        DrawError(
            f"drawing failed inside nfbuild: {_told(error)}",
            hint="this is a fault of nfbuild, please report it",
            code="draw.internal",
        ),
        "".join(traceback.format_exception(error)),
    )


def _told(error: Exception) -> str:
    return f"`{type(error).__name__}: {error}`" if str(error) else f"`{type(error).__name__}`"
