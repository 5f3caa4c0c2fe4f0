"""Which files are compositions: the project's patterns against its folders.

The result does not depend on the order in which a file system lists names. It also says what was
looked at, so that a later run can tell by a few `stat` calls that it would find the same.

In a pattern `**` is any number of folders, and `*`, `?`, `[...]` stay within one name; names that
begin with a point are only found when the pattern's segment begins with one. Links are followed,
never in a circle; whether what they lead to may be read is judged when it is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from nfbuild.dataclasses import dataclass
from nfbuild.digests import by_utf8
from nfbuild.errors import Place, ProjectError
from nfbuild.project.glob import is_pattern, matches_text
from nfbuild.project.values import Project

SUFFIX = ".nf.svg"


@dataclass(frozen=True)
class Listed:
    """One composition file: its name and its project-relative path with forward slashes."""

    name: str
    path: str

    @property
    def stem(self) -> str:
        """The path without its suffix: where its ledger entry stands below the ledger."""
        return without_suffix(self.path)


@dataclass(frozen=True)
class Clash:
    """Two compositions whose paths differ only in case: other systems have room for one of them."""

    first: str
    second: str


@dataclass(frozen=True)
class Discovery:
    """What was found, sorted by name as UTF-8, and what was looked at.

    `folders` are absolute paths whose listings decided the result, `absent` absolute paths that
    were looked for and are not there; both sorted.
    """

    compositions: tuple[Listed, ...]
    folders: tuple[str, ...]
    absent: tuple[str, ...]
    clashes: tuple[Clash, ...] = ()


def without_suffix(path: str) -> str:
    """Return a path without `.nf.svg`, or without the last suffix of its file name."""
    if path.lower().endswith(SUFFIX):
        return path[: -len(SUFFIX)]
    folder, slash, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return folder + slash + (stem if dot and stem else name)


def fixed_part(pattern: str) -> str:
    """Return the leading folders of a pattern that stand for themselves, empty for none."""
    fixed: list[str] = []
    for segment in pattern.split("/")[:-1]:
        if is_pattern(segment):
            break
        fixed.append(segment)
    return "/".join(fixed)


def name_of(project: Project, stem: str) -> str:
    """Return the name of a composition by its path without suffix, whether or not it exists.

    The path below the fixed part of the first pattern with a fixed part around it. For a ledger
    entry without composition, which is named as its composition was.
    """
    for pattern, _ in project.patterns:
        fixed = fixed_part(pattern)
        if fixed and stem.startswith(fixed + "/"):
            return stem[len(fixed) + 1 :]
    return stem


def discover(project: Project) -> Discovery:
    """Find the compositions of a project.

    Raises `ProjectError` when two files have one name, or a folder cannot be listed.
    """
    walk = _Walk(project)
    found: dict[str, Listed] = {}
    for pattern, place in project.patterns:
        fixed = fixed_part(pattern)
        for path in walk.matching(pattern):
            name = without_suffix(path[len(fixed) + 1 :] if fixed else path)
            known = found.get(name)
            if known is not None and known.path != path:
                if _one_file(project, known.path, path):
                    continue
                first, second = by_utf8([known.path, path])
                raise ProjectError(
                    f"`{first}` and `{second}` would both be the composition `{name}`",
                    place=place,
                    hint="rename one of them",
                    code="project.names",
                )
            found[name] = Listed(name, path)
    listed = tuple(found[name] for name in by_utf8(found))
    return Discovery(
        listed, tuple(sorted(walk.folders)), tuple(sorted(walk.absent)), tuple(_clashes(listed))
    )


def _one_file(project: Project, first: str, second: str) -> bool:
    """Tell whether two spellings are one file of a file system that ignores case."""
    if first.casefold() != second.casefold():
        return False
    try:
        return os.path.samefile(project.path(first), project.path(second))
    except OSError:
        return False


def _clashes(listed: tuple[Listed, ...]) -> Iterator[Clash]:
    seen: dict[str, Listed] = {}
    for one in listed:
        earlier = seen.setdefault(one.stem.casefold(), one)
        if earlier is not one:
            yield Clash(earlier.path, one.path)


class _Walk:
    """Looks into folders, each once, and remembers which."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._skipped = {os.path.realpath(project.cache.folder), project.ledger_folder}
        self._listings: dict[str, list[tuple[str, bool]]] = {}
        self.folders: set[str] = set()
        self.absent: set[str] = set()

    def matching(self, pattern: str) -> Iterator[str]:
        """Yield the project-relative paths that `pattern` finds, some maybe twice."""
        yield from self._below("", pattern.split("/"), ())

    def _below(self, folder: str, segments: list[str], above: tuple[str, ...]) -> Iterator[str]:
        head, *rest = segments
        if head == "**":
            # `**` may be no folder at all, or one folder and itself again.
            yield from self._below(folder, rest or ["*"], above)
            for name, is_folder in self._list(folder):
                path = _join(folder, name)
                real = self._real(path) if is_folder and not name.startswith(".") else None
                if real is not None and real not in above and real not in self._skipped:
                    yield from self._below(path, segments, (*above, real))
        elif not is_pattern(head) and rest:
            yield from self._into(_join(folder, head), rest, above)
        elif not is_pattern(head):
            yield from self._exactly(_join(folder, head))
        else:
            for name, is_folder in self._list(folder):
                if name.startswith(".") != head.startswith(".") or not matches_text(head, name):
                    continue
                path = _join(folder, name)
                if rest and is_folder:
                    yield from self._into(path, rest, above)
                elif not rest and (not is_folder or "." in head.lstrip("*")):
                    # A folder called `x.nf.svg` is someone's mistake: found here, so that
                    # reading it says so.
                    yield path

    def _into(self, path: str, rest: list[str], above: tuple[str, ...]) -> Iterator[str]:
        if os.path.isdir(self._project.path(path)):
            yield from self._below(path, rest, (*above, self._real(path)))
        else:
            self.absent.add(self._project.path(path))

    def _exactly(self, path: str) -> Iterator[str]:
        if os.path.lexists(self._project.path(path)):
            yield path
        else:
            self.absent.add(self._project.path(path))

    def _real(self, path: str) -> str:
        return os.path.realpath(self._project.path(path))

    def _list(self, folder: str) -> list[tuple[str, bool]]:
        """Return the names in a project-relative folder, sorted, and whether each is a folder."""
        if folder not in self._listings:
            path = self._project.path(folder) if folder else self._project.root
            self.folders.add(path)
            try:
                with os.scandir(path) as entries:
                    found = [(entry.name, _is_folder(entry)) for entry in entries]
            except OSError as fault:
                raise ProjectError(
                    f"cannot list the folder: {fault.strerror or 'unknown fault'}",
                    place=Place(folder or "."),
                    hint="make it readable, or leave it out of `compositions` in nfbuild.toml",
                    code="project.folder",
                ) from None
            found.sort(key=lambda one: one[0].encode("utf-8", "surrogatepass"))
            self._listings[folder] = found
        return self._listings[folder]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle, or through a folder that may not be entered
        return False


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
