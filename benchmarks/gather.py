"""Bake a project's distinct frames into a folder, for the floor to draw.

    python -m benchmarks.gather PROJECT FOLDER [--scale F] [--frames A:B] [NAME...]

The folder gets the pictures and faces that the documents name (`staging/`) and `shots.pickle`.
Nothing of this is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import shutil
from fractions import Fraction

from benchmarks.floor import Shot
from nfbuild.ops.frames.films import Film, ask, bake, draw_task, load_film
from nfbuild.ops.frames.questions import Questions
from nfbuild.ops.run.session import Settings, open_session
from nfbuild.project import discover


def gather(project: str, folder: str, names: list[str], scale: Fraction, frames: str | None) -> int:
    """Bake the distinct frames of a project into `folder`; returns how many there are."""
    staging = os.path.join(folder, "staging")
    shots: list[Shot] = []
    with open_session(project, Settings(fresh=True)) as session:
        questions = Questions()
        films: list[Film] = []
        for listed in discover(session.project).compositions:
            if names and listed.name not in names:
                continue
            film = load_film(session, len(films), listed, scale)
            films.append(film)
            if film.error is not None:
                raise film.error
            first, last = 0, film.scene.frames - 1
            if frames is not None:
                first, last = (int(part) for part in frames.split(":"))
            ask(session, film, questions, range(first, last + 1))
        for number in range(len(questions)):
            index, frame = questions.asker(number)
            task = draw_task(session, films[index], bake(session, films[index], frame))
            if task.lottie is not None:
                raise RuntimeError("the floor draws documents, no Lottie scenes")
            shots.append(Shot(task.document, task.width, task.height, tuple(task.faces)))
        shutil.copytree(session.staging.folder, staging)
    with open(os.path.join(folder, "shots.pickle"), "wb") as file:
        pickle.dump([tuple(shot) for shot in shots], file)
    return len(shots)


def main() -> None:
    """Read the command line, bake, and print how many distinct frames there are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gather")
    parser.add_argument("project")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--scale", type=Fraction, default=Fraction(1))
    parser.add_argument("--frames", metavar="A:B")
    asked = parser.parse_intermixed_args()
    os.makedirs(asked.folder, exist_ok=True)
    count = gather(asked.project, asked.folder, asked.names, asked.scale, asked.frames)
    print(json.dumps({"frames": count}))


if __name__ == "__main__":
    main()
