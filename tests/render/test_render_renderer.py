"""A frame depends on its task alone: against fresh engines, any order, after any failure."""

import random
import struct
import zlib

import pytest
import render_children as children
from render_children import run

from nfbuild.errors import DrawError
from nfbuild.render.tasks import DrawTask

pytestmark = pytest.mark.process

RED = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 6" width="8" height="6">%s</svg>'
SQUARE = RED % b'<rect x="2" y="1" width="3" height="2" fill="#ff0000"/>'


def png(width, height, color):
    def chunk(kind, body):
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    rows = (b"\0" + bytes(color) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        )
    )


def test_pixels_are_straight_rgba_rows_from_the_top(staging):
    rows = run(children.draw_rows, str(staging), {}, DrawTask(SQUARE, 8, 6))

    for y in range(6):
        for x in range(8):
            inside = 2 <= x < 5 and 1 <= y < 3
            expected = (255, 0, 0, 255) if inside else (0, 0, 0, 0)
            assert tuple(rows[4 * (8 * y + x) :][:4]) == expected


def test_colors_are_not_premultiplied(staging):
    """Half transparent white is white with half alpha, not grey."""
    document = RED % b'<rect width="8" height="6" fill="#ffffff" fill-opacity="0.5"/>'
    rows = run(children.draw_rows, str(staging), {}, DrawTask(document, 8, 6))

    assert set(rows[0::4]) == set(rows[1::4]) == set(rows[2::4]) == {255}
    assert set(rows[3::4]) <= {127, 128}


@pytest.mark.oracle
def test_one_engine_draws_what_fresh_engines_draw(staging, faces, tasks_of):
    """The binding's own classes with a new engine per frame are the reference."""
    tasks = [
        task
        for name in ("master-demo", "nested-card", "title-card", "text-measure", "org-chart")
        for task in tasks_of(name)[::2]
    ]
    reference = run(children.draw_by_binding, str(staging), faces, tasks)

    assert run(children.draw, str(staging), faces, tasks) == reference
    assert len(set(reference)) > 20


@pytest.mark.oracle
@pytest.mark.oracle
def test_premultiplied_rows_have_the_same_alpha(staging, faces, tasks_of, face_digests):
    """Measurements are drawn so, between frames; the frames stay what fresh engines draw."""
    face = face_digests["sans"]
    faint = (
        b'<svg viewBox="0 0 90 40" width="90" height="40"><g opacity="0.004"><text x="9" y="30"'
        b' font-size="20" font-family="%s">ink</text></g><rect width="20" height="9" rx="4"'
        b' fill="#f80" opacity="0.3"/></svg>' % face.encode()
    )
    tasks = [DrawTask(faint, 90, 40, faces=(face,)), *tasks_of("title-card")[:9]]
    tasks += tasks_of("nested-card")[:9]

    rows = run(children.draw_both_ways, str(staging), faces, tasks)

    assert all(same for same, _, _ in rows)
    assert rows[0][1], "nothing was translucent: this shows nothing"
    assert [digest for _, _, digest in rows] == run(children.draw, str(staging), faces, tasks)


def test_order_and_repetition_do_not_matter(staging, faces, tasks_of):
    """Sizes, faces and compositions in any order, each frame twice, give equal frames."""
    tasks = tasks_of("master-demo")[:8] + tasks_of("master-demo", scale=2)[:3]
    tasks += tasks_of("title-card")[:8] + tasks_of("nested-card")[:8]
    order = [*range(len(tasks)), *range(len(tasks))]
    random.Random(3).shuffle(order)
    straight = run(children.draw, str(staging), faces, tasks)

    shuffled = run(children.draw, str(staging), faces, [tasks[index] for index in order])

    assert shuffled == [straight[index] for index in order]


def test_other_loaded_faces_do_not_reach_a_text(staging, faces, face_digests):
    """A face that another frame loaded draws neither the text nor the characters it lacks."""

    def text(name):
        words = "Aß Ω 漢字 ☃".encode()
        body = b'<text x="5" y="40" font-size="30" font-family="%s">%s</text>'
        size = b'viewBox="0 0 200 60" width="200" height="60"'
        face = face_digests[name]
        document = b'<svg xmlns="http://www.w3.org/2000/svg" %s>%s</svg>'
        return DrawTask(document % (size, body % (face.encode(), words)), 200, 60, faces=(face,))

    alone = [run(children.draw, str(staging), faces, [text(name)])[0] for name in ("sans", "mono")]
    one_after_another = [text(name) for name in ("sans", "mono", "sans")]

    assert alone[0] != alone[1]
    assert run(children.draw, str(staging), faces, one_after_another) == [*alone, alone[0]]


def test_text_without_a_face_is_refused(staging, faces):
    """The rasterizer would fall back to whatever face it happened to load first."""
    document = RED % b'<text x="0" y="5" font-size="5">x</text>'

    with pytest.raises(DrawError, match="names no face") as caught:
        run(children.draw, str(staging), faces, [DrawTask(document, 8, 6)])
    assert caught.value.code == "draw.face"


def test_a_face_must_be_what_its_digest_says(staging, face_digests, face_paths):
    document = RED % b'<text x="0" y="5" font-size="5" font-family="x">x</text>'
    task = DrawTask(document, 8, 6, faces=(face_digests["sans"],))

    for faces, message in (
        ({}, "was not given"),
        ({face_digests["sans"]: face_paths["mono"]}, "has changed"),
        ({face_digests["sans"]: b"other bytes"}, "has changed"),
        ({face_digests["sans"]: str(staging / "absent.ttf")}, "cannot be read"),
    ):
        with pytest.raises(DrawError, match=message):
            run(children.draw, str(staging), faces, [task])


def test_pictures_are_drawn_from_the_staging_folder(staging, stage):
    name = stage(png(2, 2, (0, 0, 255, 255)))
    document = RED % b'<image href="%s" x="1" y="1" width="2" height="2"/>' % name.encode()
    rows = run(children.draw_rows, str(staging), {}, DrawTask(document, 8, 6, pictures=(name,)))

    blue = [(x, y) for y in range(6) for x in range(8) if rows[4 * (8 * y + x) + 2] == 255]
    assert blue == [(1, 1), (2, 1), (1, 2), (2, 2)]


def test_a_picture_must_be_what_its_name_says(staging, stage):
    """An absent, damaged or exchanged picture is an error, never a hole."""
    good = stage(png(2, 2, (0, 0, 255, 255)))
    task = DrawTask(SQUARE, 8, 6, pictures=(good,))
    whole = (staging / good).read_bytes()

    for content, message in (
        (png(2, 2, (0, 255, 0, 255)), "other content"),
        (whole[:-20], "other content"),
        (None, "not staged"),
    ):
        if content is None:
            (staging / good).unlink()
        else:
            (staging / good).write_bytes(content)
        with pytest.raises(DrawError, match=message) as caught:
            run(children.draw, str(staging), {}, [task])
        assert caught.value.code == "draw.picture"


def test_a_picture_that_cannot_be_loaded_is_an_error(staging, stage):
    """ThorVG draws nothing for such a file and reports success; loading it alone does not."""
    name = stage(b"no picture at all")
    document = RED % b'<image href="%s" width="2" height="2"/>' % name.encode()

    with pytest.raises(DrawError, match="tvg_picture_load"):
        run(children.draw, str(staging), {}, [DrawTask(document, 8, 6, pictures=(name,))])


def test_held_pictures_change_nothing(staging, stage):
    """Pictures kept open from frame to frame, with eviction, draw as in a fresh process."""
    names = [stage(png(400 + i, 300, (40 * i, 255 - 40 * i, i, 255 - 20 * i))) for i in range(5)]
    # The bound on held pictures is small enough to be passed by this one.
    names.append(stage(png(5_000, 5_000, (1, 2, 3, 128))))
    tasks = []
    for i, name in enumerate(names):
        body = b'<image href="%s" x="-3" y="2" width="30" height="%d" transform="rotate(9)"/>'
        document = RED % (body % (name.encode(), 5 + i))
        tasks.append(DrawTask(document, 80, 60, pictures=(name,)))
    alone = [run(children.draw, str(staging), {}, [task])[0] for task in tasks]
    order = [0, 1, 2, 3, 4, 5, 0, 1, 5, 2, 0, 4, 3, 5]

    together = run(children.draw, str(staging), {}, [tasks[index] for index in order])

    assert len(set(alone)) == 6
    assert together == [alone[index] for index in order]


def test_after_a_failure_the_renderer_is_as_new(staging, faces, tasks_of):
    """Documents that do not load, absurd sizes and absent files leave no trace in a frame."""
    good = tasks_of("title-card")[5]
    bad = [
        DrawTask(b"", 8, 6),
        DrawTask(b"<svg", 8, 6),
        DrawTask(b"no document", 8, 6),
        DrawTask(SQUARE, 0, 6),
        DrawTask(SQUARE, 8, -1),
        DrawTask(SQUARE, 40_000, 6),
        DrawTask(SQUARE, 30_000, 30_000),
        DrawTask(SQUARE, 8, 6, pictures=("absent.png",)),
        DrawTask(SQUARE, 8, 6, faces=("0" * 64,)),
    ]
    codes, digests = run(children.draw_after_failures, str(staging), faces, bad, good)

    assert codes == ["draw.refused"] * 3 + ["draw.size"] * 4 + ["draw.picture", "draw.face"]
    assert set(digests) == set(run(children.draw, str(staging), faces, [good]))


def test_an_empty_document_is_a_transparent_frame(staging):
    for document in (b'<svg width="4" height="3"/>', RED % b"", RED % b'<rect width="0"/>'):
        assert run(children.draw_rows, str(staging), {}, DrawTask(document, 4, 3)) == bytes(48)


def test_an_own_view_box_is_stretched_to_the_raster(staging):
    """The raster's size is pinned whatever the document says of itself."""
    document = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50"><rect fill="#0f0" '
    document += b'width="100" height="50"/></svg>'
    rows = run(children.draw_rows, str(staging), {}, DrawTask(document, 40, 20))

    assert set(rows[3::4]) == {255}


def test_memory_does_not_grow_with_frames(staging, faces, tasks_of):
    """A thousand frames leave no more behind than a hundred."""
    early, late = run(children.memory_over, str(staging), faces, tasks_of("title-card")[5], 1_000)

    assert late - early < 2_000
