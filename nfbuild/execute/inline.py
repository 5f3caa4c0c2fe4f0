"""The inline executor: every task in this process, one after the other, in order.

The reference that every other executor must agree with. It protects nothing: a crash of the
rasterizer is a crash of this process, and no limit of time or memory is enforced.
"""

from __future__ import annotations

import itertools
import pickle
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

from nfbuild.errors import NfbuildError, UsageError
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
from nfbuild.execute.perform import Ended, Performer, Refusal, Rest, warmed

if TYPE_CHECKING:
    from nfbuild.execute.perform import Reply


class InlineExecutor:
    """Performs jobs in the calling thread."""

    name: ClassVar[str] = "inline"
    workers = 1
    look_ahead = 1

    def __init__(self, setup: WorkerSetup) -> None:
        if setup.confined:
            raise UsageError(
                "the inline executor cannot confine itself: it is the caller's own process",
                hint="use a pool of one worker",
            )
        self._setup = setup
        self._performer: Performer | None = None
        self._born = itertools.count()
        self._number = -1

    def start(self) -> None:
        """Make the target; there is no background here."""
        if self._performer is None:
            made = warmed(self._setup)
            if isinstance(made, NfbuildError):
                raise made
            self._performer = made
            self._number = next(self._born)

    def give_way(self) -> None:
        """Do nothing: the caller's thread does all of it."""

    def run(self, jobs: Iterable[Job], /) -> Iterator[Outcome]:
        """Yield the outcomes in the order of the jobs."""
        blame = Blame()
        for serial, job in enumerate(jobs):
            if blame.is_given_up(job.group):
                yield Skipped(job.position, job.group)
                continue
            payload = pickle.dumps(job.task, pickle.HIGHEST_PROTOCOL)
            while True:
                reply, timing = self._perform(payload)
                if not isinstance(reply, Ended):
                    blame.acquit(serial)
                    yield _outcome(job.position, reply, timing)
                    break
                self._performer = None  # as a worker would not go on either
                if blame.accuse(serial, job.group):
                    yield Died(job.position, Death(reply.cause, reply.fact))
                    break

    def _perform(self, payload: bytes) -> tuple[Reply, Timing]:
        self.start()
        assert self._performer is not None
        begun = time.perf_counter_ns()
        made = self._performer.perform(payload)
        performed = time.perf_counter_ns()
        reply = self._performer.finish(made) if isinstance(made, Rest) else made
        return reply, Timing(self._number, begun, performed, time.perf_counter_ns())

    def retire(self) -> None:
        """Nothing to let go: the caller's own process is the worker."""

    def close(self) -> None:
        """Let the target go."""
        self._performer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def _outcome(position: int, reply: Any, timing: Timing) -> Outcome:
    if isinstance(reply, Refusal):
        return Refused(position, reply.error, reply.trace)
    return Done(position, pickle.loads(reply.data), timing)  # noqa: S301  pickled by `perform`
