"""Where a pool runs from, what its workers see, and that nothing of it outlives the parent."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from execute_support import jobs_of, make_pool, values

import nfbuild
from nfbuild.execute.launch import FIXED_ENVIRONMENT, PASSED_ON
from nfbuild.execute.order import shuffled

pytestmark = pytest.mark.process

HERE = str(Path(__file__).parent)
PACKAGE = Path(nfbuild.__file__).parent
SLOW = 20.0  # seconds that nothing here comes near

PARENT = """
import sys
sys.path.insert(0, {here!r})
from execute_support import jobs_of, make_pool, values
"""


def parent(script, **options):
    """Start a Python process whose script has the helpers of this folder."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    source = PARENT.format(here=HERE) + script
    return subprocess.Popen([sys.executable, "-c", source], **options)


def answered(process):
    out, err = process.communicate(timeout=SLOW)
    assert (process.returncode, err) == (0, "")
    return out.strip()


def is_running(pid):
    """Tell whether a process is there and is not a corpse that nobody has collected."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return sys.platform != "linux"


def wait_until_gone(pids):
    end = time.monotonic() + SLOW
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < end:
        time.sleep(0.01)
    return left


BUSY_PARENT = """
with make_pool(2) as pool:
    outcomes = pool.run(jobs_of([1, 2, ({verb!r}, 600), ({verb!r}, 600), 3, 4]))
    next(outcomes), next(outcomes)
    print(*pool.pids, flush=True)
    list(outcomes)
"""


@pytest.mark.parametrize("verb", ["sleep", "spin"])
def test_workers_do_not_outlive_a_parent_that_is_killed(verb):
    """The line closes, and a worker ends whatever it is doing."""
    process = parent(BUSY_PARENT.format(verb=verb))
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 2
    assert all(is_running(pid) for pid in pids)
    process.kill()
    process.communicate()

    assert wait_until_gone(pids) == []


def test_an_interrupt_ends_the_parent_and_its_workers():
    """^C reaches the parent alone; it leaves by `KeyboardInterrupt` with no child left."""
    process = parent(BUSY_PARENT.format(verb="spin"))
    pids = [int(pid) for pid in process.stdout.readline().split()]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SLOW)

    assert process.returncode == -signal.SIGINT
    assert err.strip().endswith("KeyboardInterrupt")
    assert [pid for pid in pids if is_running(pid)] == []


def test_workers_are_not_in_the_terminal_s_group_and_ignore_interrupts():
    """A ^C that reached a worker would look like the death of a frame."""
    with make_pool(1) as pool:
        list(pool.run(jobs_of([1])))
        (pid,) = pool.pids
        assert os.getpgid(pid) != os.getpgrp()
        os.kill(pid, signal.SIGINT)
        assert values(pool.run(jobs_of([("pid",)]))) == {0: pid}


def test_closing_leaves_no_process_and_no_descriptor():
    """A pool can be made and closed as often as one likes, in the middle of work too."""

    def descriptors():
        return sorted(os.listdir("/dev/fd"))

    with make_pool(1) as pool:
        list(pool.run(jobs_of([1])))
    before = descriptors()
    pids = []
    for _ in range(3):
        pool = make_pool(2)
        outcomes = pool.run(jobs_of([1, ("sleep", 600), ("sleep", 600)]))
        next(outcomes)
        pids += pool.pids
        pool.close()
        pool.close()
        outcomes.close()

    assert len(pids) == 6
    assert [pid for pid in pids if is_running(pid)] == []
    assert descriptors() == before


def test_the_pool_gets_warm_while_the_caller_goes_on():
    """`start` returns before any worker is ready."""
    with make_pool(2, value="slow") as pool:
        pool.start()
        assert pool.warmings == []
        assert values(pool.run(jobs_of([1, 2, 3]))) == {0: 1, 1: 4, 2: 9}
        assert {timing.worker for timing in pool.warmings} <= {0, 1}


def test_two_pools_live_side_by_side():
    """Pools share nothing."""
    with make_pool(2, value="a") as one, make_pool(2, value="b") as two:
        first = one.run(jobs_of([("setup",)] * 20))
        second = two.run(jobs_of([("setup",)] * 20))
        pairs = [(a.value, b.value) for a, b in zip(first, second, strict=True)]

    assert pairs == [("a", "b")] * 20


def test_the_order_of_work_decides_nothing():
    """One, two or five workers, in order or shuffled: the same answers at the same positions."""
    expected = {i: i * i for i in range(500)}
    for workers in (1, 2, 5):
        with make_pool(workers) as pool:
            assert values(pool.run(jobs_of(range(500)))) == expected
            mixed = list(shuffled(jobs_of(range(500)), 1, window=500))
            assert mixed != jobs_of(range(500))
            assert values(pool.run(mixed)) == expected
        with make_pool(workers, shuffle=2) as pool:
            order = [outcome.position for outcome in pool.run(jobs_of(range(500)))]
            assert sorted(order) == list(expected)
            assert order != list(expected)
            assert values(pool.run(jobs_of(range(500)))) == expected


def test_many_tiny_tasks():
    """Ten thousand jobs come back complete and once each."""
    with make_pool(2) as pool:
        assert values(pool.run(jobs_of(range(10_000)))) == {i: i * i for i in range(10_000)}


def test_tasks_and_answers_larger_than_any_buffer():
    """Neither side of a line waits for the other."""
    size = 5 << 20
    with make_pool(2) as pool:
        outcomes = list(pool.run(jobs_of([("big", size)] * 4)))
        assert {len(outcome.value) for outcome in outcomes} == {size}
        lengths = values(pool.run(jobs_of([("length", b"x" * size)] * 6)))
        assert list(lengths.values()) == [size] * 6


def test_what_a_library_prints_spoils_nothing():
    """Standard output belongs to nobody, standard input is empty."""
    with make_pool(1) as pool:
        assert values(pool.run(jobs_of([("chat", "x" * 5000), 3]))) == {0: "", 1: 9}


def test_a_worker_s_environment_is_fixed(monkeypatch):
    """No variable of the user's reaches a worker but the documented ones."""
    monkeypatch.setenv("LANG", "tr_TR.UTF-8")
    monkeypatch.setenv("NFBUILD_ANYTHING", "1")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with make_pool(1) as pool:
        ((environment, folder, _, _),) = values(pool.run(jobs_of([("surroundings",)]))).values()

    assert environment == {**FIXED_ENVIRONMENT, **passed}
    assert folder == os.path.abspath(os.sep)


def test_more_variables_change_no_answer():
    """What `reproduce` varies is laid over the fixed environment and decides nothing."""
    answers = []
    for environment in ({}, {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}):
        with make_pool(2, environment=environment) as pool:
            answers.append(values(pool.run(jobs_of(range(50)))))
            ((seen, *_),) = values(pool.run(jobs_of([("surroundings",)]))).values()
            assert environment.items() <= seen.items()

    assert answers[0] == answers[1]


def test_bytecode_is_found_where_the_parent_finds_it(tmp_path, monkeypatch):
    """The code that runs in a worker is the code that the parent has hashed."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    for dont_write in (True, False):
        monkeypatch.setattr(sys, "dont_write_bytecode", dont_write)
        with make_pool(1) as pool:
            ((*_, prefix, dont),) = values(pool.run(jobs_of([("surroundings",)]))).values()
        assert (prefix, dont) == (str(tmp_path), dont_write)
        assert any(tmp_path.rglob("worker_main.*.pyc")) != dont_write


RUN = "with make_pool(2) as pool:\n    print(values(pool.run(jobs_of([1, 2]))), file={to})\n"


def test_a_parent_without_standard_streams(tmp_path):
    """A daemon's child has none of the three."""
    script = "import os\nfor fd in (0, 1, 2): os.close(fd)\n" + RUN.format(
        to=f"open({str(tmp_path / 'answer')!r}, 'w')"
    )
    process = parent(script)
    process.communicate(timeout=SLOW)

    assert process.returncode == 0
    assert (tmp_path / "answer").read_text() == "{0: 1, 1: 4}\n"


def test_a_parent_whose_folder_is_gone(tmp_path):
    """The working directory is nobody's input."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"import os, shutil\nshutil.rmtree({str(gone)!r})\n" + RUN.format(to="sys.stdout")

    assert answered(parent(script, cwd=gone)) == "{0: 1, 1: 4}"


def test_a_package_found_by_a_relative_path(tmp_path):
    """A checkout used as it is, by `PYTHONPATH=.`, is what its workers use too."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "with space" / "nfbuild", ignore=ignore)
    script = (
        "import nfbuild\nwith make_pool(1) as pool:\n"
        "    print(values(pool.run(jobs_of([('home',)])))[0] == nfbuild.__file__, nfbuild.__file__)"
    )
    environment = {**os.environ, "PYTHONPATH": "."}
    process = parent(script, cwd=tmp_path / "with space", env=environment)

    agrees, _, home = answered(process).partition(" ")
    assert agrees == "True"
    assert os.path.realpath(home).startswith(str(tmp_path.resolve()))
