"""The two projects that the proof runs over: this one, and the peer's twelve examples."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

from nfbuild.ops.reproduce.proof import Compared, ReproduceReport, reproduce
from nfbuild.ops.reproduce.trial import ReproduceOptions
from nfbuild.ops.run.session import Settings, open_session

ROOT = Path(__file__).resolve().parents[2]

PEER = """[project]
compositions = ["**/*.nf.svg"]

[fonts]
faces = ["package:nanoframes/fonts/Sarasa Mono SC.ttf"]

[[export]]
composition = "*"
format = "png"
to = "out/{name}/{number:05d}.png"
"""


def peer_examples(folder: Path) -> Path:
    """Copy the peer's examples into a project in `folder`, which must not exist."""
    with as_file(files("nanoframes") / "examples") as examples:
        shutil.copytree(examples, folder)
    (folder / "nfbuild.toml").write_text(PEER, encoding="utf-8")
    return folder


def prove(
    root: Path, options: ReproduceOptions, told: Callable[[Compared], None] | None = None
) -> ReproduceReport:
    """Run a proof to its end; `told` hears of each build."""
    with open_session(str(root), Settings(observe=True)) as session:
        running = reproduce(session, options)
        while True:
            try:
                event = next(running)
            except StopIteration as done:
                return done.value
            if told is not None and isinstance(event, Compared):
                told(event)
