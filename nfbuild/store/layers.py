"""Layers: stores made of stores, each with one behaviour.

`Router` asks several in order, `Cached` keeps near what it had from far, `SingleFlight` asks once
for equal requests at one time, `ReadOnly` hides what could write. Errors steer: `Missing` and
`Corrupt` and `Unavailable` all mean the next store, and what the last one could not give is
reported by the worst of them.

Not here: giving a store up (`breaker`), putting one together for a project (`stack`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from nfbuild.digests import BlobDigest
from nfbuild.errors import Corrupt, Missing, StoreError, Unavailable
from nfbuild.store.base import Kind, Store, WritableStore, check_kind, check_name

Value = TypeVar("Value")


class ReadOnly:
    """A store without its methods that write."""

    def __init__(self, store: Store) -> None:
        self.name = store.name
        self._store = store

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`."""
        return self._store.get_blob(digest)

    def has_blob(self, digest: BlobDigest) -> bool:
        """See `Store`."""
        return self._store.has_blob(digest)

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`."""
        return self._store.get_record(kind, key)

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Store`."""
        return self._store.get_records(kind, keys)


class Router:
    """Several stores, asked in order until one answers."""

    def __init__(self, stores: Sequence[Store], name: str = "shared") -> None:
        self.name = name
        self._stores = tuple(stores)

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`."""
        return self._first(lambda store: store.get_blob(digest), f"blob `{digest[:16]}`")

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`."""
        check_kind(kind)
        return self._first(lambda store: store.get_record(kind, key), f"{kind} `{key[:16]}`")

    def _first(self, ask: Callable[[Store], bytes], what: str) -> bytes:
        worst: StoreError = Missing(f"{self.name}: no {what}")
        for store in self._stores:
            try:
                return ask(store)
            except StoreError as error:
                if _badness(error) > _badness(worst):
                    worst = error
        raise worst

    def has_blob(self, digest: BlobDigest) -> bool:
        """See `Store`; a store that cannot be asked has nothing."""
        check_name(digest)
        for store in self._stores:
            with contextlib.suppress(Unavailable):
                if store.has_blob(digest):
                    return True
        return False

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Store`; each store is asked for what the ones before did not have."""
        check_kind(kind)
        rest = list(dict.fromkeys(keys))
        found: dict[str, bytes] = {}
        for store in self._stores:
            if not rest:
                break
            with contextlib.suppress(Unavailable):
                found.update(store.get_records(kind, rest))
                rest = [key for key in rest if key not in found]
        return found


def _badness(error: StoreError) -> int:
    return 2 if isinstance(error, Corrupt) else 1 if isinstance(error, Unavailable) else 0


class Offers(Protocol):
    """Where `Cached` says what it has been given; see `uploads`."""

    def blob(self, digest: BlobDigest) -> None:
        """Take the name of a blob that the near store now has."""
        ...

    def record(self, kind: Kind, key: str, payload: bytes) -> None:
        """Take a record."""
        ...


class Cached:
    """A near store that is filled from a far one as it is read.

    What is put goes to the near store, and is offered to `offers`. What the far store says about
    records goes through `remember`, so that hearsay can be kept apart. A near store that takes
    nothing is no reason not to answer.
    """

    def __init__(
        self,
        near: WritableStore,
        far: Store,
        *,
        remember: Callable[[Kind, Mapping[str, bytes]], None] | None = None,
        offers: Offers | None = None,
    ) -> None:
        self.name = near.name
        self._near = near
        self._far = far
        self._remember = remember or near.put_records
        self._offers = offers

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`."""
        try:
            return self._near.get_blob(digest)
        except StoreError as near:
            try:
                data = self._far.get_blob(digest)
            except StoreError as far:
                raise (near if _badness(near) >= _badness(far) else far) from far
        with contextlib.suppress(StoreError):
            self._near.put_blob(data)
        return data

    def has_blob(self, digest: BlobDigest) -> bool:
        """See `Store`."""
        try:
            if self._near.has_blob(digest):
                return True
        except Unavailable:
            pass
        return self._far.has_blob(digest)

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`."""
        try:
            return self._near.get_record(kind, key)
        except StoreError as near:
            try:
                payload = self._far.get_record(kind, key)
            except StoreError as far:
                raise (near if _badness(near) >= _badness(far) else far) from far
        with contextlib.suppress(StoreError):
            self._remember(kind, {key: payload})
        return payload

    def get_records(self, kind: Kind, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Store`."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, bytes] = {}
        with contextlib.suppress(Unavailable):
            found = self._near.get_records(kind, wanted)
        rest = [key for key in wanted if key not in found]
        if rest:
            with contextlib.suppress(Unavailable):
                told = self._far.get_records(kind, rest)
                found.update(told)
                if told:
                    self._remember(kind, told)
        return found

    def put_blob(self, data: bytes, *, replace: bool = False) -> BlobDigest:
        """See `WritableStore`."""
        digest = self._near.put_blob(data, replace=replace)
        if self._offers is not None:
            self._offers.blob(digest)
        return digest

    def put_record(self, kind: Kind, key: str, payload: bytes, *, replace: bool = False) -> None:
        """See `WritableStore`."""
        self.put_records(kind, {key: payload}, replace=replace)

    def put_records(self, kind: Kind, items: Mapping[str, bytes], *, replace: bool = False) -> None:
        """See `WritableStore`; what cannot be kept near is offered all the same."""
        try:
            self._near.put_records(kind, items, replace=replace)
        finally:
            if self._offers is not None:
                for key, payload in items.items():
                    self._offers.record(kind, key, payload)


class _Flight(Generic[Value]):
    """One call that others wait for."""

    def __init__(self) -> None:
        self.landed = threading.Event()
        self.value: Value | None = None
        self.error: BaseException | None = None


class SingleFlight(ReadOnly):
    """Equal requests at one time are one request; its answer, or its error, is everybody's."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._lock = threading.Lock()
        self._flights: dict[tuple[str, str], _Flight[bytes]] = {}

    def get_blob(self, digest: BlobDigest) -> bytes:
        """See `Store`."""
        return self._join(("blob", digest), lambda: self._store.get_blob(digest))

    def get_record(self, kind: Kind, key: str) -> bytes:
        """See `Store`."""
        return self._join((kind, key), lambda: self._store.get_record(kind, key))

    def _join(self, request: tuple[str, str], act: Callable[[], bytes]) -> bytes:
        with self._lock:
            flight = self._flights.get(request)
            pilot = flight is None
            if flight is None:
                flight = self._flights[request] = _Flight()
        if not pilot:
            flight.landed.wait()
            if flight.error is not None:
                raise flight.error
            assert flight.value is not None
            return flight.value
        try:
            flight.value = act()
        except BaseException as error:
            flight.error = error
            raise
        else:
            return flight.value
        finally:
            with self._lock:
                del self._flights[request]
            flight.landed.set()
