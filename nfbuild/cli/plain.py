"""Plain lines: what every command says off a terminal, and what a build with nothing to do says.

Data goes to stdout, talk to stderr. Nothing here imports anything that costs time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, Protocol

from nfbuild.ops.nothing import NothingToDo


class Spoken(Protocol):
    """An error or a warning: what is said of it."""

    @property
    def message(self) -> str: ...  # noqa: D102
    @property
    def file(self) -> str | None: ...  # noqa: D102
    @property
    def line(self) -> int | None: ...  # noqa: D102
    @property
    def hint(self) -> str | None: ...  # noqa: D102


def say(text: str = "") -> None:
    """Say something to the person at the terminal (stderr)."""
    print(text, file=sys.stderr)


def put(text: str = "") -> None:
    """Print data (stdout)."""
    print(text)


def put_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document."""
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")


def spoken(message: str, file: str | None, line: int | None, hint: str | None) -> str:
    """Return an error or warning as place, fact, then help."""
    place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
    tail = "" if hint is None else f"\nhint: {hint}"
    return printable(f"{place}{message}{tail}")


def printable(text: str) -> str:
    """Return text that any terminal takes: file names may hold bytes that are no characters."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def summary(totals: Mapping[str, Any], compositions: int) -> str:
    """Return the line at the end of a build."""
    parts = [
        f"{totals['distinct']:,} distinct",
        f"{totals['rendered']:,} rendered",
        f"{totals['reused']:,} reused",
        f"{totals['seconds']:.1f} s",
    ]
    plural = "" if compositions == 1 else "s"
    return f"{compositions:,} composition{plural}, {totals['frames']:,} frames: {', '.join(parts)}"


def warn(warning: Mapping[str, Any]) -> None:
    """Say a warning."""
    say("warning: " + spoken(warning["message"], warning["file"], warning["line"], warning["hint"]))


def print_nothing(done: NothingToDo, *, quiet: bool, as_json: bool, verbose: bool) -> int:
    """Report a build that had nothing to do; returns the exit code 0."""
    if as_json:
        put_json(
            {
                "schema": "nfbuild.build/1",
                "ok": True,
                "compositions": done.rows,
                "totals": done.totals,
                "errors": [],
                "warnings": done.warnings,
                "cache": None,
            }
        )
    if not quiet:
        for warning in done.warnings:
            warn(warning)
        if verbose:
            say("nothing moved since the last build: answered from the state file")
        say(summary(done.totals, len(done.rows)))
    return 0
