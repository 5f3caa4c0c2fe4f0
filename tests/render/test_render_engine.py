"""What an engine drew before decides no pixel."""

import pytest
import render_children as children
from render_children import run

from nfbuild.render.tasks import DrawTask

pytestmark = pytest.mark.process

HEIGHT = 80


def task(width, *elements):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}">'
    ground = f'<rect width="{width}" height="{HEIGHT}" fill="#888"/>'
    body = (ground.encode(), *elements, b"</svg>")
    return DrawTask(head.encode() + b"".join(body), width, HEIGHT)


def comb(teeth):
    """Two edges a tooth in one row of pixels."""
    return b'<path d="M0 40%sv9H0z" fill="#fff"/>' % (b"l1 3l1 -3" * teeth)


def combs(width):
    """Frames with more and more edges in one row, and one with a wide shape after few edges."""
    counts = sorted({width // 20, width // 6, width // 4, width // 2 - 1})
    wide = b'<path d="M0 0h%dl-9 20z" fill="#a52"/>' % width
    return [task(width, comb(teeth)) for teeth in counts] + [task(width, comb(counts[1]), wide)]


@pytest.fixture
def films():
    return combs(2000)


def test_a_frame_is_the_same_whatever_was_drawn_before(staging, faces, films):
    """A frame drawn first, after others and before others has the same pixels."""
    drawn = run(children.draw_each_first, str(staging), faces, films)

    assert all(len(set(digests)) == 1 for digests in drawn)
    assert len({digests[0] for digests in drawn}) == len(films), "no comb is left out"


def test_canvases_of_all_sizes_in_any_order(staging, faces):
    """The room that one canvas needs is not taken for that of another; none lacks a cell."""
    films = [one for width in (320, 670, 1920, 700, 900, 2000, 32_768) for one in combs(width)]
    drawn = run(children.draw_each_first, str(staging), faces, films)

    assert all(len(set(digests)) == 1 for digests in drawn)
    assert len({digests[0] for digests in drawn}) == len(films), "no comb is left out"


def test_the_rasterizer_by_itself_forgets_shapes(staging, faces, films):
    """Without the pool the same frames depend on what came before: the comparison can fail."""
    drawn = run(children.draw_each_first, str(staging), faces, films, False)

    assert any(len(set(digests)) > 1 for digests in drawn)
