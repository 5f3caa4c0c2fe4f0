"""Edits of every kind of input: each takes a case and a seeded generator and returns another case.

`KINDS` maps a kind's name to its `Kind`. A kind that finds nothing to edit returns None. The kinds
marked `tight` write the same picture differently: a key that moves with them costs a drawing.
"""

from __future__ import annotations

# In this order they fill the table: a seed means the same edits everywhere.
import mutation_same  # isort: skip
import mutation_written  # isort: skip
import mutation_moved  # isort: skip
import mutation_around  # isort: skip
from mutation_kinds import COLOURS, KINDS, Case

FILES = (mutation_same, mutation_written, mutation_moved, mutation_around)
__all__ = ["COLOURS", "FILES", "KINDS", "Case"]
