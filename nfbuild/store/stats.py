"""Statistics: what the stores of one run did, and the sums over the life of a cache.

A `Journal` belongs to one run and is shared by all its stores. It counts by tier and event, says
each warning once, and costs a dictionary update per event. Lifetime sums are a small text file
beside the cache; losing it loses numbers only.

Not here: how any of this is printed (`cli`).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Final

from nfbuild.events import Warned

HIT: Final = "hit"
MISS: Final = "miss"
"""Misses are counted as `miss.<reason>`; the reason is the store error's code."""
CORRUPT: Final = "corrupt"
"""Damage is counted as `corrupt.<reason>`, besides the miss it causes."""
HEALED: Final = "healed"
EVICTED_IN_USE: Final = "evicted-in-use"
LOST: Final = "lost"
PUT: Final = "put"
DRAWN: Final = "drawn"
"""Frames that were drawn, and what workers spent on them; for the time that is saved."""
DRAWN_MILLISECONDS: Final = "drawn-ms"
SAVED_MILLISECONDS: Final = "saved-ms"
BYTES_READ: Final = "bytes-read"
BYTES_WRITTEN: Final = "bytes-written"


class Journal:
    """Counts and warnings of one run, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._said: set[tuple[str, str]] = set()
        self._unread: list[Warned] = []
        self._lost: list[str] = []
        self._summed: Counter[tuple[str, str]] = Counter()

    def count(self, tier: str, event: str, amount: int = 1) -> None:
        """Add `amount` to the count of `event` at `tier`."""
        with self._lock:
            self._counts[tier, event] += amount

    def lose(self, tier: str, what: str) -> None:
        """Count an upload that was given up, and remember its name for the summary."""
        with self._lock:
            self._counts[tier, LOST] += 1
            self._lost.append(what)

    def warn_once(self, code: str, about: str, message: str, *, hint: str | None = None) -> None:
        """Keep a warning for the reader, unless one with this `code` and `about` was said."""
        with self._lock:
            if (code, about) not in self._said:
                self._said.add((code, about))
                self._unread.append(Warned(code, message, hint=hint))

    def take_warnings(self) -> list[Warned]:
        """Return the warnings since the last call, oldest first."""
        with self._lock:
            unread, self._unread = self._unread, []
        return unread

    @property
    def lost(self) -> tuple[str, ...]:
        """Names of the uploads that were given up."""
        with self._lock:
            return tuple(self._lost)

    def total(self, event: str, tier: str | None = None) -> int:
        """Return the sum of `event` and of every `event.<reason>`, at one tier or at all."""
        prefix = event + "."
        with self._lock:
            return sum(
                amount
                for (where, what), amount in self._counts.items()
                if (tier is None or where == tier) and (what == event or what.startswith(prefix))
            )

    def take_new(self) -> Counter[str]:
        """Return what was counted since the last call, by `tier event`; for the lifetime sums."""
        with self._lock:
            new = self._counts - self._summed
            self._summed = self._counts.copy()
        return Counter({f"{tier} {event}": amount for (tier, event), amount in new.items()})

    def by_tier(self) -> dict[str, dict[str, int]]:
        """Return all counts: tier, then event, both sorted."""
        with self._lock:
            counts = sorted(self._counts.items())
        tiers: dict[str, dict[str, int]] = {}
        for (tier, event), amount in counts:
            tiers.setdefault(tier, {})[event] = amount
        return tiers


def read_lifetime(text: str) -> Counter[str]:
    """Return lifetime sums from the file's text; a line that is none is left out."""
    sums: Counter[str] = Counter()
    for line in text.splitlines():
        event, _, amount = line.rpartition(" ")
        if event and amount.isascii() and amount.isdigit() and len(amount) < 20:
            sums[event] += int(amount)
    return sums


def write_lifetime(sums: Mapping[str, int]) -> str:
    """Return the lifetime file's text: one `event amount` a line, sorted."""
    return "".join(f"{event} {amount}\n" for event, amount in sorted(sums.items()))


def by_event(sums: Mapping[str, int]) -> Counter[str]:
    """Return lifetime sums over all tiers and reasons: `hit`, `miss`, `corrupt`, ..."""
    events: Counter[str] = Counter()
    for name, amount in sums.items():
        events[name.rpartition(" ")[2].partition(".")[0]] += amount
    return events
