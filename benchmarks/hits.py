"""Fetch every frame that a shared directory holds into a cold local cache: nothing but the hits.

    python -m benchmarks.hits CACHE TIER

Asks for the two records of each frame and for its blob, as a build does, and checks each. Prints
how many frames were brought as JSON; fails where one was not.
"""

from __future__ import annotations

import json
import os
import sys

from nfbuild.digests import BlobDigest
from nfbuild.store.base import FRAME, PIXELS
from nfbuild.store.stack import open_caches

_DIGEST_BYTES = 32


def bring(cache: str, tier: str) -> int:
    """Bring all frames of `tier` into `cache`; returns how many there are."""
    records = os.path.join(tier, "records", FRAME)
    keys = [
        name.removesuffix(".rec")
        for shard in sorted(os.listdir(records))
        for name in sorted(os.listdir(os.path.join(records, shard)))
    ]
    with open_caches(cache, [(f"file://{tier}", "read-only")]) as caches:
        frames = caches.look_up(FRAME, keys)
        places = caches.look_up(PIXELS, [found.payload.hex() for found in frames.values()])
        blobs = [BlobDigest(found.payload[:_DIGEST_BYTES].hex()) for found in places.values()]
        brought = caches.fetch_blobs(blobs)
    if not len(keys) == len(places) == len(brought) > 0:
        raise SystemExit(f"{len(keys)} frames are known, {len(brought)} were brought")
    return len(brought)


if __name__ == "__main__":
    print(json.dumps({"hits": bring(*sys.argv[1:])}))
