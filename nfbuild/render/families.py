"""Which face a text run draws with: the rule, over the names and styles of the faces at hand.

A `font-family` value is a CSS list; its first member that any face answers to decides. A face
answers to its file's stem, its family, its full name and its PostScript name, by exact spelling.
Among the faces that answer to one name, the nearest in style and then in weight wins, and the
first listed on a tie. Nothing is ever matched by the rasterizer itself.

Not here: reading names out of a face (`faces`), which text inherits which value (`scene`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

_WEIGHTS = {"normal": 400, "bold": 700, "bolder": 700, "lighter": 300}
_REGULAR = 400


class Named(Protocol):
    """What the rule looks at: names, weight from 1 to 1000, and whether the face is slanted."""

    @property
    def family(self) -> str: ...  # noqa: D102
    @property
    def full_name(self) -> str: ...  # noqa: D102
    @property
    def postscript_name(self) -> str: ...  # noqa: D102
    @property
    def stem(self) -> str: ...  # noqa: D102
    @property
    def weight(self) -> int: ...  # noqa: D102
    @property
    def italic(self) -> bool: ...  # noqa: D102


AnyFace = TypeVar("AnyFace", bound=Named)


def choose(
    faces: Sequence[AnyFace], family: str | None, weight: str | None, style: str | None
) -> AnyFace | None:
    """Return the face that a run asks for, None where no face answers to any of its names."""
    for name in family_names(family or ""):
        answering = [
            face
            for face in faces
            if name in (face.stem, face.family, face.full_name, face.postscript_name)
        ]
        if answering:
            return _nearest(answering, _weight(weight), _slanted(style))
    return None


def family_names(value: str) -> Iterator[str]:
    """Yield the members of a CSS family list, without their quotes and outer blanks."""
    for member in _split(value):
        name = member.strip(" \t\r\n\f")
        if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
            name = name[1:-1].strip(" \t\r\n\f")
        if name:
            yield name


def _split(value: str) -> Iterator[str]:
    # A comma within quotes belongs to the name.
    member, quote = "", ""
    for character in value:
        if character == "," and not quote:
            yield member
            member = ""
            continue
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        member += character
    yield member


def _nearest(faces: Sequence[AnyFace], weight: int, slanted: bool) -> AnyFace:
    best = faces[0]
    best_distance = (best.italic != slanted, abs(best.weight - weight))
    for face in faces[1:]:
        distance = (face.italic != slanted, abs(face.weight - weight))
        if distance < best_distance:
            best, best_distance = face, distance
    return best


def _weight(value: str | None) -> int:
    text = (value or "").strip(" \t\r\n\f")
    if text in _WEIGHTS:
        return _WEIGHTS[text]
    if text and len(text) < 5 and all(character in "0123456789" for character in text):
        return int(text)
    return _REGULAR


def _slanted(value: str | None) -> bool:
    return (value or "").strip(" \t\r\n\f").partition(" ")[0] in ("italic", "oblique")
