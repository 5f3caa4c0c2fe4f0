"""The build graph of a run: what its films, questions and exports are as nodes and edges.

It depends on what was asked and answered, not on when, by whom or whether it was drawn or kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nfbuild.digests import SequenceDigest
from nfbuild.identity.manifest import PARTS
from nfbuild.ledger.sequence import SequenceHasher
from nfbuild.ops.graph.model import (
    FACE,
    FILE,
    CompositionNode,
    Draws,
    ExportNode,
    FailedNode,
    FileNode,
    FrameNode,
    Graph,
    Hears,
    Makes,
    SequenceNode,
    Shows,
    Uses,
    ordered,
)

if TYPE_CHECKING:
    from nfbuild.ops.frames.films import Film
    from nfbuild.ops.frames.questions import Questions
    from nfbuild.ops.frames.underway import Product
    from nfbuild.ops.run.session import Session


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
