"""One process of a crowd: `store_actor.py ROLE FOLDER SEED SECONDS`.

Roles play what builds, collectors and scrubbers do with a cache. Each prints `ready` when it
begins and one line of JSON at the end; a wrong answer ends it with exit code 3. The universe of
frames is fixed, so everybody knows what is right.
"""

import json
import os
import random
import sys
import time

from nfbuild.digests import BlobDigest, blob_digest, derive
from nfbuild.errors import StoreError
from nfbuild.store.claims import Claims
from nfbuild.store.collect import Policy, collect
from nfbuild.store.local import open_cache, write_blob
from nfbuild.store.scrub import scrub
from nfbuild.store.stack import open_caches

FRAMES = 80
KEYS = [derive("nfbuild 2026 test key v1", number) for number in range(FRAMES)]
WHOLE = FRAMES * 20_000


def frame(number):
    """Return the bytes of a frame: 20 kB that its number decides."""
    return (b"frame %03d " % number) * 2000


NAMES = [blob_digest(frame(number)) for number in range(FRAMES)]


class Wrong(Exception):
    """A store returned something else than what is right."""


def look(caches):
    """Return the numbers that can be had without drawing, each checked byte by byte."""
    found = caches.look_up("frame", KEYS)
    have = set()
    for number, key in enumerate(KEYS):
        if key not in found:
            continue
        if found[key].payload != NAMES[number].encode():
            raise Wrong(f"record {number}")
        try:
            data = caches.store.get_blob(BlobDigest(found[key].payload.decode()))
        except StoreError:
            continue
        if data != frame(number):
            raise Wrong(f"blob {number}")
        have.add(number)
    return have


def draw(caches, numbers):
    """Draw, as a worker and then its parent do: blobs, then records in one batch."""
    kept = {}
    for number in numbers:
        try:
            write_blob(caches.local_folder, NAMES[number], frame(number))
        except StoreError:
            continue
        kept[KEYS[number]] = NAMES[number].encode()
    caches.share_blobs(NAMES[number] for number in numbers)
    try:
        caches.store.put_records("frame", kept)
    except StoreError:
        return


def build(folder, seed, until, tiers=()):
    """Build again and again; return how often and what was drawn."""
    chance = random.Random(seed)
    rounds = drawn = 0
    while True:
        caches = open_caches(folder, tiers)
        missing = [number for number in range(FRAMES) if number not in look(caches)]
        chance.shuffle(missing)
        for start in range(0, len(missing), 16):
            draw(caches, missing[start : start + 16])
        drawn += len(missing)
        caches.close()
        rounds += 1
        if time.monotonic() > until:
            return {"rounds": rounds, "drawn": drawn}


def build_sharing(folder, seed, until):
    """Build once with claims: what another process is drawing is waited for."""
    chance = random.Random(seed)
    caches = open_caches(folder)
    claims = Claims(folder)
    drawn = 0
    while True:
        missing = [number for number in range(FRAMES) if number not in look(caches)]
        if not missing:
            break
        chance.shuffle(missing)
        idle = True
        for start in range(0, len(missing), 4):
            batch = missing[start : start + 4]
            mine = claims.claim(KEYS[number] for number in batch)
            # Looked up once more under the claim: whoever had it before has written by now.
            known = caches.look_up("frame", mine)
            todo = [n for n in batch if KEYS[n] in mine and KEYS[n] not in known]
            if todo:
                idle = False
                time.sleep(0.01 * len(todo))
                draw(caches, todo)
                drawn += len(todo)
            claims.release(mine)
        if idle:
            time.sleep(0.01)
        if time.monotonic() > until:
            raise Wrong("never done")
    claims.close()
    caches.close()
    return {"drawn": drawn}


def collect_often(folder, seed, until):
    """Collect with a limit that is smaller than one build."""
    done = busy = files = 0
    while time.monotonic() < until:
        result = collect(folder, Policy(WHOLE // 2, 86_400.0 * 30, min_free=0))
        if result is None:
            busy += 1
        else:
            done += 1
            files += result[1].files
        time.sleep(random.Random(seed + done).uniform(0, 0.05))
    return {"done": done, "busy": busy, "files": files}


def scrub_often(folder, seed, until):
    """Scrub; nobody damages anything here, so any damage is ours."""
    done = 0
    store = open_cache(folder)
    while time.monotonic() < until:
        report = scrub(store, sample=0.5, seed=seed + done)
        if report.damage:
            raise Wrong(str(report.damage))
        done += 1
    store.close()
    return {"done": done}


def main(role, folder, seed, seconds):
    print("ready", flush=True)
    until = time.monotonic() + float(seconds)
    roles = {
        "build": build,
        "share": build_sharing,
        "collect": collect_often,
        "scrub": scrub_often,
        "upload": lambda folder, seed, until: build(
            os.path.join(folder, f"local-{seed}"),
            seed,
            until,
            [(f"file://{folder}/shared", "read-write")],
        ),
    }
    try:
        result = roles[role](folder, int(seed), until)
    except Wrong as error:
        print(f"wrong: {error}", flush=True)
        raise SystemExit(3) from error
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
