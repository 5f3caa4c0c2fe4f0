"""What the documents say is there, is there: links, commands, constants."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from house_reading import PACKAGE, ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def documents() -> list[Path]:
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
    return sorted(found)


def broken_links(path: Path, text: str) -> Iterator[str]:
    """Yield the relative links of a document that lead nowhere."""
    for target in LINK.findall(text):
        if "://" not in target and not (path.parent / target).exists():
            yield f"{path.name}: {target}"


def test_links_between_documents_lead_somewhere() -> None:
    """A page that is named is there."""
    found = [link for each in documents() for link in broken_links(each, each.read_text("utf-8"))]

    assert len(documents()) >= 8
    assert found == []


def test_a_planted_broken_link_is_found(tmp_path: Path) -> None:
    """The rule sees a link with an anchor, and leaves the web alone."""
    (tmp_path / "here.md").write_text("")
    text = "[a](here.md#top) [b](gone.md#top) [c](https://example.org/x)"

    assert list(broken_links(tmp_path / "page.md", text)) == ["page.md: gone.md"]


def test_readme_has_two_commands_that_do_all_the_setting_up() -> None:
    """One line runs the main job and one the tests, each from nothing but Python."""
    text = (ROOT / "README.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("python3 -m venv .venv && ")]

    assert len(lines) == 2
    assert lines[0].endswith("&& .venv/bin/nfbuild")
    assert "-m pytest" in lines[1]
    assert all("pip install -q -c constraints.txt " in line for line in lines)


def test_every_context_of_the_program_is_in_the_formats() -> None:
    """A digest whose context nobody wrote down cannot be checked by anybody else."""
    told = "".join(each.read_text("utf-8") for each in sorted((ROOT / "docs").glob("formats*.md")))
    used = set()
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        used |= set(re.findall(r'"(nfbuild 2026 [^"<]+ v\d+)"', path.read_text("utf-8")))

    assert len(used) >= 8
    assert sorted(context for context in used if context not in told) == []


def test_constraints_pin_what_the_project_asks_for() -> None:
    """Everything that can move a pixel is pinned, in the range that the project allows."""
    from packaging.requirements import Requirement

    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    asked = [Requirement(text) for text in project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        asked += [Requirement(text) for text in extra if not text.startswith(PACKAGE)]
    pinned = {}
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pinned[name.lower().replace("_", "-")] = version

    for each in asked:
        version = pinned.get(each.name.lower().replace("_", "-"))
        assert version is not None, each.name
        assert each.specifier.contains(version), f"{each}: {version}"


@pytest.mark.parametrize("name", [".ci/run", "scripts/check"])
def test_programs_of_the_repository_can_be_run(name: str) -> None:
    """A script that lost its bit fails where nobody looks."""
    path = ROOT / name

    assert path.read_text("utf-8").startswith("#!/usr/bin/env bash\n")
    assert path.stat().st_mode & 0o100
