"""Text layout: chips, wrapped paragraphs, fitted sizes and text along curves.

`apply` edits a group around one text; `raster` replaces a text by a picture that a handler of the
library's caller made. Everything is measured by the rasterizer itself, through a protocol.
"""

from nfbuild.scene.layout.apply import apply, wants_layout

__all__ = ["apply", "wants_layout"]
