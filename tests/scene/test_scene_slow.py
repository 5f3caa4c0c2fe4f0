"""The compiled bake against a plain one, and against itself in other orders."""

import random

import pytest
from slow import Slow, numbered
from test_scene_corpus import CASES, CORPUS
from world import peer_folder

from nfbuild.scene.protocols import Limits
from nfbuild.scene.sheet import read_sheet

pytestmark = pytest.mark.process

# What the plain bake does not do.
_ELSEWHERE = (
    *("<image", "data-bg", "data-wrap", "data-fit", "data-curve", "pivot-of-text"),
    "odd-ids",
)
PLAIN = []
for _case in CASES:
    with open(f"{CORPUS}/{_case}.nf.svg", encoding="utf-8") as _file:
        _text = _file.read()
    if not any(word in _text or word in _case for word in _ELSEWHERE):
        PLAIN.append(_case)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, peer_face):
    from world import World

    made = World(CORPUS, tmp_path_factory.mktemp("staging"), [peer_face])
    yield made
    made.close()


@pytest.mark.parametrize("case", PLAIN)
def test_the_compiled_bake_is_the_plain_one(corpus, case):
    """Compiling is only faster: the documents are equal, every frame of every case."""
    composition = corpus.load(f"{case}.nf.svg")
    sheet = read_sheet(composition.source, corpus.services, Limits())
    for number in range(composition.frames):
        compiled = composition.bake(number).document.decode()
        plain = Slow(sheet, number).document()

        assert numbered(compiled) == numbered(plain)


@pytest.mark.parametrize("name", ["badge", "title-card", "architecture", "org-chart"])
def test_the_compiled_bake_of_an_example_is_the_plain_one(make_world, name):
    """The same for the peer's examples without images."""
    world = make_world(peer_folder("examples"))
    composition = world.load(f"{name}.nf.svg")
    sheet = read_sheet(composition.source, world.services, Limits())
    for number in range(0, composition.frames, 7):
        compiled = composition.bake(number).document.decode()

        assert numbered(compiled) == numbered(Slow(sheet, number).document())


@pytest.mark.parametrize("case", CASES)
def test_the_order_of_baking_does_not_matter(corpus, case):
    """What earlier frames left behind in a composition never shows in a later one."""
    path = f"{case}.nf.svg"
    composition = corpus.load(path)
    order = list(range(composition.frames))
    ascending = [composition.bake(number) for number in order]
    random.Random(case).shuffle(order)
    shuffled = {number: composition.bake(number) for number in order}
    fresh = {number: corpus.load(path).bake(number) for number in order[:3]}

    assert [shuffled[number] for number in sorted(shuffled)] == ascending
    assert all(frame == ascending[number] for number, frame in fresh.items())
