"""Workers ahead of time: processes that start while their parent still imports its own modules.

Starting an interpreter and loading the rasterizer takes a worker about as long as a build takes to
get to its first question; both go on side by side. A process that nobody takes is ended.
Not here: what a worker is told once it is taken (`crew`).
"""

from __future__ import annotations

import contextlib
import os

from nfbuild.execute.launch import Process

DRAWING = "nfbuild.render.worker:prepare"
"""What a worker that will draw loads ahead."""

_waiting: list[Process] = []


def cores() -> int:
    """Return how many processors this process may use, at least one."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def boot(count: int, prepare: str) -> None:
    """Start worker processes in the ordinary environment until `count` wait.

    Each calls the function that `prepare` names as `module:function`, then waits to be taken.
    """
    # What a system refuses here it refuses again, and is told, when the pool hires.
    with contextlib.suppress(OSError):
        _waiting.extend(Process({}, prepare=prepare) for _ in range(count - len(_waiting)))


def take() -> Process | None:
    """Return a process that was started ahead, None when there is none left."""
    return _waiting.pop() if _waiting else None


def dismiss() -> None:
    """End the processes that nobody took."""
    while _waiting:
        _waiting.pop().close()
