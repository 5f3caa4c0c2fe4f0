"""What the tests run in child processes: ThorVG never runs in the process that judges it.

Each function takes and returns plain values; `run` starts one clean interpreter for a call.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Died(Exception):
    """A child process ended without an answer; its exit status."""


def run(function, *arguments, timeout=240):
    """Return what `function` of this module returns in a clean interpreter, or its error."""
    script = (
        "import pickle, sys; sys.path.insert(0, sys.argv[1]); import render_children as c\n"
        "name, arguments = pickle.load(sys.stdin.buffer)\n"
        "try: answer = (True, getattr(c, name)(*arguments))\n"
        "except c.expected() as error: answer = (False, error)\n"
        "pickle.dump(answer, open(sys.argv[2], 'wb'))\n"
    )
    path = os.path.join(os.environ["NFBUILD_TEST_ANSWERS"], f"{os.urandom(8).hex()}.pickle")
    done = subprocess.run(
        [sys.executable, "-c", script, HERE, path],
        input=pickle.dumps((function.__name__, arguments)),
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        raise Died(done.returncode)
    with open(path, "rb") as file:
        good, answer = pickle.load(file)
    if good:
        return answer
    raise answer


def expected():
    from nfbuild.errors import NfbuildError

    return NfbuildError


def brief(pixels):
    return hashlib.sha256(pixels).hexdigest()


def draw(staging, faces, tasks, keep_rasters=True):
    """Draw tasks one after another on one renderer; return each frame's digest of its rows."""
    from nfbuild.render.renderer import Renderer

    os.chdir(staging)
    renderer = Renderer(faces, keep_rasters=keep_rasters)
    return [brief(renderer.draw(task)) for task in tasks]


def draw_rows(staging, faces, task):
    """Return one task's straight RGBA rows."""
    from nfbuild.render.renderer import Renderer

    os.chdir(staging)
    return bytes(Renderer(faces).draw(task))


def compare_grounds(staging, faces, tasks, trust):
    """See `render_random.compare`."""
    import render_random

    return render_random.compare(staging, faces, tasks, trust=trust)


def compare_tops(staging, faces, films, changed):
    """See `render_random.compare_tops`."""
    import render_random

    return render_random.compare_tops(staging, faces, films, changed)


def draw_in_box(element, box, size):
    """Draw an element over grey, whole and into a box; tell how many pixels each of them moves.

    Returns the pixels moved in the box by the whole drawing, and those that the box has otherwise.
    """
    from nfbuild.render.renderer import Clock, Renderer
    from nfbuild.render.tasks import DrawTask

    width, height = size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"><defs>'
        '<clipPath id="c"><circle cx="60" cy="40" r="33"/></clipPath></defs>'
    ).encode()
    grey = f'<rect width="{width}" height="{height}" fill="#888"/></svg>'.encode()
    renderer = Renderer({}, keep_rasters=False)
    below = bytes(renderer.draw(DrawTask(head + grey, width, height), straight=False))
    library, canvas = renderer._ready()

    def drawn(viewport):
        renderer._buffer[:] = below
        library.canvas_sync(canvas)
        library.canvas_set_viewport(canvas, *viewport)
        renderer._paint(library, canvas, head + element + b"</svg>", Clock(), clear=False)
        return bytes(renderer._buffer)

    whole, boxed = drawn((0, 0, width, height)), drawn(box)
    left, upper, across, down = box
    places = [
        4 * (y * width + x) for y in range(upper, upper + down) for x in range(left, left + across)
    ]
    moved = sum(whole[at : at + 4] != below[at : at + 4] for at in places)
    return moved, sum(whole[at : at + 4] != boxed[at : at + 4] for at in places)


def draw_each_first(staging, faces, tasks, make_room=True):
    """Draw each task by a new renderer, then all by one in both orders; return three digests each.

    `make_room=False` leaves the engine as the rasterizer starts it.
    """
    from nfbuild.render.engine import Engine
    from nfbuild.render.renderer import Renderer

    if not make_room:
        Engine.make_room = lambda *_: None
    first = [draw(staging, faces, [task])[0] for task in tasks]
    renderer = Renderer(faces)
    forwards = [brief(renderer.draw(task)) for task in tasks]
    renderer.reset()
    backwards = [brief(renderer.draw(task)) for task in reversed(tasks)]
    return list(zip(first, forwards, reversed(backwards), strict=True))


def draw_both_ways(staging, faces, tasks):
    """Draw each task premultiplied, then straight; tell alphas, whether colours differ, digests."""
    from nfbuild.render.renderer import Renderer

    os.chdir(staging)
    renderer = Renderer(faces)
    rows = []
    for task in tasks:
        premultiplied = bytes(renderer.draw(task, straight=False))
        straight = bytes(renderer.draw(task))
        same_alpha = premultiplied[3::4] == straight[3::4]
        rows.append((same_alpha, premultiplied != straight, brief(straight)))
    return rows


def draw_after_failures(staging, faces, bad, good):
    """Draw a good task after each bad one; return the codes of the failures, and the digests."""
    from nfbuild.errors import DrawError
    from nfbuild.render.renderer import Renderer

    os.chdir(staging)
    renderer = Renderer(faces)
    codes, digests = [], []
    for task in bad:
        try:
            renderer.draw(task)
        except DrawError as error:
            codes.append(error.code)
        else:
            codes.append(None)
        digests.append(brief(renderer.draw(good)))
    return codes, digests


def draw_by_binding(staging, faces, tasks):
    """Draw with the binding's own classes, a new engine for every frame, faces in order."""
    import thorvg_python as tvg
    from thorvg_python.base import Colorspace, EngineOption

    from nfbuild.render.thorvg import Library

    os.chdir(staging)
    digests = []
    for task in tasks:
        engine = tvg.Engine(threads=0)
        # The binding's own function for faces from memory calls another C function.
        library = Library()
        for digest in task.faces:
            with open(faces[digest], "rb") as file:
                data = file.read()
            library.font_load_data(digest.encode(), data, len(data), b"ttf", True)
        canvas = tvg.SwCanvas(engine, EngineOption.NONE)
        canvas.set_target(task.width, task.height, cs=Colorspace.ABGR8888S)
        if task.lottie is None:
            picture = tvg.Picture(engine)
            assert picture.load_data(task.document, "svg", None, True) == 0
        else:
            animation = tvg.LottieAnimation(engine)
            picture = animation.get_picture()
            assert picture.load_data(task.document, "lottie", None, True) == 0
            animation.set_frame(task.lottie.number)
        picture.set_size(task.width, task.height)
        assert canvas.add(picture) == 0
        assert canvas.draw(True) == 0
        assert canvas.sync() == 0
        digests.append(brief(bytes(canvas.buffer_arr)))
        canvas.destroy()
        engine.term()
        del engine
    return digests


def perform(setup, tasks):
    """Perform tasks with one worker; return its answers."""
    from nfbuild.render.worker import Worker

    worker = Worker(setup)
    return [worker.perform(task) for task in tasks]


def reports_of(module):
    """Return which modules of others are loaded after importing one of ours."""
    __import__(module)
    return sorted({name.partition(".")[0] for name in sys.modules})


def warmed(setup):
    """Return which modules are loaded after a worker was warmed and drew one frame."""
    from nfbuild.render.tasks import DrawTask
    from nfbuild.render.worker import Worker

    worker = Worker(setup)
    worker.warm()
    worker.perform(DrawTask(b'<svg width="4" height="4"/>', 4, 4))
    return sorted({name.partition(".")[0] for name in sys.modules})


def memory_over(staging, faces, task, times):
    """Return resident kilobytes after a tenth of the draws, and after all of them."""
    import resource

    from nfbuild.render.renderer import Renderer

    os.chdir(staging)
    renderer = Renderer(faces)
    marks = []
    for number in range(times):
        renderer.draw_frame(task)
        if number in (times // 10, times - 1):
            marks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return marks


class Writer:
    """A blob writer into a folder, as a store would give."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, digest, data):
        with open(os.path.join(self.folder, f"{digest}.png"), "wb") as file:
            file.write(data)


def load_library(path):
    """Load another file as the rasterizer library."""
    from nfbuild.render.thorvg import Library

    Library(path)
