"""Where the configured faces are: a project file, or a file inside an installed package.

A package is located, never imported: no code of it runs. System fonts are never used.
Not here: reading a face (`render`), and which text draws with which face (`scene`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from nfbuild.dataclasses import dataclass
from nfbuild.errors import Place, ProjectError
from nfbuild.project.suggest import did_you_mean
from nfbuild.project.values import Project

_PREFIX = "package:"


@dataclass(frozen=True)
class FaceFile:
    """One configured face: `label` as written in the configuration, `path` absolute."""

    label: str
    path: str
    place: Place


def face_files(project: Project) -> tuple[FaceFile, ...]:
    """Find the files of the configured faces, in load order.

    Raises `ProjectError` for a face that is not there or lies where the project may not read.
    """
    return tuple(
        FaceFile(label, _find(project, label, place), place) for label, place in project.faces
    )


def _find(project: Project, label: str, place: Place) -> str:
    if label.startswith(_PREFIX):
        return _in_package(label, place)
    path = os.path.normpath(os.path.join(project.root, label))
    if not project.allows(path):
        raise _error(
            f"the face `{label}` lies outside of the project",
            place,
            "copy it into the project, or name its folder in `outside` of `[project]`",
        )
    if not os.path.isfile(path):
        raise _error(f"the face `{label}` is not there", place, _near(path, label))
    return path


def _in_package(label: str, place: Place) -> str:
    name, _, inside = label[len(_PREFIX) :].partition("/")
    if not name.isidentifier() or not inside or ".." in inside.split("/") or "\\" in inside:
        raise _error(
            f"`{label}` does not name a file in a package",
            place,
            "write `package:NAME/PATH`, with the name as it is imported",
        )
    folders = list(_package_folders(name))
    if not folders:
        raise _error(
            f"the face `{label}` needs the package `{name}`, which is not installed",
            place,
            f"install what provides `{name}` into the environment that runs nfbuild",
        )
    for folder in folders:
        path = os.path.join(folder, *inside.split("/"))
        if os.path.isfile(path):
            return path
    raise _error(
        f"the package `{name}` has no file `{inside}`",
        place,
        _near(os.path.join(folders[0], *inside.split("/")), label),
    )


def _package_folders(name: str) -> Iterator[str]:
    # What `importlib.util.find_spec` does for a top-level name, without its import's cost.
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = None if find is None else find(name, None)
        if spec is not None:
            yield from spec.submodule_search_locations or ()
            return


def _near(path: str, label: str) -> str | None:
    """Suggest the file of the same folder that was probably meant."""
    folder, wanted = os.path.split(path)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return None
    hint = did_you_mean(wanted, names)
    if hint is None:
        return None
    return hint.replace("`", f"`{label[: len(label) - len(wanted)]}", 1)


def _error(message: str, place: Place, hint: str | None) -> ProjectError:
    return ProjectError(message, place=place, hint=hint, code="project.face")
