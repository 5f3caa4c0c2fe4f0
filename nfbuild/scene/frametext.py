"""Words that are a function of the frame: `data-frame-text`.

A template is Python's format language with plain fields only, from the composition's own clock.
It is parsed once; the words of a frame are joined from constants and formatted fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter

from nfbuild.errors import Place, SourceError
from nfbuild.scene.tree import Element, describe

ATTRIBUTE = "data-frame-text"
# `{frame:0999d}` is a label, `{frame:0999999999d}` is an attack.
_LONGEST = 8

FIELDS = ("frame", "second", "time", "fps", "duration", "frames")


class Template:
    """One template, checked; `words` fills it in."""

    __slots__ = ("_parts",)

    def __init__(self, parts: list[tuple[str, str | None, str]]) -> None:
        self._parts = parts

    def words(self, clock: Mapping[str, float]) -> str:
        """Return the text for the fields' values in `clock`."""
        out = []
        for constant, name, spec in self._parts:
            out.append(constant)
            if name is not None:
                out.append(format(clock[name], spec))
        return "".join(out)


def read_template(element: Element, file: str, clock: Mapping[str, float]) -> Template:
    """Return the element's template; every format is tried once on the values of `clock`.

    Raises `SourceError` for a field that does not exist or a format that does not fit it.
    """
    text = element.attributes[ATTRIBUTE]
    place = Place(file, element.line)
    where = describe(element)
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        raise SourceError(
            f"`{ATTRIBUTE}` of `{where}` cannot be read: {_lower(error)}",
            place=place,
            hint="a brace that is meant as a brace is written twice: `{{` or `}}`",
            code="text.bad_frame_field",
        ) from None
    parts: list[tuple[str, str | None, str]] = []
    for constant, name, spec, conversion in parsed:
        if name is None:
            parts.append((constant, None, ""))
            continue
        if name not in FIELDS or conversion is not None:
            shown = name if conversion is None else f"{name}!{conversion}"
            raise SourceError(
                f"`{ATTRIBUTE}` of `{where}` asks for `{{{shown}}}`, which a frame does not offer",
                place=place,
                hint="fields are " + ", ".join(f"`{{{field}}}`" for field in FIELDS),
                code="text.bad_frame_field",
            )
        _check_format(spec or "", name, clock, where, place)
        parts.append((constant, name, spec or ""))
    return Template(parts)


def _check_format(
    spec: str, name: str, clock: Mapping[str, float], where: str, place: Place
) -> None:
    reason = None
    if spec.endswith("n"):
        reason = "it depends on the machine's language"
    elif len(spec) > _LONGEST:
        reason = "it is too long"
    else:
        try:
            format(clock[name], spec)
        except (ValueError, OverflowError) as error:
            reason = _lower(error)
    if reason is not None:
        raise SourceError(
            f"format `{spec}` of `{{{name}}}` in `{where}` cannot be used: {reason}",
            place=place,
            hint="write `{second:.2f}` or `{frame:04d}`",
            code="text.bad_frame_field",
        )


def _lower(error: Exception) -> str:
    text = str(error)
    return text[:1].lower() + text[1:]
