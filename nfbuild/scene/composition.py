"""A composition: loaded once, baked frame by frame.

Same composition and frame number give the same `BakedFrame`, on every machine. Not here: reading
files (`protocols.Files`), pixels (`render`), naming results (`identity`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from nfbuild.digests import InputDigest
from nfbuild.errors import UsageError
from nfbuild.scene.baked import BakedFrame, PictureRef
from nfbuild.scene.canvas import Canvas
from nfbuild.scene.clock import Clock
from nfbuild.scene.compile import Compiler
from nfbuild.scene.embed import Embedder
from nfbuild.scene.inputs import SceneInputs, scene_inputs
from nfbuild.scene.layout.raster import TextHandler
from nfbuild.scene.lone import COMPANY, has_company, is_lone, is_translucent
from nfbuild.scene.nested import definitions
from nfbuild.scene.pool import Pool
from nfbuild.scene.program import Constant, Dressing, Program, Run, answers_missing, execute
from nfbuild.scene.protocols import Finding, Limits, Services, SourceFile
from nfbuild.scene.sheet import Sheet, read_sheet
from nfbuild.scene.tree import SVG_NAMESPACE, Element
from nfbuild.scene.write import attributes_text, style_text

Kind = Literal["svg", "still", "lottie"]

_TAIL = b"</svg>"

_Head: TypeAlias = "tuple[bytes, bytes, tuple[PictureRef, ...], tuple[InputDigest, ...]]"

# A moving root has another head in every frame: no use in keeping them all.
_HEADS = 256

# Pinned by bake, or meaning nothing to the rasterizer.
_ROOT_DROPPED = frozenset(["baseProfile", "height", "version", "width"])


class Composition(Protocol):
    """What every kind of composition offers."""

    source: SourceFile
    width: int
    height: int
    rate: Fraction
    frames: int
    kind: Kind
    warnings: tuple[Finding, ...]
    inputs: SceneInputs
    markers: Mapping[str, tuple[int, int]]

    def time(self, number: int) -> Fraction:
        """Return the instant of a frame, in seconds."""
        ...

    def bake(self, number: int) -> BakedFrame:
        """Return one frame; may raise `NeedsAnswers` or a `CompositionError`."""
        ...


class VectorComposition:
    """An SVG composition or a plain SVG, compiled."""

    def __init__(
        self,
        sheet: Sheet,
        compiler: Compiler,
        programs: Sequence[Program],
        pool: Pool,
        *,
        inputs: SceneInputs,
        warnings: tuple[Finding, ...],
    ) -> None:
        canvas: Canvas = sheet.canvas
        self.source = sheet.source
        self.width = canvas.width
        self.height = canvas.height
        self.rate = canvas.rate
        self.frames = canvas.frames
        self.kind: Kind = "still" if _is_still(sheet.path) else "svg"
        self.warnings = warnings
        self.inputs = inputs
        self.markers: Mapping[str, tuple[int, int]] = MappingProxyType({})
        self._canvas = canvas
        self._compiler = compiler
        self._pool = pool
        self._root, self._rest = _root_start(sheet.root, compiler, canvas)
        self._style = "".join(style_text(text) for text in pool.styles)
        self._company = has_company(sheet.root)
        self._pieces = [_Piece(program) for program in programs]
        self._heads: dict[tuple[int, str], _Head] = {}

    def time(self, number: int) -> Fraction:
        """Return the instant of a frame, in seconds."""
        return Fraction(number) / self.rate

    def bake(self, number: int) -> BakedFrame:
        """Return frame `number`; may raise `NeedsAnswers` or a `CompositionError`."""
        if not 0 <= number < self.frames:
            raise UsageError(
                f"there is no frame {number}", hint=f"frames are 0 to {self.frames - 1}"
            )
        rate = self.rate
        run = Run(Clock(self._canvas, number * rate.denominator, rate.numerator, number))
        run.mask = self._compiler.styles_mask
        pieces = []
        moving = ("", "") if self._root is None else self._root.dress(run.clock)
        if moving is not None:
            for piece in self._pieces:
                data = piece.bake(run)
                if data:
                    pieces.append(data)
            definitions(self._compiler, run)
            if run.missing:
                raise answers_missing(run.missing)
        start = "" if moving is None else moving[1]
        if (
            self._company
            and is_translucent(f"{start}{self._rest}")
            and is_lone(b"".join(pieces).decode())
        ):
            pieces.append(COMPANY.encode())
        head, tail, pictures, faces = self._head(run, start)
        return BakedFrame(head, tuple(pieces), tail, self.width, self.height, pictures, faces, None)

    def _head(self, run: Run, moving: str) -> _Head:
        key = (run.mask, moving)
        known = self._heads.get(key)
        moves = bool(run.definitions or run.late_definitions)
        if known is not None and not moves:
            return known
        pool = self._pool
        inside = pool.definitions_text(run.mask) + "".join(run.definitions)
        defs = f"<defs>{inside}</defs>" if inside else ""
        text = f"<svg{moving}{self._rest}>{defs}{self._style}"
        late = pool.definitions_text(run.mask, late=True) + "".join(run.late_definitions)
        tail = f"<defs>{late}</defs></svg>".encode() if late else _TAIL
        made = (text.encode(), tail, pool.pictures(run.mask), pool.faces(run.mask))
        if not moves and len(self._heads) < _HEADS:
            self._heads[key] = made
        return made


class _Piece:
    """One drawn child of the root."""

    __slots__ = ("_data", "_mask", "_program")

    def __init__(self, program: Program) -> None:
        self._program = program
        self._data: bytes | None = None
        self._mask = 0
        if all(isinstance(item, Constant) for item in program):
            run = Run.__new__(Run)
            run.out, run.mask, run.marks = [], 0, []
            execute(program, run)
            self._data = "".join(run.out).encode()
            self._mask = run.mask

    def bake(self, run: Run) -> bytes:
        """Return the piece's bytes, empty where nothing of it shows."""
        if self._data is not None:
            run.mask |= self._mask
            return self._data
        run.out.clear()
        execute(self._program, run)
        return "".join(run.out).encode()


def load_vector(
    source: SourceFile,
    services: Services,
    limits: Limits,
    *,
    handler: TextHandler | None = None,
) -> VectorComposition:
    """Return an SVG composition ready to bake; may raise `NeedsAnswers`, `CompositionError`."""
    sheet = read_sheet(source, services, limits)
    pool = Pool()
    embedder = Embedder(services, limits, pool, handler)
    compiler, programs = embedder.compile(sheet, "")
    if embedder.missing:
        raise answers_missing(embedder.missing)
    warnings = [
        finding
        for each in embedder.sheets.values()
        for finding in (*each.findings, *each.faces.findings)
    ]
    inputs = scene_inputs(embedder.sheets, sheet, embedder.media)
    composition = VectorComposition(
        sheet, compiler, programs, pool, inputs=inputs, warnings=tuple(warnings)
    )
    if embedder.missing:
        # The root is dressed last, and its pivot may hang on the ink of a text.
        raise answers_missing(embedder.missing)
    return composition


def _is_still(path: str) -> bool:
    return not path.lower().endswith(".nf.svg")


def _root_start(root: Element, compiler: Compiler, canvas: Canvas) -> tuple[Dressing | None, str]:
    """Return what moves about the root, and the attributes of its start tag that do not."""
    drawn = {
        name: value for name, value in compiler.drawn(root).items() if name not in _ROOT_DROPPED
    }
    dressing = compiler.dressing(root, drawn, kept=False, wrapped=False)
    drawn["xmlns"] = SVG_NAMESPACE
    drawn["width"] = str(canvas.width)
    drawn["height"] = str(canvas.height)
    drawn.setdefault("viewBox", f"0 0 {canvas.width} {canvas.height}")
    return dressing, attributes_text(drawn)
