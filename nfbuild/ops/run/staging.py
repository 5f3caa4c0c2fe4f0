"""The folder that workers stand in: pictures and embedded faces, named by their content."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from functools import cached_property

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import UsageError


@dataclass
class Staging:
    """A folder of pictures and embedded faces, each under the digest of its content.

    It is what a worker stands in: a document can name nothing else. `make` makes it when
    something is staged for the first time.
    """

    make: Callable[[], str]
    _sources: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    _there: set[str] = field(default_factory=set)

    @cached_property
    def folder(self) -> str:
        """The folder's absolute path."""
        return self.make()

    def offer(self, name: str, content: Callable[[], bytes]) -> None:
        """Say where a staged file's bytes come from; it is written when it is first needed."""
        self._sources.setdefault(name, content)

    def need(self, names: Iterable[str]) -> None:
        """Make sure that the named files stand in the folder."""
        for name in names:
            if name not in self._there:
                path = os.path.join(self.folder, name)
                if not os.path.exists(path):
                    self._write(path, self._sources[name]())
                self._there.add(name)

    def _write(self, path: str, data: bytes) -> None:
        try:
            _write_beside(path, data)
        except OSError as error:
            raise UsageError(
                f"`{self.folder}` cannot be written: {error.strerror}",
                hint="workers stand in a folder of the cache or of `TMPDIR`: make room there",
                code="no-room",
            ) from None


def _write_beside(path: str, data: bytes) -> None:
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
