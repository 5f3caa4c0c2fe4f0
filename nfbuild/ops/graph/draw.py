"""A build graph for other programs: JSON for scripts, DOT for Graphviz.

Both are as canonical as the text: the same graph is the same bytes. DOT leaves single frames out
unless one composition's are asked for; ten thousand dots are no picture.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from nfbuild.digests import shown
from nfbuild.ops.graph.model import Graph, frames_of
from nfbuild.ops.graph.text import FORMAT, section_digests


def to_json(graph: Graph) -> dict[str, Any]:
    """Return the graph as one document: every section as a list of objects."""
    digests = section_digests(graph)
    return {
        "schema": "nfbuild.graph/1",
        "ok": True,
        "format": FORMAT,
        "digest": shown(digests["graph"]),
        "sections": {name: shown(digest) for name, digest in digests.items() if name != "graph"},
        **{name: [row._asdict() for row in rows] for name, rows in graph.sections()},  # type: ignore[attr-defined]
    }


def to_dot(graph: Graph, name: str | None = None) -> Iterator[str]:
    """Yield the lines of a DOT text; with `name`, of that composition alone, with its frames.

    Raises UsageError for a composition that is not in the graph.
    """
    runs = [] if name is None else frames_of(graph, name)
    uses = [use for use in graph.uses if name in (None, use.name)]
    draws = [draw for draw in graph.draws if name in (None, draw.name)]
    drawn = {draw.sequence: None for draw in draws}
    makes = [make for make in graph.makes if make.sequence in drawn]
    kept = {(use.kind, use.path): None for use in uses}
    yield "digraph nfbuild {"
    yield "  rankdir=LR;"
    yield '  node [fontname="sans-serif"];'
    for file in graph.files:
        if (file.kind, file.path) in kept:
            shape = "note" if file.kind == "file" else "tab"
            yield _node(f"{file.kind} {file.path}", f"{file.path}\n{file.digest[:12]}", shape)
    for composition in graph.compositions:
        if name in (None, composition.name):
            label = f"{composition.name}\n{composition.id[:12]}"
            yield _node(f"composition {composition.name}", label, "box")
    for frame in dict.fromkeys((run.key, run.digest) for run in runs):
        yield _node(f"frame {frame[0]}", frame[1][:12], "ellipse")
    for sequence in graph.sequences:
        if sequence.digest in drawn:
            size = f"{sequence.width}x{sequence.height}, {sequence.frames} at {sequence.rate}"
            yield _node(f"sequence {sequence.digest}", f"{sequence.digest[:12]}\n{size}", "folder")
    for export in graph.exports:
        if any(make.export == export.key and make.target == export.target for make in makes):
            yield _node(f"export {export.target}", export.target, "component")
    for use in uses:
        yield _edge(f"{use.kind} {use.path}", f"composition {use.name}")
    for draw in draws:
        yield _edge(f"composition {draw.name}", f"sequence {draw.sequence}")
    films = {(draw.composition, draw.sequence): None for draw in draws}
    for show in graph.shows if runs else ():
        if (show.composition, show.sequence) in films:
            last = show.first + show.length - 1
            told = str(show.first) if last == show.first else f"{show.first}-{last}"
            yield _edge(f"frame {show.key}", f"sequence {show.sequence}", told)
    for make in makes:
        yield _edge(f"sequence {make.sequence}", f"export {make.target}")
    for hear in graph.hears:
        if any(make.export == hear.export and make.target == hear.target for make in makes):
            yield _node(f"file {hear.path}", hear.path, "note")
            yield _edge(f"file {hear.path}", f"export {hear.target}")
    yield "}"


def _node(name: str, label: str, shape: str) -> str:
    return f"  {_quoted(name)} [shape={shape}, label={_quoted(label)}];"


def _edge(start: str, end: str, label: str = "") -> str:
    told = f" [label={_quoted(label)}]" if label else ""
    return f"  {_quoted(start)} -> {_quoted(end)}{told};"


def _quoted(text: str) -> str:
    # A DOT string knows `\"`, `\\` and `\n`; JSON spells these three the same way.
    return json.dumps(text, ensure_ascii=False)
