"""What a run says of its caches: statistics, toolchains that differ, looking without writing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cache_space import (
    DISTINCT,
    blobs,
    children,
    film,
    good,
    kill,
    litter,
    product,
    project,
    report,
    start,
    tier_of,
    wait_until_gone,
)
from store_fakes import answer
from store_servers import free_port
from test_store_servers import bad

from nfbuild.ops.caches.collecting import Protected, reached
from nfbuild.ops.caches.neighbours import differences, note_toolchain, read_toolchains
from nfbuild.project import load
from nfbuild.store.breaker import Tier
from nfbuild.store.directory import open_directory
from nfbuild.store.memory import MemoryStore
from nfbuild.store.scrub import scrub
from nfbuild.store.stack import open_caches
from nfbuild.store.stats import Journal

assert bad  # a fixture: a server that behaves as it is told

pytestmark = pytest.mark.process


@pytest.fixture
def tier(tmp_path):
    (tmp_path / "tier").mkdir()
    return tmp_path / "tier"


def snapshot(*roots: Path) -> dict[str, tuple[int, int]]:
    """Return every file below folders with its size and time of writing."""
    return {
        str(path): (path.stat().st_size, path.stat().st_mtime_ns)
        for root in roots
        for path in root.rglob("*")
    }


# --- statistics -------------------------------------------------------------------------------


def test_a_run_says_what_its_caches_did(tmp_path, tier):
    """Hits per tier, misses by reason, bytes, uploads and time saved; lifetime sums them."""
    mine = project(tmp_path / "mine", tier.as_uri())
    first = good(mine.root, "build", "-j", "1")["cache"]
    here, there = first["tiers"]

    assert (here["name"], there["name"]) == ("local", tier.as_uri())
    assert (first["kept"], first["shared"]) == (0, 0)
    assert there["misses"] == {"missing": DISTINCT}
    sizes = sum(path.stat().st_size for path in blobs(mine.root / "cache"))
    assert here["bytes_written"] == sizes
    assert there["bytes_written"] > sizes
    assert there["written"] >= 3 * DISTINCT

    yours = project(tmp_path / "yours", tier.as_uri())
    shutil.copytree(mine.root / "ledger", yours.root / "ledger")
    second = good(yours.root, "build", "-j", "1")["cache"]
    assert (second["kept"], second["shared"]) == (0, DISTINCT)
    assert tier_of({"cache": second}, tier.as_uri())["hits"] == 3 * DISTINCT
    assert second["bytes_read"] >= sizes
    # Nothing was ever drawn here, so nobody knows what drawing would have taken.
    assert second["seconds_saved"] is None

    third = good(mine.root, "build", "--rehash")["cache"]
    assert (third["kept"], third["shared"]) == (DISTINCT, 0)
    assert third["seconds_saved"] > 0
    life = good(mine.root, "cache", "stats")
    assert life["hits_by_tier"]["local"] >= 2 * DISTINCT
    assert life["misses_by_reason"]["missing"] >= 2 * DISTINCT
    assert life["seconds_saved"] == pytest.approx(third["seconds_saved"], abs=0.002)


def test_the_summary_tells_people_the_same(tmp_path, tier):
    """A line about the caches stands before the last, and damage has one of its own."""
    mine = project(tmp_path / "mine", tier.as_uri())
    good(mine.root, "build", "-j", "1")
    next(blobs(mine.root / "cache")).unlink()
    damaged = list(blobs(mine.root / "cache"))[3]
    damaged.chmod(0o644)
    damaged.write_bytes(b"x" * damaged.stat().st_size)
    # Nobody reads a blob whose exported frame is up to date.
    shutil.rmtree(mine.root / "out")
    process = start(mine.root, "build", "--rehash")
    _, err = process.communicate(timeout=60)

    lines = err.splitlines()
    assert f"cache: {DISTINCT} frames known here" in lines[-3]
    assert lines[-2].startswith("cache: 1 damaged, 1 replaced")
    assert "0 rendered" in lines[-1]


def test_what_could_not_be_uploaded_is_named(tmp_path):
    """Nobody listens: each upload that was lost is in the report, and one warning says why."""
    url = f"http://127.0.0.1:{free_port()}/cache"
    mine = project(tmp_path / "mine", url)
    done = good(mine.root, "build", "-j", "1")

    lost = done["cache"]["lost"]
    assert {name.split(" ")[0] for name in lost} == {
        "blob", "pixels", "frame", "composition", "answer",
    }  # fmt: skip
    assert len([name for name in lost if name.startswith("blob ")]) == DISTINCT
    assert tier_of(done, url)["off"]
    assert len([one for one in done["warnings"] if one["code"] == "shared-cache"]) == 1


def test_a_required_tier_in_trouble_is_exit_4(tmp_path):
    """`--require-shared` turns what would be a warning into an error with its own code."""
    url = f"http://127.0.0.1:{free_port()}/cache"
    mine = project(tmp_path / "mine", url)
    done = report(mine.root, "build", "-j", "1", "--require-shared")

    assert done["exit"] == 4
    assert url in done["errors"][0]["message"]


def test_a_required_tier_that_takes_nothing_is_exit_4_after_the_work(tmp_path, tier):
    """Everything is built and reported; the uploads that were refused are the error."""
    mine = project(tmp_path / "mine", tier.as_uri())
    good(mine.root, "build", "-j", "1")
    for folder in (tier / "blobs", tier / "records"):
        shutil.rmtree(folder)
        folder.mkdir()
        folder.chmod(0o555)
    (tier / "blobs").rmdir()
    (tier / "blobs").symlink_to("/proc")
    done = report(mine.root, "build", "-j", "1", "--no-cache", "--require-shared")

    assert done["exit"] == 4
    assert done["totals"]["rendered"] == DISTINCT
    assert "takes no more uploads" in done["errors"][-1]["message"]


# --- toolchains -------------------------------------------------------------------------------


class Chain:
    """A toolchain by its parts."""

    def __init__(self, core, **base):
        self.core = core
        self.base = {**base, "nfbuild/scene/x.py": "1"}


def tier_in_memory():
    return Tier("shared", MemoryStore, Journal(), writable=True)


def test_toolchains_of_a_tier_are_remembered_newest_first():
    """The nearest of them is compared; one's own says that the toolchain is not the reason."""
    place = tier_in_memory()
    note_toolchain(place, Chain("a", libthorvg="1", libc="1"))
    note_toolchain(place, Chain("b", libthorvg="2", libc="2"))
    note_toolchain(place, Chain("b", libthorvg="2", libc="2"))
    known = read_toolchains(place)

    assert [row["pixel core"] for row in known] == ["b", "a"]
    mine = {"libthorvg": "1", "libc": "1", "pixel core": "c"}
    assert [(one.what, one.theirs, one.ours) for one in differences(known, mine)] == [
        ("pixel core", "a", "c")
    ]
    assert differences(known, known[1]) == []
    assert differences([], mine) == []


def test_two_toolchains_get_no_hits_and_are_told_which_part_differs(tmp_path, tier):
    """The C library's version is a part: who draws with another one shares no frame."""
    mine = project(tmp_path / "mine", tier.as_uri())
    yours = project(tmp_path / "yours", tier.as_uri())
    good(mine.root, "build", "-j", "1")
    other = tmp_path / "other"
    other.mkdir()
    # What this interpreter says of its C library is what nfbuild hashes.
    (other / "sitecustomize.py").write_text(
        "import os\n_confstr = os.confstr\n"
        "os.confstr = lambda name: 'glibc 9.99' if 'LIBC' in str(name) else _confstr(name)\n"
    )
    path = os.pathsep.join(filter(None, (str(other), os.environ.get("PYTHONPATH"))))
    done = good(yours.root, "build", "-j", "1", PYTHONPATH=path)

    there = tier_of(done, tier.as_uri())
    assert (there["hits"], done["totals"]["rendered"]) == (0, DISTINCT)
    assert [part["what"] for part in there["toolchain"]] == ["c library"]
    (warning,) = [one for one in done["warnings"] if one["code"] == "cache.toolchain"]
    assert "`c library` differ" in warning["message"]
    # Now there are frames of both: new compositions of either are no matter of toolchains.
    mine.compose("more", film("0.5", 4, "#00ff00"))
    assert tier_of(good(mine.root, "build", "-j", "1"), tier.as_uri())["toolchain"] == []


# --- looking ----------------------------------------------------------------------------------


def test_status_writes_nothing_here_or_at_a_tier(tmp_path, tier):
    """What a tier could give counts as known, and stays where it is."""
    mine = project(tmp_path / "mine", tier.as_uri())
    good(mine.root, "build", "-j", "1")
    yours = project(tmp_path / "yours", tier.as_uri())
    shutil.copytree(mine.root / "ledger", yours.root / "ledger")
    before = snapshot(yours.root, tier)
    done = good(yours.root, "status")

    assert snapshot(yours.root, tier) == before
    assert [row["to_render"] for row in done["compositions"]] == [0, 0]

    # The same with a cache that has something, and has something wrong.
    good(yours.root, "build", "-j", "1")
    shutil.rmtree(yours.root / "cache" / "blobs")
    yours.edit("compositions/short.nf.svg", "#102030", "#203040")
    before = snapshot(yours.root / "cache", tier)
    done = good(yours.root, "status")
    assert [row["to_render"] for row in done["compositions"]] == [0, 6]
    after = snapshot(yours.root / "cache", tier)
    table = str(yours.root / "cache" / "table")
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} <= {
        name for name in after if name.startswith(table)
    }


def test_doctor_says_who_may_write_and_what_is_active(tmp_path, tier):
    """Each tier: active or why not, its file system, writers and clock; nothing is changed."""
    away = tmp_path / "away"
    mine = project(tmp_path / "mine", tier.as_uri(), (away / "x").as_uri())
    good(mine.root, "build", "-j", "1")
    before = snapshot(tier)
    document = good(mine.root, "doctor")
    facts = [(check["name"], check["ok"], check["fact"]) for check in document["checks"]]

    told = {name: fact for name, ok, fact in facts if ok}
    assert f"{tier.as_uri()} (read-write): active" in told["shared tier"]
    assert "you may write" in told["shared writing"]
    assert "clock" in told["shared clock"]
    bad_facts = [fact for name, ok, fact in facts if not ok]
    assert len(bad_facts) == 1
    assert "no such directory" in bad_facts[0]
    assert {name for name, value in snapshot(tier).items() if before.get(name) != value} <= {
        str(tier)
    }


def test_doctor_warns_of_a_frame_table_on_a_network(tmp_path, monkeypatch):
    """There the records are plain files; a local folder is faster."""
    from nfbuild.ops import doctor

    mine = project(tmp_path / "mine")
    monkeypatch.setattr(doctor, "filesystem_type", lambda _path: "nfs4")
    checks = {check.name: check for check in doctor.examine(str(mine.root)).checks}

    assert not checks["cache file system"].ok
    assert "`nfs4` is a network file system" in checks["cache file system"].fact


# --- the end of a run -------------------------------------------------------------------------

LONG = (
    '<svg xmlns="http://www.w3.org/2000/svg" data-width="1280" data-height="720" data-fps="30" '
    'data-duration="40"><defs><radialGradient id="g"><stop offset="0" stop-color="#fff"/>'
    '<stop offset="1" stop-color="#136"/></radialGradient></defs>'
    '<rect id="a" width="1280" height="720" fill="url(#g)"/>'
    '<script type="application/nanoframes+json">{"animations":[{"target":"#a","keyframes":['
    '{"t":0,"transform":{"rotate":0}},{"t":40,"transform":{"rotate":90}}]}]}</script></svg>'
)


def _takes_nothing(server, line, method, _path):
    """Have nothing, and let whoever uploads wait."""
    if method in ("PUT", "MKCOL"):
        server.wait(30)
    else:
        answer(line, 404, method=method)


@pytest.mark.parametrize("kind", ["directory", "stalled server"])
def test_an_interrupt_ends_a_build_in_seconds(tmp_path, tier, bad, kind):
    """Exit 130, no child, no temporary file, no folder of workers, and a valid cache."""
    url = tier.as_uri() if kind == "directory" else bad(_takes_nothing).url
    mine = project(tmp_path / "mine", url, export=False)
    mine.compose("endless", LONG)
    process = start(mine.root, "build", "-j", "2")
    drawn = mine.root / "cache" / "blobs"
    until = time.monotonic() + 60
    while not (drawn.is_dir() and len(list(drawn.rglob("*.png"))) > 4):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert time.monotonic() - began < 10
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert wait_until_gone(process.pid) == []
    assert litter(mine.root) == litter(tier) == []
    assert good(mine.root, "cache", "verify")["damage"] == []
    if kind == "directory":
        assert scrub(open_directory(str(tier), read_only=False)).damage == ()


def test_a_killed_build_leaves_no_worker_and_its_folder_goes_with_the_next(tmp_path):
    """SIGKILL: workers end by themselves; the next build takes the folder they stood in."""
    mine = project(tmp_path / "mine", export=False)
    mine.compose("endless", LONG)
    process = start(mine.root, "build", "-j", "2")
    staging = mine.root / "cache" / "staging"
    until = time.monotonic() + 60
    while not (staging.is_dir() and list(staging.iterdir()) and len(children(process.pid)) > 1):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    kill(process)

    assert wait_until_gone(process.pid) == []
    (left,) = staging.iterdir()
    (mine.root / "compositions/endless.nf.svg").unlink()
    good(mine.root, "build", "-j", "1")
    assert not left.exists()
    assert list(staging.iterdir()) == []


def test_a_living_build_keeps_its_folder(tmp_path):
    """A second build beside it sweeps the dead only."""
    mine = project(tmp_path / "mine", export=False)
    mine.compose("endless", LONG)
    first = start(mine.root, "build", "endless", "-j", "1")
    staging = mine.root / "cache" / "staging"
    until = time.monotonic() + 60
    while not (staging.is_dir() and list(staging.iterdir())):
        assert time.monotonic() < until
        time.sleep(0.02)
    (folder,) = staging.iterdir()
    good(mine.root, "build", "short", "-j", "1")

    assert folder.exists()
    assert first.poll() is None
    kill(first)


# --- collecting by itself ---------------------------------------------------------------------


def test_a_build_over_the_limit_collects_rarely_and_spares_its_own(tmp_path):
    """What this build and the ledger reach goes last; within hours nobody collects again."""
    mine = project(tmp_path / "mine", cache='max_size = "24 KB"')
    good(mine.root, "build", "-j", "1")
    (mine.root / "cache" / "collected").unlink()
    own = {path.name for path in blobs(mine.root / "cache")}
    for colour in ("#111111", "#222222"):
        mine.edit("compositions/long.nf.svg", mine_colour(mine), colour)
        done = good(mine.root, "build", "-j", "1")
        if colour == "#111111":
            (collected,) = done["cache"]["collected"]
            assert collected["files"] > 0
            kept = {path.name for path in blobs(mine.root / "cache")}
            # Twenty frames of the film before are not reached any more: these went.
            assert own - kept
            again = good(mine.root, "build", "--rehash")
            assert again["totals"]["rendered"] == 0
    assert done["cache"]["collected"] == []


def test_what_the_ledger_records_is_protected(tmp_path):
    """Every blob of the films that entries name, and none when nobody asks."""
    mine = project(tmp_path / "mine")
    good(mine.root, "build", "-j", "1")
    held = load(str(mine.root))
    caches = open_caches(held.cache.folder)
    asked = []

    def gather():
        asked.append(1)
        return reached(held, caches)

    try:
        protected = Protected(gather)
        assert asked == []
        found = {path.stem for path in blobs(mine.root / "cache")}
        assert found
        assert all(digest in protected for digest in found)
        assert "0" * 64 not in protected
        assert asked == [1]

        (mine.root / "ledger" / "compositions" / "long.json").unlink()
        fewer = Protected(gather)
        assert any(digest not in fewer for digest in found)
    finally:
        caches.close()


def mine_colour(space):
    text = space.read("compositions/long.nf.svg")
    return text.partition('id="bg"')[2].partition('fill="')[2].partition('"')[0]


def test_json_of_a_build_without_anything_to_do_has_the_same_shape(tmp_path):
    """Its caches were not asked: `cache` is null."""
    mine = project(tmp_path / "mine")
    first = good(mine.root, "build", "-j", "1")
    second = good(mine.root, "build")

    assert first["cache"]["tiers"][0]["name"] == "local"
    assert second["cache"] is None
    assert product(mine.root).files
    assert json.dumps(second)
    assert subprocess.PIPE
