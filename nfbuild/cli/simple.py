"""Command lines that are read without Typer: names, and options whose values the operation checks.

Loading Typer takes 25 ms of processor time, as long as everything else that a small build loads,
and the processors are wanted by workers getting ready. What is not as simple as this is left to it,
and so is every mistake. A test holds that both read the same.
"""

from __future__ import annotations

from collections.abc import Iterator

_QUIET = ("-q", "--quiet")
_VERBOSE = ("-v", "--verbose")


class Simple:
    """What a simple command line asks for; `scale` is text, None where none is given."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.start = "."
        self.names: list[str] = []
        self.scale: str | None = None
        self.quiet = self.verbose = self.as_json = False

    @property
    def is_bare(self) -> bool:
        """Whether it is a build of everything as configured."""
        return self.command == "build" and not self.names and self.scale is None


def read_simple(words: list[str]) -> Simple | None:
    """Return what the words ask for, the command first; None where Typer has to read them."""
    if words[0] not in ("build", "verify"):
        return None
    found = Simple(words[0])
    rest = iter(words[1:])
    return found if all(_takes(found, word, rest) for word in rest) else None


def _takes(found: Simple, word: str, rest: Iterator[str]) -> bool:
    """Take one word, and its value from the rest; False where it is not that simple."""
    if word == "-C":
        found.start = next(rest, "")
        return bool(found.start)
    if word == "--scale" and found.command == "build":
        found.scale = next(rest, "-")
        return not found.scale.startswith("-")
    if word in _QUIET:
        found.quiet = True
    elif word in _VERBOSE:
        found.verbose = True
    elif word == "--json":
        found.as_json = True
    elif word.startswith("-"):
        return False
    else:
        found.names.append(word)
    return True
