"""Write the files that a command line names: a report, a graph, a picture.

An ordinary file is replaced in one step, behind the links that lead to it, so that a reader never
sees half of it. What is no ordinary file (a pipe, a terminal, `/dev/stdout`) is written through.
Not here: exports (`export.publish`), ledger entries (`ledger.book`), the store.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from nfbuild.errors import UsageError

_SYSTEM = ("/dev/", "/proc/")


def check_output(path: str | None) -> None:
    """Raise `UsageError` where it is plain before any work that a file cannot be written."""
    if path is None:
        return
    if not path:
        raise UsageError("the name of a file to write is empty")
    if os.path.isdir(path) or path.endswith("/"):
        raise UsageError(f"`{path}` cannot be written: it is a folder", hint="name a file in it")


def write_output(path: str, pieces: Iterable[bytes]) -> None:
    """Write a file piece by piece, its folder too; raises `UsageError` where that is impossible."""
    check_output(path)
    try:
        if _is_written_through(path):
            with open(path, "wb") as file:
                file.writelines(pieces)
        else:
            _replace(os.path.realpath(path), pieces)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror}") from None


def writable(text: str) -> bytes:
    """Return a text's bytes; what of a file's name is no character is written with its escapes."""
    return text.encode("utf-8", "backslashreplace")


def _is_written_through(path: str) -> bool:
    if os.path.abspath(path).startswith(_SYSTEM):
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def _replace(path: str, pieces: Iterable[bytes]) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "wb") as file:
            file.writelines(pieces)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
