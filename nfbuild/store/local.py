"""The local store: the cache folder of one machine.

    cache/
      CACHEDIR.TAG                 backup programs leave the folder alone
      format                       `nfbuild cache 1`; another version is refused by name
      blobs/ab/<digest>.png        `blobs`
      quarantine/                  what was found damaged
      table/                       `table`; records, opened when they are first needed
      records/, told/              `recordfiles`; instead, on a network file system
      lifetime                     sums of all runs
      *.lock                       kernel locks

Deleting any part of it changes speed only. A fault of any kind is a miss with a reason, counted in
the journal. Importing this module is cheap: workers do it for `write_blob`.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from nfbuild.digests import BlobDigest, blob_digest
from nfbuild.errors import Corrupt, Missing, ProjectError, StoreError, Unavailable
from nfbuild.store import blobs
from nfbuild.store.base import BLOB_LIMIT, BlobInfo, Kind, check_kind, check_name, sound_names
from nfbuild.store.blobs import write_blob
from nfbuild.store.digestset import DigestSet
from nfbuild.store.files import PRIVATE, make_directory, read_file, write_file
from nfbuild.store.kernellock import hold
from nfbuild.store.mounts import filesystem_type, is_network
from nfbuild.store.recordfiles import RecordFiles
from nfbuild.store.stats import (
    BYTES_READ,
    BYTES_WRITTEN,
    CORRUPT,
    EVICTED_IN_USE,
    HEALED,
    HIT,
    MISS,
    PUT,
    Journal,
    read_lifetime,
    write_lifetime,
)

if TYPE_CHECKING:
    from nfbuild.store.table import Table

__all__ = ["LocalStore", "open_cache", "write_blob"]

Value = TypeVar("Value")

FORMAT: Final = "nfbuild cache"
VERSION: Final = 1
_TAG = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# This folder is a cache of nfbuild. Deleting it changes speed only.\n"
)


def open_cache(folder: str, journal: Journal | None = None, *, observe: bool = False) -> LocalStore:
    """Return the local store in `folder`, which is made when it is not there.

    With `observe` it is looked at only: what is put is dropped, damage stays where it is.

    Raises `ProjectError` when the folder holds a cache of a version that this program does not
    know. A folder that cannot be made or written is a warning: everything is a miss then.
    """
    store = LocalStore(os.path.abspath(folder), journal or Journal(), observe=observe)
    store.prepare()
    return store


class LocalStore:
    """Blobs as plain files, records in a table that may be missing."""

    name = "local"

    def __init__(self, root: str, journal: Journal, *, observe: bool = False) -> None:
        self.root = root
        self._observe = observe
        self.journal = journal
        self._table: Table | RecordFiles | None = None
        self._opening = threading.Lock()
        self._without_table = False
        # What this run has seen here: going missing afterwards is "evicted in use", once.
        self._seen = DigestSet()
        self._evicted: set[str] = set()
        self._noting = threading.Lock()
        self._damaged: set[str] = set()

    def prepare(self) -> None:
        """Check the format and write what a new cache folder has; see `open_cache`."""
        try:
            text = read_file(f"{self.root}/format", 1000).decode("ascii", "replace")
        except Missing:
            self._write_layout()
            return
        except StoreError as error:
            self._warn_unusable(error.message)
            return
        head, _, version = text.strip().rpartition(" ")
        if not text.strip():
            self._write_layout()
        elif head != FORMAT or version != str(VERSION):
            raise ProjectError(
                f"`{self.root}` holds `{text.strip()[:60]}`, not `{FORMAT} {VERSION}`",
                hint="delete the folder, or set another `dir` under `[cache]`",
                code="cache-format",
            )

    def _write_layout(self) -> None:
        if self._observe:
            return
        try:
            make_directory(self.root, PRIVATE)
            for name, data in (
                ("CACHEDIR.TAG", _TAG),
                (".gitignore", b"*\n"),
                ("format", f"{FORMAT} {VERSION}\n".encode("ascii")),
            ):
                path = f"{self.root}/{name}"
                if name == "format" or not os.path.lexists(path):
                    write_file(path, data, PRIVATE, bits=0o666)
        except OSError as error:
            self._warn_unusable(error.strerror or str(error))

    def _warn_unusable(self, fact: str) -> None:
        self.journal.warn_once(
            "cache-unusable",
            self.root,
            f"the cache `{self.root}` cannot be used: {fact}",
            hint="frames are drawn, and not kept",
        )

    # --- blobs ------------------------------------------------------------------------------------

    def blob_path(self, digest: BlobDigest) -> str:
        """Return where the blob lies or would lie."""
        return blobs.blob_path(self.root, digest)

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`; what is damaged goes to quarantine."""
        try:
            data = blobs.read_blob(self.root, digest, keep=self._observe)
        except StoreError as error:
            self._count_miss(digest, error)
            raise
        self._note_seen(digest)
        self.journal.count(self.name, HIT)
        self.journal.count(self.name, BYTES_READ, len(data))
        return data

    def has_blob(self, digest: BlobDigest) -> bool:
        """See `Store`."""
        there = blobs.has_blob(self.root, digest)
        if there:
            self._note_seen(digest)
        return there

    def put_blob(self, data: bytes, *, replace: bool = False) -> BlobDigest:
        """See `WritableStore`."""
        if len(data) > BLOB_LIMIT:
            raise Unavailable(f"{self.name}: a blob of {len(data)} bytes", code="too-large")
        digest = blob_digest(data)
        self.put_known_blob(digest, data, replace=replace)
        return digest

    def put_known_blob(self, digest: BlobDigest, data: bytes, *, replace: bool = False) -> None:
        """Keep `data`, whose digest the caller has just taken; see `put_blob`."""
        if self._observe:
            return
        try:
            written = write_blob(self.root, digest, data, replace=replace)
        except Unavailable as error:
            self._warn_unusable(error.message)
            raise
        if written:
            self.journal.count(self.name, BYTES_WRITTEN, len(data))
            self.journal.count(self.name, PUT)
            self._count_healed(digest)
        self._note_seen(digest)

    def note_blob(self, digest: BlobDigest, size: int) -> None:
        """Count a blob that a worker wrote into the folder, as `put_blob` counts its own."""
        self.journal.count(self.name, BYTES_WRITTEN, size)
        self.journal.count(self.name, PUT)
        self._count_healed(digest)
        self._note_seen(digest)

    def drop_blob(self, digest: BlobDigest) -> bool:
        """See `PrunableStore`."""
        return blobs.drop_blob(self.root, digest)

    def blobs(self) -> Iterator[BlobInfo]:
        """See `PrunableStore`."""
        return blobs.list_blobs(self.root)

    # --- records ----------------------------------------------------------------------------------

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`: what this cache made itself, or else what a shared tier told it."""
        check_kind(kind)
        check_name(key)
        found, wrong = self._look(kind, [key], own=True)
        if not found:
            found, others = self._look(kind, [key], own=False)
            wrong.update(others)
        if found:
            return found[key]
        error = wrong.get(key)
        if error is None:
            error = Missing(f"{self.name}: no {kind} record `{key[:16]}`")
            self._count_miss(key, error)
        raise error

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Store`: what this cache made itself, or else what a shared tier told it."""
        check_kind(kind)
        wanted = sound_names(keys)
        found, wrong = self._look(kind, wanted, own=True)
        rest = [key for key in wanted if key not in found]
        if rest:
            others, worse = self._look(kind, rest, own=False)
            found.update(others)
            wrong.update(worse)
        missing = sum(key not in found and key not in wrong for key in rest)
        if missing:
            self.journal.count(self.name, f"{MISS}.missing", missing)
        return found

    def find_records(self, kind: Kind, keys: Iterable[str], *, own: bool) -> dict[str, bytes]:
        """Return the payloads in one of the two spaces: made here (`own`), or told by a tier.

        What is absent is not counted, as the other space may have it. Raises `Unavailable`
        without a table.
        """
        check_kind(kind)
        return self._look(kind, sound_names(keys), own=own)[0]

    def _look(
        self, kind: Kind, keys: list[str], *, own: bool
    ) -> tuple[dict[str, bytes], dict[str, StoreError]]:
        found, wrong = self._with_table(lambda table: table.get(kind, keys, own=own))
        if found:
            self.journal.count(self.name, HIT, len(found))
        for key, error in wrong.items():
            self._count_miss(key, error)
        return found, wrong

    def put_record(self, kind: Kind, key: str, payload: bytes, *, replace: bool = False) -> None:
        """See `WritableStore`."""
        self.put_records(kind, {key: payload}, replace=replace)

    def put_records(
        self, kind: Kind, items: Mapping[str, bytes], *, replace: bool = False, own: bool = True
    ) -> None:
        """See `WritableStore`; `own` is false for what a shared tier said."""
        check_kind(kind)
        for key in items:
            check_name(key)
        if self._observe:
            return
        self._with_table(lambda table: table.put(kind, items, own=own, replace=replace))
        self.journal.count(self.name, PUT, len(items))
        for key in items:
            self._count_healed(key)

    def drop_record(self, kind: Kind, key: str) -> bool:
        """See `PrunableStore`; drops it from both spaces."""
        check_kind(kind)
        check_name(key)
        own = self._with_table(lambda table: table.drop(kind, [key], own=True))
        told = self._with_table(lambda table: table.drop(kind, [key], own=False))
        return own + told > 0

    def records(self) -> Iterator[tuple[Kind, str]]:
        """See `PrunableStore`; a record of both spaces comes once."""
        seen: set[tuple[Kind, str]] = set()
        for _, kind, key in self._with_table(lambda table: list(table.rows())):
            if (kind, key) not in seen:
                seen.add((kind, key))
                yield kind, key

    def forget_oldest_records(self, keep: int) -> int:
        """Drop the first recorded until at most `keep` are left; return how many went."""
        return self._with_table(lambda table: table.forget_oldest(keep))

    def record_count(self) -> int:
        """Return the number of records; 0 without a table."""
        try:
            return self._with_table(lambda table: table.count())
        except Unavailable:
            return 0

    def add_lifetime(self) -> None:
        """Add this run's counts to the sums of all runs; where that fails they are lost."""
        counts = self.journal.take_new()
        if not counts or self._observe:
            return
        path = f"{self.root}/lifetime"
        with hold(f"{self.root}/lifetime.lock", wait=0.5) as held:
            if not held:
                return
            sums = self.lifetime()
            sums.update(counts)
            with contextlib.suppress(OSError):
                write_file(path, write_lifetime(sums).encode("utf-8"), PRIVATE, bits=0o666)

    def lifetime(self) -> Counter[str]:
        """Return the sums of all runs, by `tier event`."""
        try:
            text = read_file(f"{self.root}/lifetime", 1_000_000).decode("utf-8", "replace")
        except StoreError:
            return Counter()
        return read_lifetime(text)

    def rest(self) -> None:
        """Let go of memory that the table takes, when many records have been put or looked up."""
        if self._table is not None:
            with contextlib.suppress(Unavailable):
                self._with_table(lambda table: table.rest())

    def close(self) -> None:
        """Let go of the table; a later call opens it again."""
        if self._table is not None:
            self._table.close()

    # --- the table --------------------------------------------------------------------------------

    def _with_table(self, act: Callable[[Table | RecordFiles], Value]) -> Value:
        with self._opening:
            if self._table is None:
                self._table = self._make_table()
        try:
            return act(self._table)
        except Unavailable as error:
            if not self._without_table:
                self._without_table = True
                self.journal.count(self.name, f"{CORRUPT}.table-{error.code}")
                self._warn_table(error.message)
            raise

    def _make_table(self) -> Table | RecordFiles:
        kind = filesystem_type(self.root)
        if is_network(kind):
            # Locks and shared memory are not to be trusted there, plain files are.
            self.journal.warn_once(
                "network-cache",
                self.root,
                f"the cache `{self.root}` lies on a network file system (`{kind}`)",
                hint="records are kept as plain files there; a local folder is faster",
            )
            return RecordFiles(self.root)
        # The door is opened here: most runs with nothing to do never need a record.
        if self._observe:
            from nfbuild.store.glance import Glance  # noqa: PLC0415  as below

            return Glance(f"{self.root}/table")
        from nfbuild.store.table import Table  # noqa: PLC0415  30 ms of imports

        return Table(f"{self.root}/table")

    def _warn_table(self, fact: str) -> None:
        self.journal.warn_once(
            "no-table",
            self.root,
            f"the cache `{self.root}` goes without its table of records: {fact}",
            hint="frames are drawn again; the table is made anew where that is possible",
        )

    # --- counting ---------------------------------------------------------------------------------

    def _count_miss(self, name: str, error: StoreError) -> None:
        self.journal.count(self.name, f"{MISS}.{error.code}")
        if isinstance(error, Corrupt):
            self.journal.count(self.name, f"{CORRUPT}.{error.code}")
            self._damaged.add(name)
        elif isinstance(error, Missing):
            with self._noting:
                evicted = name in self._seen and name not in self._evicted
                if evicted:
                    self._evicted.add(name)
            if evicted:
                self.journal.count(self.name, EVICTED_IN_USE)

    def _note_seen(self, digest: BlobDigest) -> None:
        with self._noting:
            self._seen.add(digest)
            self._evicted.discard(digest)

    def _count_healed(self, name: str) -> None:
        if name in self._damaged:
            self._damaged.discard(name)
            self.journal.count(self.name, HEALED)
