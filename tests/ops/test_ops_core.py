"""The code that runs is the code that was hashed, whatever bytecode lies about."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from opspace import MOVING


@pytest.fixture
def library(tmp_path):
    """A copy of the package that a test may edit."""
    package = tmp_path / "lib" / "nfbuild"
    source = Path(importlib.util.find_spec("nfbuild").submodule_search_locations[0])
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def test_an_edit_within_the_same_second_and_size_runs(space, library):
    """Python would take the old bytecode: its source has the same size and second."""
    environment = {"PYTHONPATH": str(library.parent), "PYTHONDONTWRITEBYTECODE": ""}
    space.compose("moving", MOVING)
    first = space.json(**environment)
    module = library / "scene" / "write.py"
    text = module.read_text(encoding="utf-8")
    stat = module.stat()
    marked = text.replace('"""', '"""X', 1).replace("\n\n", "\n", 1)
    assert len(marked) == len(text)
    edited = text.replace('xmlns="', "xmlns='", 1) if 'xmlns="' in text else marked
    module.write_text(edited, encoding="utf-8")
    os.utime(module, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    second = space.json("build", "--rehash", **environment)

    assert first["totals"]["rendered"] == 6
    assert second["totals"]["rendered"] == 6
    reasons = second["compositions"][0]["reasons"]
    assert [reason["what"] for reason in reasons] == ["nfbuild/scene/write.py"]


def test_bytecode_of_the_core_is_named_by_the_sources(space, library):
    """Two versions have two names, and the older one is not kept."""
    environment = {"PYTHONPATH": str(library.parent), "PYTHONDONTWRITEBYTECODE": ""}
    space.compose("moving", MOVING)
    assert space.run(**environment).returncode == 0
    before = {path.name for path in library.rglob("*.core-*.pyc")}
    with (library / "scene" / "tree.py").open("a") as file:
        file.write("\n# another word\n")
    assert space.run(**environment).returncode == 0
    after = {path.name for path in library.rglob("*.core-*.pyc")}

    assert len(before) == len(after) > 20
    assert before.isdisjoint(after)
