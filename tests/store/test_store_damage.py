"""Damage: whatever happens to a file, what is returned is right or absent, and counted."""

import os
import shutil
import stat

import pytest
from store_contract import key

from nfbuild.digests import blob_digest
from nfbuild.errors import Corrupt, Missing, StoreError, Unavailable
from nfbuild.store.base import encode_record
from nfbuild.store.directory import open_directory
from nfbuild.store.files import PRIVATE, write_file
from nfbuild.store.local import open_cache, write_blob
from nfbuild.store.stats import Journal

BLOB = bytes(range(256)) * 40
OTHER = b"another blob of another length"


def truncate(path):
    data = path.read_bytes()
    rewrite(path, data[: len(data) // 2])


def empty(path):
    rewrite(path, b"")


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 16
    rewrite(path, bytes(data))


def lengthen(path):
    rewrite(path, path.read_bytes() + b"\0")


def swap(path):
    rewrite(path, OTHER)


def zero(path):
    rewrite(path, b"\0" * len(path.read_bytes()))


def delete(path):
    path.unlink()


def make_directory(path):
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"x")


def make_link(path):
    good = path.read_bytes()
    elsewhere = path.parent.parent.parent.parent / "elsewhere"
    elsewhere.write_bytes(good)
    path.unlink()
    path.symlink_to(elsewhere)


def make_dangling(path):
    path.unlink()
    path.symlink_to("/nowhere/at/all")


def make_pipe(path):
    path.unlink()
    os.mkfifo(path)


def make_huge(path):
    path.unlink()
    with open(path, "wb") as file:
        file.truncate(2**40)


def rewrite(path, data):
    path.unlink()
    path.write_bytes(data)


DAMAGES = [
    truncate,
    empty,
    flip,
    lengthen,
    swap,
    zero,
    delete,
    make_directory,
    make_link,
    make_dangling,
    make_pipe,
    make_huge,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_blob_is_a_counted_miss_and_heals(tmp_path, damage):
    """The damage is found at the first read, moved away, and the blob can be written again."""
    journal = Journal()
    cache = open_cache(str(tmp_path / "cache"), journal)
    digest = cache.put_blob(BLOB)
    path = tmp_path / "cache" / "blobs" / digest[:2] / f"{digest}.png"
    damage(path)

    with pytest.raises(StoreError) as caught:
        cache.get_blob(digest)
    assert not os.path.lexists(path)
    if damage is delete:
        assert isinstance(caught.value, Missing)
        assert journal.total("evicted-in-use") == 1
    else:
        assert isinstance(caught.value, Corrupt)
        assert journal.total("corrupt") == 1
        assert any(
            name.startswith(f"{digest}-") for name in os.listdir(tmp_path / "cache" / "quarantine")
        )
    assert journal.total("miss") == 1

    cache.put_blob(BLOB)
    assert cache.get_blob(digest) == BLOB
    assert journal.total("healed") == (0 if damage is delete else 1)


def test_a_blob_that_goes_in_use_is_counted_each_time_it_goes(tmp_path):
    """Once for every time that it was there, however often it is asked for."""
    journal = Journal()
    cache = open_cache(str(tmp_path / "cache"), journal)
    for times in (1, 2):
        digest = cache.put_blob(BLOB)
        cache.drop_blob(digest)
        for _ in range(3):
            with pytest.raises(Missing):
                cache.get_blob(digest)
        assert journal.total("evicted-in-use") == times


def test_quarantine_names_what_was_expected_and_what_was_found(tmp_path):
    """Somebody who looks into it knows which file was which."""
    cache = open_cache(str(tmp_path))
    digest = cache.put_blob(BLOB)
    swap(tmp_path / "blobs" / digest[:2] / f"{digest}.png")
    with pytest.raises(Corrupt):
        cache.get_blob(digest)

    assert os.listdir(tmp_path / "quarantine") == [f"{digest}-{blob_digest(OTHER)}.png"]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_blob_is_written_over_damage_that_nobody_has_read(tmp_path, damage):
    """`--no-cache` reads nothing and writes: where the length differs, it writes over."""
    cache = open_cache(str(tmp_path / "cache"))
    digest = cache.put_blob(BLOB)
    damage(tmp_path / "cache" / "blobs" / digest[:2] / f"{digest}.png")
    same_length = damage in (flip, zero)

    assert write_blob(str(tmp_path / "cache"), digest, BLOB) is not same_length
    if same_length:
        # Found at the next read; looking inside at every write would cost as much as reading.
        assert write_blob(str(tmp_path / "cache"), digest, BLOB, replace=True)
    assert cache.get_blob(digest) == BLOB


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_record_file_is_a_miss_and_heals(tmp_path, damage):
    """The same for records of a shared directory."""
    store = open_directory(str(tmp_path / "shared"), read_only=False)
    store.put_record("frame", key(1), b"answer" * 10)
    path = tmp_path / "shared" / "records" / "frame" / key(1)[:2] / f"{key(1)}.rec"
    damage(path)

    found, wrong = store.look("frame", [key(1), key(2)])
    assert found == {}
    assert set(wrong) == (set() if damage is delete else {key(1)})
    assert not os.path.lexists(path)

    store.put_record("frame", key(1), b"answer" * 10)
    assert store.get_record("frame", key(1)) == b"answer" * 10


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_record_is_written_over_damage_that_nobody_has_read(tmp_path, damage):
    """A record that does not stand right does not stand."""
    store = open_directory(str(tmp_path / "shared"), read_only=False)
    store.put_record("frame", key(1), b"answer" * 10)
    damage(tmp_path / "shared" / "records" / "frame" / key(1)[:2] / f"{key(1)}.rec")

    store.put_record("frame", key(1), b"answer" * 10)
    assert store.get_record("frame", key(1)) == b"answer" * 10


@pytest.mark.parametrize("part", ["blobs", "blobs/ab", "quarantine"])
@pytest.mark.parametrize("shape", ["file", "dangling"])
def test_something_in_the_way_of_a_folder_is_moved(tmp_path, part, shape):
    """A folder that became a file costs what was in it, and no more."""
    cache = open_cache(str(tmp_path / "cache"))
    data = _blob_in_shard("ab")
    digest = cache.put_blob(data)
    path = tmp_path / "cache" / part
    if path.exists():
        shutil.rmtree(path)
    if shape == "file":
        path.write_bytes(b"in the way")
    else:
        path.symlink_to("/nowhere/at/all")

    assert cache.put_blob(data) == digest
    assert cache.get_blob(digest) == data
    flip(tmp_path / "cache" / "blobs" / "ab" / f"{digest}.png")
    with pytest.raises(Corrupt):
        cache.get_blob(digest)


def _blob_in_shard(shard):
    for number in range(10_000):
        data = b"%d" % number
        if blob_digest(data).startswith(shard):
            return data
    raise AssertionError


def test_a_store_that_is_only_read_changes_nothing(tmp_path):
    """Damage on somebody else's mount is reported and left where it is."""
    store = open_directory(str(tmp_path / "shared"), read_only=False)
    digest = store.put_blob(BLOB)
    store.put_record("frame", key(1), b"x")
    swap(tmp_path / "shared" / "blobs" / digest[:2] / f"{digest}.png")
    swap(tmp_path / "shared" / "records" / "frame" / key(1)[:2] / f"{key(1)}.rec")
    before = _listing(tmp_path / "shared")
    reader = open_directory(str(tmp_path / "shared"), read_only=True)

    with pytest.raises(Corrupt):
        reader.get_blob(digest)
    with pytest.raises(Corrupt):
        reader.get_record("frame", key(1))
    assert _listing(tmp_path / "shared") == before


def _listing(root):
    return sorted(
        (str(path.relative_to(root)), path.stat().st_mtime_ns, path.stat().st_mode)
        for path in root.rglob("*")
    )


def test_blobs_are_written_once_and_read_only(tmp_path):
    """Nobody edits a cached frame by mistake."""
    cache = open_cache(str(tmp_path))
    digest = cache.put_blob(BLOB)
    status = os.stat(cache.blob_path(digest))

    assert stat.S_IMODE(status.st_mode) & 0o222 == 0
    assert cache.put_blob(BLOB) == digest
    assert os.stat(cache.blob_path(digest)).st_ino == status.st_ino


def test_a_record_found_under_another_key_is_no_answer(tmp_path):
    """A file copied to another name answers another question."""
    store = open_directory(str(tmp_path / "shared"), read_only=False)
    store.put_record("frame", key(1), b"x")
    folder = tmp_path / "shared" / "records" / "frame"
    (folder / key(2)[:2]).mkdir(exist_ok=True)
    shutil.copy(folder / key(1)[:2] / f"{key(1)}.rec", folder / key(2)[:2] / f"{key(2)}.rec")

    with pytest.raises(Corrupt) as caught:
        store.get_record("frame", key(2))
    assert caught.value.code == "other-key"
    assert store.get_record("frame", key(1)) == b"x"


def test_files_that_are_not_ours_are_left_alone(tmp_path):
    """A listing knows its own names only."""
    cache = open_cache(str(tmp_path))
    digest = cache.put_blob(BLOB)
    shard = tmp_path / "blobs" / digest[:2]
    for name in ("notes.txt", f"{digest}.jpg", f"{digest[:-1]}.png", f"{'0' * 64}.png"):
        (shard / name).write_bytes(b"mine")
    (tmp_path / "blobs" / "zz").mkdir()

    assert [info.digest for info in cache.blobs()] == [digest]


def test_an_encoded_record_holds_no_path(tmp_path):
    """Where a store lies is no part of what it says."""
    data = encode_record("frame", key(1), b"payload")

    assert str(tmp_path).encode() not in data
    assert b"/" not in encode_record("frame", "ab" * 32, b"")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no folder here takes no file")
def test_a_folder_that_takes_no_file_is_no_reason_to_hang(tmp_path):
    """There is a place whose folders exist, and in which nothing can be made."""
    with pytest.raises(OSError, match="no file can be made"):
        write_file("/proc/self/fd/x", b"data", PRIVATE, bits=0o666)
    (tmp_path / "blobs").symlink_to("/proc/self")
    with pytest.raises(Unavailable):
        open_cache(str(tmp_path)).put_blob(b"data")
