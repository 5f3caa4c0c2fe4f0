"""One build of a proof, in a process of its own: `python -m nfbuild.ops.reproduce.one TASK`.

Reads what to do from a JSON file, takes the surroundings on that only a process can set for itself
(umask, open files, niceness, locale, working directory), builds as `nfbuild build` does, and
leaves the report and a list of the frames' blobs beside the task.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import locale
import os
import sys
import time
from typing import Any

from nfbuild.digests import FrameDigest
from nfbuild.errors import NfbuildError
from nfbuild.ops.build import build
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.graph.text import load
from nfbuild.ops.run.options import BuildOptions
from nfbuild.ops.run.session import WORKER, Settings, open_session


def main(path: str) -> int:
    """Do what the task at `path` says; returns the exit code of the build."""
    with open(path, encoding="utf-8") as file:
        task = json.load(file)
    _take_on(task)
    if task["prelude"]:
        # Tests plant a fault here; a proof has none.
        module, _, function = task["prelude"].partition(":")
        getattr(importlib.import_module(module), function)()
    try:
        result = _build(task)
    except NfbuildError as error:
        result = {"exit": error.exit_code, "report": None, "error": str(error)}
    with open(task["result"], "w", encoding="utf-8") as file:
        json.dump(result, file)
    return int(result["exit"])


def _take_on(task: dict[str, Any]) -> None:
    os.umask(task["umask"])
    if task["open_files"] and sys.platform != "win32":
        import resource  # noqa: PLC0415  not everywhere

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (task["open_files"], hard))
    if hasattr(os, "nice"):
        os.nice(task["nice"])
    with contextlib.suppress(locale.Error):  # not installed here: the variables are still set
        locale.setlocale(locale.LC_ALL, "")
    if hasattr(time, "tzset"):
        time.tzset()
    os.chdir(task["folder"])


def _build(task: dict[str, Any]) -> dict[str, Any]:
    settings = Settings(
        jobs=task["jobs"],
        keep_rasters=task["reuse"],
        on_ground=task["reuse"],
        shuffle=task["order"],
        target=task["target"] or WORKER,
        audited=not task["target"],
        environment=task["worker_environment"],
    )
    options = BuildOptions(
        names=tuple(task["names"]), start=task["root"], graph=task["graph"], use_state=False
    )
    with open_session(task["root"], settings) as session:
        running = build(session, options)
        while True:
            try:
                next(running)
            except StopIteration as done:
                report = done.value
                break
    return {
        "exit": report.exit_code,
        "report": report.to_json(),
        "blobs": _blobs(task),
        "error": None,
    }


def _blobs(task: dict[str, Any]) -> dict[str, str]:
    """Return which blob shows which frame digest, for who must look at a frame that differs."""
    found: dict[str, str] = {}
    try:
        graph = load(task["graph"])
    except NfbuildError:
        return found  # a planted fault may leave no graph to read
    with open_session(task["root"], Settings(observe=True)) as session:
        recall = Recall(session)
        for frame in graph.frames:
            path = recall.png_path(FrameDigest(frame.digest))
            if path is not None:
                found[frame.digest] = os.path.relpath(path, task["cache"])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
