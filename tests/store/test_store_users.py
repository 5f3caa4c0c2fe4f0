"""Two users of one group share a directory, whatever their umasks."""

import grp
import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

import nfbuild
from nfbuild.store.directory import open_directory

pytestmark = pytest.mark.process

ALICE, BOB, CAROL, GROUP = 20_001, 20_002, 20_003, 20_000

SCRIPT = """
import json, os, sys, time
sys.dont_write_bytecode = True
os.umask(int(sys.argv[1], 8))
from nfbuild.digests import derive, blob_digest
from nfbuild.errors import NfbuildError
from nfbuild.store.directory import open_directory
from nfbuild.store.collect import Policy, collect
from nfbuild.store.scrub import scrub

def blobs(tag):
    shards, number = {}, 0
    while len(shards) < 256:
        data = b"%s %d" % (tag, number)
        shards.setdefault(blob_digest(data)[:2], data)
        number += 1
    return shards

def key(number):
    return derive("nfbuild 2026 test key v1", number)

root, task = sys.argv[2], sys.argv[3]
before = os.umask(0); os.umask(before)
result = {}
try:
    store = open_directory(root, read_only=task == "read")
    if task.startswith("write:"):
        tag = task.partition(":")[2]
        for data in blobs(tag.encode()).values():
            store.put_blob(data)
        store.put_records("frame", {key(n): tag.encode() for n in range(40)})
        own = range(len(tag) * 100, len(tag) * 100 + 40)
        store.put_records("pixels", {key(n): tag.encode() for n in own})
    elif task.startswith("have:"):
        tag = task.partition(":")[2]
        wanted = blobs(tag.encode()).values()
        result["hits"] = sum(store.get_blob(blob_digest(data)) == data for data in wanted)
        result["records"] = len(store.get_records("frame", [key(n) for n in range(40)]))
    elif task == "scrub":
        report = scrub(store)
        result["damage"] = [d.name for d in report.damage]
        result["checked"] = report.blobs
        result["unavailable"] = report.unavailable
    elif task == "collect":
        plan, done = collect(root, Policy(0, None, min_free=0), lock_mode=store.modes.file)
        result["files"], result["failed"] = done.files, done.failed
except NfbuildError as error:
    result["error"] = [type(error).__name__, error.code, error.message]
result["umask"] = os.umask(before) == before
print(json.dumps(result))
"""


def _candidates():
    yield sys.executable
    for name in (f"python3.{sys.version_info.minor}", "python3"):
        for folder in ("/usr/bin", "/usr/local/bin"):
            if os.access(f"{folder}/{name}", os.X_OK):
                yield f"{folder}/{name}"


@pytest.fixture(scope="module")
def run():
    """Give a function that runs the script as a user, or skip with the reason."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("running as two users needs root and `setpriv`")
    # Below root's own folders nobody else can read: a copy that everybody can.
    folder = Path(tempfile.mkdtemp(prefix="nfbuild-users-"))
    folder.chmod(0o755)
    packages = folder / "packages"
    site = Path(sysconfig.get_path("platlib"))
    shutil.copytree(Path(nfbuild.__file__).parent, packages / "nfbuild")
    for name in ("blake3", "typing_extensions.py"):
        if (site / name).is_dir():
            shutil.copytree(site / name, packages / name)
        elif (site / name).exists():
            shutil.copy(site / name, packages / name)
    subprocess.run(["chmod", "-R", "a+rX", str(packages)], check=True)

    def as_user(python, uid, umask, *arguments):
        return subprocess.run(
            [
                "setpriv",
                f"--reuid={uid}",
                f"--regid={uid}",
                f"--groups={GROUP}" if uid != CAROL else "--clear-groups",
                python,
                "-c",
                SCRIPT,
                umask,
                *arguments,
            ],
            env={"PYTHONPATH": str(packages), "PATH": "/usr/bin:/bin"},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    reasons = []
    for python in _candidates():
        probe = folder / "probe"
        probe.mkdir(mode=0o777, exist_ok=True)
        probe.chmod(0o777)
        done = as_user(python, ALICE, "022", str(probe), "scrub")
        shutil.rmtree(probe)
        if done.returncode == 0:
            break
        reasons.append(f"{python}: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    else:
        shutil.rmtree(folder)
        pytest.skip(f"no Python here can run this as another user: {'; '.join(reasons)}")

    def go(uid, umask, root, task):
        done = as_user(python, uid, umask, str(root), task)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["umask"]  # our modes never leak into the process
        return result

    yield go
    shutil.rmtree(folder)


@pytest.fixture
def shared():
    """An empty directory that was given to the group."""
    folder = Path(tempfile.mkdtemp(prefix="nfbuild-shared-"))
    os.chown(folder, 0, GROUP)
    folder.chmod(0o2775)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("umask", ["022", "027", "077"])
def test_both_users_hit_what_the_other_made(run, shared, umask):
    """Hits both ways, all shards writable by both, maintenance by either."""
    assert "error" not in run(ALICE, umask, shared, "write:alice")
    assert run(BOB, umask, shared, "have:alice") == {"hits": 256, "records": 40, "umask": True}
    assert "error" not in run(BOB, umask, shared, "write:bob")
    assert run(ALICE, umask, shared, "have:bob") == {"hits": 256, "records": 40, "umask": True}
    assert len(os.listdir(shared / "blobs")) == 256

    for path in shared.rglob("*"):
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        expected = 0o2775 if path.is_dir() else 0o444 if path.suffix == ".png" else 0o664
        assert mode == expected, f"{path}: {mode:o}"
        assert status.st_gid == GROUP

    scrubbed = run(BOB, umask, shared, "scrub")
    assert (scrubbed["checked"], scrubbed["damage"], scrubbed["unavailable"]) == (512, [], None)
    damaged = next((shared / "blobs" / "00").iterdir())
    damaged.chmod(0o644)
    damaged.write_bytes(b"damage")
    scrubbed = run(BOB, umask, shared, "scrub")
    assert scrubbed["damage"] == [damaged.stem]
    assert stat.S_IMODE((shared / "quarantine").stat().st_mode) == 0o2775
    assert run(ALICE, umask, shared, "scrub")["damage"] == []

    collected = run(BOB, umask, shared, "collect")
    assert collected["failed"] == 0
    assert collected["files"] == 512
    assert run(ALICE, umask, shared, "collect")["files"] == 0
    assert "error" not in run(ALICE, umask, shared, "write:again")
    assert run(BOB, umask, shared, "have:again")["hits"] == 256


def test_a_user_outside_the_group_reads_and_says_so_when_writing(run, shared):
    """`group` is for the group to write and for all to read."""
    run(ALICE, "077", shared, "write:alice")
    assert run(CAROL, "022", shared, "have:alice")["hits"] == 256
    answer = run(CAROL, "022", shared, "write:carol")

    assert answer["error"][0] == "Unavailable"
    assert run(ALICE, "022", shared, "scrub")["damage"] == []


def test_all_means_all(run, shared):
    """The setting is the directory's, not the user's."""
    open_directory(str(shared), read_only=False, shared="all")
    assert "error" not in run(CAROL, "077", shared, "write:carol")
    assert run(ALICE, "077", shared, "have:carol")["hits"] == 256
    assert "error" not in run(ALICE, "077", shared, "write:alice")
    assert run(CAROL, "077", shared, "have:alice")["hits"] == 256
    # The kernel takes the setgid bit from who is not of the group; nobody needs it here.
    modes = {path.lstat().st_mode & 0o777 for path in shared.rglob("*") if path.is_dir()}
    assert modes == {0o777}


def test_a_read_only_mount_works(run, shared):
    """Nothing is written, not even a time."""
    run(ALICE, "022", shared, "write:alice")
    done = subprocess.run(
        ["mount", "--bind", "-o", "ro", str(shared), str(shared)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        assert run(BOB, "022", shared, "have:alice")["hits"] == 256
        assert run(BOB, "022", shared, "write:alice").get("error") is None  # all is there already
        assert run(BOB, "022", shared, "write:bob")["error"][:2] == ["Unavailable", "read-only"]
    finally:
        subprocess.run(["umount", str(shared)], check=True)


def test_the_group_exists_for_nobody_else():
    """The numbers of this test are free, so that it meets no real user's files."""
    assert all(entry.gr_gid != GROUP for entry in grp.getgrall())
