"""The distinct frames of a run: one number a key, whatever the number of keys."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfbuild.digests import FrameDigest, FrameKey, SceneKey
from nfbuild.ops.frames.questions import Questions, State


def name(word: object) -> str:
    return hashlib.sha256(str(word).encode()).hexdigest()


def ask(questions: Questions, key: str, film: int = 0, frame: int = 0) -> int:
    return questions.ask(FrameKey(key), SceneKey(name(("scene", key))), film, frame)


def test_each_question_is_asked_once():
    """Numbers rise by first appearance, and the first to ask is remembered."""
    keys = [name(number) for number in range(5_000)]
    questions = Questions()

    assert [ask(questions, key, 0, frame) for frame, key in enumerate(keys)] == list(range(5_000))
    assert [ask(questions, key, 1, 0) for key in reversed(keys)] == list(range(5_000))[::-1]
    assert len(questions) == 5_000
    for number, key in enumerate(keys):
        assert questions.key(number) == key
        assert questions.asker(number) == (0, number)
        assert questions.scene(number) == name(("scene", key))[:16]


# Keys that differ only where a table does not look first, and keys that are all alike there.
CLOSE = st.integers(0, 40).map(lambda n: f"{n % 3:016x}" + f"{n:048x}")


@given(st.lists(CLOSE, max_size=200))
def test_keys_that_begin_alike_are_told_apart(keys):
    """A number stands for a whole key, not for the beginning of one."""
    questions = Questions()
    numbers: dict[str, int] = {}
    for key in keys:
        assert ask(questions, key) == numbers.setdefault(key, len(numbers))
    assert [questions.key(number) for number in numbers.values()] == list(numbers)


def test_many_keys_that_begin_alike_are_told_apart():
    """Also when the table grows on the way."""
    keys = [f"{0:016x}{number:048x}" for number in range(1_500)]
    questions = Questions()

    assert [ask(questions, key) for key in keys] == list(range(1_500))
    assert [ask(questions, key) for key in keys] == list(range(1_500))


def test_answers_belong_to_their_questions():
    """And a question without one is a mistake of the caller."""
    questions = Questions()
    for word in "abc":
        ask(questions, name(word))
    questions.answer(1, FrameDigest(name("pixels")), State.DRAWN)
    questions.fail(2)

    assert questions.digest(1) == name("pixels")
    assert [questions.state(n) for n in range(3)] == [State.UNKNOWN, State.DRAWN, State.FAILED]
    assert list(questions.numbers(State.UNKNOWN, State.FAILED)) == [0, 2]
    for number in (0, 2):
        with pytest.raises(LookupError, match="has no answer"):
            questions.digest(number)


def test_a_long_run_stays_small():
    """A hundred thousand frames are some megabytes, so there is no object for each."""
    count = 50_000
    tracemalloc.start()
    try:
        questions = Questions()
        for number in range(count):
            ask(questions, name(number))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(questions) == count
    assert peak < 130 * count
