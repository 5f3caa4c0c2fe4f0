"""A worker's answers, what it loads and when."""

import io
import os
import pickle

import pytest
import render_children as children
import render_scenes as scenes
from PIL import Image
from render_children import Died, Writer, run

from nfbuild.digests import blob_digest, file_digest
from nfbuild.errors import Corrupt, MediaError
from nfbuild.pixels import png
from nfbuild.pixels.digest import frame_digest, peer_digest, picture_digest
from nfbuild.render.tasks import AuditTask, DecodeTask, DrawTask, LottieShot, Setup, Split

pytestmark = pytest.mark.process

SQUARE = b'<svg viewBox="0 0 8 6"><rect x="2" y="1" width="3" height="2" fill="#f00"/></svg>'
ROWS = bytearray(8 * 6 * 4)
for _x, _y in ((2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (4, 2)):
    ROWS[4 * (8 * _y + _x) : 4 * (8 * _y + _x) + 4] = b"\xff\0\0\xff"


@pytest.fixture
def blobs(tmp_path):
    folder = tmp_path / "blobs"
    folder.mkdir()
    return folder


def test_a_drawn_frame_is_named_and_written(staging, blobs):
    """Digest of the pixels, digest and size of the PNG, the PNG where the writer puts it."""
    task = DrawTask(SQUARE, 8, 6, sha256=True)
    (drawn,) = run(children.perform, Setup(str(staging), {}, Writer(str(blobs))), [task])
    data = (blobs / f"{drawn.blob}.png").read_bytes()

    assert drawn.digest == frame_digest(ROWS, 8, 6)
    assert drawn.sha256 == peer_digest(ROWS, 8, 6)
    assert drawn.blob == blob_digest(data)
    assert drawn.size == len(data)
    assert Image.open(io.BytesIO(data)).tobytes() == ROWS
    assert [stage.name for stage in drawn.stages] == ["load", "draw", "digest", "encode", "write"]
    ends = [stage.start + stage.duration for stage in drawn.stages]
    assert ends[:-1] == [stage.start for stage in drawn.stages[1:]]


def test_without_png_nothing_is_encoded_or_written(staging, blobs):
    task = DrawTask(SQUARE, 8, 6, png=False)
    (drawn,) = run(children.perform, Setup(str(staging), {}, Writer(str(blobs))), [task])

    assert (drawn.digest, drawn.blob, drawn.size) == (frame_digest(ROWS, 8, 6), None, 0)
    assert os.listdir(blobs) == []


def test_a_written_frame_can_be_audited(staging):
    """The blob alone tells which pixels are in it."""
    data = png.encode(ROWS, 8, 6)
    setup = Setup(str(staging))
    (answer,) = run(children.perform, setup, [AuditTask(data)])

    assert (answer.digest, answer.width, answer.height) == (frame_digest(ROWS, 8, 6), 8, 6)
    with pytest.raises(Corrupt):
        run(children.perform, setup, [AuditTask(data[:-1])])


def test_a_decoded_picture_is_staged_under_its_pixels_and_drawn(staging, blobs):
    """A GIF, which ThorVG draws as nothing, becomes a picture that it draws."""
    file = io.BytesIO()
    Image.new("RGB", (8, 6), (0, 0, 255)).save(file, "GIF")
    setup = Setup(str(staging), {}, Writer(str(blobs)))
    (decoded,) = run(children.perform, setup, [DecodeTask(file.getvalue(), name="a.gif")])
    blue = b"\0\0\xff\xff" * 48

    assert decoded.digest == picture_digest(blue, 8, 6)
    assert (decoded.width, decoded.height) == (8, 6)
    name = f"{decoded.digest}.png"
    blob = (blobs / f"{decoded.blob}.png").read_bytes()
    assert (staging / name).read_bytes() == blob
    assert (blob_digest(blob), len(blob)) == (decoded.blob, decoded.size)
    document = b'<svg viewBox="0 0 8 6"><image href="%s" width="8" height="6"/></svg>'
    task = DrawTask(document % name.encode(), 8, 6, pictures=(name,))
    assert run(children.draw_rows, str(staging), {}, task) == blue


def test_a_picture_that_cannot_be_decoded_is_named(staging):
    with pytest.raises(MediaError, match=r"`a\.gif` cannot be decoded"):
        run(children.perform, Setup(str(staging)), [DecodeTask(b"GIF89a", name="a.gif")])


def test_tasks_and_answers_survive_pickling(staging):
    """They cross process borders."""
    tasks = [
        DrawTask(
            b"x", 1, 2, ("a.png",), ("0" * 64,), LottieShot(1.5, True, (1, 2, 3)), Split(1, 2, 3)
        ),
        DecodeTask(b"x"),
        AuditTask(b"x"),
    ]
    setup = Setup(str(staging), {file_digest(b""): b"x"}, Writer("somewhere"))
    again = pickle.loads(pickle.dumps((tasks, setup)))

    assert again[0] == tasks
    assert (again[1].staging, again[1].faces) == (setup.staging, setup.faces)


def test_naming_tasks_and_workers_loads_nothing_heavy():
    """The parent knows the values and must stay light; a worker loads on first need."""
    heavy = {"thorvg_python", "numpy", "PIL", "isal", "ctypes"}

    for module in ("tasks", "worker", "build", "faces", "reuse"):
        loaded = run(children.reports_of, f"nfbuild.render.{module}")
        assert not heavy & set(loaded), module
    for module in ("sniff", "profile", "digest", "decoder"):
        loaded = run(children.reports_of, f"nfbuild.pixels.{module}")
        assert not heavy & set(loaded), module


def test_drawing_a_document_loads_no_numpy_and_no_pillow(staging):
    """They would take a worker 115 ms before its first frame."""
    loaded = run(children.warmed, Setup(str(staging)))

    assert "isal" in loaded
    assert not {"numpy", "PIL", "thorvg_python"} & set(loaded)


@pytest.mark.parametrize(
    "task",
    [
        DrawTask(b'<svg viewBox="0 0 8 6"><g><rect width="3" height="3"', 8, 6),
        DrawTask(scenes.HOLDING_ITSELF, 8, 6, lottie=LottieShot(0)),
    ],
    ids=["cut off", "precomp in itself"],
)
def test_what_kills_a_process_kills_only_a_child(task, staging):
    """BUG of ThorVG 1.0.4, asserted as it is: these end the process that draws them.

    Baking keeps such documents away; the pool survives those that come through.
    """
    with pytest.raises(Died) as caught:
        run(children.draw, str(staging), {}, [task])

    assert caught.value.args[0] != 0
