"""Choosing up to 255 colours for a whole film, and mapping its pixels to them.

A film of few enough colours keeps them exactly. Otherwise colours are counted in cells of 4 x 4 x 4
values and the cells divided by median cut (Heckbert, "Color Image Quantization for Frame Buffer
Display", 1982): the group whose colours vary most, by how many pixels it stands for, is cut at its
mean along its widest channel, until there are as many groups as colours. Nothing is dithered:
flat areas stay flat, and equal pixels stay equal from frame to frame. All sums are of integers, so
the answer does not depend on their order. Pixels with less than half of full alpha are
transparent, the others opaque: GIF knows no more. Not here: the file (`gif`).
"""

from __future__ import annotations

from typing import TypeAlias

from nfbuild.pixels.arrays import Bytes, np

_BITS = 6
_SHIFT = 8 - _BITS
_CELLS = 1 << (3 * _BITS)
_OPAQUE = 128
_STEP = 1 << 12
"""Cells mapped at a time: a table of distances to 255 colours stays at a few megabytes."""

Counts: TypeAlias = np.typing.NDArray[np.int64]
Packed: TypeAlias = np.typing.NDArray[np.uint32]
"""Colours as 0xRRGGBB."""


class Census:
    """Counts the colours of a film, picture by picture."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.transparent = False
        self._exact: Packed | None = np.empty(0, dtype=np.uint32)
        self._count: Counts = np.zeros(_CELLS, dtype=np.int64)
        self._sums: list[Counts] = [np.zeros(_CELLS, dtype=np.int64) for _ in range(3)]

    def add(self, pixels: Bytes) -> None:
        """Count the colours of straight RGBA pixels, shape (height, width, 4)."""
        flat = pixels.reshape(-1, 4)
        solid = flat[..., 3] >= _OPAQUE
        if not solid.all():
            self.transparent = True
            flat = flat[solid]
        if self._exact is not None:
            found = np.unique(np.concatenate([self._exact, _packed(flat)]))
            self._exact = found if found.size <= self.limit else None
        cells = _cells(flat)
        self._count += np.bincount(cells, minlength=_CELLS)
        for channel in range(3):
            # A double holds these sums exactly: at most 255 for each of fewer than 2**40 pixels.
            sums = np.bincount(cells, weights=flat[:, channel], minlength=_CELLS)
            self._sums[channel] += sums.astype(np.int64)

    def palette(self) -> Palette:
        """Return the palette of what was counted; at least one colour."""
        if self._exact is not None:
            colors = self._exact if self._exact.size else np.zeros(1, dtype=np.uint32)
            rgb = np.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1)
            return Palette(rgb.astype(np.uint8), self._exact)
        used = np.flatnonzero(self._count)
        weights = self._count[used]
        means = np.stack([(sums[used] + weights // 2) // weights for sums in self._sums], axis=1)
        return Palette(_divided(means, weights, self.limit), None)


def _packed(flat: Bytes) -> Packed:
    wide = flat.astype(np.uint32)
    packed = wide[:, 0] << 16 | wide[:, 1] << 8 | wide[:, 2]
    return packed.astype(np.uint32, copy=False)


def _cells(flat: Bytes) -> Counts:
    wide = (flat[:, :3] >> _SHIFT).astype(np.int64)
    cells: Counts = wide[:, 0] << (2 * _BITS) | wide[:, 1] << _BITS | wide[:, 2]
    return cells


def _divided(colors: Counts, weights: Counts, limit: int) -> Bytes:
    """Return at most `limit` colours for weighted ones, sorted; shapes (n, 3) and (n,)."""
    groups = [_Group(colors, weights)]
    while len(groups) < limit:
        # The first of the largest: the order of groups is that of their making, so always the same.
        worst = max(range(len(groups)), key=lambda at: groups[at].spread)
        if groups[worst].spread == 0:
            break
        groups[worst : worst + 1] = groups[worst].cut()
    means = np.stack([group.mean for group in groups]).astype(np.uint8)
    return np.unique(means, axis=0)


class _Group:
    """Colours that will become one: their mean, and the widest channel's spread about it."""

    def __init__(self, colors: Counts, weights: Counts) -> None:
        self._colors = colors
        self._weights = weights
        total = int(weights.sum())
        sums = (colors * weights[:, None]).sum(axis=0)
        self.mean = (sums + total // 2) // total
        # Total squared distance, in Python's integers: it may leave 64 bits.
        squares = (colors * colors * weights[:, None]).sum(axis=0)
        spreads = [
            int(squares[channel]) * total - int(sums[channel]) * int(sums[channel])
            for channel in range(3)
        ]
        self._channel = max(range(3), key=lambda channel: spreads[channel])
        self.spread = spreads[self._channel] // total

    def cut(self) -> list[_Group]:
        """Return two groups: at most the mean of the widest channel, and above it."""
        values = self._colors[:, self._channel]
        low = values <= min(int(self.mean[self._channel]), int(values.max()) - 1)
        return [
            _Group(self._colors[side], self._weights[side]) for side in (low, np.logical_not(low))
        ]


class Palette:
    """Colours and the rule that maps pixels to them: the nearest, and of equals the first.

    `transparent` is the index that shows nothing; it follows the colours.
    """

    def __init__(self, colors: Bytes, exact: Packed | None) -> None:
        self.colors = colors
        self.transparent = len(colors)
        self._exact = exact
        self._table = np.zeros(_CELLS, dtype=np.uint8)
        self._known = np.zeros(_CELLS, dtype=np.bool_)

    def mapped(self, pixels: Bytes) -> Bytes:
        """Return the index of every pixel, shape (height, width)."""
        flat = pixels.reshape(-1, 4)
        if self._exact is not None:
            indices = np.searchsorted(self._exact, _packed(flat)).astype(np.uint8)
        else:
            cells = _cells(flat)
            self._learn(cells)
            indices = self._table[cells]
        indices[flat[:, 3] < _OPAQUE] = self.transparent
        return indices.reshape(pixels.shape[:2])

    def unmapped(self, indices: Bytes) -> Bytes:
        """Return what indices show as straight RGBA; transparent pixels are four zeros."""
        table = np.zeros((256, 4), dtype=np.uint8)
        table[: len(self.colors), :3] = self.colors
        table[: len(self.colors), 3] = 255
        return table[indices]

    def _learn(self, cells: Counts) -> None:
        seen = np.zeros(_CELLS, dtype=np.bool_)
        seen[cells] = True
        fresh = np.flatnonzero(seen & ~self._known)
        palette = self.colors.astype(np.int32)
        half = 1 << (_SHIFT - 1)
        for start in range(0, fresh.size, _STEP):
            some = fresh[start : start + _STEP].astype(np.int32)
            mask = (1 << _BITS) - 1
            centres = np.stack([some >> (2 * _BITS), some >> _BITS & mask, some & mask], axis=1)
            apart = (centres << _SHIFT)[:, None, :] + half - palette[None, :, :]
            self._table[some] = (apart * apart).sum(axis=2).argmin(axis=1)
        self._known[fresh] = True
