"""The harness of the proof: it finds what is planted, says where, and certifies only what is equal.

That this project's own compositions and the peer's examples come out equal is
`test_ops_reproduce_compositions.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from opspace import MOVING, STILL, Space

from nfbuild.dataclasses import replace
from nfbuild.errors import ProjectError, UsageError
from nfbuild.ops.reproduce.certificate import certificate, compare_certificates, read, save
from nfbuild.ops.reproduce.evidence import Place
from nfbuild.ops.reproduce.proof import ReproduceReport, read_jobs, reproduce
from nfbuild.ops.reproduce.surroundings import DIMENSIONS, REFERENCE, make_checkout, matrix
from nfbuild.ops.reproduce.trial import CHANCE, ReproduceOptions
from nfbuild.ops.run.session import Settings, open_session

HERE = Path(__file__).resolve().parent
EXPORT = '[[export]]\ncomposition = "*"\nformat = "png"\nto = "out/{name}/{number:05d}.png"\n'
# One picture drawn in two ways: another scene key, the same pixels.
TWIN = MOVING.replace('<rect id="bg"', '<rect width="64" height="36" fill="#fff"/><rect id="bg"')


@pytest.fixture
def project(space: Space) -> Space:
    """Three small compositions with PNG exports; two of them are the same picture."""
    space.write("nfbuild.toml", EXPORT)
    space.compose("moving", MOVING)
    space.compose("twin", TWIN)
    space.compose("still", STILL)
    return space


def prove(space: Space, **options: object) -> ReproduceReport:
    """Run a proof of one build against the reference."""
    options = {"jobs": ("2",), "rounds": 1, "narrow": False, **options}
    options["environment"] = {"PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parents[1])])}
    with open_session(str(space.root), Settings(observe=True)) as session:
        running = reproduce(session, ReproduceOptions(start=str(space.root), **options))
        while True:
            try:
                next(running)
            except StopIteration as done:
                return done.value


def first_place(report: ReproduceReport, section: str) -> Place:
    (run,) = report.different
    return next(place for place in run.places if place.section == section)


# --- six planted faults -----------------------------------------------------------------------


def test_completion_order_append_is_found_and_located(project: Space):
    """The entry, the line and the first frame that stands elsewhere."""
    report = prove(project, prelude="planted:completion_order_append")

    place = first_place(report, "ledger")
    assert report.exit_code == 1
    assert place.node == "ledger/compositions/moving.json"
    assert place.composition == "moving"
    assert place.frame is not None
    assert place.line > 1
    assert place.before != place.after


def test_set_iteration_is_found_located_and_blamed_on_the_hash_seed(project: Space):
    """The section of the graph, its line, and the one thing that does it."""
    report = prove(project, prelude="planted:set_iteration", narrow=True)

    place = first_place(report, "graph")
    assert place.node in ("files", "compositions", "uses", "draws", "exports")
    assert "canonical order" in place.fact
    assert [run.alone for run in report.different] == [["hash_seed"]]
    assert {place.section for place in report.different[0].places} == {"graph"}


def test_a_hash_seed_in_a_name_is_found_and_located(project: Space):
    """The export's path, and the row of the graph that names it."""
    report = prove(project, prelude="planted:hash_seed_in_a_name")

    place = first_place(report, "exports")
    assert place.node.startswith("out/moving/")
    assert "one of the two alone" in place.fact
    assert first_place(report, "graph").node.startswith("exports: out/moving/")


def test_time_in_the_ledger_is_found_located_and_blamed_on_nothing_else(project: Space):
    """The line of the entry; and two builds in the same surroundings already differ."""
    report = prove(project, prelude="planted:time_in_the_ledger", narrow=True)

    place = first_place(report, "ledger")
    assert place.before.startswith('"recorded": "')
    assert place.after.startswith('"recorded": "')
    assert (place.node, place.frame) == ("ledger/compositions/moving.json", None)
    assert report.different[0].alone == [CHANCE]


def test_a_float_sum_in_completion_order_is_found_and_located(project: Space):
    """The line that holds the sum. Two orders may round alike by luck: hence several."""
    report = prove(project, prelude="planted:float_sum_in_completion_order", rounds=3)

    places = [place for run in report.different for place in run.places]
    assert report.exit_code == 1
    assert {place.section for place in places} == {"ledger"}
    assert all(place.before.startswith('"energy": "') for place in places)
    assert {place.node for place in places} <= {
        f"ledger/compositions/{name}.json" for name in ("moving", "still", "twin")
    }


def test_first_finished_wins_is_found_and_located(project: Space):
    """The line that names the winner of equal candidates."""
    report = prove(project, prelude="planted:first_finished_wins")

    place = first_place(report, "ledger")
    assert place.before.startswith('"shown by": "')
    assert place.after.startswith('"shown by": "')


def test_another_picture_is_located_to_the_pixel(project: Space):
    """Composition, frame and pixel, in the frames and in the exports."""
    report = prove(project, prelude="planted_pixel:draw_wrong_in_a_pool")

    frames, exports = first_place(report, "frames"), first_place(report, "exports")
    assert (frames.composition, frames.frame, frames.pixel) == ("still", 0, (3, 2))
    assert (exports.node, exports.frame, exports.pixel) == ("out/still/00000.png", 0, (3, 2))
    assert "against" in frames.fact


# --- what is equal ----------------------------------------------------------------------------


def test_a_sound_project_is_equal_and_certified(project: Space, tmp_path: Path):
    """Nothing planted, nothing found; the certificate is canonical and holds no machine."""
    report = prove(project, jobs=("1", "3"))
    save(report, str(tmp_path / "one.json"))
    again = prove(project, jobs=("1", "3"))

    assert report.exit_code == 0
    assert [run.equal for run in report.runs] == [True, True]
    assert certificate(again) == (tmp_path / "one.json").read_bytes()
    assert str(tmp_path).encode() not in certificate(report)
    assert (
        compare_certificates(read(str(tmp_path / "one.json")), json.loads(certificate(again))) == []
    )
    assert not (project.root / "ledger").exists()
    assert not (project.root / "cache").exists()


def test_a_certificate_contradicts_another_picture(project: Space, tmp_path: Path):
    """An edited composition is named."""
    before = json.loads(certificate(prove(project)))
    project.edit("compositions/moving.nf.svg", "#ff8800", "#ff8801")
    after = json.loads(certificate(prove(project)))

    lines = compare_certificates(before, after)
    assert lines[0].startswith("composition `moving`: ")
    assert [line.partition(":")[0] for line in lines[1:]] == ["graph", "frames"]


def test_a_difference_is_not_certified(project: Space, tmp_path: Path):
    """A certificate says equal, so there is none of what is not."""
    report = prove(project, prelude="planted:time_in_the_ledger")

    with pytest.raises(UsageError, match="nothing to certify"):
        save(report, str(tmp_path / "one.json"))
    assert not (tmp_path / "one.json").exists()


def test_a_certificate_of_another_version_is_refused(tmp_path: Path):
    """By name; and something else is none."""
    (tmp_path / "new.json").write_text('{"format": "nfbuild.certificate/9"}')
    (tmp_path / "other.json").write_text("[]")

    with pytest.raises(ProjectError, match="certificate/9"):
        read(str(tmp_path / "new.json"))
    with pytest.raises(ProjectError, match="not a certificate"):
        read(str(tmp_path / "other.json"))


def test_nothing_compared_is_a_failure(space: Space):
    """An empty project proves nothing."""
    assert prove(space).exit_code == 1


def test_a_composition_that_cannot_be_built_is_said_and_compared(project: Space):
    """Its failure must be the same everywhere too; the exit code is the build's."""
    project.compose("bad", MOVING.replace("</svg>", ""))

    report = prove(project)

    assert report.exit_code == 3
    assert [run.equal for run in report.runs] == [True]
    assert [error.composition for error in report.errors] == ["bad"]


def test_only_what_was_asked_for_is_built(project: Space):
    """By name, although other compositions are listed."""
    report = prove(project, names=("still",))

    assert [row["name"] for row in report.films] == ["still"]
    assert report.exit_code == 0


def test_the_command_reports_as_json(project: Space):
    """Seed, matrix, digests and builds; one document on stdout."""
    document = project.json(
        "reproduce", "still", "--jobs", "2,inline", "--rounds", "1", "--seed", "7"
    )

    assert document["schema"] == "nfbuild.reproduce/1"
    assert (document["ok"], document["seed"], document["workers"]) == (True, 7, [2, 0])
    assert [run["equal"] for run in document["runs"]] == [True, True]
    assert set(document["reference"]["digests"]) == {
        *("graph", "frames", "ledger", "exports", "blobs", "report"),
    }


def test_the_command_certifies_and_compares(project: Space):
    """`--certify` here, `--against` there; an edit in between is named and fails."""
    words = ("reproduce", "still", "--jobs", "1", "--rounds", "1")
    first = project.run(*words, "--certify", "c.json")
    same = project.run(*words, "--against", "c.json")
    project.edit("compositions/still.nf.svg", "#203040", "#203041")
    other = project.run(*words, "--against", "c.json")

    assert (first.returncode, same.returncode, other.returncode) == (0, 0, 1)
    assert "1 of 1 builds are equal to the reference" in first.stdout
    assert "composition `still`" in other.stderr


# --- the matrix -------------------------------------------------------------------------------


def test_the_matrix_is_the_seed_s():
    """The same seed, the same builds, on every machine; another seed, others."""
    runs = matrix(7, [1, 2, 4, 8, 2], 3)

    assert runs == matrix(7, [1, 2, 4, 8, 2], 3)
    assert runs != matrix(8, [1, 2, 4, 8, 2], 3)
    assert len(runs) == len({run.order for run in runs}) == 15
    assert matrix(7, [4], 1)[0].order == 169_930_806_328_245


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_dimension_is_varied(dimension: str):
    """The default matrix leaves nothing as the reference has it."""
    runs = matrix(20260701, [1, 2, 4, 8, 2], 3)

    assert len({getattr(run, dimension) for run in runs}) > 1
    assert any(getattr(run, dimension) != getattr(REFERENCE, dimension) for run in runs)


def test_kept_rasters_are_tried_on_and_off_with_every_worker_count():
    """Two rounds are enough for both."""
    for count in (1, 2, 4, 8):
        runs = [run for run in matrix(1, [1, 2, 4, 8], 2) if run.jobs == count]
        assert {run.reuse for run in runs} == {True, False}


def test_worker_counts_are_read():
    """Numbers, `max` and `inline`; anything else is refused."""
    assert read_jobs(["1", "8", "inline"]) == [1, 8, 0]
    assert read_jobs(["max"])[0] >= 1
    for word in ("0", "-1", "many", "999", "²"):
        with pytest.raises(UsageError, match="worker count"):
            read_jobs([word])
    with pytest.raises(UsageError):
        read_jobs([])


def test_a_checkout_keeps_paths_that_leave_it(tmp_path: Path):
    """A shared folder beside the project stays beside the copy, and below the scratch folder."""
    root = tmp_path / "here/project"
    root.mkdir(parents=True)
    (root / "a.svg").write_text("a")
    (tmp_path / "here/shared").mkdir()
    (tmp_path / "here/shared/b.png").write_text("b")

    made = make_checkout(
        str(tmp_path / "copy"), str(root), ["a.svg", "../shared/b.png"], replace(REFERENCE)
    )

    assert (Path(made.root) / "../shared/b.png").read_text() == "b"
    assert (Path(made.root) / "a.svg").read_text() == "a"
    assert (Path(made.root) / "../shared/b.png").resolve().is_relative_to(tmp_path / "copy")
