"""Records as plain files: `records/<kind>/ab/<key>.rec`, one record a file.

For shared directories, where a database has no business, and for a local cache on a network file
system. What a shared tier told a local cache is kept apart, under `told/`.

Slower than `table` (about 30 µs a record) and just as disposable.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from nfbuild.errors import Corrupt, Missing, StoreError
from nfbuild.store.base import KINDS, RECORD_LIMIT, Kind, decode_record, encode_record, is_name
from nfbuild.store.blobs import list_entries, list_shards, quarantine
from nfbuild.store.files import PRIVATE, Modes, read_file, unavailable, write_file

OWN: Final = "records"
TOLD: Final = "told"
SUFFIX: Final = ".rec"
_BITS = 0o666


class RecordFiles:
    """The records below one folder, with the methods of `table.Table`.

    With `keep` nothing is changed by reading, neither times nor damaged files.
    """

    def __init__(self, root: str, modes: Modes = PRIVATE, *, keep: bool = False) -> None:
        self.root = root
        self._modes = modes
        self._keep = keep

    def path(self, kind: Kind, key: str, *, own: bool = True) -> str:
        """Return where a record lies; `key` has been checked."""
        return f"{self.root}/{OWN if own else TOLD}/{kind}/{key[:2]}/{key}{SUFFIX}"

    def get(
        self, kind: Kind, keys: Iterable[str], *, own: bool = True
    ) -> tuple[dict[str, bytes], dict[str, StoreError]]:
        """Return payloads by key, and the error of each record that is there and wrong.

        Wrong records are moved to quarantine. Raises `Unavailable`.
        """
        found: dict[str, bytes] = {}
        wrong: dict[str, StoreError] = {}
        for key in keys:
            path = self.path(kind, key, own=own)
            try:
                data = read_file(path, RECORD_LIMIT, touch=not self._keep)
                found[key] = decode_record(kind, key, data, path)
            except Corrupt as error:
                wrong[key] = error
                if not self._keep:
                    quarantine(self.root, path, f"{kind}-{key}", error.code, self._modes)
            except Missing as error:
                if error.code != Missing.default_code:
                    wrong[key] = error
        return found, wrong

    def put(
        self, kind: Kind, items: Mapping[str, bytes], *, own: bool = True, replace: bool = False
    ) -> None:
        """Keep payloads, one file each; a right record that stands stays unless `replace`."""
        for key, payload in items.items():
            data = encode_record(kind, key, payload)
            path = self.path(kind, key, own=own)
            if not self._stands(kind, key, path, data, replace=replace):
                self._write(path, data, f"{kind}-{key}")

    def _stands(self, kind: Kind, key: str, path: str, data: bytes, *, replace: bool) -> bool:
        try:
            standing = read_file(path, RECORD_LIMIT, touch=True)
            if replace:
                return standing == data
            decode_record(kind, key, standing, path)
        except (Missing, Corrupt):
            return False
        return True

    def _write(self, path: str, data: bytes, name: str) -> None:
        modes = self._modes
        try:
            try:
                write_file(path, data, modes, mode=modes.file, bits=_BITS)
            except (IsADirectoryError, NotADirectoryError, FileExistsError):
                shard = os.path.dirname(path)
                for place in (
                    os.path.dirname(os.path.dirname(shard)),
                    os.path.dirname(shard),
                    shard,
                ):
                    if os.path.lexists(place) and not os.path.isdir(place):
                        quarantine(self.root, place, name, "file", modes)
                if os.path.isdir(path) and not os.path.islink(path):
                    quarantine(self.root, path, name, "directory", modes)
                write_file(path, data, modes, mode=modes.file, bits=_BITS)
        except OSError as error:
            raise unavailable(error, self.root) from error

    def drop(self, kind: Kind, keys: Iterable[str], *, own: bool = True) -> int:
        """Remove records and return how many there were; raises `Unavailable`."""
        dropped = 0
        for key in keys:
            try:
                os.unlink(self.path(kind, key, own=own))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise unavailable(error, self.root) from error
            dropped += 1
        return dropped

    def rows(self) -> Iterator[tuple[bool, Kind, str]]:
        """Yield space, kind and key of every record."""
        for own, kind, key, _, _ in self.entries():
            yield own, kind, key

    def entries(self) -> Iterator[tuple[bool, Kind, str, int, float]]:
        """Yield space, kind, key, size and last use of every record; other names are not ours."""
        for own, folder in ((True, OWN), (False, TOLD)):
            for kind in KINDS:
                for shard in list_shards(f"{self.root}/{folder}/{kind}"):
                    for name, status in list_entries(shard):
                        key = name.removesuffix(SUFFIX)
                        if name.endswith(SUFFIX) and is_name(key) and key[:2] == shard[-2:]:
                            used = max(status.st_mtime, status.st_atime)
                            yield own, kind, key, status.st_size, used

    def count(self) -> int:
        """Return the number of records."""
        return sum(1 for _ in self.entries())

    def forget_oldest(self, keep: int) -> int:
        """Drop the least lately used until at most `keep` are left; return how many went."""
        entries = sorted(self.entries(), key=lambda entry: (entry[4], entry[2]))
        gone = 0
        for own, kind, key, _, _ in entries[: max(0, len(entries) - keep)]:
            with contextlib.suppress(StoreError):
                gone += self.drop(kind, [key], own=own)
        return gone

    def rest(self) -> None:
        """Nothing is kept in memory."""

    def close(self) -> None:
        """Nothing is held open between two calls."""
