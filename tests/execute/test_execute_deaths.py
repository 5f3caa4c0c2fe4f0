"""What the pool does when workers die, hang or swell: with real processes and real signals."""

from __future__ import annotations

import os
import random
import signal
import sys

import pytest
from execute_support import jobs_of, make_pool, merged, values

from nfbuild.errors import UsageError
from nfbuild.execute.base import Died, Done, Job, Limits

pytestmark = pytest.mark.process

FOR_EVER = 600
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")


@pytest.mark.parametrize("seed", [1, 2])
def test_workers_killed_at_random_cost_no_answer(seed):
    """Every job is answered once, whoever is killed; only who never answered yet is spared.

    A worker that has not answered may be trying a suspect alone, and a second death convicts.
    """
    chance = random.Random(seed)
    seen, killed, outcomes = set(), 0, []
    with make_pool(3) as pool:
        for outcome in pool.run(jobs_of([("pid", 0.002)] * 200)):
            outcomes.append(outcome)
            seen.add(outcome.value)
            targets = sorted(seen & set(pool.pids))
            if targets and chance.random() < 0.1:
                os.kill(chance.choice(targets), signal.SIGKILL)
                killed += 1

    assert killed > 5
    assert sorted(values(outcomes)) == list(range(200))


@pytest.mark.parametrize(
    ("task", "cause", "fact"),
    [
        (("die", signal.SIGKILL), "signal", "it was ended by SIGKILL"),
        (("die", signal.SIGTERM), "signal", "it was ended by SIGTERM"),
        (("crash",), "signal", "it was ended by SIGSEGV"),
        (("vanish", 0), "exit", "it ended with status 0"),
        (("vanish", 3), "exit", "it ended with status 3"),
        (("later_dies",), "signal", "it was ended by SIGKILL"),
        (("spin_in_c",), "processor-time", "it ran past its deadline"),
        (("die", signal.SIGSTOP), "wall-clock", "it did not move for 0.5 s"),
        (("sleep", FOR_EVER), "wall-clock", "it did not move for 0.5 s"),
    ],
)
def test_a_task_that_kills_twice_is_named_with_the_fact(task, cause, fact):
    """It alone is lost; jobs that waited behind it or beside it are performed."""
    # On a busy machine a short wall-clock cap would come before the others.
    limits = Limits(processor_seconds=0.3, wall_seconds=0.5 if cause == "wall-clock" else 60.0)
    with make_pool(2, limits=limits) as pool:
        outcomes = merged(pool.run(jobs_of([2, task, *range(3, 40)])))

    died = outcomes.pop(1)
    assert isinstance(died, Died)
    assert (died.death.cause, died.death.fact) == (cause, fact)
    assert (died.error.code, died.error.exit_code) == (f"draw.{cause}", 3)
    assert fact in died.error.message
    assert [outcomes[i].value for i in sorted(outcomes)] == [4, *(i * i for i in range(3, 40))]


@pytest.mark.parametrize(
    "trouble",
    [
        ("die", signal.SIGKILL),
        ("die", signal.SIGSTOP),
        ("sleep", FOR_EVER),
        ("spin_in_c",),
        ("later_dies",),
    ],
)
def test_one_death_is_forgiven(tmp_path, trouble):
    """The second try, alone in a new worker, is what counts."""
    blocks = "sleep" in trouble or signal.SIGSTOP in trouble
    limits = Limits(processor_seconds=0.3, wall_seconds=0.5 if blocks else 60.0)
    task = ("once", str(tmp_path / "marker"), *trouble)
    with make_pool(2, limits=limits, audited=False) as pool:
        outcomes = values(pool.run(jobs_of([2, task, 3])))

    assert outcomes == {0: 4, 1: "second time", 2: 9}


def test_a_suspect_is_tried_alone(tmp_path):
    """The new worker has answered nothing before it, and is given nothing else meanwhile."""
    tasks = [("pid", 0.01)] * 40
    tasks[5] = ("once", str(tmp_path / "marker"), "die", signal.SIGKILL)
    with make_pool(2, audited=False) as pool:
        outcomes = merged(pool.run(jobs_of(tasks)))

    suspect = outcomes.pop(5)
    assert suspect.value == "second time"
    assert suspect.timing.worker >= 2
    beside = [o for o in outcomes.values() if o.timing.worker == suspect.timing.worker]
    assert [o for o in beside if o.timing.begun < suspect.timing.finished] == []


def test_several_suspects_are_each_tried_alone(tmp_path):
    """Three bad tasks at once are told from their neighbours."""
    bad = {3: ("die", signal.SIGKILL), 4: ("crash",), 5: ("vanish", 1)}
    tasks = [bad.get(i, ("later", str(tmp_path), f"{i}")) for i in range(30)]
    with make_pool(3, writable=(str(tmp_path),)) as pool:
        outcomes = merged(pool.run(jobs_of(tasks)))

    assert {i for i, o in outcomes.items() if isinstance(o, Died)} == set(bad)
    assert {i for i, o in outcomes.items() if isinstance(o, Done)} == set(range(30)) - set(bad)


def test_processor_time_is_counted_per_task_and_not_while_waiting():
    """Neither many tasks in a row nor a long wait are a hang."""
    limits = Limits(processor_seconds=0.4, wall_seconds=30.0)
    tasks = [("spin", 0.15)] * 8 + [("pid", 0.8)]
    with make_pool(1, limits=limits) as pool:
        outcomes = values(pool.run(jobs_of(tasks)))

    assert len(set(outcomes.values())) == 1


def test_a_parent_that_was_busy_does_not_count_that_against_its_workers():
    """The wall-clock cap counts only what the pool itself has watched."""
    import time

    with make_pool(1, limits=Limits(wall_seconds=1.0)) as pool:
        outcomes = pool.run(jobs_of([1, ("pid", 1.8), 3], "g"))
        first = next(outcomes)
        time.sleep(1.5)
        rest = list(outcomes)

    assert first.value == 1
    assert [type(outcome) for outcome in rest] == [Done, Done]


@on_linux
def test_memory_is_bounded():
    """A task that swells is ended by the system's limit, long before the machine is full."""
    with make_pool(2, limits=Limits(memory_bytes=256 << 20)) as pool:
        outcomes = merged(pool.run(jobs_of([2, ("hoard_slowly",), 3])))

    assert isinstance(outcomes[1], Died)
    assert outcomes[1].death.cause == "memory"
    assert (outcomes[0].value, outcomes[2].value) == (4, 9)


def test_a_crash_with_the_memory_nearly_used_up_is_told_as_such():
    """A library that does not look whether it got its memory crashes; the limit is the cause."""
    with make_pool(1, limits=Limits(memory_bytes=512 << 20)) as pool:
        (full,) = pool.run(jobs_of([("crash_full", 300 << 20)]))
        (empty,) = pool.run(jobs_of([("crash",)]))

    assert (full.death.cause, empty.death.cause) == ("memory", "signal")
    assert "of 512 in use" in full.death.fact
    assert "`worker_memory`" in full.error.hint


def test_last_words_are_kept():
    """A library that says why it gives up is heard."""
    with make_pool(1) as pool:
        (outcome,) = pool.run(jobs_of([("crash",)]))

    assert "Segmentation fault" in outcome.death.last_words


def test_idle_workers_that_die_are_replaced():
    """Between two runs nobody has anything in hand, so nobody is to blame."""
    with make_pool(2) as pool:
        list(pool.run(jobs_of([1, 2, 3])))
        before = set(pool.pids)
        for pid in pool.pids:
            os.kill(pid, signal.SIGKILL)
        after = values(pool.run(jobs_of([("pid",)] * 10)))

    assert set(after.values()).isdisjoint(before)


def test_workers_that_cannot_live_end_the_run():
    """A machine on which every worker dies at once is not tried for ever."""
    with make_pool(2, value="die") as pool, pytest.raises(UsageError) as caught:
        list(pool.run(jobs_of([1])))

    assert "before they have anything to do: it ended with status 7" in caught.value.message
    assert "cannot find libthorvg" in caught.value.hint


def test_a_worker_that_never_gets_ready_is_ended():
    """Hanging in the start is seen by the wall-clock cap as well."""
    limits = Limits(start_seconds=0.3)
    with make_pool(1, value="hang", limits=limits) as pool, pytest.raises(UsageError) as caught:
        list(pool.run(jobs_of([1])))

    assert "it did not move for 0.3 s" in caught.value.message


def test_deaths_of_one_group_do_not_reach_another():
    """Three deaths give up a group; deaths spread over groups give up none."""
    jobs = [Job(i, ("vanish", 1), f"group {i % 3}") for i in range(6)]
    jobs += [Job(i, i, f"group {i % 3}") for i in range(6, 12)]
    with make_pool(2) as pool:
        outcomes = merged(pool.run(jobs))

    assert [type(outcomes[i]) for i in range(12)] == [Died] * 6 + [Done] * 6
