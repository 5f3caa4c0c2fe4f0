"""Draw documents in this process: one engine, one canvas, one buffer, kept from frame to frame.

`Renderer` promises that a frame depends on its task alone, not on what was drawn before: the
canvas redraws all (no engine option), faces stand under the digest of their bytes, and whatever
fails resets everything. A fresh engine per frame gives the same bytes and takes up to six times
as long.

Measured on the peer's `master-demo`, 1920 x 1080: load 0.2 ms, draw 9.6, digest 1.2, PNG 2.7,
write 0.3. The raster's memory makes no difference (ordinary, page aligned, huge pages), so it is
a plain `bytearray`, whose every fourth byte Python can slice ten times as fast as a memoryview's.
What does make a difference is a picture that stays open: ThorVG decodes a file anew for every
document that refers to it unless some paint still holds it (137 ms against 6 for six megapixels),
so recent pictures are held (`_Pictures`). The pixels are the same.
Not here: Lottie scenes (`lottie`), where ink is (`measure`), tasks (`tasks`), pools (`execute`).
"""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from nfbuild.digests import InputDigest, blob_digest, file_digest
from nfbuild.errors import Corrupt, DrawError
from nfbuild.pixels import png
from nfbuild.pixels.digest import frame_digest, peer_digest, picture_digest

from . import thorvg
from .engine import MAX_SIDE, Engine
from .reuse import Ground, KeptRaster, is_opaque, stays_opaque
from .standing import TopKeeper
from .tasks import Drawn, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .lottie import Scene
    from .tasks import BlobWriter, DrawTask
    from .top import Box

MAX_PIXELS = 1 << 28

_HELD_PIXELS = 24_000_000  # decoded pixels held for later frames: 96 MB


class Clock:
    """Where a task's time went: `stage("draw")` ends the stretch since the last call."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self._last = time.perf_counter_ns()

    def stage(self, name: str) -> None:
        """Name the time since the last stage (or since the start)."""
        now = time.perf_counter_ns()
        self.stages.append(Stage(name, self._last, now - self._last))
        self._last = now


class Renderer:
    """The rasterizer of one worker process; not for use by two threads.

    `faces` gives each face's bytes or path by the digest of its bytes. The process must stand in
    the folder where the pictures are staged, and as `<digest>.ttf` the faces that are not given.
    `keep_rasters=False` draws every frame whole.
    """

    def __init__(
        self, faces: Mapping[InputDigest, str | bytes] | None = None, *, keep_rasters: bool = True
    ) -> None:
        self._sources = dict(faces or {})
        self._keep_rasters = keep_rasters
        self._faces: dict[InputDigest, bytes] = {}
        self._library: thorvg.Library | None = None
        self._engine: Engine | None = None
        self._size = (0, 0)
        self._is_straight = True
        self._buffer = bytearray()
        self._encoder = png.Encoder()
        self._kept: KeptRaster | None = None
        self._top: TopKeeper | None = None
        self._ground: Ground | None = None
        self._pictures: _Pictures | None = None
        self.scene: Scene | None = None

    def warm(self) -> None:
        """Load the library and start its engine, so that the first frame does not wait for it."""
        self._ready()

    def draw(
        self, task: DrawTask, clock: Clock | None = None, *, straight: bool = True
    ) -> memoryview:
        """Return the RGBA rows of a task; they hold until the next call.

        Colours are straight, or as the rasterizer has them, premultiplied: their alpha is the
        same, and taking it back from translucent colours is two thirds of a measurement's time.
        Raises DrawError when any call fails; the renderer is then as new.
        """
        clock = clock or Clock()
        whole = False
        try:
            if task.lottie is not None:
                from .lottie import draw_scene  # noqa: PLC0415  most compositions have none

                draw_scene(self, task, task.lottie, clock)
            else:
                self._draw_document(task, clock, straight)
            whole = True
        finally:
            # Whatever interrupts a draw, an interrupt from the keyboard too, may leave a picture
            # on the canvas that the next frame would show.
            if not whole:
                self.reset()
        return memoryview(self._buffer)

    def draw_frame(self, task: DrawTask, write: BlobWriter | None = None) -> Drawn:
        """Draw a task, name its pixels, and write its PNG through `write` when it wants one."""
        clock = Clock()
        pixels = self.draw(task, clock)
        digest = frame_digest(pixels, task.width, task.height)
        peer = peer_digest(pixels, task.width, task.height) if task.sha256 else None
        clock.stage("digest")
        if not task.png:
            return Drawn(digest, None, 0, peer, tuple(clock.stages))
        data = self._encoder.encode(self._buffer, task.width, task.height)
        blob = blob_digest(data)
        clock.stage("encode")
        if write is not None and task.keep:
            write(blob, data)
            clock.stage("write")
        return Drawn(digest, blob, len(data), peer, tuple(clock.stages))

    def reset(self) -> None:
        """Let go of everything the rasterizer holds; the next draw starts a new engine."""
        library, engine, pictures = self._library, self._engine, self._pictures
        self._engine = self._pictures = self._kept = self._top = None
        if library is not None and engine is not None:
            # What an engine answers while it is given up decides no pixel, and must not hide
            # the error that led here.
            with suppress(DrawError):
                self.close_scene()
            if pictures is not None:
                pictures.drop()
            with suppress(DrawError):
                library.canvas_destroy(engine.canvas)
            with suppress(DrawError):
                library.engine_term()
        self._faces.clear()

    @property
    def buffer(self) -> bytearray:
        """The raster that was drawn last."""
        return self._buffer

    def has_just(self, faces: tuple[InputDigest, ...]) -> bool:
        """Tell whether the engine holds exactly these faces, loaded in this order."""
        return tuple(self._faces) == faces

    def close_scene(self) -> None:
        """Take a loaded Lottie scene off the canvas."""
        scene, self.scene = self.scene, None
        if scene is not None:
            scene.close()

    def begin(
        self, task: DrawTask, *, keep_scene: bool = False, straight: bool = True
    ) -> tuple[thorvg.Library, int]:
        """Make ready for a task: library and canvas with its target, faces and pictures."""
        library, canvas = self._ready()
        if not keep_scene:
            self.close_scene()
        self._load_faces(library, task.faces)
        self._target(library, canvas, task.width, task.height, straight)
        assert self._pictures is not None
        self._pictures.hold(task.pictures)
        return library, canvas

    def _ready(self) -> tuple[thorvg.Library, int]:
        if self._library is None:
            self._library = thorvg.Library()
        if self._engine is None:
            self._engine = Engine(self._library)
            self._size = (0, 0)
            self._pictures = _Pictures(self._library)
        return self._library, self._engine.canvas

    def _target(
        self,
        library: thorvg.Library,
        canvas: int,
        width: int,
        height: int,
        straight: bool,
    ) -> None:
        if self._size == (width, height):
            if straight is not self._is_straight:
                self._set_target(library, canvas, straight)
            return
        if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
            raise DrawError(
                f"a raster of {width} x {height} pixels cannot be drawn",
                hint=f"at most {MAX_SIDE} pixels a side and {MAX_PIXELS} in all",
                code="draw.size",
            )
        self.close_scene()
        self._size = (0, 0)
        assert self._engine is not None
        self._engine.make_room(max(width, height))
        self._buffer = bytearray(4 * width * height)
        self._size = (width, height)
        self._set_target(library, canvas, straight)

    def _set_target(self, library: thorvg.Library, canvas: int, straight: bool) -> None:
        width, height = self._size
        self._size = (0, 0)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._buffer))
        space = thorvg.ABGR8888S if straight else thorvg.ABGR8888
        library.swcanvas_set_target(canvas, address, width, width, height, space)
        self._size, self._is_straight = (width, height), straight

    def _load_faces(self, library: thorvg.Library, digests: tuple[InputDigest, ...]) -> None:
        for digest in digests:
            if digest in self._faces:
                continue
            data = self._face_bytes(digest)
            # The bytes are not copied (a face may be 25 MB), so they stay in `_faces`.
            library.font_load_data(digest.encode("ascii"), data, len(data), b"ttf", False)
            self._faces[digest] = data

    def _face_bytes(self, digest: InputDigest) -> bytes:
        # A face that a composition embeds is known only now: it is staged beside the pictures.
        source = self._sources.get(digest, f"{digest}.ttf")
        if digest not in self._sources and not os.path.exists(f"{digest}.ttf"):
            raise DrawError(f"the face `{digest}` was not given to the worker", code="draw.face")
        if isinstance(source, str):
            try:
                with open(source, "rb") as file:
                    source = file.read()
            except OSError as error:
                raise DrawError(
                    f"the face `{digest}` cannot be read: {error.strerror}", code="draw.face"
                ) from error
        if file_digest(source) != digest:
            raise DrawError(
                f"the face `{digest}` has changed since it was read",
                hint="build again",
                code="draw.face",
            )
        return source

    def _draw_document(self, task: DrawTask, clock: Clock, straight: bool) -> None:
        if not task.faces and b"<text" in task.document:
            raise DrawError(
                "the document has text and the task names no face",
                hint="the rasterizer would take whatever face it loaded first",
                code="draw.face",
            )
        # Which colours are needed is seen below: the target stays as it is until then.
        library, canvas = self.begin(task, straight=straight and self._is_straight)

        def paint(document: bytes, *, clear: bool = True, own_colours: bool = False) -> None:
            self._target(library, canvas, *self._size, straight and not own_colours)
            self._paint(library, canvas, document, clock, clear=clear)

        def paint_over(document: bytes, box: Box | None) -> None:
            self._target(library, canvas, *self._size, straight=False)
            if box is not None:
                library.canvas_sync(canvas)
                library.canvas_set_viewport(canvas, *box)
            self._paint(library, canvas, document, clock, clear=False)
            if box is not None:
                library.canvas_sync(canvas)
                library.canvas_set_viewport(canvas, 0, 0, *self._size)

        if task.split is None or not self._keep_rasters:
            paint(task.document, own_colours=straight and self._stays_opaque(task, paint))
            return
        kept = self._kept
        bottom, upper = task.split.parts(task.document)
        top = self._top
        if kept is None or top is None or not kept.is_of(bottom, *self._size):
            paint(bottom)
            kept = self._kept = KeptRaster.of(bottom, *self._size, self._buffer)
            top = self._top = TopKeeper(kept)
        if kept.opaque:
            if straight and top.draw(task.document, task.split, self._buffer, paint_over):
                return
            kept.copy_into(self._buffer)
            paint(upper, clear=False, own_colours=stays_opaque(upper))
        else:
            # A translucent bottom was rounded once already: drawing on could differ by a step.
            paint(task.document)

    def _stays_opaque(self, task: DrawTask, paint: Callable[[bytes], None]) -> bool:
        """Tell whether every pixel of a task's frame is opaque, as far as its ground shows."""
        if not task.ground or not stays_opaque(task.document):
            return False
        ground = self._ground
        if ground is None or not ground.is_of(task.document, task.ground, self._size):
            self._ground = Ground(task.document[: task.ground], self._size)
            return False
        if ground.is_due:
            paint(ground.document)
            ground.opaque = is_opaque(self._buffer)
        return bool(ground.opaque)

    def _paint(
        self, library: thorvg.Library, canvas: int, document: bytes, clock: Clock, *, clear: bool
    ) -> None:
        picture = library.new("tvg_picture_new")
        try:
            library.picture_load_data(picture, document, len(document), b"svg", None, True)
            library.picture_set_size(picture, *self._size)
        except DrawError:
            library.release(picture)
            raise
        library.canvas_add(canvas, picture)
        clock.stage("load")
        library.canvas_draw(canvas, clear)
        library.canvas_sync(canvas)
        library.canvas_remove(canvas, None)
        clock.stage("draw")


class _Pictures:
    """Picture files held open by a paint of their own, so that they are decoded once.

    Holds every picture of the present task and, of earlier ones, the latest up to a bound.
    """

    def __init__(self, library: thorvg.Library) -> None:
        self._library = library
        self._held: dict[str, tuple[int, int]] = {}  # name -> paint, pixels; oldest use first

    def hold(self, names: tuple[str, ...]) -> None:
        """Hold the pictures named, staged in the working directory; DrawError if one is not."""
        for name in names:
            if name in self._held:
                self._held[name] = self._held.pop(name)
                continue
            _require_staged(name)
            paint = self._library.new("tvg_picture_new")
            try:
                self._library.picture_load(paint, name.encode("ascii"))
                width, height = self._library.picture_size(paint)
            except DrawError:
                self._library.release(paint)
                raise
            self._held[name] = (paint, int(width * height))
        total = sum(pixels for _, pixels in self._held.values())
        for name in list(self._held):
            if total <= _HELD_PIXELS or name in names:
                break
            paint, pixels = self._held.pop(name)
            self._library.release(paint)
            total -= pixels

    def drop(self) -> None:
        """Let go of every picture."""
        for paint, _ in self._held.values():
            self._library.release(paint)
        self._held.clear()


def _require_staged(name: str) -> None:
    """Check that a staged picture's bytes are the ones that its name promises."""
    try:
        with open(name, "rb") as file:
            data = file.read()
    except OSError as error:
        raise DrawError(
            f"the picture `{name}` is not staged: {error.strerror}", code="draw.picture"
        ) from error
    promised = os.path.splitext(name)[0]
    if file_digest(data) == promised:
        return
    # A decoded picture is named by its pixels: its file's bytes differ from machine to machine.
    try:
        decoded = picture_digest(*png.decode_own(data))
    except Corrupt:
        decoded = None
    if decoded != promised:
        raise DrawError(f"the staged picture `{name}` has other content", code="draw.picture")
