"""Frames are taken one by one: few are held, and encoding begins before all are drawn."""

from __future__ import annotations

import weakref
from fractions import Fraction

import pytest
from export_frames import Frames, numbered

from nfbuild.errors import DrawError, Place
from nfbuild.export.make import export
from nfbuild.export.plan import Subject, resolve
from nfbuild.project.values import Export

FORMATS = ("png", "mp4", "webm", "mov", "apng", "webp", "gif")
SIZE = (32, 18)


class Raster(bytearray):
    """Pixels that can be watched: nobody else holds them once they are gone."""

    __slots__ = ("__weakref__",)


class Watched(Frames):
    """Counts how many rasters are alive whenever one more is asked for."""

    def __init__(self, *args, **options) -> None:
        super().__init__(*args, **options)
        self.alive: weakref.WeakSet = weakref.WeakSet()
        self.most = 0
        self.log: list[tuple[str, int]] = []

    def wait(self, number: int) -> None:
        self.log.append(("wait", number))

    def rgba(self, number: int):
        self.log.append(("rgba", number))
        raster = Raster(super().rgba(number))
        self.held = [*[one for one in getattr(self, "held", []) if one() is not None]]
        self.held.append(weakref.ref(raster))
        self.most = max(self.most, len(self.held))
        return raster


def film(tmp_path, kind: str, count: int = 40, **options):
    rasters = [numbered(SIZE, shade, alpha=True) for shade in range(8)]
    frames = Watched(str(tmp_path / "blobs"), rasters, [i % 8 for i in range(count)], SIZE)
    to = "out/{number:03d}.png" if kind == "png" else f"out/film.{kind}"
    choice = Export("*", kind, to, Place("nfbuild.toml", 5), **options)
    subject = Subject("film", *SIZE, Fraction(30), count, {})
    return resolve(choice, subject, str(tmp_path)), frames


@pytest.mark.parametrize("background", [None, "#203040"])
@pytest.mark.parametrize("kind", FORMATS)
def test_few_frames_are_held(tmp_path, kind, background):
    """One, or two where a frame is compared with the one before; never the film."""
    plan, frames = film(tmp_path, kind, background=background)
    export(plan, frames, str(tmp_path / "state.json"))

    assert frames.most <= 3
    assert ("rgba", 7) in frames.log or (kind == "png" and background is None)


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind not in ("png", "gif")])
def test_encoding_begins_before_everything_is_drawn(tmp_path, kind):
    """The first frame is taken before the last is waited for, also where a former film is known."""
    plan, frames = film(tmp_path, kind)
    for _ in range(2):
        frames.log.clear()
        frames.order = [(shown + 1) % 8 for shown in frames.order]
        export(plan, frames, str(tmp_path / "state.json"))
        first = next(at for at, (what, _) in enumerate(frames.log) if what == "rgba")
        assert first < frames.log.index(("wait", 39))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_frame_is_waited_for_before_it_is_asked_for(tmp_path, kind):
    """Who answers may still be drawing."""
    plan, frames = film(tmp_path, kind)
    export(plan, frames, str(tmp_path / "state.json"))
    waited = set()
    for what, number in frames.log:
        if what == "wait":
            waited.add(number)
        else:
            assert number in waited


@pytest.mark.parametrize("kind", FORMATS)
def test_a_frame_that_cannot_be_drawn_stops_the_export(tmp_path, kind):
    """The error is the frame's own; nothing is published."""
    plan, frames = film(tmp_path, kind)
    real = frames.wait

    def wait(number):
        if number == 30:
            raise DrawError("the rasterizer died on it")
        real(number)

    frames.wait = wait
    with pytest.raises(DrawError, match="died on it"):
        export(plan, frames, str(tmp_path / "state.json"))
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("kind", FORMATS)
def test_progress_rises_to_the_end(tmp_path, kind):
    """Every report is (done, total), the last one says that all is done."""
    plan, frames = film(tmp_path, kind)
    told: list[tuple[int, int]] = []
    export(
        plan,
        frames,
        str(tmp_path / "state.json"),
        progress=lambda done, total: told.append((done, total)),
    )

    assert told == sorted(told)
    assert len({total for _, total in told}) == 1
    assert told[-1][0] == told[-1][1] >= 40
    assert len(told) >= 40


def test_a_source_of_another_size_is_a_mistake_of_the_caller(tmp_path):
    """Frames are drawn at the export's scale, never resampled."""
    plan, frames = film(tmp_path, "apng", scale=Fraction(2))

    with pytest.raises(ValueError, match="64 x 36"):
        export(plan, frames, str(tmp_path / "state.json"))
