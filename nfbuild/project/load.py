"""Find `nfbuild.toml` upwards from a folder, read it and what overrides it.

Without one, a folder that has `compositions/` in it is a project with every default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from nfbuild.errors import Place, ProjectError
from nfbuild.project.reading import read_project
from nfbuild.project.table import Decimal, SourceText
from nfbuild.project.values import CONFIG_NAME, LOCAL_NAME, Project

_MOST_BYTES = 1_000_000


def load(start: str, environment: Mapping[str, str] | None = None) -> Project:
    """Return the project that the folder `start` belongs to.

    `environment` stands for the process's own. Raises `ProjectError` where there is none, or
    where its configuration cannot be used.
    """
    root = find_root(start)
    sources = (os.path.join(root, CONFIG_NAME), os.path.join(root, LOCAL_NAME))
    main, local = (_read(path) for path in sources)
    return read_project(
        root, main, local, os.environ if environment is None else environment, sources
    )


def find_root(start: str) -> str:
    """Return the nearest folder at or above `start` that has a configuration, as an absolute path.

    Else `start` itself, when it has a folder `compositions`.
    """
    start = os.path.abspath(start)
    if not os.path.isdir(start):
        raise ProjectError(f"`{start}` is not a folder", code="project.none")
    folder = start
    while not os.path.lexists(os.path.join(folder, CONFIG_NAME)):
        parent = os.path.dirname(folder)
        if parent == folder:
            if os.path.isdir(os.path.join(start, "compositions")):
                return start
            raise ProjectError(
                f"no `{CONFIG_NAME}` here or in a folder above, and no folder `compositions`",
                place=Place(start),
                hint="`nfbuild init DIR` makes a project",
                code="project.none",
            )
        folder = parent
    return folder


def _read(path: str) -> tuple[SourceText, Mapping[str, Any]] | None:
    name = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        if os.path.islink(path):
            raise _unreadable(name, "a link to a file that is not there") from None
        return None
    except OSError as fault:
        raise _unreadable(name, fault.strerror or "unknown fault") from None
    if len(data) > _MOST_BYTES:
        raise _unreadable(name, "larger than 1 MB")
    return parse(name, data)


def parse(name: str, data: bytes) -> tuple[SourceText, Mapping[str, Any]]:
    """Return the text and the tables of a configuration file; raises `ProjectError`."""
    import tomllib  # noqa: PLC0415  a project without configuration does not need it

    try:
        # An editor's byte-order mark; the codec for it is one more module to import.
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as fault:
        raise ProjectError(
            "is not UTF-8 text",
            place=Place(name, data.count(b"\n", 0, fault.start) + 1),
            hint="save the file as UTF-8",
            code="project.config",
        ) from None
    try:
        return SourceText(name, text), tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        fact, line = "is nested too deeply", None
    except ValueError as fault:  # also a number of thousands of digits, a day that does not exist
        fact, line = _syntax(str(fault), text)
    raise ProjectError(
        fact,
        place=Place(name, line),
        hint="see https://toml.io for the syntax",
        code="project.config",
    )


def _syntax(message: str, text: str) -> tuple[str, int | None]:
    """Return fact and line of what `tomllib` says, `Invalid value (at line 3, column 5)`."""
    fact, _, where = message.partition(" (at ")
    line: int | None = None
    if where.startswith("line "):
        digits = where[5:].partition(",")[0]
        line = int(digits) if digits.isdigit() else None
    elif where.startswith("end of document"):
        line = text.count("\n") + (not text.endswith("\n"))
    fact = fact.partition(";")[0] if "limit" in fact else fact
    return fact[:1].lower() + fact[1:], line


def _unreadable(name: str, fault: str) -> ProjectError:
    return ProjectError(
        f"cannot be read: {fault}",
        place=Place(name),
        hint="make it a readable file",
        code="project.config",
    )
