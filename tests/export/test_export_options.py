"""Options of formats: quality, palette, and what is said when an encoder is not installed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from export_decode import needs_ffmpeg, second_look
from export_frames import Frames, numbered

from nfbuild.errors import Place
from nfbuild.export.make import export
from nfbuild.export.plan import Subject, resolve
from nfbuild.project.values import Export

SIZE = (96, 54)


def made(tmp_path, kind: str, *, alpha: bool = True, **options) -> str:
    rasters = [numbered(SIZE, shade, alpha=alpha) for shade in range(5)]
    frames = Frames(str(tmp_path / "blobs"), rasters, [0, 1, 2, 3, 4], SIZE)
    choice = Export("*", kind, f"out/film.{kind}", Place("nfbuild.toml", 5), **options)
    plan = resolve(choice, Subject("film", *SIZE, frames.rate, 5, {}), str(tmp_path))
    export(plan, frames, str(tmp_path / "state.json"))
    return plan.target


@pytest.mark.parametrize("kind", ["mp4", "webm", "mov", "webp"])
def test_a_higher_quality_is_a_larger_file(tmp_path, kind):
    """One scale for all formats, 1 to 100, and both ends read back."""
    sizes = [os.path.getsize(made(tmp_path, kind, quality=q)) for q in (1, 40, 70, 100)]

    assert sizes == sorted(sizes)
    assert len(set(sizes)) == len(sizes)


@needs_ffmpeg
def test_the_best_h264_is_still_one_that_people_can_play(tmp_path):
    """Quality 100 stays in the High profile, 8 bits, 4:2:0: no lossless profile."""
    path = made(tmp_path, "mp4", quality=100)
    asked = ["ffprobe", "-v", "error", "-show_entries", "stream=profile,pix_fmt", "-of", "csv=p=0"]
    found = subprocess.run([*asked, path], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "High,yuv420p"


def test_a_lossy_webp_keeps_alpha_exactly(tmp_path):
    """Quality is for colours; an edge stays an edge."""
    seen = second_look(made(tmp_path, "webp", quality=30), "webp")

    assert seen.pictures[0] != numbered(SIZE, 0, alpha=True)
    for shade, picture in enumerate(seen.pictures):
        assert picture[3::4] == numbered(SIZE, shade, alpha=True)[3::4]


@needs_ffmpeg
@pytest.mark.parametrize("palette", [2, 16, 255, 256])
def test_a_gif_has_no_more_colours_than_its_palette(tmp_path, palette):
    """Counted over the whole film."""
    seen = second_look(made(tmp_path, "gif", alpha=False, palette=palette), "gif")
    colors = {p[at : at + 4] for p in seen.pictures for at in range(0, len(p), 4)}

    assert len(colors) <= palette
    assert len(colors) > palette // 2


def test_without_pyav_films_say_what_to_install(tmp_path):
    """The hint is the command; animated pictures need no PyAV."""
    code = (
        "import sys; sys.modules['av'] = None\n"
        "from pathlib import Path\n"
        "from test_export_options import made\n"
        "from nfbuild.errors import UsageError\n"
        "folder = Path(sys.argv[1])\n"
        "for kind in ('apng', 'webp', 'gif'): made(folder, kind)\n"
        "try: made(folder, 'mp4')\n"
        "except UsageError as error: print(error.message, '|', error.hint)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert found.stdout.strip() == (
        "films need the package `av`, which is not installed"
        ' | install it with `pip install "nfbuild[video]"`'
    )


def test_deciding_about_an_export_is_light():
    """A build whose films are up to date loads no NumPy, Pillow or PyAV."""
    code = (
        "import sys, nfbuild.export.make, nfbuild.export.plan\n"
        "print(sorted({'numpy', 'PIL', 'av', 'isal'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
