"""Collecting: planned first, then done; bounded, safe beside builds, and never a wrong answer."""

import os
import subprocess
import sys
import time

import pytest
from store_contract import key

from nfbuild.errors import Missing
from nfbuild.store.blobs import remove_orphans
from nfbuild.store.collect import (
    Policy,
    carry_out,
    collect,
    collect_if_due,
    plan_collection,
)
from nfbuild.store.directory import open_directory
from nfbuild.store.files import temporary_name
from nfbuild.store.local import open_cache

DAY = 86_400.0
NEVER = Policy(None, None, min_free=0)


@pytest.fixture
def cache(tmp_path):
    cache = open_cache(str(tmp_path))
    yield cache
    cache.close()


def fill(cache, count, *, size=1000, age=0.0):
    """Put blobs, the first one used longest ago: a minute between two, `age` seconds in all."""
    digests = []
    now = time.time()
    for number in range(count):
        digest = cache.put_blob((b"%04d" % number) * (size // 4))
        used = now - age - 60 * (count - number)
        os.utime(cache.blob_path(digest), (used, used))
        digests.append(digest)
    return digests


def left(cache):
    return {info.digest for info in cache.blobs()}


def test_a_plan_changes_nothing(cache, tmp_path):
    """Dry run is not carrying out."""
    digests = fill(cache, 10, age=40 * DAY)
    plan = plan_collection(str(tmp_path), Policy(0, 30 * DAY, min_free=0))

    assert plan.blobs == 10
    assert plan.freed == plan.bytes == 10_000
    assert plan.by_reason() == {"age": 10}
    assert left(cache) == set(digests)


def test_age_takes_what_was_not_used_for_long(cache, tmp_path):
    """Use is reading, writing or meeting it again; thirty days are thirty days."""
    old = fill(cache, 3, age=31 * DAY)
    data = b"young" * 100
    young = cache.put_blob(data)
    os.utime(cache.blob_path(young), (time.time() - 29 * DAY,) * 2)
    cache.get_blob(old[1])  # reading is use

    assert collect(str(tmp_path), Policy(None, 30 * DAY, min_free=0))[1].files == 2
    assert left(cache) == {young, old[1]}


def test_age_never_goes_below_a_day(cache, tmp_path):
    """A limit of a second would take what a build is about to read."""
    digests = fill(cache, 3, age=DAY / 2)

    assert collect(str(tmp_path), Policy(None, 1.0, min_free=0))[1].files == 0
    assert left(cache) == set(digests)


def test_age_spares_what_a_ledger_reaches(cache, tmp_path):
    """Today's film may have been drawn a year ago."""
    digests = fill(cache, 4, age=400 * DAY)
    policy = Policy(None, 30 * DAY, min_free=0)

    collect(str(tmp_path), policy, protected={digests[0]})
    assert left(cache) == {digests[0]}


def test_size_takes_the_oldest_use_first_and_the_ledger_last(cache, tmp_path):
    """Below the grace too: a limit is a limit."""
    digests = fill(cache, 10)
    protected = {digests[0], digests[1]}

    collect(str(tmp_path), Policy(5_000, None, min_free=0), protected=protected)
    assert left(cache) == {digests[0], digests[1], digests[7], digests[8], digests[9]}

    collect(str(tmp_path), Policy(1_000, None, min_free=0), protected=protected)
    assert left(cache) == {digests[1]}


def test_size_under_the_limit_takes_nothing(cache, tmp_path):
    """And over it down to the target."""
    digests = fill(cache, 10)

    assert collect(str(tmp_path), Policy(10_000, None, min_free=0, target=0.5))[1].files == 0
    assert collect(str(tmp_path), Policy(9_999, None, min_free=0, target=0.5))[1].files == 6
    assert left(cache) == set(digests[6:])


def test_free_space_takes_until_there_is_enough(cache, tmp_path):
    """Whoever else fills the disk: the cache gives way first."""
    fill(cache, 4)
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize

    plan = plan_collection(str(tmp_path), Policy(None, None, min_free=free + 10**12))
    assert plan.by_reason() == {"free": 4}


def test_records_outlive_blobs(cache, tmp_path):
    """The memory of what was true is not evicted with the pixels."""
    (digest,) = fill(cache, 1, age=40 * DAY)
    cache.put_record("frame", key(1), b"digest")
    collect(str(tmp_path), Policy(0, 30 * DAY, min_free=0))

    with pytest.raises(Missing):
        cache.get_blob(digest)
    assert cache.get_record("frame", key(1)) == b"digest"


def test_only_names_that_are_ours_are_taken(cache, tmp_path):
    """A folder that somebody put things into keeps them."""
    (digest,) = fill(cache, 1, age=400 * DAY)
    mine = [
        tmp_path / "notes.txt",
        tmp_path / "blobs" / digest[:2] / "notes.png",
        tmp_path / "blobs" / digest[:2] / f"{'f' * 63}.png",
        tmp_path / "blobs" / digest[:2] / ".tmp-mine",
        tmp_path / "quarantine" / "notes.png",
    ]
    (tmp_path / "quarantine").mkdir()
    for path in mine:
        path.write_bytes(b"mine")
        os.utime(path, (0, 0))

    collect(str(tmp_path), Policy(0, 30 * DAY))
    assert left(cache) == set()
    assert all(path.exists() for path in mine)


def test_what_is_used_after_the_plan_is_spared(cache, tmp_path):
    """A build that runs beside it touches what it uses."""
    digests = fill(cache, 3, age=40 * DAY)
    plan = plan_collection(str(tmp_path), Policy(None, 30 * DAY, min_free=0))
    cache.get_blob(digests[1])

    done = carry_out(plan)
    assert (done.files, done.spared) == (2, 1)
    assert left(cache) == {digests[1]}


def test_quarantine_goes_before_any_blob(cache, tmp_path):
    """What is kept for somebody to look at is not worth a frame."""
    digests = fill(cache, 3)
    bad = cache.put_blob(b"bad" * 400)
    path = cache.blob_path(bad)
    os.unlink(path)
    with open(path, "wb") as file:
        file.write(b"x" * 1200)
    with pytest.raises(Exception, match="holds"):
        cache.get_blob(bad)

    collect(str(tmp_path), Policy(3_000, None, min_free=0))
    assert left(cache) == set(digests)
    assert os.listdir(tmp_path / "quarantine") == []


@pytest.mark.parametrize("place", ["", "blobs", "blobs/ab"])
def test_temporary_files_of_dead_writers_go(tmp_path, place):
    """The name tells whose it is: a living writer's stays for an hour, a dead one's goes."""
    open_cache(str(tmp_path)).close()
    folder = tmp_path / place
    folder.mkdir(parents=True, exist_ok=True)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    mine = temporary_name()
    host, pid, rest = mine.removeprefix(".tmp-").split("-")
    dead = f".tmp-{host}-{gone.pid}-{rest}"
    foreign = f".tmp-{'0' * 12}-{pid}-{rest}"
    stale = f".tmp-{'0' * 12}-{pid}-{rest[::-1]}"
    for name in (mine, dead, foreign, stale):
        (folder / name).write_bytes(b"half")
    os.utime(folder / stale, (time.time() - 4000,) * 2)

    collect(str(tmp_path), NEVER)
    assert sorted(n for n in os.listdir(folder) if n.startswith(".tmp-")) == sorted([mine, foreign])


def test_one_collector_at_a_time_and_a_killed_one_delays_nobody(cache, tmp_path):
    """The lock is the kernel's: it ends with its holder."""
    fill(cache, 3, age=40 * DAY)
    script = (
        "import sys, time; from nfbuild.store.kernellock import hold\n"
        "with hold(sys.argv[1] + '/collect.lock') as held:\n"
        "    print(held, flush=True); time.sleep(60)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "True\n"
    assert collect(str(tmp_path), Policy(0, None)) is None

    holder.kill()
    holder.communicate()
    assert collect(str(tmp_path), Policy(0, None, min_free=0))[1].files == 3


class Asked:
    """Blobs that go last, and how often somebody wanted to know."""

    def __init__(self, *digests):
        self.digests = digests
        self.times = 0

    def __contains__(self, digest):
        self.times += 1
        return digest in self.digests


def test_collecting_by_itself_is_rare(cache, tmp_path):
    """Once in some hours, where a mark from the future is no mark."""
    fill(cache, 3)
    policy = Policy(1_000, None, min_free=0)

    def due():
        return collect_if_due(str(tmp_path), policy, protected=()) is not None

    assert collect_if_due(str(tmp_path), policy, protected=())[1].files == 2
    assert not due()
    os.utime(tmp_path / "collected", (time.time() + 10 * DAY,) * 2)
    assert due()
    os.utime(tmp_path / "collected", (0, 0))
    assert due()


def test_what_is_protected_is_asked_only_where_something_has_to_go(cache, tmp_path):
    """Finding out reads ledgers and records: most collections let nothing go."""
    digests = fill(cache, 4, age=2 * DAY)
    ledger = Asked(digests[0])

    for policy in (NEVER, Policy(4_000, 30 * DAY, min_free=0)):
        assert collect(str(tmp_path), policy, protected=ledger)[1].files == 0
    assert ledger.times == 0

    assert collect(str(tmp_path), Policy(3_000, None, min_free=0), protected=ledger)[1].files == 1
    assert collect(str(tmp_path), Policy(None, DAY, min_free=0), protected=ledger)[1].files == 2
    assert left(cache) == {digests[0]}
    assert ledger.times > 0


def test_collecting_is_bounded_in_time(cache, tmp_path):
    """What is not done now is done next time."""
    fill(cache, 20, age=40 * DAY)
    plan = plan_collection(str(tmp_path), Policy(None, 30 * DAY, min_free=0))
    done = carry_out(plan, seconds=-1.0)

    assert (done.files, done.finished) == (0, False)


# --- clocks ---------------------------------------------------------------------------------------

FUTURE = 2_051_222_400.0  # 2035
PAST = 631_152_000.0  # 1990


def test_a_file_from_the_future_is_not_immortal(cache, tmp_path):
    """It is given the present, and ages from there."""
    (digest,) = fill(cache, 1)
    os.utime(cache.blob_path(digest), (FUTURE, FUTURE))
    policy = Policy(None, 30 * DAY, min_free=0)

    collect(str(tmp_path), policy)
    assert abs(os.stat(cache.blob_path(digest)).st_mtime - time.time()) < 60
    later = time.time() + 31 * DAY
    assert plan_collection(str(tmp_path), policy, now=later).by_reason() == {"age": 1}


def test_files_from_the_future_do_not_crowd_out_the_present(cache, tmp_path):
    """Under a size limit a wrong date is no privilege: it counts as now, ties go by digest."""
    digests = fill(cache, 4)
    for digest in digests[:2]:
        os.utime(cache.blob_path(digest), (FUTURE, FUTURE))

    collect(str(tmp_path), Policy(0, None, min_free=0))
    assert left(cache) == set()


def test_a_file_from_the_past_costs_one_render_and_no_loop(cache, tmp_path):
    """A restored backup is old until it is used."""
    data = b"restored" * 100
    digest = cache.put_blob(data)
    policy = Policy(None, 30 * DAY, min_free=0)
    os.utime(cache.blob_path(digest), (PAST, PAST))
    collect(str(tmp_path), policy)
    assert left(cache) == set()

    cache.put_blob(data)
    os.utime(cache.blob_path(digest), (PAST, PAST))
    cache.get_blob(digest)  # a use puts the date right
    collect(str(tmp_path), policy)
    assert left(cache) == {digest}

    os.utime(cache.blob_path(digest), (PAST, PAST))
    cache.put_blob(data)  # and so does meeting it again
    collect(str(tmp_path), policy)
    assert left(cache) == {digest}


def test_a_collector_ten_years_ahead_costs_renders_only(cache, tmp_path):
    """It takes everything for old; what is drawn again is kept by the others."""
    fill(cache, 3)
    plan = plan_collection(
        str(tmp_path), Policy(None, 30 * DAY, min_free=0), now=time.time() + 3650 * DAY
    )
    carry_out(plan)
    assert left(cache) == set()

    digests = fill(cache, 3)
    collect(str(tmp_path), Policy(None, 30 * DAY, min_free=0))
    assert left(cache) == set(digests)


def test_times_cut_to_two_seconds_change_nothing(cache, tmp_path):
    """Some file systems keep no better time."""
    digests = fill(cache, 5)
    for digest in digests:
        used = os.stat(cache.blob_path(digest)).st_mtime // 2 * 2
        os.utime(cache.blob_path(digest), (used, used))

    collect(str(tmp_path), Policy(2_000, None, min_free=0))
    assert left(cache) == set(digests[3:])


def test_a_shared_directory_is_collected_by_use_and_size(tmp_path):
    """It knows no projects; old records go after a year."""
    store = open_directory(str(tmp_path / "shared"), read_only=False)
    digests = [store.put_blob(b"%d" % n * 1000) for n in range(5)]
    for number, digest in enumerate(digests):
        path = f"{store.root}/blobs/{digest[:2]}/{digest}.png"
        os.utime(path, (time.time() - 1000 + number,) * 2)
    store.put_records("frame", {key(1): b"old", key(2): b"young"})
    os.utime(store.files.path("frame", key(1)), (time.time() - 400 * DAY,) * 2)

    collect(store.root, Policy(3_500, None, min_free=0), lock_mode=store.modes.file)
    assert {info.digest for info in store.blobs()} == set(digests[2:])
    assert list(store.records()) == [("frame", key(2))]


def test_files_of_writers_that_are_gone_are_removed_and_no_others(tmp_path):
    """What an ended worker left goes at once; a living writer's file and another host's stay."""
    cache = open_cache(str(tmp_path / "s"))
    digest = cache.put_blob(b"whole" * 100)
    shard = tmp_path / "s" / "blobs" / digest[:2]
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    mine = temporary_name()
    host, _, rest = mine.removeprefix(".tmp-").split("-")
    dead = f".tmp-{host}-{gone.pid}-{rest}"
    elsewhere = f".tmp-{'0' * 11}1-{gone.pid}-{rest}"
    for name in (mine, dead, elsewhere):
        (shard / name).write_bytes(b"half")

    assert remove_orphans(str(tmp_path / "s")) == 1
    assert sorted(path.name for path in shard.iterdir()) == sorted(
        [mine, elsewhere, f"{digest}.png"]
    )
    assert cache.get_blob(digest) == b"whole" * 100
