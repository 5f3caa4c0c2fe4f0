"""`cache stats` and `cache clear`: what the local cache holds, and removing it."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Mapping
from typing import Any

from nfbuild.errors import UsageError
from nfbuild.project import load
from nfbuild.store.stack import open_caches
from nfbuild.store.stats import (
    BYTES_READ,
    BYTES_WRITTEN,
    CORRUPT,
    EVICTED_IN_USE,
    HEALED,
    HIT,
    LOST,
    MISS,
    SAVED_MILLISECONDS,
)


def stats(start: str) -> dict[str, Any]:
    """Return the document of `cache stats --json`: what is there, and the sums of all runs."""
    project = load(start)
    caches = open_caches(project.cache.folder)
    try:
        blobs = list(caches.local.blobs())
        lifetime = caches.local.lifetime()
        return {
            "schema": "nfbuild.cache-stats/1",
            "ok": True,
            "folder": project.cache.folder,
            "frames": len(blobs),
            "records": caches.local.record_count(),
            "bytes": sum(blob.size for blob in blobs),
            "hits": _total(lifetime, HIT),
            "misses": _total(lifetime, MISS),
            "corrupt": _total(lifetime, CORRUPT),
            "healed": _total(lifetime, HEALED),
            "evicted_in_use": _total(lifetime, EVICTED_IN_USE),
            "lost": _total(lifetime, LOST),
            "bytes_read": _total(lifetime, BYTES_READ),
            "bytes_written": _total(lifetime, BYTES_WRITTEN),
            "seconds_saved": _total(lifetime, SAVED_MILLISECONDS) / 1000,
            "misses_by_reason": _reasons(lifetime),
            "hits_by_tier": _tiers(lifetime),
            "max_size": project.cache.max_size,
            "lifetime": lifetime,
        }
    finally:
        caches.close()


def _total(lifetime: Mapping[str, int], event: str) -> int:
    """Return the sum of an event over all tiers and reasons: rows read `TIER EVENT[.REASON]`."""
    return sum(
        count
        for row, count in lifetime.items()
        if row.rpartition(" ")[2].partition(".")[0] == event
    )


def _reasons(lifetime: Mapping[str, int]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for row, count in lifetime.items():
        event, _, reason = row.rpartition(" ")[2].partition(".")
        if event == MISS and reason:
            sums[reason] += count
    return dict(sorted(sums.items()))


def _tiers(lifetime: Mapping[str, int]) -> dict[str, int]:
    hits = {row.rpartition(" ")[0]: n for row, n in lifetime.items() if row.endswith(f" {HIT}")}
    return dict(sorted(hits.items()))


def clear(start: str) -> str:
    """Remove the local cache and return its folder; raises UsageError for a folder that is none."""
    folder = load(start).cache.folder
    if not os.path.lexists(folder):
        return folder
    if not _is_cache(folder):
        raise UsageError(
            f"`{folder}` is not a cache of nfbuild",
            hint="set `dir` under `[cache]`, or remove the folder by hand",
        )
    shutil.rmtree(folder)
    return folder


def _is_cache(folder: str) -> bool:
    # A configuration may name any folder: only one that says what it is may be removed.
    try:
        with open(os.path.join(folder, "CACHEDIR.TAG"), "rb") as file:
            return b"cache of nfbuild" in file.read(1000)
    except OSError:
        return False
