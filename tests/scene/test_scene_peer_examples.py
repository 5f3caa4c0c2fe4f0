"""The peer's own examples: its frames, byte for byte."""

import hashlib

import pytest
from world import peer_folder

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.process,
    # The peer leaves its files for the garbage collector to close.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

EXAMPLES = [
    "architecture",
    "badge",
    "loop",
    "loop-sketchy",
    "master-demo",
    "net-change",
    "org-chart",
    "raster-title",
    "text-measure",
    "throughput",
    "title-card",
]
PUBLISHED = {
    "architecture": "c54667a2860a27d9",
    "loop": "204ec06facbc43e6",
}


def frame_digests(world, composition):
    """Return the peer's digest of every frame; equal documents are drawn once."""
    drawn = {}
    digests = []
    for number in range(composition.frames):
        frame = composition.bake(number)
        digest = drawn.get(frame.document)
        if digest is None:
            head = f"RGBA {frame.width}x{frame.height}\0".encode()
            digest = hashlib.sha256(head + world.draw(frame)).hexdigest()
            drawn[frame.document] = digest
        digests.append(digest)
    return digests


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_peer_has_the_peers_frames(make_world, name):
    """Every frame of the examples without nesting is the peer's."""
    from peer_child import peer_digests

    world = make_world(peer_folder("examples"))
    ours = frame_digests(world, world.load(f"{name}.nf.svg"))
    path = peer_folder("examples", f"{name}.nf.svg")

    assert ours == peer_digests([path])[path]


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_an_example_has_the_published_digest(make_world, name):
    """The sequence digest is the one that the peer published from another architecture."""
    world = make_world(peer_folder("examples"))
    digests = frame_digests(world, world.load(f"{name}.nf.svg"))

    assert hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16] == PUBLISHED[name]


def test_the_nested_example_has_the_peers_frames(make_world):
    """One composition, three placements on three clocks, against the peer's media resolver."""
    from peer_child import peer_digests

    world = make_world(peer_folder("examples"))
    ours = frame_digests(world, world.load("nested-card.nf.svg"))
    path = peer_folder("examples", "nested-card.nf.svg")

    assert ours == peer_digests([path])[path]
