"""Load a composition of any kind: the only door into this room that callers need."""

from __future__ import annotations

from nfbuild.scene.composition import Composition, load_vector
from nfbuild.scene.protocols import Limits, Services, SourceFile


def load(source: SourceFile, services: Services, limits: Limits) -> Composition:
    """Return the composition in `source`, ready to bake.

    Raises `NeedsAnswers` when measurements or pictures are needed first, and a
    `CompositionError` when it cannot be built.
    """
    return load_vector(source, services, limits)
