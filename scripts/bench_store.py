"""Measure the stores against plain copying, side by side in one run.

    python scripts/bench_store.py [--frames 900] [--rounds 5]

Prints the best of the rounds. Targets: a local hit at most 1 ms; all frames from a directory tier
into a cold cache at most twice `cp` of the same files plus 0.5 s. Exits with 1 when one is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from nfbuild.digests import BlobDigest, derive
from nfbuild.store.local import open_cache
from nfbuild.store.stack import open_caches

_SIZE = 250_000


def timed(act: Callable[[], object]) -> float:
    """Return how many seconds `act` takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=900)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="nfbuild-bench-store-"))
    try:
        return measure(base, options.frames, options.rounds)
    finally:
        shutil.rmtree(base)


def measure(base: Path, frames: int, rounds: int) -> int:
    """Take turns, so that a busy machine is busy for all of them."""
    url = (base / "shared").as_uri()
    keys = [derive("nfbuild 2026 bench key v1", number) for number in range(frames)]
    first = open_caches(str(base / "first"), [(url, "read-write")])
    names = [first.store.put_blob(os.urandom(_SIZE)) for _ in range(frames)]
    records = {key: bytes.fromhex(name) for key, name in zip(keys, names, strict=True)}
    first.store.put_records("frame", records)
    first.close()
    first.local.close()
    best = dict.fromkeys(("hit", "records", "put records", "tier", "cp"), float("inf"))

    def keep(name: str, seconds: float) -> None:
        best[name] = min(best[name], seconds)

    def cold(folder: Path) -> None:
        caches = open_caches(str(folder), [(url, "read-only")])
        found = caches.look_up("frame", keys)
        here = caches.fetch_blobs(BlobDigest(told.payload.hex()) for told in found.values())
        assert len(here) == frames
        caches.close()

    for number in range(rounds):
        local = open_cache(str(base / "first"))
        hits = timed(lambda local=local: [local.get_blob(name) for name in names])  # type: ignore[misc]
        keep("hit", hits / frames)
        keep("records", timed(lambda local=local: local.get_records("frame", keys)))  # type: ignore[misc]
        local.close()
        fresh = open_cache(str(base / f"records-{number}"))
        fresh.record_count()
        keep("put records", timed(lambda fresh=fresh: fresh.put_records("frame", records)))  # type: ignore[misc]
        fresh.close()
        source = base / "shared" / "blobs"
        target = base / f"copy-{number}"
        keep("cp", timed(lambda: subprocess.run(["cp", "-r", source, target], check=True)))  # noqa: B023
        shutil.rmtree(target)
        keep("tier", timed(lambda: cold(base / f"cold-{number}")))  # noqa: B023
        shutil.rmtree(base / f"cold-{number}")
    bound = 2 * best["cp"] + 0.5
    print(f"a local hit of {_SIZE // 1000} kB, checked: {best['hit'] * 1e3:.3f} ms (at most 1)")
    print(f"{frames} records read, in one batch: {best['records'] * 1e3:.0f} ms")
    print(f"{frames} records written, in one transaction: {best['put records'] * 1e3:.0f} ms")
    print(f"{frames} frames from a directory tier: {best['tier']:.2f} s (at most {bound:.2f})")
    print(f"{frames} files by cp: {best['cp']:.2f} s")
    return int(best["hit"] > 0.001 or best["tier"] > bound)


if __name__ == "__main__":
    raise SystemExit(main())
