"""The folder that the workers of one run stand in: made, held, and removed when its run is gone.

A run that was killed cannot remove its own. The next one does: a folder whose run is dead on this
host, or has been silent for an hour, and whose lock nobody holds. The lock is the kernel's and dies
with its holder; where a file system has none, the process number decides.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

from nfbuild.errors import UsageError
from nfbuild.store.files import filesystem_clock, is_orphan, temporary_name
from nfbuild.store.kernellock import hold

_LOCK = "held.lock"
_ROOM = 64 * 2**20


@contextlib.contextmanager
def standing_folder(parent: str | None) -> Iterator[str]:
    """Give a fresh folder below `parent`, which is made, for the time of the `with`.

    Without `parent`, or where nothing can be made there or little would fit (faces are large), it
    is one of the system's temporary folders: the run works, it only keeps nothing. Raises
    UsageError where there is no room at all.
    """
    folder = None
    if parent is not None:
        with contextlib.suppress(OSError):
            os.makedirs(parent, exist_ok=True)
            sweep(parent)
            if _free(parent) >= _ROOM:
                place = os.path.join(parent, temporary_name())
                os.mkdir(place, 0o700)
                folder = place
    if folder is None:
        folder = _temporary()
    try:
        with hold(os.path.join(folder, _LOCK)):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _temporary() -> str:
    try:
        return tempfile.mkdtemp(prefix="nfbuild-")
    except OSError as error:
        raise UsageError(
            f"there is no folder for temporary files: {error.strerror}",
            hint="set `TMPDIR` to a folder with room",
            code="no-room",
        ) from None


def _free(folder: str) -> int:
    if not hasattr(os, "statvfs"):
        return _ROOM
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def sweep(parent: str) -> int:
    """Remove the folders of dead runs below `parent`; return how many went."""
    swept = 0
    with contextlib.suppress(OSError):
        names = os.listdir(parent)
        now = filesystem_clock(parent) if names else 0.0
        for name in names:
            folder = os.path.join(parent, name)
            with contextlib.suppress(OSError):
                if not is_orphan(name, os.lstat(folder).st_mtime, now):
                    continue
                with hold(os.path.join(folder, _LOCK)) as alone:
                    if alone:
                        shutil.rmtree(folder, ignore_errors=True)
                        swept += 1
    return swept
