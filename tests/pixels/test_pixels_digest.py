"""Frame digests: frozen vectors, and the peer's own definition."""

import hashlib

import pytest
from blake3 import blake3

from nfbuild.pixels import digest

PIXELS = bytes(range(24))
VECTOR = "88e4c97cd1c6f29391bda5b53de6814ef14e0584159ae90e94aa6768a0e66d21"


def test_frame_digest_is_frozen():
    """A moved byte here makes every ledger ever written unreadable."""
    by_hand = blake3(b"RGBA 3x2\0" + PIXELS, derive_key_context="nfbuild 2026 frame pixels v1")

    assert digest.frame_digest(PIXELS, 3, 2) == by_hand.hexdigest() == VECTOR


def test_sizes_and_kinds_never_share_a_digest():
    """Six pixels as 3 x 2, 2 x 3 and 6 x 1, as a frame and as a picture, are eight things."""
    sizes = [(3, 2), (2, 3), (6, 1), (1, 6)]
    digests = {digest.frame_digest(PIXELS, *size) for size in sizes}
    digests |= {digest.picture_digest(PIXELS, *size) for size in sizes}

    assert len(digests) == 8


@pytest.mark.parametrize("size", [(3, 3), (0, 0), (-3, -2), (24, 1)])
def test_another_size_than_the_bytes_have_is_refused(size):
    """The header must fix the length of what follows."""
    for take in (digest.frame_digest, digest.picture_digest, digest.peer_digest):
        with pytest.raises(ValueError, match="pixels of RGBA"):
            take(PIXELS, *size)


def test_peer_form_is_sha256_of_header_and_rows():
    """The form that nanoframes documents in determinism.md."""
    frame = digest.peer_digest(memoryview(PIXELS), 3, 2)

    assert frame == hashlib.sha256(b"RGBA 3x2\0" + PIXELS).hexdigest()
    assert (
        digest.peer_sequence_digest([frame, "ab"])
        == hashlib.sha256((frame + "\nab").encode()).hexdigest()
    )
