"""The floor: load, draw, digest, PNG, write, for the same distinct baked frames, and nothing else.

    python -m benchmarks.floor FOLDER [--processes N]

`FOLDER` is what `python -m benchmarks.gather` has made. The frames are drawn with one process per
core; what is printed is how long the loops took from the moment when every engine was up. The floor
has no start-up, no store, no plan and no order. It calls the rasterizer's C functions itself.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import multiprocessing
import os
import pickle
import shutil
import time
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier
from typing import Any, NamedTuple

from blake3 import blake3

from nfbuild.pixels import png


class Shot(NamedTuple):
    """One distinct frame: its document, its raster size, and the faces that it names."""

    document: bytes
    width: int
    height: int
    faces: tuple[str, ...]


def _library() -> Any:
    spec = importlib.util.find_spec("thorvg_python")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the rasterizer is not installed")
    folder = spec.submodule_search_locations[0]
    found = [name for name in sorted(os.listdir(folder)) if name.startswith("libthorvg")]
    library = ctypes.CDLL(os.path.join(folder, found[0]))
    for maker in ("tvg_swcanvas_create", "tvg_picture_new"):
        getattr(library, maker).restype = ctypes.c_void_p
    return library


def _must(code: int) -> None:
    if code:
        raise RuntimeError(f"the rasterizer failed with result {code}")


def _loop(folder: str, counter: Synchronized[int], ready: Barrier, answers: Any) -> None:
    with open(os.path.join(folder, "shots.pickle"), "rb") as file:
        shots = [Shot(*each) for each in pickle.load(file)]
    frames = os.path.join(folder, "frames")
    os.chdir(os.path.join(folder, "staging"))
    library = _library()
    _must(library.tvg_engine_init(0))
    canvas = ctypes.c_void_p(library.tvg_swcanvas_create(0))
    faces: dict[str, bytes] = {}
    for name in sorted({face for shot in shots for face in shot.faces}):
        with open(f"{name}.ttf", "rb") as face:
            faces[name] = face.read()
        data = faces[name]
        args = (name.encode(), data, len(data), b"ttf", ctypes.c_bool(False))
        _must(library.tvg_font_load_data(*args))
    size: tuple[int, int] = (0, 0)
    buffer = bytearray()
    digests: dict[int, str] = {}
    ready.wait()
    while True:
        with counter.get_lock():
            number = counter.value
            counter.value += 1
        if number >= len(shots):
            break
        shot = shots[number]
        if (shot.width, shot.height) != size:
            size = (shot.width, shot.height)
            fresh = bytearray(4 * shot.width * shot.height)
            held = ctypes.addressof(ctypes.c_char.from_buffer(fresh))
            where = ctypes.c_void_p(held)
            _must(library.tvg_swcanvas_set_target(canvas, where, size[0], size[0], size[1], 2))
            buffer = fresh
        paint = ctypes.c_void_p(library.tvg_picture_new())
        text = shot.document
        true = ctypes.c_bool(True)
        _must(library.tvg_picture_load_data(paint, text, len(text), b"svg", None, true))
        width, height = ctypes.c_float(size[0]), ctypes.c_float(size[1])
        _must(library.tvg_picture_set_size(paint, width, height))
        _must(library.tvg_canvas_add(canvas, paint))
        _must(library.tvg_canvas_draw(canvas, true))
        _must(library.tvg_canvas_sync(canvas))
        _must(library.tvg_canvas_remove(canvas, None))
        hasher = blake3(derive_key_context="nfbuild 2026 frame pixels v1")
        hasher.update(b"RGBA %dx%d\0" % size).update(buffer)
        digests[number] = hasher.hexdigest()
        data = png.encode(buffer, *size)
        name = blake3(data).hexdigest()
        with open(os.path.join(frames, name[:2], f"{name}.png"), "wb", buffering=0) as picture:
            picture.write(data)
    answers.put(digests)


def run(folder: str, processes: int) -> dict[str, Any]:
    """Draw what was gathered; returns frames, seconds, and the digests in the order gathered."""
    frames = os.path.join(folder, "frames")
    shutil.rmtree(frames, ignore_errors=True)
    for shard in range(256):
        os.makedirs(os.path.join(frames, f"{shard:02x}"))
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    ready = context.Barrier(processes + 1)
    answers = context.Queue()
    workers = [
        context.Process(target=_loop, args=(folder, counter, ready, answers))
        for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    ready.wait(120)
    began = time.perf_counter()
    digests: dict[int, str] = {}
    for _ in workers:
        digests |= answers.get()
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    in_order = [digests[number] for number in sorted(digests)]
    return {"frames": len(in_order), "seconds": seconds, "digests": in_order}


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> None:
    """Draw what was gathered and print one JSON document."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.floor")
    parser.add_argument("folder")
    parser.add_argument("--processes", type=int, default=cores())
    asked = parser.parse_args()
    print(json.dumps(run(os.path.abspath(asked.folder), asked.processes)))


if __name__ == "__main__":
    main()
