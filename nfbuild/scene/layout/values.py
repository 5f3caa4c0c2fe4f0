"""The values that layout reads from a text element's attributes.

An attribute that is absent or empty has its default; a number may end in `px`. Everything else is
an error with the element's line: a chip of a guessed size is worse than none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.errors import Place, SourceError
from nfbuild.scene.numbers import double
from nfbuild.scene.tree import describe

if TYPE_CHECKING:
    from nfbuild.scene.tree import Element

DEFAULT_SIZE = 16.0


def value(element: Element, name: str, default: float, file: str) -> float:
    """Return a number in px, `default` where the attribute is absent or empty."""
    text = (element.get(name) or "").strip(" \t\r\n")
    if not text:
        return default
    number = double(text.removesuffix("px"))
    if number is None:
        raise SourceError(
            f'`{name}="{text}"` of `{describe(element)}` is no number',
            place=Place(file, element.line),
            hint="text layout needs one plain number, in px",
        )
    return number


def required(element: Element, name: str, file: str) -> float:
    """Return the number of an attribute that is there; an empty one is an error too."""
    if not (element.get(name) or "").strip(" \t\r\n"):
        raise SourceError(
            f"`{name}` of `{describe(element)}` is empty",
            place=Place(file, element.line),
            hint=f"give it a width in px, or remove `{name}`",
        )
    return value(element, name, 0.0, file)


def size_of(element: Element, file: str) -> float:
    """Return the font size of a text element."""
    return value(element, "font-size", DEFAULT_SIZE, file)
