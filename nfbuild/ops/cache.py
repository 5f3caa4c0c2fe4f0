"""`cache stats` and `cache clear`: what the local cache holds, and removing it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

from nfbuild.errors import UsageError
from nfbuild.project import load
from nfbuild.store.stack import open_caches
from nfbuild.store.stats import CORRUPT, HEALED, HIT, LOST, MISS


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
            "lost": _total(lifetime, LOST),
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
