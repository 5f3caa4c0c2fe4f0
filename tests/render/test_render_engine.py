"""What an engine drew before decides no pixel."""

import pytest
import render_children as children
from render_children import run

from nfbuild.render.tasks import DrawTask

pytestmark = pytest.mark.process

WIDTH, HEIGHT = 2000, 80
COMB = b"<path d='M0 40%sv9H0z' fill='#fff'/>"


def task(*elements):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
    return DrawTask(head.encode() + b"".join(elements) + b"</svg>", WIDTH, HEIGHT)


@pytest.fixture
def films():
    """Frames with more and more edges in one row, and one with a wide shape after few edges."""
    ground = b'<rect width="2000" height="80" fill="#888"/>'
    wide = b'<path d="M0 0h2000l-9 20z" fill="#a52"/>'
    combs = [COMB % (b"l1 3l1 -3" * teeth) for teeth in (100, 345, 500, 990)]
    return [task(ground, comb) for comb in combs] + [task(ground, combs[1], wide)]


def test_a_frame_is_the_same_whatever_was_drawn_before(staging, faces, films):
    """A frame drawn first, after others and before others has the same pixels."""
    drawn = run(children.draw_each_first, str(staging), faces, films)

    assert all(len(set(digests)) == 1 for digests in drawn)
    assert len({digests[0] for digests in drawn}) == len(films), "no comb is left out"


def test_the_rasterizer_by_itself_forgets_shapes(staging, faces, films):
    """Without the pool the same frames depend on what came before: the comparison can fail."""
    drawn = run(children.draw_each_first, str(staging), faces, films, False)

    assert any(len(set(digests)) > 1 for digests in drawn)
