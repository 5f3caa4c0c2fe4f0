"""Which rasterizer is installed, told without loading it."""

import ctypes.util
import importlib.metadata
import os
import subprocess
import sys

import pytest
import render_children as children
from render_children import run

from nfbuild.errors import UsageError
from nfbuild.render import build


def test_the_installation_is_found_by_its_files():
    found = build.find()

    assert found.version == importlib.metadata.version("thorvg-python")
    assert os.path.dirname(found.library) == found.folder
    assert "canvas/sw.py" in found.modules
    assert all(os.path.isfile(path) for path in found.modules.values())
    assert list(found.modules) == sorted(found.modules)


@pytest.mark.process
def test_the_library_that_is_hashed_is_the_one_that_runs(staging):
    """The process that draws has exactly the listed library mapped, and no binding module."""
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("this system does not list what a process has mapped")
    script = (
        "import sys; from nfbuild.render.thorvg import Library; Library().engine_init(0)\n"
        "print({p.split()[-1] for p in open('/proc/self/maps') if 'thorvg' in p})\n"
        "print([m for m in sys.modules if m.startswith('thorvg')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == [str({build.find().library}), "[]"]


def test_an_absent_rasterizer_is_a_clear_error(monkeypatch, tmp_path):
    monkeypatch.setattr(build, "BINDING", "no_such_binding")
    with pytest.raises(UsageError, match="not installed"):
        build.find()
    with pytest.raises(UsageError, match="no library for this system"):
        build.library(str(tmp_path))


@pytest.mark.process
def test_a_library_without_the_functions_is_a_clear_error(tmp_path):
    """A file that is no ThorVG, or an older one, is named as such."""
    other = ctypes.util.find_library("z")
    if other is None:
        pytest.skip("this system has no other shared library to try")
    with pytest.raises(UsageError, match="has no function"):
        run(children.load_library, other)


def test_platform_facts_are_plain_words():
    system, _, machine = build.platform_tag().partition("-")

    assert system in {"linux", "macos", "windows"}
    assert machine == machine.lower() != ""
    assert len(build.c_library().split()) == 2
    assert build.processor_level().replace("-", "_").startswith(machine.split("_")[0])
    assert build.ENGINE_OPTIONS.isascii()
