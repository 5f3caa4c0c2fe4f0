"""Random compositions draw the peer's pixels: what bake leaves out and respells is never seen."""

import os

import pytest
from random_documents import Writer
from rasterizer import Rasterizer

pytestmark = [pytest.mark.oracle, pytest.mark.process]

# `NFBUILD_RANDOM=20000` for a long run; a failing seed is named by the test.
COUNT = int(os.environ.get("NFBUILD_RANDOM", "120"))
SEEDS = range(1000, 1000 + COUNT)
FRAMES = (0, 2, 5, 7, 9)


@pytest.fixture(scope="module")
def stage(tmp_path_factory, peer_face):
    """A world, and the rasterizer for the peer's documents, over the same two pictures."""
    from peer_baker import PeerBaker
    from PIL import Image
    from world import World

    folder = tmp_path_factory.mktemp("project")
    Image.new("RGBA", (4, 4), (10, 200, 30, 255)).save(folder / "a.png")
    Image.new("RGBA", (8, 4), (200, 10, 30, 128)).save(folder / "b.png")
    world = World(folder, tmp_path_factory.mktemp("staging"), [peer_face])
    peer = Rasterizer(folder, [("Sarasa Mono SC", peer_face.data)])
    baker = PeerBaker(folder)
    yield world, peer, baker
    world.close()
    peer.close()
    baker.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_composition_draws_the_peers_pixels(stage, seed):
    """Drawn from the peer's baked document and from ours by one rasterizer."""
    world, peer, baker = stage
    text = Writer(seed, ["a.png", "b.png"]).document()
    ours = world.text(text)
    for number, document in zip(FRAMES, baker.bake(text, FRAMES), strict=True):
        expected = peer.draw(document, 120, 100)
        if expected == "DIED":
            continue  # a group that uses itself: the peer's document kills the rasterizer

        assert world.draw(ours.bake(number)) == expected, f"frame {number}"
