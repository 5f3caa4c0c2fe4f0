"""What every executor promises: jobs go in, one outcome for each comes out.

`run` takes jobs lazily, performs them in any order, and yields every outcome with the position of
its job, as it completes. Nothing canonical may depend on the order of outcomes, on which worker
performed a job or on when: callers merge by position. The answer to a task is a function of the
task and the setup alone, so every executor gives the same set of outcomes; only which tasks of a
group were still tried, when others of it had killed their workers, is a matter of chance.

What performs a task is a *target*: a class named as text, because the process that hands out the
jobs must not import it (it loads the rasterizer). One target is made in each worker from the
setup's value, warmed, and then asked to perform task after task.

Not here: which tasks there are (`ops`), how they are performed (`render`), processes (`pool`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import DrawError, NfbuildError

GROUP_PATIENCE = 3
"""So many tasks of one group may kill their workers before the rest of the group is not tried."""


class Job(NamedTuple):
    """One task with its stable position, and the group that bears the blame for it.

    Positions are the caller's: the place in the plan, never a place in time. `group` is the
    composition's name; jobs of the empty group answer for themselves alone. Only the task travels.
    """

    position: int
    task: Any
    group: str = ""


@dataclass(frozen=True, slots=True)
class Timing:
    """When a job was performed, in nanoseconds of `time.perf_counter_ns`, and by which worker.

    `finished` is when the answer was complete: for a deferred one, after its blob was on disk.
    """

    worker: int
    begun: int
    performed: int
    finished: int


@dataclass(frozen=True, slots=True)
class Done:
    """The task was performed; `value` is the target's answer."""

    position: int
    value: Any
    timing: Timing | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The target refused the task with an error of its own; asking again would not help.

    `trace` is a traceback from the worker when the error is a fault of this program.
    """

    position: int
    error: NfbuildError
    trace: str | None = None


Cause: TypeAlias = Literal["signal", "exit", "processor-time", "wall-clock", "memory"]


@dataclass(frozen=True, slots=True)
class Death:
    """How a worker came to its end; `last_words` is the end of what it wrote to its stderr."""

    cause: Cause
    fact: str
    last_words: str = ""


@dataclass(frozen=True, slots=True)
class Died:
    """The task's worker died, and then a second one that had nothing else to do."""

    position: int
    death: Death

    @property
    def error(self) -> DrawError:
        """The death as an error of the composition; the caller adds its place."""
        hint = {
            "signal": "something in this frame makes the rasterizer crash: leave elements out of "
            "it until it draws, the last one is the cause",
            "exit": "a worker must not end by itself: this is a fault of nfbuild or of a library",
            "processor-time": "look for an endless loop, an expression, a huge blur or canvas",
            "wall-clock": "the worker was blocked: look for a file system that does not answer",
            "memory": "look for a huge canvas, blur or picture, or for translucent groups in many "
            "levels; `worker_memory` in `[limits]` of `nfbuild.toml` can be raised",
        }[self.death.cause]
        return DrawError(
            f"drawing ended its worker process twice: {self.death.fact}",
            hint=hint,
            code=f"draw.{self.death.cause}",
        )


@dataclass(frozen=True, slots=True)
class Skipped:
    """Not tried: too many tasks of its group had killed their workers."""

    position: int
    group: str


Outcome: TypeAlias = Done | Refused | Died | Skipped


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one task may take before its worker is ended.

    `processor_seconds` is processor time of the worker while it performs the task: a busy machine
    does not shorten it. `wall_seconds` is generous and catches a worker that waits for ever.
    `start_seconds` is what both mean until a worker is ready. `memory_bytes` bounds the
    worker's private memory where the system can.
    """

    processor_seconds: float = 120.0
    wall_seconds: float = 900.0
    start_seconds: float = 60.0
    memory_bytes: int | None = None


@dataclass(frozen=True)
class WorkerSetup:
    """What every worker of an executor is made of.

    `target` reads `module:Class`; the class is called with `value`, which must be picklable.
    `readable` and `writable` are absolute paths of files and folders that tasks may open (those
    that are writable, for both) besides what the target declares for a task and the program's own
    code. With `audited` any other opening by Python code refuses the task. With `confined`
    nothing else can be opened at all once the target is warm, by C libraries neither (Linux; the
    paths must exist; what a target declares for a task must be below `readable`).

    `environment` is laid over the fixed environment of workers and exists for `reproduce`, which
    shows that it changes no answer.
    """

    target: str
    value: Any = None
    limits: Limits = Limits()
    audited: bool = True
    confined: bool = False
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


class Target(Protocol):
    """What performs tasks; made once per worker."""

    def warm(self) -> None:
        """Load what every task needs; an `NfbuildError` here ends the whole run."""

    def perform(self, task: Any, /) -> Any:
        """Return the answer: a small picklable value, or a `Deferred` that makes it.

        An `NfbuildError` is the answer's refusal and reaches the caller as it is.
        """


@runtime_checkable
class Declaring(Protocol):
    """A target that can say which files a task may read, besides `WorkerSetup.readable`."""

    def declares(self, task: Any, /) -> Iterable[str]:
        """Return paths; relative ones start at the worker's working directory."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """The rest of an answer that a worker's writer thread makes while the next task is drawn.

    `finish` must not touch what the next task reuses. The job is done when it has returned.
    """

    finish: Callable[[], Any]


class Executor(Protocol):
    """Runs jobs; a context manager that leaves no process behind."""

    name: ClassVar[str]
    workers: int

    @property
    def look_ahead(self) -> int:
        """How many jobs one run takes at most before it has yielded their outcomes."""

    def start(self) -> None:
        """Make workers and return at once; they get warm meanwhile. `run` does it if need be."""

    def give_way(self) -> None:
        """Let the caller's own work go before that of the workers from now on."""

    def run(self, jobs: Iterable[Job], /) -> Iterator[Outcome]:
        """Yield one outcome for each job, in no promised order.

        `jobs` is read in the calling thread and may itself run other jobs on this executor.
        Leaving the iterator early abandons what has not been yielded.
        """

    def retire(self) -> None:
        """Let the workers end, without waiting for it; `run` makes new ones if need be."""

    def close(self) -> None:
        """End every worker; may be called twice."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc_info: object) -> None: ...
