"""Exports one film again and again, each time with other frames, until it is killed.

Arguments: folder, format, how many rounds (0: for ever). Prints `round N` before each round, and
an error's message to stderr with exit code 3.
"""

from __future__ import annotations

import itertools
import sys

from export_frames import Frames, numbered

from nfbuild.errors import NfbuildError, Place
from nfbuild.export.make import export
from nfbuild.export.plan import ExportPlan, Subject, resolve
from nfbuild.project.values import Export

SIZE = (96, 54)
COUNT = 24


def film(folder: str, kind: str, turn: int) -> tuple[ExportPlan, Frames]:
    """Return the film of a turn; every second one is the same."""
    shades = [(i + 3 * (turn % 2)) % 6 for i in range(COUNT)]
    rasters = [numbered(SIZE, shade, alpha=True) for shade in range(6)]
    frames = Frames(f"{folder}/cache/blobs", rasters, shades, SIZE)
    to = "out/{name}/{number:03d}.png" if kind == "png" else f"out/{{name}}/film.{kind}"
    choice = Export("*", kind, to, Place("nfbuild.toml", 2))  # type: ignore[arg-type]
    subject = Subject("film", *SIZE, frames.rate, frames.count, {})
    return resolve(choice, subject, folder), frames


def main() -> None:
    folder, kind, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    for turn in itertools.count() if rounds == 0 else range(rounds):
        print(f"round {turn}", flush=True)
        plan, frames = film(folder, kind, turn)
        try:
            export(plan, frames, f"{folder}/cache/exports/film.json")
        except NfbuildError as error:
            print(error.message, file=sys.stderr)
            sys.exit(3)


if __name__ == "__main__":
    main()
