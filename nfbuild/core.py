"""The pixel core: which modules decide pixels, and running exactly the bytes that are hashed.

The core is whatever baking and drawing load of this package. Its modules are hashed into every
toolchain (`identity.toolchain`), so the code that runs must be the code that was hashed. Python's
own bytecode files are vouched for by a source's size and second: an edit within one second that
keeps the size would run old code under a new name. `install` therefore reads the core's sources
once, runs those very bytes, and keeps their bytecode under a name that holds their digest.

This module imports nothing of the package: it must come before everything that it speaks of.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from blake3 import blake3

if TYPE_CHECKING:
    from typing_extensions import Buffer

CORE_ROOMS = ("pixels", "render", "scene")
CORE_MODULES = ("dataclasses.py", "digests.py", "errors.py")

# Modules and folders of the core's rooms that neither bake nor draw: findings of `check`, and
# what reads finished frames. Editing them re-renders nothing.
OUTSIDE_THE_CORE = ("pixels/compare.py", "scene/lint")

_PACKAGE = "nfbuild"
_DIGITS = 16
_MARK = ".core-"


def package_folder() -> str:
    """Return the folder of the running package."""
    return os.path.dirname(os.path.abspath(__file__))


def core_files(package: str | None = None) -> list[str]:
    """Return the pixel core's modules: paths below the package, with slashes, sorted."""
    root = package or package_folder()
    names = list(CORE_MODULES)
    for room in CORE_ROOMS:
        names.extend(_modules(root, room))
    return sorted(names, key=lambda name: name.encode("utf-8"))


def _modules(root: str, folder: str) -> Iterator[str]:
    with os.scandir(os.path.join(root, folder)) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        name = f"{folder}/{entry.name}"
        if name in OUTSIDE_THE_CORE:
            continue
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _modules(root, name)
        elif entry.name.endswith(".py"):
            yield name


class CodeMovedError(Exception):
    """The core's sources are not those that the process which started this one runs."""


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs source bytes that were read before; its bytecode has their digest in its name."""

    def __init__(self, name: str, path: str, source: bytes, stamp: str, folder: str | None) -> None:
        super().__init__(name, path)
        self._source = source
        self._stamp = stamp
        self._folder = folder

    def get_data(self, path: str) -> bytes:
        """Return the source as it was hashed, or the bytecode of just this source."""
        if path == self.path:
            return self._source
        return super().get_data(self._renamed(path))

    def set_data(self, path: str, data: Buffer, *, _mode: int = 0o666) -> None:
        """Keep bytecode, and let that of other versions go."""
        target = self._renamed(path)
        super().set_data(target, data, _mode=_mode)
        head = target.rpartition(_MARK)[0] + _MARK
        folder = os.path.dirname(target)
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(folder)):
                other = os.path.join(folder, name)
                if other.startswith(head) and other != target and other.endswith(".pyc"):
                    os.unlink(other)

    def _renamed(self, path: str) -> str:
        stem = path.removesuffix(".pyc")
        if self._folder is not None:
            stem = os.path.join(self._folder, f"{self.name}.{sys.implementation.cache_tag}")
        return f"{stem}{_MARK}{self._stamp}.pyc"


class _Finder:
    """Finds the core's modules, and nothing else."""

    def __init__(self, sources: dict[str, tuple[str, bytes]], stamp: str) -> None:
        self.stamp = stamp
        self._sources = sources
        self._folder = bytecode_folder()

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how a module of the core is loaded; None for every other module."""
        found = self._sources.get(name)
        if found is None:
            return None
        path, source = found
        loader = _Loader(name, path, source, self.stamp, self._folder)
        inside = [os.path.dirname(path)] if path.endswith("__init__.py") else None
        return importlib.util.spec_from_file_location(
            name, path, loader=loader, submodule_search_locations=inside
        )


def bytecode_folder() -> str | None:
    """Return where bytecode goes when the package's own folder cannot be written, else None."""
    if sys.platform == "win32" or os.access(package_folder(), os.W_OK):
        return None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "nfbuild", "bytecode")


def install(expected: str | None = None) -> str:
    """From now on run the core as it stands on disk now; returns the stamp of its sources.

    With `expected` (a worker has its parent's stamp) other sources raise `CodeMovedError`. Modules
    of the package that were loaded before are loaded anew when they are next imported.
    """
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            return finder.stamp
    root = package_folder()
    sources: dict[str, tuple[str, bytes]] = {}
    hasher = blake3()
    for name in core_files(root):
        path = os.path.join(root, *name.split("/"))
        with open(path, "rb") as file:
            source = file.read()
        # Framed by lengths: no two sets of sources are one stream.
        hasher.update(b"%d %d %s" % (len(name), len(source), name.encode("utf-8")))
        hasher.update(source)
        sources[_module_name(name)] = (path, source)
    stamp = hasher.hexdigest(length=_DIGITS // 2)
    if expected is not None and expected != stamp:
        raise CodeMovedError("the program's own code changed while it ran: run it again")
    for loaded in list(sys.modules):
        if loaded.startswith(f"{_PACKAGE}.") and loaded not in (__name__, f"{_PACKAGE}.cli.entry"):
            del sys.modules[loaded]
    sys.meta_path.insert(0, _Finder(sources, stamp))
    return stamp


def installed() -> str | None:
    """Return the stamp of the core that runs, or None where Python loaded it by itself."""
    return next((finder.stamp for finder in sys.meta_path if isinstance(finder, _Finder)), None)


def _module_name(name: str) -> str:
    dotted = name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return f"{_PACKAGE}.{dotted}"
