"""NumPy's one door into the program, and straight RGBA as arrays.

Importing NumPy takes a worker 85 ms, so nothing that every frame needs may import this module.
Not here: what is computed with arrays (`compare`, `planes`, `blend`).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int32]

__all__ = ["Bytes", "Ints", "np", "rgba"]


def rgba(pixels: bytes | bytearray | memoryview, width: int, height: int) -> Bytes:
    """Return a view of RGBA rows with shape (height, width, 4); ValueError on another size."""
    flat = np.frombuffer(pixels, dtype=np.uint8)
    if width < 1 or height < 1 or flat.size != 4 * width * height:
        raise ValueError(f"{flat.size} bytes are not {width} x {height} pixels of RGBA")
    return flat.reshape(height, width, 4)
