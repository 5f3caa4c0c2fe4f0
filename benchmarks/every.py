"""Every case that `python -m benchmarks` knows, in the order in which they run."""

from __future__ import annotations

from benchmarks import cases
from benchmarks.cases import Case
from benchmarks.films import films
from benchmarks.growth import canvas, elements, growth

CASES = (
    *cases.CASES,
    Case("growth", "cold, ever more frames", growth),
    Case("elements", "cold, ever more elements", elements),
    Case("canvas", "memory at 1080p", canvas),
    Case("films", "drawing and encoding, 900 frames at 1080p", films),
)
