"""`cache stats` and `cache clear`: what the local cache holds, and removing it."""

from __future__ import annotations

import os
import shutil
from typing import Any

from nfbuild.errors import UsageError
from nfbuild.project import load
from nfbuild.store.stack import open_caches


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
            "hits": lifetime.get("hit", 0),
            "misses": lifetime.get("miss", 0),
            "corrupt": lifetime.get("corrupt", 0),
            "healed": lifetime.get("healed", 0),
            "lost": lifetime.get("lost", 0),
            "max_size": project.cache.max_size,
            "lifetime": lifetime,
        }
    finally:
        caches.close()


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
