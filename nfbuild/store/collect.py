"""Collecting: what a cache folder or a shared directory lets go of, planned first, then done.

A plan is a value: what goes and why, what it frees. Not carrying it out is the dry run. Rules:

- age: unused for longer than `max_age` (never less than a day) goes, unless it is protected;
- size and free space: below that day too, what is protected last, the oldest use first;
- only files that are named as ours are looked at; records outlive blobs;
- temporary files of dead writers go, and what lies in quarantine goes before any blob.

One collector at a time, by a kernel lock that dies with its holder. Builds may run: a blob that
was used since the plan stays, and one that goes under a reader is a miss. Age is judged by the
clock that stamps the files; a file from the future is given the present, so none is immortal.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from nfbuild.digests import BlobDigest
from nfbuild.store import blobs
from nfbuild.store.base import BlobInfo
from nfbuild.store.files import filesystem_clock, is_orphan
from nfbuild.store.kernellock import hold
from nfbuild.store.recordfiles import RecordFiles

Reason: TypeAlias = Literal["age", "size", "free", "quarantine", "orphan"]

GRACE_SECONDS: Final = 86_400.0
_FUTURE_SECONDS: Final = 86_400.0
_QUARANTINE_SECONDS: Final = 7 * 86_400.0
_RECORD_SECONDS: Final = 365 * 86_400.0
_LARGE_FREE: Final = 2**30
_LOCK: Final = "collect.lock"
_MARK: Final = "collected"
_DUE_SECONDS: Final = 6 * 3600.0


@dataclass(frozen=True)
class Policy:
    """How much may stay: bytes, seconds since the last use, bytes left free on the file system.

    None for `max_size` or `max_age` is no limit; None for `min_free` is a twentieth of the file
    system, at most 1 GiB. Over a limit, blobs go until `target` of `max_size` is left.
    """

    max_size: int | None
    max_age: float | None
    min_free: int | None = None
    target: float = 1.0


@dataclass(frozen=True)
class Doomed:
    """One file that goes: path below the root, bytes, last use, and the rule that says so."""

    path: str
    size: int
    used: float
    reason: Reason


@dataclass(frozen=True)
class Plan:
    """What a collection would do; `bytes` is what is there now, `kept` blobs stay."""

    root: str
    blobs: int
    bytes: int
    doomed: tuple[Doomed, ...]
    retimed: tuple[str, ...]
    over: int = 0
    """Bytes above the limits that this plan cannot free, as nothing is left to let go of."""

    @property
    def freed(self) -> int:
        """Bytes that go."""
        return sum(item.size for item in self.doomed)

    def by_reason(self) -> dict[str, int]:
        """Return how many files go by which rule."""
        return dict(sorted(Counter(item.reason for item in self.doomed).items()))


@dataclass(frozen=True)
class Collected:
    """What was done of a plan: files and bytes gone, files spared as used meanwhile."""

    files: int
    freed: int
    spared: int
    failed: int
    finished: bool


def plan_collection(
    root: str,
    policy: Policy,
    *,
    protected: Collection[BlobDigest] = frozenset(),
    now: float | None = None,
) -> Plan:
    """Return what to let go of below `root`; changes nothing (but for a probe of the clock)."""
    clock = filesystem_clock(root) if now is None else now
    held = list(blobs.list_blobs(root))
    records = list(RecordFiles(root).entries())
    doomed: list[Doomed] = []
    doomed += [
        Doomed(_below(root, path), 0, modified, "orphan")
        for path, modified in blobs.list_temporaries(root)
        if is_orphan(os.path.basename(path), modified, clock)
    ]
    bad = sorted(_quarantined(root), key=lambda item: (item.used, item.path))
    doomed += [item for item in bad if abs(clock - item.used) > _QUARANTINE_SECONDS]
    for own, kind, key, size, used in records:
        if clock - used > _RECORD_SECONDS:
            path = _below(root, RecordFiles(root).path(kind, key, own=own))
            doomed.append(Doomed(path, size, used, "age"))
    future = [info for info in held if info.used > clock + _FUTURE_SECONDS]
    if policy.max_age is not None:
        limit = clock - max(policy.max_age, GRACE_SECONDS)
        doomed += [
            _doom(info, "age")
            for info in held
            if info.used < limit and info.digest not in protected
        ]
    total = sum(info.size for info in held)
    total += sum(item.size for item in bad) + sum(size for _, _, _, size, _ in records)
    reserve = _Reserve(
        doomed,
        [item for item in bad if item not in doomed]
        + _by_use([info for info in held if info.digest not in protected], clock)
        + _by_use([info for info in held if info.digest in protected], clock),
    )
    if policy.max_size is not None and total - reserve.freed > policy.max_size:
        reserve.free(total - int(policy.max_size * policy.target), "size")
    reserve.free(_wanted_free(root, policy), "free")
    over = max(0, total - reserve.freed - policy.max_size) if policy.max_size is not None else 0
    return Plan(
        root,
        len(held),
        total,
        tuple(reserve.doomed),
        tuple(_below(root, blobs.blob_path(root, info.digest)) for info in future),
        over,
    )


class _Reserve:
    """What goes already, and what could go next, in the order of going."""

    def __init__(self, doomed: list[Doomed], rest: list[Doomed]) -> None:
        self.doomed = doomed
        self.freed = sum(item.size for item in doomed)
        gone = {item.path for item in doomed}
        self._rest = [item for item in rest if item.path not in gone][::-1]

    def free(self, wanted: int, reason: Reason) -> None:
        """Let go of more until `wanted` bytes are freed in all, or nothing is left."""
        while self.freed < wanted and self._rest:
            item = self._rest.pop()
            why = item.reason if item.reason == "quarantine" else reason
            self.doomed.append(Doomed(item.path, item.size, item.used, why))
            self.freed += item.size


def _by_use(infos: list[BlobInfo], clock: float) -> list[Doomed]:
    """Return blobs as they would go: the oldest use first, ties by digest."""
    ordered = sorted(infos, key=lambda info: (min(info.used, clock), info.digest))
    return [_doom(info, "size") for info in ordered]


def _doom(info: BlobInfo, reason: Reason) -> Doomed:
    path = f"{blobs.BLOBS}/{info.digest[:2]}/{info.digest}{blobs.SUFFIX}"
    return Doomed(path, info.size, info.used, reason)


def _quarantined(root: str) -> list[Doomed]:
    folder = f"{root}/{blobs.QUARANTINE}"
    return [
        Doomed(f"{blobs.QUARANTINE}/{name}", status.st_size, status.st_mtime, "quarantine")
        for name, status in blobs.list_entries(folder)
        if blobs.is_quarantined(name)
    ]


def _wanted_free(root: str, policy: Policy) -> int:
    """Return how many bytes have to go for the file system to have enough left."""
    if not hasattr(os, "statvfs"):
        return 0
    try:
        status = os.statvfs(root)
    except OSError:
        return 0
    wanted = policy.min_free
    if wanted is None:
        wanted = min(_LARGE_FREE, status.f_blocks * status.f_frsize // 20)
    return max(0, wanted - status.f_bavail * status.f_frsize)


def _below(root: str, path: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def carry_out(plan: Plan, *, seconds: float | None = None) -> Collected:
    """Do what `plan` says, for at most `seconds`; what was used since the plan is spared."""
    until = None if seconds is None else time.monotonic() + seconds
    files = freed = spared = failed = 0
    finished = True
    for path in plan.retimed:
        whole = f"{plan.root}/{path}"
        try:
            os.utime(whole)
        except OSError:
            # A date that nobody here may put right would keep the file for ever.
            with contextlib.suppress(OSError):
                os.unlink(whole)
    retimed = set(plan.retimed)
    for item in plan.doomed:
        if until is not None and time.monotonic() > until:
            finished = False
            break
        whole = f"{plan.root}/{item.path}"
        try:
            if item.path not in retimed and _is_used_since(whole, item):
                spared += 1
                continue
            _remove(whole)
        except FileNotFoundError:
            continue
        except OSError:
            failed += 1
            continue
        files += 1
        freed += item.size
    return Collected(files, freed, spared, failed, finished)


def _is_used_since(path: str, item: Doomed) -> bool:
    status = os.lstat(path)
    if item.reason in ("orphan", "quarantine"):
        return False
    return max(status.st_mtime, status.st_atime) > item.used


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        os.rmdir(path)
    else:
        os.unlink(path)


def collect(
    root: str,
    policy: Policy,
    *,
    protected: Collection[BlobDigest] = frozenset(),
    lock_mode: int | None = None,
    seconds: float | None = None,
) -> tuple[Plan, Collected] | None:
    """Plan and carry out under the collector's lock; None when another collector holds it."""
    with hold(f"{root}/{_LOCK}", mode=lock_mode) as held:
        if not held:
            return None
        plan = plan_collection(root, policy, protected=protected)
        return plan, carry_out(plan, seconds=seconds)


def collect_if_due(
    root: str,
    policy: Policy,
    *,
    protected: Callable[[], Collection[BlobDigest]],
    lock_mode: int | None = None,
    seconds: float = 2.0,
) -> tuple[Plan, Collected] | None:
    """Collect when nobody has for some hours, bounded in time; None when it is not due.

    `protected` is asked only then. `lock_mode` is set on what is made here, whatever the umask.
    """
    mark = f"{root}/{_MARK}"
    with contextlib.suppress(OSError):
        # A mark from the future is no mark.
        if 0 <= filesystem_clock(root) - os.stat(mark).st_mtime < _DUE_SECONDS:
            return None
    try:
        with open(mark, "wb") as made:
            # It belongs to who made it first; the others may write it all the same.
            if lock_mode is not None and hasattr(os, "fchmod"):
                with contextlib.suppress(PermissionError):
                    os.fchmod(made.fileno(), lock_mode)
            os.utime(mark)
    except OSError:
        return None  # nothing can be removed here either
    return collect(root, policy, protected=protected(), lock_mode=lock_mode, seconds=seconds)
