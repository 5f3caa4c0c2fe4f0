"""The harness measures what it says: turns, medians, targets that can be missed, a chart."""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from xml.etree import ElementTree as ET

import pytest

from benchmarks import chart, projects, report, targets
from benchmarks.cases import Case, Setup, drew
from benchmarks.every import CASES
from benchmarks.measure import Contender, Figures, Ran, execute, succeeded, take_turns


def ran(seconds: float = 0.0, stdout: str = "", code: int = 0) -> Ran:
    return Ran(seconds, stdout, "", code)


def figures(**seconds: float) -> dict[str, Figures]:
    return {name: Figures(name, [value]) for name, value in seconds.items()}


def test_contenders_take_turns_and_every_other_round_goes_backwards() -> None:
    """Nobody always runs behind the same neighbour, and preparing is not timed."""
    order: list[str] = []

    def contender(name: str, rounds: int | None = None) -> Contender:
        def run() -> Ran:
            order.append(name)
            return ran(len(order))

        return Contender(name, run, prepare=lambda: order.append("-"), rounds=rounds)

    taken = take_turns([contender("a"), contender("b"), contender("slow", 1)], 3)

    assert "".join(order).replace("-", " ").split() == ["a", "b", "slow", "b", "a", "a", "b"]
    assert [len(each.seconds) for each in taken.values()] == [3, 3, 1]


def test_the_median_counts() -> None:
    """One slow run says something about the machine."""
    assert Figures("a", [1.0, 90.0, 2.0]).median == 2.0


@pytest.mark.parametrize(
    ("target", "met", "missed"),
    [
        (targets.AtMost("a", 1.5, "b", 0.5), {"a": 2.0, "b": 1.0}, {"a": 2.01, "b": 1.0}),
        (targets.Faster("a", 20, "b"), {"a": 1.0, "b": 20.0}, {"a": 1.0, "b": 19.9}),
        (targets.Within("a", 0.6), {"a": 0.6}, {"a": 0.61}),
    ],
)
def test_a_target_can_be_missed(
    target: targets.Target, met: dict[str, float], missed: dict[str, float]
) -> None:
    """A target that nothing can miss is decoration."""
    assert target.judge(figures(**met)).passed
    assert not target.judge(figures(**missed)).passed


def test_memory_targets_need_a_sample() -> None:
    """No sample is not a small footprint."""
    light = Figures("a", [1.0], parent_bytes=100_000_000, worker_bytes=90_000_000)
    heavy = Figures("b", [1.0], parent_bytes=160_000_000, worker_bytes=130_000_000)
    both = {"a": light, "b": heavy, "c": Figures("c", [1.0])}

    assert targets.Memory("a", 150).judge(both).passed
    assert not targets.Memory("b", 150).judge(both).passed
    assert not targets.Memory("b", 120, worker=True).judge(both).passed
    assert not targets.Memory("c", 150).judge(both).passed
    assert not targets.GrowsBy("a", "b", 90_000, 400).judge(both).passed
    assert targets.GrowsBy("a", "b", 900_000, 400).judge(both).passed


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
def test_peak_memory_of_parent_and_child_is_seen() -> None:
    """A parent that stays small and a child that takes 80 MB are told apart."""
    child = "x = bytearray(80_000_000); import time; time.sleep(0.3)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"

    done = execute([sys.executable, "-c", code], cwd=".", memory=True)

    succeeded(done)
    assert 80e6 < done.worker_bytes < 200e6
    assert 1e6 < done.parent_bytes < 60e6
    assert 0.3 < done.seconds < 30


def test_a_build_that_drew_the_wrong_number_is_an_error() -> None:
    """A figure of the wrong work is no figure."""
    report_of = json.dumps({"totals": {"rendered": 7}})

    drew(7)(ran(stdout=report_of))
    drew(5, 9)(ran(stdout=report_of))
    with pytest.raises(RuntimeError, match="drew 7 frames"):
        drew(0)(ran(stdout=report_of))
    with pytest.raises(RuntimeError, match="exit 3"):
        drew(7)(ran(stdout=report_of, code=3))


def test_table_json_and_chart_tell_the_same(tmp_path) -> None:
    """One run, three readers; a missed target is as visible as a met one."""
    case = Case("null", "nothing & no one", lambda _folder, _options: Setup([], []))
    found = figures(nfbuild=0.08, typer=0.07, peer=23.0)
    rows = report.rows_of(case, found)
    verdicts = report.judge(case, [targets.Faster("nfbuild", 150, "peer")], found)
    verdicts += report.judge(case, [targets.AtMost("nfbuild", 1.1, "typer")], found)

    text = report.table(rows, verdicts)
    told = json.loads(json.dumps(report.document(rows, verdicts, rounds=5, shrink=1)))
    picture = ET.fromstring(chart.draw(rows))

    assert "met     null: nfbuild at least 150 x faster than peer: 287.5 x" in text
    assert "MISSED  null" in text
    assert told["rows"][0]["ratio"] == 1.0
    assert [each["passed"] for each in told["targets"]] == [True, False]
    assert len(picture.findall("{http://www.w3.org/2000/svg}rect")) == 1 + 3
    assert "23 s" in "".join(picture.itertext())


def test_generated_projects_are_functions_of_their_arguments(tmp_path) -> None:
    """Two runs measure the same work."""
    made = []
    for name in ("one", "two"):
        folder = tmp_path / name
        projects.many(str(folder), 12, 50, exports=projects.png_export())
        projects.moving(str(folder / "m"), 40, 5, each=20)
        projects.family(str(folder / "f"), 3)
        projects.titles(str(folder / "t"))
        projects.long_film(str(folder / "l"), top=3.0)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        made.append([(str(path.relative_to(folder)), path.read_bytes()) for path in files])

    assert made[0] == made[1]
    assert len(made[0]) > 12 + 2 + 4


def test_an_edit_of_the_long_film_is_one_number(tmp_path) -> None:
    """The case measures one keyframe: another `top` changes one line of the file."""
    texts = []
    for top in (0.0, 3.0):
        projects.long_film(str(tmp_path), top=top)
        texts.append((tmp_path / "compositions/long.nf.svg").read_text("utf-8").splitlines())
    differing = [pair for pair in zip(*texts, strict=True) if pair[0] != pair[1]]

    assert len(differing) == 1
    assert "[0, -43]" in differing[0][1]


def test_cases_have_distinct_names() -> None:
    """`python -m benchmarks NAME` means one case."""
    names = [case.name for case in CASES]

    assert len(set(names)) == len(names) >= 10


def test_a_run_is_timed_from_start_to_end() -> None:
    """Wall time, not processor time: a user waits for the wall."""
    began = time.perf_counter()
    done = execute([sys.executable, "-c", "import time; time.sleep(0.2)"], cwd=".")

    assert 0.2 < done.seconds <= time.perf_counter() - began


@pytest.mark.process
def test_the_floor_draws_what_nfbuild_draws(tmp_path) -> None:
    """The floor calls the rasterizer by itself: a floor of other pixels would be a wrong floor."""
    from benchmarks import floor
    from nfbuild.render.tasks import DrawTask, Setup
    from nfbuild.render.worker import Worker

    documents = [
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 36" width="64" height="36">'
        b'<rect width="64" height="36" fill="#204060" fill-opacity="0.5"/>'
        b'<circle cx="%d" cy="18" r="9.5" fill="#ff5a36"/></svg>' % x
        for x in range(8, 56, 4)
    ]
    (tmp_path / "staging").mkdir()
    shots = [(document, 64 + at % 2, 36, ()) for at, document in enumerate(documents)]
    (tmp_path / "shots.pickle").write_bytes(pickle.dumps(shots))
    worker = Worker(Setup(staging=str(tmp_path / "staging")))
    here = os.getcwd()
    try:
        tasks = [DrawTask(document, width, height) for document, width, height, _ in shots]
        drawn = [worker.perform(task).digest for task in tasks]
        worker.close()
    finally:
        os.chdir(here)

    done = floor.run(str(tmp_path), 2)

    assert done["digests"] == drawn
    assert len(list((tmp_path / "frames").rglob("*.png"))) == len(set(drawn)) == len(shots)
    assert done["seconds"] > 0
