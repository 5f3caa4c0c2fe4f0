"""A full disk: nothing half, nothing wrong, and a collection frees space."""

import os
import subprocess

import pytest
from store_contract import key

from nfbuild.digests import blob_digest
from nfbuild.errors import Missing, Unavailable
from nfbuild.store.collect import Policy, collect
from nfbuild.store.directory import open_directory
from nfbuild.store.local import open_cache, write_blob
from nfbuild.store.scrub import scrub
from nfbuild.store.stack import open_caches

pytestmark = pytest.mark.process


@pytest.fixture
def small(tmp_path):
    """A file system of 4 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "nfbuild-test", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        reason = done.stderr.strip() if done.returncode else None
    except OSError as error:
        reason = str(error)
    if reason is not None:
        pytest.skip(f"no file system of 4 MB can be mounted here: {reason}")
    yield folder
    done = subprocess.run(["umount", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        # Something still holds a file open there: a fault, but no reason to leave the mount.
        subprocess.run(["umount", "-l", str(folder)], check=True)
        pytest.fail(done.stderr)


def fill(folder):
    """Take every byte that is left."""
    with open(folder / "ballast", "wb", buffering=0) as file:
        for size in (2**20, 4096, 1):
            try:
                while True:
                    file.write(b"\xff" * size)
            except OSError:
                continue


def blob(number):
    return os.urandom(8) + b"%d" % number * 20_000


def put_until_full(store, kept):
    for number in range(500):
        data = blob(number)
        kept[store.put_blob(data)] = data


def files(folder):
    return [name for _, _, names in os.walk(folder) for name in names]


@pytest.mark.parametrize("kind", ["local", "directory"])
def test_what_does_not_fit_is_refused_whole(small, kind):
    """`Unavailable`, no half file, no temporary file, and what was kept stays right."""
    if kind == "local":
        store = open_cache(str(small / "cache"))
    else:
        store = open_directory(str(small / "cache"), read_only=False)
    kept = {}
    with pytest.raises(Unavailable) as caught:
        put_until_full(store, kept)
    assert caught.value.code == "full"
    assert len(kept) > 20

    assert not [name for name in files(small) if name.startswith(".tmp")]
    assert scrub(store).damage == ()
    assert all(store.get_blob(digest) == data for digest, data in kept.items())
    fill(small)
    with pytest.raises(Unavailable):
        write_blob(str(small / "cache"), blob_digest(b"y" * 50_000), b"y" * 50_000)
    store.close()


def test_a_cache_that_finds_no_room_at_all_is_a_warning(small):
    """An uncached build: everything is a miss, one warning each for the cache and its table."""
    fill(small)
    cache = open_cache(str(small / "cache"))

    with pytest.raises(Unavailable):
        cache.put_blob(b"x" * 10_000)
    with pytest.raises(Unavailable):
        cache.put_record("frame", key(1), b"x")
    with pytest.raises((Missing, Unavailable)):
        cache.get_record("frame", key(1))
    warnings = cache.journal.take_warnings()
    assert sorted({warning.code for warning in warnings}) == ["cache-unusable", "no-table"]
    assert len(warnings) == 2
    cache.close()
    assert not [name for name in files(small) if name.startswith(".tmp")]


def test_records_that_do_not_fit_are_lost_and_the_table_is_not(small):
    """The disk fills up in the middle of a run."""
    cache = open_cache(str(small / "cache"))
    first = {key(number): b"%d" % number for number in range(50)}
    cache.put_records("frame", first)
    fill(small)
    with pytest.raises(Unavailable):
        cache.put_records("frame", {key(number): b"x" * 2000 for number in range(50, 2000)})
    cache.close()
    (small / "ballast").unlink()

    again = open_cache(str(small / "cache"))
    assert again.get_records("frame", first) == first
    assert again.get_records("frame", [key(number) for number in range(50, 2000)]) == {}
    again.put_record("frame", key(50), b"fits now")
    assert again.get_record("frame", key(50)) == b"fits now"
    again.close()


def test_a_collection_frees_space_on_a_full_disk(small):
    """Free space is a limit of its own: a twentieth of a small file system is kept free."""
    cache = open_cache(str(small / "cache"))
    with pytest.raises(Unavailable):
        put_until_full(cache, {})
    plan, done = collect(str(small / "cache"), Policy(10 * 10**9, 30 * 86_400.0))

    assert set(plan.by_reason()) == {"free"}
    assert done.files == len(plan.doomed) > 0
    status = os.statvfs(small)
    assert status.f_bavail * status.f_frsize >= status.f_blocks * status.f_frsize // 20
    digest = cache.put_blob(b"z" * 50_000)
    assert cache.get_blob(digest) == b"z" * 50_000
    cache.close()


def test_a_full_tier_still_answers(small, tmp_path):
    """Uploads are lost, counted and named; what the tier has is still had."""
    url = (small / "shared").as_uri()
    first = open_caches(str(tmp_path / "one"), [(url, "read-write")])
    digest = first.store.put_blob(b"there" * 100)
    first.close()
    fill(small)

    second = open_caches(str(tmp_path / "two"), [(url, "read-write")])
    assert second.store.get_blob(digest) == b"there" * 100
    lost = [second.store.put_blob(blob(number)) for number in range(5)]
    second.close()
    assert sorted(second.journal.lost) == sorted(f"blob {name}" for name in lost)
    assert len(second.warnings()) == 1
    assert all(second.store.get_blob(name) for name in lost)
    second.local.close()
