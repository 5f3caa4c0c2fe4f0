"""The book: all entries of a project's ledger, as files below one folder.

An entry stands at the composition's path without its suffix, with `.json`. Files are written
beside their place and renamed into it, and only when their bytes move. Nothing but entries is
ever removed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence

from nfbuild.dataclasses import dataclass
from nfbuild.digests import by_utf8
from nfbuild.errors import Place, ProjectError
from nfbuild.ledger.canonical import is_canonical, is_written, pieces, read, read_heads
from nfbuild.ledger.entry import Entry, LaneHead, Present

_SUFFIX = ".json"
_counter = itertools.count()


@dataclass(frozen=True)
class Page:
    """One entry as it stands on disk; `canonical` is false where its bytes are not our writing."""

    stem: str
    entry: Entry
    canonical: bool


@dataclass(frozen=True)
class Shelf:
    """What is in the folder against what the project has, as stems sorted by UTF-8.

    `present` have both, `missing` no entry, `orphaned` no composition. `foreign` are files that
    are no entries by their name: temporary files, notes, links to folders.
    """

    present: tuple[str, ...]
    missing: tuple[str, ...]
    orphaned: tuple[str, ...]
    foreign: tuple[str, ...]


@dataclass(frozen=True)
class Rename:
    """An orphaned entry and the composition without one that is the same film."""

    before: str
    after: str


class Book:
    """The ledger at the absolute path `folder`; `shown` is how messages call it.

    A *stem* is a composition's project-relative path without suffix.
    """

    def __init__(self, folder: str, shown: str = "ledger") -> None:
        self.folder = folder
        self.shown = shown

    def path(self, stem: str) -> str:
        """Return the absolute path of an entry."""
        return os.path.join(self.folder, *stem.split("/")) + _SUFFIX

    def place(self, stem: str) -> Place:
        """Return how messages name an entry."""
        return Place(f"{self.shown}/{stem}{_SUFFIX}")

    def read(self, stem: str, name: str | None = None) -> Page | None:
        """Return the entry, or None where there is none.

        `name` is what hints tell to build again. Raises `ProjectError` where it cannot be used.
        """
        data = self.read_bytes(stem)
        if data is None:
            return None
        entry = read(data, str(self.place(stem)), name or stem)
        return Page(stem, entry, is_canonical(data, entry))

    def heads(self, stem: str, name: str | None = None) -> list[LaneHead]:
        """Return the lanes of an entry without their frames, which a long film has many of.

        There are none without an entry. Raises `ProjectError` where it cannot be used.
        """
        with contextlib.suppress(ProjectError, OSError), open(self.path(stem), "rb") as file:
            return read_heads(file, str(self.place(stem)), name or stem)
        page = self.read(stem, name)
        return [] if page is None else [lane.head for lane in page.entry.lanes.values()]

    def read_bytes(self, stem: str) -> bytes | None:
        """Return the entry's bytes, or None where there is none; raises `ProjectError`."""
        try:
            with open(self.path(stem), "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as fault:
            raise self._fault("cannot be read", stem, fault) from None

    def write(self, stem: str, entry: Entry) -> bool:
        """Write an entry; returns whether its bytes moved. Raises `ProjectError`."""
        path = self.path(stem)
        with contextlib.suppress(OSError), open(path, "rb") as standing:
            if is_written(standing, entry):
                return False
        beside = f"{path}.{os.getpid()}-{next(_counter)}.tmp"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            try:
                with open(beside, "wb") as file:
                    file.writelines(pieces(entry))
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(beside, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(beside)
                raise
        except OSError as fault:
            raise self._fault("cannot be written", stem, fault) from None
        return True

    def remove(self, stem: str) -> None:
        """Remove an entry and the folders that it leaves empty."""
        path = self.path(stem)
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as fault:
            raise self._fault("cannot be removed", stem, fault) from None
        folder = os.path.dirname(path)
        while folder != self.folder:
            try:
                os.rmdir(folder)
            except OSError:  # not empty: someone else's
                return
            folder = os.path.dirname(folder)

    def stems(self) -> tuple[list[str], list[str]]:
        """Return the stems of all entries, and the paths of all other files, sorted."""
        entries: list[str] = []
        foreign: list[str] = []
        for folder, names, files in os.walk(self.folder):
            # A folder reached through a link may be anywhere: it is not walked.
            links = [name for name in names if os.path.islink(os.path.join(folder, name))]
            below = os.path.relpath(folder, self.folder).replace(os.sep, "/")
            for name in [*files, *links]:
                path = name if below == "." else f"{below}/{name}"
                known = name.endswith(_SUFFIX) and name != _SUFFIX and not name.startswith(".")
                if known and name not in links:
                    entries.append(path[: -len(_SUFFIX)])
                else:
                    foreign.append(path)
        return by_utf8(entries), by_utf8(foreign)

    def shelf(self, stems: Iterable[str]) -> Shelf:
        """Compare the folder with the stems of the project's compositions."""
        wanted = set(stems)
        entries, foreign = self.stems()
        found = set(entries)
        return Shelf(
            present=tuple(stem for stem in entries if stem in wanted),
            missing=tuple(by_utf8(wanted - found)),
            orphaned=tuple(stem for stem in entries if stem not in wanted),
            foreign=tuple(foreign),
        )

    def prune(self, plan: Sequence[str]) -> None:
        """Remove the entries of `plan`, which `prunable` made."""
        for stem in plan:
            self.remove(stem)

    def prunable(self, orphaned: Iterable[str]) -> tuple[str, ...]:
        """Return those of the orphaned that are entries by their content; others stay."""
        found: list[str] = []
        for stem in orphaned:
            try:
                page = self.read(stem)
            except ProjectError:
                continue
            if page is not None:
                found.append(stem)
        return tuple(found)

    def _fault(self, what: str, stem: str, fault: OSError) -> ProjectError:
        return ProjectError(
            f"{what}: {fault.strerror or 'unknown fault'}",
            place=self.place(stem),
            hint="look at its permissions, and at those of its folder",
            code="ledger.file",
        )


def renames(orphaned: Mapping[str, Entry], missing: Mapping[str, Present]) -> tuple[Rename, ...]:
    """Pair orphaned entries with compositions without entry that are the same film.

    The same film: equal source identity, and a sequence digest that one whole lane recorded.
    Each entry and each composition is paired once, in the order of their names, so copies of
    one film are paired the same way on every machine.
    """
    left = by_utf8(orphaned)
    pairs: list[Rename] = []
    for after in by_utf8(missing):
        present = missing[after]
        for before in left:
            entry = orphaned[before]
            drawn = {lane.digest for lane in entry.lanes.values() if not lane.sampled}
            if entry.source.digest == present.identity.source.digest and present.digest in drawn:
                pairs.append(Rename(before, after))
                left.remove(before)
                break
    return tuple(pairs)
