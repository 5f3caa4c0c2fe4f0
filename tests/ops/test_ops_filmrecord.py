"""Composition records: what is packed comes back, in parts and damaged."""

from __future__ import annotations

import pytest

from nfbuild.digests import CompositionId, FrameDigest, FrameKey
from nfbuild.errors import Corrupt, Missing
from nfbuild.ops.frames.filmrecord import (
    PART,
    FilmRun,
    pack,
    pack_parts,
    read_film,
    read_parts,
    record_key,
    unpack,
)


def runs(count: int) -> list[FilmRun]:
    return [
        FilmRun(n % 7 + 1, FrameKey(f"{n:064x}"), FrameDigest(f"{n + 1:064x}"), f"{n:016x}")
        for n in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, PART - 1, PART, PART + 1, 2 * PART])
def test_a_film_of_any_length_comes_back(count):
    """Whatever number of parts it takes, a full last one too."""
    parts = list(pack_parts(runs(count)))

    assert len(parts) == count // PART + 1
    assert list(read_parts(dict(enumerate(parts)).get)) == runs(count)


@pytest.mark.parametrize("count", [0, 1, PART - 1, PART, PART + 1, 2 * PART])
def test_a_film_is_a_sequence_of_its_runs(count):
    """Whatever is asked of it: it is unpacked as it is read."""
    film = read_film(dict(enumerate(pack_parts(runs(count)))).get)

    assert list(film) == list(film) == runs(count)
    assert len(film) == count
    assert film.frames == sum(run.length for run in runs(count))
    for at in {0, count // 2, count - 1, -1, -count} if count else ():
        assert film[at] == runs(count)[at]
    assert film[1:4] == runs(count)[1:4]
    assert film[-2:] == runs(count)[-2:]
    for at in (count, -count - 1):
        with pytest.raises(IndexError):
            film[at]


def test_a_film_with_a_bad_part_is_none():
    """It is known before the first run is read."""
    parts = dict(enumerate(pack_parts(runs(PART + 5))))
    with pytest.raises(Missing):
        read_film({0: parts[0]}.get)
    with pytest.raises(Corrupt):
        read_film({0: parts[0], 1: parts[1][:-1]}.get)


def test_an_absent_part_is_a_miss_and_a_damaged_one_is_corrupt():
    """Never a shorter film."""
    parts = dict(enumerate(pack_parts(runs(PART + 5))))
    with pytest.raises(Missing):
        list(read_parts({0: parts[0]}.get))
    with pytest.raises(Corrupt):
        list(read_parts({0: parts[0], 1: parts[1][:-1]}.get))
    with pytest.raises(Corrupt):
        unpack(b"nfbfilm2" + pack(runs(1))[8:])


def test_every_part_has_a_key_of_its_own():
    """By film, size and number."""
    film, other = CompositionId("a" * 64), CompositionId("b" * 64)
    keys = {
        record_key(one, width, 9, part)
        for one in (film, other)
        for width in (16, 32)
        for part in (0, 1, 2)
    }

    assert len(keys) == 12
