"""What an `<image>` shows: a picture, one picture of a video, or another composition.

Nested compositions are inlined, since the rasterizer cannot draw an SVG as an image: the child's
program runs on a clock of its own, inside a group that maps its canvas into the element's box.
Source: the format's rules for embedded media.
"""

from __future__ import annotations

from nfbuild.errors import CompositionError, MediaError, Place, SourceError
from nfbuild.scene.aspect import placement
from nfbuild.scene.baked import PictureRef
from nfbuild.scene.compile import Compiler, Context, Drawing
from nfbuild.scene.layout.raster import Rastering, TextHandler
from nfbuild.scene.mapping import read_mapping
from nfbuild.scene.names import content_name
from nfbuild.scene.nested import Nested, as_group, fit
from nfbuild.scene.numbers import shown
from nfbuild.scene.pool import Pool
from nfbuild.scene.program import Constant, Item, Program, Wrapped
from nfbuild.scene.protocols import (
    LayoutContext,
    Limits,
    NeedsAnswers,
    Picture,
    Request,
    Services,
    SourceFile,
)
from nfbuild.scene.references import (
    NESTED_SUFFIXES,
    VIDEO_SUFFIXES,
    hyperlink,
    inline_type,
    path_of,
    read_file,
)
from nfbuild.scene.sheet import Sheet, read_sheet
from nfbuild.scene.textbox import TextBoxes
from nfbuild.scene.tree import Element, describe
from nfbuild.scene.video import Reel, Video
from nfbuild.scene.write import resting_text

# What stands on the image of a nested composition and means something on a group as well.
_GROUP_ATTRIBUTES = ("clip-path", "filter", "mask", "opacity")


class Embedder:
    """Reads the files that images refer to; one for a composition with all that it nests."""

    def __init__(
        self, services: Services, limits: Limits, pool: Pool, handler: TextHandler | None = None
    ) -> None:
        self.rastering: Rastering | None = None
        if handler is not None:
            prepare = services.pictures.prepare
            self.rastering = Rastering(handler, lambda file, place: prepare(file, place=place))
        self.services = services
        self.limits = limits
        self.pool = pool
        self.sheets: dict[str, Sheet] = {}
        self.media: dict[str, SourceFile] = {}
        self.missing: list[Request] = []
        self._path: list[str] = []

    def compiler(self, sheet: Sheet, prefix: str) -> Compiler:
        """Return a compiler for a sheet, drawn at the place `prefix`."""
        boxes = TextBoxes(self.services, sheet, self.missing)
        canvas = sheet.canvas
        context = LayoutContext(
            sheet.path, canvas.width, canvas.height, self.services.measurer, sheet.faces.face_of
        )
        return Compiler(
            sheet, self.pool, prefix, Drawing(self.embed, boxes.box, context, self.rastering)
        )

    def compile(self, sheet: Sheet, prefix: str) -> tuple[Compiler, list[Program]]:
        """Compile a sheet and everything nested in it."""
        self.sheets.setdefault(sheet.path, sheet)
        compiler = self.compiler(sheet, prefix)
        self._path.append(sheet.path)
        programs = compiler.compile()
        self._path.pop()
        for style in compiler.styles:
            if style not in self.pool.styles:
                self.pool.styles.append(style)
        return compiler, programs

    def embed(self, compiler: Compiler, element: Element, context: Context) -> list[Item]:
        """Return what draws an `<image>`."""
        if element.get("display") == "none" and not context.kept:
            return []
        reference = hyperlink(element)
        path = compiler.sheet.path
        place = Place(path, element.line)
        if reference is None or not reference.strip(" \t\r\n"):
            raise MediaError(
                f"`{describe(element)}` refers to no file",
                place=place,
                code="media.missing",
                hint='write `href="assets/picture.png"`',
            )
        kind = inline_type(reference)
        name = path_of(reference).lower()
        if (kind is None and name.endswith(NESTED_SUFFIXES)) or kind == "image/svg+xml":
            return self._nested(compiler, element, reference, context)
        file = read_file(reference, element, self.services.files, base=path, place=place)
        self.media.setdefault(file.path, file)
        if (kind is None and name.endswith(VIDEO_SUFFIXES)) or (kind or "").startswith("video/"):
            return self._video(compiler, element, file, context)
        try:
            picture = self.services.pictures.prepare(file, place=place)
        except NeedsAnswers as need:
            self.missing += need.requests
            return []
        return self._picture(compiler, element, picture, context)

    # -- pictures

    def _picture(
        self, compiler: Compiler, element: Element, picture: Picture, context: Context
    ) -> list[Item]:
        drawn = compiler.drawn(element)
        drawn["href"] = picture.name
        mask = compiler.mask_of(element)
        mask |= self.pool.picture(PictureRef(picture.digest, picture.suffix))
        before, after, clip = self._placed(element, picture.width, picture.height, drawn)
        return self._around(
            compiler.wrapped(element, drawn, "/>", mask | clip, kept=context.kept), before, after
        )

    def _placed(
        self, element: Element, width: int, height: int, drawn: dict[str, str]
    ) -> tuple[str, str, int]:
        """Place a picture by `data-aspect`; returns what stands around it and the clip's bits."""
        placed = placement(element, width, height)
        if placed is None:
            return "", "", 0
        drawn.update(
            x=shown(placed.x),
            y=shown(placed.y),
            width=shown(placed.width),
            height=shown(placed.height),
        )
        if placed.clip is None:
            return "", "", 0
        name, bits = self._clip(placed.clip)
        return f'<g clip-path="url(#{name})">', "</g>", bits

    def _clip(self, box: tuple[float, float, float, float]) -> tuple[str, int]:
        x, y, width, height = (shown(value) for value in box)
        rect = f'<rect height="{height}" width="{width}" x="{x}" y="{y}"/>'
        name = content_name(rect)
        return name, self.pool.definition(f'<clipPath id="{name}">{rect}</clipPath>', 0)

    @staticmethod
    def _around(items: list[Item], before: str, after: str) -> list[Item]:
        if not before:
            return items
        out: list[Item] = []
        for item in items:
            if isinstance(item, Wrapped):
                item.around(before, after)
                out.append(item)
            elif isinstance(item, Constant):
                out.append(Constant(before + item.text + after, item.mask))
        return out

    # -- video

    def _video(
        self, compiler: Compiler, element: Element, file: SourceFile, context: Context
    ) -> list[Item]:
        videos = self.services.videos
        place = Place(compiler.sheet.path, element.line)
        if videos is None:
            raise MediaError(
                f"`{describe(element)}` shows a video, and this installation decodes none",
                place=place,
                code="media.no_video",
                hint="install the extra: `pip install nfbuild[video]`",
            )
        rate = compiler.sheet.canvas.rate
        try:
            clip = videos.clip(file, rate=rate, place=place)
        except NeedsAnswers as need:
            self.missing += need.requests
            return []
        if clip.frames < 1:
            raise MediaError(
                f"`{describe(element)}` shows `{file.path}`, which has no picture",
                place=place,
                code="media.empty",
                hint="the file holds no video stream that can be decoded",
            )
        mapping = read_mapping(element, compiler.sheet.path)
        drawn = compiler.drawn(element)
        before, after, clip_bits = self._placed(element, clip.width, clip.height, drawn)
        mask = compiler.mask_of(element) | clip_bits
        dressing = compiler.dressed(element, drawn, kept=context.kept)
        return [
            Video(
                Reel(file, place, rate, clip, mapping),
                videos,
                self.pool,
                dressing=dressing,
                before=f"{before}<image",
                after=f"{resting_text(drawn)}/>{after}",
                mask=mask,
            )
        ]

    # -- nested compositions

    def _nested(
        self, compiler: Compiler, element: Element, reference: str, context: Context
    ) -> list[Item]:
        parent = compiler.sheet.path
        place = Place(parent, element.line)
        where = describe(element)
        source = read_file(reference, element, self.services.files, base=parent, place=place)
        if source.path in self._path:
            loop = [*self._path[self._path.index(source.path) :], source.path]
            raise SourceError(
                f"`{where}` nests a composition inside itself: " + " -> ".join(loop),
                place=place,
                code="media.cycle",
                hint="take one of these references out",
            )
        if len(self._path) >= self.limits.nesting:
            raise SourceError(
                f"compositions are nested deeper than {self.limits.nesting}",
                place=place,
                code="media.nested_depth",
                hint="raise the limit `nesting`, or nest less",
            )
        try:
            sheet = self.sheets.get(source.path)
            if sheet is None:
                sheet = read_sheet(source, self.services, self.limits)
            compiler.nested += 1
            child, programs = self.compile(sheet, f"{compiler.prefix}n{compiler.nested}")
        except CompositionError as error:
            raise _inside(error, where, source.path, place) from None
        drawn = compiler.drawn(as_group(element))
        own = drawn.pop("transform", "")
        dressing = compiler.dressed(element, {"transform": own} if own else {}, kept=context.kept)
        return [
            Nested(
                child,
                programs,
                dressing=dressing,
                mapping=read_mapping(element, parent),
                group={name: drawn[name] for name in _GROUP_ATTRIBUTES if name in drawn},
                fit=fit(element, sheet.canvas.width, sheet.canvas.height),
                mask=compiler.mask_of(element),
            )
        ]


def _inside(error: CompositionError, where: str, child: str, place: Place) -> CompositionError:
    """Return the first cause, told from where the parent nests the child."""
    if error.code == "media.cycle":
        return error
    cause = f"{error.place}: {error.message}" if error.place is not None else error.message
    return type(error)(
        f"`{where}` nests `{child}`: {cause}", place=place, hint=error.hint, code=error.code
    )
