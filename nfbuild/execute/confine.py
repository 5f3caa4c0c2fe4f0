"""Confinement: a process that can open only what was declared, C libraries included (Linux).

The audit hook sees what Python code opens. What a C library opens by itself no hook sees, so a
confined worker gives up, by Landlock and for ever, the right to open anything but its own code,
the system's libraries and what the setup declares. An undeclared file is then not there for it,
and a picture that needed one comes out different: drawing confined and unconfined shows whether
any did.

Format of the system calls: `landlock(7)`, `linux/landlock.h`; their numbers are the same on every
architecture. No privilege is needed. Elsewhere the promise cannot be kept and is refused.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterable
from typing import Any

from nfbuild.errors import UsageError
from nfbuild.execute.audit import code_roots

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_READ = _READ_FILE | _READ_DIR
_ALL = _READ | _WRITE_FILE
_NOT_FOR_FILES = _READ_DIR

# Where the loader finds libraries that are loaded late; no fonts and no pictures are there.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_DEVICES = ("/dev/null", "/dev/urandom", "/proc/self")


def can_confine() -> bool:
    """Tell whether this system lets a process confine itself."""
    if sys.platform != "linux":
        return False
    version: int = _libc().syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return version > 0


def confine(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Confine the calling thread, and every thread and process that it makes from now on.

    The paths are files and folders and must exist. Files that are open stay usable.
    """
    if not can_confine():
        raise UsageError(
            "this system cannot confine workers",
            hint="it takes Linux 5.13 or later with Landlock switched on",
            code="worker.unconfined",
        )
    libc = _libc()
    rules = struct.pack("=Q", _ALL)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, rules, len(rules), 0), "create a ruleset")
    try:
        for path in (*code_roots(), *_LIBRARIES):
            if os.path.exists(path):
                _allow(ruleset, path, _READ)
        for path in _DEVICES:
            if os.path.exists(path):
                _allow(ruleset, path, _ALL)
        for path in readable:
            _allow(ruleset, path, _READ)
        for path in writable:
            _allow(ruleset, path, _ALL)
        _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up privileges")
        _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0), "restrict itself")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            access &= ~_NOT_FOR_FILES
        rule = struct.pack("=Qi", access, place)
        done = _libc().syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
        _checked(done, f"allow `{path}`")
    finally:
        os.close(place)


def _checked(result: int, what: str) -> int:
    if result < 0:
        import ctypes  # noqa: PLC0415  as below

        number = ctypes.get_errno()
        raise OSError(number, f"cannot {what}: {os.strerror(number)}")
    return result


def _libc() -> Any:
    import ctypes  # noqa: PLC0415  only a confined worker needs it

    return ctypes.CDLL(None, use_errno=True)
