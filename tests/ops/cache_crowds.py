"""Kills and crowds of whole programs; the ordinary tests run a part, the stress script all."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import cache_actor
from cache_space import Product, environment, good, litter, product, project, start

from nfbuild.digests import blob_digest
from nfbuild.ops.collect import collect_caches, scrub_cache

ACTOR = cache_actor.__file__
SMALL = '[cache]\nmax_size = "6 KB"\n'


def truth(folder: Path) -> Product:
    """Return what a build makes that has no cache at all to read from."""
    space = project(folder)
    document = good(space.root, "build", "-j", "1")
    assert document["totals"]["rendered"] == document["totals"]["distinct"] > 20
    return product(space.root)


# --- kills ------------------------------------------------------------------------------------


def kill_at_random(folder: Path, *, kills: int, seed: int) -> dict[str, int]:
    """Kill `kills` programs at seeded random moments: builds, builds that upload, collections.

    Three at a time share a cache folder and a tier. Returns what was going on when they died.
    """
    chance = random.Random(seed)
    right = truth(folder / "cold")
    tier, cache = folder / "tier", folder / "cache"
    tier.mkdir()
    spaces = [
        project(folder / name, tier.as_uri(), cache=f'dir = "{cache}"') for name in ("a", "b", "c")
    ]
    began = time.monotonic()
    good(spaces[0].root, "build", "-j", "1")
    usual = time.monotonic() - began
    seen = {"killed": 0, "ended": 0, "litter": 0}
    while seen["killed"] < kills:
        _prepare(chance, cache, tier, [space.root for space in spaces])
        verbs = [
            ("build", "-j", "1", "--rehash"),
            chance.choice([("build", "-j", "2", "--no-cache"), ("build", "--recache")]),
            ("cache", "collect"),
        ]
        spaces[2].write("nfbuild.local.toml", SMALL)
        running = [start(space.root, *verb) for space, verb in zip(spaces, verbs, strict=True)]
        for process in running:
            time.sleep(chance.uniform(0, usual / 2))
            ended = process.poll() is not None
            seen["ended" if ended else "killed"] += 1
            process.kill()
            _, err = process.communicate()
            assert "Traceback" not in err, err
        seen["litter"] = max(seen["litter"], len(litter(folder)))
        if chance.random() < 0.12 or seen["killed"] >= kills:
            check_after_kills(spaces[0].root, cache, tier, right)
    return seen


def _prepare(chance: random.Random, cache: Path, tier: Path, roots: list[Path]) -> None:
    """Give the next builds something to do: no cache, no tier, or some blobs and records gone."""
    if chance.random() < 0.3:
        shutil.rmtree(cache, ignore_errors=True)
    if chance.random() < 0.3:
        shutil.rmtree(tier)
        tier.mkdir()
    for place in (cache, tier):
        for path in list(place.rglob("*.png")):
            if chance.random() < 0.3:
                path.unlink()
    for root in roots:
        if chance.random() < 0.5:
            shutil.rmtree(root / "out", ignore_errors=True)


def check_after_kills(root: Path, cache: Path, tier: Path, right: Product) -> None:
    """All is whole, the next build equals a cold one in time, and nothing is left lying about."""
    for place in (cache, tier):
        for path in place.rglob("blobs/*/*.png"):
            assert blob_digest(path.read_bytes()) == path.stem, path
    assert scrub_cache(str(root), share=Fraction(1), seed=0).to_json()["ok"]
    began = time.monotonic()
    document = good(root, "build", "-j", "1", "--rehash")
    # A lock whose holder was killed delays nobody.
    assert time.monotonic() - began < 20
    assert document["totals"]["cache_lied"] == document["cache"]["corrupt"] == 0
    assert product(root) == right
    collect_caches(str(root), dry=False)
    assert litter(cache) == litter(tier) == []


# --- crowds -----------------------------------------------------------------------------------


def act(role: str, root: Path, seconds: float) -> subprocess.Popen[str]:
    """Start one process of a crowd."""
    return subprocess.Popen(
        [sys.executable, ACTOR, role, str(root), str(seconds)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def crowd(
    folder: Path, *, seconds: float, builders: int, collectors: int = 0, scrubbers: int = 0
) -> dict[str, list[dict[str, int]]]:
    """Let whole programs work on one cache folder; return their reports by role."""
    folder.mkdir()
    right = truth(folder / "cold")
    (folder / "truth.json").write_text(json.dumps(right.files))
    limit = 'max_size = "6 KB"\n' if collectors else ""
    cache = f'dir = "{folder / "cache"}"\n{limit}'
    roles = ["build"] * builders + ["collect"] * collectors + ["scrub"] * scrubbers
    roots = [project(folder / f"{role}-{n}", cache=cache).root for n, role in enumerate(roles)]
    actors = [act(role, root, seconds) for role, root in zip(roles, roots, strict=True)]
    reports: dict[str, list[dict[str, int]]] = {"build": [], "collect": [], "scrub": []}
    try:
        for role, actor in zip(roles, actors, strict=True):
            out, err = actor.communicate(timeout=seconds + 90)
            assert actor.returncode == 0, (role, out[-2000:], err[-2000:])
            reports[role].append(json.loads(out.splitlines()[-1]))
    finally:
        for actor in actors:
            actor.kill()
            actor.communicate()
    check = roots[0]
    (check / "nfbuild.local.toml").write_text('[cache]\nmax_size = "1 GB"\n')
    assert scrub_cache(str(check), share=Fraction(1), seed=0).to_json()["ok"]
    collect_caches(str(check), dry=False)
    assert litter(folder / "cache") == []
    return reports
