"""The build that has nothing to do: answered from the state file and `stat`.

Nothing here parses a composition, opens the frame table or imports anything heavy. Every doubt
(no state, an unknown file, another fingerprint) is answered with None: then `build` looks at
everything.
"""

from __future__ import annotations

import os
import time
from typing import Any

from nfbuild.dataclasses import dataclass
from nfbuild.ops.run.state import State, read_state

CONFIGURATION = "nfbuild.toml"
LOCAL_CONFIGURATION = "nfbuild.local.toml"
STATE_FILE = "state.json"


@dataclass(frozen=True)
class NothingToDo:
    """A build in which every input still holds: the rows of the last one stand."""

    rows: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    totals: dict[str, Any]
    seconds: float


def state_path(cache: str, root: str) -> str:
    """Return where the state of the project at `root` is kept in `cache`.

    A cache inside the project belongs to it; one elsewhere may serve several checkouts, each of
    which has its own state.
    """
    inside = os.path.realpath(cache).startswith(os.path.realpath(root) + os.sep)
    if inside:
        return os.path.join(cache, STATE_FILE)
    from nfbuild.digests import file_digest  # noqa: PLC0415  not needed for the usual place

    name = file_digest(os.fsencode(os.path.realpath(root)))[:16]
    return os.path.join(cache, f"state-{name}.json")


def find_root(start: str) -> str | None:
    """Return the closest folder upwards of `start` that holds a configuration."""
    folder = os.path.abspath(start)
    if not os.path.isdir(folder):
        return None
    while True:
        if os.path.isfile(os.path.join(folder, CONFIGURATION)):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def nothing_to_do(start: str) -> NothingToDo | None:
    """Return the answer of a build of the whole project if nothing has moved since the last."""
    began = time.perf_counter()
    root = find_root(start)
    if root is None:
        return None
    cache = _cache_folder(root)
    if cache is None:
        return None
    state = read_state(state_path(cache, root))
    if state is None or not _holds(state):
        return None
    rows = [_reused(row) for row in state.rows.values()]
    totals = dict(state.totals)
    totals["rendered"] = 0
    totals["reused"] = totals["distinct"]
    totals["cache_lied"] = 0
    seconds = time.perf_counter() - began
    totals["seconds"] = round(seconds, 3)
    return NothingToDo(rows, state.warnings, totals, seconds)


def _cache_folder(root: str) -> str | None:
    """Return the cache folder when no configuration moves it; None where that must be parsed."""
    if os.environ.get("NFBUILD_CACHE_DIR"):
        return os.path.join(root, os.environ["NFBUILD_CACHE_DIR"])
    if os.path.exists(os.path.join(root, LOCAL_CONFIGURATION)):
        return _parsed_cache_folder(root)
    with open(os.path.join(root, CONFIGURATION), "rb") as file:
        text = file.read()
    if b"dir" in text:
        return _parsed_cache_folder(root)
    return os.path.join(root, "cache")


def _parsed_cache_folder(root: str) -> str | None:
    from nfbuild.errors import ProjectError  # noqa: PLC0415  the usual project has the usual cache
    from nfbuild.project import load  # noqa: PLC0415

    try:
        return load(root).cache.folder
    except ProjectError:
        return None


def _holds(state: State) -> bool:
    witnesses = state.witnesses
    if not state.holds(witnesses, _digest_of):
        return False
    if not state.exports:
        return True
    from nfbuild.export.scan import scan_fingerprint  # noqa: PLC0415  only where there are exports

    return all(
        scan_fingerprint(folder, name) == fingerprint for folder, name, fingerprint in state.exports
    )


def _digest_of(path: str) -> str:
    from nfbuild.digests import file_digest  # noqa: PLC0415  only for files as young as the state

    try:
        with open(path, "rb") as file:
            return file_digest(file.read())
    except OSError:
        return ""


def _reused(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "rendered": 0,
        "reused": row["distinct"],
        "written": False,
        "verdict": "match",
        "reasons": [],
        "seconds": 0.0,
    }
