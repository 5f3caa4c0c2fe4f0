"""The bookkeeping of one call of `run`: which jobs it has taken, and where their outcomes wait."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator

from nfbuild.dataclasses import dataclass, field
from nfbuild.execute.base import Job, Outcome, Skipped
from nfbuild.execute.blame import Blame


@dataclass(slots=True, eq=False)
class Entry:
    """One job on its way; `serial` names it in messages and is never used twice in a pool."""

    serial: int
    run: Run
    position: int
    group: str
    payload: bytes
    is_suspect: bool = False

    def is_void(self) -> bool:
        """Tell whether the job need not be tried; its outcome is settled then."""
        if self.run.is_abandoned:
            return True
        if self.run.blame.is_given_up(self.group):
            self.run.outcomes.append(Skipped(self.position, self.group))
            return True
        return False


@dataclass(slots=True, eq=False)
class Run:
    """Jobs come in lazily, wait in `pending`, are away with workers, and end as outcomes."""

    jobs: Iterator[Job]
    serials: Iterator[int]
    blame: Blame = field(default_factory=Blame)
    pending: deque[Entry] = field(default_factory=deque)
    outcomes: deque[Outcome] = field(default_factory=deque)
    open: int = 0
    """Jobs that were taken from the caller and whose outcomes were not yet given back."""
    waiting_bytes: int = 0
    is_exhausted: bool = False
    is_abandoned: bool = False

    def take(self) -> None:
        """Take one more job from the caller, or note that there are no more."""
        try:
            job = next(self.jobs)
        except StopIteration:
            self.is_exhausted = True
            return
        self.open += 1
        payload = pickle.dumps(job.task, pickle.HIGHEST_PROTOCOL)
        entry = Entry(next(self.serials), self, job.position, job.group, payload)
        if not entry.is_void():
            self.pending.append(entry)
            self.waiting_bytes += len(payload)

    def portion(self, size: int) -> list[Entry]:
        """Remove and return the next jobs to try, `size` at most."""
        entries: list[Entry] = []
        while self.pending and len(entries) < size:
            entry = self.pending.popleft()
            self.waiting_bytes -= len(entry.payload)
            if not entry.is_void():
                entries.append(entry)
        return entries

    def give_back(self, entry: Entry) -> None:
        """Put a job back to the head of those that wait."""
        self.pending.appendleft(entry)
        self.waiting_bytes += len(entry.payload)
