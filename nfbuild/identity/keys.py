"""Keys of single frames: what is drawn (scene key), and by what (frame key).

A scene key is the digest of exactly what the rasterizer is given: the document's bytes, the
digests of the pictures and faces that these bytes name, and the raster size. Nothing else
reaches the rasterizer, so equal keys mean equal pixels. Time is not in a key: equal frames of a
hold, a loop or another composition have one key.
"""

from __future__ import annotations

from collections.abc import Sequence

from nfbuild.digests import Field, FrameKey, SceneKey, derive, derive_raw, encode

_SCENE_CONTEXT = "nfbuild 2026 scene key v1"
_FRAME_CONTEXT = "nfbuild 2026 frame key v1"


class SceneKeys:
    """Makes scene keys of one composition; remembers the encoded head that its frames share.

    `width` and `height` are the raster's, in pixels.
    """

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._heads: dict[tuple[object, ...], bytes] = {}

    def key(
        self,
        document: Sequence[bytes],
        pictures: tuple[str, ...],
        faces: tuple[str, ...],
        moment: Field = None,
    ) -> SceneKey:
        """Return the key of one frame.

        `document` is the document in consecutive pieces. `pictures` and `faces` are the sorted
        names that it uses, each the digest of the content (a picture's with its suffix).
        `moment` says what besides the document the rasterizer is told: for a Lottie scene the
        frame number and how it is loaded; None for a document that holds one frame.
        """
        cached = (pictures, faces, _hashable(moment))
        head = self._heads.get(cached)
        if head is None:
            if len(self._heads) > 1000:  # a Lottie scene has one head a frame
                self._heads.clear()
            head = encode([*self._size, list(pictures), list(faces), moment])
            self._heads[cached] = head
        # The head delimits itself and the document is all that follows: the framing is unique.
        return SceneKey(derive_raw(_SCENE_CONTEXT, head, *document))


def frame_key(scene: SceneKey, toolchain: str) -> FrameKey:
    """Return the question that a frame digest answers: this scene, drawn by this toolchain.

    `toolchain` is the digest of the toolchain part.
    """
    return FrameKey(derive(_FRAME_CONTEXT, scene, toolchain))


def _hashable(value: Field) -> object:
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(item) for item in value)
    return value
