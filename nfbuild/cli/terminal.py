"""What a person reads while an operation runs: a progress line, then warnings and facts.

On a terminal the progress line is drawn by rich, which is imported only when there is something
to show progress of; off a terminal plain lines are said, rarely.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from nfbuild.cli.plain import say, spoken
from nfbuild.events import CacheLied, Event, Exported, Failed, FrameRendered, Planned, Warned

Report = TypeVar("Report")

_PLAIN_EVERY_SECONDS = 10.0


@dataclass(frozen=True)
class Voice:
    """How much is said, and whether one JSON document is all that goes to stdout."""

    quiet: bool = False
    verbose: bool = False
    as_json: bool = False


class Progress:
    """The progress of drawing: counts only frames still to render."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._began = self._said = time.monotonic()
        self._bar: Any = None
        if sys.stderr.isatty():
            self._bar = _bar(total)

    def advance(self) -> None:
        """One more frame is drawn."""
        self.done += 1
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0])
            return
        now = time.monotonic()
        if now - self._said >= _PLAIN_EVERY_SECONDS:
            self._said = now
            # Frames drawn again for their pictures come on top of the plan.
            left = (now - self._began) / self.done * max(0, self.total - self.done)
            say(f"rendered {self.done:,} of {self.total:,} frames, {_time(left)} left")

    def stop(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _bar(total: int) -> Any:
    from rich.console import Console  # noqa: PLC0415  60 ms, only where there is progress to see
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar  # noqa: PLC0415

    bar = Bar(
        TextColumn("rendering"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("render", total=total)
    bar.start()
    return bar


def _time(seconds: float) -> str:
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s"


def follow(operation: Generator[Event, None, Report], voice: Voice) -> Report:
    """Run an operation to its end, telling the person what happens; returns its report."""
    progress: Progress | None = None
    try:
        while True:
            try:
                event = next(operation)
            except StopIteration as done:
                report: Report = done.value
                return report
            if isinstance(event, Planned):
                if event.to_render and not voice.quiet:
                    progress = Progress(event.to_render)
            elif isinstance(event, FrameRendered):
                if progress is not None:
                    progress.advance()
            else:
                _tell(event, voice)
    finally:
        operation.close()
        if progress is not None:
            progress.stop()


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
