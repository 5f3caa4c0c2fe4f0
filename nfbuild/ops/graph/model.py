"""The build graph: what a build made, as nodes and edges of content ids.

Files flow into compositions, compositions and frames into sequences, sequences into exports. Two
builds of the same inputs by the same toolchain have one graph, whatever was kept, whoever drew it
and in whatever order: there is no time, host, user, worker, blob or path of a machine in it.

Not here: making it of a build (`make`), the text of it (`text`), comparing two
(`compare`), other forms (`draw`). This is the door of NetworkX, which is imported
when something is asked of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from nfbuild.dataclasses import dataclass
from nfbuild.digests import by_utf8
from nfbuild.errors import UsageError

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


def ordered(rows: Iterable[Row]) -> list[Row]:
    """Return the rows sorted by content id, texts by their UTF-8 bytes, each once."""
    rising = sorted(rows, key=_sort_key)
    return [row for at, row in enumerate(rising) if at == 0 or row != rising[at - 1]]


def _sort_key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        field.encode("utf-8", "surrogatepass") if isinstance(field, str) else field for field in row
    )


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
