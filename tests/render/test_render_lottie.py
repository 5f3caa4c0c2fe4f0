"""Lottie frames are functions of scene and frame number, whatever was drawn before."""

import io
import subprocess
import sys
import time

import pytest
import render_children as children
import render_scenes as scenes
from PIL import Image
from render_children import run

from nfbuild.errors import DrawError
from nfbuild.render.tasks import DrawTask, LottieShot

pytestmark = pytest.mark.process

PLAIN = {
    "moving": scenes.MOVING,
    "turning": scenes.TURNING,
    "trimmed": scenes.TRIMMED,
    "nested": scenes.NESTED,
    "alphas": scenes.ALPHAS,
}


def shot(document, number, faces=(), pictures=(), **how):
    lottie = LottieShot(number, **how)
    return DrawTask(document, 64, 48, faces=faces, pictures=pictures, lottie=lottie)


@pytest.fixture(scope="module")
def peer_frames(tmp_path_factory):
    """Frames that nanoframes keeps for a scene, as straight RGBA rows."""
    folder = tmp_path_factory.mktemp("peer")

    def frames(name, document, background):
        path = folder / f"{name}.json"
        path.write_bytes(document)
        out = folder / f"{name}-{background.strip('#')}"
        subprocess.run(
            [
                *(sys.executable, "-m", "nanoframes", "lottie", str(path)),
                *("-o", str(folder / "film.mp4"), "--keep-frames", str(out)),
                *("--bg", background),
            ],
            check=True,
            capture_output=True,
        )
        return [Image.open(frame).convert("RGBA").tobytes() for frame in sorted(out.glob("*.png"))]

    return frames


@pytest.mark.oracle
@pytest.mark.parametrize("name", PLAIN)
def test_frames_are_the_peers(name, peer_frames, staging):
    """With transparency kept, frames 0 to n-1 are byte for byte the peer's."""
    expected = peer_frames(name, PLAIN[name], "none")
    tasks = [shot(PLAIN[name], number) for number in range(len(expected))]

    assert len(expected) in {2, 10}
    assert run(children.draw, str(staging), {}, tasks) == [*map(children.brief, expected)]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("text", "color"), [("white", (255, 255, 255)), ("#1e8c2e", (0x1E, 0x8C, 0x2E))]
)
def test_backgrounds_are_the_peers(text, color, peer_frames, staging):
    """A scene with every alpha on a colour, by integer arithmetic, is the peer's."""
    (expected, *_) = peer_frames("alphas", scenes.ALPHAS, text)

    assert (
        run(children.draw_rows, str(staging), {}, shot(scenes.ALPHAS, 0, background=color))
        == expected
    )


@pytest.mark.parametrize("name", PLAIN)
def test_a_kept_scene_draws_what_fresh_engines_draw(name, staging):
    """Jumping back and forth in a scene that stays loaded changes no frame."""
    tasks = [shot(PLAIN[name], number) for number in (0, 5, 5, 1, 9, 0, 2.5, 1, 9)]

    assert run(children.draw, str(staging), {}, tasks) == run(
        children.draw_by_binding, str(staging), {}, tasks
    )


def test_scenes_and_documents_may_alternate(staging, faces, face_digests):
    """A scene on the canvas, documents between, sizes and faces changing: equal frames."""
    text = b'<svg viewBox="0 0 64 48"><text y="30" font-size="20" font-family="%s">a</text></svg>'
    face = face_digests["sans"]
    tasks = [
        *(shot(scenes.MOVING, 3), shot(scenes.TURNING, 3), shot(scenes.MOVING, 4)),
        DrawTask(b'<svg viewBox="0 0 9 9"><rect width="5" height="4"/></svg>', 64, 48),
        DrawTask(text % face.encode(), 30, 20, faces=(face,)),
        DrawTask(scenes.MOVING, 20, 10, lottie=LottieShot(3)),
        shot(scenes.BY_TIME, 3, alone=True),
        shot(scenes.MOVING, 3),
    ]
    alone = [run(children.draw, str(staging), faces, [task])[0] for task in tasks]

    assert run(children.draw, str(staging), faces, tasks + tasks[::-1]) == alone + alone[::-1]


@pytest.mark.parametrize("document", [scenes.RANDOM, scenes.COUNTING, scenes.BY_TIME])
def test_scripts_start_equal_for_every_frame(document, staging):
    """Globals and random numbers do not depend on what was drawn, nor on the second it is."""
    numbers = [1, 2, 3, 2, 1]
    together = run(
        children.draw, str(staging), {}, [shot(document, number, alone=True) for number in numbers]
    )
    time.sleep(1.1)
    apart = [
        run(children.draw, str(staging), {}, [shot(document, number, alone=True)])[0]
        for number in numbers
    ]

    assert together == apart


def test_scripts_kept_loaded_would_differ(staging):
    """The control: without a fresh engine a counting script draws another frame each time."""
    kept = run(children.draw, str(staging), {}, [shot(scenes.COUNTING, n) for n in (1, 2, 1)])

    assert kept[0] != kept[2]


def test_scripts_run_at_all(staging):
    """The engine has its script machine: time moves the box by three pixels a frame."""
    places = []
    for number in (1, 2):
        rows = run(children.draw_rows, str(staging), {}, shot(scenes.BY_TIME, number, alone=True))
        places.append(rows[3::4].index(255) % 64)

    assert places == [3, 6]


def test_pictures_of_a_scene_stand_in_the_staging_folder(staging, stage):
    file = io.BytesIO()
    Image.new("RGBA", (4, 3), (0, 0, 255, 255)).save(file, "PNG")
    name = stage(file.getvalue())
    task = shot(scenes.pictured(name), 0, pictures=(name,))
    rows = run(children.draw_rows, str(staging), {}, task)

    assert rows[2::4].count(255) == rows[3::4].count(255) == 12
    (staging / name).unlink()
    with pytest.raises(DrawError, match="not staged"):
        run(children.draw, str(staging), {}, [task])


def test_a_scene_draws_with_exactly_its_own_faces(staging, faces, face_digests):
    """A name that matches no face falls back to the first of the task's, not of the engine's."""
    sans, mono = face_digests["sans"], face_digests["mono"]
    by_digest = [shot(scenes.written(face), 0, faces=(face,)) for face in (sans, mono)]
    by_fallback = [shot(scenes.written("Unknown"), 0, faces=(face,)) for face in (mono, sans)]
    first = run(children.draw, str(staging), faces, by_digest)

    assert first[0] != first[1]
    both = shot(scenes.written("Unknown"), 0, faces=(mono, sans))
    drawn = run(children.draw, str(staging), faces, [*by_digest, *by_fallback, both])
    assert drawn == [*first, first[1], first[0], first[1]]


@pytest.mark.parametrize("document", [b"", b"{", b"[]", b"<svg/>", scenes.MOVING[:200]])
def test_a_scene_that_does_not_load_is_an_error(document, staging):
    good = shot(scenes.MOVING, 4)
    codes, digests = run(children.draw_after_failures, str(staging), {}, [shot(document, 0)], good)

    assert codes == ["draw.refused"]
    assert digests == run(children.draw, str(staging), {}, [good])
