"""`cache collect`, `cache verify` and `cache explain`: looking after the caches.

The local cache and every shared directory that may be written are collected; servers and buckets
look after themselves. What this project's ledger and recent builds reach goes last.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice
from typing import Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import BlobDigest, FrameDigest, is_hex_digest
from nfbuild.errors import EXIT_GATE, ProjectError, StoreError, UsageError
from nfbuild.identity.manifest import composition_id
from nfbuild.ledger.book import Book
from nfbuild.ledger.entry import LaneHead
from nfbuild.ops.frames.filmrecord import FilmRun, read_parts, record_key, unpack
from nfbuild.project import Project, discover, load
from nfbuild.store.base import COMPOSITION, KINDS, PIXELS
from nfbuild.store.collect import Collected, Plan, Policy, carry_out, collect, plan_collection
from nfbuild.store.digestset import DigestSet
from nfbuild.store.directory import DirectoryStore, open_directory
from nfbuild.store.local import LocalStore
from nfbuild.store.scrub import Scrubbed, scrub
from nfbuild.store.stack import Caches, directory_of, open_caches

_DIGEST_BYTES = 32
_CHUNK = 2_000


class Protected:
    """The blobs that go last, gathered when a collection first asks for one.

    Most collections let nothing go: then no ledger and no record is read.
    """

    def __init__(self, gather: Callable[[], Iterable[BlobDigest]]) -> None:
        self._gather = gather

    @cached_property
    def _blobs(self) -> DigestSet:
        return DigestSet(self._gather())

    def __contains__(self, digest: object) -> bool:
        return digest in self._blobs


@dataclass
class CollectReport:
    """What a collection would do, or did, in each folder."""

    dry: bool
    folders: list[tuple[Plan, Collected | None]] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the document of `cache collect --json`."""
        return {
            "schema": "nfbuild.cache-collect/1",
            "ok": True,
            "dry_run": self.dry,
            "folders": [
                {
                    "folder": plan.root,
                    "blobs": plan.blobs,
                    "bytes": plan.bytes,
                    "files": len(plan.doomed),
                    "freed": plan.freed,
                    "reasons": plan.by_reason(),
                    "over": plan.over,
                    "done": None if done is None else vars(done),
                }
                for plan, done in self.folders
            ],
            "busy": self.busy,
        }


def collect_caches(start: str, *, dry: bool) -> CollectReport:
    """Collect the local cache and shared directories by the project's limits."""
    project = load(start)
    caches = open_caches(project.cache.folder)
    report = CollectReport(dry)
    policy = policy_of(project)
    try:
        protected = Protected(lambda: reached(project, caches))
        for root, mode in folders(project, caches):
            if dry:
                report.folders.append((plan_collection(root, policy, protected=protected), None))
                continue
            done = collect(root, policy, protected=protected, lock_mode=mode)
            if done is None:
                report.busy.append(root)
            else:
                report.folders.append(done)
    finally:
        caches.close()
    return report


def policy_of(project: Project) -> Policy:
    """Return how much a project lets its caches keep."""
    return Policy(project.cache.max_size, float(project.cache.max_age))


def folders(project: Project, caches: Caches) -> Iterator[tuple[str, int | None]]:
    """Yield the folders that are collected here, and the mode of what is made in each.

    The local cache, and every shared directory that may be written and is one.
    """
    yield caches.local_folder, None
    for tier in project.cache.shared:
        is_folder = tier.url.startswith("file:") or os.path.isabs(tier.url)
        if is_folder and tier.mode == "read-write" and os.path.isdir(directory_of(tier.url)):
            with contextlib.suppress(StoreError):
                store = open_directory(directory_of(tier.url), read_only=True)
                yield store.root, store.modes.file


def reached(project: Project, caches: Caches) -> Iterator[BlobDigest]:
    """Yield the blobs of the films that the ledger records in any lane, at the canvas's size."""
    book = Book(project.ledger_folder, project.ledger)
    for listed in discover(project).compositions:
        try:
            heads = book.heads(listed.stem, listed.name)
        except ProjectError:
            continue
        for lane in heads:
            with contextlib.suppress(StoreError):
                yield from _blobs_of(caches, read_parts(partial(_part_of, caches, lane)))


def _part_of(caches: Caches, lane: LaneHead, part: int) -> bytes:
    key = record_key(composition_id(lane.identity), lane.width, lane.height, part)
    return caches.local.get_record(COMPOSITION, key)


def _blobs_of(caches: Caches, runs: Iterator[FilmRun]) -> Iterator[BlobDigest]:
    """Yield the blobs of a film's frames, some thousand frames at a time."""
    while digests := dict.fromkeys(run.digest for run in islice(runs, _CHUNK)):
        for told in caches.look_up(PIXELS, digests, shared=False).values():
            yield BlobDigest(told.payload[:_DIGEST_BYTES].hex())


@dataclass
class ScrubReport:
    """What `cache verify` found: damaged things have been dropped or moved to quarantine."""

    scrubbed: Scrubbed
    wrong_pixels: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """1 when anything was damaged."""
        return EXIT_GATE if self.scrubbed.damage or self.wrong_pixels else 0

    def to_json(self) -> dict[str, Any]:
        """Return the document of `cache verify --json`."""
        return {
            "schema": "nfbuild.cache-verify/1",
            "ok": self.exit_code == 0,
            "blobs": self.scrubbed.blobs,
            "bytes": self.scrubbed.bytes,
            "records": self.scrubbed.records,
            "damage": [vars(one) for one in self.scrubbed.damage],
            "wrong_pixels": self.wrong_pixels,
            "unavailable": self.scrubbed.unavailable,
        }


def scrub_cache(start: str, *, share: Fraction, seed: int) -> ScrubReport:
    """Check a seeded share of the local cache: every digest, and the pixels that records name."""
    project = load(start)
    caches = open_caches(project.cache.folder)
    try:
        report = ScrubReport(scrub(caches.local, sample=float(share), seed=seed))
        report.wrong_pixels = list(_wrong_pixels(caches.local, share, seed))
    finally:
        caches.close()
    return report


def _wrong_pixels(local: LocalStore | DirectoryStore, share: Fraction, seed: int) -> Iterator[str]:
    """Yield and drop frames whose whole blob shows other pixels than their record names."""
    from nfbuild.pixels.digest import frame_digest  # noqa: PLC0415  for this command only
    from nfbuild.pixels.png import decode_own  # noqa: PLC0415

    for kind, key in list(local.records()):
        if kind != PIXELS or int(key[:8], 16) ^ (seed & 0xFFFFFFFF) >= share * (1 << 32):
            continue
        try:
            payload = local.get_record(PIXELS, key)
            rows, width, height = decode_own(local.get_blob(BlobDigest(payload[:32].hex())))
        except StoreError:
            continue
        if frame_digest(rows, width, height) != key:
            local.drop_record(PIXELS, key)
            yield key


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


__all__ = ["carry_out", "collect_caches", "explain_key", "reached", "scrub_cache"]
