"""A Lottie scene's JSON as a tree that can be written back without a changed number.

Numbers keep their text, members keep their order and their doubles: what is not edited reaches
the rasterizer as the author's tool wrote it. Blanks between tokens are not kept.

Not here: what members mean (`lottie_scene`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from nfbuild.errors import Place, SourceError
from nfbuild.scene.numbers import exact

DEPTH = 256
"""How deep a scene may nest; exporters stay below 40."""


class Number(str):
    """The text of a JSON number."""

    __slots__ = ()

    @property
    def value(self) -> Fraction | None:
        """The exact value, None where the exponent is absurd."""
        return exact(self)


class Members:
    """A JSON object: its members in order."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Value]]) -> None:
        self.pairs = pairs

    def get(self, name: str) -> Value:
        """Return the last member of that name, None where there is none (or `null`)."""
        for key, value in reversed(self.pairs):
            if key == name:
                return value
        return None

    def text(self, name: str) -> str | None:
        """Return a member that is a string, None where it is anything else."""
        value = self.get(name)
        return value if type(value) is str else None

    def number(self, name: str) -> Fraction | None:
        """Return a member that is a number, None where it is anything else."""
        value = self.get(name)
        return value.value if isinstance(value, Number) else None

    def items(self, name: str) -> list[Members]:
        """Return the objects of a member that is a list."""
        value = self.get(name)
        return [one for one in value if isinstance(one, Members)] if isinstance(value, list) else []

    def put(self, name: str, value: Value) -> None:
        """Replace a member in its place, or append it; doubles of it go."""
        pairs: list[tuple[str, Value]] = []
        placed = False
        for key, old in self.pairs:
            if key != name:
                pairs.append((key, old))
            elif not placed:
                pairs.append((key, value))
                placed = True
        if not placed:
            pairs.append((name, value))
        self.pairs = pairs

    def drop(self, name: str) -> None:
        """Remove a member."""
        self.pairs = [pair for pair in self.pairs if pair[0] != name]


Value: TypeAlias = "Members | list[Value] | Number | str | bool | None"


def read(data: bytes, file: str) -> Members:
    """Return the scene's outermost object; raises `SourceError` for everything else."""
    place = Place(file)
    try:
        text = data.decode(json.detect_encoding(data))
        tree = json.loads(
            text,
            parse_float=Number,
            parse_int=Number,
            parse_constant=_no_number,
            object_pairs_hook=Members,
        )
    except UnicodeDecodeError:
        raise SourceError("the scene is not UTF-8 text", place=place, hint=_HINT) from None
    except json.JSONDecodeError as error:
        raise SourceError(
            f"the scene is no JSON: {error.msg[:1].lower()}{error.msg[1:]}",
            place=Place(file, error.lineno),
            hint=_HINT,
        ) from None
    except (RecursionError, ValueError) as error:
        fact = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise SourceError(f"the scene is no JSON: {fact}", place=place, hint=_HINT) from None
    if not isinstance(tree, Members):
        raise SourceError("the scene is no JSON object", place=place, hint=_HINT)
    for _, depth in _levels(tree):
        if depth > DEPTH:
            raise SourceError(
                f"the scene is nested deeper than {DEPTH}",
                place=place,
                hint="no exporter writes such a scene; flatten its groups",
            )
    return tree


def objects(tree: Value) -> Iterator[Members]:
    """Yield every object below and including `tree`, in document order, without recursion."""
    stack = [tree]
    while stack:
        value = stack.pop()
        if isinstance(value, Members):
            yield value
            stack.extend(member for _, member in reversed(value.pairs))
        elif isinstance(value, list):
            stack.extend(reversed(value))


def write(tree: Value) -> bytes:
    """Return the tree as compact UTF-8 JSON."""
    return _written(tree).encode("utf-8", "surrogatepass")


_HINT = "a Lottie scene is one JSON object with `w`, `h`, `fr`, `ip`, `op` and `layers`"


def _no_number(text: str) -> Value:
    raise ValueError(f"`{text}` is no number")


def _levels(tree: Value) -> Iterator[tuple[Value, int]]:
    stack = [(tree, 1)]
    while stack:
        value, depth = stack.pop()
        yield value, depth
        if isinstance(value, Members):
            stack.extend((member, depth + 1) for _, member in value.pairs)
        elif isinstance(value, list):
            stack.extend((member, depth + 1) for member in value)


def _written(value: Value) -> str:
    if isinstance(value, Members):
        inside = (f"{_quoted(key)}:{_written(member)}" for key, member in value.pairs)
        return "{" + ",".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_written(member) for member in value) + "]"
    if isinstance(value, Number):
        return str.__str__(value)
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    return "true" if value else "false"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
