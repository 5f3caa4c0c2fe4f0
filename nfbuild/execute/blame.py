"""Who is to blame when workers die: the counting rules, without any process.

A task whose worker died is tried once more alone; a second death is its own fault. After
`GROUP_PATIENCE` such tasks the rest of their group is not tried. Tasks that merely waited in a
dead worker bear no blame.
"""

from __future__ import annotations

from collections import Counter

from nfbuild.execute.base import GROUP_PATIENCE


class Blame:
    """Counts deaths of the jobs of one run; jobs are named by their serial numbers."""

    def __init__(self) -> None:
        self._suspects: set[int] = set()
        self._convicted: Counter[str] = Counter()

    def accuse(self, serial: int, group: str) -> bool:
        """Note that a worker died on this job; tell whether the job is convicted now.

        A job that is not convicted is to be tried again, alone.
        """
        if serial not in self._suspects:
            self._suspects.add(serial)
            return False
        self._suspects.discard(serial)
        if group:
            self._convicted[group] += 1
        return True

    def acquit(self, serial: int) -> None:
        """Note that this job was performed after all."""
        self._suspects.discard(serial)

    def is_given_up(self, group: str) -> bool:
        """Tell whether jobs of this group are not to be tried any more."""
        return self._convicted[group] >= GROUP_PATIENCE
