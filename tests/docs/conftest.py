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
from docs_gaps import GAPS, TRUTHS, document

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

    def pair(self, stem: str) -> list[bytes]:
        """Return the last frames of two scenes that should draw the same."""
        names = (f"{stem}-written", f"{stem}-instead")
        return [(self.folder / "out" / name / "00001.png").read_bytes() for name in names]

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
    pairs = {f"gap-{n:02d}": (gap.written, gap.instead) for n, gap in enumerate(GAPS.values())}
    pairs |= {f"truth-{n:02d}": pair for n, pair in enumerate(TRUTHS.values())}
    for stem, pair in pairs.items():
        for side, scene in zip(("written", "instead"), pair, strict=True):
            target = folder / "compositions" / f"{stem}-{side}.nf.svg"
            target.write_text(document(scene), "utf-8")
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
