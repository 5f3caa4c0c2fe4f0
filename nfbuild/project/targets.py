"""The files that exports write: the `to` template, and two exports that would write one file.

A template is a path with `{name}` (the composition's, slashes make folders) and `{number}` or
`{number:05d}` (the frame's). A path that `{number}` completes is a sequence of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from nfbuild.dataclasses import dataclass
from nfbuild.errors import ProjectError
from nfbuild.project.select import matches
from nfbuild.project.values import Export, Project

_HINT = "write `{name}` for the composition and `{number:05d}` for the frame"


@dataclass(frozen=True)
class Template:
    """A parsed `to`: texts and fields in order; `width` is the least number of digits."""

    pieces: tuple[str, ...]
    width: int

    @property
    def numbered(self) -> bool:
        """Tell whether each frame has a file of its own."""
        return "{number}" in self.pieces

    def filled(self, name: str, number: str) -> str:
        """Return the path for a composition, with `number` as the frame's digits."""
        values = {"{name}": name, "{number}": number}
        return "".join(values.get(piece, piece) for piece in self.pieces)

    def path(self, name: str, number: int | None = None) -> str:
        """Return the path for a composition and a frame number."""
        return self.filled(name, "" if number is None else str(number).zfill(self.width))


def parse_template(text: str) -> Template:
    """Return the parsed template; raises ValueError that says what is wrong with it."""
    pieces: list[str] = []
    width = 1
    rest = text
    while rest:
        before, brace, rest = rest.partition("{")
        if "}" in before:
            raise ValueError("has a `}` without `{`")
        if before:
            pieces.append(before)
        if not brace:
            break
        name, brace, rest = rest.partition("}")
        if not brace:
            raise ValueError("has a `{` without `}`")
        name, colon, form = name.partition(":")
        if name not in ("name", "number") or (colon and name == "name"):
            raise ValueError(f"has the unknown field `{{{name}{colon}{form}}}`")
        if colon:
            width = _digits(form)
        pieces.append("{" + name + "}")
    if pieces.count("{number}") > 1:
        raise ValueError("has `{number}` twice")
    return Template(tuple(pieces), width)


def _digits(form: str) -> int:
    inner = form[1:-1]
    if form[:1] != "0" or form[-1:] != "d" or inner not in {str(i) for i in range(1, 20)}:
        raise ValueError(f"has the number form `{form}`, which is not like `05d`")
    return int(inner)


def check_template(text: str, format_name: str) -> Template:
    """Return the template of an export in that format; raises ValueError as `parse_template`."""
    template = parse_template(text)
    if template.numbered and format_name != "png":
        raise ValueError(f"has `{{number}}`, but `{format_name}` is one file")
    last = template.pieces[-1]
    if last.endswith("/") or last.rsplit("/", 1)[-1] in (".", ".."):
        raise ValueError("names a folder, not a file")
    folders = text.replace("{name}", "").split("/")[:-1]
    if any("{number" in folder for folder in folders):
        raise ValueError("has `{number}` in a folder's name")
    return template


@dataclass(frozen=True)
class Target:
    """One export of one composition: `path` is project-relative or absolute, `*` for the number.

    `folder` is the folder that it writes to.
    """

    composition: str
    export: Export
    template: Template

    @property
    def key(self) -> tuple[str, str | None]:
        """What comes before and after the number; no second part for a single file."""
        mark = "\0"
        path = os.path.normpath(self.template.filled(self.composition, mark))
        before, found, after = path.partition(mark)
        return (before, after if found else None)


def targets(project: Project, names: Sequence[str]) -> list[Target]:
    """Return what the project's exports write for the compositions `names`, in their order.

    Raises `ProjectError` when two of them write one path, or one writes where a composition, the
    ledger or the cache is.
    """
    found = [
        Target(name, export, check_template(export.to, export.format))
        for export in project.exports
        for name in names
        if matches(export.composition, name)
    ]
    for first, second in _clashes(found):
        raise _clash(first, second)
    return found


def _clashes(found: Iterable[Target]) -> Iterator[tuple[Target, Target]]:
    single: dict[str, Target] = {}
    many: dict[tuple[str, str], Target] = {}
    for target in found:
        before, after = target.key
        earlier = single.get(before) if after is None else many.get((before, after))
        if earlier is not None:
            yield earlier, target
        elif after is None:
            single[before] = target
        else:
            many[before, after] = target
    # A single file whose name a sequence would give to one of its frames.
    for (before, after), sequence in many.items():
        for path, target in single.items():
            middle = path[len(before) : len(path) - len(after)]
            if path == before + middle + after and middle.isascii() and middle.isdigit():
                yield target, sequence


def _clash(first: Target, second: Target) -> ProjectError:
    if first.export is second.export:
        return ProjectError(
            f"`{first.composition}` and `{second.composition}` would be exported to one path",
            place=second.export.place,
            hint="put `{name}` into `to`",
            code="project.export",
        )
    return ProjectError(
        f"two exports write one path for `{second.composition}`; the other is at"
        f" {first.export.place}",
        place=second.export.place,
        hint="give one of them another `to`",
        code="project.export",
    )
