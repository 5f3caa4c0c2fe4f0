"""Sets of many digests in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

_FEWEST_SLOTS: Final = 256
_PREFIX_DIGITS: Final = 16


class DigestSet:
    """Digests that are added and asked for, 12 to 48 bytes each and no object.

    Only the first eight bytes of a digest are kept, and digests that begin alike are one member:
    what was added is always found, and by a rare chance something else is too. For one thread at a
    time.
    """

    def __init__(self, digests: Iterable[str] = ()) -> None:
        # A hash table with open addressing: a slot holds the beginning of a digest, 0 is free.
        self._slots = array("Q", [0]) * _FEWEST_SLOTS
        self._count = 0
        for digest in digests:
            self.add(digest)

    def add(self, digest: str) -> None:
        """Put a digest in; one that is there already stays."""
        prefix = _prefix(digest)
        slot = _slot(self._slots, prefix)
        if self._slots[slot] == 0:
            self._slots[slot] = prefix
            self._count += 1
            if 3 * self._count > 2 * len(self._slots):
                self._add_slots()

    def __contains__(self, digest: object) -> bool:
        if not isinstance(digest, str):
            return False
        prefix = _prefix(digest)
        return self._slots[_slot(self._slots, prefix)] == prefix

    def _add_slots(self) -> None:
        slots = array("Q", [0]) * (4 * len(self._slots))
        for prefix in self._slots:
            if prefix:
                slots[_slot(slots, prefix)] = prefix
        self._slots = slots


def _prefix(digest: str) -> int:
    # 0 means a free slot.
    return int(digest[:_PREFIX_DIGITS], 16) or 1


def _slot(slots: array[int], prefix: int) -> int:
    """Return the slot that holds `prefix`, or the free one that it would get."""
    last = len(slots) - 1  # the number of slots is a power of two; digests spread evenly
    slot = prefix & last
    while slots[slot] not in (0, prefix):
        slot = (slot + 1) & last
    return slot
