"""The distinct frames of a run: each question once, whoever asks it.

Frames of all compositions are folded by frame key: a hold, a loop and a second composition ask
the same question and get the one answer. The table is flat (about 200 bytes a distinct frame),
so that a run over a hundred thousand frames stays small.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from enum import IntEnum

from nfbuild.digests import FrameDigest, FrameKey, SceneKey

_WIDTH = 32
_SCENE_WIDTH = 8
_NO_ANSWER = bytes(_WIDTH)


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
        self._number: dict[bytes, int] = {}
        self._keys: list[bytes] = []
        self._scenes = bytearray()
        self._digests = bytearray()
        self._states = bytearray()
        self._films = array("I")
        self._frames = array("I")
        self.moved: list[int] = []
        """Questions whose answer was replaced by another one, in the order in which it was."""

    def __len__(self) -> int:
        return len(self._states)

    def ask(self, key: FrameKey, scene: SceneKey, film: int, frame: int) -> int:
        """Return the number of the question `key`; the first to ask it is remembered."""
        raw = bytes.fromhex(key)
        number = self._number.get(raw)
        if number is None:
            number = len(self._states)
            self._number[raw] = number
            self._keys.append(raw)
            self._scenes += bytes.fromhex(scene[: 2 * _SCENE_WIDTH])
            self._digests += _NO_ANSWER
            self._states.append(State.UNKNOWN)
            self._films.append(film)
            self._frames.append(frame)
        return number

    def key(self, number: int) -> FrameKey:
        """Return the frame key of a question."""
        return FrameKey(self._keys[number].hex())

    def scene(self, number: int) -> str:
        """Return the first sixteen hexadecimal digits of the question's scene key."""
        return self._scenes[number * _SCENE_WIDTH : (number + 1) * _SCENE_WIDTH].hex()

    def asker(self, number: int) -> tuple[int, int]:
        """Return the film and the frame number that asked first."""
        return self._films[number], self._frames[number]

    def state(self, number: int) -> State:
        """Return what is known of a question."""
        return State(self._states[number])

    def digest(self, number: int) -> FrameDigest:
        """Return the answer; a question without one is a mistake of the caller."""
        if self._states[number] in (State.UNKNOWN, State.FAILED):
            raise LookupError(f"question {number} has no answer")
        return FrameDigest(self._digests[number * _WIDTH : (number + 1) * _WIDTH].hex())

    def answer(self, number: int, digest: FrameDigest, state: State) -> None:
        """Record the answer to a question and where it came from."""
        place = slice(number * _WIDTH, (number + 1) * _WIDTH)
        raw = bytes.fromhex(digest)
        answered = self._states[number] not in (State.UNKNOWN, State.FAILED)
        if answered and self._digests[place] != raw:
            self.moved.append(number)
        self._digests[place] = raw
        self._states[number] = state

    def fail(self, number: int) -> None:
        """Record that a question could not be answered."""
        self._states[number] = State.FAILED

    def numbers(self, *states: State) -> Iterator[int]:
        """Yield the numbers of all questions in one of `states`, in order."""
        for number, state in enumerate(self._states):
            if state in states:
                yield number
