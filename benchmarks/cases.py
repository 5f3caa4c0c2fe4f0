"""The cases: what runs against what, from which state, and which targets judge it.

A case builds its projects in a folder of its own and returns contenders and targets. Every
contender checks what it did (how many frames were drawn), so that no figure is of the wrong work.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks import projects
from benchmarks.measure import Contender, Ran, command, execute, in_turn, succeeded
from benchmarks.targets import AtMost, Faster, Target, Within

NFBUILD = os.path.join(os.path.dirname(sys.executable), "nfbuild")
PEER = os.path.join(os.path.dirname(sys.executable), "nanoframes")
STATE = ("cache", "out", "ledger")


@dataclass(frozen=True)
class Options:
    """How large a run is: `shrink` divides sizes, `peer_rounds` caps the slow contender."""

    shrink: int = 1
    peer_rounds: int = 1


@dataclass(frozen=True)
class Setup:
    """A case ready to run."""

    contenders: Sequence[Contender]
    targets: Sequence[Target]


@dataclass(frozen=True)
class Case:
    """A case by name, and what it is about."""

    name: str
    title: str
    make: Callable[[str, Options], Setup]


def forget(project: str, *names: str) -> None:
    """Remove what earlier runs have left."""
    for name in names or STATE:
        shutil.rmtree(os.path.join(project, name), ignore_errors=True)


def nfbuild(project: str, *words: str, memory: bool = False) -> Callable[[], Ran]:
    """Return a run of nfbuild in a project."""
    return command(NFBUILD, *words, cwd=project, memory=memory)


def build(project: str, *words: str) -> dict[str, int]:
    """Build a project, untimed; returns the totals of its report."""
    ran = execute([NFBUILD, "build", "--json", *words], cwd=project)
    succeeded(ran)
    return totals(ran)


def totals(ran: Ran) -> dict[str, int]:
    """Return the totals of a report."""
    found = ran.json()["totals"]
    assert isinstance(found, dict)
    return found


def drew(low: int, high: int | None = None) -> Callable[[Ran], None]:
    """Return a check that so many frames were drawn."""

    def check(ran: Ran) -> None:
        succeeded(ran)
        rendered = totals(ran)["rendered"]
        if not low <= rendered <= (low if high is None else high):
            raise RuntimeError(f"drew {rendered} frames, and {low} to {high or low} were due")

    return check


def drew_something(ran: Ran) -> None:
    """Check that a build drew all of its distinct frames."""
    succeeded(ran)
    told = totals(ran)
    if not told["rendered"] == told["distinct"] > 0:
        raise RuntimeError(f"a cold build drew {told['rendered']} of {told['distinct']} frames")


def floor_of(project: str, folder: str, *words: str) -> Contender:
    """Return the floor for a project's distinct frames, gathered now."""
    base = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    gathering = [sys.executable, "-m", "benchmarks.gather", project, folder, *words]
    succeeded(execute(gathering, cwd=base))
    return Contender(
        "floor",
        command(sys.executable, "-m", "benchmarks.floor", folder, cwd=base),
        check=succeeded,
        seconds=lambda ran: float(json.loads(ran.stdout)["seconds"]),
    )


def typer_process(folder: str) -> Contender:
    """Return a process that imports Typer and ends."""
    run = command(sys.executable, "-c", "import typer", cwd=folder)
    return Contender("typer", run, check=succeeded)


def peer_env(folder: str) -> Mapping[str, str]:
    """Return surroundings in which the peer has no faces but its own."""
    home = os.path.join(folder, "peer-home")
    os.makedirs(home, exist_ok=True)
    return {"HOME": home}


def peer_render(folder: str, examples: str, names: list[str], *words: str) -> Callable[[], Ran]:
    """Return a run of the peer over its examples, one command a file, as it is used."""
    env = peer_env(folder)
    return in_turn(
        [
            command(PEER, "render", name, "-o", f"frames/{name}", *words, cwd=examples, env=env)
            for name in names
        ]
    )


def _forget_peer(examples: str) -> None:
    forget(examples, ".nanoframes-cache", "frames")


def copy_examples(folder: str, *, scale: int = 1) -> tuple[str, str, list[str]]:
    """Copy the peer's examples twice: returns our project, the peer's folder, and the names."""
    project, theirs = os.path.join(folder, "project"), os.path.join(folder, "theirs")
    names = projects.peer_examples(project, exports=projects.png_export(scale))
    projects.peer_examples(theirs, exports="")
    return project, os.path.join(theirs, "examples"), names


def cold(folder: str, options: Options) -> Setup:
    """Draw the twelve examples into PNG sequences, from nothing."""
    project, theirs, names = copy_examples(folder)
    return Setup(
        [
            Contender(
                "nfbuild",
                nfbuild(project, "build", "--json"),
                prepare=partial(forget, project),
                check=drew_something,
            ),
            floor_of(project, os.path.join(folder, "floor")),
            Contender(
                "peer",
                peer_render(folder, theirs, names),
                prepare=partial(_forget_peer, theirs),
                check=succeeded,
                rounds=options.peer_rounds,
            ),
        ],
        [Faster("nfbuild", 20, "peer"), AtMost("nfbuild", 1.3, "floor", 0.5)],
    )


def cold2(folder: str, options: Options) -> Setup:
    """`master-demo` at scale 2, which is 1080p, into a PNG sequence."""
    project, theirs, _names = copy_examples(folder)
    words = ("build", "--json", "--scale", "2", "master-demo")
    return Setup(
        [
            Contender(
                "nfbuild",
                nfbuild(project, *words),
                prepare=partial(forget, project),
                check=drew_something,
            ),
            floor_of(project, os.path.join(folder, "floor"), "--scale", "2", "master-demo"),
            Contender(
                "peer",
                peer_render(folder, theirs, ["master-demo.nf.svg"], "--dpi", "2"),
                prepare=partial(_forget_peer, theirs),
                check=succeeded,
                rounds=options.peer_rounds,
            ),
        ],
        [Faster("nfbuild", 15, "peer"), AtMost("nfbuild", 1.15, "floor", 0.4)],
    )


def null(folder: str, options: Options) -> Setup:
    """Nothing changed in the twelve examples."""
    project, theirs, names = copy_examples(folder)
    build(project)
    peer_render(folder, theirs, names)()
    return Setup(
        [
            Contender("nfbuild", nfbuild(project, "build", "--json"), check=drew(0)),
            typer_process(folder),
            Contender(
                "peer warm",
                peer_render(folder, theirs, names),
                check=succeeded,
                rounds=options.peer_rounds,
            ),
        ],
        [Faster("nfbuild", 150, "peer warm"), AtMost("nfbuild", 1.5, "typer")],
    )


def null_many(folder: str, options: Options) -> Setup:
    """Nothing changed in 100, 1,000 and 10,000 compositions of 100 frames."""
    contenders: list[Contender] = []
    for count in (100, 1_000, 10_000):
        size = max(1, count // options.shrink)
        plain = os.path.join(folder, f"n{count}")
        projects.many(plain, size, 100)
        build(plain)
        run = nfbuild(plain, "build", "--json")
        contenders.append(Contender(f"nfbuild {count}", run, check=drew(0)))
        edges = os.path.join(folder, f"ninja{count}")
        projects.ninja_file(edges, size)
        succeeded(execute(["ninja"], cwd=edges))
        contenders.append(Contender(f"ninja {count}", command("ninja", cwd=edges), check=succeeded))
    with_png = os.path.join(folder, "png")
    projects.many(with_png, 1_000 // options.shrink, 100, exports=projects.png_export())
    build(with_png)
    run = nfbuild(with_png, "build", "--json")
    contenders.append(Contender("nfbuild 1000 png", run, check=drew(0)))
    return Setup(
        contenders,
        [
            Within("nfbuild 1000", 0.6),
            Within("nfbuild 1000 png", 1.5),
            AtMost("nfbuild 10000", 10, "nfbuild 1000"),
        ],
    )


class _Edits:
    """Writes the long film again and again, each time with a keyframe nobody has seen."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.number = 0

    def __call__(self) -> None:
        self.number += 1
        projects.long_film(self.project, top=self.number * 3.0)


def edit(folder: str, _options: Options) -> Setup:
    """One keyframe of 900 frames at 1080p."""
    project = os.path.join(folder, "long")
    projects.long_film(project, top=1.5)
    floor = floor_of(project, os.path.join(folder, "floor"), "--frames", "300:330")
    projects.long_film(project)
    build(project)
    moved = Contender(
        "nfbuild",
        nfbuild(project, "build", "--json"),
        prepare=_Edits(project),
        check=drew(20, 30),
    )
    return Setup([moved, floor], [AtMost("nfbuild", 1.2, "floor", 0.45)])


class _Pictures:
    def __init__(self, project: str) -> None:
        self.project = project
        self.number = 40

    def __call__(self) -> None:
        self.number += 1
        projects.picture(self.project, 7, shade=self.number)


class _Face:
    """Puts another face file in the place of the configured one."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.number = 0
        spec = os.path.join(projects.package("font_source_sans_pro"), "files")
        self.faces = [
            os.path.join(spec, f"SourceSansPro-{name}.ttf")
            for name in ("Regular", "Semibold", "Bold", "Light", "Black", "ExtraLight")
        ]

    def __call__(self) -> None:
        target = os.path.join(self.project, "face.ttf")
        shutil.copyfile(self.faces[self.number % len(self.faces)], target)
        self.number += 1


def edits(folder: str, _options: Options) -> Setup:
    """One picture in a parent of twenty nested children; one face of a title card."""
    family, card = os.path.join(folder, "family"), os.path.join(folder, "card")
    projects.family(family)
    build(family)
    projects.titles(card)
    swap = _Face(card)
    swap()
    build(card)

    def another_face() -> None:
        # Every face that was drawn once is in the cache: each round starts without it.
        forget(card)
        build(card)
        swap()

    return Setup(
        [
            Contender(
                "one picture of 20",
                nfbuild(family, "build", "--json"),
                prepare=_Pictures(family),
                check=drew(1, 90),
            ),
            Contender(
                "one face",
                nfbuild(card, "build", "--json"),
                prepare=another_face,
                check=drew(1, 90),
            ),
            typer_process(folder),
        ],
        [],
    )


def verify(folder: str, options: Options) -> Setup:
    """Run the gate over the twelve examples."""
    project, theirs, _names = copy_examples(folder)
    build(project)
    env = peer_env(folder)
    words = (PEER, "digest", "--all", "--examples", "*.nf.svg", "--ledger", "ledger.json")
    succeeded(execute([*words, "--record"], cwd=theirs, env=env))
    return Setup(
        [
            Contender("nfbuild", nfbuild(project, "verify"), check=succeeded),
            Contender(
                "peer",
                command(*words, "--check", cwd=theirs, env=env),
                check=succeeded,
                rounds=options.peer_rounds,
            ),
        ],
        [Faster("nfbuild", 5, "peer")],
    )


def questions(folder: str, _options: Options) -> Setup:
    """`status`, `explain` and `digest`, before and after an edit, on the long film."""
    project = os.path.join(folder, "long")
    projects.long_film(project)
    build(project)
    edited = os.path.join(folder, "edited")
    shutil.copytree(project, edited)
    projects.long_film(edited, top=9.0)
    return Setup(
        [
            Contender("status", nfbuild(project, "status", "--json"), check=succeeded),
            Contender("status, edited", nfbuild(edited, "status", "--json"), check=succeeded),
            Contender("explain, edited", nfbuild(edited, "explain", "long"), check=succeeded),
            Contender("digest", nfbuild(project, "digest", "long", "--json"), check=succeeded),
            typer_process(folder),
        ],
        [],
    )


def shared(folder: str, _options: Options) -> Setup:
    """900 frames at 1080p out of a directory tier, against `cp` of the same blobs.

    `hits` is what a tier costs; `nfbuild` is the build around it, which also starts and bakes.
    """
    project, tier = os.path.join(folder, "long"), os.path.join(folder, "tier")
    config = f'{projects.FACES}[[cache.shared]]\nurl = "file://{tier}"\nmode = "read-write"\n'
    projects.write(project, "nfbuild.toml", config)
    projects.long_film(project)
    build(project)
    blobs = os.path.join(tier, "blobs") if os.path.isdir(os.path.join(tier, "blobs")) else tier
    copy, cold = os.path.join(folder, "copy"), os.path.join(folder, "cold")
    base = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return Setup(
        [
            Contender(
                "nfbuild",
                nfbuild(project, "build", "--json"),
                prepare=partial(forget, project, "cache"),
                # Before an entry rests on shared answers one seeded frame is drawn again.
                check=drew(0, 1),
            ),
            Contender(
                "hits",
                command(sys.executable, "-m", "benchmarks.hits", cold, tier, cwd=base),
                prepare=partial(forget, folder, "cold"),
                check=succeeded,
            ),
            Contender(
                "cp",
                command("cp", "-r", blobs, copy, cwd=folder),
                prepare=partial(forget, folder, "copy"),
                check=succeeded,
            ),
        ],
        [AtMost("hits", 2, "cp", 0.5)],
    )


CASES = (
    Case("cold", "twelve examples, cold, scale 1", cold),
    Case("cold2", "`master-demo`, cold, scale 2", cold2),
    Case("null", "nothing changed, twelve examples", null),
    Case("null-many", "nothing changed, many compositions of 100 frames", null_many),
    Case("edit", "one keyframe of 900 frames at 1080p", edit),
    Case("edits", "one picture, one face", edits),
    Case("verify", "the gate, twelve examples", verify),
    Case("questions", "status, explain, digest of 900 frames at 1080p", questions),
    Case("shared", "900 frames at 1080p from a directory tier", shared),
)
