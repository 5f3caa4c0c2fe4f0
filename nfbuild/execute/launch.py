"""Starting one worker process and knowing how it ended.

A worker is a clean interpreter, not a fork: its parent's threads, locks and open files are not
in it. Its standard input is its line to the parent, its standard output is the notice board, and
what it or a library writes to standard error is kept for its last words.

A worker's environment is fixed and short, so that two users' workers cannot differ by it:
`FIXED_ENVIRONMENT`, and of the parent's own variables only those in `PASSED_ON`, without which an
interpreter may not start at all. Code is found where the parent finds it, and bytecode too.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress

from nfbuild import core
from nfbuild.execute.base import Death
from nfbuild.execute.board import Board, make_file

FIXED_ENVIRONMENT: Mapping[str, str] = {
    "LC_ALL": "C",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    # NumPy's linear algebra starts a thread per core, with memory of its own, when it is imported.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")

_BOOT = (
    "import sys; stamp, prepare = sys.argv[1:3]; sys.path[:] = sys.argv[3:];"
    " from nfbuild import core; stamp and core.install(stamp);"
    " from nfbuild.execute.worker_main import main; main(prepare)"
)
_NICE = 5  # steps by which a worker gives way
_LAST_WORDS = 2000
_PATIENCE = 2.0  # seconds for a worker to be gone after its line went quiet
_LINE_BUFFER = 1 << 20
# A socket cannot be a standard handle there: it is shared through a pipe.
_IS_WINDOWS = sys.platform == "win32"
_NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


class Process:
    """A worker process as its parent sees it."""

    def __init__(self, environment: Mapping[str, str], *, prepare: str = "") -> None:
        """Start it and return at once; `prepare` names what it calls before it is told anything."""
        self.memory_bytes: int | None = None
        """What it was told to bound itself to."""
        self._peak = 0
        ours, theirs = socket.socketpair()
        page = make_file()
        # Not a context: it lives as long as the worker.
        self._words = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._popen = subprocess.Popen(
                _command(prepare),
                stdin=subprocess.PIPE if _IS_WINDOWS else theirs.fileno(),
                stdout=page,
                stderr=self._words,
                env=_environment(environment),
                cwd=os.path.abspath(os.sep),
                # ^C is for the parent, which ends its workers itself.
                process_group=None if _IS_WINDOWS else 0,
                creationflags=_NEW_GROUP,
            )
            if sys.platform == "win32":
                assert self._popen.stdin is not None
                with self._popen.stdin as pipe:
                    pipe.write(theirs.share(self._popen.pid))
            self.board = Board(page)
        finally:
            theirs.close()
            os.close(page)
        with suppress(OSError):  # a larger buffer is only a kindness
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LINE_BUFFER)
        ours.setblocking(False)
        self.line = ours

    @property
    def pid(self) -> int:
        """The system's name for the process."""
        return self._popen.pid

    def give_way(self) -> None:
        """Let the parent's own work go first from now on, where the system knows how."""
        if hasattr(os, "setpriority"):
            with suppress(OSError):  # it may be gone
                os.setpriority(os.PRIO_PROCESS, self._popen.pid, _NICE)

    def is_gone(self) -> bool:
        """Tell whether the process has ended."""
        return self._status() is not None

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self._popen.kill()

    def close(self) -> None:
        """End the process if it is still there, and let everything go.

        A worker has nothing to put in order: what it answered is on disk, the rest is void.
        """
        self._popen.kill()
        self._popen.wait()
        self.line.close()
        self.board.close()
        self._words.close()

    def post_mortem(self) -> Death:
        """Say how a process ended whose line has gone quiet."""
        status = self._awaited()
        words = self._last_words()
        if status >= 0:
            return Death("exit", f"it ended with status {status}", words)
        if -status == getattr(signal, "SIGPROF", 0):
            return Death("processor-time", "it ran past its deadline", words)
        if "bad_alloc" in words or "MemoryError" in words:
            return Death("memory", "it ran out of memory", words)
        name = _signal_name(-status)
        if self.memory_bytes is not None and self._peak >= self.memory_bytes // 2:
            # The rasterizer uses memory that it was not given: a refused request ends in a crash.
            used, allowed = self._peak >> 20, self.memory_bytes >> 20
            fact = f"it was ended by {name} with {used} MiB of {allowed} in use"
            return Death("memory", fact, words)
        return Death("signal", f"it was ended by {name}", words)

    def _awaited(self) -> int:
        patience = time.monotonic() + _PATIENCE
        while (status := self._status()) is None:
            if time.monotonic() > patience:
                self._popen.kill()
            time.sleep(0.001)
        return status

    def _status(self) -> int | None:
        """Return how it ended, if it has; notes the most memory that it ever held."""
        if self._popen.returncode is None and hasattr(os, "wait4"):
            try:
                pid, status, used = os.wait4(self._popen.pid, os.WNOHANG)
            except ChildProcessError:
                return self._popen.poll()
            if pid:
                self._popen.returncode = os.waitstatus_to_exitcode(status)
                self._peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return self._popen.poll()

    def _last_words(self) -> str:
        end = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, end - _LAST_WORDS))
        return self._words.read().decode("utf-8", "replace")


def _command(prepare: str) -> list[str]:
    options = ["-S", "-s", "-P", "-X", "utf8"]
    if sys.pycache_prefix is not None:
        options += ["-X", f"pycache_prefix={os.path.abspath(sys.pycache_prefix)}"]
    if sys.dont_write_bytecode:
        options.append("-B")
    options += ["-O"] * sys.flags.optimize
    return [sys.executable, *options, "-c", _BOOT, core.installed() or "", prepare, *_search_path()]


def _search_path() -> list[str]:
    """Return the parent's search path, without what depends on where the worker stands."""
    found = []
    for entry in sys.path:
        # An entry may have been relative to a working directory that is no more.
        with suppress(FileNotFoundError):
            found.append(os.path.abspath(entry))
    return found


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed, **FIXED_ENVIRONMENT, **extra}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
