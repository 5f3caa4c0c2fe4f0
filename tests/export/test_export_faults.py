"""Whatever happens while an export is made, the former product stays whole and alone."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
import time

import pytest
from export_child import film
from export_frames import numbered

from nfbuild.export.base import ExportError
from nfbuild.export.make import export
from nfbuild.export.publish import STAGING_PREFIX, Staging
from nfbuild.pixels.png import decode

FORMATS = ("png", "mp4", "webm", "mov", "apng", "webp", "gif")
FILMS = FORMATS[1:]
HERE = os.path.dirname(__file__)


def state(folder) -> str:
    return os.path.join(folder, "cache", "exports", "film.json")


def held(folder) -> dict[str, str]:
    """Return the digests of what is in the output folder."""
    out = os.path.join(folder, "out", "film")
    found = {}
    for name in sorted(os.listdir(out)):
        with open(os.path.join(out, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def export_turn(folder, kind, turn, **options) -> dict[str, str]:
    plan, frames = film(str(folder), kind, turn)
    export(plan, frames, state(folder), **options)
    return held(folder)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError, RuntimeError])
def test_a_fault_in_the_middle_leaves_the_former_product(tmp_path, kind, fault):
    """`^C` and everything else that is raised: the folder is as it was."""
    before = export_turn(tmp_path, kind, 0)

    def stop(done, total):
        if done * 2 > total:
            raise fault

    with pytest.raises(fault):
        export_turn(tmp_path, kind, 1, progress=stop)
    assert held(tmp_path) == before


@pytest.mark.parametrize("kind", FILMS)
def test_an_encoder_that_fails_is_reported(tmp_path, kind, monkeypatch):
    """An error of the library is the export's error, with the place of its entry."""
    before = export_turn(tmp_path, kind, 0)
    if kind in ("mp4", "webm", "mov"):
        from nfbuild.export import film as door

        def refuse(path, *_args, **_options):
            with open(path, "wb") as file:
                file.write(b"half a film")
            raise door.av.error.ExternalError(1, "the encoder gave up")

        monkeypatch.setattr(door, "encode_film", refuse)
    else:
        from nfbuild.export.animate import Animation

        def refuse(self, path):
            with open(path, "wb") as file:
                file.write(b"half a film")
            raise OSError(28, "the encoder gave up")

        monkeypatch.setattr(Animation, "write", refuse)
    with pytest.raises(ExportError, match="the encoder gave up") as caught:
        export_turn(tmp_path, kind, 1)
    assert str(caught.value.place) == "nfbuild.toml:2"
    assert held(tmp_path) == before


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "another film"])
@pytest.mark.parametrize("kind", FILMS)
def test_what_does_not_read_back_is_not_published(tmp_path, kind, damage, monkeypatch):
    """A damaged file, or a whole one with other frames, is caught before it is put in place."""
    from nfbuild.export import readback

    before = export_turn(tmp_path, kind, 0)
    other = tmp_path / "other"
    export_turn(other, kind, 0)

    def damaged(check):
        def checked(path, *args, **options):
            if damage == "another film":
                shutil.copy(other / "out" / "film" / f"film.{kind}", path)
            else:
                hurt(path, damage)
            return check(path, *args, **options)

        return checked

    monkeypatch.setattr(readback, "check_film", damaged(readback.check_film))
    monkeypatch.setattr(readback, "check_animation", damaged(readback.check_animation))
    with pytest.raises(ExportError, match="was not published") as caught:
        export_turn(tmp_path, kind, 1)
    assert caught.value.code == "export.readback"
    assert held(tmp_path) == before


def hurt(path: str, damage: str) -> None:
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if damage == "cut":
        data = data[: len(data) * 2 // 3]
    elif damage == "empty":
        data = bytearray()
    else:
        # A good part of the pixels, wherever a format keeps them.
        for at in range(len(data) // 4, len(data) * 3 // 4, 11):
            data[at] ^= 0x55
    with open(path, "wb") as file:
        file.write(data)


@pytest.mark.process
@pytest.mark.parametrize("kind", FORMATS)
def test_a_killed_export_leaves_whole_files(tmp_path, kind):
    """`kill -9` at random moments: one of the two films is there, and the next run clears up."""
    whole = [export_turn(tmp_path / name, kind, turn) for turn, name in enumerate(("a", "b"))]
    folder = tmp_path / "killed"
    export_turn(folder, kind, 0)
    chance = random.Random(f"seed 9 {kind}")
    for _ in range(2):
        command = [sys.executable, os.path.join(HERE, "export_child.py"), str(folder), kind, "0"]
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert child.stdout is not None
        for _ in range(2):
            assert child.stdout.readline().startswith(b"round")
        time.sleep(chance.uniform(0.001, 0.25))
        child.kill()
        child.wait()
        child.stdout.close()
        seen = {n: d for n, d in held_files(folder).items() if not n.startswith(STAGING_PREFIX)}
        if kind == "png":
            # Each file is whole; the folder may stand between two films for a moment.
            assert set(seen) == set(whole[0])
            for name, digest in seen.items():
                assert digest in {film[name] for film in whole}
        else:
            assert seen in whole
        assert export_turn(folder, kind, 1) == whole[1]
        assert export_turn(folder, kind, 0) == whole[0]


def held_files(folder) -> dict[str, str]:
    out = os.path.join(folder, "out", "film")
    found = {}
    for name in os.listdir(out):
        path = os.path.join(out, name)
        found[name] = ""
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


@pytest.mark.process
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="a full disk is a small tmpfs of its own, which takes root and `unshare`",
)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_full_disk_leaves_the_former_product(tmp_path, kind):
    """The folder fills up: the export fails with a message, the former product is untouched."""
    whole = export_turn(tmp_path / "a", kind, 0)
    script = (
        "import os, sys, hashlib\n"
        "from export_child import film\n"
        "from nfbuild.errors import NfbuildError\n"
        "from nfbuild.export.make import export\n"
        "from test_export_faults import export_turn, held\n"
        "folder, kind = sys.argv[1:]\n"
        "before = export_turn(folder, kind, 0)\n"
        "with open(folder + '/out/filler', 'wb', buffering=0) as filler:\n"
        "    try:\n"
        "        while filler.write(bytes(4096)): pass\n"
        "    except OSError: pass\n"
        "try:\n"
        "    export_turn(folder, kind, 1)\n"
        "    print('published')\n"
        "except NfbuildError as error:\n"
        "    print(type(error).__name__, error.message)\n"
        "assert held(folder) == before, (held(folder), before)\n"
        "os.unlink(folder + '/out/filler')\n"
        "assert export_turn(folder, kind, 1) != before\n"
        "print('\\n'.join(before.values()))\n"
    )
    folder = tmp_path / "full"
    (folder / "out").mkdir(parents=True)
    mounted = 'mount -t tmpfs -o size=4m none "$1/out" && exec "$3" -c "$4" "$1" "$2"'
    run = subprocess.run(
        ["unshare", "-m", "sh", "-c", mounted, "sh", str(folder), kind, sys.executable, script],
        env={**os.environ, "PYTHONPATH": HERE},
        capture_output=True,
        text=True,
        check=False,
    )
    if "mount" in run.stderr and "permission" in run.stderr.lower():
        pytest.skip("this system lets nobody mount a tmpfs")
    assert run.returncode == 0, run.stderr
    told, *digests = run.stdout.splitlines()

    assert told.startswith("ExportError cannot write ")
    assert "No space left on device" in told
    assert digests == list(whole.values())


def test_a_staging_folder_of_a_living_process_is_left_alone(tmp_path):
    """Two exports into one folder do not take each other's files; a dead one's are removed."""
    with Staging(str(tmp_path)) as first:
        with open(first.file("a"), "wb") as file:
            file.write(b"a")
        with Staging(str(tmp_path)) as second:
            assert first.path != second.path
            assert os.listdir(first.path) == ["a"]
        first.publish("a")
    left = tmp_path / (STAGING_PREFIX + "dead")
    left.mkdir()
    (left / "half.mp4").write_bytes(b"half")
    with Staging(str(tmp_path)):
        assert not left.exists()

    assert os.listdir(tmp_path) == ["a"]


def test_a_folder_that_cannot_be_written_is_an_error_with_a_hint(tmp_path):
    """The message names the product and what the system said."""
    (tmp_path / "out").write_bytes(b"a file where a folder should be")
    for kind in ("png", "gif"):
        with pytest.raises(ExportError, match="cannot write") as caught:
            export_turn(tmp_path, kind, 0)
        assert caught.value.hint is not None
        assert "writable" in caught.value.hint


@pytest.mark.parametrize("kind", ["mp4", "apng"])
def test_a_product_that_is_a_link_stays_one(tmp_path, kind):
    """What it points to is replaced."""
    elsewhere = tmp_path / "disk"
    elsewhere.mkdir()
    (elsewhere / "there").write_bytes(b"old")
    out = tmp_path / "out" / "film"
    out.mkdir(parents=True)
    (out / f"film.{kind}").symlink_to(elsewhere / "there")
    export_turn(tmp_path, kind, 0)

    assert (out / f"film.{kind}").is_symlink()
    assert os.listdir(elsewhere) == ["there"]
    assert (elsewhere / "there").stat().st_size > 100


def test_a_sequence_that_was_interrupted_between_two_films_is_completed(tmp_path, monkeypatch):
    """Files that were put in place before the end are known as ours by the next run."""
    export_turn(tmp_path, "png", 0)
    plan, frames = film(str(tmp_path), "png", 1)
    published = []
    real = Staging.publish

    def publish(self, name):
        if len(published) == 5:
            raise KeyboardInterrupt
        published.append(name)
        real(self, name)

    monkeypatch.setattr(Staging, "publish", publish)
    with pytest.raises(KeyboardInterrupt):
        export(plan, frames, state(tmp_path))
    monkeypatch.undo()
    report = export(plan, frames, state(tmp_path))

    assert (report.written, report.left) == (24 - 5, ())
    for number in range(24):
        path = tmp_path / "out" / "film" / f"{number:03d}.png"
        assert decode(path.read_bytes())[0] == numbered((96, 54), (number + 3) % 6, alpha=True)
