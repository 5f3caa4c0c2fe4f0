"""Every claim of docs/claims.md names something that can falsify it, and that is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from house_reading import ROOT

HEADS = ("falsified by", "test", "test or command")
QUOTED = re.compile(r"`([^`]+)`")


def rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the claim and what falsifies it of every row of every table."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        is_row = line.startswith("|") and len(cells) >= 3 and not set(cells[0]) <= {"-"}
        if is_row and cells[-1] not in HEADS:
            yield cells[0], cells[-1]


def names_of_tests(path: str) -> list[str]:
    """Return the names of the tests in a file, of those in classes too."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def unfounded(text: str) -> Iterator[str]:
    """Yield what is wrong with the claims of a text."""
    for claim, falsified_by in rows(text):
        named = QUOTED.findall(falsified_by)
        if not named:
            yield f"nothing falsifies: {claim}"
        path = ""
        for one in named:
            file, _, name = one.partition("::")
            path = file if file.startswith("tests/") else path
            if file.startswith(("tests/", "scripts/")) and not (ROOT / file.split()[0]).exists():
                yield f"no file `{file}`: {claim}"
            elif name and (not path or name.partition("[")[0] not in names_of_tests(path)):
                yield f"no test `{one}`: {claim}"


def test_every_claim_can_be_falsified() -> None:
    """A claim without a test is an advertisement."""
    text = (ROOT / "docs/claims.md").read_text("utf-8")

    assert len(list(rows(text))) >= 25
    assert list(unfounded(text)) == []


def test_a_planted_empty_claim_is_found() -> None:
    """A row without a test, one with a test that is gone, and one with a file that is gone."""
    text = """
| claim | kind | falsified by |
| --- | --- | --- |
| good | example | `tests/house/test_house_claims.py::test_every_claim_can_be_falsified` |
| none | example | trust |
| gone | example | `tests/house/test_house_claims.py::test_nothing` |
| short | example | `tests/house/test_house_claims.py`, `::test_no` |
| lost | example | `scripts/lost.py --all` |
"""
    found = list(unfounded(text))

    assert [line.rpartition(": ")[2] for line in found] == ["none", "gone", "short", "lost"]
