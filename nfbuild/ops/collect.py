"""`cache collect` and `cache verify`: making room in the caches, and checking what they keep."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import BlobDigest
from nfbuild.errors import EXIT_GATE, StoreError
from nfbuild.ops.caches.collecting import Protected, folders, policy_of, reached
from nfbuild.project import load
from nfbuild.store.base import PIXELS
from nfbuild.store.collect import Collected, Plan, collect, plan_collection
from nfbuild.store.directory import DirectoryStore
from nfbuild.store.local import LocalStore
from nfbuild.store.scrub import Scrubbed, scrub
from nfbuild.store.stack import open_caches


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
