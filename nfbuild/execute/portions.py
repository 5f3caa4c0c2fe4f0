"""How many jobs to hand to a worker at once.

Enough that it never waits for the parent, few enough that all workers end together: a portion is
about ten milliseconds of work while much is waiting, and shrinks with what is left. It depends on
measured times, which is why nothing canonical may depend on who performed what.
"""

from __future__ import annotations

_PORTION = 10_000_000  # nanoseconds of work that one message should carry
_GUESS = 5_000_000  # nanoseconds of a job before any was seen
_MOST = 32
_LONG = 1_000_000  # nanoseconds from which waiting for the next message is not felt
_MEMORY = 0.2  # how much the latest job counts in the mean


class Portions:
    """Decides portions from what jobs have taken so far."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._mean = float(_GUESS)

    def learn(self, nanoseconds: int) -> None:
        """Take into account what one job took."""
        self._mean += _MEMORY * (nanoseconds - self._mean)

    def size(self, waiting: int, in_flight: int, *, ends: bool) -> int:
        """Return how many of `waiting` jobs to send to a worker that has `in_flight` in hand.

        `ends` says that no more jobs will come: then a long job is not queued behind another
        while a worker may be free for it before.
        """
        by_time = max(1, min(_MOST, int(_PORTION / max(self._mean, 1.0))))
        is_tail = ends and waiting < 2 * self._workers and self._mean > _LONG
        enough = 1 if is_tail else max(2, by_time)
        if in_flight >= enough:
            return 0
        return max(1, min(by_time, waiting // (2 * self._workers)))
