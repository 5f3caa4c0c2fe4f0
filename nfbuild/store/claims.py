"""Claims: who is drawing which frame just now, so that builds side by side share the work.

A claim is a kernel lock on one byte of one file, at an offset taken from the key. It dies with its
holder, leaves nothing behind and is asked in microseconds. Nothing rests on it: where locks do not
work everybody claims everything, and a frame is drawn twice.

Keys that share their first 15 digits share a claim: that costs a wait, never an answer.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Final

if sys.platform != "win32":
    import fcntl

_FILE: Final = "claims.lock"
_DIGITS: Final = 15


class Claims:
    """The claims of this process on one cache folder; one object a process and folder.

    POSIX drops a process's locks on a file when any descriptor of it is closed, so a second object
    would end the claims of the first.
    """

    def __init__(self, root: str) -> None:
        self._descriptor: int | None = None
        self._held: set[str] = set()
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._descriptor = os.open(f"{root}/{_FILE}", flags, 0o666)

    def claim(self, keys: Iterable[str]) -> set[str]:
        """Claim what nobody else has; return the keys that are this process's to draw."""
        mine = set()
        for key in keys:
            if key in self._held or self._lock(key):
                self._held.add(key)
                mine.add(key)
        return mine

    def _lock(self, key: str) -> bool:
        if sys.platform == "win32" or self._descriptor is None:
            return True
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(key[:_DIGITS], 16))
        except (BlockingIOError, PermissionError):
            return False  # somebody else is drawing it
        except OSError:
            return True  # no locks here
        return True

    def release(self, keys: Iterable[str]) -> None:
        """Give up claims: the records have been written, or the frames could not be drawn."""
        for key in keys:
            if key in self._held:
                self._held.discard(key)
                if sys.platform != "win32" and self._descriptor is not None:
                    with contextlib.suppress(OSError):
                        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, int(key[:_DIGITS], 16))

    def close(self) -> None:
        """Give up every claim."""
        self._held.clear()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
