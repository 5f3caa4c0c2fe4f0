"""A kept bottom changes no byte; where a document may be cut and when that pays."""

import pytest
import render_children as children
import render_random
from render_children import run
from render_pieces import pieces_of

from nfbuild.dataclasses import replace
from nfbuild.pixels import png
from nfbuild.render import reuse
from nfbuild.render.tasks import DrawTask, Split

HEAD, TAIL = b'<svg viewBox="0 0 80 60">', b"</svg>"
DEFS = b'<defs><linearGradient id="g"><stop stop-color="#123"/></linearGradient></defs>'
FLAT = b'<rect width="80" height="60" fill="#224"/>'
GRADIENT = b'<rect width="80" height="60" fill="url(#g)"/>'
DOT = b'<circle cx="30" cy="30" r="9" fill="#fff" fill-opacity="0.4"/>'
own_colours = pytest.mark.skipif(
    not reuse._OWN_COLOURS, reason="drawn straight everywhere but on Linux for x86-64"
)
IMAGE = b'<image href="0.png" width="80" height="60"/>'


@pytest.mark.process
@pytest.mark.oracle
@pytest.mark.parametrize(
    "name", ["master-demo", "nested-card", "title-card", "text-measure", "org-chart"]
)
def test_cut_anywhere_the_frame_is_the_same(name, staging, faces, tasks_of):
    """Every place where the peer's documents may be cut, in both orders of frames."""
    whole, cut = [], []
    for scale in (1, 2):
        for task in tasks_of(name, scale)[::4]:
            head, pieces, _ = pieces_of(task.document)
            splits = {reuse.split(head, pieces, run_) for run_ in range(len(pieces) + 1)}
            for split in splits - {None}:
                whole.append(task)
                cut.append(
                    DrawTask(
                        task.document,
                        task.width,
                        task.height,
                        task.pictures,
                        task.faces,
                        split=split,
                    )
                )
    cut += [*cut[::-1], *cut[::3]]
    whole += [*whole[::-1], *whole[::3]]

    assert len(cut) > 10
    assert run(children.draw, str(staging), faces, cut) == run(
        children.draw, str(staging), faces, whole, False
    )


@pytest.mark.process
def test_a_translucent_bottom_is_drawn_whole(staging):
    """Straight colour that was rounded once may not be drawn on; the frame is right anyway."""
    glass = b'<rect width="80" height="60" fill="#c4a" fill-opacity="0.43"/>'
    pieces = (glass, DOT)
    split = reuse.split(HEAD, pieces, 1)
    document = HEAD + glass + DOT + TAIL
    tasks = [DrawTask(document, 80, 60, split=split)] * 3

    drawn = run(children.draw, str(staging), {}, tasks)
    assert drawn == run(children.draw, str(staging), {}, [DrawTask(document, 80, 60)]) * 3


def test_a_split_gives_two_whole_documents():
    pieces = (DEFS, FLAT, GRADIENT, DOT)
    document = HEAD + b"".join(pieces) + TAIL
    split = reuse.split(HEAD, pieces, 3)

    assert split is not None
    assert split.parts(document) == (
        HEAD + DEFS + FLAT + GRADIENT + TAIL,
        HEAD + DEFS + DOT + TAIL,
    )


@pytest.mark.parametrize(
    ("pieces", "run_"),
    [
        ((), 0),
        ((FLAT, DOT), 0),
        ((FLAT, DOT), 2),
        ((DEFS, DOT), 1),
        ((FLAT, DEFS, DOT), 1),
        ((FLAT, DEFS, DOT), 2),
        ((FLAT, b"<style>rect{fill:red}</style>", DOT), 1),
        ((b'<g id="a"/>', b'<use href="#a"/>'), 1),
        ((b"<g id='a'/>", b"<use xlink:href='#a'/>"), 1),
        ((b'<rect fill="url(#b)"/>', b'<g><linearGradient id="b"/></g>'), 1),
        ((b'<g><clipPath id="c"/></g>', b'<g clip-path="url( #c)"/>', b"<g/>"), 1),
    ],
)
def test_no_cut_where_one_side_needs_the_other(pieces, run_):
    assert reuse.split(HEAD, pieces, run_) is None


def test_leading_runs_end_at_the_first_difference():
    assert reuse.leading_run([]) == 0
    assert reuse.leading_run([(DEFS, FLAT, DOT)]) == 3
    assert reuse.leading_run([(DEFS, FLAT, DOT), (DEFS, FLAT), (DEFS, FLAT, GRADIENT)]) == 2
    assert reuse.leading_run([(FLAT,), (DOT,)]) == 0


@pytest.mark.parametrize(
    ("bottom", "pays"),
    [
        ((FLAT,), False),
        ((DEFS, FLAT), False),
        ((), False),
        ((DEFS, GRADIENT), True),
        ((IMAGE,), True),
        ((FLAT, b'<g opacity="0.5">' + DOT + b"</g>"), True),
        ((FLAT, *[DOT] * 2_000), True),
    ],
)
def test_what_pays_is_a_table(bottom, pays):
    """A flat bottom gains nothing; a gradient, a picture, a layer or a crowd does."""
    assert reuse.worth_keeping(bottom, 1920, 1080) is pays


def test_definitions_cost_nothing():
    """However many gradients are defined, only those that are painted count."""
    many = DEFS * 500

    assert not reuse.worth_keeping((many, FLAT), 1920, 1080)


def test_a_split_is_three_offsets():
    assert Split(1, 2, 3).parts(b"hbuT") == (b"hbT", b"huT")


@pytest.fixture
def random_tasks(staging, stage, face_digests):
    """Make the random documents of some seeds, with a translucent picture."""
    picture = stage(noise(40, 30))

    def make(seeds, **more):
        face = face_digests["sans"]
        return [render_random.task(seed, picture, face, **more) for seed in seeds]

    return make


def noise(width, height):
    """A PNG file of colours and alphas of every kind."""
    rows = bytes((x * 37 + x // 7) % 256 for x in range(4 * width * height))
    return png.encode(rows, width, height)


@pytest.mark.process
@own_colours
def test_over_an_opaque_ground_everything_stays_opaque(staging, faces, random_tasks):
    """400 documents here, 20,000 by `scripts/kept_pixels.py`; all but the first leave it out."""
    tasks = random_tasks(range(400))

    found = run(children.compare_grounds, str(staging), faces, tasks, False)

    assert found["differ"] == []
    assert found["own"] >= len(tasks) - 5


@pytest.mark.process
@own_colours
def test_what_blends_is_drawn_straight(staging, faces, random_tasks):
    """Blending inside a translucent group makes holes in an opaque ground."""
    tasks = random_tasks(range(300), blend=True)

    assert run(children.compare_grounds, str(staging), faces, tasks, False) == {
        "differ": [],
        "own": 0,
        "drawn": len(tasks),
    }


@pytest.mark.process
@own_colours
def test_a_ground_that_is_wrongly_taken_for_opaque_is_seen(staging, faces, random_tasks):
    """The comparison above can fail: over glass nearly every frame comes out otherwise."""
    tasks = random_tasks(range(60), ground=render_random.GLASS)

    assert run(children.compare_grounds, str(staging), faces, tasks, False) == {
        "differ": [],
        "own": 0,
        "drawn": len(tasks),
    }
    assert len(run(children.compare_grounds, str(staging), faces, tasks, True)["differ"]) > 40


@pytest.mark.process
@pytest.mark.oracle
@pytest.mark.parametrize("name", ["master-demo", "nested-card", "title-card", "org-chart"])
def test_on_its_ground_the_frame_is_the_same(name, staging, faces, tasks_of):
    """The peer's documents in film order and backwards, two sizes, on a ground and without."""
    plain, grounded = [], []
    for scale in (1, 2):
        for task in tasks_of(name, scale)[::2]:
            head, pieces, _ = pieces_of(task.document)
            while reuse._DEFINITIONS.match(pieces[0]):  # our own documents have them in the head
                head, pieces = head + pieces[0], pieces[1:]
            plain.append(task)
            grounded.append(replace(task, ground=reuse.ground(head, pieces)))
    plain += plain[::-1]
    grounded += grounded[::-1]

    assert any(task.ground for task in grounded)
    assert run(children.draw, str(staging), faces, grounded) == run(
        children.draw, str(staging), faces, plain
    )


@pytest.mark.process
def test_a_ground_must_cover_the_canvas(staging):
    """A translucent one, and one that leaves a pixel free: drawn straight, the same bytes."""
    for ground in (
        b'<rect width="80" height="60" fill="#c4a" fill-opacity="0.43"/>',
        b'<rect width="79" height="60" fill="#c4a"/>',
        b'<rect width="80" height="59.9" fill="#c4a"/>',
    ):
        document = HEAD + ground + DOT + TAIL
        end = reuse.ground(HEAD, (ground, DOT))
        tasks = [DrawTask(document, 80, 60, ground=end)] * 6
        assert end
        assert run(children.draw, str(staging), {}, tasks) == run(
            children.draw, str(staging), {}, [replace(tasks[0], ground=0)]
        ) * len(tasks)


@pytest.mark.parametrize(
    ("head", "pieces"),
    [
        (HEAD, ()),
        (HEAD, (FLAT,)),
        (HEAD, (DEFS, GRADIENT, DOT)),
        (HEAD, (GRADIENT, DOT)),
        (HEAD, (GRADIENT, DEFS, DOT)),
        (HEAD + b"<style>rect{opacity:0.5}</style>", (FLAT, DOT)),
    ],
)
def test_no_ground_where_it_would_draw_otherwise_alone(head, pieces):
    """Nothing above it, a definition, a reference to what follows or to nothing, a style sheet."""
    assert reuse.ground(head, pieces) == 0


def test_a_ground_ends_with_its_element():
    """References into the head are whole."""
    assert reuse.ground(HEAD, (FLAT, DOT)) == len(HEAD + FLAT)
    assert reuse.ground(HEAD + DEFS, (GRADIENT, DOT)) == len(HEAD + DEFS + GRADIENT)


def test_vector_pictures_and_blending_are_held_back():
    """Either may blend."""
    assert reuse.stays_opaque(HEAD + FLAT + DOT + TAIL) == reuse._OWN_COLOURS
    assert not reuse.stays_opaque(HEAD + FLAT + b'<image href="0.svg"/>' + TAIL)
    assert not reuse.stays_opaque(HEAD + b'<g style="mix-blend-mode:screen"/>' + TAIL)
