"""Films beside drawing: a cold build that encodes, against drawing and encoding by themselves."""

from __future__ import annotations

import os
from functools import partial

from benchmarks import projects
from benchmarks.cases import Options, Setup, build, drew, drew_something, forget, nfbuild
from benchmarks.measure import Contender
from benchmarks.targets import AtMostSlower

FORMATS = ("apng", "webp", "mp4")
FACTOR = 1.25


def films(folder: str, options: Options) -> Setup:
    """900 frames at 1080p into films of three kinds, each in one round: encoding takes minutes."""
    project = os.path.join(folder, "film")
    projects.long_film(project)
    draw = Contender(
        "draw",
        nfbuild(project, "build", "--json"),
        prepare=partial(forget, project),
        check=drew_something,
        rounds=1,
    )
    contenders, targets = [draw], []
    for kind in FORMATS[: max(1, len(FORMATS) // options.shrink)]:
        run = nfbuild(project, "build", "--json", "--export", kind)
        contenders += [
            Contender(
                f"encode {kind}",
                run,
                prepare=partial(_keep_frames, project),
                check=drew(0),
                rounds=1,
            ),
            Contender(
                f"both {kind}",
                run,
                prepare=partial(forget, project),
                check=drew_something,
                rounds=1,
            ),
        ]
        targets.append(AtMostSlower(f"both {kind}", FACTOR, ("draw", f"encode {kind}")))
    return Setup(contenders, targets)


def _keep_frames(project: str) -> None:
    forget(project, "out")
    build(project)
