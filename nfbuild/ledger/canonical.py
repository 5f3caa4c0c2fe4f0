"""A ledger entry as text, and back: one entry has exactly one text.

JSON, keys sorted by their UTF-8 bytes, one space of indent a level, everything but ASCII escaped,
a list of plain values on one line and a list of lists one line a member; one line feed at the end.
So one change is one line, and no locale, hash seed or machine can give other bytes.
Read strictly: what this module would not write, it says so about, and what it does not know, it
refuses by name.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from json.encoder import encode_basestring_ascii
from typing import Any, BinaryIO, NoReturn, cast

from nfbuild.digests import NONE, by_utf8, is_hex_digest
from nfbuild.errors import Place, ProjectError
from nfbuild.identity.manifest import PARTS, Part, PartName
from nfbuild.ledger.entry import FILM_PARTS, FORMAT, Entry, Lane, LaneHead
from nfbuild.ledger.runs import DIGITS, Run, Runs

_MARKERS = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")
_MOST = 2**53
_FAMILY = "nfbuild.ledger/"


def write(entry: Entry) -> bytes:
    """Return the text of an entry."""
    return b"".join(pieces(entry))


def pieces(entry: Entry) -> Iterator[bytes]:
    """Yield the text of an entry in small pieces: that of a long film is never held whole."""
    yield from (piece.encode("ascii") for piece in _text(_tree(entry), 0))
    yield b"\n"


def _tree(entry: Entry) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "inputs": {
            name: {"digest": entry.part(name).digest, "inputs": dict(entry.part(name).inputs)}
            for name in FILM_PARTS
        },
        "lanes": {tag: _lane_tree(lane) for tag, lane in entry.lanes.items()},
    }


def _lane_tree(lane: Lane) -> dict[str, Any]:
    tree: dict[str, Any] = {
        "canvas": [lane.width, lane.height],
        "digest": lane.digest,
        "frames": lane.frames,
        "identity": dict(lane.identity),
        "rate": str(lane.rate),
        "runs": lane.runs,
        "sampled": lane.sampled,
        "toolchain": dict(lane.toolchain),
    }
    if lane.reason is not None:
        tree["reason"] = lane.reason
    if lane.facts:
        tree["facts"] = dict(lane.facts)
    return tree


def _text(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        rows = (
            chain((f"{encode_basestring_ascii(key)}: ",), _text(value[key], depth + 1))
            for key in by_utf8(value)
        )
        yield from _block("{", rows, "}", depth)
    elif isinstance(value, Runs):
        # Written as it is walked: a long film's runs are most of an entry.
        yield from _block("[", ((_run(run),) for run in value), "]", depth)
    elif isinstance(value, list):
        yield "[" + ", ".join(str(number) for number in value) + "]"
    elif isinstance(value, str):
        yield encode_basestring_ascii(value)
    else:
        yield str(value).lower()


def _run(run: Run) -> str:
    if run.key is None:
        return f"[{run.count}, null, null]"
    return f'[{run.count}, "{run.key}", "{run.digest}"]'


def _block(opening: str, rows: Iterable[Iterable[str]], closing: str, depth: int) -> Iterator[str]:
    """Yield brackets around rows, each on a line of its own; an empty block is one line."""
    indent = "\n" + " " * (depth + 1)
    before, last = indent, closing
    yield opening
    for row in rows:
        yield before
        yield from row
        before, last = "," + indent, "\n" + " " * depth + closing
    yield last


def is_canonical(data: bytes, entry: Entry) -> bool:
    """Tell whether `data`, which `entry` was read from, is how this module writes it.

    Line ends may be those of another system: a checkout may translate them.
    """
    return is_written(io.BytesIO(data.replace(b"\r\n", b"\n")), entry)


def is_written(file: BinaryIO, entry: Entry) -> bool:
    """Tell whether what is left to read of `file` is the text of an entry, to the byte."""
    return all(file.read(len(piece)) == piece for piece in pieces(entry)) and not file.read(1)


def read(data: bytes, file: str, composition: str) -> Entry:
    """Return the entry in the text `data`.

    `file` is how messages name the ledger file, `composition` the name to build again. Raises
    `ProjectError` with the code `ledger.conflict`, `ledger.version` or `ledger.damaged`.
    """
    return _Reader(file, composition).entry(data)


def read_heads(lines: Iterable[bytes], file: str, composition: str) -> list[LaneHead]:
    """Return the heads of the lanes in the text `lines`, which the runs are taken out of.

    As this module writes an entry, a line that begins with a bracket is a run, and a long film's
    are most of it. An entry that is written otherwise may be refused, never misread: taking such
    lines away leaves what is no JSON. Raises as `read`, which says whether there is a fault.
    """
    text = b"".join(line for line in lines if not line.lstrip(b" ").startswith(b"["))
    return _Reader(file, composition).heads(text)


class _Reader:
    """Reads one file; every refusal names it and says what to do."""

    def __init__(self, file: str, composition: str) -> None:
        self._file = file
        self._again = f"`nfbuild build {composition}` writes the entry again"
        # What it promised can still be had: a build must not replace it unasked.
        self._restore = f"restore the file, or remove it and build `{composition}` again"

    def entry(self, data: bytes) -> Entry:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.startswith(_MARKERS):
                raise ProjectError(
                    "holds the markers of a merge conflict",
                    place=Place(self._file, number),
                    hint=self._again,
                    code="ledger.conflict",
                )
        raw = self._json(data)
        if not isinstance(raw, dict):
            self._refuse("is not a ledger entry")
        found = raw.get("format")
        if found != FORMAT:
            if isinstance(found, str) and found.startswith(_FAMILY):
                raise ProjectError(
                    f"has the format `{found}`; this version knows `{FORMAT}`",
                    place=Place(self._file),
                    hint="use the version of nfbuild that wrote it",
                    code="ledger.version",
                )
            self._refuse("is not a ledger entry")
        self._keys(raw, "the entry", ("format", "inputs", "lanes"))
        inputs = self._object(raw["inputs"], "inputs")
        self._keys(inputs, "`inputs`", FILM_PARTS)
        parts = {name: self._part(name, inputs[name]) for name in FILM_PARTS}
        lanes = {
            tag: self._lane(tag, self._object(lane, f"lanes.{tag}"))
            for tag, lane in self._object(raw["lanes"], "lanes").items()
        }
        return Entry(parts["source"], parts["media"], parts["fonts"], lanes)

    def heads(self, data: bytes) -> list[LaneHead]:
        raw = self._object(self._json(data), "the entry")
        lanes = self._object(raw.get("lanes"), "lanes")
        return [self._head(tag, self._object(lane, f"lanes.{tag}")) for tag, lane in lanes.items()]

    def _json(self, data: bytes) -> Any:
        try:
            return json.loads(
                data.decode("utf-8"),
                object_pairs_hook=self._unique,
                parse_float=self._number,
                parse_constant=self._number,
            )
        except json.JSONDecodeError as fault:
            self._refuse(f"is not JSON: {fault.msg[:1].lower()}{fault.msg[1:]}", fault.lineno)
        except UnicodeDecodeError as fault:
            self._refuse("is not UTF-8 text", data.count(b"\n", 0, fault.start) + 1)
        except (RecursionError, ValueError):  # nested too deeply; a number of thousands of digits
            self._refuse("is not a ledger entry")

    def _unique(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            self._refuse(f"has the key `{twice}` twice")
        return found

    def _number(self, text: str) -> NoReturn:
        self._refuse(f"has the number `{text}`, which is not whole")

    def _part(self, name: PartName, raw: Any) -> Part:
        where = f"inputs.{name}"
        raw = self._object(raw, where)
        self._keys(raw, f"`{where}`", ("digest", "inputs"))
        part = Part(name, self._texts(raw["inputs"], f"{where}.inputs"))
        if part.digest != raw["digest"]:
            self._refuse(f"`{where}.digest` is not the digest of the inputs below it")
        return part

    def _lane(self, tag: str, raw: Mapping[str, Any]) -> Lane:
        where = f"lanes.{tag}"
        known = ("canvas", "digest", "frames", "identity", "rate", "runs", "sampled", "toolchain")
        self._keys(raw, f"`{where}`", known, optional=("facts", "reason"))
        head = self._head(tag, raw)
        toolchain = self._texts(raw["toolchain"], f"{where}.toolchain")
        if Part("toolchain", toolchain).digest != head.identity["toolchain"]:
            self._refuse(f"`{where}.identity.toolchain` is not the digest of its sub-inputs")
        if not isinstance(raw["digest"], str) or not is_hex_digest(raw["digest"]):
            self._refuse(f"`{where}.digest` is not a digest")
        sampled, reason = raw["sampled"], raw.get("reason")
        if not isinstance(sampled, bool):
            self._refuse(f"`{where}.sampled` is neither true nor false")
        if not isinstance(reason, (str, type(None))):
            self._refuse(f"`{where}.reason` is not a text")
        runs = self._runs(raw["runs"], f"{where}.runs")
        if runs.frames != raw["frames"] or isinstance(raw["frames"], bool):
            self._refuse(f"`{where}.runs` adds up to {runs.frames} frames, not {raw['frames']}")
        if not sampled and runs.drawn() != runs.frames:
            self._refuse(f"`{where}` leaves frames out without being a sample")
        return Lane(
            identity=head.identity,
            toolchain=toolchain,
            width=head.width,
            height=head.height,
            rate=self._rate(raw["rate"], f"{where}.rate"),
            digest=raw["digest"],
            runs=runs,
            sampled=sampled,
            reason=reason,
            facts=self._texts(raw.get("facts", {}), f"{where}.facts"),
        )

    def _head(self, tag: str, raw: Mapping[str, Any]) -> LaneHead:
        where = f"lanes.{tag}"
        identity = self._texts(raw.get("identity"), f"{where}.identity")
        self._keys(identity, f"`{where}.identity`", PARTS)
        for name, digest in identity.items():
            if digest != NONE and not is_hex_digest(digest):
                self._refuse(f"`{where}.identity.{name}` is not a digest")
        canvas = raw.get("canvas")
        if not isinstance(canvas, list) or len(canvas) != 2 or not all(map(_is_count, canvas)):
            self._refuse(f"`{where}.canvas` is not a width and a height")
        return LaneHead(cast("dict[PartName, str]", identity), canvas[0], canvas[1])

    def _runs(self, raw: Any, where: str) -> Runs:
        if not isinstance(raw, list):
            self._refuse(f"`{where}` is not a list")
        runs: list[Run] = []
        for number, row in enumerate(raw):
            if not isinstance(row, list) or len(row) != 3 or not _is_count(row[0]):
                self._refuse(f"`{where}`: run {number} is not a count, a key and a digest")
            count, key, digest = row
            if not (key is None and digest is None) and not (_is_short(key) and _is_short(digest)):
                self._refuse(f"`{where}`: run {number} has no key and digest of {DIGITS} digits")
            runs.append(Run(count, key, digest))
        return Runs(runs)

    def _rate(self, raw: Any, where: str) -> Fraction:
        above, _, below = raw.partition("/") if isinstance(raw, str) else ("", "", "")
        if _is_number(above) and _is_number(below or "1"):
            rate = Fraction(int(above), int(below or "1"))
            if str(rate) == raw:
                return rate
        return self._refuse(f"`{where}` is not an exact frame rate in lowest terms")

    def _object(self, raw: Any, where: str) -> dict[str, Any]:
        if not isinstance(raw, dict):
            self._refuse(f"`{where}` is not an object")
        return raw

    def _texts(self, raw: Any, where: str) -> dict[str, str]:
        found = self._object(raw, where)
        for key, value in found.items():
            if not isinstance(value, str):
                self._refuse(f"`{where}`: `{key}` is not a text")
        return found

    def _keys(
        self,
        raw: Mapping[str, Any],
        what: str,
        known: Sequence[str],
        optional: Sequence[str] = (),
    ) -> None:
        for key in known:
            if key not in raw:
                self._refuse(f"{what} has no `{key}`")
        for key in raw:
            if key not in known and key not in optional:
                self._refuse(f"{what} has the unknown key `{key}`")

    def _refuse(self, fact: str, line: int | None = None) -> NoReturn:
        raise ProjectError(
            fact, place=Place(self._file, line), hint=self._restore, code="ledger.damaged"
        ) from None


def _is_count(raw: Any) -> bool:
    return isinstance(raw, int) and not isinstance(raw, bool) and 0 < raw <= _MOST


def _is_short(raw: Any) -> bool:
    return isinstance(raw, str) and len(raw) == DIGITS and not raw.strip("0123456789abcdef")


def _is_number(text: str) -> bool:
    return 0 < len(text) < 40 and not text.strip("0123456789") and text.strip("0") != ""
