"""Composition file to baked frame: parse, timeline, easing, layout, references.

`load` reads a composition, `Composition.bake` gives one frame of it as the rasterizer gets it.
What the scene asks of others is declared in `protocols`.
"""

from nfbuild.scene.baked import BakedFrame, LottieFrame, PictureRef
from nfbuild.scene.composition import Composition
from nfbuild.scene.inputs import SceneInputs
from nfbuild.scene.load import load

__all__ = ["BakedFrame", "Composition", "LottieFrame", "PictureRef", "SceneInputs", "load"]
