"""Scrubbing: reading what a cache folder or a shared directory holds and checking every byte.

What is damaged goes to quarantine, so the next build draws it again. Scrubbing is no use of a
blob: its times stay as they were. A sample is chosen by digest and seed, never by order.

Not here: whether the pixels of a blob are right; that is found by drawing (`verify`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Final

from nfbuild.dataclasses import dataclass
from nfbuild.digests import derive
from nfbuild.errors import Corrupt, Missing, Unavailable
from nfbuild.store import blobs
from nfbuild.store.directory import DirectoryStore
from nfbuild.store.files import PRIVATE
from nfbuild.store.local import LocalStore

_CONTEXT: Final = "nfbuild 2026 store scrub v1"


@dataclass(frozen=True)
class Damage:
    """One thing that was not what its name says: `blob` or a record kind, its name, the reason."""

    kind: str
    name: str
    reason: str


@dataclass(frozen=True)
class Scrubbed:
    """What was looked at and what was wrong; `vanished` went while it was looked at."""

    blobs: int
    bytes: int
    records: int
    vanished: int
    damage: tuple[Damage, ...]
    unavailable: str | None = None
    """Why it was not looked at to the end."""


def scrub(store: LocalStore | DirectoryStore, *, sample: float = 1.0, seed: int = 0) -> Scrubbed:
    """Check the share `sample` (0 to 1) of all blobs and records."""
    checked = size = records = vanished = 0
    damage: list[Damage] = []
    keep = isinstance(store, DirectoryStore) and store.read_only
    modes = store.modes if isinstance(store, DirectoryStore) else PRIVATE
    reason: str | None = None
    try:
        for info in store.blobs():
            if not _is_chosen(info.digest, sample, seed):
                continue
            try:
                with _times_kept(blobs.blob_path(store.root, info.digest)):
                    data = blobs.read_blob(store.root, info.digest, modes, keep=keep, touch=False)
            except Missing:
                vanished += 1
                continue
            except Corrupt as error:
                damage.append(Damage("blob", info.digest, error.code))
            else:
                size += len(data)
            checked += 1
        for kind, key in store.records():
            if not _is_chosen(key, sample, seed):
                continue
            try:
                store.get_record(kind, key)
            except Missing:
                vanished += 1
                continue
            except Corrupt as error:
                damage.append(Damage(kind, key, error.code))
            records += 1
    except Unavailable as error:
        reason = error.message
    return Scrubbed(checked, size, records, vanished, tuple(damage), reason)


def _is_chosen(name: str, sample: float, seed: int) -> bool:
    if sample >= 1.0:
        return True
    return int(derive(_CONTEXT, seed, name)[:8], 16) < sample * 2**32


@contextlib.contextmanager
def _times_kept(path: str) -> Iterator[None]:
    """Put the times of `path` back after reading it, where we may and it is still the same."""
    before: os.stat_result | None = None
    with contextlib.suppress(OSError):
        before = os.lstat(path)
    yield
    with contextlib.suppress(OSError):
        after = os.lstat(path)
        if before is not None and after.st_ino == before.st_ino:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns), follow_symlinks=False)
