"""Locks that die with their holder: the kernel's, on an open file.

Nobody's correctness rests on them; they keep two from doing the same work. A killed holder delays
nobody. Where a system or a file system has no such lock, `hold` says that it holds one.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Final

if sys.platform != "win32":
    import fcntl

_STEP_SECONDS: Final = 0.01


@contextlib.contextmanager
def hold(path: str, *, wait: float = 0.0, mode: int | None = None) -> Iterator[bool]:
    """Hold the lock on the file `path` inside the `with`, and tell whether it is held.

    Another holder is waited for at most `wait` seconds. `mode` is set on the file, whatever the
    umask. Where the file cannot be made or opened (a read-only mount) the lock is not held.
    """
    descriptor = _open(path, mode)
    if descriptor is None:
        yield False
        return
    try:
        yield _lock(descriptor, wait)
    finally:
        os.close(descriptor)


def _open(path: str, mode: int | None) -> int | None:
    flags = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o666 if mode is None else mode)
    except OSError:
        # Another user's lock file: a lock needs no right to write.
        try:
            return os.open(path, os.O_RDONLY | flags)
        except OSError:
            return None
    if mode is not None and hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, mode)
    return descriptor


def _lock(descriptor: int, wait: float) -> bool:
    if sys.platform == "win32":
        return True
    until = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_STEP_SECONDS)
        except OSError:
            return True  # a file system without locks, as a system without them
        else:
            return True
