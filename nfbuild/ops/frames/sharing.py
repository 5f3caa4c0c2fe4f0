"""Builds side by side share the work: what another build is drawing now is waited for.

A build claims the frames that it is about to draw (`store.claims`, kernel locks that die with their
holder); frames that somebody else has claimed are looked up until their answer is there. Nothing
rests on it: where nothing comes for a while, a frame is drawn twice.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence

from nfbuild.events import Event
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.questions import State
from nfbuild.store.claims import Claims

_BATCH = 64
_FIRST_WAIT = 0.02
_LONGEST_WAIT = 0.2
_PATIENCE = 60.0
"""Seconds without any news after which a build draws what others claimed."""


def draw_shared(drawing: Drawing, numbers: Sequence[int]) -> Generator[Event, None, None]:
    """Draw the questions `numbers`, those that other builds are drawing by waiting for them."""
    if not numbers:
        return
    claims = Claims(drawing.session.caches.local_folder)
    try:
        pending = numbers
        while pending:
            others: list[int] = []
            # Claims go as records come: for each lock the kernel looks through all on the file.
            yield from drawing.draw(
                _claimed(drawing, claims, pending, others),
                lambda numbers: claims.release(drawing.questions.key(n) for n in numbers),
            )
            claims.release(drawing.questions.key(number) for number in pending)
            pending = _await(drawing, claims, others)
    finally:
        claims.close()


def _claimed(
    drawing: Drawing, claims: Claims, numbers: Sequence[int], others: list[int]
) -> Iterator[int]:
    """Yield the numbers that are this build's to draw; the rest goes to `others`."""
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        keys = {number: drawing.questions.key(number) for number in batch}
        mine = claims.claim(keys.values())
        own = [number for number in batch if keys[number] in mine]
        others.extend(number for number in batch if keys[number] not in mine)
        # Between the first look and the claim somebody may have drawn it and let go.
        drawing.look_up(own, near=True)
        answered = [n for n in own if drawing.questions.state(n) is not State.UNKNOWN]
        claims.release(keys[number] for number in answered)
        gone = set(answered)
        yield from (number for number in own if number not in gone)


def _await(drawing: Drawing, claims: Claims, numbers: list[int]) -> list[int]:
    """Wait until every number is answered, or until some can be drawn here: these are returned."""
    wait = _FIRST_WAIT
    deadline = time.monotonic() + _PATIENCE
    while numbers:
        drawing.look_up(numbers, near=True)
        rest = [n for n in numbers if drawing.questions.state(n) is State.UNKNOWN]
        if len(rest) < len(numbers):
            deadline = time.monotonic() + _PATIENCE
            wait = _FIRST_WAIT
        numbers = rest
        if not numbers or time.monotonic() > deadline:
            break
        free = claims.claim(drawing.questions.key(number) for number in numbers)
        if free:
            claims.release(free)
            break
        time.sleep(wait)
        wait = min(_LONGEST_WAIT, 2 * wait)
    return numbers
