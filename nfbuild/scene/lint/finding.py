"""Collecting findings of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.scene.protocols import Finding
from nfbuild.scene.tree import describe

if TYPE_CHECKING:
    from nfbuild.scene.tree import Element

WORDS_SHOWN = 24


class Findings:
    """The findings of one file, in the order in which they were made."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.made: list[Finding] = []

    def add(
        self, code: str, element: Element, fact: str, hint: str, *, severity: str = "warning"
    ) -> None:
        """Add a finding about an element; `fact` follows its name."""
        self.at(code, element.line, f"`{shown(element)}` {fact}", hint, severity=severity)

    def at(
        self, code: str, line: int | None, message: str, hint: str, *, severity: str = "warning"
    ) -> None:
        """Add a finding about a line."""
        self.made.append(Finding(code, message, self.file, line, hint, severity))


def shown(element: Element) -> str:
    """Return an element as a message names it; a text without an id by its first words."""
    if element.tag != "text" or element.get("id") is not None:
        return describe(element)
    words = " ".join(element.all_text().split(" ")).strip(" \t\r\n").replace("\n", " ")
    if len(words) > WORDS_SHOWN:
        words = f"{words[:WORDS_SHOWN]}..."
    return f"<text>{words}</text>" if words else "<text>"
