"""Crowds and kills with real processes; the ordinary tests run a part, the stress script all."""

import json
import os
import random
import subprocess
import sys
import time

import store_actor

from nfbuild.store import blobs
from nfbuild.store.collect import Policy, collect
from nfbuild.store.directory import open_directory
from nfbuild.store.local import open_cache
from nfbuild.store.scrub import scrub

ACTOR = store_actor.__file__


def start(role, folder, seed, seconds):
    process = subprocess.Popen(
        [sys.executable, ACTOR, role, str(folder), str(seed), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.role = role
    return process


def finish(process, seconds):
    """Return what an actor reports; it must end by itself, in time, and right."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, (process.role, out, err)
    return json.loads(out.splitlines()[-1])


def temporaries(root):
    return [path for path, _ in blobs.list_temporaries(str(root))]


def assert_whole(root, store):
    """Every blob and record is whole, and a collection leaves no temporary file."""
    report = scrub(store)
    assert report.damage == ()
    assert report.unavailable is None
    collect(str(root), Policy(None, None, min_free=0))
    assert temporaries(root) == []


def kill_at_random(folder, *, kills, seed):
    """Kill `kills` writers at seeded random moments; return how many had begun to write."""
    chance = random.Random(seed)
    folder.mkdir(exist_ok=True)
    (folder / "shared").mkdir(exist_ok=True)
    began = 0
    most = 0
    for number in range(kills):
        role = ("build", "upload", "collect", "build")[number % 4]
        root = folder if role == "upload" else folder / "cache"
        if number % 8 == 0:
            # An empty start: the table, the layout and the shards are made under fire, too.
            subprocess.run(["rm", "-rf", str(folder / "cache")], check=True)
        root.mkdir(exist_ok=True)
        process = start(role, root, number % 3, 60)
        assert process.stdout.readline() == "ready\n", process.communicate()
        time.sleep(chance.uniform(0, 0.25))
        assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate()
        began += os.path.isdir(folder / "cache" / "blobs")
        most = max(most, len(temporaries(folder / "cache")), len(temporaries(folder / "shared")))
        if number % 10 == 9:
            check_after_kills(folder)
    check_after_kills(folder)
    # A killed writer leaves one temporary file at most; the checks between take them away.
    assert most <= 10 * 4
    return began


def check_after_kills(folder):
    cache = open_cache(str(folder / "cache"))
    assert_whole(folder / "cache", cache)
    cache.close()
    if os.listdir(folder / "shared"):
        shared = open_directory(str(folder / "shared"), read_only=False)
        assert_whole(folder / "shared", shared)
    began = time.monotonic()
    assert finish(start("build", folder / "cache", 1, 0), 60)["rounds"] == 1
    # A lock whose holder was killed delays nobody.
    assert time.monotonic() - began < 20
    assert finish(start("build", folder / "cache", 1, 0), 60)["drawn"] == 0


def crowd(folder, *, seconds, builders=8, collectors=2, scrubbers=1, seed=0):
    """Let them all work on one folder; return their reports by role."""
    folder.mkdir(exist_ok=True)
    actors = [start("build", folder, seed + number, seconds) for number in range(builders)]
    actors += [start("collect", folder, seed + number, seconds) for number in range(collectors)]
    actors += [start("scrub", folder, seed + number, seconds) for number in range(scrubbers)]
    reports = {"build": [], "collect": [], "scrub": []}
    try:
        for actor in actors:
            reports[actor.role].append(finish(actor, seconds + 60))
    finally:
        for actor in actors:
            actor.kill()
            actor.communicate()
    cache = open_cache(str(folder))
    assert_whole(folder, cache)
    cache.close()
    return reports
