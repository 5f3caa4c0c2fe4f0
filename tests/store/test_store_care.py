"""Scrubbing, claims, counting and the cache folder itself."""

import os
import subprocess
import sys
import threading
import time

import pytest
from store_contract import ABSENT, key

from nfbuild.errors import Corrupt, Missing, ProjectError, Unavailable
from nfbuild.store.claims import Claims
from nfbuild.store.directory import open_directory
from nfbuild.store.local import open_cache
from nfbuild.store.mounts import filesystem_type, is_network
from nfbuild.store.scrub import Damage, scrub
from nfbuild.store.stack import open_caches
from nfbuild.store.stats import Journal, by_event, read_lifetime, write_lifetime

# --- scrubbing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["local", "directory"])
def test_scrubbing_finds_what_is_wrong_and_is_no_use(tmp_path, kind):
    """Every byte is read; times stay, or nothing would ever grow old."""
    root = str(tmp_path / "s")
    store = open_cache(root) if kind == "local" else open_directory(root, read_only=False)
    digests = sorted(store.put_blob(b"%d" % number * 500) for number in range(12))
    store.put_records("frame", {key(number): b"x" for number in range(4)})
    for digest in digests:
        path = f"{root}/blobs/{digest[:2]}/{digest}.png"
        os.chmod(path, 0o644)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    _flip(f"{root}/blobs/{digests[3][:2]}/{digests[3]}.png")
    report = scrub(store)

    assert report.damage == (Damage("blob", digests[3], "digest"),)
    assert (report.blobs, report.records, report.vanished) == (12, 4, 0)
    assert {info.used for info in store.blobs()} == {1_700_000_000}
    assert scrub(store).damage == ()
    store.close()


def _flip(path):
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.write(b"\xff")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_a_sample_is_chosen_by_seed_and_digest(tmp_path):
    """The same seed looks at the same share, in whatever order the files lie."""
    store = open_cache(str(tmp_path))
    for number in range(400):
        store.put_blob(b"%d" % number)
    counts = [scrub(store, sample=0.1, seed=seed).blobs for seed in (1, 1, 2)]

    assert counts[0] == counts[1]
    assert 15 <= counts[0] <= 75
    assert scrub(store, sample=0.0).blobs == 0
    store.close()


def test_a_scrub_of_somebody_elses_store_moves_nothing(tmp_path):
    """Read-only is read-only: damage is reported and stays."""
    store = open_directory(str(tmp_path / "s"), read_only=False)
    digest = store.put_blob(b"x" * 100)
    path = f"{store.root}/blobs/{digest[:2]}/{digest}.png"
    os.chmod(path, 0o644)
    _flip(path)
    reader = open_directory(str(tmp_path / "s"), read_only=True)

    assert len(scrub(reader).damage) == len(scrub(reader).damage) == 1
    assert os.path.exists(path)


# --- claims ---------------------------------------------------------------------------------------

CLAIMER = """
import sys
from nfbuild.store.claims import Claims
claims = Claims(sys.argv[1])
print(len(claims.claim(sys.argv[2:])), flush=True)
sys.stdin.readline()
"""


@pytest.mark.process
def test_a_claim_is_one_process_and_ends_with_it(tmp_path):
    """What somebody else draws is not ours; what the dead had is."""
    keys = [key(number) for number in range(50)]
    other = subprocess.Popen(
        [sys.executable, "-c", CLAIMER, str(tmp_path), *keys[:20]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout.readline() == "20\n"
    mine = Claims(str(tmp_path))
    assert mine.claim(keys) == set(keys[20:])
    assert mine.claim(keys[10:30]) == set(keys[20:30])

    other.kill()
    other.communicate()
    assert mine.claim(keys) == set(keys)
    mine.release(keys[:5])
    third = subprocess.run(
        [sys.executable, "-c", CLAIMER, str(tmp_path), *keys[:10]],
        input="\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert third.stdout == "5\n"
    mine.close()


def test_a_folder_that_takes_no_lock_lets_everybody_draw(tmp_path):
    """A claim saves work; without claims the work is done twice."""
    claims = Claims(str(tmp_path / "nowhere"))

    assert claims.claim([key(1)]) == {key(1)}
    claims.release([key(1)])
    claims.close()


# --- counting -------------------------------------------------------------------------------------


def test_counts_from_many_threads_add_up():
    """A lost update would be a lie in the summary."""
    journal = Journal()

    def count():
        for _ in range(2000):
            journal.count("tier", "miss.missing")

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert journal.by_tier() == {"tier": {"miss.missing": 16_000}}
    assert journal.total("miss") == 16_000
    assert journal.total("mis") == 0
    assert by_event(journal.take_new()) == {"miss": 16_000}
    assert journal.take_new() == {}


def test_a_warning_is_said_once():
    """And a second tier's is another warning."""
    journal = Journal()
    for about in ("a", "a", "b"):
        journal.warn_once("code", about, f"about {about}")

    assert [warned.message for warned in journal.take_warnings()] == ["about a", "about b"]
    assert journal.take_warnings() == []


def test_lifetime_text_comes_back():
    """Events hold blanks and URLs; counts are at the end."""
    sums = {"local hit": 3, "https://host/a b miss.http-500": 1}

    assert read_lifetime(write_lifetime(sums)) == sums
    assert read_lifetime("x 1\n\nno number\nlocal hit -3\nlocal hit 5\nlocal hit 5\n") == {
        "x": 1,
        "local hit": 10,
    }
    assert by_event({"local hit": 2, "http://x/ hit": 3, "local corrupt.digest": 1}) == {
        "hit": 5,
        "corrupt": 1,
    }


# --- the folder -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["nfbuild cache 2", "nfbuild cache", "something else 1", "\xff"])
def test_an_unknown_version_is_refused_by_name(tmp_path, text):
    """And never rewritten: two versions would take turns destroying it."""
    path = tmp_path / "format"
    path.write_bytes(text.encode("latin-1"))

    with pytest.raises(ProjectError) as caught:
        open_cache(str(tmp_path))
    assert caught.value.exit_code == 2
    assert path.read_bytes() == text.encode("latin-1")
    assert os.listdir(tmp_path) == ["format"]


def test_an_empty_format_file_is_written_again(tmp_path):
    """A full disk may leave one; it says nothing that could be refused."""
    (tmp_path / "format").write_bytes(b"")
    open_cache(str(tmp_path))

    assert (tmp_path / "format").read_text() == "nfbuild cache 1\n"


def test_a_new_folder_says_what_it_is(tmp_path):
    """Backup programs and git leave it alone."""
    open_cache(str(tmp_path / "a" / "cache"))

    tag = (tmp_path / "a" / "cache" / "CACHEDIR.TAG").read_bytes()
    assert tag.startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    assert (tmp_path / "a" / "cache" / ".gitignore").read_text() == "*\n"


def test_a_cache_that_cannot_be_is_a_warning(tmp_path):
    """A file in the way: everything is a miss, the run goes on."""
    (tmp_path / "cache").write_bytes(b"in the way")
    cache = open_cache(str(tmp_path / "cache"))

    with pytest.raises(Unavailable):
        cache.put_blob(b"x")
    with pytest.raises((Missing, Unavailable)):
        cache.get_blob(ABSENT)
    with pytest.raises((Missing, Unavailable)):
        cache.get_record("frame", key(1))
    codes = [warned.code for warned in cache.journal.take_warnings()]
    assert codes[0] == "cache-unusable"
    assert len(codes) == len(set(codes))
    assert (tmp_path / "cache").read_bytes() == b"in the way"


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ('format = 2\nshared = "group"\n', "format"),
        ('format = 1\nshared = "world"\n', "shared"),
        ("format = 1\n", "shared"),
        ("not toml at all", "read"),
        ("", "format"),
    ],
)
def test_a_shared_directory_of_another_kind_is_refused_by_name(tmp_path, settings, word):
    """The tier is off, and the message says which file and why; nothing is written."""
    (tmp_path / "nfbuild-store.toml").write_text(settings)
    with pytest.raises(Unavailable, match=word):
        open_directory(str(tmp_path), read_only=False)
    caches = open_caches(str(tmp_path / "cache"), [(tmp_path.as_uri(), "read-write")])
    caches.store.put_blob(b"x")
    assert caches.fetch_blobs([ABSENT]) == set()
    caches.close()

    (warning,) = caches.warnings()
    assert "nfbuild-store.toml" in warning.message
    assert (tmp_path / "nfbuild-store.toml").read_text() == settings
    assert sorted(os.listdir(tmp_path)) == ["cache", "nfbuild-store.toml"]


def test_a_directory_with_something_in_it_does_not_become_a_store(tmp_path):
    """Somebody's home is not an empty cache."""
    (tmp_path / "thesis.txt").write_text("...")
    for read_only in (True, False):
        with pytest.raises(Unavailable, match="no store"):
            open_directory(str(tmp_path), read_only=read_only)
    with pytest.raises(Unavailable, match="no such directory"):
        open_directory(str(tmp_path / "not" / "there"), read_only=False)
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_the_type_of_a_file_system_is_read_from_the_mounts(tmp_path):
    """The innermost mount decides, the last one on a point; blanks are escaped."""
    table = tmp_path / "mountinfo"
    table.write_text(
        "1 0 8:1 / / rw - ext4 /dev/a rw\n"
        "2 1 0:40 / /srv rw shared:1 - nfs4 host:/x rw\n"
        "3 1 0:41 / /srv/my\\040cache rw - tmpfs none rw\n"
        "4 1 0:42 / /srv/twice rw - nfs host:/y rw\n"
        "5 4 0:43 / /srv/twice rw - xfs /dev/b rw\n"
        "nonsense\n"
    )

    def kind(path):
        return filesystem_type(path, table=str(table))

    assert kind("/home/x") == "ext4"
    assert kind("/srv/cache") == "nfs4"
    assert kind("/srvother") == "ext4"
    assert kind("/srv/my cache/x") == "tmpfs"
    assert kind("/srv/twice") == "xfs"
    assert [is_network(name) for name in ("nfs4", "cifs", "ext4", None)] == [1, 1, 0, 0]
    assert filesystem_type("/x", table=str(tmp_path / "absent")) is None


def test_clocks_ten_years_apart_share_a_cache(tmp_path):
    """A builder's clock is no part of an answer."""
    script = (
        "import sys, time; shift = float(sys.argv[2]); now = time.time\n"
        "time.time = lambda: now() + shift\n"
        "from nfbuild.store.local import open_cache; from nfbuild.digests import derive\n"
        "cache = open_cache(sys.argv[1]); key = derive('nfbuild 2026 test key v1', 1)\n"
        "cache.put_record('frame', key, b'x'); print(cache.get_record('frame', key))\n"
        "print(cache.get_blob(cache.put_blob(b'y')))\n"
    )
    for shift in ("315360000", "0", "-315360000"):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path), shift],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "b'x'\nb'y'\n"


def test_a_local_hit_is_cheap(tmp_path):
    """At most 1 ms for a frame of 250 kB with its check; the best of many, as others run too."""
    cache = open_cache(str(tmp_path))
    digest = cache.put_blob(os.urandom(250_000))
    best = 1.0
    for _ in range(200):
        began = time.perf_counter()
        cache.get_blob(digest)
        best = min(best, time.perf_counter() - began)

    assert best < 0.001


def test_the_stack_warns_about_damage_only_by_counting(tmp_path):
    """Damage that heals is a number in the summary, not a line each."""
    caches = open_caches(str(tmp_path / "c"))
    digest = caches.store.put_blob(b"x" * 100)
    os.chmod(caches.local.blob_path(digest), 0o644)
    _flip(caches.local.blob_path(digest))
    with pytest.raises(Corrupt):
        caches.store.get_blob(digest)
    caches.store.put_blob(b"x" * 100)
    caches.close()

    assert caches.warnings() == []
    assert by_event(caches.local.lifetime())["corrupt"] == 1
    assert by_event(caches.local.lifetime())["healed"] == 1
