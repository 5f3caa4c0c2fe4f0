"""Exports beside drawing: threads that encode what has come while the rest is being drawn.

Each export is made by one thread, which waits for its frames (`handover`); as many are made at once
as there are cores. Nothing is published before its film was judged: an answer may still move
until then. What is said of exports, and in which order, does not depend on which was ready first.

Not here: which exports a build owes (`products`), making one (`export`).
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from nfbuild.dataclasses import dataclass
from nfbuild.digests import derive
from nfbuild.errors import NfbuildError
from nfbuild.events import Encoding, Event, Exported
from nfbuild.export.base import Audio, ExportError
from nfbuild.export.make import Report, export
from nfbuild.export.plan import ExportPlan
from nfbuild.ops.exports.handover import Handover, Moved
from nfbuild.ops.exports.source import FilmSource
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.questions import State
from nfbuild.ops.frames.underway import Build, Product
from nfbuild.ops.run.reports import failure

_STATE_CONTEXT = "nfbuild 2026 export state name v1"
_TICK = 0.1
"""Seconds between two looks at how far exports are, and between two events that say so."""
_TRIES = 4
"""So often an export begins again when frames that it was given have moved."""


@dataclass
class Order:
    """One export that a build owes, and what has become of it.

    `film` is at the plan's raster: the composition's own film, or another one drawn for this
    export. `made` or `error` is there when it is done.
    """

    film: Film
    plan: ExportPlan
    audio: Audio | None
    made: Report | None = None
    error: BaseException | None = None
    share: float = 0.0
    """How much of it is encoded, 0 to 1."""

    @property
    def is_done(self) -> bool:
        """Whether its thread is through with it."""
        return self.made is not None or self.error is not None


class Exporting:
    """The exports of one build under way; `close` ends every one of them.

    `is_final` tells of a film whether its answers will not move any more.
    """

    def __init__(
        self,
        run: Build,
        drawing: Drawing,
        orders: Sequence[Order],
        is_final: Callable[[Film], bool],
    ) -> None:
        self._run = run
        self._drawing = drawing
        self._orders = orders
        self._told = 0
        """How many orders have been told of; they are told in order."""
        self._said = time.monotonic()
        self._waiting: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._awake = threading.Event()
        self._handover = Handover(run.questions, is_final)
        self._handover.knock = self._awake.set
        self._threads: list[threading.Thread] = []

    def start(self, at_once: int) -> None:
        """Begin, with at most `at_once` exports at a time."""
        draws = next(self._run.questions.numbers(State.UNKNOWN), None) is not None
        if draws and any(order.plan.format != "png" for order in self._orders):
            # An encoder that shares its core with a worker holds up the whole build.
            self._run.session.executor.give_way()
        for order in self._orders:
            self._waiting.put(order)
        for number in range(min(at_once, len(self._orders))):
            # Of a second `^C`, which waits for nobody, a thread must not keep the process.
            thread = threading.Thread(target=self._work, name=f"export {number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def beside(self, events: Iterable[Event]) -> Iterator[Event]:
        """Pass on the events of a drawing, and serve the exports in between."""
        for event in events:
            yield event
            yield from self.serve()

    def serve(self) -> Iterator[Event]:
        """Say that something has happened, grant wishes, tell of exports that are done."""
        if not self._orders:
            return
        self._awake.clear()
        self._handover.tell()
        for wish in self._handover.wishes():
            try:
                yield from self._drawing.draw([wish.question])
            finally:
                wish.granted.set()
        while self._told < len(self._orders) and self._orders[self._told].is_done:
            self._told += 1
            yield from self._tell(self._orders[self._told - 1])
        if time.monotonic() - self._said >= _TICK:
            self._said = time.monotonic()
            yield self._progress()

    def finish(self) -> Generator[Event, None, None]:
        """Serve until every export is done; their products and failures go to the build."""
        while self._told < len(self._orders):
            yield from self.serve()
            if self._told < len(self._orders):
                self._awake.wait(_TICK)
        for order in self._orders:
            self._enter(order)

    def close(self) -> None:
        """End every export and wait until it has let go of its files."""
        self._handover.stop()
        for thread in self._threads:
            thread.join()

    # --- the threads --------------------------------------------------------------------------

    def _work(self) -> None:
        while not self._handover.is_stopped:
            try:
                order = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                order.made = self._make(order)
            except BaseException as error:  # noqa: BLE001  raised again by the thread that draws
                order.error = error
            self._awake.set()

    def _make(self, order: Order) -> Report:
        def progress(done: int, total: int) -> None:
            self._handover.check()
            order.share = done / total

        path = _state_path(self._run, order.plan)
        for _ in range(_TRIES):
            source = FilmSource(
                order.film, self._run.questions, self._drawing.recall, self._handover
            )
            with contextlib.suppress(Moved):
                return export(order.plan, source, path, audio=order.audio, progress=progress)
        raise ExportError(
            f"frames of `{order.film.name}` have other pixels each time that they are exported",
            place=order.plan.place,
            hint="`nfbuild cache verify` looks at the cache; the former product is in place",
        )

    # --- telling ------------------------------------------------------------------------------

    def _progress(self) -> Encoding:
        counts = [order.plan.timing.count for order in self._orders]
        done = sum(
            count if order.is_done else int(count * order.share)
            for order, count in zip(self._orders, counts, strict=True)
        )
        return Encoding(done, sum(counts))

    def _tell(self, order: Order) -> Iterator[Event]:
        if order.made is not None:
            target = _shown(self._run, order.plan)
            made = order.made
            yield Exported(order.film.name, target, made.written, made.removed, made.kept)
        elif isinstance(order.error, NfbuildError):
            if not self._is_told_already(order):
                yield failure(order.error, order.film.name)
        elif order.error is not None:
            raise order.error

    def _enter(self, order: Order) -> None:
        """Put what became of an order into the build, once all are done: the order never varies."""
        run, plan = self._run, order.plan
        if order.made is None:
            assert isinstance(order.error, NfbuildError)
            if not self._is_told_already(order):
                run.report.errors.append(failure(order.error, order.film.name))
            return
        run.products.append(
            Product(plan.folder, plan.name, order.made.fingerprint, plan, order.film, order.audio)
        )
        for name in order.made.left:
            run.report.notes.append(
                f"`{_shown(run, plan)}`: `{name}` is not nfbuild's and was left alone"
            )

    def _is_told_already(self, order: Order) -> bool:
        """Whether an export failed because its composition did, which was said."""
        return order.film.error is not None and self._run.lists(order.film)


def _state_path(run: Build, plan: ExportPlan) -> str:
    name = derive(_STATE_CONTEXT, os.path.realpath(plan.folder), plan.name)
    return os.path.join(run.session.project.cache.folder, "exports", f"{name[:32]}.json")


def _shown(run: Build, plan: ExportPlan) -> str:
    return run.session.project.relative(plan.target)
