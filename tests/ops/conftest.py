"""A project folder for each test that asks for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from opspace import Space


@pytest.fixture
def space(tmp_path: Path) -> Space:
    """A project without compositions."""
    return Space(tmp_path / "project")
