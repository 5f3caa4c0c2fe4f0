"""The build graph of a project of 100,000 frames: made, written, read, and how much memory.

    python -m benchmarks.graph [--frames 100000] [--films 100] [--json FILE]

Every frame is another one, the worst there is. Exits with 1 when making and writing take 2 s or
more of processor time, or the process more than 200 MB at its peak. What stands for films and
questions are the real ones, filled without drawing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from nfbuild.digests import FrameDigest, FrameKey, InputDigest, SceneKey, derive
from nfbuild.identity.manifest import Identity
from nfbuild.ops.frames.films import Film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.graph import text as graph_text
from nfbuild.ops.graph.make import graph_of
from nfbuild.ops.graph.model import frames_of
from nfbuild.project import Listed

TARGET_SECONDS = 2.0
TARGET_BYTES = 200 * 1000 * 1000
_CONTEXT = "nfbuild 2026 benchmark graph v1"


@dataclass
class Synthetic:
    """What a graph is made of, for a project that was never drawn."""

    films: list[Film]
    questions: Questions = field(default_factory=Questions)
    session: Any = None


def synthetic(frames: int, films: int) -> Synthetic:
    """Return films that share no frame, all answered."""
    made = Synthetic([])
    each = frames // films
    for index in range(films):
        listed = Listed(f"film-{index:04d}", f"compositions/film-{index:04d}.nf.svg")
        film = Film(index, listed)
        film.identity = Identity.of(
            source={"#all": derive(_CONTEXT, "source", index)},
            media={},
            fonts={"Some Face": derive(_CONTEXT, "face")},
            toolchain={"libthorvg": derive(_CONTEXT, "library")},
        )
        film.composition = SimpleNamespace(rate=Fraction(60), frames=each)
        film.width, film.height = 1920, 1080
        film.used = {f"/project/{listed.path}": None}
        film.wanted = range(each)
        for number in range(each):
            key = derive(_CONTEXT, "key", index, number)
            asked = made.questions.ask(FrameKey(key), SceneKey(key), index, number)
            digest = FrameDigest(derive(_CONTEXT, "digest", index, number))
            made.questions.answer(asked, digest, State.DRAWN)
            film.frames.append(asked)
        made.films.append(film)
    witness = SimpleNamespace(digest=InputDigest(derive(_CONTEXT, "file")))
    made.session = SimpleNamespace(
        project=SimpleNamespace(relative=lambda path: path.removeprefix("/project/")),
        files=SimpleNamespace(witness=lambda _path: witness),
    )
    return made


def measure(frames: int, films: int, folder: str) -> dict[str, Any]:
    """Make, write and read the graph; returns seconds and bytes."""
    project = synthetic(frames, films)
    path = os.path.join(folder, "graph.txt")
    before = _peak()
    began, wall = time.process_time(), time.perf_counter()
    graph_text.save(graph_of(project.session, project.films, project.questions), path)
    written, wall = time.process_time() - began, time.perf_counter() - wall
    peak = _peak()
    began = time.process_time()
    read = graph_text.load(path)
    seconds = time.process_time() - began
    return {
        "frames": len(read.frames),
        "films": len(read.compositions),
        "runs": sum(len(frames_of(read, film.name)) for film in project.films[:3]),
        "bytes": os.path.getsize(path),
        "write_seconds": round(written, 3),
        "write_wall_seconds": round(wall, 3),
        "read_seconds": round(seconds, 3),
        "peak_before": before,
        "peak_bytes": peak,
    }


def _peak() -> int:
    if os.path.exists("/proc/self/status"):
        # `ru_maxrss` also remembers the process that started this one.
        with open("/proc/self/status", encoding="ascii") as file:
            line = next(line for line in file if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> int:
    """Measure and judge; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graph", description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--films", type=int, default=100)
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(asked.frames, asked.films, folder)
    for name, value in found.items():
        print(f"{name} {value:,}")
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
    passed = found["write_seconds"] < TARGET_SECONDS and found["peak_bytes"] < TARGET_BYTES
    print("passed" if passed else "MISSED: 2 s and 200 MB")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
