"""Every case that `python -m benchmarks` knows, in the order in which they run."""

from __future__ import annotations

from benchmarks import cases
from benchmarks.cases import Case
from benchmarks.films import films

CASES = (*cases.CASES, Case("films", "drawing and encoding, 900 frames at 1080p", films))
