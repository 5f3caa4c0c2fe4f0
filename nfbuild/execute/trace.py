"""The profile of a build as a Chrome trace: who did what when.

The file opens in `chrome://tracing` and in Perfetto. One lane is the parent, one each worker;
lanes hold stages (parse, bake, key, look up, draw, encode, write) as complete events, in
microseconds from the earliest one. The format is Google's "Trace Event Format", its JSON object
form. A profile is for people: it holds times, and nothing canonical is made of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from time import perf_counter_ns
from typing import TYPE_CHECKING, Protocol

from nfbuild.dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nfbuild.execute.base import Timing

PARENT = -1
"""The lane of the process that hands out the jobs; workers have their numbers."""

_PROCESS = 1  # the format wants process numbers; one stands for the whole build
_WRITER_LANES = 10_000  # the writer threads' lanes come after all the workers'


class StageLike(Protocol):
    """A stretch of a worker's time, in nanoseconds of `time.perf_counter_ns`."""

    @property
    def name(self) -> str: ...  # noqa: D102  the class says it
    @property
    def start(self) -> int: ...  # noqa: D102  the class says it
    @property
    def duration(self) -> int: ...  # noqa: D102  the class says it


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time: nanoseconds of `time.perf_counter_ns`, the same in all workers."""

    name: str
    lane: int
    start: int
    duration: int
    facts: Mapping[str, str | int] = field(default_factory=dict)


class Profile:
    """Collects spans; costs nothing where it is not made."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    @contextmanager
    def measured(self, name: str, **facts: str | int) -> Iterator[None]:
        """Note how long the block takes, in the parent's lane."""
        start = perf_counter_ns()
        try:
            yield
        finally:
            self.spans.append(Span(name, PARENT, start, perf_counter_ns() - start, facts))

    def add_warming(self, timing: Timing) -> None:
        """Note how long a worker took to get ready."""
        duration = timing.finished - timing.begun
        self.spans.append(Span("get ready", timing.worker, timing.begun, duration))

    def add_job(
        self, name: str, timing: Timing, stages: Iterable[StageLike] = (), **facts: str | int
    ) -> None:
        """Note one job and its stages, those after `performed` in the writer thread's lane."""
        lane = timing.worker
        self.spans.append(Span(name, lane, timing.begun, timing.performed - timing.begun, facts))
        for stage in stages:
            at = lane if stage.start < timing.performed else lane + _WRITER_LANES
            self.spans.append(Span(stage.name, at, stage.start, stage.duration))

    def by_stage(self) -> dict[str, float]:
        """Return the seconds that each name of a span took, over all lanes, by name."""
        total: dict[str, int] = {}
        for span in self.spans:
            total[span.name] = total.get(span.name, 0) + span.duration
        return {name: total[name] / 1e9 for name in sorted(total)}

    def to_json(self) -> bytes:
        """Return the trace file."""
        origin = min((span.start for span in self.spans), default=0)
        events: list[dict[str, object]] = [
            {
                "ph": "M",
                "name": "thread_name",
                "pid": _PROCESS,
                "tid": _track(lane),
                "args": {"name": _lane_name(lane)},
            }
            for lane in sorted({span.lane for span in self.spans})
        ]
        events += [
            {
                "ph": "X",
                "name": span.name,
                "pid": _PROCESS,
                "tid": _track(span.lane),
                "ts": (span.start - origin) / 1000,
                "dur": span.duration / 1000,
                "args": dict(span.facts),
            }
            for span in sorted(self.spans, key=lambda span: (span.start, -span.duration))
        ]
        return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}).encode("utf-8")


def _track(lane: int) -> int:
    """Return the number of a lane's track: not negative, a writer's next to its worker's."""
    if lane == PARENT:
        return 0
    worker, writes = lane % _WRITER_LANES, lane >= _WRITER_LANES
    return 1 + 2 * worker + writes


def _lane_name(lane: int) -> str:
    if lane == PARENT:
        return "parent"
    worker = f"worker {lane % _WRITER_LANES}"
    return f"{worker}, writing" if lane >= _WRITER_LANES else worker
