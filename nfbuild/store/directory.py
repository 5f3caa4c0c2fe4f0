"""A directory that several people, machines and projects share: plain files, no database, no locks.

    <directory>/
      nfbuild-store.toml           `format = 1` and `shared = "group"` or `"all"`
      blobs/ab/<digest>.png        `blobs`
      records/<kind>/ab/<key>.rec  `recordfiles`
      quarantine/                  what was found damaged

An empty directory becomes a store when somebody who may write first opens it. Modes follow the
settings and not the umask of who happens to write: 2775/0664 for `group`, 2777/0666 for `all`,
blobs 0444 in both. Which group it is, the directory says: give it to the group before.

A read-only mount works: nothing is written, not even times. Counting is the matter of `breaker`.
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from nfbuild.digests import BlobDigest, blob_digest
from nfbuild.errors import Missing, StoreError, Unavailable
from nfbuild.store import blobs
from nfbuild.store.base import BLOB_LIMIT, BlobInfo, Kind, check_kind, check_name, sound_names
from nfbuild.store.files import SHARED, Modes, make_directory, read_file, write_file
from nfbuild.store.recordfiles import RecordFiles

SETTINGS: Final = "nfbuild-store.toml"
VERSION: Final = 1
_TEXT = """\
# The settings of a store that is shared. `shared` is "group" or "all": who may write here.
format = {version}
shared = "{shared}"
"""


def open_directory(root: str, *, read_only: bool, shared: str = "group") -> DirectoryStore:
    """Return the store in the directory `root`.

    Unless `read_only`, a directory that is empty or not there yet (its parent must be) becomes a
    store with the setting `shared`. Raises `Unavailable`, whose message says what is wrong.
    """
    root = os.path.abspath(root)
    settings = _read_settings(root)
    if settings is None:
        _require_virgin(root, read_only=read_only)
        _make_store(root, shared)
        settings = _read_settings(root)
    if settings is None:
        raise Unavailable(f"{root}: its settings cannot be read", code="settings")
    return DirectoryStore(root, SHARED[settings], read_only=read_only)


def _read_settings(root: str) -> str | None:
    path = f"{root}/{SETTINGS}"
    try:
        text = read_file(path, 10_000).decode("utf-8")
        settings = tomllib.loads(text)
    except Missing:
        return None
    except (StoreError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Unavailable(f"{path}: it cannot be read", code="settings") from error
    if settings.get("format") != VERSION:
        raise Unavailable(
            f"{path}: format `{settings.get('format')!r}` is not known here, `{VERSION}` is",
            code="format",
        )
    shared = settings.get("shared")
    if not isinstance(shared, str) or shared not in SHARED:
        raise Unavailable(
            f'{path}: `shared` is `{shared!r}`, neither `"group"` nor `"all"`', code="settings"
        )
    return shared


def _require_virgin(root: str, *, read_only: bool) -> None:
    try:
        names = [name for name in os.listdir(root) if not name.startswith((".", "lost+found"))]
    except FileNotFoundError:
        names = []
        if not os.path.isdir(os.path.dirname(root)):
            raise Unavailable(f"{root}: no such directory", code="missing-directory") from None
        if read_only:
            raise Unavailable(f"{root}: no such directory", code="missing-directory") from None
    except OSError as error:
        raise Unavailable(f"{root}: {error.strerror}", code="unreadable") from error
    if names == [SETTINGS]:
        return  # somebody else has just made it
    if names or read_only:
        raise Unavailable(
            f"{root}: no store, as it has no `{SETTINGS}`; an empty directory becomes one",
            code="no-store",
        )


def _make_store(root: str, shared: str) -> None:
    modes = SHARED[shared]
    text = _TEXT.format(version=VERSION, shared=shared).encode("utf-8")
    try:
        make_directory(root, modes)
        assert modes.directory is not None
        # Another owner's directory has the modes that its owner gave it.
        with contextlib.suppress(PermissionError):
            os.chmod(root, modes.directory)
        write_file(f"{root}/{SETTINGS}", text, modes, mode=modes.file, bits=0o666)
    except OSError as error:
        raise Unavailable(f"{root}: {error.strerror}", code="unwritable") from error


class DirectoryStore:
    """Blobs and records as plain files with the modes of a shared directory."""

    def __init__(self, root: str, modes: Modes, *, read_only: bool) -> None:
        self.name = root
        self.root = root
        self.modes = modes
        self.read_only = read_only
        self.files = RecordFiles(root, modes, keep=read_only)

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`; what is damaged goes to quarantine where we may write."""
        return blobs.read_blob(self.root, digest, self.modes, keep=self.read_only)

    def has_blob(self, digest: BlobDigest) -> bool:
        """See `Store`."""
        return blobs.has_blob(self.root, digest)

    def put_blob(self, data: bytes, *, replace: bool = False) -> BlobDigest:
        """See `WritableStore`."""
        self._require_writable()
        if len(data) > BLOB_LIMIT:
            raise Unavailable(f"{self.name}: a blob of {len(data)} bytes", code="too-large")
        digest = blob_digest(data)
        blobs.write_blob(self.root, digest, data, self.modes, replace=replace)
        return digest

    def drop_blob(self, digest: BlobDigest) -> bool:
        """See `PrunableStore`."""
        self._require_writable()
        return blobs.drop_blob(self.root, digest)

    def blobs(self) -> Iterator[BlobInfo]:
        """See `PrunableStore`."""
        return blobs.list_blobs(self.root)

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`."""
        check_kind(kind)
        check_name(key)
        found, wrong = self.files.get(kind, [key])
        if key in found:
            return found[key]
        raise wrong.get(key, Missing(f"{self.name}: no {kind} record `{key[:16]}`"))

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Store`."""
        return self.look(kind, keys)[0]

    def look(
        self, kind: Kind, keys: Iterable[str]
    ) -> tuple[dict[str, bytes], dict[str, StoreError]]:
        """See `TierStore`."""
        check_kind(kind)
        return self.files.get(kind, sound_names(keys))

    def put_record(self, kind: Kind, key: str, payload: bytes, *, replace: bool = False) -> None:
        """See `WritableStore`."""
        self.put_records(kind, {key: payload}, replace=replace)

    def put_records(self, kind: Kind, items: Mapping[str, bytes], *, replace: bool = False) -> None:
        """See `WritableStore`."""
        self._require_writable()
        self.files.put(kind, items, replace=replace)

    def records(self) -> Iterator[tuple[Kind, str]]:
        """See `PrunableStore`."""
        for _, kind, key in self.files.rows():
            yield kind, key

    def drop_record(self, kind: Kind, key: str) -> bool:
        """See `PrunableStore`."""
        check_kind(kind)
        check_name(key)
        self._require_writable()
        return self.files.drop(kind, [key]) > 0

    def close(self) -> None:
        """Nothing is held open between two calls."""

    def _require_writable(self) -> None:
        if self.read_only:
            raise Unavailable(f"{self.name}: it is opened for reading only", code="read-only")
