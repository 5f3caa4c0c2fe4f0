"""Runs hold every frame; a sequence digest holds order, count, canvas and rate."""

from __future__ import annotations

import hashlib
import itertools
import tracemalloc
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_films import digest

from nfbuild.digests import FrameDigest, derive_raw, encode
from nfbuild.ledger.runs import Frame, Run, Runs, ranges, stretches
from nfbuild.ledger.sequence import PeerSequence, SampleHasher, SequenceHasher

_HEX = st.sampled_from(["0" * 64, "1" * 64, "ab" * 32])
_FRAMES = st.lists(st.one_of(st.none(), st.tuples(_HEX, _HEX)), max_size=30)


@given(_FRAMES)
def test_runs_expand_to_what_they_were_made_of(frames):
    """Compressing loses nothing but digits, and keeps no two equal neighbours."""
    runs = Runs.of(iter(frames))

    assert list(runs.expand()) == [
        None if frame is None else Frame(frame[0][:16], frame[1][:16]) for frame in frames
    ]
    assert runs.frames == len(frames) == sum(run.count for run in runs)
    assert runs.drawn() == sum(frame is not None for frame in frames)
    listed = list(runs)
    assert all((a.key, a.digest) != (b.key, b.digest) for a, b in itertools.pairwise(listed))
    assert Runs(listed) == runs


@given(_FRAMES, _FRAMES)
def test_stretches_walk_two_films_frame_by_frame(left, right):
    """What side by side expansion would give, without expanding."""
    before, after = Runs.of(left), Runs.of(right)
    walked = []
    at = 0
    for first, count, old, new in stretches(before, after):
        assert first == at
        assert count > 0
        at += count
        walked += [(old and old.digest, new and new.digest)] * count

    longest = max(len(left), len(right))
    a, b = list(before.expand()), list(after.expand())
    assert walked == [
        (
            a[i].digest if i < len(a) and a[i] else None,
            b[i].digest if i < len(b) and b[i] else None,
        )
        for i in range(longest)
    ]


@given(st.sets(st.integers(0, 40)))
def test_ranges_hold_exactly_their_numbers(numbers):
    """Both ends included, neighbours joined."""
    found = ranges((number, 1) for number in sorted(numbers))

    assert [n for first, last in found for n in range(first, last + 1)] == sorted(numbers)
    assert all(a[1] + 1 < b[0] for a, b in itertools.pairwise(found))


def test_a_run_has_a_key_with_a_digest_or_neither():
    """Half a frame is a mistake of the caller."""
    with pytest.raises(ValueError, match="a key with a digest or neither"):
        Runs([Run(1, None, "0" * 16)])


def _sequence(digests, width=96, height=54, rate=Fraction(30), count=None):
    hasher = SequenceHasher(width, height, rate, len(digests) if count is None else count)
    for one in digests:
        hasher.add(FrameDigest(one))
    return hasher.digest()


DIGESTS = [digest("frame", i) for i in range(5)]


def test_the_sequence_digest_is_as_documented():
    """Header and raw digests under one context, so that anybody can compute it."""
    head = encode([96, 54, 30000, 1001, 5])
    raw = b"".join(bytes.fromhex(one) for one in DIGESTS)

    expected = derive_raw("nfbuild 2026 sequence v1", head, raw)
    assert _sequence(DIGESTS, rate=Fraction(30000, 1001)) == expected


def test_a_frozen_vector():
    """Fails when a byte of the format moves; computed by hand with BLAKE3 alone."""
    assert _sequence(["00" * 32, "ff" * 32]) == (
        "2c8c5489525d243650b8675ab83d1fb557cafdc1f15ca67ccfe7def70e709e7e"
    )


def test_whatever_a_film_is_moves_its_digest():
    """Order, a frame more or less, canvas, rate."""
    films = [
        _sequence(DIGESTS),
        _sequence(DIGESTS[::-1]),
        _sequence(DIGESTS[:-1]),
        _sequence([*DIGESTS, DIGESTS[-1]]),
        _sequence(DIGESTS, width=97),
        _sequence(DIGESTS, width=54, height=96),
        _sequence(DIGESTS, rate=Fraction(30000, 1001)),
        _sequence([]),
    ]

    assert len(set(films)) == len(films)


def test_a_sample_is_never_a_whole():
    """Not even one that holds every frame."""
    sample = SampleHasher(96, 54, Fraction(30), 5)
    for number, one in enumerate(DIGESTS):
        sample.add_frame(number, FrameDigest(one))
    assert sample.digest() != _sequence(DIGESTS)

    some = SampleHasher(96, 54, Fraction(30), 5)
    some.add_frame(3, FrameDigest(DIGESTS[3]))
    other = SampleHasher(96, 54, Fraction(30), 5)
    other.add_frame(2, FrameDigest(DIGESTS[3]))
    assert some.digest() != other.digest()
    with pytest.raises(ValueError, match="out of order"):
        some.add_frame(3, FrameDigest(DIGESTS[0]))


def test_a_film_is_complete_or_has_no_digest():
    """A frame forgotten is a mistake, not another film."""
    with pytest.raises(ValueError, match="4 frames came, 5 were announced"):
        _sequence(DIGESTS[:-1], count=5)
    with pytest.raises(ValueError, match="is not a frame digest"):
        _sequence(["abcd"])


def test_a_long_film_takes_little_memory():
    """32 bytes a frame: 100,000 frames fit in a few megabytes."""
    frames = 100_000
    tracemalloc.start()
    try:
        hasher = SequenceHasher(1920, 1080, Fraction(30), frames)
        for number in range(frames):
            hasher.add(FrameDigest(f"{number:064x}"))
        hasher.digest()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 60 * frames


def test_the_digest_of_the_peer():
    """SHA-256 over the hexadecimal frame digests joined by line feeds."""
    peer = PeerSequence()
    for one in DIGESTS:
        peer.add(one)

    assert peer.digest() == hashlib.sha256("\n".join(DIGESTS).encode()).hexdigest()


@given(st.lists(st.integers(1, 2**30), max_size=20))
@settings(max_examples=30)
def test_long_holds_cost_nothing(counts):
    """Walking two films takes time by runs, not by frames."""
    runs = Runs(Run(count, f"{i:016x}", f"{i:016x}") for i, count in enumerate(counts))

    assert sum(count for _, count, _, _ in stretches(runs, runs)) == sum(counts)
    assert len(list(stretches(runs, runs))) == len(counts)


def test_pictures_of_a_film_are_known_by_their_scene():
    """Run by run: whether a scene was drawn otherwise, and whether it was drawn as several."""
    a, b, c = "a" * 16, "b" * 16, "c" * 16
    one, two, three = "1" * 16, "2" * 16, "0" * 16
    film = Runs(
        [Run(1, a, one), Run(2, b, one), Run(1, a, two), Run(3, None, None), Run(1, a, one)]
    )
    pictures = film.pictures()

    contradicted = {
        (key, digest)
        for key in (a, b, c, "0" * 16)
        for digest in (one, two, three)
        if pictures.contradict(Run(1, key, digest))
    }
    assert contradicted == {(a, three), (b, two), (b, three)}
    assert not pictures.contradict(Run(1, None, None))
    several = [key for key in (a, b, c, None) if pictures.are_several(Run(1, key, key))]
    assert several == [a]
