"""Did you mean: the known word nearest to a mistyped one.

Own arithmetic instead of `difflib`, whose import costs half of a small project's loading.
"""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the word of `known` that a slip of a few letters makes `word`, or None.

    A slip is a letter put in, left out, changed, or two neighbours swapped; about one in three
    letters may be wrong. On a tie the first in `known` wins.
    """
    best: tuple[int, str] | None = None
    allowed = max(1, len(word) // 3)
    for candidate in known:
        if abs(len(candidate) - len(word)) > allowed:
            continue
        steps = _steps(word.lower(), candidate.lower())
        if steps <= allowed and (best is None or steps < best[0]):
            best = (steps, candidate)
    return None if best is None else best[1]


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the hint for a mistyped word; None when nothing is near."""
    found = nearest(word, known)
    return None if found is None else f"did you mean `{found}`?"


def _steps(left: str, right: str) -> int:
    """Return the edit distance with swaps of neighbours (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
