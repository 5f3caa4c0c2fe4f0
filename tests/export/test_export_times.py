"""Times that formats can hardly hold, and frames remembered as runs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from export_decode import needs_ffmpeg, second_look
from export_frames import Frames, flat
from hypothesis import given
from hypothesis import strategies as st

from nfbuild.errors import Place
from nfbuild.export.make import export
from nfbuild.export.plan import Subject, resolve
from nfbuild.export.record import Record, Runs, read_record, write_record
from nfbuild.export.scan import Stamp
from nfbuild.project.values import Export

SIZE = (8, 6)


def made(tmp_path, kind: str, rate: Fraction, order: list[int], *, alpha: int = 255) -> str:
    rasters = [flat(SIZE, (90 * shade, 40, 10, alpha if shade else 255)) for shade in range(3)]
    frames = Frames(str(tmp_path / "blobs"), rasters, order, SIZE, rate=rate)
    choice = Export("*", kind, f"out/film.{kind}", Place("nfbuild.toml", 5))
    plan = resolve(choice, Subject("film", *SIZE, rate, len(order), {}), str(tmp_path))
    export(plan, frames, str(tmp_path / "state.json"))
    return plan.target


@needs_ffmpeg
@pytest.mark.parametrize(
    ("kind", "rate", "order"),
    [
        ("gif", Fraction(1, 700), [0, 1, 1, 1, 2]),
        ("webp", Fraction(1, 10_000), [0, 1, 1, 1, 2]),
        ("apng", Fraction(30_000, 1001), [0] * 70 + [1] + [2] * 200),
    ],
)
@pytest.mark.parametrize("alpha", [255, 0])
def test_a_hold_longer_than_a_delay_is_continued(tmp_path, kind, rate, order, alpha):
    """A delay has 16 or 24 bits; the picture stands as long as it should all the same."""
    path = made(tmp_path, kind, rate, order, alpha=alpha)
    seen = second_look(path, kind)

    assert len(seen.pictures) > 3
    assert abs(seen.end - len(order) / rate) <= Fraction(1, 50)
    for position in range(len(order)):
        for part in (Fraction(1, 10), Fraction(9, 10)):
            picture = seen.at((position + part) / rate)
            transparent = order[position] and alpha == 0
            assert picture[3::4] == bytes([0 if transparent else 255]) * (SIZE[0] * SIZE[1])
            if not transparent:
                assert picture[0] == 90 * order[position]


@needs_ffmpeg
def test_a_rate_without_16_bit_fraction_does_not_drift(tmp_path):
    """Instants are rounded to thousandths: two hundred frames are right as a whole."""
    rate = Fraction(123_457, 5_000)
    seen = second_look(made(tmp_path, "apng", rate, [i % 3 for i in range(200)]), "apng")

    assert len(seen.starts) == 200
    assert abs(seen.end - 200 / rate) <= Fraction(1, 1000)
    for position, start in enumerate(seen.starts):
        assert abs(start - position / rate) <= Fraction(6, 10_000)


DIGESTS = st.lists(st.sampled_from(["aa", "bb", "cc"]), max_size=12)


@given(DIGESTS, DIGESTS)
def test_runs_are_equal_when_their_frames_are(first, second):
    """Folding equal neighbours forgets nothing."""
    runs = Runs()
    for digest in first:
        runs.add(digest)

    assert runs.equal(iter(second)) == (first == second)
    assert runs.equal(iter(first))


def test_runs_ask_for_nothing_after_the_first_difference():
    """A changed film begins to be encoded while its end is still being drawn."""
    asked = []

    def digests():
        for number, digest in enumerate(["aa", "aa", "bb", "cc"]):
            asked.append(number)
            yield digest

    assert not Runs([(3, "aa"), (1, "cc")]).equal(digests())
    assert asked == [0, 1, 2]


def test_a_record_comes_back(tmp_path):
    """And anything else is no record."""
    path = str(tmp_path / "deep" / "one.json")
    record = Record("settings", Stamp(5, 123456789012345678, 42), Runs([(3, "aa"), (1, "bb")]))
    write_record(path, record)
    found = read_record(path)

    assert found is not None
    assert (found.settings, found.stamp, found.runs.rows) == (
        record.settings,
        record.stamp,
        record.runs.rows,
    )
    assert read_record(path + "x") is None
    for damage in ("", "[]", "{}", '{"schema":"nfbuild.export-state/2"}', '{"schema":1}'):
        with open(path, "w") as file:
            file.write(damage)
        assert read_record(path) is None
