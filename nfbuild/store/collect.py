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
from array import array
from collections import Counter
from collections.abc import Container, Iterator
from typing import Final, Literal, TypeAlias

from nfbuild.dataclasses import dataclass
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
_DIGEST_BYTES: Final = 32
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
    protected: Container[str] = frozenset(),
    now: float | None = None,
) -> Plan:
    """Return what to let go of below `root`; changes nothing (but for a probe of the clock).

    `protected` is asked only where something has to go.
    """
    clock = filesystem_clock(root) if now is None else now
    doomed = [
        Doomed(_below(root, path), 0, modified, "orphan")
        for path, modified in blobs.list_temporaries(root)
        if is_orphan(os.path.basename(path), modified, clock)
    ]
    bad = sorted(_quarantined(root), key=lambda item: (item.used, item.path))
    doomed += [item for item in bad if _is_settled(item, clock)]
    total = sum(item.size for item in bad)
    for own, kind, key, size, used in RecordFiles(root).entries():
        total += size
        if clock - used > _RECORD_SECONDS:
            path = _below(root, RecordFiles(root).path(kind, key, own=own))
            doomed.append(Doomed(path, size, used, "age"))
    held = _Held()
    count = 0
    future: list[str] = []
    for info in blobs.list_blobs(root):
        count += 1
        total += info.size
        if info.used > clock + _FUTURE_SECONDS:
            future.append(_path(info))
        if _is_aged(info, policy, clock) and info.digest not in protected:
            doomed.append(_doom(info, "age"))
        else:
            held.add(info)
    rest = [item for item in bad if not _is_settled(item, clock)]
    reserve = _Reserve(doomed, _going(rest, held, protected, clock))
    if policy.max_size is not None and total - reserve.freed > policy.max_size:
        reserve.free(total - int(policy.max_size * policy.target), "size")
    reserve.free(_wanted_free(root, policy), "free")
    over = max(0, total - reserve.freed - policy.max_size) if policy.max_size is not None else 0
    return Plan(root, count, total, tuple(reserve.doomed), tuple(future), over)


class _Held:
    """The blobs of a folder that may stay, in the order of their digests, 48 bytes each."""

    def __init__(self) -> None:
        self._digests = bytearray()
        self._sizes = array("Q")
        self._used = array("d")

    def add(self, info: BlobInfo) -> None:
        """Note a blob."""
        self._digests += bytes.fromhex(info.digest)
        self._sizes.append(info.size)
        self._used.append(info.used)

    def by_use(self, clock: float) -> list[int]:
        """Return the blobs' places, the oldest use first, ties by digest."""
        return sorted(range(len(self._used)), key=lambda place: min(self._used[place], clock))

    def __getitem__(self, place: int) -> BlobInfo:
        raw = self._digests[place * _DIGEST_BYTES : (place + 1) * _DIGEST_BYTES]
        return BlobInfo(BlobDigest(raw.hex()), self._sizes[place], self._used[place])


def _going(
    bad: list[Doomed], held: _Held, protected: Container[str], clock: float
) -> Iterator[Doomed]:
    """Yield what could go, in the order of going: damage, then blobs by use, protected ones last.

    Nothing is sorted and nobody is asked before the first blob has to go.
    """
    yield from bad
    order = held.by_use(clock)
    for is_protected in (False, True):
        for info in map(held.__getitem__, order):
            if (info.digest in protected) is is_protected:
                yield _doom(info, "size")


class _Reserve:
    """What goes already, and what could go next, in the order of going."""

    def __init__(self, doomed: list[Doomed], rest: Iterator[Doomed]) -> None:
        self.doomed = doomed
        self.freed = sum(item.size for item in doomed)
        self._rest = rest

    def free(self, wanted: int, reason: Reason) -> None:
        """Let go of more until `wanted` bytes are freed in all, or nothing is left."""
        while self.freed < wanted:
            item = next(self._rest, None)
            if item is None:
                return
            why = item.reason if item.reason == "quarantine" else reason
            self.doomed.append(Doomed(item.path, item.size, item.used, why))
            self.freed += item.size


def _is_aged(info: BlobInfo, policy: Policy, clock: float) -> bool:
    if policy.max_age is None:
        return False
    return info.used < clock - max(policy.max_age, GRACE_SECONDS)


def _is_settled(item: Doomed, clock: float) -> bool:
    """Tell whether damage has lain for as long as somebody might want to look at it."""
    return abs(clock - item.used) > _QUARANTINE_SECONDS


def _doom(info: BlobInfo, reason: Reason) -> Doomed:
    return Doomed(_path(info), info.size, info.used, reason)


def _path(info: BlobInfo) -> str:
    return f"{blobs.BLOBS}/{info.digest[:2]}/{info.digest}{blobs.SUFFIX}"


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
    protected: Container[str] = frozenset(),
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
    protected: Container[str],
    lock_mode: int | None = None,
    seconds: float = 2.0,
) -> tuple[Plan, Collected] | None:
    """Collect when nobody has for some hours, bounded in time; None when it is not due.

    `lock_mode` is set on what is made here, whatever the umask.
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
    return collect(root, policy, protected=protected, lock_mode=lock_mode, seconds=seconds)
