"""The project that `docs/format.md` describes, built once for all tests."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from docs_gaps import GAPS, document

ROOT = Path(__file__).parents[2]


def load_script() -> ModuleType:
    """Return `scripts/draw_docs.py` as a module."""
    spec = importlib.util.spec_from_file_location("draw_docs", ROOT / "scripts" / "draw_docs.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Built:
    """The project's folder, and what `build` and `check` printed for programs."""

    folder: Path
    build: dict[str, Any]
    check: dict[str, Any]
    exits: tuple[int, int]

    def codes(self, path: str) -> list[str]:
        """Return the codes of the findings in one file, each once."""
        return sorted({each["code"] for each in self.check["findings"] if each["file"] == path})


@pytest.fixture(scope="session")
def docs() -> ModuleType:
    return load_script()


@pytest.fixture(scope="session")
def page(docs: ModuleType) -> str:
    return docs.PAGE.read_text("utf-8")


@pytest.fixture(scope="session")
def built(docs: ModuleType, page: str, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The examples of the page and the pairs of `docs_gaps`: one build, one check."""
    folder = tmp_path_factory.mktemp("docs") / "project"
    folder.mkdir()
    docs.lay_out(page, folder)
    for number, gap in enumerate(GAPS.values()):
        for side in ("written", "instead"):
            target = folder / "compositions" / f"gap-{number:02d}-{side}.nf.svg"
            target.write_text(document(getattr(gap, side)), "utf-8")
    build = docs.run(folder, "build", "--json", "-j", "1")
    check = docs.run(folder, "check", "--json")
    assert build.stdout, build.stderr
    assert check.stdout, check.stderr
    return Built(
        folder,
        json.loads(build.stdout),
        json.loads(check.stdout),
        (build.returncode, check.returncode),
    )
