"""`cache stats`, `explain` and `clear`: what the local cache holds, and removing it."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Mapping
from typing import Any

from nfbuild.digests import BlobDigest, FrameDigest, is_hex_digest
from nfbuild.errors import StoreError, UsageError
from nfbuild.ops.frames.filmrecord import unpack
from nfbuild.project import load
from nfbuild.store.base import COMPOSITION, KINDS, PIXELS
from nfbuild.store.stack import Caches, open_caches
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

_DIGEST_BYTES = 32


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


def explain_key(start: str, key: str) -> dict[str, Any]:
    """Return what the local cache knows under a key, a digest, or the beginning of one.

    Raises UsageError where nothing is known.
    """
    name = key.rpartition(":")[2].lower()
    if not name or len(name) > 64 or name.strip("0123456789abcdef"):
        raise UsageError(f"`{key}` is no key and no digest", hint="write hexadecimal digits")
    caches = open_caches(load(start).cache.folder)
    try:
        facts = [
            _fact(caches, kind, full)
            for kind, full in caches.local.records()
            if full.startswith(name)
        ]
        if is_hex_digest(name) and caches.local.has_blob(BlobDigest(name)):
            facts.append({"is": "blob", "digest": f"blake3:{name}"})
        films = _films_of(caches, name)
    finally:
        caches.close()
    if not facts and not films:
        raise UsageError(f"nothing in the cache is called `{name}`")
    return {"schema": "nfbuild.cache-explain/1", "ok": True, "facts": facts, "films": films}


def _fact(caches: Caches, kind: str, key: str) -> dict[str, Any]:
    known = next(one for one in KINDS if one == kind)
    try:
        payload = caches.local.get_record(known, key)
    except StoreError as error:
        return {"is": kind, "key": key, "fault": error.message}
    fact: dict[str, Any] = {"is": kind, "key": key}
    if kind == "frame" and len(payload) == _DIGEST_BYTES:
        fact["digest"] = f"blake3:{payload.hex()}"
    elif kind == PIXELS and len(payload) > _DIGEST_BYTES:
        blob = BlobDigest(payload[:_DIGEST_BYTES].hex())
        fact["blob"] = f"blake3:{blob}"
        fact["there"] = caches.local.has_blob(blob)
        fact["path"] = os.path.relpath(caches.local.blob_path(blob), caches.local_folder)
    return fact


def _films_of(caches: Caches, name: str) -> list[dict[str, Any]]:
    """Return the kept films in which a frame key or a frame digest is, with its frame numbers."""
    films: list[dict[str, Any]] = []
    for kind, key in caches.local.records():
        if kind != COMPOSITION:
            continue
        try:
            runs = unpack(caches.local.get_record(COMPOSITION, key))
        except StoreError:
            continue
        at, ranges = 0, []
        for run in runs:
            if name in (run.key[: len(name)], FrameDigest(run.digest)[: len(name)]):
                ranges.append([at, at + run.length - 1])
            at += run.length
        if ranges:
            films.append({"film": key, "frames": ranges})
    return films
