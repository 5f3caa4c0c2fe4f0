"""A tier: one shared store, counted, and given up for the run when it is more trouble than help.

A dead, slow, black-holed or lying place costs a bounded delay once. Then the tier answers
`Unavailable` without being asked, and one warning says which it is and why. What only concerns
writing (a full disk, missing rights) turns off writing alone. With `required` giving up raises
`StoreRequired` instead.

Not here: asking several tiers (`layers`), uploading in the background (`uploads`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from nfbuild.dataclasses import dataclass
from nfbuild.digests import BlobDigest
from nfbuild.errors import Corrupt, Missing, StoreError, StoreRequired, Unavailable
from nfbuild.store.base import Kind, TierStore
from nfbuild.store.stats import (
    BYTES_READ,
    BYTES_WRITTEN,
    CORRUPT,
    HEALED,
    HIT,
    MISS,
    PUT,
    Journal,
)

Value = TypeVar("Value")

OFF: Final = "off"
"""The code of `Unavailable` when a tier was not asked, as it is given up."""
# One of these is enough: what follows would wait as long again.
_DEAD: Final = frozenset(("timeout", "unreachable", "fork"))
# These say that writing is refused, and nothing of reading.
_UNWRITABLE: Final = frozenset(("full", "read-only", "forbidden", "refuses", "acces", "perm"))
_BATCH: Final = 64


@dataclass(frozen=True)
class Patience:
    """How much trouble a tier may make.

    `faults` failures in a row, `lies` damaged answers (and more than one in ten), or `seconds` of
    waiting in which a call took more than `slow_call` seconds on average at less than `slow_rate`
    bytes per second.
    """

    faults: int = 3
    lies: int = 5
    seconds: float = 10.0
    slow_call: float = 1.0
    slow_rate: float = 256 * 1024


class Tier:
    """A shared store with its counts and its fuse; opened when it is first asked."""

    def __init__(
        self,
        name: str,
        opener: Callable[[], TierStore],
        journal: Journal,
        *,
        writable: bool,
        required: bool = False,
        patience: Patience = Patience(),
    ) -> None:
        self.name = name
        self.writable = writable
        self._opener = opener
        self._journal = journal
        self._required = required
        self._patience = patience
        self._lock = threading.RLock()
        self._store: TierStore | None = None
        self._off: str | None = None
        self._faults = 0
        self._write_faults = 0
        self._answers = 0
        self._lies = 0
        self._calls = 0
        self._waited = 0.0
        self._bytes = 0
        self._damaged: set[str] = set()

    @property
    def off(self) -> str | None:
        """Why the tier is given up, or None."""
        return self._off

    # --- reading ----------------------------------------------------------------------------------

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`."""
        try:
            data = self._ask(lambda store: store.get_blob(digest), size=len)
        except StoreError as error:
            self._count_miss(digest, error)
            raise
        self._journal.count(self.name, HIT)
        self._journal.count(self.name, BYTES_READ, len(data))
        return data

    def has_blob(self, digest: BlobDigest) -> bool:
        """See `Store`."""
        return self._ask(lambda store: store.has_blob(digest))

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`."""
        try:
            payload = self._ask(lambda store: store.get_record(kind, key), size=len)
        except StoreError as error:
            self._count_miss(key, error)
            raise
        self._journal.count(self.name, HIT)
        return payload

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Store`; a tier that fails on the way has found what it found before."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, bytes] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            try:
                answers, wrong = self._ask(
                    lambda store, batch=batch: store.look(kind, batch),  # type: ignore[misc]
                    calls=len(batch),
                )
            except Unavailable as error:
                self._journal.count(self.name, f"{MISS}.{error.code}", len(wanted) - start)
                if not found:
                    raise
                return found
            found.update(answers)
            self._journal.count(self.name, HIT, len(answers))
            for key, damage in wrong.items():
                self._count_miss(key, damage)
            missing = len(batch) - len(answers) - len(wrong)
            if missing:
                self._journal.count(self.name, f"{MISS}.missing", missing)
        return found

    def peek(self, kind: Kind, key: str) -> bytes:
        """Return a record that is no answer of this run, but about the tier: nothing is counted."""
        return self._ask(lambda store: store.get_record(kind, key), size=len)

    # --- writing ----------------------------------------------------------------------------------

    def put_blob(self, data: bytes, *, replace: bool = False) -> BlobDigest:
        """See `WritableStore`."""
        return self._put(lambda store: store.put_blob(data, replace=replace), len(data))

    def put_record(self, kind: Kind, key: str, payload: bytes, *, replace: bool = False) -> None:
        """See `WritableStore`."""
        self._put(lambda store: store.put_record(kind, key, payload, replace=replace), len(payload))

    def put_records(self, kind: Kind, items: Mapping[str, bytes], *, replace: bool = False) -> None:
        """See `WritableStore`."""
        for key, payload in items.items():
            self.put_record(kind, key, payload, replace=replace)

    def was_damaged(self, name: str) -> bool:
        """Tell whether this run was given damage under this name: it is to be replaced."""
        return name in self._damaged

    def mark_healed(self, name: str) -> None:
        """Count that what was damaged here has been replaced."""
        with self._lock:
            if name in self._damaged:
                self._damaged.discard(name)
                self._journal.count(self.name, HEALED)

    def close(self) -> None:
        """Let go of connections."""
        if self._store is not None:
            self._store.close()

    # --- the fuse ---------------------------------------------------------------------------------

    def probe(self) -> None:
        """Ask something once, so that a required tier that is not there is known at the start."""
        self._ask(lambda store: store.has_blob(BlobDigest("0" * 64)))

    def _ask(
        self,
        act: Callable[[TierStore], Value],
        *,
        size: Callable[[Value], int] | None = None,
        calls: int = 1,
    ) -> Value:
        store = self._opened()
        began = time.monotonic()
        try:
            value = act(store)
        except Unavailable as error:
            self._count_fault(error)
            raise
        except (Missing, Corrupt):
            self._count_answer(time.monotonic() - began, 0, calls)
            raise
        self._count_answer(time.monotonic() - began, size(value) if size else 0, calls)
        return value

    def _put(self, act: Callable[[TierStore], Value], size: int) -> Value:
        if not self.writable:
            raise Unavailable(f"{self.name}: nothing is written there", code="read-only")
        store = self._opened()
        began = time.monotonic()
        try:
            value = act(store)
        except Unavailable as error:
            self._count_write_fault(error)
            raise
        self._journal.count(self.name, PUT)
        self._journal.count(self.name, BYTES_WRITTEN, size)
        self._write_faults = 0
        self._count_answer(time.monotonic() - began, size, 1)
        return value

    def _opened(self) -> TierStore:
        with self._lock:
            if self._off is not None:
                raise Unavailable(f"{self.name}: {self._off}", code=OFF)
            if self._store is None:
                try:
                    self._store = self._opener()
                except Unavailable as error:
                    self._switch_off(error.message)
                    raise
            return self._store

    def _count_miss(self, name: str, error: StoreError) -> None:
        self._journal.count(self.name, f"{MISS}.{error.code}")
        if isinstance(error, Corrupt):
            self._journal.count(self.name, f"{CORRUPT}.{error.code}")
            with self._lock:
                self._damaged.add(name)
                self._lies += 1
                if self._lies >= self._patience.lies and self._lies * 10 > self._answers:
                    self._switch_off(f"{self._lies} of its answers were damaged")

    def _count_answer(self, seconds: float, size: int, calls: int) -> None:
        patience = self._patience
        with self._lock:
            self._faults = 0
            self._answers += calls
            self._calls += 1 if calls == 1 else max(1, calls // 8)
            self._waited += seconds
            self._bytes += size
            if (
                self._waited > patience.seconds
                and self._waited > patience.slow_call * self._calls
                and self._bytes < patience.slow_rate * self._waited
            ):
                self._switch_off(f"a call takes {self._waited / self._calls:.1f} s")

    def _count_fault(self, error: Unavailable) -> None:
        with self._lock:
            self._faults += 1
            if self._off is None and (error.code in _DEAD or self._faults >= self._patience.faults):
                self._switch_off(error.message)

    def _count_write_fault(self, error: Unavailable) -> None:
        with self._lock:
            self._write_faults += 1
            if self._off is not None:
                return
            if error.code in _DEAD:
                self._switch_off(error.message)
            elif error.code in _UNWRITABLE or self._write_faults >= self._patience.faults:
                self.writable = False
                self._warn("takes no more uploads in this run", error.message)

    def _switch_off(self, reason: str) -> None:
        if self._off is None:
            self._off = reason
            self._warn("is not used in this run", reason)

    def _warn(self, what: str, reason: str) -> None:
        reason = reason.removeprefix(f"{self.name}: ")
        if self._required:
            raise StoreRequired(
                f"the shared cache `{self.name}` {what}: {reason}",
                hint="without `--require-shared` the build goes on without it",
            )
        self._journal.warn_once(
            "shared-cache", self.name, f"the shared cache `{self.name}` {what}: {reason}"
        )
