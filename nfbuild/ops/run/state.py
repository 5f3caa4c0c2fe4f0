"""What the last good build relied on, so that a build with nothing to do costs a few `stat` calls.

The state is one compact JSON file in the cache. It lists every file that was read or written, every
folder whose listing was used and every name that was looked for and not found, with what `stat`
said *when it was used*; and per composition which of these it rests on and the row it reported.

Trust follows git's racy rule. A file is vouched for by its (path, size, mtime, ctime, inode)
alone only if both times are older than the moment the run began, by the file system's own clock;
anything as young as that is read again and compared by digest. Where ctime is the time of creation
(Windows), stat proves nothing and everything is read again.

A state is only ever a shortcut: an unreadable, foreign or older one is no state.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from nfbuild import __version__
from nfbuild.dataclasses import dataclass, field

Stat: TypeAlias = "list[int]"
"""size, mtime_ns, ctime_ns, inode; an empty list for a name that does not exist."""

_FORMAT = "nfbuild.state/1"
# Coarse clocks tick every 1 to 10 ms; a little patience makes the state's files provably older.
_PATIENCE_SECONDS = 0.025


def stat_of(path: str) -> Stat:
    """Return what vouches for a file or folder, following links; empty when it is absent."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return []
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


@dataclass
class Witness:
    """One file, folder or missing name: what `stat` said, and its content's digest.

    `digest` is empty for folders and for what is vouched for by stat alone.
    """

    stat: Stat
    digest: str = ""


@dataclass
class State:
    """What a finished build relied on.

    `common` are the witnesses that every composition rests on (configuration, toolchain,
    folders); `compositions` maps a name to its own; `rows` to what it reported; `exports` are
    folder, file name pattern and fingerprint of what was exported. `began` is the file system's
    time at the run's start; `settled` are files that the run wrote and that were left alone until
    the clock had moved on.
    """

    began: int
    toolchain: str
    witnesses: dict[str, Witness] = field(default_factory=dict)
    common: list[str] = field(default_factory=list)
    compositions: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    exports: list[list[str]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    totals: dict[str, Any] = field(default_factory=dict)
    settled: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._settled = frozenset(self.settled)

    def holds(self, paths: Iterable[str], digest_of: Callable[[str], str]) -> bool:
        """Tell whether every witness among `paths` still says what it said."""
        return all(self._witness_holds(path, digest_of) for path in paths)

    def _witness_holds(self, path: str, digest_of: Callable[[str], str]) -> bool:
        witness = self.witnesses.get(path)
        if witness is None:
            return False
        now = stat_of(path)
        if now != witness.stat:
            return False
        if not now or (sys.platform != "win32" and now[1] < self.began and now[2] < self.began):
            return True
        if path in self._settled and sys.platform != "win32":
            return True
        # As young as the run that used it: it may have been written again within one tick.
        return bool(witness.digest) and digest_of(path) == witness.digest


def filesystem_now(folder: str) -> int:
    """Return the time of the file system under `folder`, in nanoseconds, by making a file.

    Raises OSError where nothing can be written.
    """
    from nfbuild.store.files import temporary_name  # noqa: PLC0415  not for a null build

    # What a killed build leaves of it is taken by the next collection.
    path = os.path.join(folder, temporary_name())
    with open(path, "xb") as file:
        stamp = os.fstat(file.fileno()).st_mtime_ns
    os.unlink(path)
    return stamp


def wait_past(folder: str, youngest: int) -> None:
    """Wait, briefly, until the file system's clock has moved past `youngest`."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while filesystem_now(folder) <= youngest and time.monotonic() < deadline:
        time.sleep(0.001)


def read_state(path: str) -> State | None:
    """Return the state at `path`, or None when there is none that this version wrote."""
    try:
        with open(path, "rb") as file:
            raw = json.loads(file.read())
    except (OSError, ValueError):
        return None
    if not isinstance(raw, dict) or raw.get("format") != _FORMAT or raw.get("by") != __version__:
        return None
    try:
        return _parse(raw)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _parse(raw: Mapping[str, Any]) -> State:
    # Paths stand once, in the table; lists name them by their position.
    paths: list[str] = [row[0] for row in raw["witnesses"]]
    state = State(
        began=int(raw["began"]),
        toolchain=str(raw["toolchain"]),
        settled=[paths[i] for i in raw["settled"]],
    )
    for row in raw["witnesses"]:
        state.witnesses[row[0]] = Witness(row[2:], row[1])
    state.common = [paths[i] for i in raw["common"]]
    state.compositions = {
        name: [paths[i] for i in positions] for name, positions in raw["compositions"].items()
    }
    state.rows = dict(raw["rows"])
    state.exports = [list(row) for row in raw["exports"]]
    state.warnings = list(raw["warnings"])
    state.totals = dict(raw["totals"])
    return state


def write_state(path: str, state: State) -> None:
    """Write the state beside its place and rename it there; raises OSError."""
    from nfbuild.store.files import PRIVATE, write_file  # noqa: PLC0415  not for a null build

    position = {name: i for i, name in enumerate(state.witnesses)}
    raw = {
        "format": _FORMAT,
        "by": __version__,
        "began": state.began,
        "toolchain": state.toolchain,
        "witnesses": [[name, w.digest, *w.stat] for name, w in state.witnesses.items()],
        "common": [position[name] for name in state.common],
        "compositions": {
            name: [position[p] for p in paths] for name, paths in state.compositions.items()
        },
        "rows": state.rows,
        "exports": state.exports,
        "warnings": state.warnings,
        "totals": state.totals,
        "settled": [position[name] for name in state.settled],
    }
    data = json.dumps(raw, separators=(",", ":")).encode("utf-8", "surrogatepass")
    # What a killed build leaves beside it is taken by the next collection.
    write_file(path, data, PRIVATE, bits=0o666)


def forget_state(path: str) -> None:
    """Remove the state: the next build looks at everything."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
