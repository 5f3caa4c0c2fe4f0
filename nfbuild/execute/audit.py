"""Undeclared inputs: what Python code opens while a task is performed, against what it may.

A `Watch` is a context: within it, and in its thread only, every file opened, folder listed,
program started or connection made that was not declared is noted in `surprises`. A file looked
for and not found counts as opened: its absence was an input. The program's own code may be read
at any time, since it is part of the toolchain; other data beside the code may not.

Seen are Python's audit events. What a C library opens by itself is not seen: `confine` takes the
possibility away instead, where the system can.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from nfbuild import core

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".dylib")


class _Here(threading.local):
    watch: Watch | None = None


_here = _Here()
_installed = False


class Watch:
    """Notes what is opened within it and was not declared."""

    def __init__(
        self, readable: Iterable[str], writable: Iterable[str], declared: Iterable[str] = ()
    ) -> None:
        """Paths are files or folders; relative ones start at the working directory on entry."""
        self._readable = (*readable, *declared)
        self._writable = tuple(writable)
        self.surprises: list[str] = []

    def __enter__(self) -> None:
        install()
        _here.watch = self

    def __exit__(self, *exc_info: object) -> None:
        _here.watch = None

    def opened(self, path: object, *, writing: bool) -> None:
        """Judge the opening of a file or, not writing, the listing of a folder."""
        if isinstance(path, int):  # an open descriptor: its opening was judged
            return
        name = os.path.abspath(os.fsdecode(path or os.curdir))  # type: ignore[arg-type]
        if name == os.devnull or _is_below(name, self._writable):
            return
        if not writing and _is_below(name, self._readable):
            return
        if _is_code(name, writing=writing):
            return
        self.surprises.append(f"opened `{name}`" + (" for writing" if writing else ""))


def install() -> None:
    """Put the hook in place, once in a process; it cannot be taken out again."""
    global _installed  # noqa: PLW0603  audit hooks are the process's own state
    if not _installed:
        _installed = True
        sys.addaudithook(_hook)


def code_roots() -> tuple[str, ...]:
    """Return the folders where this process finds code."""
    bytecode = (sys.pycache_prefix, core.bytecode_folder())
    roots = [*sys.path, sys.base_prefix, sys.prefix, *(folder or "" for folder in bytecode)]
    return tuple(dict.fromkeys(os.path.abspath(root) for root in roots if root))


def _is_below(name: str, roots: Iterable[str]) -> bool:
    for root in roots:
        for spelled in (os.path.abspath(root), os.path.realpath(root)):
            if name == spelled or name.startswith(os.path.join(spelled, "")):
                return True
    return False


def _is_code(name: str, *, writing: bool) -> bool:
    base = os.path.basename(name)
    # Bytecode is written beside its place and renamed: `x.cpython-311.pyc.140213`.
    looks = ".pyc" in base if writing else base.endswith(_CODE) or os.path.isdir(name)
    return looks and _is_below(name, code_roots())


def _open(watch: Watch, args: tuple[Any, ...]) -> None:
    path, _, flags = args
    watch.opened(path, writing=bool(flags & _WRITING))


def _list(watch: Watch, args: tuple[Any, ...]) -> None:
    watch.opened(args[0], writing=False)


def _connect_database(watch: Watch, args: tuple[Any, ...]) -> None:
    watch.opened(args[0], writing=True)


def _load_library(watch: Watch, args: tuple[Any, ...]) -> None:
    if args[0]:  # none is this program itself
        watch.opened(args[0], writing=False)


def _start_program(watch: Watch, args: tuple[Any, ...]) -> None:
    watch.surprises.append(f"started the program `{args[0]!s}`" if args else "made a process")


def _use_network(watch: Watch, _args: tuple[Any, ...]) -> None:
    watch.surprises.append("used the network")


_JUDGES: dict[str, Callable[[Watch, tuple[Any, ...]], None]] = {
    "open": _open,
    "os.listdir": _list,
    "os.scandir": _list,
    "sqlite3.connect": _connect_database,
    "ctypes.dlopen": _load_library,
    "subprocess.Popen": _start_program,
    "os.exec": _start_program,
    "os.posix_spawn": _start_program,
    "os.spawn": _start_program,
    "os.system": _start_program,
    "os.fork": _start_program,
    "os.forkpty": _start_program,
    "socket.connect": _use_network,
    "socket.bind": _use_network,
    "socket.sendto": _use_network,
    "socket.getaddrinfo": _use_network,
    "socket.gethostbyname": _use_network,
}


def _hook(event: str, args: tuple[Any, ...]) -> None:
    judge = _JUDGES.get(event)
    if judge is None:
        return
    watch = _here.watch
    if watch is not None:
        judge(watch, args)
