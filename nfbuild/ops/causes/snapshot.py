"""Source snapshots: the files that a recorded film was made of, kept for explanations.

A snapshot is an answer record under the film's composition id: the composition and every file
nested in it, packed. It is a convenience of the cache like everything there: where it is gone, git
may have the files (`history`), and where neither has, `explain` stops at the entry's sub-inputs.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping

from nfbuild.digests import CompositionId, RecordKey, derive
from nfbuild.errors import StoreError
from nfbuild.ops.frames.films import Film
from nfbuild.ops.run.session import Session
from nfbuild.store.base import ANSWER

_CONTEXT = "nfbuild 2026 source snapshot key v1"
_LARGEST = 8 << 20
_SOURCES = (".svg", ".json", ".lottie")


def snapshot_key(identity: CompositionId, path: str) -> RecordKey:
    """Return the key of a film's snapshot.

    The path of its composition is in it: two files of the same text are one identity, and their
    snapshots name different files.
    """
    return RecordKey(derive(_CONTEXT, identity, path))


def sources_of(session: Session, film: Film) -> dict[str, bytes]:
    """Return the source files of a loaded film by project path: no pictures, no films."""
    found: dict[str, bytes] = {}
    for absolute in film.used:
        path = session.project.relative(absolute)
        if path.lower().endswith(_SOURCES):
            found[path] = session.files.data(absolute)
    return found


def keep_snapshot(session: Session, film: Film) -> None:
    """Keep the sources of a film whose entry is written; one that is too large is not kept."""
    files = {
        path: base64.b85encode(data).decode("ascii")
        for path, data in sources_of(session, film).items()
    }
    packed = zlib.compress(json.dumps(files, sort_keys=True).encode("utf-8"), 6)
    if len(packed) > _LARGEST:
        return
    try:
        session.caches.store.put_records(
            ANSWER, {snapshot_key(film.id, film.listed.path): packed}, replace=True
        )
    except StoreError:
        # Without it an explanation is shorter; nothing else rests on it.
        return


def read_snapshot(
    session: Session, identity: CompositionId, path: str
) -> Mapping[str, bytes] | None:
    """Return the sources that were kept for a composition id, or None."""
    try:
        packed = session.caches.store.get_record(ANSWER, snapshot_key(identity, path))
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, 16 * _LARGEST)
        files = json.loads(text)
        return {str(name): base64.b85decode(data) for name, data in files.items()}
    except (StoreError, ValueError, AttributeError, zlib.error, binascii.Error):
        return None
