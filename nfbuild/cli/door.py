"""The door to Typer: what the command line takes from it, and how its groups are made."""

from __future__ import annotations

from typing import Any

import typer
from typer import Abort, Argument, Exit, Option, Typer
from typer.main import get_command

PLAIN: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}
"""What keeps Typer from loading rich for a help text."""

__all__ = ["PLAIN", "Abort", "Argument", "Exit", "Option", "Typer", "get_command", "group"]


def group(text: str, **options: Any) -> Typer:
    """Return a group of commands; `text` is what its help says."""
    return typer.Typer(help=text, **options, **PLAIN)
