"""The build graph: what a build made, as nodes and edges of content ids.

Files flow into compositions, compositions and frames into sequences, sequences into exports. Two
builds of the same inputs by the same toolchain have one graph, whatever was kept, whoever drew it
and in whatever order: there is no time, host, user, worker, blob or path of a machine in it.

Not here: the text of it (`graph_text`), comparing two (`graph_compare`), other forms
(`graph_draw`). This is the door of NetworkX, which is imported by who asks it something.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nfbuild.digests import SequenceDigest, by_utf8
from nfbuild.errors import UsageError
from nfbuild.identity.manifest import PARTS
from nfbuild.ledger.sequence import SequenceHasher

if TYPE_CHECKING:
    from nfbuild.ops.films import Film
    from nfbuild.ops.products import Product
    from nfbuild.ops.questions import Questions
    from nfbuild.ops.session import Session

FILE, FACE = "file", "face"

Row = TypeVar("Row", bound=tuple[Any, ...])


class FileNode(NamedTuple):
    """A file that was read: the digest of its bytes, and its path from the project's root.

    A configured face has the kind `face` and its label for a path: where it lies is not told.
    """

    digest: str
    kind: str
    path: str


class CompositionNode(NamedTuple):
    """A composition: its id, the digests of its four parts, its name and its file."""

    id: str
    source: str
    media: str
    fonts: str
    toolchain: str
    name: str
    path: str


class FrameNode(NamedTuple):
    """A distinct frame: its key, sixteen digits of its scene key, and its frame digest."""

    key: str
    scene: str
    digest: str


class SequenceNode(NamedTuple):
    """A film at a raster size: its sequence digest, width, height, exact rate, frame count."""

    digest: str
    width: int
    height: int
    rate: str
    frames: int


class ExportNode(NamedTuple):
    """An export: its key, format, first and last frame number, and where it was put."""

    key: str
    format: str
    first: int
    last: int
    target: str


class FailedNode(NamedTuple):
    """A composition that could not be built, with the code of its error."""

    code: str
    name: str
    path: str


class Uses(NamedTuple):
    """A composition reads a file."""

    composition: str
    digest: str
    name: str
    kind: str
    path: str


class Draws(NamedTuple):
    """A composition is drawn as a sequence."""

    composition: str
    sequence: str
    name: str


class Shows(NamedTuple):
    """A composition, as that sequence, shows one frame `length` times from the number `first`."""

    composition: str
    sequence: str
    first: int
    length: int
    key: str


class Makes(NamedTuple):
    """An export is made from a sequence."""

    sequence: str
    export: str
    target: str


class Hears(NamedTuple):
    """An export carries the sound of a file."""

    digest: str
    export: str
    path: str
    target: str


@dataclass(frozen=True)
class Graph:
    """The whole graph; every section is sorted, and no row is in it twice."""

    files: Sequence[FileNode] = ()
    compositions: Sequence[CompositionNode] = ()
    frames: Sequence[FrameNode] = ()
    sequences: Sequence[SequenceNode] = ()
    exports: Sequence[ExportNode] = ()
    failed: Sequence[FailedNode] = ()
    uses: Sequence[Uses] = ()
    draws: Sequence[Draws] = ()
    shows: Sequence[Shows] = ()
    makes: Sequence[Makes] = ()
    hears: Sequence[Hears] = ()

    def sections(self) -> Iterator[tuple[str, Sequence[tuple[str | int, ...]]]]:
        """Yield the name and the rows of every section, in the order of the text."""
        for name in ROWS:
            yield name, getattr(self, name)


ROWS: Mapping[str, type[tuple[str | int, ...]]] = {
    "files": FileNode,
    "compositions": CompositionNode,
    "frames": FrameNode,
    "sequences": SequenceNode,
    "exports": ExportNode,
    "failed": FailedNode,
    "uses": Uses,
    "draws": Draws,
    "shows": Shows,
    "makes": Makes,
    "hears": Hears,
}
"""The sections and what a row of each is."""


# --- made from a build ------------------------------------------------------------------------


def graph_of(
    session: Session,
    films: Iterable[Film],
    questions: Questions,
    products: Iterable[Product] = (),
) -> Graph:
    """Return the graph of what is known: whole films whose every frame is answered.

    `films` may hold one composition at several raster sizes.
    """
    films = list(films)
    sequences = {film.index: _sequence(film, questions) for film in films if film.error is None}
    inputs = inputs_of(session, films)
    exports: list[ExportNode] = []
    makes: list[Makes] = []
    hears: list[Hears] = []
    heard: list[FileNode] = []
    for product in products:
        node, sequence, audio = _export(session, product, sequences[product.film.index])
        exports.append(node)
        makes.append(Makes(sequence, node.key, node.target))
        if audio is not None:
            heard.append(audio)
            hears.append(Hears(audio.digest, node.key, audio.path, node.target))
    frames, shows = _frames(films, questions, sequences)
    return Graph(
        files=ordered([*inputs.files, *heard]),
        compositions=inputs.compositions,
        frames=frames,
        sequences=ordered(sequences.values()),
        exports=ordered(exports),
        failed=inputs.failed,
        uses=inputs.uses,
        draws=ordered(
            Draws(film.id, sequences[film.index].digest, film.name)
            for film in films
            if film.error is None
        ),
        shows=shows,
        makes=ordered(makes),
        hears=ordered(hears),
    )


def inputs_of(session: Session, films: Iterable[Film]) -> Graph:
    """Return the part of the graph that is known before a frame is: files and compositions."""
    files: list[FileNode] = []
    uses: list[Uses] = []
    compositions: list[CompositionNode] = []
    failed: list[FailedNode] = []
    for film in films:
        if film.error is not None:
            failed.append(FailedNode(film.error.code, film.name, film.listed.path))
            continue
        compositions.append(_composition(film))
        for file in _files_of(session, film):
            files.append(file)
            uses.append(Uses(film.id, file.digest, film.name, file.kind, file.path))
    return Graph(
        files=ordered(files),
        compositions=ordered(compositions),
        failed=ordered(failed),
        uses=ordered(uses),
    )


def ordered(rows: Iterable[Row]) -> list[Row]:
    """Return the rows sorted by content id, texts by their UTF-8 bytes, each once."""
    rising = sorted(rows, key=_sort_key)
    return [row for at, row in enumerate(rising) if at == 0 or row != rising[at - 1]]


def _sort_key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        field.encode("utf-8", "surrogatepass") if isinstance(field, str) else field for field in row
    )


def _files_of(session: Session, film: Film) -> Iterator[FileNode]:
    project = session.project
    for path in film.used:
        yield FileNode(session.files.witness(path).digest, FILE, project.relative(path))
    assert film.identity is not None
    for label, digest in film.identity.fonts.inputs.items():
        yield FileNode(digest, FACE, label)


def _composition(film: Film) -> CompositionNode:
    assert film.identity is not None
    parts = film.identity.digests()
    source, media, fonts, toolchain = (parts[name] for name in PARTS)
    return CompositionNode(film.id, source, media, fonts, toolchain, film.name, film.listed.path)


def _sequence(film: Film, questions: Questions) -> SequenceNode:
    hasher = SequenceHasher(film.width, film.height, film.scene.rate, len(film.frames))
    for number in film.frames:
        hasher.add(questions.digest(number))
    return SequenceNode(
        hasher.digest(), film.width, film.height, str(film.scene.rate), len(film.frames)
    )


def _frames(
    films: Iterable[Film], questions: Questions, sequences: Mapping[int, SequenceNode]
) -> tuple[list[FrameNode], list[Shows]]:
    """Return the distinct frames, and the runs of them by sequence in the order of its film."""
    nodes: dict[int, FrameNode] = {}
    films_runs: dict[tuple[str, str], list[Shows]] = {}
    for film in films:
        if film.error is not None:
            continue
        # By composition too: two films may be one sequence and ask two questions for it.
        sequence = sequences[film.index].digest
        found: list[Shows] = []
        for first, count, number in _runs(film.frames):
            node = nodes.get(number)
            if node is None:
                node = FrameNode(
                    questions.key(number), questions.scene(number), questions.digest(number)
                )
                nodes[number] = node
            found.append(Shows(film.id, sequence, first, count, node.key))
        films_runs[film.id, sequence] = found
    shows: list[Shows] = []
    for which in sorted(films_runs):
        shows += films_runs[which]
    # Keys are hexadecimal digits: plain order is the order of their bytes.
    return sorted(nodes.values()), shows


def _runs(frames: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    first = 0
    for at in range(1, len(frames) + 1):
        if at == len(frames) or frames[at] != frames[first]:
            yield first, at - first, frames[first]
            first = at


def _export(
    session: Session, product: Product, sequence: SequenceNode
) -> tuple[ExportNode, str, FileNode | None]:
    plan = product.plan
    project = session.project
    audio = None
    if product.audio is not None:
        audio = FileNode(product.audio.digest, FILE, project.relative(product.audio.path))
    key = plan.key(
        SequenceDigest(sequence.digest), None if product.audio is None else product.audio.digest
    )
    timing = plan.timing
    target = project.relative(plan.target)
    if os.path.isabs(target) or target.startswith("../"):
        # Where it lies is a fact of this machine; that it was made is not.
        target = f"outside/{plan.name}"
    return ExportNode(key, plan.format, timing.first, timing.last, target), sequence.digest, audio


# --- asked ------------------------------------------------------------------------------------


def to_networkx(graph: Graph, *, frames: bool = True) -> Any:
    """Return the graph as a `networkx.DiGraph` along the flow: from files to exports.

    A node is `(kind, name)`, with the row's fields for attributes. Frames can be left out.
    """
    import networkx as nx  # noqa: PLC0415  its import costs more than a build with nothing to do

    flow = nx.DiGraph()
    for file in graph.files:
        flow.add_node((file.kind, file.path), **file._asdict())
    for composition in graph.compositions:
        flow.add_node(("composition", composition.name), **composition._asdict())
    for sequence in graph.sequences:
        flow.add_node(("sequence", sequence.digest), **sequence._asdict())
    for export in graph.exports:
        flow.add_node(("export", export.target), **export._asdict())
    for use in graph.uses:
        flow.add_edge((use.kind, use.path), ("composition", use.name))
    for draw in graph.draws:
        flow.add_edge(("composition", draw.name), ("sequence", draw.sequence))
    for make in graph.makes:
        flow.add_edge(("sequence", make.sequence), ("export", make.target))
    for hear in graph.hears:
        flow.add_edge((FILE, hear.path), ("export", hear.target))
    if frames:
        for frame in graph.frames:
            flow.add_node(("frame", frame.key), **frame._asdict())
        for show in graph.shows:
            flow.add_edge(("frame", show.key), ("sequence", show.sequence))
    return flow


@dataclass(frozen=True)
class Moved:
    """What would be looked at again if a file moved: names and targets, sorted."""

    compositions: list[str]
    exports: list[str]


def uses(graph: Graph, path: str) -> Moved:
    """Return what a file reaches, directly and through nested compositions.

    `path` is a project path or a face's label. Raises UsageError for a file nothing reads.
    """
    import networkx as nx  # noqa: PLC0415  as above

    flow = to_networkx(graph, frames=False)
    starts = [node for node in ((FILE, path), (FACE, path)) if node in flow]
    if not starts:
        raise UsageError(
            f"no composition reads `{path}`",
            hint="name it as the graph does: from the project's root, or a face by its label",
            code="graph.unknown",
        )
    compositions: dict[str, None] = {}
    exports: dict[str, None] = {}
    for start in starts:
        for kind, name in sorted(nx.descendants(flow, start)):
            if kind == "composition":
                compositions[name] = None
            elif kind == "export":
                exports[name] = None
    return Moved(by_utf8(compositions), by_utf8(exports))


class Shown(NamedTuple):
    """One run of frames of a film, for people: numbers with both ends, key and digest."""

    first: int
    last: int
    key: str
    digest: str


def frames_of(graph: Graph, name: str) -> list[Shown]:
    """Return the frames of a composition in order; at several raster sizes, one after another.

    Raises UsageError for a composition that is not in the graph.
    """
    wanted = {(draw.composition, draw.sequence): None for draw in graph.draws if draw.name == name}
    if not wanted:
        known = ", ".join(f"`{one.name}`" for one in graph.compositions[:8])
        raise UsageError(
            f"the graph has no composition `{name}`",
            hint=f"it has {known}" if known else "it has none",
            code="graph.unknown",
        )
    digests = {frame.key: frame.digest for frame in graph.frames}
    return [
        Shown(show.first, show.first + show.length - 1, show.key, digests[show.key])
        for show in graph.shows
        if (show.composition, show.sequence) in wanted
    ]


def is_whole(graph: Graph) -> bool:
    """Tell whether every edge ends at nodes that are there and every film is covered once."""
    keys = {frame.key: None for frame in graph.frames}
    lengths = {sequence.digest: sequence.frames for sequence in graph.sequences}
    if any(show.key not in keys or show.sequence not in lengths for show in graph.shows):
        return False
    reached: dict[tuple[str, str], int] = {}
    for show in graph.shows:
        film = (show.composition, show.sequence)
        if show.first != reached.get(film, 0) or not show.length:
            return False
        reached[film] = show.first + show.length
    drawn = {(draw.composition, draw.sequence): None for draw in graph.draws}
    return (
        all(sequence in lengths for _, sequence in drawn)
        and reached == {film: lengths[film[1]] for film in drawn}
        and all(make.sequence in lengths for make in graph.makes)
        and all(_rises(rows) for _, rows in graph.sections())
    )


def _rises(rows: Sequence[tuple[Any, ...]]) -> bool:
    return all(_sort_key(one) < _sort_key(other) for one, other in pairwise(rows))
