"""Load a composition of any kind: the only door into this room that callers need."""

from __future__ import annotations

from nfbuild.scene.composition import Composition, load_vector
from nfbuild.scene.layout.raster import TextHandler
from nfbuild.scene.protocols import Limits, Services, SourceFile

LOTTIE_SUFFIXES = (".lottie", ".json")


def load(
    source: SourceFile,
    services: Services,
    limits: Limits,
    *,
    background: str | None = None,
    handler: TextHandler | None = None,
) -> Composition:
    """Return the composition in `source`, ready to bake.

    `background` is the colour behind a Lottie scene; `handler` draws raster text. Raises
    `NeedsAnswers` when measurements or pictures are needed first, and a `CompositionError` when
    it cannot be built.
    """
    if source.path.lower().endswith(LOTTIE_SUFFIXES):
        from nfbuild.scene.lottie import load_lottie  # noqa: PLC0415  many projects have none

        return load_lottie(source, services, limits, background=background)
    return load_vector(source, services, limits, handler=handler)
