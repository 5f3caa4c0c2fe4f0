"""Which frames are drawn: a stratified sample, and a share of the repeats. All seeds are pinned."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.questions import Questions

REPEATS = Fraction(2, 100)
"""The share of repeats that is drawn again, at least one per composition that has any."""


def sample(count: int, wanted: int, seed: int, name: str) -> range | list[int]:
    """Return a seeded, stratified sample: one frame of each of `wanted` equal stretches."""
    if wanted >= count:
        return range(count)
    draw = random.Random(f"{seed}/{name}")  # noqa: S311  a pinned seed is the point
    return [
        draw.randrange(count * part // wanted, count * (part + 1) // wanted)
        for part in range(wanted)
    ]


def repeats(
    films: Sequence[Film], questions: Questions, seed: int, *, every: bool
) -> Iterator[tuple[Film, int]]:
    """Yield (film, frame number) of the repeats to draw again: a share, or every one.

    A repeat is a frame whose question was asked before, by this film or by another.
    """
    for film in films:
        if film.error is not None:
            continue
        again = [
            frame
            for frame, number in zip(film.wanted, film.frames, strict=True)
            if questions.asker(number) != (film.index, frame)
        ]
        if again and not every:
            share = max(1, int(len(again) * REPEATS))
            draw = random.Random(f"{seed}/repeats/{film.name}")  # noqa: S311  as above
            again = sorted(draw.sample(again, share))
        yield from ((film, frame) for frame in again)
