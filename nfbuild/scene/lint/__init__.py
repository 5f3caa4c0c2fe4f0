"""What an author should know before rendering: what would draw nothing, or draw wrong.

`check` looks at a loaded composition and at what is nested in it and returns findings with a
stable code, a severity, the element's line and a remedy. It draws nothing itself; what only
pixels can tell (`blank_frames`) is told by whoever has drawn.
"""

from nfbuild.scene.lint.check import Glyphs, blank_frames, check

__all__ = ["Glyphs", "blank_frames", "check"]
