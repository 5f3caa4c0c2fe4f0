"""What may be collected, how much is kept, and what goes last.

The local cache and every shared directory that may be written are collected; servers and buckets
look after themselves. What this project's ledger and recent builds reach goes last.
Not here: the verbs that collect (`ops.collect`, `settling`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import islice

from nfbuild.digests import BlobDigest
from nfbuild.errors import ProjectError, StoreError
from nfbuild.identity.manifest import composition_id
from nfbuild.ledger.book import Book
from nfbuild.ledger.entry import LaneHead
from nfbuild.ops.frames.filmrecord import FilmRun, read_parts, record_key
from nfbuild.project import Project, discover
from nfbuild.store.base import COMPOSITION, PIXELS
from nfbuild.store.collect import Policy
from nfbuild.store.digestset import DigestSet
from nfbuild.store.directory import open_directory
from nfbuild.store.stack import Caches, directory_of

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
