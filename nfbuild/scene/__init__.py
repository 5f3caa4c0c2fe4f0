"""Composition file to baked frame: parse, timeline, easing, references.

The public names live in the modules: `load.load`, `composition.Composition`, `baked.BakedFrame`,
and the questions the scene asks in `protocols`.
"""
