"""The order of drawing never matters: a frame is a function of its task, whatever came before it.

Every composition of the corpus and of this project, scenes with scripts that keep counters and
roll dice, and two compositions that embed different faces under one name.
"""

from __future__ import annotations

import base64
import importlib.util
import itertools
import os
import random
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from lottie_scenes import SCRIPTED, moving
from opspace import HEAD, Space

from nfbuild.execute.base import Done, Job
from nfbuild.ops.frames.films import ask, bake, draw_task, load_film
from nfbuild.ops.frames.questions import Questions
from nfbuild.ops.run.session import Settings, open_session
from nfbuild.project import discover

ROOT = Path(__file__).parents[2]
FACES = Path(importlib.util.find_spec("font_source_sans_pro").submodule_search_locations[0])
LONG = bool(os.environ.get("NFBUILD_LONG"))
SEED = 20261201


def embedding(face):
    data = base64.b64encode((FACES / "files" / f"SourceSansPro-{face}.ttf").read_bytes()).decode()
    return (
        f"{HEAD} data-duration='0.2'><style>@font-face{{font-family:'Own';"
        f"src:url(data:font/ttf;base64,{data})}}</style>"
        '<text x="4" y="26" font-size="24" font-family="Own">Rag</text></svg>'
    )


SPECIAL = [f"compositions/own/{name}" for name in ("regular", "black", *SCRIPTED, "moving")]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """Every composition's distinct drawing tasks by name, and an open session to draw them in."""
    space = Space(tmp_path_factory.mktemp("order") / "project")
    space.write(
        "nfbuild.toml",
        '[project]\ncompositions = ["compositions/**/*.nf.svg", "compositions/**/*.json"]\n'
        "[fonts]\nfaces = [\n"
        + "".join(
            f'"package:font_source_sans_pro/files/SourceSansPro-{face}.ttf",\n'
            for face in ("Regular", "Bold")
        )
        + "]\n",
    )
    folder = space.root / "compositions"
    shutil.copytree(ROOT / "tests" / "corpus", folder / "corpus")
    shutil.copytree(ROOT / "compositions", folder / "project")
    space.write("compositions/own/regular.nf.svg", embedding("Regular"))
    space.write("compositions/own/black.nf.svg", embedding("Black"))
    space.write("compositions/own/moving.json", moving(opacity=60))
    for name, data in SCRIPTED.items():
        space.write(f"compositions/own/{name}.json", data)
    with open_session(str(space.root), Settings(jobs=1, observe=True)) as session:
        yield session, dict(_tasks(session))


def _tasks(session):
    found = discover(session.project)
    for index, listed in enumerate(found.compositions):
        project = listed.path.startswith("compositions/project")
        film = load_film(session, index, listed, Fraction(1, 8 if project else 1))
        if film.error is not None:
            raise film.error
        numbers = range(film.scene.frames)
        wanted = sorted({*numbers[:: max(1, len(numbers) // 4)], numbers[-1]})
        ask(session, film, Questions(), wanted)
        assert film.error is None
        # Two splits of one document are two tasks; here each is drawn whole.
        drawn = [draw_task(session, film, bake(session, film, n), png=False) for n in wanted]
        yield listed.path.rsplit(".", 1)[0].removesuffix(".nf"), list(dict.fromkeys(drawn))


def drawn_in(session, tasks):
    """Draw tasks one after another in a new process; return their digests in that order."""
    with session.another_worker() as worker:
        found = {}
        for outcome in worker.run([Job(at, task, "") for at, task in enumerate(tasks)]):
            assert isinstance(outcome, Done), outcome
            found[outcome.position] = outcome.value.digest
    return [found[at] for at in range(len(tasks))]


@pytest.fixture(scope="module")
def reference(tasks):
    """Every task's digest, drawn in the order of the project."""
    session, by_name = tasks
    everything = [task for drawn in by_name.values() for task in drawn]
    return dict(zip(everything, drawn_in(session, everything), strict=True))


def orders(everything):
    rng = random.Random(SEED)
    yield "descending", everything[::-1]
    yield "twice", [task for task in everything for _ in range(2)]
    for number in range(6 if LONG else 2):
        yield f"shuffled {number}", rng.sample(everything, len(everything))


def test_any_order_gives_the_same_frames(tasks, reference):
    """Descending, every frame twice, shuffled: drawn by one process each."""
    session, by_name = tasks
    everything = [task for drawn in by_name.values() for task in drawn]

    assert len(by_name) > 100
    assert len(everything) > 300
    for name, order in orders(everything):
        assert drawn_in(session, order) == [reference[task] for task in order], name


def test_a_composition_after_every_other(tasks, reference):
    """One walk that goes from each composition to each other one."""
    session, by_name = tasks
    rng = random.Random(SEED)
    chosen = {name: rng.choice(drawn) for name, drawn in by_name.items()}
    names = sorted(chosen)
    walk = list(_every_pair(len(names)))
    order = [chosen[names[at]] for at in walk]
    got = drawn_in(session, order)
    wrong = {
        (names[before], names[after])
        for (before, after), digest in zip(itertools.pairwise(walk), got[1:], strict=True)
        if digest != reference[chosen[names[after]]]
    }

    assert len(set(itertools.pairwise(walk))) == len(names) * (len(names) - 1)
    assert wrong == set()


def _every_pair(count):
    """Walk the complete graph of `count` places over each of its directed edges, once each."""
    left = {place: [other for other in range(count) if other != place] for place in range(count)}
    path, trail = [0], []
    while path:
        here = path[-1]
        if left[here]:
            path.append(left[here].pop())
        else:
            trail.append(path.pop())
    return reversed(trail)


def test_alone_in_a_fresh_process(tasks, reference):
    """A composition whose process has drawn nothing else."""
    session, by_name = tasks
    rng = random.Random(SEED)
    others = sorted(set(by_name) - set(SPECIAL))
    alone = [*SPECIAL, *(others if LONG else rng.sample(others, 12))]

    for name in alone:
        drawn = by_name[name]
        assert drawn_in(session, drawn) == [reference[task] for task in drawn], name


def test_the_compositions_that_could_disturb_each_other_are_there(tasks, reference):
    """Counters count, dice roll and faces differ: else equal digests would prove nothing."""
    _, by_name = tasks
    first = {name: reference[by_name[name][0]] for name in SPECIAL}

    assert len(set(first.values())) == len(first)
    assert all(
        task.lottie.alone for name in SCRIPTED for task in by_name[f"compositions/own/{name}"]
    )


def test_a_counter_kept_between_frames_would_be_seen(tasks, reference):
    """The control: the same scene not drawn alone moves from frame to frame."""
    from nfbuild.dataclasses import replace

    session, by_name = tasks
    careless = [
        replace(task, lottie=replace(task.lottie, alone=False))
        for name in ("counter", "same-counter")
        for task in by_name[f"compositions/own/{name}"]
    ]
    careful = [
        reference[task]
        for name in ("counter", "same-counter")
        for task in by_name[f"compositions/own/{name}"]
    ]

    assert drawn_in(session, careless) != careful


# --- the clock ------------------------------------------------------------------------------------


def lottie_space(space):
    space.write(
        "nfbuild.toml",
        '[project]\ncompositions = ["compositions/**/*.nf.svg", "compositions/**/*.lottie.json"]\n',
    )
    return space


def test_a_scene_that_depends_on_the_clock_is_not_believed(space):
    """Nothing of it is kept; a scene without expressions and everything else is built."""
    lottie_space(space)
    space.write("compositions/dice.lottie.json", SCRIPTED["chance"])
    space.compose("plain")
    ran = space.build(target="doubles:ClockWorker")

    assert (ran.exit, [error.code for error in ran.report.errors]) == (3, ["draw.clock"])
    assert "depends on when it is drawn" in ran.report.errors[0].message
    assert {name for name, _ in ran.rendered} == {"plain"}
    assert ran.row("plain").written
    again = space.build()
    assert (again.exit, len(again.row("dice.lottie").digest) > 0) == (0, True)
    assert len([1 for name, _ in again.rendered if name == "dice.lottie"]) == 6


def test_only_scenes_with_expressions_are_drawn_twice(space, monkeypatch):
    """One pair of workers for all of them, and none where nothing of them is drawn."""
    from nfbuild.ops.run.session import Session

    asked = []
    real = Session.another_worker
    monkeypatch.setattr(Session, "another_worker", lambda self: asked.append(1) or real(self))
    lottie_space(space)
    space.compose("plain")
    space.write("compositions/moving.lottie.json", moving())
    assert space.build().exit == 0
    assert asked == []
    space.write("compositions/one.lottie.json", SCRIPTED["counter"])
    space.write("compositions/two.lottie.json", SCRIPTED["same-counter"])
    assert space.build().exit == 0
    assert len(asked) == 2
    assert space.build().rendered == []
    assert len(asked) == 2


def test_an_expression_that_names_the_clock_is_refused(space):
    """Before anything is drawn."""
    from lottie_scenes import scripted

    lottie_space(space)
    space.write("compositions/c.lottie.json", scripted("var $bm_rt = [Date.now() % 9, 1];"))
    ran = space.build()

    assert (ran.exit, ran.rendered) == (3, [])
    assert "`Date`" in ran.report.errors[0].message
