"""The contract of executors: every member inherits these tests by a factory."""

from __future__ import annotations

import itertools
import os

import pytest
from execute_support import jobs_of, merged, values

from nfbuild.errors import DrawError, FontError, MediaError, NfbuildError, Place
from nfbuild.execute.base import Died, Done, Job, Refused, Skipped


def test_every_job_has_one_outcome_at_its_position(make):
    """Positions are the caller's, in any order and with gaps."""
    jobs = [Job(position, position) for position in (7, 3, 1000, 0)]

    assert values(make().run(jobs)) == {0: 0, 3: 9, 7: 49, 1000: 1_000_000}


def test_no_jobs_have_no_outcomes(make):
    """An empty run ends."""
    assert list(make().run([])) == []


def test_an_executor_runs_again_and_again(make):
    """Workers outlive a run, and so does what the target keeps."""
    executor = make(value={"scale": 2})
    executor.start()

    first = values(executor.run(jobs_of([("setup",)] * 3)))
    assert first == {i: {"scale": 2} for i in range(3)}
    assert values(executor.run(jobs_of(range(5)))) == {i: i * i for i in range(5)}


def test_jobs_are_taken_lazily(make):
    """Memory stays flat: an endless list of jobs is no more than a long one."""
    executor = make()
    taken = itertools.count(1)
    last = 0

    def jobs():
        nonlocal last
        for position in itertools.count():
            last = next(taken)
            yield Job(position, position)

    outcomes = executor.run(jobs())
    for yielded in range(1, 500):
        next(outcomes)
        assert last - yielded < executor.look_ahead
    outcomes.close()


def test_what_was_abandoned_does_not_come_back(make):
    """Leaving a run early leaves nothing for the next one to trip over."""
    executor = make()
    outcomes = executor.run(jobs_of(range(100, 200)))
    next(outcomes)
    outcomes.close()

    assert values(executor.run(jobs_of(range(4)))) == {0: 0, 1: 1, 2: 4, 3: 9}


def test_a_run_may_be_made_while_another_takes_its_jobs(make):
    """Baking a frame may need measurements from the same executor."""
    executor = make()

    def jobs():
        for position in range(20):
            (measured,) = executor.run([Job(0, position)])
            yield Job(position, measured.value)

    assert values(executor.run(jobs())) == {i: i**4 for i in range(20)}


def test_an_error_of_the_caller_s_own_jobs_reaches_the_caller(make):
    """The executor neither hides nor keeps an error raised while a job is made."""
    executor = make()

    def jobs():
        yield Job(0, 1)
        raise MediaError("picture `a.png` is missing")

    with pytest.raises(MediaError, match="is missing"):
        list(executor.run(jobs()))
    assert values(executor.run(jobs_of([3]))) == {0: 9}


def test_a_typed_error_crosses_with_place_and_hint(make):
    """An error keeps its class, place, fact, hint and code; the others are performed."""
    outcomes = merged(make().run(jobs_of([2, ("refuse", "a.nf.svg", 14), 3])))

    refused = outcomes[1]
    assert isinstance(refused, Refused)
    assert isinstance(refused.error, MediaError)
    assert refused.error.place == Place("a.nf.svg", 14)
    assert (str(refused.error), refused.error.hint, refused.error.code) == (
        "a.nf.svg:14: picture `a.png` is missing",
        "add it",
        "media",
    )
    assert refused.trace is None
    assert (outcomes[0].value, outcomes[2].value) == (4, 9)


@pytest.mark.parametrize(
    ("task", "fact"),
    [
        (("burst",), "`ValueError: a fault`"),
        (("unpicklable",), "pickle"),
        (("odd_error",), "pickle"),
        (("no_such_verb",), "AttributeError"),
    ],
)
def test_a_fault_is_a_refusal_with_its_traceback(make, task, fact):
    """One frame's fault, of whatever kind, takes nothing else along and can be reported."""
    outcomes = merged(make().run(jobs_of([2, task, 3])))

    assert isinstance(outcomes[1], Refused)
    assert isinstance(outcomes[1].error, DrawError)
    assert outcomes[1].error.code == "draw.internal"
    assert fact in outcomes[1].error.message
    assert "Traceback" in outcomes[1].trace
    assert (outcomes[0].value, outcomes[2].value) == (4, 9)


def test_memory_that_runs_out_twice_is_the_task_s_fault(make):
    """A task too large is tried again alone, then named with the fact; the others are performed."""
    outcomes = merged(make().run(jobs_of([2, ("hoard",), 3])))

    assert isinstance(outcomes[1], Died)
    assert outcomes[1].death.cause == "memory"
    assert "ran out of memory" in outcomes[1].error.message
    assert outcomes[1].error.code == "draw.memory"
    assert (outcomes[0].value, outcomes[2].value) == (4, 9)


def test_leaving_is_a_death(make):
    """A library that ends the process, even with status 0, has not performed the task."""
    outcomes = merged(make().run(jobs_of([2, ("leave", 0), 3])))

    assert isinstance(outcomes[1], Died)
    assert (outcomes[1].death.cause, outcomes[1].death.fact) == (
        "exit",
        "it ended itself with status 0",
    )
    assert (outcomes[0].value, outcomes[2].value) == (4, 9)


def test_a_task_that_dies_once_is_performed_the_second_time(make, tmp_path):
    """One death may be anybody's fault."""
    marker = str(tmp_path / "marker")
    executor = make(writable=(str(tmp_path),))

    assert values(executor.run(jobs_of([2, ("once", marker, "leave", 1), 3]))) == {
        0: 4,
        1: "second time",
        2: 9,
    }


def test_after_three_deaths_the_rest_of_a_group_is_not_tried(make):
    """The other groups are performed to the end, and so are jobs that belong to none."""
    executor = make()
    outcomes = []

    def jobs():
        for position in range(3):
            yield Job(position, ("leave", 1), "bad")
        position = 3
        while sum(isinstance(outcome, Died) for outcome in outcomes) < 3:
            yield Job(position, ("pid", 0.002), ("good", "")[position % 2])
            position += 1
        for last in range(position, position + 9):
            yield Job(last, last, ("bad", "good", "")[last % 3])

    for outcome in executor.run(jobs()):
        outcomes.append(outcome)  # noqa: PERF402  the jobs above look at it meanwhile
    by_position = merged(outcomes)
    count = len(by_position)

    assert [type(by_position[position]) for position in range(3)] == [Died] * 3
    assert {type(by_position[position]) for position in range(3, count - 9)} <= {Done}
    for last in range(count - 9, count):
        if last % 3 == 0:
            assert by_position[last] == Skipped(last, "bad")
        else:
            assert by_position[last].value == last * last


def test_suspects_of_a_group_that_is_given_up_are_not_tried_again(make):
    """Eight deadly frames do not cost sixteen workers: at most one more is being tried."""
    jobs = [Job(position, ("leave", 1), "bad") for position in range(8)]

    kinds = [type(outcome) for outcome in merged(make().run(jobs)).values()]
    assert kinds.count(Died) in (3, 4)
    assert kinds.count(Skipped) == 8 - kinds.count(Died)


def test_a_deferred_answer_counts_when_it_is_finished(make, tmp_path):
    """When the outcome is there, so is the file."""
    executor = make(writable=(str(tmp_path),))
    tasks = [("later", str(tmp_path), f"{i}.bin", 0.002) for i in range(30)]

    seen = 0
    for outcome in executor.run(jobs_of(tasks)):
        assert isinstance(outcome, Done)
        assert (tmp_path / outcome.value).read_bytes() == outcome.value.encode()
        assert outcome.timing.begun <= outcome.timing.performed <= outcome.timing.finished
        seen += 1
    assert seen == 30


def test_a_deferred_answer_may_refuse(make):
    """A disk that is full is an error of that task."""
    outcomes = merged(make().run(jobs_of([2, ("later_fails",), 3])))

    assert isinstance(outcomes[1], Refused)
    assert (outcomes[1].error.message, outcomes[1].error.hint) == ("no space left", "make room")
    assert (outcomes[0].value, outcomes[2].value) == (4, 9)


def test_a_target_that_refuses_to_be_made_ends_the_run(make):
    """A face that cannot be loaded is no fault of any frame."""
    executor = make(value="refuse")

    with pytest.raises(FontError, match=r"face `x\.otf` is not TrueType") as caught:
        list(executor.run(jobs_of([1])))
    assert caught.value.hint == "convert it"


@pytest.mark.parametrize(
    ("setup", "fact"),
    [
        ({"value": "burst"}, "RuntimeError: no rasterizer here"),
        ({"target": "no_such_module:Thing"}, "ModuleNotFoundError"),
        ({"target": "execute_doubles:Nobody"}, "AttributeError"),
    ],
)
def test_a_target_that_cannot_be_made_is_reported_not_retried(make, setup, fact):
    """Whatever is wrong with the machine comes out as one error with a hint."""
    executor = make(**setup)

    with pytest.raises(NfbuildError, match=fact) as caught:
        list(executor.run(jobs_of([1])))
    assert "doctor" in caught.value.hint


def test_what_is_declared_may_be_opened(make, tmp_path):
    """By the target for one task, by the setup for all, and the program's own code."""
    (tmp_path / "mine").write_bytes(b"1")
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "file").write_bytes(b"2")
    mine, other = str(tmp_path / "mine"), str(tmp_path / "all" / "file")
    executor = make(readable=(str(tmp_path / "all"),), writable=(str(tmp_path / "out"),))

    tasks = [("read", mine, mine), ("read", other), ("write", str(tmp_path / "out")), ("lazily",)]
    assert values(executor.run(jobs_of(tasks))) == {0: b"1", 1: b"2", 2: None, 3: (0.0, 0.0, 1)}


@pytest.mark.parametrize(
    ("task", "fact"),
    [
        (("read", "{0}/file"), "opened `{0}/file`"),
        (("read", "{0}/file", "{0}/other"), "opened `{0}/file`"),
        (("read", "{0}/all/../file"), "opened `{0}/file`"),
        (("read", "{0}/all-else"), "opened `{0}/all-else`"),
        (("later_reads", "{0}/file"), "opened `{0}/file`"),
        (("write", "{0}/all/file"), "opened `{0}/all/file` for writing"),
        (("look", "{0}"), "opened `{0}`"),
        (("probe", "{0}/absent"), "opened `{0}/absent`"),
        (("program",), "started the program"),
        (("network",), "used the network"),
    ],
)
def test_what_is_not_declared_is_a_refusal_that_names_it(make, tmp_path, task, fact):
    """A frame that reads what no key names must not be kept, even where it looks right."""
    for name in ("file", "other", "all-else"):
        (tmp_path / name).write_bytes(b"1")
    (tmp_path / "all").mkdir()
    verb, *arguments = task
    task = (verb, *(argument.format(tmp_path) for argument in arguments))
    executor = make(readable=(str(tmp_path / "all"),))

    outcomes = merged(executor.run(jobs_of([2, task, 3])))

    assert isinstance(outcomes[1], Refused)
    assert outcomes[1].error.code == "draw.undeclared"
    assert fact.format(tmp_path) in outcomes[1].error.message
    assert (outcomes[0].value, outcomes[2].value) == (4, 9)


def test_a_surprise_of_one_task_is_not_held_against_the_next(make, tmp_path):
    """What is declared for one task is declared for that one only."""
    (tmp_path / "file").write_bytes(b"1")
    name = str(tmp_path / "file")
    outcomes = merged(make().run(jobs_of([("read", name, name), ("read", name), 5])))

    assert [type(outcome) for outcome in outcomes.values()] == [Done, Refused, Done]


def test_without_audit_nothing_is_compared(make, tmp_path):
    """The switch is for measuring what the audit costs."""
    (tmp_path / "file").write_bytes(b"1")
    executor = make(audited=False)

    assert values(executor.run(jobs_of([("read", str(tmp_path / "file"))]))) == {0: b"1"}


def test_a_plain_target_declares_nothing(make, tmp_path):
    """Declaring is a wider capability, not a duty."""
    (tmp_path / "file").write_bytes(b"1")
    executor = make(target="execute_doubles:Plain", readable=(str(tmp_path),))

    assert values(executor.run(jobs_of([os.fspath(tmp_path / "file")]))) == {0: b"1"}


def test_a_retired_executor_runs_again(make):
    """Retiring lets workers go and nothing else: a run that comes makes new ones."""
    executor = make()
    assert values(executor.run(jobs_of(range(5)))) == {i: i * i for i in range(5)}
    executor.retire()
    executor.retire()

    assert values(executor.run(jobs_of(range(5)))) == {i: i * i for i in range(5)}
    executor.retire()
    executor.close()


def test_nobody_retires_in_the_middle_of_a_run(make):
    """Outcomes that are due still come."""
    executor = make()
    outcomes = executor.run(jobs_of(range(40)))
    first = next(outcomes)
    executor.retire()

    assert values([first, *outcomes]) == {i: i * i for i in range(40)}
