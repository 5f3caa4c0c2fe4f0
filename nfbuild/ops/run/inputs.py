"""The project's files, each read once: the bytes hashed are the bytes drawn.

A file is vouched for by what `stat` said at the moment it was opened. Reading it again later in
the same run (memory is bounded, so big files are let go) must give the same digest: a file that
changes under a running build is an error, never a mixture of two versions.

Not here: what a file means (`scene`), how pictures are staged (`answers`).
"""

from __future__ import annotations

import os
import stat as stat_modes
from collections import OrderedDict
from collections.abc import Sequence

from nfbuild.digests import InputDigest, file_digest
from nfbuild.errors import MediaError, Place
from nfbuild.ops.run.state import Stat, Witness
from nfbuild.scene.protocols import SourceFile

_KEPT_BYTES = 48 << 20


class ProjectFiles:
    """Reads files for a project rooted at `root`; `outside` lists further folders it may read."""

    def __init__(self, root: str, outside: Sequence[str] = ()) -> None:
        self.root = os.path.abspath(root)
        self._allowed = [
            os.path.realpath(self.root),
            *(os.path.realpath(os.path.join(self.root, folder)) for folder in outside),
        ]
        self._witnesses: dict[str, Witness] = {}
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._kept_bytes = 0

    def absolute(self, path: str) -> str:
        """Return the file-system path of a project path."""
        return os.path.normpath(os.path.join(self.root, *path.split("/")))

    def witness(self, absolute: str) -> Witness:
        """Return what vouches for a file that was read."""
        return self._witnesses[absolute]

    def data(self, absolute: str) -> bytes:
        """Return the bytes of a file that was read before, the same or an error."""
        shown = self._shown(absolute)
        return self._data(absolute, shown, Place(shown), None)

    def read(self, path: str, *, place: Place, missing_hint: str | None = None) -> SourceFile:
        """Return the file at a project path (forward slashes, `..` allowed).

        Raises `MediaError`: `media.missing`, `media.directory`, `media.outside`,
        `media.unreadable` or `media.changed`.
        """
        absolute = self.absolute(path)
        if "\0" in absolute:
            raise MediaError("a path holds a zero byte", place=place, code="media.unreadable")
        self._check_inside(absolute, path, place)
        data = self._data(absolute, path, place, missing_hint)
        return SourceFile(self._shown(absolute), data, InputDigest(self.witness(absolute).digest))

    def _shown(self, absolute: str) -> str:
        # Identity and messages name files relative to the project, the same in every checkout.
        return os.path.relpath(absolute, self.root).replace(os.sep, "/")

    def _check_inside(self, absolute: str, path: str, place: Place) -> None:
        real = os.path.realpath(absolute)
        for folder in self._allowed:
            if real == folder or real.startswith(folder.rstrip(os.sep) + os.sep):
                return
        raise MediaError(
            f"`{path}` lies outside the project",
            place=place,
            code="media.outside",
            hint="copy it into the project, or list its folder in `[project] outside`",
        )

    def _data(self, absolute: str, path: str, place: Place, missing_hint: str | None) -> bytes:
        kept = self._kept.get(absolute)
        if kept is not None:
            self._kept.move_to_end(absolute)
            return kept
        data, found = _read(absolute, path, place, missing_hint)
        digest = file_digest(data)
        known = self._witnesses.get(absolute)
        if known is None:
            self._witnesses[absolute] = Witness(found, digest)
        elif known.digest != digest:
            raise MediaError(
                f"`{path}` changed while it was being built",
                place=place,
                code="media.changed",
                hint="build again",
            )
        self._keep(absolute, data)
        return data

    def _keep(self, absolute: str, data: bytes) -> None:
        self._kept[absolute] = data
        self._kept_bytes += len(data)
        while self._kept_bytes > _KEPT_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped)


def _read(absolute: str, path: str, place: Place, missing_hint: str | None) -> tuple[bytes, Stat]:
    try:
        # Not blocking: a named pipe in place of a file must not hang the build.
        descriptor = os.open(
            absolute, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except (FileNotFoundError, NotADirectoryError):
        hint = missing_hint or "the path is relative to the file that refers to it"
        raise MediaError(
            f"`{path}` does not exist", place=place, hint=hint, code="media.missing"
        ) from None
    except IsADirectoryError:
        raise _directory(path, place) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MediaError(
            f"`{path}` cannot be read: {reason}", place=place, code="media.unreadable"
        ) from None
    found = os.fstat(descriptor)
    if not stat_modes.S_ISREG(found.st_mode):
        os.close(descriptor)
        if stat_modes.S_ISDIR(found.st_mode):
            raise _directory(path, place)
        raise MediaError(f"`{path}` is not an ordinary file", place=place, code="media.unreadable")
    with open(descriptor, "rb") as file:
        try:
            data = file.read()
        except OSError as error:
            raise MediaError(
                f"`{path}` cannot be read: {error.strerror}", place=place, code="media.unreadable"
            ) from None
    return data, [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _directory(path: str, place: Place) -> MediaError:
    return MediaError(f"`{path}` is a directory", place=place, code="media.directory")


class CompositionFiles:
    """The files of one composition: answers the scene, and remembers what was used."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self.used: dict[str, None] = {}

    def read(self, reference: str, *, base: str, place: Place) -> SourceFile:
        """Return the file that `reference` names, relative to the folder of `base`."""
        folder = base.rpartition("/")[0]
        path = f"{folder}/{reference}" if folder else reference
        file = self._files.read(path, place=place)
        self.used[self._files.absolute(path)] = None
        return file

    def source(self, path: str) -> SourceFile:
        """Return the composition's own file."""
        file = self._files.read(path, place=Place(path))
        self.used[self._files.absolute(path)] = None
        return file
