"""Our own sine, cosine and arctangent: bits that may never move, and truth."""

import math
import random

import pytest

from nfbuild.scene.layout.series import arctangent, cosine, sine

SINES = {
    -100.25: "-0x1.f7d42eaca5cedp-1",
    -30.0: "-0x1.fffffffffffffp-2",
    0.0: "0x0.0p+0",
    1.5: "0x1.ace214390ca91p-6",
    15.0: "0x1.0907dc1930690p-2",
    30.0: "0x1.fffffffffffffp-2",
    44.5: "0x1.66dd943f43373p-1",
    45.0: "0x1.6a09e667f3bccp-1",
    45.5: "0x1.6d2f29b1f2f46p-1",
    60.0: "0x1.bb67ae8584cabp-1",
    90.0: "0x1.0000000000000p+0",
    135.0: "0x1.6a09e667f3bccp-1",
    179.0: "0x1.1df0b2b89dd1ep-6",
    180.0: "0x0.0p+0",
    270.0: "-0x1.0000000000000p+0",
    359.5: "-0x1.1df37c4954c21p-7",
    725.125: "0x1.6de4223476a12p-4",
}
COSINES = {
    -100.25: "-0x1.6c6daa62c1694p-3",
    -30.0: "0x1.bb67ae8584cabp-1",
    0.0: "0x1.0000000000000p+0",
    1.5: "0x1.ffd315bbf4275p-1",
    15.0: "0x1.ee8dd4748bf15p-1",
    30.0: "0x1.bb67ae8584cabp-1",
    44.5: "0x1.6d2f29b1f2f46p-1",
    45.0: "0x1.6a09e667f3bcdp-1",
    45.5: "0x1.66dd943f43373p-1",
    60.0: "0x1.fffffffffffffp-2",
    90.0: "0x0.0p+0",
    135.0: "-0x1.6a09e667f3bcdp-1",
    179.0: "-0x1.ffec097f5af8ap-1",
    180.0: "-0x1.0000000000000p+0",
    270.0: "0x0.0p+0",
    359.5: "0x1.fffb02599c9cdp-1",
    725.125: "0x1.fdf3ff86ad490p-1",
}
ARCTANGENTS = {
    (-2.0, -0.1): "-0x1.73731a5b0832ap+6",
    (-1.0, 0.0): "-0x1.6800000000000p+6",
    (0.0, -1.0): "0x1.6800000000000p+7",
    (0.0, 0.0): "0x0.0p+0",
    (1e-09, 5.0): "0x1.89bbcd20626ecp-27",
    (0.26, 1.0): "0x1.d25ffaa5ed1d7p+3",
    (1.0, 0.0): "0x1.6800000000000p+6",
    (1.0, 1.0): "0x1.6800000000000p+5",
    (1.0, 3.0): "0x1.26f58ce59e23cp+4",
    (7.5, -2.25): "0x1.aacc06ae33ad4p+6",
}


@pytest.mark.parametrize(("degrees", "bits"), sorted(SINES.items()))
def test_a_sine_has_these_bits_everywhere(degrees, bits):
    """A last bit can move a glyph."""
    assert sine(degrees).hex() == bits


@pytest.mark.parametrize(("degrees", "bits"), sorted(COSINES.items()))
def test_a_cosine_has_these_bits_everywhere(degrees, bits):
    """A last bit can move a glyph."""
    assert cosine(degrees).hex() == bits


@pytest.mark.parametrize(("vector", "bits"), sorted(ARCTANGENTS.items()))
def test_a_direction_has_these_bits_everywhere(vector, bits):
    """A last bit can turn a glyph."""
    y, x = vector
    assert arctangent(y, x).hex() == bits


def test_the_series_are_the_functions_they_are_named_after():
    """Twelve digits against the C library, which is right to about sixteen."""
    source = random.Random(1)
    for _ in range(5000):
        degrees = source.uniform(-1080.0, 1080.0)
        y, x = source.uniform(-9.0, 9.0), source.uniform(-9.0, 9.0)

        assert sine(degrees) == pytest.approx(math.sin(math.radians(degrees)), abs=1e-14)
        assert cosine(degrees) == pytest.approx(math.cos(math.radians(degrees)), abs=1e-14)
        assert arctangent(y, x) == pytest.approx(math.degrees(math.atan2(y, x)), abs=1e-12)
