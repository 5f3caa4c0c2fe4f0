"""One table of a TOML file while it is being read: typed access, and errors that name the line.

Every reader returns the value or raises `ProjectError` with place, fact and hint. A key that is
absent gives None: defaults belong to the values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nfbuild.errors import Place, ProjectError
from nfbuild.project.lines import Key, Lines
from nfbuild.project.suggest import did_you_mean

if TYPE_CHECKING:
    import datetime as dt
    from fractions import Fraction

_SIZES = {
    "B": 1,
    "kB": 1000,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
    "TiB": 1024**4,
}
_TIMES = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
# Past this, a count, size or age is a slip, and the systems below take it for something else.
_MOST = 2**53

_NAMES = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    list: "a list",
    dict: "a table",
}


class Decimal(str):
    """A number with a point as it was written: no key wants a binary fraction."""

    __slots__ = ()


class SourceText:
    """The file that is being read: its name in messages and its text."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._lines: Lines | None = None

    def place(self, key: Key) -> Place:
        """Return where `key` stands."""
        if self._lines is None:
            self._lines = Lines(self.text)
        return Place(self.name, self._lines.line(key))


class Table:
    """One table at `key` (the path to it) in `source`; `name` is how messages call it."""

    def __init__(self, source: SourceText, key: Key, raw: Mapping[str, Any], name: str) -> None:
        self.source = source
        self.key = key
        self.raw = raw
        self.name = name

    def place(self, *key: str | int) -> Place:
        """Return where a key of this table stands, or the table itself."""
        return self.source.place((*self.key, *key))

    def error(self, message: str, *key: str | int, hint: str | None = None) -> ProjectError:
        """Return the error that `message` describes, at a key of this table."""
        return ProjectError(message, place=self.place(*key), hint=hint, code="project.config")

    def only(self, known: Collection[str]) -> None:
        """Refuse a key that is not `known`."""
        for key in self.raw:
            if key not in known:
                where = f"in `[{self.name}]`" if self.name else "at the top"
                raise self.error(
                    f"unknown key `{key}` {where}",
                    key,
                    hint=did_you_mean(key, known) or f"known are {_listed(known)}",
                )

    def table(self, key: str, name: str) -> Table | None:
        """Return the table below `key`."""
        raw = self.raw.get(key)
        if raw is None:
            return None
        if not isinstance(raw, dict):
            hint = f"begin the table with `[{name}]`"
            if isinstance(raw, list):
                hint += ", with single brackets"
            raise self._wrong(raw, "a table", key, hint=hint)
        return Table(self.source, (*self.key, key), raw, name)

    def tables(self, key: str, name: str) -> Iterator[Table]:
        """Yield the members of an array of tables below `key`."""
        raw = self.raw.get(key, [])
        if not isinstance(raw, list) or not all(isinstance(member, dict) for member in raw):
            hint = f"begin each one with `[[{name}]]`, with double brackets"
            raise self._wrong(raw, "a list of tables", key, hint=hint)
        for position, member in enumerate(raw):
            yield Table(self.source, (*self.key, key, position), member, name)

    def required(self, key: str, hint: str) -> None:
        """Refuse a table without `key`."""
        if key not in self.raw:
            raise self.error(f"`[{self.name}]` has no `{key}`", hint=hint)

    def text(self, key: str) -> str | None:
        """Return a text that is not empty."""
        raw = self.raw.get(key)
        if raw is None:
            return None
        return self._text(raw, key)

    def texts(self, key: str) -> list[tuple[str, Place]] | None:
        """Return a list of texts, each with its place."""
        raw = self.raw.get(key)
        if raw is None:
            return None
        if isinstance(raw, str):
            raise self.error(
                f"`{key}` must be a list of texts, not a text", key, hint=f'write `["{raw}"]`'
            )
        if not isinstance(raw, list):
            raise self._wrong(raw, "a list of texts", key)
        return [(self._text(item, key, i), self.place(key, i)) for i, item in enumerate(raw)]

    def _text(self, raw: Any, *key: str | int) -> str:
        if not isinstance(raw, str) or isinstance(raw, Decimal):
            raise self._wrong(raw, "a text", *key, hint="put it in quotes")
        if not raw.strip():
            raise self.error(f"`{key[0]}` is empty", *key)
        if "\0" in raw:
            raise self.error(f"`{key[0]}` holds a null character", *key)
        return raw

    def path(self, key: str) -> str | None:
        """Return a path with forward slashes and without a slash at its end."""
        text = self.text(key)
        if text is None:
            return None
        return text.rstrip("/") or "/"

    def choice(self, key: str, known: Collection[str]) -> str | None:
        """Return a text that is one of `known`."""
        text = self.text(key)
        if text is not None and text not in known:
            raise self.error(
                f"`{key}` is `{text}`, which is none of {_listed(known)}",
                key,
                hint=did_you_mean(text, known),
            )
        return text

    def count(self, key: str, least: int = 0, most: int = _MOST) -> int | None:
        """Return a whole number from `least` to `most`."""
        raw = self.raw.get(key)
        if raw is None:
            return None
        if isinstance(raw, bool) or not isinstance(raw, int):
            raise self._wrong(raw, "a whole number", key)
        if not least <= raw <= most:
            raise self.error(f"`{key}` must be from {least} to {most}", key)
        return raw

    def size(self, key: str) -> int | None:
        """Return a size in bytes: `"10 GB"`, `"512 MiB"`."""
        return self._measured(key, _SIZES, '"10 GB"')

    def age(self, key: str) -> int | None:
        """Return a span in seconds: `"30 d"`, `"12 h"`."""
        return self._measured(key, _TIMES, '"30 d"')

    def _measured(self, key: str, units: Mapping[str, int], example: str) -> int | None:
        raw = self.raw.get(key)
        if raw is None:
            return None
        hint = f"write a number and a unit, as in `{example}`; units are {_listed(units)}"
        if not isinstance(raw, str) or isinstance(raw, Decimal):
            raise self._wrong(raw, "a number with its unit", key, hint=hint)
        text = raw.strip()
        digits = len(text)
        while digits and text[digits - 1] not in "0123456789.":
            digits -= 1
        number, unit = text[:digits], text[digits:].strip()
        value = _decimal(number)
        if unit not in units or value is None:
            raise self.error(
                f"`{key}` is `{raw}`, which is not a number with a unit", key, hint=hint
            )
        numerator, denominator = value
        found = numerator * units[unit] // denominator
        if not 0 < found <= _MOST:
            raise self.error(f"`{key}` is `{raw}`, which is out of range", key)
        return found

    def date(self, key: str) -> dt.date | None:
        """Return a date, written without quotes."""
        raw = self.raw.get(key)
        if raw is None:
            return None
        import datetime as dt  # noqa: PLC0415  a project without excuses does not need it

        if isinstance(raw, dt.datetime) or not isinstance(raw, dt.date):
            hint = f"write the day without quotes and time: `{key} = 2027-06-30`"
            raise self._wrong(raw, "a date", key, hint=hint)
        return raw

    def ratio(self, key: str) -> Fraction | None:
        """Return a positive exact number: `30`, `29.97`, `"30000/1001"`."""
        raw = self.raw.get(key)
        if raw is None:
            return None
        from fractions import Fraction  # noqa: PLC0415  its import costs as much as a project

        hint = f'write `{key} = 30`, `{key} = 29.97` or `{key} = "30000/1001"`'
        if isinstance(raw, bool) or not isinstance(raw, (int, str)):
            raise self._wrong(raw, "a number", key, hint=hint)
        above, slash, below = str(raw).strip().partition("/")
        parts = _decimal(above.strip()), _decimal(below.strip() if slash else "1")
        if parts[0] is None or parts[1] is None or not parts[0][0] or not parts[1][0]:
            raise self.error(f"`{key}` is `{raw}`, which is not a number above 0", key, hint=hint)
        value = Fraction(*parts[0]) / Fraction(*parts[1])
        if not Fraction(1, _MOST) <= value <= _MOST:
            raise self.error(f"`{key}` is `{raw}`, which is out of range", key)
        return value

    def span(self, key: str) -> tuple[int, int] | None:
        """Return an inclusive range of frame numbers: `"10:40"` or `[10, 40]`."""
        raw = self.raw.get(key)
        if raw is None:
            return None
        hint = f'write the first and the last frame: `{key} = "10:40"`'
        ends = raw.split(":") if type(raw) is str else raw
        if not isinstance(ends, list) or len(ends) != 2:
            raise self._wrong(raw, "a range of frames", key, hint=hint)
        first, last = (_whole(end) for end in ends)
        if first is None or last is None or last > _MOST:
            raise self.error(f"`{key}` is not a range of frame numbers", key, hint=hint)
        if first > last:
            raise self.error(f"`{key}` ends at frame {last}, before it begins at {first}", key)
        return first, last

    def _wrong(
        self, raw: Any, wanted: str, *key: str | int, hint: str | None = None
    ) -> ProjectError:
        shown = f"`{key[0]}`" if len(key) == 1 else f"member {int(key[1]) + 1} of `{key[0]}`"
        return self.error(f"{shown} must be {wanted}, not {_kind(raw)}", *key, hint=hint)


def _kind(raw: Any) -> str:
    if isinstance(raw, Decimal):
        return "a number with a point"
    return _NAMES.get(type(raw), "a date or time")


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _decimal(text: str) -> tuple[int, int] | None:
    """Return a plain decimal as numerator and denominator; None for anything else."""
    whole, _, part = text.partition(".")
    digits = whole + part
    # `isdigit` alone takes digits of every script, and a long text is no number anyone means.
    if not 0 < len(digits) < 40 or not (digits.isascii() and digits.isdigit()):
        return None
    denominator = 1
    for _ in part:
        denominator *= 10
    return int(digits), denominator


def _whole(raw: Any) -> int | None:
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int):
        return raw if raw >= 0 else None
    if not isinstance(raw, str) or isinstance(raw, Decimal):
        return None
    found = _decimal(raw.strip())
    return found[0] if found is not None and found[1] == 1 else None
