"""A directory of blobs: `blobs/ab/<digest>.png`, and `quarantine/` for what was found damaged.

Blobs are written once and read-only. Their digest is checked on every read; wrong bytes are moved
to `quarantine/<expected>-<found>.png`, so that somebody can look at them and nobody meets them
again. The suffix is part of the layout, whatever a blob holds: frames can be opened by anybody.

Not here: records, counting, collecting.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Final

from nfbuild.digests import BlobDigest, blob_digest
from nfbuild.errors import Corrupt
from nfbuild.store.base import BLOB_LIMIT, KINDS, BlobInfo, check_name, is_name
from nfbuild.store.files import (
    PRIVATE,
    TEMPORARY,
    Modes,
    filesystem_clock,
    is_orphan,
    make_directory,
    read_file,
    touch_file,
    unavailable,
    write_file,
)

BLOBS: Final = "blobs"
QUARANTINE: Final = "quarantine"
SUFFIX: Final = ".png"
_BITS = 0o444


def blob_path(root: str, digest: BlobDigest) -> str:
    """Return where the blob lies below `root`; refuses what is no digest (`Corrupt`)."""
    check_name(digest)
    return f"{root}/{BLOBS}/{digest[:2]}/{digest}{SUFFIX}"


def write_blob(
    root: str, digest: BlobDigest, data: bytes, modes: Modes = PRIVATE, *, replace: bool = False
) -> bool:
    """Put the blob `data`, whose digest the caller has just taken; tell whether it was written.

    A plain file of the right length is taken for the blob and marked as used, unless `replace`.
    Raises `Unavailable`.
    """
    path = blob_path(root, digest)
    if not replace:
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and status.st_size == len(data):
                touch_file(path, status.st_mtime)
                return False
    try:
        try:
            write_file(path, data, modes, mode=modes.blob, bits=_BITS)
        except (IsADirectoryError, NotADirectoryError, FileExistsError):
            _clear_way(root, path, digest, modes)
            write_file(path, data, modes, mode=modes.blob, bits=_BITS)
    except OSError as error:
        raise unavailable(error, root) from error
    return True


def _clear_way(root: str, path: str, digest: BlobDigest, modes: Modes) -> None:
    """Move away what stands where the blob, its shard or the blob folder should be."""
    for place in (os.path.dirname(os.path.dirname(path)), os.path.dirname(path)):
        if os.path.lexists(place) and not os.path.isdir(place):
            quarantine(root, place, digest, "file", modes)
    if os.path.isdir(path) and not os.path.islink(path):
        quarantine(root, path, digest, "directory", modes)


def read_blob(
    root: str, digest: BlobDigest, modes: Modes = PRIVATE, *, keep: bool, touch: bool = True
) -> bytes:
    """Return the blob, checked; what is damaged is put in quarantine unless `keep`.

    Raises `Missing`, `Corrupt` and `Unavailable`. With `keep` nothing is changed, not even times;
    without `touch` the blob is not marked as used.
    """
    path = blob_path(root, digest)
    before = None if keep else _inode(path)
    try:
        data = read_file(path, BLOB_LIMIT, touch=touch and not keep)
    except Corrupt as error:
        if not keep and _inode(path) == before:
            quarantine(root, path, digest, error.code, modes)
        raise
    found = blob_digest(data)
    if found != digest:
        # The file may have been replaced by a good one since: that one is not ours to move.
        if not keep and _inode(path) == before:
            quarantine(root, path, digest, found, modes)
        raise Corrupt(f"{path}: it holds `{found[:16]}`", code="digest" if data else "empty")
    return data


def _inode(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def has_blob(root: str, digest: BlobDigest) -> bool:
    """Tell whether a plain file lies where the blob should; its bytes are not read."""
    path = blob_path(root, digest)
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError:
        return False
    except OSError as error:
        raise unavailable(error, root) from error


def quarantine(root: str, path: str, expected: str, found: str, modes: Modes) -> None:
    """Move what lies at `path` out of the way, named by what was expected and found there.

    Where it cannot be moved it is removed, and where that fails too it stays: reading checks
    again each time.
    """
    folder = f"{root}/{QUARANTINE}"
    target = f"{folder}/{expected}-{found}{SUFFIX}"
    try:
        make_directory(folder, modes)
        if os.path.isdir(target) or os.path.isdir(path):
            target += f".{os.urandom(4).hex()}"
        os.rename(path, target)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(path)


def is_quarantined(name: str) -> bool:
    """Tell whether a file in quarantine has a name that `quarantine` gives."""
    expected, dash, _ = name.partition("-")
    return bool(dash) and SUFFIX in name and (is_name(expected) or expected in KINDS)


def drop_blob(root: str, digest: BlobDigest) -> bool:
    """Remove a blob and tell whether it was there; raises `Unavailable`."""
    try:
        os.unlink(blob_path(root, digest))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise unavailable(error, root) from error
    return True


def list_blobs(root: str) -> Iterator[BlobInfo]:
    """Yield every plain file that is named as a blob, by digest; other names are not ours."""
    for shard in list_shards(f"{root}/{BLOBS}"):
        found = []
        for name, status in list_entries(shard):
            digest = name.removesuffix(SUFFIX)
            if name.endswith(SUFFIX) and is_name(digest) and digest[:2] == shard[-2:]:
                # The kernel moves the access time about once a day for every reader, also for
                # those who may not touch the file.
                used = max(status.st_mtime, status.st_atime)
                found.append(BlobInfo(BlobDigest(digest), status.st_size, used))
        yield from sorted(found, key=lambda info: info.digest)


def list_shards(folder: str) -> list[str]:
    """Return the paths of the two-digit folders in `folder`, in order; none where it is absent."""
    digits = "0123456789abcdef"
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name
                for entry in entries
                if len(entry.name) == 2
                and all(digit in digits for digit in entry.name)
                and entry.is_dir()
            ]
    except OSError:
        return []
    return [f"{folder}/{name}" for name in sorted(names)]


def list_entries(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield name and status of every plain file in `folder`; what goes meanwhile is left out."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        yield entry.name, status
    except OSError:
        return


def list_temporaries(root: str) -> Iterator[tuple[str, float]]:
    """Yield path and time of every temporary file or directory below `root`'s known folders."""
    for folder in _known_folders(root):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith(TEMPORARY):
                        with contextlib.suppress(OSError):
                            yield entry.path, entry.stat(follow_symlinks=False).st_mtime
        except OSError:
            continue


def remove_orphans(root: str) -> int:
    """Remove the temporary files below `root` whose writers are gone; return how many went."""
    gone = 0
    now = filesystem_clock(root)
    for path, modified in list_temporaries(root):
        if is_orphan(os.path.basename(path), modified, now):
            with contextlib.suppress(OSError):
                os.unlink(path)
                gone += 1
    return gone


def _known_folders(root: str) -> Iterator[str]:
    yield root
    yield f"{root}/{BLOBS}"
    yield f"{root}/{QUARANTINE}"
    yield from list_shards(f"{root}/{BLOBS}")
    for records in (f"{root}/records", f"{root}/told"):
        yield records
        kinds: list[str] = []
        with contextlib.suppress(OSError):
            kinds = sorted(os.listdir(records))
        for kind in kinds:
            yield f"{records}/{kind}"
            yield from list_shards(f"{records}/{kind}")
