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

from collections.abc import Callable
from dataclasses import dataclass

Width = Callable[[str], float]

# First and last character of the blocks in which a line may break at any character:
# Unicode 15.1, Blocks.txt, by name.
_IDEOGRAPHIC = (
    ("\u2e80", "\u9fff"),
    ("\uac00", "\ud7af"),
    ("\uf900", "\ufaff"),
    ("\uff00", "\uffef"),
)
_BLANKS = " \t\n\r\x0b\x0c"
_CLOSING = "\u3002\uff0c\u3001\uff09\u300d"
_OPENING = "\uff08\u300c"


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
    return any(first <= character <= last for first, last in _IDEOGRAPHIC)
