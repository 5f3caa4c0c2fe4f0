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

from nfbuild.store.files import filesystem_clock, is_orphan, temporary_name
from nfbuild.store.kernellock import hold

_LOCK = "held.lock"


@contextlib.contextmanager
def standing_folder(parent: str | None) -> Iterator[str]:
    """Give a fresh folder below `parent`, which is made, for the time of the `with`.

    Without `parent`, or where nothing can be made there, it is one of the system's temporary
    folders: the run works, it only keeps nothing. Raises OSError where there is no room at all.
    """
    folder = None
    if parent is not None:
        with contextlib.suppress(OSError):
            os.makedirs(parent, exist_ok=True)
            sweep(parent)
            folder = os.path.join(parent, temporary_name())
            os.mkdir(folder, 0o700)
    if folder is None:
        folder = tempfile.mkdtemp(prefix="nfbuild-")
    try:
        with hold(os.path.join(folder, _LOCK)):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
