"""A new project: its configuration, one composition worth looking at, and what git must know.

Plan first, then act: `plan` refuses when a file is in the way, so nothing is half written. A
`.gitignore` or `.gitattributes` that is there already stays as it is.
"""

from __future__ import annotations

import os

from nfbuild.dataclasses import dataclass
from nfbuild.errors import Place, UsageError
from nfbuild.project.values import CONFIG_NAME, LOCAL_NAME

CONFIG = """\
# Every key is optional; docs/configuration.md of nfbuild lists them all.

[project]
compositions = ["compositions/**/*.nf.svg"]

[[export]]
composition = "*"
format = "png"
to = "out/{name}/{number:05d}.png"
"""

_IGNORED = f"""\
/cache/
/out/
/{LOCAL_NAME}
"""

# Entries are compared byte by byte: a checkout should not translate their line ends.
_ATTRIBUTES = "/ledger/** text eol=lf\n"

_COMPOSITION = "compositions/hello.nf.svg"


@dataclass(frozen=True)
class NewProject:
    """What `write` will do: texts by relative path, and files that are there and stay.

    `lacking` are lines that those files should have and do not, each with the file.
    """

    folder: str
    files: tuple[tuple[str, str], ...]
    lacking: tuple[tuple[str, str], ...] = ()


def plan(folder: str, shown: str | None = None) -> NewProject:
    """Return what a new project in `folder` consists of; `shown` is how messages call the folder.

    Raises `UsageError` where a file is in the way. The folder may exist and hold other things.
    """
    folder = os.path.abspath(folder)
    shown = shown or folder
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise _in_the_way(shown, "is not a folder")
    with open(os.path.join(os.path.dirname(__file__), "hello.nf.svg"), encoding="utf-8") as file:
        composition = file.read()
    files = [(CONFIG_NAME, CONFIG), (_COMPOSITION, composition)]
    for name, _ in files:
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            raise _in_the_way(os.path.join(shown, name), "is there already")
        parent = os.path.dirname(path)
        if os.path.lexists(parent) and not os.path.isdir(parent):
            raise _in_the_way(os.path.dirname(os.path.join(shown, name)), "is not a folder")
    lacking: list[tuple[str, str]] = []
    for name, text in ((".gitignore", _IGNORED), (".gitattributes", _ATTRIBUTES)):
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            lacking.extend((name, line) for line in _lacking(path, text))
        else:
            files.append((name, text))
    return NewProject(folder, tuple(files), tuple(lacking))


def write(project: NewProject) -> None:
    """Write the files of a plan; raises `UsageError`, also where one has appeared meanwhile."""
    for name, text in project.files:
        path = os.path.join(project.folder, *name.split("/"))
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # "x": a file that has appeared since the plan was made is never written over.
            with open(path, "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except FileExistsError:
            raise _in_the_way(path, "is there already") from None
        except OSError as fault:
            raise UsageError(
                f"cannot be written: {fault.strerror or 'unknown fault'}",
                place=Place(path),
                hint="choose a folder that you may write to",
                code="usage.init",
            ) from None


def init_project(folder: str) -> list[str]:
    """Write a new project into `folder`; returns the files, as the user would type them.

    Raises `UsageError` where a file is in the way; then nothing is written.
    """
    project = plan(folder, folder)
    write(project)
    return [os.path.join(folder, *name.split("/")) for name, _ in project.files]


def _lacking(path: str, text: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            present = {line.strip() for line in file}
    except OSError:
        return []
    return [line for line in text.splitlines() if line not in present]


def _in_the_way(shown: str, fact: str) -> UsageError:
    return UsageError(
        fact,
        place=Place(shown),
        hint="choose another folder; nothing has been written",
        code="usage.init",
    )
