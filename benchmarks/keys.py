"""What baking and keying a frame costs: after an edit, before anything is drawn.

    python -m benchmarks.keys [--rounds N]

Microseconds of processor time a frame, the median of the rounds: for the peer's `master-demo` with
its five animations, and for the same composition with further animated elements.
Loading after the edit is printed beside it. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import tempfile
import time
from fractions import Fraction
from statistics import median

from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import Questions
from nfbuild.ops.run.session import Settings, open_session
from nfbuild.project import Listed

FRAME_MICROSECONDS = 80.0
ELEMENT_MICROSECONDS = 8.0
FURTHER = (10, 50, 200)
_PATH = "compositions/master-demo.nf.svg"
_TOML = """[fonts]
faces = ["package:nanoframes/fonts/Sarasa Mono SC.ttf"]
"""


def further(text: str, count: int) -> str:
    """Return the composition with `count` more rectangles that each move all the time."""
    shapes = "".join(
        f'<rect id="more-{n}" x="{n}" y="{n % 50}" width="9" height="9" fill="#336699"/>'
        for n in range(count)
    )
    moves = ",".join(
        f'{{"target": "#more-{n}", "keyframes": [{{"t": 0, "transform": {{"translate": [0, 0]}}}}, '
        f'{{"t": 9, "transform": {{"translate": [{n + 300}, 90]}}, "ease": "ease-in-out"}}]}}'
        for n in range(count)
    )
    at = text.rindex("<script")
    text = text[:at] + shapes + text[at:]
    start = text.index("[", text.index('"animations"')) + 1
    return text[:start] + moves + ("," if count else "") + text[start:]


def measured(project: str, text: str, number: int) -> tuple[float, float, int]:
    """Return microseconds for loading, and for each frame, after an edit; and the frames."""
    edited = text.replace("</svg>", f'<rect width="{number}" height="1"/></svg>')
    with open(os.path.join(project, _PATH), "w", encoding="utf-8") as file:
        file.write(edited)
    with open_session(project, Settings(observe=True, jobs=1)) as session:
        _ = session.toolchain, session.faces, session.answers
        began = time.process_time()
        film: Film = load_film(session, 0, Listed("master-demo", _PATH), Fraction(1))
        if film.error is not None:
            raise film.error
        loaded = time.process_time()
        ask(session, film, Questions(), range(film.scene.frames))
        done = time.process_time()
        frames = film.scene.frames
    return (loaded - began) * 1e6, (done - loaded) * 1e6 / frames, frames


def main() -> int:
    """Measure, print and judge; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.keys", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    spec = importlib.util.find_spec("nanoframes")
    if spec is None or spec.submodule_search_locations is None:
        parser.error("the peer `nanoframes` is not installed: its example is what is measured")
    examples = os.path.join(spec.submodule_search_locations[0], "examples")
    with open(os.path.join(examples, "master-demo.nf.svg"), encoding="utf-8") as file:
        plain = file.read()

    project = tempfile.mkdtemp(prefix="nfbuild-keys-")
    try:
        shutil.copytree(examples, os.path.join(project, "compositions"))
        with open(os.path.join(project, "nfbuild.toml"), "w", encoding="utf-8") as file:
            file.write(_TOML)
        measured(project, plain, 0)  # imports and caches of the interpreter are nobody's frame
        found: dict[int, list[tuple[float, float, int]]] = {}
        for number in range(rounds):
            for count in (0, *FURTHER):
                found.setdefault(count, []).append(
                    measured(project, further(plain, count), number + 1)
                )
    finally:
        shutil.rmtree(project, ignore_errors=True)

    frames = {count: median(one[1] for one in each) for count, each in found.items()}
    good = frames[0] <= FRAME_MICROSECONDS
    print(f"{'elements more':>14} {'load, us':>10} {'frame, us':>10} {'of':>7}")
    for count, each in found.items():
        limit = FRAME_MICROSECONDS + ELEMENT_MICROSECONDS * count
        load = median(one[0] for one in each)
        print(f"{count:14} {load:10.0f} {frames[count]:10.1f} {limit:7.0f}")
        good = good and frames[count] <= limit
    last = FURTHER[-1]
    slope = (frames[last] - frames[0]) / last
    good = good and slope <= ELEMENT_MICROSECONDS
    print(f"each further animated element: {slope:.2f} us of {ELEMENT_MICROSECONDS:g}")
    print("met" if good else "missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
