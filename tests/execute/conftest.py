"""Factories of both members of the family."""

from __future__ import annotations

import pytest
from execute_support import make_inline, make_pool


@pytest.fixture(params=["inline", pytest.param("pool", marks=pytest.mark.process)])
def make(request):
    """Factory of one family member; what it made is closed at the end."""
    made = []

    def factory(**setup):
        executor = {"inline": make_inline, "pool": make_pool}[request.param](**setup)
        made.append(executor)
        return executor

    yield factory
    for executor in made:
        executor.close()
