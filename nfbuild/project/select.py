"""What NAME means: a composition's name, a file, or a pattern over names.

In a pattern `*` stands for any text, slashes too, so that `*` is every composition; `?` for one
character and `[abc]` for one of a few. Tried in this order, so that a name with a bracket in it
can still be written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from nfbuild.errors import UsageError
from nfbuild.project.discover import Listed
from nfbuild.project.glob import is_pattern, matches_text
from nfbuild.project.suggest import nearest
from nfbuild.project.values import Project


def matches(pattern: str, name: str) -> bool:
    """Tell whether a composition's name is `pattern` or of its form."""
    return pattern == name or (is_pattern(pattern) and matches_text(pattern, name))


def select(
    project: Project, listed: Sequence[Listed], names: Sequence[str], start: str
) -> tuple[Listed, ...]:
    """Return the compositions that `names` mean, each once, in the order of `listed`.

    No names mean all. File paths are relative to `start`, or to the project. Raises `UsageError`
    for a name that means nothing.
    """
    if not names:
        return tuple(listed)
    by_name = {one.name: one for one in listed}
    chosen: set[str] = set()
    for name in names:
        found = (
            [name]
            if name in by_name
            else _by_path(project, listed, name, start)
            or [one.name for one in listed if matches(name, one.name)]
        )
        if not found:
            raise _nothing(project, listed, name, start)
        chosen.update(found)
    return tuple(one for one in listed if one.name in chosen)


def _by_path(project: Project, listed: Sequence[Listed], name: str, start: str) -> list[str]:
    # A path as it was written first: two links to one file are two compositions.
    for folder in (start, project.root):
        relative = project.relative(os.path.normpath(os.path.join(folder, name)))
        found = [one.name for one in listed if one.path == relative]
        if found:
            return found
    real = os.path.realpath(os.path.join(start, name))
    if not os.path.isfile(real):
        return []
    return [one.name for one in listed if os.path.realpath(project.path(one.path)) == real]


def _nothing(project: Project, listed: Sequence[Listed], name: str, start: str) -> UsageError:
    if os.path.isfile(os.path.join(start, name)):
        patterns = ", ".join(f"`{pattern}`" for pattern, _ in project.patterns)
        return UsageError(
            f"`{name}` is not a composition of this project",
            hint=f"compositions are what {patterns} finds",
            code="usage.name",
        )
    kind = "pattern matches no composition" if is_pattern(name) else "no composition has this name"
    # A slip in the last part is the commonest; the folder is then still right.
    near = nearest(name, [one.name for one in listed]) or next(
        (one.name for one in listed if one.name.rsplit("/", 1)[-1] == name), None
    )
    if near is not None:
        hint = f"did you mean `{near}`?"
    elif listed:
        hint = "`nfbuild status` lists the compositions"
    else:
        hint = "the project has no compositions yet"
    return UsageError(f"`{name}`: {kind}", hint=hint, code="usage.name")
