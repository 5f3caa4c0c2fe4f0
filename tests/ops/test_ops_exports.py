"""Exports beside drawing: they begin early, wait for what is final, and tell of it in order."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from opspace import HEAD, MOVING, Space
from PIL import Image, ImageSequence

from nfbuild.events import Encoding, Exported, FrameRendered, Planned
from nfbuild.ops.build import build
from nfbuild.ops.exports import exporting
from nfbuild.ops.frames.questions import State
from nfbuild.ops.run.options import read_options
from nfbuild.ops.run.session import open_session
from nfbuild.pixels.digest import frame_digest
from nfbuild.pixels.png import decode_own

GIF = '[[export]]\ncomposition = "*"\nformat = "gif"\nto = "out/{name}.gif"\n'
PNG = '[[export]]\ncomposition = "*"\nformat = "png"\nto = "out/{name}/{number:03d}.png"\n'
APNG = '[[export]]\ncomposition = "*"\nformat = "apng"\nto = "out/{name}.png"\n'

UNDRAWABLE = (
    HEAD
    + """ data-duration="0.3">
  <image href="data:image/png;base64,iVBORw0KGgo=" width="9" height="9"/>
</svg>
"""
)


def long(seconds: float, shade: str = "#ff8800") -> str:
    """A film in which every frame differs, 10 a second."""
    return (
        MOVING.replace('data-duration="1"', f'data-duration="{seconds}"')
        .replace('"t": 0.5', f'"t": {seconds}')
        .replace("#ff8800", shade)
    )


def pixels(space: Space, name: str) -> str:
    """The digest of an exported file's pixels."""
    return frame_digest(*decode_own((space.root / "out" / name).read_bytes()))


def test_an_export_has_its_first_frame_before_the_last_is_drawn(tmp_path, monkeypatch):
    """The build is held at its first frame until the thread that exports has taken it."""
    space = Space(tmp_path, APNG)
    space.compose("a", long(6))
    taken = threading.Event()
    unknown: list[int] = []
    make = exporting.export

    def watched(plan, source, path, **options):
        source.wait(0)
        questions = source._questions
        unknown.append(sum(1 for _ in questions.numbers(State.UNKNOWN)))
        taken.set()
        return make(plan, source, path, **options)

    monkeypatch.setattr(exporting, "export", watched)
    chosen, settings = read_options([], str(tmp_path), record=True, jobs=1)
    with open_session(str(tmp_path), settings) as session:
        running = build(session, chosen)
        drawn = 0
        for event in running:
            drawn += isinstance(event, FrameRendered)
            if drawn == 2:  # the exports heard of the first one when this one was asked for
                assert taken.wait(20)
                break
        for _ in running:
            pass

    assert unknown[0] > 30
    with Image.open(tmp_path / "out" / "a.png") as picture:
        assert sum(frame.info["duration"] for frame in ImageSequence.Iterator(picture)) == 6000


def test_nothing_is_published_of_a_frame_that_moves_when_it_is_judged(tmp_path):
    """A cache that lies is found when a verdict rests on it; by then an export has its frames."""
    space = Space(tmp_path, PNG)
    space.compose("a")
    space.build()
    right = {
        name: pixels(space, f"a/{name}") for name in sorted(os.listdir(tmp_path / "out" / "a"))
    }
    with open_session(str(tmp_path)) as session:
        store = session.caches.local
        frames = [key for kind, key in store.records() if kind == "frame"]
        told = store.find_records("frame", frames, own=True)
        # Two questions change their answers, both of them pictures that are there.
        first, second = frames[:2]
        store.put_records("frame", {first: told[second], second: told[first]}, replace=True)
        for kind, key in list(store.records()):
            if kind == "composition":
                store.drop_record("composition", key)
    for path in (tmp_path / "out" / "a").iterdir():
        path.unlink()

    ran = space.build()

    assert ran.report.cache_lied == 2
    assert ran.exit == 0
    assert {name: pixels(space, f"a/{name}") for name in right} == right


def test_a_film_that_cannot_be_drawn_has_no_product_and_is_told_of_once(tmp_path):
    """The other film's product is made; the failed one's error is the film's own."""
    space = Space(tmp_path, GIF)
    space.compose("a", UNDRAWABLE)
    space.compose("b")
    ran = space.build()

    assert [error.composition for error in ran.report.errors] == ["a"]
    assert sorted(os.listdir(tmp_path / "out")) == ["b.gif"]
    assert [e.composition for e in ran.events if isinstance(e, Exported)] == ["b"]


def test_an_export_that_cannot_be_made_hides_no_other(tmp_path, monkeypatch):
    """A foreign file stands where a frame goes; the GIF of the same film is made."""
    monkeypatch.chdir(tmp_path)  # to come back from: drawing in this process stands elsewhere
    space = Space(tmp_path, PNG + GIF)
    space.compose("a")
    space.write("out/a/003.png", b"not ours")
    for jobs in (0, 1, 2):
        ran = space.build(jobs=jobs)
        assert [error.code for error in ran.report.errors] == ["export.foreign"]
        assert ran.exit == 3
        assert (tmp_path / "out" / "a.gif").exists()
        assert os.listdir(tmp_path / "out" / "a") == ["003.png"]


def test_what_is_told_comes_in_the_order_of_the_compositions(tmp_path):
    """However long each takes: films of very different lengths, two exports of each."""
    space = Space(tmp_path, GIF + PNG)
    for name, seconds in (("a", 4), ("b", 0.2), ("c", 2), ("d", 0.1)):
        space.compose(name, long(seconds))
    ran = space.build(jobs=2)

    told = [
        (e.composition, e.target.endswith(".gif")) for e in ran.events if isinstance(e, Exported)
    ]
    assert told == [(name, gif) for name in "abcd" for gif in (True, False)]
    assert [row.name for row in ran.report.rows] == list("abcd")


def test_two_exports_of_one_path_are_refused_before_anything_is_drawn(tmp_path):
    """The error names both places."""
    space = Space(tmp_path, GIF + GIF.replace('"*"', '"a"'))
    space.compose("a")
    ran = space.run("build", "--record")

    assert ran.returncode == 2
    assert "two exports write one path" in ran.stderr
    assert "nfbuild.toml:8" in ran.stderr
    assert "nfbuild.toml:4" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "frames", "size"),
    [
        (["--range", "2:5"], 4, (64, 36)),
        (["--scale", "2"], 10, (128, 72)),
        (["--scale", "1/2", "--range", "3"], 1, (32, 18)),
        ([], 10, (64, 36)),
    ],
)
def test_an_export_that_was_asked_for_shows_what_the_build_builds(tmp_path, words, frames, size):
    """`--range` and `--scale` are of the build, so of the film that it makes besides."""
    space = Space(tmp_path)
    space.compose("a", long(1))
    ran = space.run("build", "--record", "--export", "apng", *words)

    assert ran.returncode == 0, ran.stderr
    with Image.open(tmp_path / "out" / "a.apng.png") as picture:
        assert getattr(picture, "n_frames", 1) == frames
        assert picture.size == size


def test_a_format_that_nobody_knows_is_told_before_anything_is_drawn(tmp_path):
    """One error for the whole command, with the formats."""
    space = Space(tmp_path)
    space.compose("a")
    space.compose("b")
    ran = space.run("build", "--record", "--export", "avi")

    assert ran.returncode == 2
    assert ran.stderr.count("`avi` is no export format") == 1
    assert not (tmp_path / "ledger").exists()


def test_an_export_at_a_scale_is_drawn_with_the_others(tmp_path):
    """One plan says what is drawn: the film's frames, and those of its export at twice the size."""
    space = Space(tmp_path, GIF + GIF.replace(".gif", "-2.gif") + "scale = 2\n")
    space.compose("a", long(1))
    ran = space.build()

    plans = [event for event in ran.events if isinstance(event, Planned)]
    assert [plan.to_render for plan in plans] == [20]
    assert ran.report.rendered == 20
    with Image.open(tmp_path / "out" / "a-2.gif") as picture:
        assert picture.size == (128, 72)
    assert space.build().report.rendered == 0


def test_progress_of_encoding_rises_to_the_end(tmp_path, monkeypatch):
    """In frames of all exports together; a product that is up to date is done at once."""
    monkeypatch.setattr(exporting, "_TICK", 0.0)
    space = Space(tmp_path, GIF + APNG)
    space.compose("a", long(3))
    told = [event for event in space.build().events if isinstance(event, Encoding)]

    assert {event.total for event in told} == {60}
    assert [event.done for event in told] == sorted(event.done for event in told)
    assert told[-1].done == 60
    assert len({event.done for event in told}) > 3


def test_a_broken_thread_is_no_silence(tmp_path, monkeypatch):
    """A fault of the program in a thread that exports ends the build with that fault."""

    def broken(*_arguments, **_options):
        raise ZeroDivisionError("a fault of the program")

    monkeypatch.setattr(exporting, "export", broken)
    space = Space(tmp_path, GIF)
    space.compose("a")
    with pytest.raises(ZeroDivisionError, match="a fault of the program"):
        space.build()


def test_a_blob_that_goes_while_it_is_exported_is_drawn_again(tmp_path, monkeypatch):
    """The thread that exports leaves a wish; the thread that draws grants it."""
    space = Space(tmp_path, APNG)
    space.compose("a")
    real = exporting.FilmSource.rgba
    gone: list[int] = []

    def rgba(source, number):
        if number == 4 and not gone:
            gone.append(number)
            os.unlink(source._recall.png_path(source.digest(number)))
        return real(source, number)

    monkeypatch.setattr(exporting.FilmSource, "rgba", rgba)
    ran = space.build()

    assert gone == [4]
    assert ran.exit == 0
    assert ran.rendered.count(("a", 4)) == 2
    with Image.open(tmp_path / "out" / "a.png") as picture:
        assert picture.n_frames == len({number for _, number in ran.rendered})


@pytest.mark.parametrize("kind", ["mp4", "apng", "gif", "png"])
def test_an_interrupt_while_it_encodes_leaves_the_former_product(tmp_path, kind):
    """`^C` in the middle of an export: status 130, the former film whole, nothing beside it."""
    pytest.importorskip("av") if kind == "mp4" else None
    to = "out/a/{number:04d}.png" if kind == "png" else f"out/a.{kind}"
    entry = f'[[export]]\ncomposition = "*"\nformat = "{kind}"\nto = "{to}"\n'
    space = Space(tmp_path, entry)
    space.compose("a", long(1))
    assert space.run("build", "--record").returncode == 0
    before = _tree(tmp_path / "out")
    space.compose("a", long(60, "#22aa44"))
    process = subprocess.Popen(
        [sys.executable, "-m", "nfbuild", "build", "--record"],
        cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    folder = tmp_path / "out" / ("a" if kind == "png" else "")
    try:
        deadline = time.monotonic() + 60
        while not any(name.startswith(".nfbuild-export-") for name in os.listdir(folder)):
            assert time.monotonic() < deadline
            assert process.poll() is None, "the build ended before it could be interrupted"
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    assert process.returncode == 130, said
    assert re.search(rb"Traceback|Exception", said) is None, said
    assert _tree(tmp_path / "out") == before


def _tree(folder) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_frame_that_fails_while_others_are_encoded_stops_its_export(tmp_path):
    """The export has taken frames by then; nothing of it stays, and the error is the film's."""
    space = Space(tmp_path, GIF)
    space.compose("a", long(2))
    ran = space.build(target="planted_worker:Tired")

    assert [error.code for error in ran.report.errors] == ["draw.tired"]
    assert [e for e in ran.events if isinstance(e, Exported)] == []
    assert not (tmp_path / "out" / "a.gif").exists()
    assert list(tmp_path.rglob(".nfbuild-export-*")) == []
