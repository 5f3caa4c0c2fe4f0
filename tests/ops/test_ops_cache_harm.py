"""A cache that is damaged, full, foreign or of another time: right products, counted, no loop."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from cache_space import (
    DISTINCT,
    blobs,
    configuration,
    environment,
    film,
    good,
    litter,
    product,
    project,
    report,
    tier_of,
)
from opspace import Space
from test_store_damage import DAMAGES
from test_store_full import fill as fill_disk
from test_store_full import small

from nfbuild.store.directory import open_directory
from nfbuild.store.scrub import scrub

assert small  # a fixture: a file system of 4 MB

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project that was built, with a tier that was filled."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "tier").mkdir()
    space = project(folder / "mine", (folder / "tier").as_uri())
    good(space.root, "build", "-j", "1")
    return folder


def copy_of(made: Path, folder: Path, *, mode: str = "read-write") -> Space:
    """Return a copy of that project and its tier below `folder`."""
    shutil.copytree(made / "tier", folder / "tier")
    shutil.copytree(made / "mine", folder / "mine")
    return Space(folder / "mine", configuration((folder / "tier").as_uri(), mode=mode))


# --- damage -----------------------------------------------------------------------------------


def _harm(paths: list[Path], turn: int) -> tuple[int, int]:
    """Do every kind of damage, one to each file; return how many can be counted, and can not."""
    counted = gone = 0
    for number, path in enumerate(paths):
        DAMAGES[(number + turn) % len(DAMAGES)](path)
        if os.path.lexists(path):
            counted += 1
        else:
            gone += 1
    return counted, gone


def test_every_damage_of_every_blob_is_counted_and_healed(made, tmp_path):
    """Each blob in turn gets each damage: every product right, every damage counted."""
    mine = copy_of(made, tmp_path)
    mine.write("nfbuild.toml", configuration())
    right = product(mine.root)
    for turn in range(len(DAMAGES)):
        counted, gone = _harm(list(blobs(mine.root / "cache")), turn)
        shutil.rmtree(mine.root / "out")
        done = mine.build(rehash=True).report.to_json()

        assert product(mine.root) == right, turn
        assert done["totals"]["rendered"] == counted + gone, turn
        assert done["totals"]["cache_lied"] == 0
        here = tier_of(done, "local")
        assert (here["corrupt"], here["healed"]) == (counted, counted), turn
    assert len(list(blobs(mine.root / "cache"))) == DISTINCT
    assert good(mine.root, "cache", "verify")["damage"] == []


@pytest.mark.parametrize("turn", range(0, len(DAMAGES), 4))
def test_damage_of_a_tier_is_counted_and_harmless(made, tmp_path, turn):
    """Records and blobs of a shared directory, each with a damage: right, and healed in the end."""
    mine = copy_of(made, tmp_path)
    right = product(mine.root)
    tier = tmp_path / "tier"
    records = [*(tier / "records" / "frame").rglob("*.rec")]
    # Fewer than make a tier a liar, which is given up: then all the rest would be drawn.
    harmed = [*sorted(records)[:2], *list(blobs(tier))[20:22]]
    counted, _ = _harm(harmed, turn)
    for folder in ("cache", "out"):
        shutil.rmtree(mine.root / folder)
    done = mine.build().report.to_json()

    assert product(mine.root) == right
    assert 1 <= tier_of(done, tier.as_uri())["corrupt"] <= counted
    assert done["totals"]["rendered"] <= len(harmed)
    store = open_directory(str(tier), read_only=False)
    assert scrub(store).damage == ()


@pytest.mark.parametrize("harm", ["garbage", "empty", "torn", "gone", "folder"])
def test_a_broken_frame_table_costs_renders_and_is_said_once(made, tmp_path, harm):
    """The table is made anew: the next build has one again."""
    mine = copy_of(made, tmp_path)
    mine.write("nfbuild.toml", configuration())
    right = product(mine.root)
    table = mine.root / "cache" / "table"
    database = table / "cache.db"
    if harm == "garbage":
        database.write_bytes(os.urandom(20_000))
    elif harm == "empty":
        database.write_bytes(b"")
    elif harm == "torn":
        database.write_bytes(database.read_bytes()[:6000])
    elif harm == "gone":
        shutil.rmtree(table)
    else:
        database.unlink()
        database.mkdir()
    first = mine.build(rehash=True).report
    second = mine.build(rehash=True).report

    assert product(mine.root) == right
    assert first.rendered == DISTINCT
    assert len([one for one in first.warnings if one["code"] == "no-table"]) <= 1
    # What was found broken is gone by the next run, which fills the table anew.
    third = mine.build(rehash=True).report if second.rendered else second
    assert third.rendered == 0


# --- a full disk ------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["cache", "exports", "temporary"])
def test_a_full_disk_is_an_error_or_an_uncached_build(small, tmp_path, place):
    """Never a wrong or a half product; where it was full, the next build with room is right."""
    cold = project(tmp_path / "cold")
    good(cold.root, "build", "-j", "1")
    right = product(cold.root)
    mine = project(tmp_path / "mine")
    env = {}
    if place == "cache":
        env["NFBUILD_CACHE_DIR"] = str(small / "cache")
    elif place == "exports":
        (mine.root / "out").symlink_to(small)
    else:
        env["TMPDIR"] = str(small)
    fill_disk(small)
    done = report(mine.root, "build", "-j", "1", **env)

    assert done["ok"] is (done["exit"] == 0)
    if done["exit"]:
        told = [f"{error['message']} {error['hint']}" for error in done["errors"]]
        word = {"cache": "make room where it lies", "exports": "No space left"}[place]
        assert told
        assert all(word in one for one in told), told
    else:
        assert product(mine.root) == right
    (small / "ballast").unlink()
    for name, content in product(mine.root).files.items():
        # What is there is whole; what is not there is missing, and the exit code says so.
        assert content == right.files[name]
    assert good(mine.root, "build", "-j", "1", **env)["ok"]
    assert product(mine.root) == right


def test_collecting_frees_a_full_disk(small, tmp_path):
    """The cache fills its disk; `cache collect` makes the room that the system keeps free."""
    mine = project(tmp_path / "mine")
    env = {"NFBUILD_CACHE_DIR": str(small / "cache")}
    good(mine.root, "build", "-j", "1", **env)
    with (small / "ballast").open("wb") as file:
        file.write(b"x" * (os.statvfs(small).f_bavail * 4096 - 4096))
    before = list(blobs(small / "cache"))
    plan = good(mine.root, "cache", "collect", "--dry-run", **env)
    assert list(blobs(small / "cache")) == before
    done = good(mine.root, "cache", "collect", **env)

    assert plan["folders"][0]["reasons"]["free"] > 0
    assert done["folders"][0]["done"]["files"] == plan["folders"][0]["files"]
    assert os.statvfs(small).f_bavail > 0


# --- two users --------------------------------------------------------------------------------

ALICE, BOB, GROUP = 20_001, 20_002, 20_000


@pytest.fixture
def people():
    """Give a function that runs the program as a user with an umask, or skip with the reason."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("running as two users needs root and `setpriv`")
    folder = Path(tempfile.mkdtemp(prefix="nfbuild-people-"))
    folder.chmod(0o755)

    sight: list[str] = []

    def run(uid, umask, root, *words):
        command = ["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={GROUP}", *sight]
        program = f"umask {umask}; exec {sys.executable} -B -m nfbuild {' '.join(words)}"
        return subprocess.run(
            [*command, "sh", "-c", program],
            cwd=root,
            env=environment(HOME=str(root)),
            capture_output=True,
            text=True,
            check=False,
        )

    probe = run(ALICE, "022", folder, "--version")
    if probe.returncode != 0:
        # An interpreter in root's private home: they may see it, and write no more than before.
        # That they may read each other's files as well is what the tests of the store show.
        sight += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        probe = run(ALICE, "022", folder, "--version")
    if probe.returncode != 0 or "nfbuild" not in probe.stdout:
        shutil.rmtree(folder)
        reason = (probe.stderr.strip().splitlines() or ["?"])[-1]
        pytest.skip(f"this Python cannot run as another user: {reason}")
    yield folder, run
    shutil.rmtree(folder)


def test_two_users_share_a_directory_through_the_program(people):
    """Hits both ways whatever the umasks, modes that are the directory's, maintenance by either."""
    folder, run = people
    tier = folder / "tier"
    tier.mkdir()
    os.chown(tier, 0, GROUP)
    tier.chmod(0o2775)
    spaces = {}
    for uid in (ALICE, BOB):
        space = Space(folder / str(uid), configuration(tier.as_uri()))
        space.compose("mine", film("1", 6, f"#ff{uid % 100:02d}00"))
        space.compose("ours", film("1", 5, "#2288ff"))
        subprocess.run(["chown", "-R", f"{uid}:{uid}", str(space.root)], check=True)
        spaces[uid] = space
    documents = {}
    for uid, umask in ((ALICE, "077"), (BOB, "027"), (ALICE, "022")):
        shutil.rmtree(spaces[uid].root / "cache", ignore_errors=True)
        done = run(uid, umask, spaces[uid].root, "build", "-j", "1", "--json")
        assert done.returncode == 0, done.stderr
        documents[uid] = json.loads(done.stdout)
        assert documents[uid]["cache"]["lost"] == []

    # Bob drew his own film, and one frame of what Alice had shared; then Alice drew nothing.
    assert documents[BOB]["totals"]["rendered"] == 8
    assert documents[ALICE]["totals"]["rendered"] == 0
    for path in tier.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        expected = 0o2775 if path.is_dir() else 0o444 if path.suffix == ".png" else 0o664
        assert mode == expected, (path, oct(mode))
    for uid, umask in ((ALICE, "077"), (BOB, "027")):
        # The directory's modes do not leak: an export has those of who first wrote it.
        exported = spaces[uid].root / "out" / "ours" / "00000.png"
        assert stat.S_IMODE(exported.stat().st_mode) == 0o666 & ~int(umask, 8)
        for verb in (("cache", "verify"), ("cache", "collect")):
            done = run(uid, umask, spaces[uid].root, *verb, "--json")
            assert done.returncode == 0, (verb, done.stdout, done.stderr)
            for one in json.loads(done.stdout).get("folders", []):
                assert one["done"]["failed"] == 0


# --- clocks -----------------------------------------------------------------------------------

YEAR = 365 * 86_400


@pytest.mark.parametrize("shift", [-36 * YEAR, 9 * YEAR], ids=["1990", "2035"])
def test_files_of_another_time_cause_no_loop(made, tmp_path, shift):
    """Sources, exports, entries, blobs and records of 1990 or 2035: nothing is made again."""
    mine = copy_of(made, tmp_path)
    right = product(mine.root)
    then = time.time() + shift
    for path in (*mine.root.rglob("*"), *(tmp_path / "tier").rglob("*")):
        os.utime(path, (then, then), follow_symlinks=False)
    first = good(mine.root, "build", "-j", "1")
    second = good(mine.root, "build")

    assert (first["totals"]["rendered"], second["totals"]["rendered"]) == (0, 0)
    assert (second["cache"] is None) is (shift < 0)  # what may change any moment is looked at
    assert product(mine.root) == right
    # Nothing is stale: an edit is seen, whatever time the file has.
    mine.edit("compositions/short.nf.svg", "#2288ff", "#2288fe")
    os.utime(mine.root / "compositions/short.nf.svg", (then, then))
    third = good(mine.root, "build", "-j", "1")
    assert third["totals"]["rendered"] == 6
    # And no entry is immortal: a collection without room takes what the ledger does not reach.
    mine.write("nfbuild.local.toml", '[cache]\nmax_size = "1 KB"\n')
    good(mine.root, "cache", "collect")
    for place in (mine.root / "cache", tmp_path / "tier"):
        assert sum(path.stat().st_size for path in blobs(place)) < 1000


def test_a_builder_ten_years_ahead_shares_with_the_present(made, tmp_path):
    """Its clock is wrong, its frames are right: hits both ways, and nothing is taken for old."""
    mine = copy_of(made, tmp_path)
    ahead = tmp_path / "ahead"
    ahead.mkdir()
    (ahead / "sitecustomize.py").write_text(
        "import time\n_time, _ns = time.time, time.time_ns\n"
        "time.time = lambda: _time() + 315_360_000\n"
        "time.time_ns = lambda: _ns() + 315_360_000 * 10**9\n"
    )
    path = os.pathsep.join(filter(None, (str(ahead), os.environ.get("PYTHONPATH"))))
    yours = project(tmp_path / "yours", (tmp_path / "tier").as_uri())
    shutil.copytree(mine.root / "ledger", yours.root / "ledger")
    first = good(yours.root, "build", "-j", "1", PYTHONPATH=path)
    assert first["totals"]["rendered"] == 0
    good(yours.root, "cache", "collect", PYTHONPATH=path)
    assert len(list(blobs(tmp_path / "tier"))) == len(list(blobs(yours.root / "cache"))) == DISTINCT
    shutil.rmtree(mine.root / "cache")
    assert good(mine.root, "build", "-j", "1")["totals"]["rendered"] == 0
    assert good(yours.root, "build", PYTHONPATH=path)["cache"] is None


def test_times_cut_to_two_seconds_cause_no_loop(made, tmp_path):
    """Some file systems keep times that coarsely: once looked at, there is nothing to do."""
    mine = copy_of(made, tmp_path)
    good(mine.root, "build", "-j", "1")
    for path in mine.root.rglob("*"):
        seconds = int(path.lstat().st_mtime) // 2 * 2
        os.utime(path, (seconds, seconds), follow_symlinks=False)
    rendered = [good(mine.root, "build")["totals"]["rendered"] for _ in range(2)]

    assert rendered == [0, 0]
    mine.edit("compositions/short.nf.svg", "#2288ff", "#2288fe")
    assert good(mine.root, "build", "-j", "1")["totals"]["rendered"] == 6


# --- a project and its reader -----------------------------------------------------------------


def test_a_read_only_tier_is_read_and_left_alone(made, tmp_path):
    """CI writes, developers read, by `NFBUILD_SHARED`: a developer's build changes nothing."""
    mine = copy_of(made, tmp_path, mode="read-only")
    shutil.rmtree(mine.root / "cache")
    mine.compose("more", film("0.5", 4, "#00ff00"))
    tier = tmp_path / "tier"
    before = sorted(path.as_posix() for path in tier.rglob("*"))
    done = good(mine.root, "build", "-j", "1")

    assert done["totals"]["rendered"] == 5
    assert sorted(path.as_posix() for path in tier.rglob("*")) == before
    shutil.rmtree(mine.root / "cache")
    good(mine.root, "build", "-j", "1", NFBUILD_SHARED="read-write")
    assert len(list(blobs(tier))) == DISTINCT + 5
    shutil.rmtree(mine.root / "cache")
    off = good(mine.root, "build", "-j", "1", NFBUILD_SHARED="off")
    assert (off["totals"]["rendered"], len(off["cache"]["tiers"])) == (DISTINCT + 5, 1)
    assert litter(tier) == []
