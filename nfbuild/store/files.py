"""Plain files of a store: read with suspicion, written whole or not at all.

A file lands through a temporary one in its own directory and a rename, so a reader sees all of it
or none. Nothing is flushed to the disk: what a power cut tears is found by its digest. Reading
follows no link, blocks on no pipe and reads no more than a limit; what is not a plain file is
damage. Modes are set by us where a directory is shared, whatever the umask says.

Not here: what the files are called and what they hold (`blobs`, `recordfiles`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from functools import cache
from typing import Final

from nfbuild.dataclasses import dataclass
from nfbuild.digests import derive
from nfbuild.errors import Corrupt, Missing, StoreError, Unavailable

_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_WRITE_FLAGS = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_HOST_CONTEXT = "nfbuild 2026 store host v1"
_ABSENT = (errno.ENOENT, errno.ENOTDIR)
# What the file itself is guilty of, as opposed to the machine or the whole store.
_BROKEN = (errno.ELOOP, errno.EACCES, errno.EPERM, errno.EIO, errno.ENXIO, errno.EMLINK)

TEMPORARY: Final = ".tmp-"
_ORPHAN_SECONDS = 3600.0
_TRIES = 20
_TOUCH_SECONDS = 3600.0


@dataclass(frozen=True)
class Modes:
    """Permission bits that are set whatever the umask; None leaves them to the umask."""

    directory: int | None
    file: int | None
    blob: int | None


PRIVATE: Final = Modes(None, None, None)
SHARED: Final[dict[str, Modes]] = {
    "group": Modes(0o2775, 0o664, 0o444),
    "all": Modes(0o2777, 0o666, 0o444),
}


def unavailable(error: OSError, where: str) -> Unavailable:
    """Return what to raise when the surroundings, not one file, are at fault."""
    name = errno.errorcode.get(error.errno or 0, "EIO")
    codes = {"ENOSPC": "full", "EDQUOT": "full", "EROFS": "read-only"}
    return Unavailable(
        f"{where}: {error.strerror or error}", code=codes.get(name, name.lower().lstrip("e"))
    )


def read_file(path: str, limit: int, *, touch: bool = False) -> bytes:
    """Return the bytes of the plain file at `path`.

    Raises `Missing` where nothing is, `Corrupt` where something else is or cannot be read, and
    `Unavailable` when the machine is at fault. `touch` marks the file as used where that is due
    and allowed.
    """
    try:
        descriptor = os.open(path, _READ_FLAGS)
    except OSError as error:
        raise _refusal(error, path) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Corrupt(f"{path}: it is not a plain file", code="not-a-file")
        if status.st_size > limit:
            raise Corrupt(f"{path}: {status.st_size} bytes are too many", code="too-large")
        data = _read_all(descriptor, status.st_size)
    except OSError as error:
        raise _refusal(error, path) from error
    finally:
        os.close(descriptor)
    if touch:
        touch_file(path, status.st_mtime)
    return data


def _read_all(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) >= size:
        return data
    parts = [data]
    while data := os.read(descriptor, 2**20):
        parts.append(data)
        if sum(map(len, parts)) > size:
            break
    return b"".join(parts)


def _refusal(error: OSError, path: str) -> StoreError:
    if error.errno in _ABSENT:
        return Missing(f"{path}: not there")
    if error.errno in _BROKEN:
        code = "link" if error.errno in (errno.ELOOP, errno.EMLINK) else "unreadable"
        return Corrupt(f"{path}: {error.strerror}", code=code)
    if error.errno == errno.EISDIR:
        return Corrupt(f"{path}: it is not a plain file", code="not-a-file")
    return unavailable(error, path)


def touch_file(path: str, modified: float) -> None:
    """Mark a file as used now, unless `modified` says that it was lately.

    Best effort: another user's file and a read-only mount stay as they are. A time from the
    future counts as wrong, so that a wrong clock leaves no file that is always young.
    """
    if abs(time.time() - modified) > _TOUCH_SECONDS:
        with contextlib.suppress(OSError):
            os.utime(path)


def write_file(path: str, data: bytes, modes: Modes, *, mode: int | None = None, bits: int) -> None:
    """Put `data` at `path`, whole, replacing what is there; makes the directory when needed.

    `mode` is set exactly; with None the umask takes its share of `bits`. A directory that stands
    in the way is the caller's matter (`IsADirectoryError`). Raises `OSError`; afterwards no
    temporary file is left by this call.
    """
    folder = os.path.dirname(path)
    # Twice: a collector may remove an old-looking temporary file or an empty folder under us.
    for last in (False, True):
        try:
            temporary, descriptor = _open_temporary(folder, bits, modes)
            _fill(temporary, descriptor, data, mode)
            _rename(temporary, path)
        except FileNotFoundError:
            if last:
                raise
        else:
            return


def _open_temporary(folder: str, bits: int, modes: Modes) -> tuple[str, int]:
    # The folder may go again under a collector; one that is there and takes no file is at fault.
    for _ in range(_TRIES):
        temporary = os.path.join(folder, temporary_name())
        try:
            return temporary, os.open(temporary, _WRITE_FLAGS, bits)
        except FileNotFoundError:
            make_directory(folder, modes)
        except FileExistsError:
            continue
    raise OSError(errno.EIO, "no file can be made there", folder)


def _fill(temporary: str, descriptor: int, data: bytes, mode: int | None) -> None:
    try:
        try:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
    except BaseException:
        _discard(temporary)
        raise


def _rename(temporary: str, path: str) -> None:
    try:
        os.replace(temporary, path)
    except PermissionError:
        _discard(temporary)
        # Windows refuses to replace a read-only file: the one that is there stays.
        if os.name == "nt" and os.path.isfile(path):
            return
        raise
    except BaseException:
        _discard(temporary)
        raise


def _discard(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def make_directory(path: str, modes: Modes) -> None:
    """Make `path` and what is missing above it; a shared one appears with its modes already set.

    Raises `FileExistsError` or `NotADirectoryError` when something else stands there.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        make_directory(parent, modes)
    if modes.directory is None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)
    else:
        # Made beside and renamed: another user never meets it with the umask's modes.
        beside = os.path.join(parent, temporary_name())
        os.mkdir(beside)
        try:
            os.chmod(beside, modes.directory)
            os.rename(beside, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.rmdir(beside)
    if not os.path.isdir(path):
        raise NotADirectoryError(errno.ENOTDIR, "something else stands there", path)


# --- temporary files ------------------------------------------------------------------------------


HOST_FILES: Final = ("/proc/sys/kernel/random/boot_id", "/etc/machine-id")
"""What is read to name this host; who writes blobs may open these."""


@cache
def _host() -> str:
    """Return a short name of this boot and process number space: where a pid means a process."""
    parts = []
    for path in HOST_FILES:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            parts.append(file.read(100))
    with contextlib.suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid").encode())
    if not parts:
        return "0"
    return derive(_HOST_CONTEXT, parts)[:12]


def temporary_name() -> str:
    """Return a fresh name for a file or directory that will be renamed."""
    return f"{TEMPORARY}{_host()}-{os.getpid()}-{os.urandom(6).hex()}"


def is_orphan(name: str, modified: float, now: float) -> bool:
    """Tell whether a temporary file's writer is gone: dead on this host, or silent for an hour."""
    parts = name.removeprefix(TEMPORARY).split("-")
    if not name.startswith(TEMPORARY) or len(parts) != 3:
        return False
    if abs(now - modified) > _ORPHAN_SECONDS:
        return True
    host, pid, _ = parts
    if host != _host() or host == "0" or not (pid.isascii() and pid.isdigit()) or len(pid) > 9:
        return False
    return not _alive(int(pid))


def _alive(pid: int) -> bool:
    if os.name == "nt":
        return True  # `os.kill` would end the process there: such a file waits for its hour
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def filesystem_clock(folder: str) -> float:
    """Return the time by the clock that stamps files in `folder`; the machine's if read-only."""
    probe = os.path.join(folder, temporary_name())
    try:
        descriptor = os.open(probe, _WRITE_FLAGS, 0o600)
    except OSError:
        return time.time()
    try:
        return os.fstat(descriptor).st_mtime
    finally:
        os.close(descriptor)
        _discard(probe)
