"""Ink boxes against a loop over pixels."""

import pytest
import render_children as children
from hypothesis import given, settings
from hypothesis import strategies as st
from render_children import run

from nfbuild.render.measure import ink_box
from nfbuild.render.tasks import MeasureTask, Setup


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=4),
    st.integers(1, 255),
)
def test_the_box_holds_every_pixel_with_alpha(width, height, ink, alpha):
    """Colour without alpha is no ink; the least alpha is."""
    raster = bytearray(b"\xff\xff\xff\0" * (width * height))
    ink = {(x, y) for x, y in ink if x < width and y < height}
    for x, y in ink:
        raster[4 * (y * width + x) + 3] = alpha

    expected = None
    if ink:
        across, down = zip(*ink, strict=True)
        expected = (min(across), min(down), max(across) + 1, max(down) + 1)
    assert ink_box(raster, width) == expected


@pytest.mark.process
def test_documents_are_measured_where_they_draw(staging, faces, face_digests):
    size = b'viewBox="0 0 90 40" width="90" height="40"'
    box = b'<svg %s><rect x="20" y="10" width="30" height="7"/></svg>' % size
    face = face_digests["sans"]
    text = b'<svg %s><text x="9" y="30" font-size="20" font-family="%s">i</text></svg>'
    answers = run(
        children.perform,
        Setup(str(staging), faces),
        [
            MeasureTask(box, 90, 40),
            MeasureTask(b"<svg %s></svg>" % size, 90, 40),
            MeasureTask(text % (size, face.encode()), 90, 40, faces=(face,)),
        ],
    )

    assert [(a.empty, a.left, a.top, a.right, a.bottom) for a in answers[:2]] == [
        (False, 20, 10, 50, 17),
        (True, 0, 0, 0, 0),
    ]
    letter = answers[2]
    assert 9 <= letter.left < letter.right < 20
    assert 10 <= letter.top < letter.bottom <= 31
