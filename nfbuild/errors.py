"""What can go wrong, as a tree; each class says what its catcher does next.

    NfbuildError
    ├── UsageError              2    the command line asks for something that is not there
    │   └── ProjectError        2    nfbuild.toml or the ledger is not what it should be
    ├── CompositionError        3    one composition cannot be built; the others are
    │   ├── SourceError              its text: XML, JSON, values
    │   ├── MediaError               a file it refers to
    │   ├── FontError                a face it needs
    │   └── DrawError                the rasterizer refused, died, or ran past its deadline
    ├── StoreRequired           4    a tier that the user requires is not available
    └── StoreError                   never reaches the user: a store's answer to another store
        ├── Missing                  ask the next store
        ├── Corrupt                  drop it, say so, recompute
        └── Unavailable              go on without this store, say so once

An error has a place, a fact and a hint. Exit codes are part of the contract in `docs/formats.md`.
"""

from __future__ import annotations

from typing import ClassVar

from nfbuild.dataclasses import dataclass

EXIT_DONE = 0
EXIT_GATE = 1
EXIT_USAGE = 2
EXIT_COMPOSITION = 3
EXIT_STORE = 4
EXIT_INTERRUPTED = 130

# When several apply, the first of these is the process's exit code.
_EXIT_ORDER = (EXIT_INTERRUPTED, EXIT_USAGE, EXIT_STORE, EXIT_COMPOSITION, EXIT_GATE)


def worst_exit(codes: set[int]) -> int:
    """Return the exit code to use when all of `codes` apply; `EXIT_DONE` for none."""
    for code in _EXIT_ORDER:
        if code in codes:
            return code
    return EXIT_DONE


@dataclass(frozen=True)
class Place:
    """Where in the project a fact is: a path as the user would type it, and a line from 1."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class NfbuildError(Exception):
    """A fact the user has to know, with its place and a hint.

    `code` is stable and is what a program reads; `message` is for people: lower case, no full
    stop, values in backticks.
    """

    exit_code: ClassVar[int] = EXIT_COMPOSITION
    default_code: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        place: Place | None = None,
        hint: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message, place, hint, code)
        self.message = message
        self.place = place
        self.hint = hint
        self.code = code or self.default_code

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders: rebuild from the parts, not from `args`.
        return (_rebuild, (type(self), self.message, self.place, self.hint, self.code))

    def __str__(self) -> str:
        where = "" if self.place is None else f"{self.place}: "
        return f"{where}{self.message}"


def _rebuild(
    kind: type[NfbuildError], message: str, place: Place | None, hint: str | None, code: str
) -> NfbuildError:
    return kind(message, place=place, hint=hint, code=code)


class UsageError(NfbuildError):
    """The command line or the surroundings ask for something impossible."""

    exit_code = EXIT_USAGE
    default_code = "usage"


class ProjectError(UsageError):
    """`nfbuild.toml`, the ledger or the folder layout is wrong."""

    default_code = "project"


class CompositionError(NfbuildError):
    """One composition cannot be built; every other one still is."""

    default_code = "composition"


class SourceError(CompositionError):
    """The composition's own text cannot be used."""

    default_code = "source"


class MediaError(CompositionError):
    """A file that the composition refers to cannot be used."""

    default_code = "media"


class FontError(CompositionError):
    """A face that the composition or the project names cannot be used."""

    default_code = "font"


class DrawError(CompositionError):
    """The rasterizer refused a frame, died on it, or ran past its deadline."""

    default_code = "draw"


class StoreRequired(NfbuildError):
    """A tier that the user required is not available."""

    exit_code = EXIT_STORE
    default_code = "store"


class StoreError(NfbuildError):
    """A store's answer to the store above it; never shown to the user as an error."""

    default_code = "store"


class Missing(StoreError):
    """The store does not have it: ask the next one."""

    default_code = "missing"


class Corrupt(StoreError):
    """The store has something else under that name: drop it and recompute."""

    default_code = "corrupt"


class Unavailable(StoreError):
    """The store cannot answer at all: go on without it."""

    default_code = "unavailable"
