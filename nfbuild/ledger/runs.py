"""Frames as runs: `[count, scene key, frame digest]`, sixteen hexadecimal digits of each.

A run is a number of consecutive frames that show one scene and are one picture. Two keys of 64
bits meet by chance once in some billions of films; the whole film's digest is kept in full, so a
meeting could blur which frame moved, never whether one did.

In a sample, frames that were not drawn are runs whose key and digest are None, so that the counts
add up to the film's length in every lane.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from struct import Struct

from nfbuild.dataclasses import dataclass

DIGITS = 16
_BYTES = DIGITS // 2
_PAIR = Struct(">QQ")


@dataclass(frozen=True, slots=True)
class Run:
    """`count` consecutive frames; `key` and `digest` are both None where they were not drawn."""

    count: int
    key: str | None
    digest: str | None


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame as a ledger knows it: sixteen digits of its scene key and of its digest."""

    key: str
    digest: str


class Runs:
    """The frames of one film, in order, compressed: 24 bytes a run, whatever their number.

    Two values are equal when they hold the same frames. `frames` is their number.
    """

    __slots__ = ("_absent", "_counts", "_packed", "frames")

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._counts = array("Q")
        self._packed = bytearray()
        # Runs that were not drawn, by their place: samples have them, whole films have none.
        self._absent: set[int] = set()
        for run in _merged(runs):
            if run.key is None or run.digest is None:
                self._absent.add(len(self._counts))
                self._packed += bytes(_BYTES * 2)
            else:
                self._packed += _raw(run.key) + _raw(run.digest)
            self._counts.append(run.count)
        self.frames = sum(self._counts)

    @classmethod
    def of(cls, frames: Iterable[tuple[str, str] | None]) -> Runs:
        """Return the runs of (scene key, frame digest) pairs; None for a frame not drawn.

        Longer digests are cut. Reads `frames` once and keeps no frame of it.
        """
        return cls(
            Run(1, None, None) if frame is None else Run(1, frame[0][:DIGITS], frame[1][:DIGITS])
            for frame in frames
        )

    def __iter__(self) -> Iterator[Run]:
        for place, count in enumerate(self._counts):
            if place in self._absent:
                yield Run(count, None, None)
                continue
            at = place * 2 * _BYTES
            middle, end = at + _BYTES, at + 2 * _BYTES
            yield Run(count, self._packed[at:middle].hex(), self._packed[middle:end].hex())

    def __len__(self) -> int:
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Runs)
            and self._counts == other._counts
            and self._packed == other._packed
            and self._absent == other._absent
        )

    def __hash__(self) -> int:
        return hash((bytes(self._packed), self._counts.tobytes()))

    def __repr__(self) -> str:
        return f"Runs({len(self)} runs, {self.frames} frames)"

    def expand(self) -> Iterator[Frame | None]:
        """Yield every frame in order; None for one that was not drawn."""
        for run in self:
            frame = None if run.key is None or run.digest is None else Frame(run.key, run.digest)
            for _ in range(run.count):
                yield frame

    def drawn(self) -> int:
        """Return how many frames were drawn."""
        return sum(run.count for run in self if run.digest is not None)

    def pictures(self) -> Pictures:
        """Return which digests each scene key was drawn as: one each, if all is well."""
        drawn = enumerate(_PAIR.iter_unpack(self._packed))
        return Pictures(pair for place, pair in drawn if place not in self._absent)


class Pictures:
    """Scene keys and the digests that each was drawn as, without an object for every text."""

    def __init__(self, drawn: Iterable[tuple[int, int]]) -> None:
        self._first: dict[int, int] = {}
        # Few or none have several, which would be a large set for each key.
        self._others: dict[int, set[int]] = {}
        for key, digest in drawn:
            if self._first.setdefault(key, digest) != digest:
                self._others.setdefault(key, set()).add(digest)

    def contradict(self, run: Run) -> bool:
        """Tell whether the run's scene was drawn, and never as the run's picture."""
        if run.key is None or run.digest is None:
            return False
        key, digest = int(run.key, 16), int(run.digest, 16)
        first = self._first.get(key, digest)
        return first != digest and digest not in self._others.get(key, ())

    def are_several(self, run: Run) -> bool:
        """Tell whether the run's scene was drawn as more than one picture."""
        return run.key is not None and int(run.key, 16) in self._others


def _raw(digits: str) -> bytes:
    raw = bytes.fromhex(digits)
    if len(raw) != _BYTES:
        raise ValueError(f"`{digits}` is not sixteen hexadecimal digits")
    return raw


def stretches(
    before: Iterable[Run], after: Iterable[Run]
) -> Iterator[tuple[int, int, Run | None, Run | None]]:
    """Walk two films side by side: (first frame, count, run of `before`, run of `after`).

    Yields stretches in which neither side changes, without expanding a frame; a side that has
    ended is None.
    """
    left, right = iter(before), iter(after)
    a, b = next(left, None), next(right, None)
    a_left, b_left = (a.count if a else 0), (b.count if b else 0)
    first = 0
    while a is not None or b is not None:
        count = min(a_left, b_left) if a is not None and b is not None else a_left or b_left
        yield first, count, a, b
        first += count
        if a is not None:
            a_left -= count
            if a_left == 0:
                a = next(left, None)
                a_left = a.count if a else 0
        if b is not None:
            b_left -= count
            if b_left == 0:
                b = next(right, None)
                b_left = b.count if b else 0


def ranges(numbers: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Join (first, count) stretches in rising order to ranges with both ends included."""
    joined: list[tuple[int, int]] = []
    for first, count in numbers:
        if count <= 0:
            continue
        if joined and joined[-1][1] + 1 >= first:
            joined[-1] = (joined[-1][0], max(joined[-1][1], first + count - 1))
        else:
            joined.append((first, first + count - 1))
    return tuple(joined)


def _merged(runs: Iterable[Run]) -> Iterator[Run]:
    """Yield runs none of which continues the one before: one film has one way to be written."""
    current: Run | None = None
    count = 0
    for run in runs:
        if run.count < 0 or (run.key is None) != (run.digest is None):
            raise ValueError("a run has a count, and a key with a digest or neither")
        if run.count == 0:
            continue
        if current is not None and (run.key, run.digest) == (current.key, current.digest):
            count += run.count
            continue
        if current is not None:
            yield Run(count, current.key, current.digest)
        current, count = run, run.count
    if current is not None:
        yield Run(count, current.key, current.digest)
