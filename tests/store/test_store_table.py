"""The table of records: disposable, bounded in time, and deaf to pickles and file names."""

import os
import pickle
import random
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest
from store_contract import key

from nfbuild.errors import Missing, Unavailable
from nfbuild.store.base import encode_record
from nfbuild.store.local import open_cache
from nfbuild.store.stats import Journal
from nfbuild.store.table import Table

PAYLOAD = b"payload"


def database(tmp_path):
    return tmp_path / "cache" / "table" / "cache.db"


@pytest.fixture
def cache(tmp_path):
    """A cache with one record, closed again."""
    cache = open_cache(str(tmp_path / "cache"), Journal())
    cache.put_record("frame", key(1), PAYLOAD)
    cache.close()
    return cache


def reopened(tmp_path):
    return open_cache(str(tmp_path / "cache"), Journal())


def execute(tmp_path, statement, *values):
    connection = sqlite3.connect(database(tmp_path))
    connection.execute(statement, values)
    connection.commit()
    connection.close()


def test_records_survive_closing(tmp_path, cache):
    """The table is on disk."""
    again = reopened(tmp_path)

    assert again.get_record("frame", key(1)) == PAYLOAD
    again.close()


def test_a_table_that_rests_forgets_nothing(tmp_path, cache):
    """Only memory is let go of: before it is opened, between two calls, and after it was lost."""
    again = reopened(tmp_path)
    again.rest()
    assert again.get_record("frame", key(1)) == PAYLOAD

    again.put_records("frame", {key(number): PAYLOAD for number in range(2, 2_000)})
    again.rest()
    assert len(again.get_records("frame", [key(number) for number in range(1, 2_000)])) == 1_999
    again.put_record("pixels", key(1), PAYLOAD)
    again.close()
    again.rest()
    assert again.get_record("pixels", key(1)) == PAYLOAD
    again.close()


def test_looking_reads_what_is_there_and_drops_nothing(tmp_path, cache):
    """Of many names at once those that are there; a refused row stays where it is."""
    cache.put_records("frame", {key(number): PAYLOAD for number in range(2, 1_200)})
    cache.close()
    execute(tmp_path, "UPDATE Cache SET mode = 4 WHERE key = ?", f"frame:{key(2)}")

    looking = open_cache(str(tmp_path / "cache"), Journal(), observe=True)
    found = looking.get_records("frame", [key(number) for number in range(1_300)])
    looking.rest()
    again = looking.get_records("frame", [key(number) for number in range(1_300)])
    looking.close()

    assert set(found) == {key(1), *(key(number) for number in range(3, 1_200))}
    assert again == found
    connection = sqlite3.connect(database(tmp_path))
    assert connection.execute("SELECT COUNT(*) FROM Cache").fetchone() == (1_199,)
    connection.close()


def test_opening_a_cache_imports_no_database():
    """A run that needs no record pays for none; a worker never does."""
    script = (
        "import sys, tempfile; from nfbuild.store.local import open_cache, write_blob;"
        "cache = open_cache(tempfile.mkdtemp()); cache.get_blob(cache.put_blob(b'x'));"
        "print([m for m in ('diskcache', 'sqlite3', 'obstore', 'http', 'json', 'numpy', 'ssl')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    "damage",
    ["garbage", "empty", "torn", "directory", "folder-is-file", "zeros", "header", "wal"],
)
def test_a_broken_database_is_made_anew(tmp_path, cache, damage):
    """Losing the table costs renders: the run goes on, and so does the next one."""
    path = database(tmp_path)
    good = path.read_bytes()
    if damage == "garbage":
        path.write_bytes(os.urandom(5000))
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "torn":
        path.write_bytes(good[: len(good) // 2])
    elif damage == "zeros":
        path.write_bytes(b"\0" * len(good))
    elif damage == "header":
        path.write_bytes(b"\xff" * 100 + good[100:])
    elif damage == "wal":
        (path.parent / "cache.db-wal").write_bytes(os.urandom(40_000))
    elif damage == "directory":
        path.unlink()
        path.mkdir()
        (path / "inside").write_bytes(b"x")
    else:
        for entry in path.parent.iterdir():
            entry.unlink()
        path.parent.rmdir()
        path.parent.write_bytes(b"in the way")

    for _ in range(3):  # at the latest the second run has a table again
        again = reopened(tmp_path)
        found = {}
        try:
            found = again.get_records("frame", [key(1)])
            again.put_record("frame", key(2), b"new")
        except Unavailable:
            assert len(again.journal.take_warnings()) == 1
        again.close()
        assert found in ({}, {key(1): PAYLOAD})

    last = reopened(tmp_path)
    assert last.get_record("frame", key(2)) == b"new"
    last.close()


def damaged(whole, seed):
    """A database with one run of bytes replaced; `seed` chooses the place and the pattern."""
    chance = random.Random(seed)
    size = int.from_bytes(whole[16:18], "big")
    length = chance.choice([1, 2, 8, 40, 292, 2000])
    page = chance.randrange(len(whole) // size)
    within = chance.choice([0, 8, 100, chance.randrange(size), max(size - length, 0)])
    start = min(page * size + within, len(whole) - length)
    pattern = chance.randbytes(length) if chance.random() < 0.7 else chance.choice([b"\0", b"\xff"])
    data = bytearray(whole)
    data[start : start + length] = pattern if len(pattern) == length else pattern * length
    return bytes(data)


# The first have been seen to lead diskcache astray: a setting's name lost in the table and not in
# the index, one lost in the index alone, a message of SQLite that is not text.
ASTRAY = (206, 738, 1326)


@pytest.mark.parametrize("seeds", [ASTRAY, range(10_000, 10_100), range(20_000, 20_100)])
def test_nonsense_in_the_database_gives_no_wrong_answer(tmp_path, seeds):
    """SQLite may not notice; the records' checksums do. Nothing but `Unavailable` comes out."""
    items = {key(i): b"%d" % i * 50 for i in range(200)}
    cache = open_cache(str(tmp_path / "cache"))
    cache.put_records("frame", items)
    cache.close()
    whole = database(tmp_path).read_bytes()

    noticed = 0
    for seed in seeds:
        shutil.rmtree(database(tmp_path).parent)
        database(tmp_path).parent.mkdir()
        database(tmp_path).write_bytes(damaged(whole, seed))
        for _ in range(2):
            again = reopened(tmp_path)
            try:
                found = again.get_records("frame", items)
                again.put_records("frame", items)
                list(again.records())
                again.forget_oldest_records(len(items))
            except Unavailable:
                found = {}
            again.close()
            assert all(items[name] == payload for name, payload in found.items()), seed
            noticed += found != items
    assert noticed
    last = reopened(tmp_path)
    assert last.get_records("frame", items) == items
    last.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE Settings SET value = 'none' WHERE key = 'sqlite_cache_size'",
        "UPDATE Settings SET value = 7 WHERE key = 'sqlite_journal_mode'",
        "DELETE FROM Settings WHERE key = 'count'",
        "INSERT INTO Settings VALUES ('directory', 'elsewhere')",
    ],
)
def test_settings_that_make_no_sense_do_no_harm(tmp_path, cache, statement):
    """Nobody's setting, or one of another type, makes the table anew; a lost one is set again."""
    execute(tmp_path, statement)

    again = reopened(tmp_path)
    assert again.get_records("frame", [key(1)]) in ({}, {key(1): PAYLOAD})
    again.put_record("frame", key(1), PAYLOAD)
    assert again.get_record("frame", key(1)) == PAYLOAD
    again.close()
    assert not (tmp_path / "elsewhere").exists()


def poison(tmp_path, row, *, mode, filename=None, value=None, raw=1):
    execute(
        tmp_path,
        "INSERT OR REPLACE INTO Cache(key, raw, store_time, mode, filename, value, size)"
        " VALUES (?, ?, 0, ?, ?, ?, 0)",
        row,
        raw,
        mode,
        filename,
        value,
    )


class Bomb:
    """Unpickling it makes a folder: a trace that the test looks for."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (self.path,))


@pytest.mark.parametrize(
    "kind", ["pickle", "pickle-file", "text-file", "absolute", "upwards", "text", "number", "none"]
)
def test_a_planted_row_is_refused(tmp_path, cache, kind):
    """Nothing is unpickled, no file is opened, and the row is gone afterwards."""
    trace = tmp_path / "exploded"
    bomb = pickle.dumps(Bomb(str(trace)))
    secret = tmp_path / "secret"
    secret.write_bytes(encode_record("frame", key(5), b"from outside"))
    (tmp_path / "cache" / "table" / "planted.val").write_bytes(bomb)
    name = f"frame:{key(5)}"
    rows = {
        "pickle": {"mode": 4, "value": bomb},
        "pickle-file": {"mode": 4, "filename": "planted.val"},
        "text-file": {"mode": 3, "filename": "planted.val"},
        "absolute": {"mode": 2, "filename": str(secret)},
        "upwards": {"mode": 2, "filename": "../../secret"},
        "text": {"mode": 1, "value": "text"},
        "number": {"mode": 1, "value": 5},
        "none": {"mode": 1, "value": None},
    }
    poison(tmp_path, name, **rows[kind])

    again = reopened(tmp_path)
    assert again.get_records("frame", [key(1), key(5)]) == {key(1): PAYLOAD}
    assert again.journal.total("corrupt") == 1
    again.put_record("frame", key(5), b"healed")
    assert again.get_record("frame", key(5)) == b"healed"
    again.close()
    assert not trace.exists()
    assert secret.exists()
    assert (tmp_path / "cache" / "table" / "planted.val").exists()


def test_a_pickled_key_is_not_loaded_by_a_listing(tmp_path, cache):
    """Listing reads keys: one that is no text ends it."""
    trace = tmp_path / "exploded"
    poison(tmp_path, pickle.dumps(Bomb(str(trace))), raw=0, mode=1, value=b"x")

    again = reopened(tmp_path)
    assert set(again.records()) <= {("frame", key(1))}
    again.close()
    assert not trace.exists()


def test_a_record_moved_to_another_row_is_no_answer(tmp_path, cache):
    """A row carries its own key inside."""
    poison(tmp_path, f"frame:{key(9)}", mode=1, value=encode_record("frame", key(1), PAYLOAD))

    again = reopened(tmp_path)
    assert again.get_records("frame", [key(9)]) == {}
    assert again.journal.total("corrupt.other-key") == 1
    again.close()


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO Settings VALUES ('get', 1)",
        "INSERT INTO Settings VALUES ('sqlite_x; DROP TABLE Cache', 1)",
        "CREATE TRIGGER extra AFTER INSERT ON Cache BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TABLE more (x)",
        "DROP TABLE Cache",
        "DROP TABLE Settings",
    ],
)
def test_a_database_with_more_or_less_in_it_is_made_anew(tmp_path, cache, statement):
    """diskcache would set an attribute for every setting, and a trigger is a program."""
    execute(tmp_path, statement)

    for _ in range(2):
        again = reopened(tmp_path)
        try:
            again.put_record("frame", key(2), b"new")
        except Unavailable:
            assert again.journal.take_warnings()
        again.close()
    last = reopened(tmp_path)
    assert last.get_record("frame", key(2)) == b"new"
    last.close()


@pytest.mark.process
def test_a_locked_database_is_waited_for_no_longer_than_told(tmp_path, cache):
    """diskcache would wait 60 s in its constructor, whatever its timeout."""
    holder = sqlite3.connect(database(tmp_path), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    table = Table(str(tmp_path / "cache" / "table"), wait=0.5)
    began = time.monotonic()

    with pytest.raises(Unavailable) as caught:
        table.put("frame", {key(1): b"x"})
    assert time.monotonic() - began < 5
    assert caught.value.code == "locked"

    with pytest.raises(Unavailable):  # and it is not waited for again
        table.get("frame", [key(1)])
    assert time.monotonic() - began < 5
    holder.execute("ROLLBACK")
    holder.close()
    assert database(tmp_path).exists()
    again = reopened(tmp_path)
    assert again.get_record("frame", key(1)) == PAYLOAD  # busy is not broken
    again.close()


@pytest.mark.process
def test_thirty_two_processes_open_one_table_at_once(tmp_path):
    """All of them write and read; whoever gets no table says so and goes on."""
    script = (
        "import sys; from nfbuild.store.local import open_cache\n"
        "from nfbuild.digests import derive\n"
        "from nfbuild.errors import Unavailable\n"
        "cache = open_cache(sys.argv[1]); n = int(sys.argv[2])\n"
        "mine = {derive('nfbuild 2026 test key v1', n * 10 + i): b'%d' % n for i in range(10)}\n"
        "sys.stdin.readline()\n"
        "try:\n"
        "    cache.put_records('frame', mine)\n"
        "    assert cache.get_records('frame', mine) == mine\n"
        "    print('kept')\n"
        "except Unavailable:\n"
        "    print('without')\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "cache"), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(32)
    ]
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=120) for process in started]

    assert {out.strip() for out, _ in answers} <= {"kept", "without"}, answers
    kept = [number for number, (out, _) in enumerate(answers) if out.strip() == "kept"]
    assert len(kept) >= 30
    cache = reopened(tmp_path)
    names = [key(number * 10 + i) for number in kept for i in range(10)]
    assert set(cache.get_records("frame", names)) == set(names)
    cache.close()


def test_hearsay_is_kept_apart(tmp_path):
    """What a tier said is read after what this cache made, and never in its place."""
    cache = open_cache(str(tmp_path / "cache"))
    cache.put_records("frame", {key(1): b"told", key(2): b"told"}, own=False)
    cache.put_record("frame", key(1), b"made")

    assert cache.get_records("frame", [key(1), key(2)]) == {key(1): b"made", key(2): b"told"}
    assert cache.find_records("frame", [key(1), key(2)], own=True) == {key(1): b"made"}
    assert cache.drop_record("frame", key(2))
    with pytest.raises(Missing):
        cache.get_record("frame", key(2))
    cache.close()


def test_the_first_recorded_goes_first(tmp_path):
    """The table is kept small by count; clocks have no say."""
    cache = open_cache(str(tmp_path / "cache"))
    for number in range(20):
        cache.put_record("frame", key(number), b"x")

    assert cache.forget_oldest_records(15) == 5
    assert sorted(name for _, name in cache.records()) == sorted(key(n) for n in range(5, 20))
    assert cache.forget_oldest_records(15) == 0
    cache.close()


def test_a_folder_named_like_a_variable_is_not_expanded(tmp_path, monkeypatch):
    """diskcache expands variables in its folder's name: the database would be somewhere else."""
    monkeypatch.setenv("ELSEWHERE", str(tmp_path / "elsewhere"))
    cache = open_cache(str(tmp_path / "$ELSEWHERE"))

    with pytest.raises(Unavailable):
        cache.put_record("frame", key(1), b"x")
    assert len(cache.journal.take_warnings()) == 1
    assert not (tmp_path / "elsewhere").exists()
