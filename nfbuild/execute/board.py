"""The notice board of one worker: which jobs it has in hand, readable after its death.

A shared page of memory holds one slot for each thread that works on jobs. A message per job would
cost a system call and a wake-up of the parent; a store into shared memory costs nothing, and
stands when the process is gone. Serial 0 means that the slot is empty.
"""

from __future__ import annotations

import mmap
import os

SIZE = mmap.PAGESIZE
PERFORMING = 0
FINISHING = 1
_SLOTS = (PERFORMING, FINISHING)


class Board:
    """Both ends of a shared page, over an open file that both processes hold."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, SIZE)
        # One aligned store of eight bytes each: a reader sees the old or the new, nothing between.
        self._cells = memoryview(self._page).cast("Q")

    def put(self, slot: int, serial: int) -> None:
        """Say that the thread of `slot` has this job in hand; 0 for none."""
        self._cells[slot] = serial

    def in_hand(self) -> tuple[int, ...]:
        """Return the serials of the jobs that are in hand, the oldest first."""
        return tuple(sorted({self._cells[slot] for slot in _SLOTS} - {0}))

    def close(self) -> None:
        """Let the page go."""
        self._cells.release()
        self._page.close()


def make_file() -> int:
    """Return a descriptor of a new nameless file, large enough for a board."""
    if hasattr(os, "memfd_create"):
        descriptor: int = os.memfd_create("nfbuild-board")
    else:
        import tempfile  # noqa: PLC0415  costs milliseconds that Linux need not pay

        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.truncate(descriptor, SIZE)
    return descriptor
