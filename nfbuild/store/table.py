"""The table: the local cache's private index of records, kept by diskcache.

It is disposable: any fault (garbage in the database, a lock that is held too long, a full disk)
means "no table" for the rest of the run, said once; what is broken is moved away and made anew.
Losing it costs renders, never a wrong answer, as every record carries its key and a checksum.
Only `str` keys and `bytes` values pass; a row that would be unpickled, or that names a file, is
refused. It is never opened in a shared directory or on a network file system.

The door to diskcache: no other module imports it, and it is imported when records are needed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import diskcache

from nfbuild.errors import Corrupt, StoreError, Unavailable
from nfbuild.store.base import KINDS, RECORD_LIMIT, Kind, decode_record, encode_record
from nfbuild.store.kernellock import hold

DATABASE: Final = "cache.db"
_FAMILY = (DATABASE, DATABASE + "-wal", DATABASE + "-shm")
_WAIT_SECONDS: Final = 5.0
"""How long opening or a transaction waits for another process before there is no table."""
_NAMES_AT_ONCE: Final = 500
"""Names in one statement; SQLite takes 999 where it is built most sparingly."""
_SETTINGS: Final[dict[str, Any]] = {
    "eviction_policy": "none",
    "cull_limit": 0,
    "size_limit": 2**60,
    "statistics": 0,
    "tag_index": 0,
    # A file that is cut short under a mapping kills the reader with SIGBUS.
    "sqlite_mmap_size": 0,
    # Pages, 16 MB: a transaction that spills for want of them fails half done on a full disk.
    "sqlite_cache_size": 2**12,
    "disk_min_file_size": 2**31,
}


_SCHEMA: Final = frozenset(
    (
        "Settings",
        "Cache",
        "Settings_count_insert",
        "Settings_count_delete",
        "Settings_size_insert",
        "Settings_size_update",
        "Settings_size_delete",
    )
)
_KINDS_OF_SETTING: Final = {
    key: type(value)
    for key, value in {**diskcache.DEFAULT_SETTINGS, **diskcache.core.METADATA}.items()
}


class Refused(Exception):
    """A row holds something else than the bytes of a record."""


class Busy(Exception):
    """Another process kept the database locked for longer than is waited."""


class _PlainDisk(diskcache.Disk):  # type: ignore[misc] # diskcache has no types
    """Keys are text, values are bytes in the row; nothing is pickled and no file is named."""

    def put(self, key: Any) -> tuple[str, bool]:
        if not isinstance(key, str):
            raise TypeError("a record's name is text")
        return key, True

    def get(self, key: Any, raw: Any) -> str:
        if not raw or not isinstance(key, str):
            raise Refused("a key is not text")
        return key

    def store(self, value: Any, read: Any, **_key: Any) -> tuple[int, int, None, Any]:
        if read or not isinstance(value, bytes):
            raise TypeError("a record is bytes")
        return 0, diskcache.core.MODE_RAW, None, sqlite3.Binary(value)

    def fetch(self, mode: Any, filename: Any, value: Any, read: Any) -> bytes:
        if read:
            raise Refused("a row is read as a file")
        return _bytes_of(mode, filename, value)

    def filename(self, *_names: Any, **_named: Any) -> tuple[str, str]:
        raise Refused("no value is kept in a file")

    def remove(self, file_path: Any) -> None:
        """Leave the file alone: no row of ours names one."""


class _BoundedCache(diskcache.Cache):  # type: ignore[misc] # diskcache has no types
    """A cache whose opening gives up in time.

    diskcache tries each statement of its constructor again for 60 seconds while the database is
    locked, whatever its timeout. Every statement passes `_sql`, so that is where time is judged:
    after the deadline the fault becomes one that diskcache does not wait for.
    """

    _until: float | None = None

    def __init__(self, directory: str, *, wait: float) -> None:
        self._until = time.monotonic() + wait
        try:
            super().__init__(directory, timeout=wait, disk=_PlainDisk, **_SETTINGS)
        except BaseException:
            # The error's traceback would keep the connection, and with it the files, open.
            self.close()
            raise
        self._until = None

    def rest(self) -> None:
        self._sql("PRAGMA shrink_memory")

    @property
    def _con(self) -> Any:
        # Every thread's connection takes its settings from the file, which may be damaged by now.
        try:
            return super()._con
        except (AttributeError, TypeError) as error:
            raise sqlite3.DatabaseError("the name of a setting is not text") from error

    @property
    def _sql(self) -> Any:
        execute = super()._sql
        if self._until is None:
            return execute

        def bounded(*arguments: Any, **options: Any) -> Any:
            try:
                return execute(*arguments, **options)
            except sqlite3.OperationalError as error:
                if self._until is not None and time.monotonic() > self._until:
                    raise Busy(str(error)) from error
                raise

        return bounded

    def standing(self, names: Sequence[str]) -> Iterator[tuple[str, bytes | Refused]]:
        """Yield the rows that there are of `names`, each with its bytes or why it is refused."""
        yield from standing_rows(self._sql, names)


def standing_rows(
    execute: Callable[[str, Sequence[str]], sqlite3.Cursor], names: Sequence[str]
) -> Iterator[tuple[str, bytes | Refused]]:
    """Yield the rows that there are of `names`, each with its bytes or why it is refused.

    Many names share a statement: one for each would cost several times as much. Raises
    `sqlite3.DatabaseError` for a row that was not asked for, which a damaged index answers with.
    """
    asked = frozenset(names)
    for start in range(0, len(names), _NAMES_AT_ONCE):
        chunk = names[start : start + _NAMES_AT_ONCE]
        marks = ", ".join("?" * len(chunk))
        select = f"SELECT key, mode, filename, value FROM Cache WHERE raw = 1 AND key IN ({marks})"  # noqa: S608  marks alone
        for name, mode, filename, value in execute(select, chunk).fetchall():
            if name not in asked:
                raise sqlite3.DatabaseError("a row answers to another name")
            try:
                yield name, _bytes_of(mode, filename, value)
            except Refused as error:
                yield name, error


def _bytes_of(mode: Any, filename: Any, value: Any) -> bytes:
    if mode != diskcache.core.MODE_RAW or filename is not None:
        raise Refused("a row is pickled or names a file")
    if not isinstance(value, bytes) or len(value) > RECORD_LIMIT:
        raise Refused("a value is not the bytes of a record")
    return value


class Table:
    """Encoded records by space, kind and key.

    Two spaces keep apart what this cache drew or audited itself (`own`) and what it was told by a
    shared tier. Raises `Unavailable` from every method once something went wrong; the reason is
    its code, and a table that was found broken is gone by the next run.
    """

    def __init__(self, folder: str, *, wait: float = _WAIT_SECONDS) -> None:
        self.folder = folder
        self._wait = wait
        self._cache: Any = None
        self._fault: Unavailable | None = None
        self.refused = 0

    def get(
        self, kind: Kind, keys: Iterable[str], *, own: bool = True
    ) -> tuple[dict[str, bytes], dict[str, StoreError]]:
        """Return payloads by key, and the error of each record that is there and wrong.

        Wrong records are dropped on the way.
        """
        found: dict[str, bytes] = {}
        wrong: dict[str, StoreError] = {}
        with self._guarded() as cache:
            rows = {_row(kind, key, own): key for key in keys}
            for row, data in cache.standing(list(rows)):
                key = rows[row]
                if isinstance(data, Refused):
                    self.refused += 1
                    wrong[key] = _refusal(data)
                    continue
                try:
                    found[key] = decode_record(kind, key, data, "table")
                except StoreError as error:
                    wrong[key] = error
            if wrong:
                with cache.transact():
                    for key in wrong:
                        cache.delete(_row(kind, key, own))
        return found, wrong

    def put(
        self, kind: Kind, items: Mapping[str, bytes], *, own: bool = True, replace: bool = False
    ) -> None:
        """Keep payloads in one transaction; a right record that stands stays unless `replace`."""
        records = {key: encode_record(kind, key, payload) for key, payload in items.items()}
        rows = {_row(kind, key, own): key for key in records}
        with self._guarded() as cache, cache.transact():
            standing = dict(cache.standing(list(rows)))
            for row, key in rows.items():
                there, data = standing.get(row), records[key]
                if there == data or (not replace and _is_right(there, kind, key)):
                    continue
                cache.set(row, data)

    def drop(self, kind: Kind, keys: Iterable[str], *, own: bool = True) -> int:
        """Remove records in one transaction and return how many there were."""
        with self._guarded() as cache, cache.transact():
            return sum(bool(cache.delete(_row(kind, key, own))) for key in keys)

    def rows(self) -> Iterator[tuple[bool, Kind, str]]:
        """Yield space, kind and key of every record, the first recorded first."""
        with self._guarded() as cache:
            # The iterator reads in pages: it holds no lock between two of them.
            names = self._names(cache)
        while True:
            with self._guarded():
                name = next(names, None)
            if name is None:
                return
            row = _named(name)
            if row is not None:
                yield row

    def count(self) -> int:
        """Return the number of records."""
        with self._guarded() as cache:
            return len(cache)

    def forget_oldest(self, keep: int) -> int:
        """Drop the first recorded until at most `keep` are left; return how many went."""
        surplus = self.count() - keep
        if surplus <= 0:
            return 0
        with self._guarded() as cache, cache.transact():
            gone = list(itertools.islice(self._names(cache), surplus))
            return sum(bool(cache.delete(name)) for name in gone)

    def _names(self, cache: Any) -> Iterator[str]:
        """Yield the names of the rows, the first recorded first, up to one that is not text."""
        try:
            yield from cache
        except Refused:
            self.refused += 1

    def rest(self) -> None:
        """Let go of pages kept in memory, up to 16 MB; later calls read those that they need."""
        if self._cache is not None:
            with self._guarded() as cache:
                cache.rest()

    def close(self) -> None:
        """Let go of the database; a later call opens it again."""
        if self._cache is not None:
            with contextlib.suppress(sqlite3.Error):
                self._cache.close()
            self._cache = None

    # --- faults -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[Any]:
        if self._fault is not None:
            raise self._fault
        try:
            if self._cache is None:
                self._cache = self._open()
            yield self._cache
        except Busy as error:
            raise self._fail("locked", error) from error
        except diskcache.Timeout as error:
            raise self._fail("locked", error) from error
        except sqlite3.OperationalError as error:
            code = _operational(error)
            if code == "broken":
                self._remake()
            raise self._fail(code, error) from error
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # SQLite's own message quotes what it read, which need not be text.
            self._remake()
            raise self._fail("broken", error) from error
        except OSError as error:
            raise self._fail("unwritable", error) from error

    def _open(self) -> Any:
        if os.path.expandvars(self.folder) != self.folder:
            # diskcache would expand it: the database would be made somewhere else.
            raise OSError(f"`{self.folder}` reads like the name of a variable")
        try:
            _check_schema(os.path.join(self.folder, DATABASE))
            return _BoundedCache(self.folder, wait=self._wait)
        except (sqlite3.DatabaseError, UnicodeDecodeError, OSError) as error:
            if isinstance(error, sqlite3.OperationalError) and _operational(error) != "broken":
                raise
            # Not a database, or somebody else's: start afresh, once.
            self._remake()
            return _BoundedCache(self.folder, wait=self._wait)

    def _remake(self) -> None:
        """Remove the database that was seen broken, unless another process already has."""
        seen = _identity(self.folder)
        self.close()
        with hold(self.folder + ".lock", wait=1.0) as held:
            if not held or _identity(self.folder) != seen:
                return
            if os.path.islink(self.folder) or os.path.isfile(self.folder):
                _remove(self.folder)
            for name in _FAMILY:
                _remove(os.path.join(self.folder, name))

    def _fail(self, code: str, error: Exception) -> Unavailable:
        self.close()
        self._fault = Unavailable(f"{self.folder}: {error or code}", code=code)
        return self._fault


def _check_schema(path: str) -> None:
    """Raise `sqlite3.DatabaseError` for a database with more in it than diskcache puts there.

    diskcache sets an attribute of its own for every row of `Settings`, and a trigger could do
    anything that SQL can.
    """
    if not os.path.lexists(path):
        folder = os.path.dirname(path)
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise sqlite3.DatabaseError("its folder is none")
        return
    if not os.path.isfile(path):
        raise sqlite3.DatabaseError("it is not a plain file")
    with contextlib.closing(sqlite3.connect(path, timeout=0)) as connection:
        try:
            schema = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
            names = [row[1] for row in schema if row[0] in ("table", "view", "trigger")]
            # diskcache unpacks what it finds: table and index must be whole and hold the same.
            sound = connection.execute("PRAGMA integrity_check('Settings')").fetchall()
            select = "SELECT key, value FROM Settings"
            settings = connection.execute(select).fetchall() if names else []
        except sqlite3.OperationalError:
            return  # locked, or not made yet: diskcache says which
    if names and sound != [("ok",)]:
        raise sqlite3.DatabaseError(f"its settings are damaged: {sound[0][0]}")
    for name in names:
        if name not in _SCHEMA:
            raise sqlite3.DatabaseError(f"`{name}` is not diskcache's")
    for key, value in settings:
        if key not in _KINDS_OF_SETTING:
            raise sqlite3.DatabaseError(f"setting `{key}` is not diskcache's")
        if type(value) is not _KINDS_OF_SETTING[key]:
            raise sqlite3.DatabaseError(f"setting `{key}` is nonsense")


def _operational(error: sqlite3.OperationalError) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return "locked"
    if "full" in text:
        return "full"
    if "readonly" in text or "unable to open" in text:
        return "unwritable"
    # A table without its columns, a trigger that refuses: somebody else's database.
    return "broken"


def _identity(folder: str) -> tuple[int, int] | None:
    for path in (os.path.join(folder, DATABASE), folder):
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            return status.st_dev, status.st_ino
    return None


def _remove(path: str) -> None:
    aside = f"{path}.{os.getpid()}.broken"
    with contextlib.suppress(OSError):
        os.unlink(path)
        return
    # A directory in the way is moved: what it holds is nothing we know.
    with contextlib.suppress(OSError):
        os.rename(path, aside)


def _row(kind: Kind, key: str, own: bool) -> str:
    return f"{kind}:{key}" if own else f"{kind}~{key}"


def _named(row: str) -> tuple[bool, Kind, str] | None:
    for kind in KINDS:
        if row.startswith((f"{kind}:", f"{kind}~")):
            return row[len(kind)] == ":", kind, row[len(kind) + 1 :]
    return None


def _is_right(data: bytes | Refused | None, kind: Kind, key: str) -> bool:
    if not isinstance(data, bytes):
        return False
    try:
        decode_record(kind, key, data, "table")
    except StoreError:
        return False
    return True


def _refusal(error: Refused) -> StoreError:
    return Corrupt(f"table: {error}", code="refused")
