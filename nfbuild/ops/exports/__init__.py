"""Frames handed on to files that people watch.

`products` plans them, `source` brings frames from the cache or from drawing, `handover` passes
them while others are still drawn, `exporting` runs the formats.
"""
