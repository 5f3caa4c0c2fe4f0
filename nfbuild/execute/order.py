"""Another order of the same jobs, to show that order decides nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from nfbuild.execute.base import Job


def shuffled(jobs: Iterable[Job], seed: int, window: int = 256) -> Iterator[Job]:
    """Yield the jobs in an order that the seed decides.

    At most `window` jobs are held back, so a long list stays lazy and only its neighbourhoods
    are mixed; give a window of the list's length to mix all of it.
    """
    import random  # noqa: PLC0415  only `reproduce` shuffles

    chance = random.Random(seed)  # noqa: S311  a pinned order, not a secret
    source = iter(jobs)
    held = list(itertools.islice(source, window))
    while held:
        at = chance.randrange(len(held))
        held[at], held[-1] = held[-1], held[at]
        yield held.pop()
        held.extend(itertools.islice(source, 1))
