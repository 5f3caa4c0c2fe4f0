"""The distinct frames of a run: each question once, whoever asks it.

Frames of all compositions are folded by frame key: a hold, a loop and a second composition ask
the same question and get the one answer. The table is flat (about 90 bytes a distinct frame, no
object each), so that a run over a hundred thousand frames stays small.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import cast

from nfbuild.digests import FrameDigest, FrameKey, SceneKey

_ROW = Struct("<32s32s8sII")
"""Frame key, frame digest, beginning of the scene key, film and frame that asked first."""
_ANSWER = 32
_NO_ANSWER = bytes(32)
_BLOCK = 512
_FEWEST_SLOTS = 1_024


class State(IntEnum):
    """What is known of a question."""

    UNKNOWN = 0
    CACHED = 1
    """answered by this cache"""
    SHARED = 2
    """answered by a shared tier, not yet drawn here"""
    DRAWN = 3
    """rasterized in this run"""
    FAILED = 4
    """could not be drawn"""


class Questions:
    """Every distinct frame key of a run, numbered by first appearance."""

    def __init__(self) -> None:
        # A hash table with open addressing: a slot holds a question's number plus one, 0 is free.
        # Keys are digests: their own bits spread them evenly.
        self._slots = array("I", [0]) * _FEWEST_SLOTS
        # Rows stand in blocks: where one buffer grows, the heap keeps the holes that it left.
        self._blocks: list[bytearray] = []
        self._states = bytearray()
        self.moved: list[int] = []
        """Questions whose answer was replaced by another one, in the order in which it was."""

    def __len__(self) -> int:
        return len(self._states)

    def ask(self, key: FrameKey, scene: SceneKey, film: int, frame: int) -> int:
        """Return the number of the question `key`; the first to ask it is remembered."""
        raw = bytes.fromhex(key)
        slot = self._slot(raw)
        if self._slots[slot]:
            return self._slots[slot] - 1
        number = len(self)
        if number % _BLOCK == 0:
            self._blocks.append(bytearray(_BLOCK * _ROW.size))
        block, at = self._row(number)
        _ROW.pack_into(block, at, raw, _NO_ANSWER, bytes.fromhex(scene[:16]), film, frame)
        self._states.append(State.UNKNOWN)
        self._slots[slot] = number + 1
        if 3 * len(self) > 2 * len(self._slots):
            self._add_slots()
        return number

    def _slot(self, raw: bytes) -> int:
        """Return the slot of the question with the key `raw`, or the free one that it would get."""
        slots = self._slots
        last = len(slots) - 1  # the number of slots is a power of two
        slot = int.from_bytes(raw[:8], "big") & last
        while number := slots[slot]:
            block, at = self._row(number - 1)
            if block.startswith(raw, at):
                break
            slot = (slot + 1) & last
        return slot

    def _add_slots(self) -> None:
        # Four times as many: most of the work of a growing table is moving it.
        slots = self._slots = array("I", [0]) * (4 * len(self._slots))
        last = len(slots) - 1
        for number in range(len(self)):
            block, at = self._row(number)
            slot = int.from_bytes(block[at : at + 8], "big") & last
            while slots[slot]:
                slot = (slot + 1) & last
            slots[slot] = number + 1

    def _row(self, number: int) -> tuple[bytearray, int]:
        """Return the block that holds a question's row, and where in it the row begins."""
        return self._blocks[number // _BLOCK], number % _BLOCK * _ROW.size

    def _fields(self, number: int) -> tuple[bytes, bytes, bytes, int, int]:
        return cast("tuple[bytes, bytes, bytes, int, int]", _ROW.unpack_from(*self._row(number)))

    def key(self, number: int) -> FrameKey:
        """Return the frame key of a question."""
        return FrameKey(self._fields(number)[0].hex())

    def scene(self, number: int) -> str:
        """Return the first sixteen hexadecimal digits of the question's scene key."""
        return self._fields(number)[2].hex()

    def asker(self, number: int) -> tuple[int, int]:
        """Return the film and the frame number that asked first."""
        return self._fields(number)[3:]

    def state(self, number: int) -> State:
        """Return what is known of a question."""
        return State(self._states[number])

    def digest(self, number: int) -> FrameDigest:
        """Return the answer; a question without one is a mistake of the caller."""
        if self._states[number] in (State.UNKNOWN, State.FAILED):
            raise LookupError(f"question {number} has no answer")
        return FrameDigest(self._fields(number)[1].hex())

    def answer(self, number: int, digest: FrameDigest, state: State) -> None:
        """Record the answer to a question and where it came from."""
        block, at = self._row(number)
        place = slice(at + _ANSWER, at + _ANSWER + len(_NO_ANSWER))
        raw = bytes.fromhex(digest)
        answered = self._states[number] not in (State.UNKNOWN, State.FAILED)
        if answered and block[place] != raw:
            self.moved.append(number)
        block[place] = raw
        self._states[number] = state

    def fail(self, number: int) -> None:
        """Record that a question could not be answered."""
        self._states[number] = State.FAILED

    def numbers(self, *states: State) -> Iterator[int]:
        """Yield the numbers of all questions in one of `states`, in order."""
        for number, state in enumerate(self._states):
            if state in states:
                yield number
