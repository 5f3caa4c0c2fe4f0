"""Break a paragraph into lines that fit a width, with the Japanese line-break rules.

Latin breaks at blanks, ideographs break between each other. A line never opens on a closing mark
and never ends on an opening one: the unit before is sent down with the offender where the two
fit one line. A unit wider than the box alone is split by character. Blanks between units on one
line are drawn as one space, blanks at the ends of lines are not drawn.

The rules are JIS X 4051 section 5 (kinsoku), in the smaller set that the format names. Character
classes are tables here: `unicodedata` and `str` methods differ between interpreters.

Not here: measuring (`ink`), where lines stand (`chips`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from nfbuild.dataclasses import dataclass

Width = Callable[[str], float]

# Where a line may break at any character: East Asian width W or F, EastAsianWidth.txt of Unicode
# 14.0, without the ideographic space; gaps of unassigned characters are closed.
_WIDE = """
1100-115f 231a-231b 2329-232a 23e9-23ec 23f0 23f3 25fd-25fe 2614-2615 2648-2653 267f 2693 26a1
26aa-26ab 26bd-26be 26c4-26c5 26ce 26d4 26ea 26f2-26f3 26f5 26fa 26fd 2705 270a-270b 2728 274c
274e 2753-2755 2757 2795-2797 27b0 27bf 2b1b-2b1c 2b50 2b55 2e80-2ffb 3001-303e 3041-3247
3250-4dbf 4e00-a4c6 a960-a97c ac00-d7a3 f900-fad9 fe10-fe19 fe30-fe6b ff01-ff60 ffe0-ffe6
16fe0-1b2fb 1f004 1f0cf 1f18e 1f191-1f19a 1f200-1f320 1f32d-1f335 1f337-1f37c 1f37e-1f393
1f3a0-1f3ca 1f3cf-1f3d3 1f3e0-1f3f0 1f3f4 1f3f8-1f43e 1f440 1f442-1f4fc 1f4ff-1f53d 1f54b-1f54e
1f550-1f567 1f57a 1f595-1f596 1f5a4 1f5fb-1f64f 1f680-1f6c5 1f6cc 1f6d0-1f6d2 1f6d5-1f6df
1f6eb-1f6ec 1f6f4-1f6fc 1f7e0-1f7f0 1f90c-1f93a 1f93c-1f945 1f947-1f9ff 1fa70-1faf6 20000-3134a
"""
_FIRST_WIDE = "\u1100"
_STARTS: list[int] = []
_ENDS: list[int] = []
for _span in _WIDE.split():
    _start, _, _end = _span.partition("-")
    _STARTS.append(int(_start, 16))
    _ENDS.append(int(_end or _start, 16))

# PropList.txt of Unicode 14.0, White_Space; XML lets no other control character through.
_BLANKS = frozenset(
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
# The marks of the format: Latin, general and ideographic punctuation, and their fullwidth forms.
_CLOSING = frozenset(
    "!%),.:;?]}\xbb\u2019\u201d\u2025\u2026\u203a\u3001\u3002\u3009\u300b\u300d\u300f"
    "\u3011\u3015\u3017\u3019\u301e\u30fb\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b"
    "\uff1f\uff3d\uff5d"
)
_OPENING = frozenset(
    "([{\xab\u2018\u201c\u2039\u3008\u300a\u300c\u300e\u3010\u3014\u3016\u3018\u301d"
    "\uff08\uff3b\uff5b"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What a line break never parts (unless it is wider than the box); `glue` stands before it."""

    text: str
    glue: str = ""


def units(text: str) -> list[Unit]:
    """Split `text` into units: words, and single ideographs.

    The format's reference forgets a blank only at an ideograph: in `a b\u6f22` the word `b` and the
    ideograph after it both have the blank before `b` in front of them. So it is here.
    """
    found: list[Unit] = []
    word = ""
    glue = ""
    for character in text:
        blank = character in _BLANKS
        if not blank and not _is_ideographic(character):
            word += character
            continue
        if word:
            found.append(Unit(word, glue))
            word = ""
        if blank:
            glue = " "
        else:
            found.append(Unit(character, glue))
            glue = ""
    if word:
        found.append(Unit(word, glue))
    return found


def wrap(text: str, limit: float, width: Width) -> list[str]:
    """Return the lines of `text`, none wider than `limit` where that can be."""
    lines: list[str] = []
    line: list[Unit] = []
    for unit in _fitting(units(text), limit, width):
        if not line or width(_joined([*line, unit])) <= limit:
            line.append(unit)
            continue
        moved = [unit]
        if len(line) > 1 and (_closes(unit) or _opens(line[-1])):
            pair = [line[-1], unit]
            if width(_joined(pair)) <= limit:
                moved = pair
                line.pop()
        lines.append(_joined(line))
        line = moved
    if line:
        lines.append(_joined(line))
    return lines or [text]


def _fitting(parts: list[Unit], limit: float, width: Width) -> list[Unit]:
    """Return `parts` with every unit that is wider than the box split into characters."""
    out = []
    for part in parts:
        if len(part.text) > 1 and width(part.text) > limit:
            out += [Unit(c, "" if index else part.glue) for index, c in enumerate(part.text)]
        else:
            out.append(part)
    return out


def _joined(parts: list[Unit]) -> str:
    return parts[0].text + "".join(part.glue + part.text for part in parts[1:])


def _closes(unit: Unit) -> bool:
    return unit.text[0] in _CLOSING


def _opens(unit: Unit) -> bool:
    return unit.text[-1] in _OPENING


def _is_ideographic(character: str) -> bool:
    if character < _FIRST_WIDE:
        return False
    code = ord(character)
    index = bisect_right(_STARTS, code) - 1
    return index >= 0 and code <= _ENDS[index]
