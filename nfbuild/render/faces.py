"""Read what a TrueType file says of its face: names, weight, italic, which characters it has.

Plain Python over the file's bytes, so that the parent can ask without loading the rasterizer;
formats after the OpenType specification 1.9 (`name`, `OS/2`, `head`, `cmap`). Every offset is
checked: a damaged or hostile file raises FontError and nothing else. Faces that the rasterizer
does not read (CFF outlines, collections, web fonts) are refused here with what to do about it.
Not here: which face a text gets (`scene` and the project), loading faces (`renderer`).
"""

from __future__ import annotations

import struct
from bisect import bisect_left

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import FontError

_ACCEPTED = (b"\x00\x01\x00\x00", b"true")
_REFUSED = {
    b"OTTO": ("has CFF outlines, which the rasterizer does not read", "use the face's `.ttf` file"),
    b"ttcf": ("is a collection of faces", "split it and use the `.ttf` file of one face"),
    b"wOFF": ("is a packed web font", "unpack it to a `.ttf` file"),
    b"wOF2": ("is a packed web font", "unpack it to a `.ttf` file"),
    b"typ1": ("is a PostScript face", "use a `.ttf` file"),
}
_NEEDED = ("cmap", "glyf", "head", "hhea", "hmtx", "loca", "maxp")

_FAMILY, _FULL, _POSTSCRIPT, _TYPOGRAPHIC_FAMILY = 1, 4, 6, 16
_ENGLISH = 0x409

# Subtables of `cmap` that map Unicode, best first: whole Unicode before the first plane.
_UNICODE_TABLES = ((3, 10), (0, 6), (0, 4), (3, 1), (0, 3), (0, 2), (0, 1), (0, 0), (3, 0))


@dataclass(frozen=True)
class FaceFacts:
    """What a face's file says of it.

    `family` is the typographic family (all weights share it) or else the plain one, `plain_family`
    always the latter; a name the file lacks is empty. `weight` is 1 to 1000.
    """

    family: str
    plain_family: str
    full_name: str
    postscript_name: str
    weight: int
    italic: bool
    variable: bool
    characters: Characters = field(repr=False, compare=False)

    def covers(self, codepoint: int) -> bool:
        """Tell whether the face has a glyph for a character."""
        return self.characters.glyph(codepoint) != 0


def read_face(data: bytes, *, name: str = "face") -> FaceFacts:
    """Return the facts of a TrueType file; FontError when it is none or is damaged.

    `name` is what messages call the file.
    """
    try:
        return _read(data, name)
    except struct.error as error:
        raise _damaged(name) from error


class Characters:
    """A `cmap` subtable: which glyph a character has; 0 for none. Looked up in place."""

    def __init__(self, table: bytes, name: str) -> None:
        self._table = table
        self._name = name
        self._format: int = struct.unpack_from(">H", table)[0]
        self._ends: list[int] = []
        self._groups: list[tuple[int, int, int]] = []
        if self._format == 4:
            (double,) = struct.unpack_from(">H", table, 6)
            self._count = double // 2
            self._ends = list(struct.unpack_from(f">{self._count}H", table, 14))
            struct.unpack_from(f">{3 * self._count}H", table, 16 + double)
        elif self._format in (12, 13):
            (count,) = struct.unpack_from(">I", table, 12)
            if 16 + 12 * count > len(table):
                raise _damaged(name)
            self._groups = list(struct.iter_unpack(">3I", table[16 : 16 + 12 * count]))
            self._ends = [end for _, end, _ in self._groups]
        elif self._format not in (0, 6, 10):
            raise FontError(
                f"`{name}` maps characters by an unsupported table of format {self._format}",
                code="font.cmap",
            )
        if any(a > b for a, b in zip(self._ends, self._ends[1:], strict=False)):
            raise _damaged(name)

    def glyph(self, codepoint: int) -> int:
        """Return the glyph of a character, 0 for none; FontError where the table is cut off."""
        try:
            return self._glyph(codepoint)
        except struct.error as error:
            raise _damaged(self._name) from error

    def _glyph(self, codepoint: int) -> int:
        if self._format == 4:
            return self._in_segments(codepoint)
        if self._format in (12, 13):
            at = bisect_left(self._ends, codepoint)
            if at == len(self._groups):
                return 0
            start, _, glyph = self._groups[at]
            if codepoint < start:
                return 0
            return glyph if self._format == 13 else glyph + codepoint - start
        if self._format == 0:
            return self._table[6 + codepoint] if codepoint < min(256, len(self._table) - 6) else 0
        first, count, at = (
            (*struct.unpack_from(">HH", self._table, 6), 10)
            if self._format == 6
            else (*struct.unpack_from(">II", self._table, 12), 20)
        )
        if not first <= codepoint < first + count:
            return 0
        return int(struct.unpack_from(">H", self._table, at + 2 * (codepoint - first))[0])

    def _in_segments(self, codepoint: int) -> int:
        segment = bisect_left(self._ends, codepoint)
        if segment == self._count:
            return 0
        # endCode, reserved, startCode, idDelta, idRangeOffset: arrays of `count` each.
        starts = 16 + 2 * self._count
        at = starts + 2 * segment
        (start,) = struct.unpack_from(">H", self._table, at)
        if codepoint < start:
            return 0
        (delta,) = struct.unpack_from(">H", self._table, at + 2 * self._count)
        place = at + 4 * self._count
        (offset,) = struct.unpack_from(">H", self._table, place)
        if offset in (0, 0xFFFF):  # 0xFFFF in the last segment of some old faces means none
            return 0 if offset else (codepoint + delta) & 0xFFFF
        place += offset + 2 * (codepoint - start)
        if place + 2 > len(self._table):
            return 0
        (glyph,) = struct.unpack_from(">H", self._table, place)
        return (glyph + delta) & 0xFFFF if glyph else 0


def _read(data: bytes, name: str) -> FaceFacts:
    kind = data[:4]
    if kind in _REFUSED:
        fact, hint = _REFUSED[kind]
        raise FontError(f"`{name}` {fact}", hint=hint, code="font.format")
    if kind not in _ACCEPTED:
        raise FontError(
            f"`{name}` is not a TrueType face", hint="use a `.ttf` file", code="font.format"
        )
    tables = _tables(data, name)
    missing = [tag for tag in _NEEDED if tag not in tables]
    if missing:
        raise FontError(
            f"`{name}` has no table `{missing[0]}`, which drawing text needs",
            hint="use a `.ttf` file with outlines",
            code="font.format",
        )
    names = _names(tables.get("name", b""))
    weight, italic = _style(tables)
    plain = names.get(_FAMILY, "")
    return FaceFacts(
        family=names.get(_TYPOGRAPHIC_FAMILY) or plain,
        plain_family=plain,
        full_name=names.get(_FULL, ""),
        postscript_name=names.get(_POSTSCRIPT, ""),
        weight=weight,
        italic=italic,
        variable="fvar" in tables,
        characters=_characters(tables["cmap"], name),
    )


def _damaged(name: str) -> FontError:
    return FontError(
        f"`{name}` is damaged: a table points outside the file",
        hint="get the file again",
        code="font.damaged",
    )


def _tables(data: bytes, name: str) -> dict[str, bytes]:
    (count,) = struct.unpack_from(">H", data, 4)
    tables: dict[str, bytes] = {}
    for at in range(12, 12 + 16 * count, 16):
        tag, _, offset, length = struct.unpack_from(">4sIII", data, at)
        if offset + length > len(data):
            raise _damaged(name)
        # Big tables are only looked for; `glyf` of a CJK face is 20 MB.
        wanted = tag in (b"name", b"OS/2", b"head", b"cmap")
        tables[tag.decode("latin-1")] = data[offset : offset + length] if wanted else b""
    return tables


def _names(table: bytes) -> dict[int, str]:
    """Return the names this module reads, each in English if the file has it in English."""
    if len(table) < 6:
        return {}
    _, count, storage = struct.unpack_from(">HHH", table)
    best: dict[int, tuple[tuple[int, int, int, int], str]] = {}
    for index in range(count):
        record = struct.unpack_from(">6H", table, 6 + 12 * index)
        platform, encoding, language, which, length, offset = record
        if which not in (_FAMILY, _FULL, _POSTSCRIPT, _TYPOGRAPHIC_FAMILY):
            continue
        raw = table[storage + offset : storage + offset + length]
        if len(raw) < length:
            continue
        if platform == 3 and encoding in (0, 1, 10):
            rank = (0 if language == _ENGLISH else 2, language, encoding, index)
            text = raw.decode("utf-16-be", "replace")
        elif platform == 0:
            rank = (1, language, encoding, index)
            text = raw.decode("utf-16-be", "replace")
        elif platform == 1 and encoding == 0:
            rank = (1 if language == 0 else 3, 0x10000 + language, encoding, index)
            text = raw.decode("mac_roman", "replace")
        else:
            continue
        text = text.replace("\0", "").strip(" \t\r\n")
        if text and (which not in best or rank < best[which][0]):
            best[which] = (rank, text)
    return {which: text for which, (_, text) in best.items()}


def _style(tables: dict[str, bytes]) -> tuple[int, bool]:
    (mac_style,) = struct.unpack_from(">H", tables["head"], 44)
    italic = bool(mac_style & 2)
    os2 = tables.get("OS/2", b"")
    if len(os2) < 64:
        return (700 if mac_style & 1 else 400), italic
    (weight,) = struct.unpack_from(">H", os2, 4)
    (selection,) = struct.unpack_from(">H", os2, 62)
    if 1 <= weight <= 9:  # some old faces count in hundreds
        weight *= 100
    # Bit 0 is italic, bit 9 oblique.
    return min(max(weight, 1), 1000), italic or bool(selection & 0x201)


def _characters(table: bytes, name: str) -> Characters:
    _, count = struct.unpack_from(">HH", table)
    found: dict[tuple[int, int], int] = {}
    for index in range(count):
        platform, encoding, offset = struct.unpack_from(">HHI", table, 4 + 8 * index)
        found.setdefault((platform, encoding), offset)
    for kind in _UNICODE_TABLES:
        if kind in found:
            return Characters(table[found[kind] :], name)
    raise FontError(f"`{name}` does not map Unicode characters", code="font.cmap")
