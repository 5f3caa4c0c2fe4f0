"""What a person reads while an operation runs: a progress line, then warnings and facts.

On a terminal the progress line is drawn by rich, which is imported only when there is something
to show progress of; off a terminal plain lines are said, rarely.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from typing import Any, TypeVar

from nfbuild.cli.plain import say, spoken
from nfbuild.dataclasses import dataclass
from nfbuild.events import (
    CacheLied,
    Encoding,
    Event,
    Exported,
    Failed,
    FrameRendered,
    Planned,
    Warned,
)

Report = TypeVar("Report")

_PLAIN_EVERY_SECONDS = 10.0


@dataclass(frozen=True)
class Voice:
    """How much is said, and whether one JSON document is all that goes to stdout."""

    quiet: bool = False
    verbose: bool = False
    as_json: bool = False


class Progress:
    """How far one kind of work is; `doing` and `done` are its verb, as `encoding` and `encoded`."""

    def __init__(self, doing: str, done: str, total: int) -> None:
        self.total = total
        self.done = 0
        self._word = done
        self._began = self._said = time.monotonic()
        self._bar: Any = None
        if sys.stderr.isatty():
            self._bar = _bar(doing, total)

    def advance(self) -> None:
        """One more frame is done."""
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        """So many frames are done."""
        self.done = done
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)
            return
        now = time.monotonic()
        if done and now - self._said >= _PLAIN_EVERY_SECONDS:
            self._said = now
            # Frames drawn again for their pictures come on top of the plan.
            left = (now - self._began) / done * max(0, self.total - done)
            say(f"{self._word} {done:,} of {self.total:,} frames, {_time(left)} left")

    def stop(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _bar(doing: str, total: int) -> Any:
    from rich.console import Console  # noqa: PLC0415  60 ms, only where there is progress to see
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar  # noqa: PLC0415

    bar = Bar(
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task(doing, total=total)
    bar.start()
    return bar


def _time(seconds: float) -> str:
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s"


class Show:
    """The progress line of one operation: what is rendered, then what is still to be encoded."""

    def __init__(self) -> None:
        self._line: Progress | None = None
        self._encodes = False

    def hear(self, event: Planned | FrameRendered | Encoding) -> None:
        """Show what an event says of how far things are."""
        if isinstance(event, Planned):
            if event.to_render:
                self._begin(Progress("rendering", "rendered", event.to_render))
        elif isinstance(event, FrameRendered):
            if self._line is not None and not self._encodes:
                self._line.advance()
        elif self._line is None or self._encodes or self._line.done >= self._line.total:
            # While frames are drawn their line stays: one line is enough to look at.
            if not self._encodes:
                self._begin(Progress("encoding", "encoded", event.total))
                self._encodes = True
            assert self._line is not None
            self._line.reach(event.done)

    def _begin(self, line: Progress) -> None:
        self.stop()
        self._line = line

    def stop(self) -> None:
        """Take the line away."""
        if self._line is not None:
            self._line.stop()
            self._line = None


def follow(operation: Generator[Event, None, Report], voice: Voice) -> Report:
    """Run an operation to its end, telling the person what happens; returns its report."""
    show = Show()
    try:
        while True:
            try:
                event = next(operation)
            except StopIteration as done:
                report: Report = done.value
                return report
            if isinstance(event, (Planned, FrameRendered, Encoding)):
                if not voice.quiet:
                    show.hear(event)
            else:
                _tell(event, voice)
    finally:
        show.stop()
        operation.close()


def _tell(event: Event, voice: Voice) -> None:
    if isinstance(event, Failed):
        say("error: " + spoken(event.message, event.file, event.line, event.hint))
    elif isinstance(event, Warned):
        if not voice.quiet:
            say("warning: " + spoken(event.message, event.file, event.line, event.hint))
    elif isinstance(event, CacheLied):
        say(
            f"warning: the cache lied: `{event.composition}` frame {event.number} was kept as "
            f"{event.cached[:16]} and draws {event.drawn[:16]}; replaced"
        )
    elif isinstance(event, Exported) and voice.verbose:
        say(f"{event.target}: {event.written} written, {event.kept} kept, {event.removed} removed")
