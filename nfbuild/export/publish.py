"""Putting finished files in place: written beside, then renamed, never half there.

A `Staging` is a hidden folder in the product's own folder (one file system, so a rename is
atomic). Its owner holds a lock on it for as long as it lives; a staging folder whose lock is free
belongs to a process that is dead, and the next export into that folder removes it.
Files get the permissions of the user's umask, whatever those of the cache are.
Not here: whether a file is worth publishing (`readback`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from types import TracebackType
from typing import Self

STAGING_PREFIX = ".nfbuild-export-"
_FICLONE = 0x40049409
"""`ioctl` request of Linux: share the other file's blocks until one of the two is written."""
_TRIES = 5


class Staging:
    """A hidden folder beside the product, removed on every way out.

    Use as a context manager. `folder` must exist or be creatable; a link to a folder stays one.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.path = ""
        self._lock: int | None = None

    def __enter__(self) -> Self:
        os.makedirs(self.folder, exist_ok=True)
        remove_stale(self.folder)
        for attempt in range(_TRIES):
            self.path = os.path.join(self.folder, STAGING_PREFIX + os.urandom(8).hex())
            os.mkdir(self.path)
            try:
                self._lock = _lock(self.path)
            except OSError:
                # Between the two calls another export may have taken the folder for a dead one.
                with contextlib.suppress(OSError):
                    os.rmdir(self.path)
                if attempt == _TRIES - 1:
                    raise
            else:
                break
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def file(self, name: str) -> str:
        """Return the path at which to write a file that is to be called `name`."""
        return os.path.join(self.path, name)

    def publish(self, name: str) -> None:
        """Move the staged file `name` to its place, over what is there."""
        os.replace(self.file(name), os.path.join(self.folder, name))


def remove_stale(folder: str) -> int:
    """Remove the staging folders of processes that are dead; return how many."""
    removed = 0
    with os.scandir(folder) as entries:
        paths = [entry.path for entry in entries if entry.name.startswith(STAGING_PREFIX)]
    for path in paths:
        try:
            lock = _lock(path)
        except OSError:  # its owner lives, or somebody else is removing it
            continue
        shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            os.close(lock)
        removed += not os.path.lexists(path)
    return removed


def _lock(path: str) -> int | None:
    """Take the lock of a staging folder, or raise `OSError`; None where the system has none."""
    if sys.platform == "win32":
        return None
    import fcntl  # noqa: PLC0415  POSIX only

    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno in (errno.ENOTSUP, errno.ENOLCK, errno.EINVAL):
            return None
        raise
    return handle


def share_file(source: str, target: str) -> bool:
    """Make a new file of another's blocks, which part when one is written; False where none can be.

    Never a hard link: an editor that writes in place would change the cache. Permissions are those
    of a new file. No file is left where the file system shares no blocks.
    """
    if not sys.platform.startswith("linux"):
        return False
    reader = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        writer = _new_file(target)
        try:
            shared = _clone(reader, writer)
        finally:
            os.close(writer)
    finally:
        os.close(reader)
    if not shared:
        os.unlink(target)
    return shared


def _clone(reader: int, writer: int) -> bool:
    import fcntl  # noqa: PLC0415  POSIX only

    try:
        fcntl.ioctl(writer, _FICLONE, reader)
    except OSError:  # another file system, or one without shared blocks
        return False
    return True


def _new_file(path: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return os.open(path, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)


def write_all(handle: int, data: bytes | memoryview) -> None:
    """Write all of `data` to an open file; `os.write` may write less than asked."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def write_file(target: str, data: bytes) -> None:
    """Write a new file with the permissions of the umask."""
    handle = _new_file(target)
    try:
        write_all(handle, data)
    finally:
        os.close(handle)
