"""A scene with expressions is drawn twice, seconds apart, before any frame of it is believed.

An expression that names the clock is refused when the scene is loaded, but a name can be put
together while it runs. So one frame of each such scene, chosen by its identity, is drawn by one
worker and again by another, more than a second later; where they differ nothing of the scene is
kept. All scenes of a run share the wait.
Not here: the frames that are kept (`drawing`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nfbuild.digests import FrameDigest
from nfbuild.errors import CompositionError, DrawError, NfbuildError
from nfbuild.execute.base import Died, Done, Job, Refused
from nfbuild.ops.frames.films import bake, draw_task

if TYPE_CHECKING:
    from nfbuild.ops.frames.films import Film
    from nfbuild.ops.run.session import Session
    from nfbuild.scene import BakedFrame

APART = 1.1
"""Seconds between the two drawings: more than the second that clocks are read in."""


class Probe:
    """Tells which films' frames depend on when they are drawn."""

    def __init__(self, session: Session, films: Sequence[Film]) -> None:
        self._session = session
        self._films = films
        self._faults: dict[int, NfbuildError] = {}
        self._done = False

    def fault(self, film: Film, frame: BakedFrame) -> NfbuildError | None:
        """Return what is wrong with a film of which `frame` is about to be drawn."""
        if frame.lottie is None or not frame.lottie.expressions:
            return None
        if not self._done:
            self._done = True
            self._draw_twice()
        return self._faults.get(film.index)

    def _draw_twice(self) -> None:
        jobs = []
        for film in self._films:
            try:
                job = self._job(film)
            except CompositionError as error:
                self._faults[film.index] = error
                continue
            if job is not None:
                jobs.append(job)
        first = self._draw(jobs)
        drawn = time.monotonic()
        jobs = [job for job in jobs if job.position in first]
        time.sleep(max(0.0, drawn + APART - time.monotonic()))
        second = self._draw(jobs)
        for index, digest in first.items():
            if index in second and second[index] != digest:
                self._faults[index] = DrawError(
                    "an expression depends on when it is drawn: two drawings of one frame, more "
                    "than a second apart, differ",
                    hint="take the clock out of it; `time` is the scene's own",
                    code="draw.clock",
                )

    def _job(self, film: Film) -> Job | None:
        if film.error is not None or film.scene.kind != "lottie" or not film.wanted:
            return None
        chosen = film.wanted[int(film.id[:8], 16) % len(film.wanted)]
        frame = bake(self._session, film, chosen)
        if frame.lottie is None or not frame.lottie.expressions:
            return None
        return Job(film.index, draw_task(self._session, film, frame, png=False), film.name)

    def _draw(self, jobs: Sequence[Job]) -> dict[int, FrameDigest]:
        """Draw on a worker of its own; what cannot be drawn is a fault already."""
        found: dict[int, FrameDigest] = {}
        with self._session.another_worker() as worker:
            for outcome in worker.run(jobs):
                if isinstance(outcome, Done):
                    found[outcome.position] = outcome.value.digest
                elif isinstance(outcome, (Refused, Died)):
                    self._faults[outcome.position] = outcome.error
        return found
