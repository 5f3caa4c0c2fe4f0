"""Sets of digests: what was put in is found, whatever else there is."""

import hashlib
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from nfbuild.store.digestset import DigestSet


def name(word):
    return hashlib.sha256(str(word).encode()).hexdigest()


def test_what_was_put_in_is_found_and_nothing_else():
    """Also after the table has grown several times."""
    members = [name(number) for number in range(20_000)]
    found = DigestSet(members)

    assert all(member in found for member in members)
    assert not any(name(number) in found for number in range(20_000, 40_000))
    assert None not in found


# Few beginnings, among them the one that is all zeros, and neighbours of each other.
DIGESTS = st.tuples(st.integers(0, 600), st.integers(0, 2)).map(lambda n: f"{n[0]:016x}{n[1]:048x}")


@given(st.lists(DIGESTS, max_size=400), DIGESTS)
def test_a_member_is_never_missed(members, other):
    """Digests that begin alike are one member: one more is found, none is missed."""
    found = DigestSet()
    for member in members:
        found.add(member)
        found.add(member)

    assert all(member in found for member in members)
    # A beginning of zeros stands for that of one.
    begins = {max(int(member[:16], 16), 1) for member in members}
    assert (other in found) == (max(int(other[:16], 16), 1) in begins)


def test_a_member_is_a_few_bytes():
    """A cache of a hundred thousand blobs is some megabytes."""
    count = 50_000
    tracemalloc.start()
    try:
        found = DigestSet(name(number) for number in range(count))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert name(0) in found
    assert peak < 60 * count
