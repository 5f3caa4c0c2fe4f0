"""Draw `compositions/assets/ridges.jpg`: seven mountain ridges in morning mist, from one seed.

Run it as `python scripts/draw_ridges.py [FILE]`. The committed picture is the input of
`compositions/image-pan.nf.svg`; another encoder may write other bytes, so the picture is
committed and this script only says where it came from.
"""

from __future__ import annotations

import sys

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 1440, 540
SEED = 1863
RIDGES = 7
SKY_TOP = (244, 176, 132)
SKY_LOW = (252, 226, 190)
FAR = (222, 170, 150)
NEAR = (24, 28, 44)
SUN = (1010, 196, 46)


def outline(rng: np.random.Generator, base: float, height: float, roughness: float) -> np.ndarray:
    """Return the y of one ridge for every column: octaves of noise with sharp tops."""
    line = np.zeros(WIDTH)
    for octave in range(7):
        points = 4 * 2**octave
        knots = rng.uniform(-1, 1, points + 2)
        at = np.linspace(0, points, WIDTH)
        left = at.astype(int)
        part = at - left
        smooth = part * part * (3 - 2 * part)
        line += (knots[left] * (1 - smooth) + knots[left + 1] * smooth) * roughness**octave
    return base - height * (1 - np.abs(line))


def mix(first: tuple[int, int, int], second: tuple[int, int, int], share: float) -> np.ndarray:
    """Return the colour that is `share` of the way from `first` to `second`."""
    return np.array(first, float) * (1 - share) + np.array(second, float) * share


def draw() -> Image.Image:
    """Return the picture: sky, sun, then the ridges from far to near, each in its own mist."""
    rng = np.random.default_rng(SEED)
    rows = np.linspace(0, 1, HEIGHT)[:, None, None]
    picture = np.array(SKY_TOP, float) * (1 - rows) + np.array(SKY_LOW, float) * rows
    picture = np.repeat(picture, WIDTH, axis=1)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]

    from_sun = np.hypot(x - SUN[0], y - SUN[1])
    glow = np.exp(-((from_sun / 260.0) ** 2))[..., None]
    picture = picture * (1 - 0.45 * glow) + np.array((255, 246, 224), float) * 0.45 * glow
    disc = np.clip(SUN[2] - from_sun + 0.5, 0, 1)[..., None]
    picture = picture * (1 - disc) + np.array((255, 250, 238), float) * disc

    for ridge in range(RIDGES):
        depth = ridge / (RIDGES - 1)
        base = 270 + 250 * depth**1.15
        line = outline(rng, base, 62 + 52 * depth, 0.44 + 0.06 * depth)
        covered = np.clip(y - line[None, :] + 0.5, 0, 1)[..., None]
        colour = mix(FAR, NEAR, depth**0.8)
        below = np.clip((y - line[None, :]) / 170.0, 0, 1)[..., None]
        mist = 0.55 * (1 - depth) ** 0.7 * below
        shaded = colour * (1 - mist) + np.array(SKY_LOW, float) * mist
        picture = picture * (1 - covered) + shaded * covered

    grain = rng.normal(0, 1.1, (HEIGHT, WIDTH, 1))
    return Image.fromarray(np.clip(picture + grain, 0, 255).astype(np.uint8))


def main() -> None:
    """Write the picture to the path that is given, or to its place in the project."""
    target = sys.argv[1] if len(sys.argv) > 1 else "compositions/assets/ridges.jpg"
    draw().save(target, quality=86, optimize=True, subsampling=0)


if __name__ == "__main__":
    main()
