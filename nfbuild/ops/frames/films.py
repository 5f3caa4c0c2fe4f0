"""A film: one composition being built, from its file to the questions that its frames ask.

Not here: answering the questions (`drawing`), judging the answers (`gate`, `verify`).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import CompositionId, SceneKey
from nfbuild.errors import CompositionError, NfbuildError, Place, SourceError
from nfbuild.events import Failed, Warned
from nfbuild.identity.keys import SceneKeys, frame_key
from nfbuild.identity.manifest import Identity, Part, composition_id
from nfbuild.ops.frames.filmrecord import FilmRun
from nfbuild.ops.frames.questions import Questions
from nfbuild.ops.run.faces import CompositionFaces
from nfbuild.ops.run.inputs import CompositionFiles
from nfbuild.ops.run.reports import failure
from nfbuild.ops.run.session import Session
from nfbuild.pixels.decoder import FILMS, installed
from nfbuild.project import Listed
from nfbuild.render.reuse import ground
from nfbuild.render.tasks import DrawTask, LottieShot, Split
from nfbuild.scene import BakedFrame, Composition, load
from nfbuild.scene.protocols import (
    Clip,
    FontConfig,
    NeedsAnswers,
    Picture,
    Request,
    Services,
    SourceFile,
)
from nfbuild.scene.protocols import Limits as SceneLimits

# So many frames in a row that ask nothing new: the others will hardly do.
_BARREN = 3


class CompositionMedia:
    """Answers the scene's questions about pictures and films; notes which decoders were needed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stills = False
        self._films = False

    def prepare(self, file: SourceFile, *, place: Place) -> Picture:
        """Return the drawable picture of `file`; may raise NeedsAnswers."""
        try:
            picture, decoded = self._session.answers.prepare(file, place=place)
        except NeedsAnswers:
            self._stills = True
            raise
        self._stills |= decoded
        return picture

    def clip(self, file: SourceFile, *, rate: Fraction, place: Place) -> Clip:  # noqa: ARG002  the protocol's; a refusal is placed by the caller
        """Return what a film is at a rate; may raise NeedsAnswers."""
        self._films = True
        return self._session.answers.videos.clip(file, rate)

    def frame(
        self,
        file: SourceFile,
        number: int,
        *,
        rate: Fraction,
        place: Place,  # noqa: ARG002  as above
    ) -> Picture:
        """Return a picture of a film; may raise NeedsAnswers."""
        self._films = True
        return self._session.answers.videos.frame(file, number, rate)

    def decoders(self) -> dict[str, str]:
        """Return the libraries of the decoders that were needed: name to digest."""
        found: dict[str, str] = {}
        if self._stills:
            found.update(self._session.decoder_digests)
        if self._films:
            found.update(self._session.film_decoder_digests)
        return found


@dataclass
class Film:
    """One composition of a run.

    `error` says why it cannot be built, `is_reported` that this was said.
    `wanted` are frame numbers, rising, and `frames` their question numbers. `width` and `height`
    are the raster's.
    """

    index: int
    listed: Listed
    composition: Composition | None = None
    identity: Identity | None = None
    width: int = 0
    height: int = 0
    used: Mapping[str, None] = field(default_factory=dict)
    frames: array[int] = field(default_factory=lambda: array("I"))
    wanted: Sequence[int] = ()
    error: NfbuildError | None = None
    is_reported: bool = False
    warnings: list[Warned] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The composition's name."""
        return self.listed.name

    @property
    def scene(self) -> Composition:
        """The loaded composition; asking a failed film for it is a mistake of the caller."""
        assert self.composition is not None
        return self.composition

    @cached_property
    def id(self) -> CompositionId:
        """The composition id."""
        assert self.identity is not None
        return composition_id(self.identity.digests())

    @cached_property
    def _keys(self) -> SceneKeys:
        return SceneKeys(self.width, self.height)

    def at(self, frame: int) -> int:
        """Return where in `frames` a frame number stands."""
        return self.wanted.index(frame)

    def ask_again(self, runs: Sequence[FilmRun], questions: Questions) -> None:
        """Ask the questions of a whole film from its record, without baking."""
        frame = 0
        for run in runs:
            number = questions.ask(run.key, SceneKey(run.scene), self.index, frame)
            self.frames.extend([number] * run.length)
            frame += run.length
        self.wanted = range(frame)

    def scene_key(self, frame: BakedFrame) -> SceneKey:
        """Return the scene key of a baked frame at this film's raster size."""
        return self._keys.key(
            (frame.head, *frame.pieces, frame.tail),
            tuple(picture.name for picture in frame.pictures),
            tuple(frame.faces),
            _moment(frame),
        )

    def fail(self, error: NfbuildError) -> Failed:
        """Give the film up; returns the event that says so."""
        self.error = error
        return failure(error, self.name)


def load_film(session: Session, index: int, listed: Listed, scale: Fraction) -> Film:
    """Load one composition and name its inputs; a composition that cannot be is a failed film."""
    film = Film(index, listed)
    services, files, media = services_of(session)
    bounds = scene_limits(session)
    try:
        source = files.source(listed.path)
        background = session.project.lottie.background
        composition = session.answers.settle(
            lambda: load(source, services, bounds, background=background)
        )
        film.width, film.height = raster_size(composition, scale, bounds)
    except CompositionError as error:
        film.error = error
        film.used = files.used
        return film
    film.composition = composition
    film.used = files.used
    film.identity = _identity(session, composition, media.decoders())
    film.warnings = [
        Warned(found.code, found.message, listed.name, found.file, found.line, found.hint)
        for found in composition.warnings
    ]
    return film


def services_of(session: Session) -> tuple[Services, CompositionFiles, CompositionMedia]:
    """Return what a scene may ask of this run, and the two parts that note what it asked."""
    files = CompositionFiles(session.files)
    media = CompositionMedia(session)
    services = Services(
        files=files,
        faces=CompositionFaces(session.faces, session.staging.offer),
        pictures=media,
        measurer=session.answers,
        videos=media if installed(FILMS) else None,
        fonts=FontConfig(session.faces.faces),
    )
    return services, files, media


def scene_limits(session: Session) -> SceneLimits:
    """Return the bounds on one composition that the project sets."""
    limits = session.project.limits
    return SceneLimits(
        document_bytes=limits.document_size,
        elements=limits.elements,
        depth=limits.depth,
        side=limits.canvas_side,
        pixels=limits.canvas_pixels,
        frames=limits.frames,
        nesting=limits.nesting,
    )


def _identity(session: Session, composition: Composition, decoders: Mapping[str, str]) -> Identity:
    inputs = composition.inputs
    return Identity(
        Part("source", inputs.source),
        Part("media", inputs.media),
        Part("fonts", inputs.fonts),
        session.toolchain.part(decoders),
    )


def raster_size(composition: Composition, scale: Fraction, limits: SceneLimits) -> tuple[int, int]:
    """Return the raster of a canvas at `scale`, rounded half up, at least one pixel."""
    width = max(1, int(composition.width * scale + Fraction(1, 2)))
    height = max(1, int(composition.height * scale + Fraction(1, 2)))
    if width > limits.side or height > limits.side or width * height > limits.pixels:
        raise SourceError(
            f"the canvas of {width} x {height} pixels is larger than the limit",
            place=Place(composition.source.path),
            hint="a larger one can be allowed in `[limits]` of `nfbuild.toml`",
            code="canvas.large",
        )
    return width, height


def ask(session: Session, film: Film, questions: Questions, wanted: Sequence[int]) -> None:
    """Bake the frames `wanted` and ask their questions, in order; fails the film on an error.

    A frame that needs answers does not stop the others: everything that is missing is asked in
    one round, then baking goes on where it first had to stop.
    """
    assert film.identity is not None
    toolchain = film.identity.toolchain.digest
    film.wanted = wanted
    start = 0
    while start < len(wanted):
        missing: dict[Request, None] = {}
        stopped: int | None = None
        barren = 0
        for at in range(start, len(wanted)):
            number = wanted[at]
            try:
                frame = film.scene.bake(number)
            except NeedsAnswers as need:
                stopped = at if stopped is None else stopped
                before = len(missing)
                missing.update(dict.fromkeys(need.requests))
                barren = 0 if len(missing) > before else barren + 1
                if barren == _BARREN:
                    break
                continue
            if stopped is None:
                scene = film.scene_key(frame)
                key = frame_key(scene, toolchain)
                film.frames.append(questions.ask(key, scene, film.index, number))
        if stopped is None:
            return
        session.answers.answer(list(missing))
        start = stopped


def bake(session: Session, film: Film, number: int) -> BakedFrame:
    """Return frame `number`, with everything that it asks answered."""
    return session.answers.settle(lambda: film.scene.bake(number))


def draw_task(
    session: Session,
    film: Film,
    frame: BakedFrame,
    *,
    split: Split | None = None,
    on_ground: bool = False,
    png: bool = True,
    keep: bool = True,
    sha256: bool = False,
) -> DrawTask:
    """Return the task that draws a frame of `film`, with everything that it names staged.

    `on_ground` lets an opaque first element make drawing cheaper.
    """
    pictures = tuple(picture.name for picture in frame.pictures)
    session.staging.need(pictures)
    session.staging.need(f"{digest}.ttf" for digest in frame.faces)
    return DrawTask(
        document=frame.document,
        width=film.width,
        height=film.height,
        pictures=pictures,
        faces=tuple(frame.faces),
        lottie=_shot(frame),
        split=split,
        ground=ground(frame.head, frame.pieces) if on_ground and frame.lottie is None else 0,
        png=png,
        keep=keep,
        sha256=sha256,
    )


def _moment(frame: BakedFrame) -> tuple[str | int, ...] | None:
    shot = _shot(frame)
    if shot is None:
        return None
    return ("lottie", shot.number.hex(), int(shot.alone), *(shot.background or ()))


def _shot(frame: BakedFrame) -> LottieShot | None:
    if frame.lottie is None:
        return None
    return LottieShot(
        number=float(frame.lottie.number),
        alone=frame.lottie.expressions,
        background=frame.lottie.background,
    )
