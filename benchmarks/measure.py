"""Running contenders side by side: wall time, peak memory, medians.

Machines are noisy and get slower when they are warm, so the contenders of a case take turns, round
by round, and only figures of one run are ever compared.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Ran:
    """One finished run: seconds, peak resident bytes of the parent and of its largest worker."""

    seconds: float
    stdout: str
    stderr: str
    code: int
    parent_bytes: int = 0
    worker_bytes: int = 0

    def json(self) -> dict[str, object]:
        """Return the JSON document that was printed."""
        found = json.loads(self.stdout)
        assert isinstance(found, dict)
        return found


@dataclass
class Contender:
    """One side of a case.

    `prepare` makes the state the run starts from and is not timed. `run` does the work. `checks`
    look at what was done: a benchmark of the wrong thing is an error, not a figure. `seconds` takes
    the time out of a run that measures itself (the floor). `rounds` caps the number of runs.
    """

    name: str
    run: Callable[[], Ran]
    prepare: Callable[[], None] = lambda: None
    check: Callable[[Ran], None] = lambda _ran: None
    seconds: Callable[[Ran], float] = lambda ran: ran.seconds
    rounds: int | None = None


@dataclass
class Figures:
    """All runs of one contender."""

    name: str
    seconds: list[float] = field(default_factory=list)
    parent_bytes: int = 0
    worker_bytes: int = 0

    @property
    def median(self) -> float:
        """The middle of the runs."""
        return statistics.median(self.seconds)


def take_turns(contenders: Sequence[Contender], rounds: int) -> dict[str, Figures]:
    """Run every contender `rounds` times, in turns, and return the figures by name.

    Every other round goes backwards, so that nobody always runs behind the same neighbour.
    """
    figures = {each.name: Figures(each.name) for each in contenders}
    for number in range(rounds):
        order = contenders if number % 2 == 0 else tuple(reversed(contenders))
        for each in order:
            if each.rounds is not None and number >= each.rounds:
                continue
            each.prepare()
            ran = each.run()
            each.check(ran)
            mine = figures[each.name]
            mine.seconds.append(each.seconds(ran))
            mine.parent_bytes = max(mine.parent_bytes, ran.parent_bytes)
            mine.worker_bytes = max(mine.worker_bytes, ran.worker_bytes)
    return figures


def command(
    *words: str, cwd: str, env: Mapping[str, str] | None = None, memory: bool = False
) -> Callable[[], Ran]:
    """Return a run of one command; with `memory`, its peak memory is sampled from /proc."""

    def run() -> Ran:
        return execute(words, cwd=cwd, env=env, memory=memory)

    return run


def in_turn(runs: Sequence[Callable[[], Ran]]) -> Callable[[], Ran]:
    """Return a run that does one thing after another; its time is the sum."""

    def run() -> Ran:
        done = [each() for each in runs]
        return Ran(
            sum(each.seconds for each in done),
            "".join(each.stdout for each in done),
            "".join(each.stderr for each in done),
            max((each.code for each in done), default=0),
        )

    return run


def execute(
    words: Sequence[str], *, cwd: str, env: Mapping[str, str] | None = None, memory: bool = False
) -> Ran:
    """Run a command to its end and return what it did and cost."""
    watcher = _Watcher() if memory else None
    began = time.perf_counter()
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env=surroundings(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if watcher is not None:
        watcher.start(process.pid)
    stdout, stderr = process.communicate()
    seconds = time.perf_counter() - began
    parent, worker = watcher.stop() if watcher is not None else (0, 0)
    return Ran(seconds, stdout, stderr, process.returncode, parent, worker)


def surroundings(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment that holds no settings of the user's own."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    return env | dict(extra or {})


def succeeded(ran: Ran) -> None:
    """Raise RuntimeError unless the run ended well."""
    if ran.code != 0:
        raise RuntimeError(f"exit {ran.code}: {ran.stderr[-2000:] or ran.stdout[-2000:]}")


class _Watcher:
    """Samples the peak resident size of a process and of its descendants.

    The kernel keeps each peak (VmHWM), so a sample every 20 ms loses only the growth of a process's
    last 20 ms.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._peaks: dict[int, int] = {}
        self._pid = 0
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self, pid: int) -> None:
        self._pid = pid
        self._thread.start()

    def stop(self) -> tuple[int, int]:
        self._stop.set()
        self._thread.join()
        others = [peak for pid, peak in self._peaks.items() if pid != self._pid]
        return self._peaks.get(self._pid, 0), max(others, default=0)

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            for pid in _family(self._pid):
                peak = _peak(pid)
                if peak > self._peaks.get(pid, 0):
                    self._peaks[pid] = peak


def _family(pid: int) -> list[int]:
    found, queue = [], [pid]
    while queue:
        each = queue.pop()
        found.append(each)
        try:
            for thread in os.listdir(f"/proc/{each}/task"):
                with open(f"/proc/{each}/task/{thread}/children", encoding="ascii") as file:
                    queue.extend(int(child) for child in file.read().split())
        except OSError:
            continue  # it has ended, or this system has no /proc
    return found


def _peak(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
