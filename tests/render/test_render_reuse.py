"""A kept bottom changes no byte; where a document may be cut and when that pays."""

import pytest
import render_children as children
from render_children import run
from render_pieces import pieces_of

from nfbuild.render import reuse
from nfbuild.render.tasks import DrawTask, Split

HEAD, TAIL = b'<svg viewBox="0 0 80 60">', b"</svg>"
DEFS = b'<defs><linearGradient id="g"><stop stop-color="#123"/></linearGradient></defs>'
FLAT = b'<rect width="80" height="60" fill="#224"/>'
GRADIENT = b'<rect width="80" height="60" fill="url(#g)"/>'
DOT = b'<circle cx="30" cy="30" r="9" fill="#fff" fill-opacity="0.4"/>'
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
