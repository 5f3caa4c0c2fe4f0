"""A look at the table without touching it: for commands that write nothing at all.

Opening a database through diskcache writes to it. Here it is opened read-only by SQLite itself,
as it stands when nobody else has it open, and beside its writers otherwise.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from nfbuild.store.table import DATABASE, Refused, Table, standing_rows


class Glance(Table):
    """The table's reading half; a table that is not there is empty."""

    def _open(self) -> Any:
        return _Look(os.path.join(self.folder, DATABASE))

    def _remake(self) -> None:
        """Leave what is broken where it is."""


class _Look:
    """What `Table` asks of diskcache, over a connection that cannot write."""

    def __init__(self, path: str) -> None:
        self._connection: sqlite3.Connection | None = None
        if os.path.isfile(path):
            # Without a log of other writers SQLite may take the file as unchanging: then it makes
            # no files of its own beside it.
            log = path + "-wal"
            alone = not os.path.exists(log) or os.path.getsize(log) == 0
            mode = "immutable=1" if alone else "mode=ro"
            self._connection = sqlite3.connect(f"file:{quote(path)}?{mode}", uri=True)

    def standing(self, names: Sequence[str]) -> Iterator[tuple[str, bytes | Refused]]:
        """Yield the rows that there are of `names`, each with its bytes or why it is refused."""
        if self._connection is not None:
            yield from standing_rows(self._connection.execute, names)

    def __iter__(self) -> Iterator[str]:
        if self._connection is not None:
            for (key,) in self._connection.execute("SELECT key FROM Cache ORDER BY rowid"):
                if isinstance(key, str):
                    yield key

    def __len__(self) -> int:
        if self._connection is None:
            return 0
        (count,) = self._connection.execute("SELECT COUNT(*) FROM Cache").fetchone()
        return int(count)

    def transact(self) -> contextlib.AbstractContextManager[None]:
        """Group nothing."""
        return contextlib.nullcontext()

    def delete(self, _row: str) -> bool:
        """Leave what is wrong where it is."""
        return False

    def rest(self) -> None:
        """Keep the pages: they are few without writing."""

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
