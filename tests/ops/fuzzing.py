"""Damaged compositions, many in one build: cut off, with bits flipped, nested another way.

A seed and a number make a variant, always the same. What must hold is `judged`: nothing but
workers may die, and every variant ends in frames or in one clear message, within its deadline.
"""

from __future__ import annotations

import copy
import io
import json
import random
import shutil
import time
import xml.etree.ElementTree as ET
from pathlib import Path

from lottie_scenes import SCRIPTED, moving

from nfbuild.dataclasses import dataclass, field
from nfbuild.ops.build import build
from nfbuild.ops.run.options import read_options
from nfbuild.ops.run.session import open_session

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
KINDS = ("cut", "flip", "nest")
DEADLINE = 1
"""Seconds of processor time that one frame may take."""

CONFIGURATION = f"""
[project]
compositions = ["variants/*/target.nf.svg", "variants/*/target.json"]

[limits]
frames = 300
canvas_pixels = 4000000
worker_memory = "1 GB"
frame_deadline = "{DEADLINE} s"
"""


@dataclass(frozen=True)
class Case:
    """A composition with the files beside it, and which of them is to be damaged."""

    target: str
    victim: str
    files: dict[str, bytes] = field(repr=False)


@dataclass
class Tally:
    """What became of the variants."""

    frames: int = 0
    refused: int = 0
    deaths: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)

    @property
    def variants(self) -> int:
        """How many were built."""
        return self.frames + self.refused


def cases():
    """Return every file of the corpus as a victim, each with a composition that draws it."""
    found = []
    for folder in sorted(path for path in CORPUS.iterdir() if path.is_dir()):
        files = {
            path.name: path.read_bytes()
            for path in sorted(folder.iterdir())
            if path.is_file() and not path.name.endswith(".txt")
        }
        compositions = [name for name in files if name.endswith(".nf.svg")]
        for name in files:
            users = [name] if name in compositions else []
            mark = name.replace(" ", "%20").encode()
            users += [c for c in compositions if c != name and mark in files[c]]
            found += [Case(user, name, files) for user in users[:2]]
    scenes = {**SCRIPTED, "moving": moving()}
    found += [Case(f"{n}.json", f"{n}.json", {f"{n}.json": d}) for n, d in scenes.items()]
    return found


# --- damage ---------------------------------------------------------------------------------------


def damaged(kind: str, data: bytes, rng: random.Random, name: str) -> bytes:
    """Return one variant of a file."""
    if kind == "cut":
        return data[: rng.randrange(len(data) + 1)]
    if kind == "flip":
        broken = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        return bytes(broken)
    if name.endswith(".svg"):
        return _nested_svg(data, rng)
    if name.endswith(".json"):
        return _nested_json(data, rng)
    at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:at] + data[at:to] * rng.choice((0, 2, 3)) + data[to:]


def _nested_svg(data: bytes, rng: random.Random) -> bytes:
    """Move, copy or wrap elements: what stands in what is the author's no longer."""
    try:
        root = ET.fromstring(data)
    except ET.ParseError:
        return data[len(data) // 2 :] + data[: len(data) // 2]
    for _ in range(rng.randrange(1, 4)):
        parents = {child: parent for parent in root.iter() for child in parent}
        if not parents:
            break
        moved = rng.choice(list(parents))
        inside = set(moved.iter())
        targets = [one for one in root.iter() if one not in inside]
        target = rng.choice(targets)
        how = rng.randrange(4)
        if how == 0:
            parents[moved].remove(moved)
            target.insert(rng.randrange(len(target) + 1), moved)
        elif how == 1:
            target.append(copy.deepcopy(moved))
        elif how == 2:
            for _ in range(rng.choice((2, 50, 250))):
                at = list(parents[moved]).index(moved)
                shell = ET.Element(rng.choice((moved.tag, target.tag, root.tag)))
                parents[moved][at] = shell
                shell.append(moved)
                parents[moved] = shell
        else:
            for child in list(moved):
                moved.remove(child)
                parents[moved].append(child)
    file = io.BytesIO()
    ET.ElementTree(root).write(file)
    return file.getvalue()


def _nested_json(data: bytes, rng: random.Random) -> bytes:
    scene = json.loads(data)
    for _ in range(rng.randrange(1, 4)):
        holders: list[tuple[object, object]] = []
        _walk(scene, holders)
        holder, key = rng.choice(holders)
        other, place = rng.choice(holders)
        value = json.loads(json.dumps(holder[key]))
        if rng.randrange(3) == 0:
            for _ in range(rng.choice((1, 9, 80))):
                value = [value] if rng.randrange(2) else {"k": value, "ty": "gr", "it": [value]}
                if len(json.dumps(value)) > 100_000:
                    break
        # Written and read: one object in two places would unfold without end in the next round.
        other[place] = json.loads(json.dumps(value))
    return json.dumps(scene).encode()


def _walk(value, holders):
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, held in list(pairs):
        holders.append((value, key))
        if isinstance(held, (dict, list)):
            _walk(held, holders)


# --- building -------------------------------------------------------------------------------------


def variant(found, seed: int, number: int):
    """Return variant `number`: what it is called, and its files, `target` among them."""
    rng = random.Random(f"{seed} {number}")
    case = found[number % len(found)]
    kind = KINDS[number // len(found) % len(KINDS)]
    files = dict(case.files)
    files[case.victim] = damaged(kind, files[case.victim], rng, case.victim)
    suffix = ".json" if case.target.endswith(".json") else ".nf.svg"
    files[f"target{suffix}"] = files[case.target]
    return f"{number}: {kind} {case.victim} for {case.target}", files


def run(folder: Path, seed: int, numbers, *, jobs: int = 2) -> Tally:
    """Build the variants `numbers` in one project below `folder`, and judge what came of them."""
    root = folder / "project"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    (root / "nfbuild.toml").write_text(CONFIGURATION)
    found = cases()
    names: dict[str, str] = {}
    for number in numbers:
        name, files = variant(found, seed, number)
        place = root / "variants" / f"{number:05d}"
        place.mkdir(parents=True)
        for file, data in files.items():
            (place / file).write_bytes(data)
        names[f"{number:05d}/target"] = name
    options, settings = read_options([], str(root), jobs=jobs, record=True)
    began = time.monotonic()
    with open_session(str(root), settings) as session:
        running = build(session, options)
        while True:
            try:
                next(running)
            except StopIteration as done:
                report = done.value
                break
    tally = judged(report, names)
    tally.seconds = time.monotonic() - began
    return tally


def judged(report, names: dict[str, str]) -> Tally:
    """Return what became of every variant; `faults` names each that broke a rule."""
    tally = Tally()
    errors: dict[str, list[object]] = {}
    for error in report.errors:
        errors.setdefault(error.composition, []).append(error)
    rows = {row.name: row for row in report.rows}
    for name, shown in names.items():
        row, told = rows.get(name), errors.get(name, [])
        if row is None:
            tally.faults.append(f"{shown}: no row")
        elif row.verdict == "failed":
            tally.refused += 1
            tally.deaths += any(_killed(error) for error in told)
            _judge_errors(tally, shown, told)
        else:
            tally.frames += 1
            if told or not row.digest:
                tally.faults.append(f"{shown}: drawn and refused")
            tally.slowest = max(tally.slowest, row.seconds / row.frames)
            if row.seconds > DEADLINE * row.frames:
                tally.faults.append(f"{shown}: {row.frames} frames took {row.seconds:.1f} s")
    for name in sorted(set(errors) - set(names)):
        tally.faults.append(f"an error of nothing: {errors[name][0]}")
    return tally


def _killed(error) -> bool:
    return error.code in ("draw.signal", "draw.processor-time", "draw.memory", "draw.exit")


def _judge_errors(tally: Tally, shown: str, told) -> None:
    if len(told) != 1:
        tally.faults.append(f"{shown}: {len(told)} messages")
    for error in told:
        if not error.message or not error.file or "\n" in error.message:
            tally.faults.append(f"{shown}: unclear: {error}")
        if error.code in ("draw.internal", "draw.undeclared", "draw.exit"):
            tally.faults.append(f"{shown}: a fault of the program: {error.message}")
