"""Video planes against the definition of their colour spaces, sample by sample."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfbuild.pixels.planes import Layout, Plane, to_rgba

LUMA_WEIGHTS = {
    "bt601": (Fraction(299, 1000), Fraction(114, 1000)),
    "bt709": (Fraction(2126, 10000), Fraction(722, 10000)),
    "bt2020": (Fraction(2627, 10000), Fraction(593, 10000)),
}


def exact(y, u, v, matrix, full):
    """The recommendations' own formula, in exact arithmetic; straight from Kr and Kb."""
    kr, kb = LUMA_WEIGHTS[matrix]
    luma = Fraction(y) if full else Fraction(255 * (y - 16), 219)
    blue, red = (
        Fraction((255 if not full else 1) * (c - 128), 224 if not full else 1) for c in (u, v)
    )
    r = luma + 2 * (1 - kr) * red
    b = luma + 2 * (1 - kb) * blue
    g = (luma - kr * r - kb * b) / (1 - kr - kb)
    return [min(max(c, Fraction(0)), Fraction(255)) for c in (r, g, b)]


def plane(values):
    values = np.ascontiguousarray(values, dtype=np.uint8)
    return Plane(values.tobytes(), values.shape[1])


@pytest.mark.parametrize("matrix", ["bt601", "bt709", "bt2020"])
@pytest.mark.parametrize("full", [False, True])
def test_every_color_is_within_half_a_step_of_the_definition(matrix, full):
    """A grid over all three samples, extremes and values out of range among them."""
    steps = [*range(0, 256, 17)]
    y, u, v = (part.reshape(16, -1) for part in np.meshgrid(steps, steps, steps, indexing="ij"))
    layout = Layout(y.shape[1], 16, 1, 1, matrix, full)
    got = to_rgba(plane(y), plane(u), plane(v), layout)

    shown = np.frombuffer(got, np.uint8).reshape(-1, 4)
    for index, sample in enumerate(zip(y.flat, u.flat, v.flat, strict=True)):
        wanted = exact(*map(int, sample), matrix, full)
        assert shown[index, 3] == 255
        for channel in range(3):
            away = abs(int(shown[index, channel]) - wanted[channel])
            assert away <= Fraction(1, 2) + Fraction(1, 100), (sample, channel)


@pytest.mark.parametrize("sampling", [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("size", [(1, 1), (2, 2), (7, 5), (8, 6), (5, 8)])
@pytest.mark.parametrize("siting", ["left", "center"])
def test_flat_color_stays_flat_at_every_size(sampling, size, siting):
    """Odd sizes have one chroma sample more than half; no edge gets another colour."""
    width, height = size
    small = (-(-height // sampling[1]), -(-width // sampling[0]))
    layout = Layout(width, height, *sampling, "bt709", False, siting)
    got = to_rgba(
        plane(np.full((height, width), 120)),
        plane(np.full(small, 90)),
        plane(np.full(small, 180)),
        layout,
    )

    assert got == bytes([*map(round, exact(120, 90, 180, "bt709", False)), 255]) * (width * height)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from([(1, 1), (2, 1), (2, 2)]),
    st.sampled_from(["left", "center"]),
)
def test_chroma_lies_where_it_is_sited(seed, width, height, sampling, siting):
    """An independent loop interpolates each sample from its neighbours' distances."""
    across, down = sampling
    source = np.random.default_rng(seed)
    small = (-(-height // down), -(-width // across))
    v = source.integers(0, 256, small, np.uint8)
    layout = Layout(width, height, across, down, "bt601", True, siting)
    got = to_rgba(plane(np.zeros((height, width))), plane(np.full(small, 128)), plane(v), layout)

    def clamped(row, column):
        return int(v[min(max(row, 0), small[0] - 1), min(max(column, 0), small[1] - 1)])

    def down_at(y, column):
        if down == 1:
            return clamped(y, column)
        near = y // 2
        return 3 * clamped(near, column) + clamped(near + (1 if y % 2 else -1), column) + 2 >> 2

    def at(y, x):
        if across == 1:
            return down_at(y, x)
        near = x // 2
        if siting == "center":
            return 3 * down_at(y, near) + down_at(y, near + (1 if x % 2 else -1)) + 2 >> 2
        return down_at(y, near) if x % 2 == 0 else down_at(y, near) + down_at(y, near + 1) + 1 >> 1

    reds = np.frombuffer(got, np.uint8).reshape(height, width, 4)[..., 0]
    for y in range(height):
        for x in range(width):
            assert reds[y, x] == min(max((at(y, x) - 128) * 91881 + 32768 >> 16, 0), 255)


def test_strides_and_alpha_are_read():
    """Decoders pad their rows; VP9 brings alpha as a plane of its own."""
    luma = Plane(bytes([100, 110, 9, 9, 120, 130]), 4)
    flat = Plane(bytes([128, 128, 9, 128, 128]), 3)
    alpha = Plane(bytes([0, 1, 2, 3]), 2)
    got = to_rgba(luma, flat, flat, Layout(2, 2, 1, 1, full_range=True), alpha=alpha)

    assert got == bytes([100, 100, 100, 0, 110, 110, 110, 1, 120, 120, 120, 2, 130, 130, 130, 3])


@pytest.mark.parametrize(
    ("luma", "layout"),
    [
        (Plane(bytes(3), 2), Layout(2, 2, 1, 1)),
        (Plane(bytes(9), 1), Layout(2, 2, 1, 1)),
        (Plane(bytes(4), 2), Layout(0, 2, 1, 1)),
        (Plane(bytes(4), 2), Layout(2, 2, 4, 1)),
    ],
)
def test_planes_that_do_not_fit_are_refused(luma, layout):
    flat = Plane(bytes(4), 2)

    with pytest.raises(ValueError, match=r"plane of|sampling"):
        to_rgba(luma, flat, flat, layout)
