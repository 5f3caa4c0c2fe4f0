"""Measures of difference, and the pictures that reports are made of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfbuild.pixels import compare
from nfbuild.pixels.blend import lay_on
from nfbuild.pixels.compare import Difference, Raster, difference


def raster(array):
    array = np.ascontiguousarray(array, dtype=np.uint8)
    return Raster(array.tobytes(), array.shape[1], array.shape[0])


def array(picture):
    return np.frombuffer(picture.pixels, np.uint8).reshape(picture.height, picture.width, 4)


def plain(width=12, height=9, color=(10, 20, 30, 255)):
    out = np.empty((height, width, 4), np.uint8)
    out[...] = color
    return out


def test_equal_rasters_differ_in_nothing():
    assert difference(raster(plain()), raster(plain())) == Difference(0, 0, 0, None)


def test_one_step_in_one_channel_is_seen():
    moved = plain()
    moved[4, 7, 1] += 1

    found = difference(raster(plain()), raster(moved))

    assert found == Difference(1, 0, 1, (7, 4, 8, 5))
    assert found.step == 1


def test_color_counts_as_far_as_it_is_opaque():
    """A nearly transparent pixel may change its straight colour a lot and its look by one step."""
    before, after = plain(color=(0, 0, 0, 2)), plain(color=(0, 0, 0, 2))
    after[0, 0, :3] = 255

    assert difference(raster(before), raster(after)) == Difference(1, 0, 2, (0, 0, 1, 1))


def test_color_under_no_alpha_still_moves_the_digest():
    """Such a pixel differs, by no step at all."""
    before, after = plain(color=(0, 0, 0, 0)), plain(color=(9, 9, 9, 0))

    assert difference(raster(before), raster(after)) == Difference(108, 0, 0, (0, 0, 12, 9))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9))
def test_measures_agree_with_a_loop(seed, width, height):
    """An independent pixel-by-pixel definition gives the same numbers."""
    source = np.random.default_rng(seed)
    a = source.integers(0, 256, (height, width, 4), np.uint8)
    b = np.where(source.random((height, width, 1)) < 0.3, source.integers(0, 256, a.shape), a)
    found = difference(raster(a), raster(b))

    where, color, alpha = [], 0, 0
    for y in range(height):
        for x in range(width):
            p, q = [int(v) for v in a[y, x]], [int(v) for v in b[y, x]]
            if p == q:
                continue
            where.append((x, y))
            alpha = max(alpha, abs(p[3] - q[3]))
            for channel in range(3):
                one = (p[channel] * p[3] + 127) // 255
                color = max(color, abs(one - (q[channel] * q[3] + 127) // 255))
    assert (found.pixels, found.alpha_step, found.color_step) == (len(where), alpha, color)
    if where:
        assert found.box == (
            min(x for x, _ in where),
            min(y for _, y in where),
            max(x for x, _ in where) + 1,
            max(y for _, y in where) + 1,
        )


def test_rasters_of_two_sizes_are_not_compared():
    with pytest.raises(ValueError, match="cannot be compared"):
        difference(raster(plain(3, 4)), raster(plain(4, 3)))


def test_a_heat_map_shows_where_and_how_much():
    after = plain()
    after[2, 3, 0] += 1
    after[5, 6, 0] += 200
    shown = array(compare.heat_map(raster(plain()), raster(after)))

    assert tuple(shown[0, 0]) == (4, 4, 4, 255)
    assert tuple(shown[2, 3]) == (255, 252, 0, 255)
    assert tuple(shown[5, 6]) == (255, 0, 0, 255)


def test_crops_keep_inside_the_raster():
    picture = np.arange(12 * 9 * 4).astype(np.uint8).reshape(9, 12, 4)
    part = compare.crop(raster(picture), (1, 2, 5, 4), margin=3)

    assert (part.width, part.height) == (8, 7)
    assert np.array_equal(array(part), picture[0:7, 0:8])
    with pytest.raises(ValueError, match="no pixel"):
        compare.crop(raster(picture), (20, 0, 30, 9))


def test_enlarged_pixels_are_squares():
    big = array(compare.enlarged(raster(plain(2, 1)), 3))

    assert big.shape == (3, 6, 4)
    assert (big == (10, 20, 30, 255)).all()


def test_reducing_takes_the_mean_of_what_is_seen():
    """A transparent pixel's hidden colour does not bleed into its neighbours."""
    picture = plain(2, 2, (200, 100, 0, 255))
    picture[0, 0] = (0, 255, 255, 0)
    small = compare.reduced(raster(picture), 1)

    assert (small.width, small.height) == (1, 1)
    assert tuple(array(small)[0, 0]) == (200, 100, 0, 191)


def test_reducing_an_odd_size_repeats_the_edge():
    small = compare.reduced(raster(plain(101, 7)), 50)

    assert (small.width, small.height) == (34, 3)
    assert (array(small) == (10, 20, 30, 255)).all()
    assert compare.reduced(raster(plain(5, 4)), 5) == raster(plain(5, 4))


def test_a_contact_sheet_holds_every_frame():
    frames = [raster(plain(20, 10, (index, 0, 0, 255))) for index in range(5)]
    sheet = compare.contact_sheet(frames, columns=3, largest=20)

    assert (sheet.width, sheet.height) == (3 * 24 + 4, 2 * 14 + 4)
    cells = [array(sheet)[4 + i // 3 * 14, 4 + i % 3 * 24] for i in range(6)]
    assert [tuple(cell) for cell in cells] == [
        *((index, 0, 0, 255) for index in range(5)),
        (40, 40, 44, 255),
    ]
    with pytest.raises(ValueError, match="needs a frame"):
        compare.contact_sheet([], columns=3, largest=20)


@pytest.mark.parametrize("below", [(0, 0, 0), (255, 255, 255), (30, 140, 46)])
def test_laying_on_a_color_rounds_to_the_nearest(below):
    """All 65,536 pairs of colour and alpha, against the exact quotient."""
    colors, alphas = np.meshgrid(np.arange(256), np.arange(256))
    picture = np.dstack([colors, 255 - colors, colors, alphas]).astype(np.uint8)
    buffer = bytearray(picture.tobytes())
    lay_on(buffer, 256, 256, below)

    shown = np.frombuffer(bytes(buffer), np.uint8).reshape(256, 256, 4)
    for channel in range(3):
        exact = picture[..., channel].astype(int) * alphas + below[channel] * (255 - alphas)
        assert np.array_equal(shown[..., channel], (2 * exact + 255) // 510)
    assert (shown[..., 3] == 255).all()
