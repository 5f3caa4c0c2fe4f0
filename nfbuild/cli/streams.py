"""The standard streams as they are found: closed, full, or with a reader that goes away.

A closed stream would be `None`, and the next file that is opened would take its number. A write
that fails would end in a traceback from wherever the last word was said, and in the gate's exit
code; here it is noted, what follows is dropped, and the program says so once, at its end.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

READER_GONE = 141
"""What a shell calls a program that SIGPIPE ended."""
_USAGE = 2  # `errors.EXIT_USAGE`, before anything is imported


class Steady(io.FileIO):
    """A descriptor that takes everything; `fault` is why what was written last is lost."""

    fault: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write what the system takes, or drop it once the stream has failed."""
        if self.fault is None:
            try:
                return super().write(data)
            except BlockingIOError:
                raise
            except OSError as error:
                self.fault = error
        return memoryview(data).nbytes


def steady() -> Steady:
    """Make the process's streams steady; returns what stdout writes to."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    out, sys.stdout = _text(1, sys.stdout)
    _, sys.stderr = _text(2, sys.stderr)
    return out


def exit_code(out: Steady, code: int) -> int:
    """Return the exit code of a program that was to end with `code`, after its last words."""
    sys.stdout.flush()
    sys.stderr.flush()
    if out.fault is None:
        return code
    if out.fault.errno == errno.EPIPE:
        # Whoever read the output went away (`nfbuild status | head`): no error, no more words.
        return READER_GONE
    print(f"error: the output cannot be written: {out.fault.strerror}", file=sys.stderr)
    return _USAGE


def _text(number: int, given: object) -> tuple[Steady, io.TextIOWrapper]:
    """Return a descriptor and a text stream over it, in the encoding of the one that was given."""
    encoding, errors = "utf-8", "backslashreplace"
    if isinstance(given, io.TextIOWrapper):
        encoding, errors = given.encoding, given.errors or errors
    raw = Steady(number, "w", closefd=False)
    buffered = number == 2 or raw.isatty()
    text = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=buffered
    )
    return raw, text
