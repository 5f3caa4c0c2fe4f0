"""A kept top changes no byte; what may be drawn into a box, and when a top is kept."""

import re

import pytest
import render_children as children
import render_random
from render_children import run
from render_pieces import pieces_of

from nfbuild.dataclasses import replace
from nfbuild.pixels import png
from nfbuild.render import reuse, standing, top

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        not reuse._OWN_COLOURS, reason="no top is kept anywhere but on Linux for x86-64"
    ),
]

HEAD, TAIL = b'<svg viewBox="0 0 80 60">', b"</svg>"
NEVER, ANY = re.compile(rb"(?!)"), re.compile(rb"(?s).*")
CARD = b'<rect x="3" width="20" height="20" fill="#456"/>'


@pytest.fixture
def random_films(stage, face_digests):
    """Make the random films of some seeds, with a translucent picture."""
    rows = bytes((x * 37 + x // 7) % 256 for x in range(4 * 40 * 30))
    picture = stage(png.encode(rows, 40, 30))

    def make(seeds):
        return [render_random.film(seed, picture, face_digests["sans"]) for seed in seeds]

    return make


def test_under_a_kept_top_every_frame_is_the_same(staging, faces, random_films):
    """400 films of six frames here, 20,000 frames by `scripts/kept_pixels.py`; in every manner."""
    found = run(children.compare_tops, str(staging), faces, random_films(range(400)), {})

    assert found.pop("differ") == []
    assert found.pop("untouched") > 300
    assert found.pop("boxes") > 100
    assert found.pop("whole") > 300


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ({"MARK": b"\0\0\0\xff"}, (200, 100)),  # dark elements leave it as it is
        ({"_LAYERED": NEVER}, (1000, 5)),
        ({"_PAINTED": NEVER}, (1000, 3)),  # a gradient that a box cuts
        ({"_LAYERED": NEVER, "_SHAPE": ANY, "_STROKED": NEVER, "_PAINTED": NEVER}, (200, 20)),
    ],
)
def test_the_comparison_finds_a_wrong_rule(staging, faces, random_films, changed, counts):
    """With a mark that some drawings leave, or with too much drawn into boxes, frames differ."""
    films, fewest = counts
    found = run(children.compare_tops, str(staging), faces, random_films(range(films)), changed)

    assert len(found["differ"]) >= fewest


DASHED = b'stroke="red" stroke-width="2" stroke-dasharray="5 900"'


@pytest.mark.parametrize(
    ("element", "box", "counts", "fits"),
    [
        (b'<path d="M20 10h60v50h-60z" fill="#fff"/>', (30, 30, 20, 9), (180, 0), True),
        (b'<line x2="80" y2="60" fill="none" stroke="#fff"/>', (30, 20, 20, 20), (50, 0), True),
        # The only dash lies above the box: the fill is lost with it.
        (
            b'<path d="M20 10h60v50h-60z" fill="#fff" %s/>' % DASHED,
            (30, 30, 20, 9),
            (180, 180),
            False,
        ),
        (b'<path d="M20 10h60v50h-60z" fill="none" %s/>' % DASHED, (30, 30, 20, 9), (0, 0), True),
        # A clip that leaves nothing in the box leaves all of it.
        (
            (
                b'<line x1="49.2" y1="42.172" x2="34.7" y2="58.7" stroke="#fff" stroke-width="7.37"'
                b' clip-path="url(#c)"/>'
            ),
            (0, 59, 103, 1),
            (0, 5),
            False,
        ),
    ],
)
def test_what_drawing_into_a_box_gives(element, box, counts, fits):
    """The rasterizer's ways on which the rules of boxes stand, and what the rules say of each."""
    assert run(children.draw_in_box, element, box, (2000, 80)) == counts
    assert top.Part.of(element, box, b"<svg").fits_boxes is fits


@pytest.mark.oracle
@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("name", ["master-demo", "nested-card", "title-card", "text-measure"])
def test_the_peers_films_are_the_same(name, scale, staging, faces, tasks_of):
    """In film order, every second frame as one of two workers has them, and backwards."""
    whole = tasks_of(name, scale)
    cut = []
    for task in whole:
        head, pieces, _ = pieces_of(task.document)
        front = sum(reuse._DEFINITIONS.match(piece) is not None for piece in pieces)
        cut.append(replace(task, split=reuse.split(head, pieces, front + 1)))
    order = [*range(len(cut)), *range(0, len(cut), 2), *range(len(cut) - 1, -1, -3)]

    assert any(task.split is not None for task in cut)
    assert run(children.draw, str(staging), faces, [cut[at] for at in order]) == run(
        children.draw, str(staging), faces, [whole[at] for at in order], False
    )


@pytest.mark.parametrize(
    ("elements", "allowed"),
    [
        ((CARD, CARD), 2),
        ((b'<rect id="a"/>', CARD), 1),
        ((b'<rect fill="url(#g)"/>', CARD), 1),
        ((CARD, b'<use href="#x"/>'), 0),
        ((CARD, b'<image href="0.png" transform="rotate(3)"/>', CARD), 1),
        ((CARD, b'<g transform="skewX(3)"><image href="0.png"/></g>'), 0),
        ((CARD, b'<image href="0.png" transform="scale(3)"/>'), 2),
        ((b'<rect transform="rotate(3)"/>',), 1),
    ],
)
def test_what_may_stand_in_a_top(elements, allowed):
    """Nothing that refers to others or is referred to, and no turned picture."""
    assert standing._allowed(HEAD, elements) == elements[len(elements) - allowed :]


@pytest.mark.parametrize("definition", [b"<style>rect{}</style>", b'<symbol><image href="0.png"/>'])
def test_no_top_where_the_head_draws_or_dresses(definition):
    assert standing._allowed(HEAD + definition, (CARD,)) == ()


@pytest.mark.parametrize(
    ("before", "now", "run_"),
    [
        ((), (CARD,), 0),
        ((CARD,), (CARD,), 0),  # all of a frame is no top: it would be the frame before
        ((b"a", CARD, CARD), (b"b", CARD, CARD), 2),
        ((b"a", b"b", CARD), (b"a", b"c", CARD), 1),
        ((CARD, CARD), (b"a", b"b", CARD, CARD), 2),
    ],
)
def test_runs_at_the_end(before, now, run_):
    assert standing._run_at_end(before, now) == run_


def made(counts, steady):
    """Draw a film in which the last element stands still for so many frames, then changes."""
    from nfbuild.render.tasks import Split

    kept = reuse.KeptRaster(b"", 80, 60, bytes(4 * 80 * 60))
    keeper = standing.TopKeeper(kept)
    raster = bytearray(4 * 80 * 60)
    painted = []

    def paint(document, box):
        painted.append(box)
        if b"<text" in document:  # pixels of a title, whatever was there
            raster[4_000:4_040] = b"\x11" * 40

    for number in range(counts):
        card = b'<rect x="%d" width="9" height="9"/>' % number
        title = b"<text>%s %d</text>" % (b"title" * 40, number // steady)
        ends = (len(HEAD + card), len(HEAD + card + title))
        keeper.draw(
            HEAD + card + title + TAIL, Split(len(HEAD), len(HEAD), ends[1], ends), raster, paint
        )
    return painted


def test_what_always_moves_is_never_kept():
    """No drawing of marks, no raster to compare."""
    assert made(50, 1) == []


def test_what_stands_still_is_kept_once():
    """Two drawings make the top, then every frame draws what moves, and nothing else."""
    assert len(made(50, 50)) == 2 + (50 - standing._PATIENCE)


def test_what_seldom_stands_is_seldom_tried():
    """A title that changes every fourth frame makes no top at each change."""
    frequent = len(made(400, 4))

    assert 0 < frequent < 400 // 4
