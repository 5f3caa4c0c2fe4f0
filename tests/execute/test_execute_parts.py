"""The parts of the pool that need no process."""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading

import pytest
from execute_support import jobs_of, make_inline, make_pool, merged, values
from hypothesis import given
from hypothesis import strategies as st

from nfbuild.errors import UsageError
from nfbuild.execute import wire
from nfbuild.execute.audit import Watch
from nfbuild.execute.base import Job, Refused, Timing
from nfbuild.execute.blame import Blame
from nfbuild.execute.board import FINISHING, PERFORMING, Board, make_file
from nfbuild.execute.confine import can_confine
from nfbuild.execute.order import shuffled
from nfbuild.execute.portions import Portions
from nfbuild.execute.trace import Profile, Span

MILLISECOND = 1_000_000


@given(st.lists(st.tuples(st.integers(), st.binary(max_size=300))), st.integers(1, 64))
def test_messages_survive_any_cutting(messages, size):
    """A stream knows no messages: however it is cut, they come out whole and in order."""
    stream = b"".join(wire.pack(message) for message in messages)
    inbox = wire.Inbox()

    found = []
    for at in range(0, len(stream), size):
        found += inbox.feed(stream[at : at + size])
    assert found == messages


def test_an_unfinished_message_is_none():
    """A worker that died while it spoke has not spoken."""
    data = wire.pack((wire.READY, 1, 2))
    inbox = wire.Inbox()

    assert inbox.feed(data[:-1]) == []
    assert inbox.feed(data[-1:]) == [(wire.READY, 1, 2)]


def test_a_board_shows_what_is_in_hand_to_the_other_end():
    """Both ends see one page, and empty slots are not jobs."""
    file = make_file()
    writer, reader = Board(file), Board(file)
    os.close(file)

    assert reader.in_hand() == ()
    writer.put(FINISHING, 7)
    writer.put(PERFORMING, 1 << 40)
    assert reader.in_hand() == (7, 1 << 40)
    writer.put(FINISHING, 0)
    writer.close()
    assert reader.in_hand() == (1 << 40,)
    reader.close()


def test_the_second_death_convicts_and_the_third_conviction_gives_up():
    """Two deaths a task, three tasks a group; an answer in between clears the task."""
    blame = Blame()

    assert not blame.accuse(1, "g")
    blame.acquit(1)
    assert not blame.accuse(1, "g")
    assert blame.accuse(1, "g")
    assert [blame.accuse(2, "g"), blame.accuse(2, "g"), blame.is_given_up("g")] == [
        False,
        True,
        False,
    ]
    assert [blame.accuse(3, "g"), blame.accuse(3, "g"), blame.is_given_up("g")] == [
        False,
        True,
        True,
    ]
    assert not blame.is_given_up("other")


def test_jobs_without_a_group_are_never_given_up():
    """Nobody answers for a job that belongs to nothing."""
    blame = Blame()
    for serial in range(10):
        blame.accuse(serial, "")
        blame.accuse(serial, "")

    assert not blame.is_given_up("")


@pytest.mark.parametrize(
    ("milliseconds", "third", "queued_at_the_end"), [(0.01, 32, 1), (10, 0, 0)]
)
def test_no_worker_starves_and_the_end_is_even(milliseconds, third, queued_at_the_end):
    """While much waits, each worker has a second job; at the end long jobs are not queued."""
    portions = Portions(4)
    for _ in range(100):
        portions.learn(int(milliseconds * MILLISECOND))

    assert portions.size(1000, 0, ends=False) >= 1
    assert portions.size(1000, 1, ends=False) >= 1
    assert portions.size(1000, 2, ends=False) == third
    assert portions.size(3, 1, ends=True) == queued_at_the_end
    assert portions.size(3, 0, ends=True) == 1


def test_tiny_jobs_travel_together_and_portions_shrink():
    """A portion is ten milliseconds of work, and less when little is left."""
    portions = Portions(2)
    for _ in range(100):
        portions.learn(MILLISECOND // 100)

    sizes = [portions.size(waiting, 0, ends=True) for waiting in (1000, 100, 40, 8, 4, 1)]
    assert sizes == [32, 25, 10, 2, 1, 1]


@given(st.integers(0, 60), st.integers(1, 80), st.integers(0, 3))
def test_a_shuffled_order_is_a_permutation_that_the_seed_decides(count, window, seed):
    """Nothing is lost or doubled, and the same seed gives the same order."""
    jobs = jobs_of(range(count))

    once = list(shuffled(jobs, seed, window))
    assert sorted(once) == jobs
    assert list(shuffled(jobs, seed, window)) == once


def test_shuffling_is_lazy():
    """No more than the window is held."""
    taken = itertools.count()
    endless = (Job(next(taken), None) for _ in itertools.repeat(None))
    mixed = shuffled(endless, 1, window=10)
    for _ in range(5):
        next(mixed)

    assert next(taken) <= 15


def test_a_watch_sees_its_own_thread_only(tmp_path):
    """The writer thread's files are not the next task's surprises."""
    name = str(tmp_path / "file")
    watch = Watch((), ())

    def elsewhere():
        with open(name, "wb") as file:
            file.write(b"x")

    with watch:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert watch.surprises == []
    with watch, open(name, "rb") as file:
        file.read()
    assert watch.surprises == [f"opened `{name}`"]
    with open(name, "rb") as file:
        file.read()
    assert len(watch.surprises) == 1


def test_a_watch_looks_through_links_in_what_is_declared(tmp_path):
    """A declared folder may be spelled by a link, as temporary folders are on macOS."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    watch = Watch((str(tmp_path / "link"),), ())

    with watch:
        for folder in ("link", "real"):
            with open(tmp_path / folder / "file", "rb") as file:
                file.read()
    assert watch.surprises == []


def test_data_beside_the_code_is_not_code(tmp_path, monkeypatch):
    """A library's data file decides pixels as any file does."""
    (tmp_path / "font.ttf").write_bytes(b"x")
    (tmp_path / "module.py").write_bytes(b"")
    monkeypatch.syspath_prepend(str(tmp_path))
    watch = Watch((), ())

    with watch:
        for name in ("module.py", "font.ttf"):
            with open(tmp_path / name, "rb") as file:
                file.read()
    assert watch.surprises == [f"opened `{tmp_path / 'font.ttf'}`"]


def test_a_pool_needs_a_worker():
    """No worker would mean no outcome, for ever."""
    with pytest.raises(UsageError, match="at least one worker, not `0`"):
        make_pool(0)


def test_the_inline_executor_does_not_confine_its_caller():
    """Confinement is for ever, and the inline executor lives in the caller's process."""
    with pytest.raises(UsageError, match="cannot confine itself"):
        make_inline(confined=True)


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_a_c_library_sees_only_what_is_declared(tmp_path):
    """What no hook sees is not there for a confined worker; an unconfined one reads it unseen."""
    (tmp_path / "declared").mkdir()
    for name in ("declared/file", "file"):
        (tmp_path / name).write_bytes(name.encode())
    tasks = [("read_in_c", str(tmp_path / name)) for name in ("declared/file", "file")]
    tasks += [("lazily",), ("write", str(tmp_path / "declared" / "new"))]
    setup = {"writable": (str(tmp_path / "declared"),)}
    expected = {0: b"declared/file", 1: b"file", 2: (0.0, 0.0, 1), 3: None}

    with make_pool(1, **setup) as pool:
        assert values(pool.run(jobs_of(tasks))) == expected
    with make_pool(1, confined=True, **setup) as pool:
        if can_confine():
            assert values(pool.run(jobs_of(tasks))) == {**expected, 1: None}
        else:
            with pytest.raises(UsageError, match="cannot confine"):
                list(pool.run(jobs_of(tasks)))


@pytest.mark.process
@pytest.mark.skipif(not can_confine(), reason="no Landlock here")
def test_a_confined_python_opening_is_still_named(tmp_path):
    """The audit speaks before the system refuses."""
    (tmp_path / "file").write_bytes(b"x")
    with make_pool(1, confined=True) as pool:
        (outcome,) = merged(pool.run(jobs_of([("read", str(tmp_path / "file"))]))).values()

    assert isinstance(outcome, Refused)
    assert outcome.error.code == "draw.undeclared"


def test_a_profile_is_a_chrome_trace():
    """Lanes have names, times are microseconds from the first, the writer has its own lane."""
    profile = Profile()
    profile.add_warming(Timing(0, 1_000_000, 3_000_000, 3_000_000))
    stages = [Span("draw", 0, 4_000_000, 500), Span("write", 0, 6_000_000, 2_000)]
    profile.add_job("frame", Timing(0, 4_000_000, 5_000_000, 7_000_000), stages, number=3)
    with profile.measured("bake", composition="a"):
        pass

    trace = json.loads(profile.to_json())
    names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    assert names == {0: "parent", 1: "worker 0", 2: "worker 0, writing"}
    spans = {e["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}
    assert (spans["get ready"]["ts"], spans["get ready"]["dur"]) == (0, 2000)
    assert (spans["frame"]["tid"], spans["frame"]["args"]) == (1, {"number": 3})
    assert (spans["draw"]["tid"], spans["draw"]["ts"], spans["draw"]["dur"]) == (1, 3000, 0.5)
    assert spans["write"]["tid"] == 2
    assert spans["bake"]["args"] == {"composition": "a"}
    assert profile.by_stage()["write"] == 2e-6


def test_an_empty_profile_is_a_trace_too():
    """A build that had nothing to do can be profiled."""
    assert json.loads(Profile().to_json())["traceEvents"] == []
