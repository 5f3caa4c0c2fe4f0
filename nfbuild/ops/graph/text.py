"""The canonical text of a build graph, written and read; its format is in `docs/formats-graph.md`.

One line a row, sections with counts and digests, ASCII only. The same graph is the same bytes on
every machine. Reading is strict: a text with one byte moved is refused, never half understood.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from nfbuild.digests import NONE, derive, derive_raw, encode, is_hex_digest
from nfbuild.errors import Place, ProjectError
from nfbuild.ops.graph.model import ROWS, Graph, is_whole
from nfbuild.ops.run.outputs import write_output

FORMAT = "nfbuild graph 1"
_FAMILY = "nfbuild graph "
_SECTION_CONTEXT = "nfbuild 2026 graph section v1"
_GRAPH_CONTEXT = "nfbuild 2026 graph v1"

_COUNTS = ("first", "last", "length", "width", "height", "frames")
_TEXTS = ("name", "path", "target", "code")
_WORDS = ("kind", "format", "rate")
_SHORT = 16


def section_digests(graph: Graph) -> dict[str, str]:
    """Return the digest of every section by name, and that of the whole under `graph`."""
    found: dict[str, str] = {}
    rows: list[list[str | int]] = []
    for name, section in graph.sections():
        found[name] = _section_digest(name, len(section), _body(name, section))
        rows.append([name, len(section), found[name]])
    found["graph"] = derive(_GRAPH_CONTEXT, *rows)
    return found


def write(graph: Graph) -> Iterator[bytes]:
    """Yield the canonical text, section by section: a large graph is never there as a whole."""
    yield f"{FORMAT}\n".encode()
    rows: list[list[str | int]] = []
    for name, section in graph.sections():
        body = _body(name, section)
        digest = _section_digest(name, len(section), body)
        rows.append([name, len(section), digest])
        yield f"section {name} {len(section)} {digest}\n".encode("ascii")
        yield body
    yield f"graph {derive(_GRAPH_CONTEXT, *rows)}\n".encode("ascii")


def save(graph: Graph, path: str) -> None:
    """Write the text into the file `path`; raises UsageError."""
    write_output(path, write(graph))


def load(path: str) -> Graph:
    """Read a graph's file; raises ProjectError."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ProjectError(
            f"the build graph cannot be read: {error.strerror}",
            place=Place(path),
            code="graph.read",
        ) from None
    return read(data, path)


def is_graph_file(path: str) -> bool:
    """Tell whether a file begins as a build graph of any version does."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_FAMILY)) == _FAMILY.encode("ascii")
    except OSError:
        return False


def read(data: bytes, shown: str = "graph") -> Graph:
    """Return the graph that a text says; `shown` is how messages call it.

    Raises ProjectError: `graph.version` for another version, `graph.damaged` for anything else.
    """
    return _Reader(data, shown).graph()


class _Reader:
    """Reads one text from the front, line by line."""

    def __init__(self, data: bytes, shown: str) -> None:
        self._shown = shown
        self._number = 0
        try:
            text = data.decode("ascii")
        except UnicodeDecodeError:
            self._refuse("holds bytes beyond ASCII")
        self._lines = text.split("\n")

    def graph(self) -> Graph:
        if self._lines[0] != FORMAT:
            if self._lines[0].startswith(_FAMILY):
                raise ProjectError(
                    f"is `{self._lines[0][:40]}`; this version knows `{FORMAT}`",
                    place=Place(self._shown, 1),
                    hint="use the version of nfbuild that wrote it",
                    code="graph.version",
                )
            self._refuse("is not a build graph")
        self._number = 1
        sections: dict[str, Any] = {name: self._section(name) for name in ROWS}
        graph = Graph(**sections)
        if self._lines[self._number :] != [f"graph {section_digests(graph)['graph']}", ""]:
            self._refuse("does not end with the digest of its sections")
        if not is_whole(graph):
            self._refuse("has an edge without its node, or rows out of order")
        return graph

    def _section(self, name: str) -> Sequence[tuple[str | int, ...]]:
        head = self._next().split(" ")
        if len(head) != 4 or head[:2] != ["section", name] or not _is_count(head[2]):
            self._refuse(f"has no section `{name}` here")
        count = int(head[2])
        if count > len(self._lines) - self._number:
            self._refuse(f"ends before the {count} rows of `{name}`")
        made, fields = ROWS[name]._make, ROWS[name]._fields  # type: ignore[attr-defined]
        readers = tuple(_READERS[_kind(field)] for field in fields)
        rows: list[tuple[str | int, ...]] = []
        for _ in range(count):
            words = self._next().split(" ")
            if len(words) != len(readers):
                self._refuse(f"has a row of `{name}` with {len(words)} words")
            try:
                rows.append(made([parse(word) for parse, word in zip(readers, words, strict=True)]))
            except ValueError as error:
                self._refuse(str(error))
        if _section_digest(name, count, _body(name, rows)) != head[3]:
            self._refuse(f"has another digest of `{name}` than its rows")
        return rows

    def _next(self) -> str:
        if self._number >= len(self._lines):
            self._refuse("ends too early")
        line = self._lines[self._number]
        self._number += 1
        return line

    def _refuse(self, fact: str) -> NoReturn:
        raise ProjectError(
            fact,
            place=Place(self._shown, max(1, self._number)),
            hint="`nfbuild build --graph FILE` writes it again",
            code="graph.damaged",
        )


def _section_digest(name: str, count: int, body: bytes) -> str:
    # The encoded shape delimits itself and fixes how long the rest is.
    return derive_raw(_SECTION_CONTEXT, encode([name, count, len(body)]), body)


def _body(name: str, rows: Sequence[tuple[str | int, ...]]) -> bytes:
    fields: tuple[str, ...] = ROWS[name]._fields  # type: ignore[attr-defined]
    texts = [at for at, field in enumerate(fields) if _kind(field) == "text"]
    if not texts:
        pattern = " ".join(["%s"] * len(fields)) + "\n"
        return "".join([pattern % row for row in rows]).encode("ascii")
    lines = []
    for row in rows:
        words = [_quoted(str(word)) if at in texts else str(word) for at, word in enumerate(row)]
        lines.append(" ".join(words) + "\n")
    return "".join(lines).encode("ascii")


def _quoted(text: str) -> str:
    # JSON's own spelling, with its blanks spelled too: a line is words between blanks.
    return json.dumps(text).replace(" ", "\\u0020")


def _kind(field: str) -> str:
    if field in _COUNTS:
        return "count"
    if field in _TEXTS:
        return "text"
    return "word" if field in _WORDS else "digest"


def _read_count(word: str) -> int:
    if not _is_count(word):
        raise ValueError(f"has `{word[:40]}` where a number is due")
    return int(word)


def _read_text(word: str) -> str:
    try:
        text = json.loads(word)
    except ValueError:
        text = None
    if not isinstance(text, str) or _quoted(text) != word:
        raise ValueError(f"has `{word[:40]}` where a quoted text is due")
    return text


def _read_digest(word: str) -> str:
    short = len(word) == _SHORT and not word.strip("0123456789abcdef")
    if not (short or word == NONE or is_hex_digest(word)):
        raise ValueError(f"has `{word[:40]}` where a digest is due")
    return word


def _read_word(word: str) -> str:
    if not word:
        raise ValueError("has two blanks together")
    return word


_READERS = {"count": _read_count, "text": _read_text, "digest": _read_digest, "word": _read_word}


def _is_count(word: str) -> bool:
    digits = 0 < len(word) <= 12 and not word.strip("0123456789")
    return digits and (word == "0" or word[0] != "0")
