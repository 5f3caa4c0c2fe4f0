"""How time and memory grow: with frames, with elements, with the size of a canvas."""

from __future__ import annotations

import os
from functools import partial

from benchmarks import projects
from benchmarks.cases import Options, Setup, copy_examples, drew_something, forget, nfbuild
from benchmarks.measure import Contender
from benchmarks.targets import AtMost, GrowsBy, Memory

PARENT_MEGABYTES = 150
WORKER_MEGABYTES = 120
"""Besides three canvases."""


def growth(folder: str, options: Options) -> Setup:
    """1,000, 10,000 and 100,000 distinct frames: time, and peak memory of parent and worker."""
    contenders = []
    for count in (1_000, 10_000, 100_000):
        project = os.path.join(folder, f"f{count}")
        projects.moving(project, count // options.shrink, 10, each=1_000 // options.shrink)
        contenders.append(
            Contender(
                f"{count} frames",
                nfbuild(project, "build", "--json", memory=True),
                prepare=partial(forget, project),
                check=drew_something,
                rounds=1,
            )
        )
    return Setup(
        contenders,
        [
            AtMost("10000 frames", 10.5, "1000 frames"),
            AtMost("100000 frames", 10.5, "10000 frames"),
            GrowsBy("10000 frames", "100000 frames", 90_000 // options.shrink, 400),
            Memory("100000 frames", PARENT_MEGABYTES),
            _worker("100000 frames", 320, 180),
        ],
    )


def elements(folder: str, options: Options) -> Setup:
    """10, 1,000 and 10,000 elements in a frame, fifty distinct frames."""
    contenders = []
    for count in (10, 1_000, 10_000):
        project = os.path.join(folder, f"e{count}")
        projects.moving(project, 50, max(3, count // options.shrink))
        contenders.append(
            Contender(
                f"{count} elements",
                nfbuild(project, "build", "--json", memory=True),
                prepare=partial(forget, project),
                check=drew_something,
            )
        )
    return Setup(contenders, [])


def canvas(folder: str, options: Options) -> Setup:
    """Peak memory at 1080p: text, pictures and layers (`master-demo`), and what stands still."""
    project, _theirs, _names = copy_examples(folder)
    standing = os.path.join(folder, "overlays")
    projects.overlays(standing)
    contenders = [
        Contender(
            name,
            nfbuild(where, "build", "--json", *more, memory=True),
            prepare=partial(forget, where),
            check=drew_something,
            rounds=options.peer_rounds,
        )
        for name, where, more in (
            ("1080p", project, ("--scale", "2", "master-demo")),
            ("16 overlays", standing, ()),
        )
    ]
    goals = [Memory("1080p", PARENT_MEGABYTES), _worker("1080p", 1920, 1080)]
    return Setup(contenders, [*goals, _worker("16 overlays", 1920, 1080)])


def _worker(who: str, width: int, height: int) -> Memory:
    return Memory(who, WORKER_MEGABYTES + 3 * width * height * 4 / 1e6, worker=True)
