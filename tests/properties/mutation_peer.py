"""A child that draws an author's bytes without a line of nfbuild: the peer, or bare ThorVG.

Jobs come on standard input, answers go out in order; a document that kills the child kills only
the child. `Oracle` is the parent's end; its answers are lists of digests, one a frame, or a text
that says why there are none.
"""

import os
import pickle
import struct
import subprocess
import sys


class Oracle:
    """One child process; `home` is where the peer finds its further faces."""

    def __init__(self, home):
        self.home = str(home)
        self.child = None
        self.owed = 0

    def ask(self, path, numbers, plain):
        """Ask for frames of a file: by the peer, or a plain one by bare ThorVG (w, h in plain)."""
        if self.child is None or self.child.poll() is not None:
            self.close()
            self.child = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ["PATH"], "HOME": self.home},
            )
        try:
            _send(self.child.stdin, (path, list(numbers), plain))
        except BrokenPipeError:
            self.child.kill()

    def take(self):
        """Return the answer to the job asked last."""
        answer = _receive(self.child.stdout)
        if answer is None:
            self.child.kill()
            self.child.wait()
            return "died"
        return answer

    def close(self):
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            self.child.stdin.close()
            self.child.stdout.close()
            self.child = None


def _send(stream, value):
    data = pickle.dumps(value)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _receive(stream):
    head = stream.read(8)
    if len(head) < 8:
        return None
    return pickle.loads(stream.read(struct.unpack("<Q", head)[0]))


def _digest(rows, width, height):
    import hashlib

    return hashlib.sha256(f"RGBA {width}x{height}\0".encode() + rows).hexdigest()


def _by_peer(path, numbers):
    from nanoframes.media import MediaCache, MediaResolver
    from nanoframes.parse import parse_file
    from nanoframes.render import render_frame
    from nanoframes.timeline import frame_times

    document = parse_file(path)
    resolver = MediaResolver(MediaCache(), document.composition.fps)
    resolver.prepare(document)
    times = frame_times(document.composition)
    found = []
    for number in numbers:
        if number >= len(times):
            found.append(None)
            continue
        image = render_frame(
            document, times[number], threads=0, media_resolver=resolver, warn_blank=False
        )
        found.append(_digest(image.tobytes(), *image.size))
    return found


def _by_thorvg(path, numbers, size, engine):
    from thorvg_python import Colorspace, LottieAnimation, Picture, SwCanvas
    from thorvg_python.base import EngineOption

    with open(path, "rb") as file:
        data = file.read()
    canvas = SwCanvas(engine, EngineOption.NONE)
    canvas.set_target(*size, cs=Colorspace.ABGR8888S)
    scene = None
    if path.endswith(".json"):
        scene = LottieAnimation(engine)
        picture = scene.get_picture()
    else:
        picture = Picture(engine)
    try:
        result = picture.load_data(data, "svg" if scene is None else "lottie", None, True)
        if int(result) != 0:
            return f"thorvg {result}"
        picture.set_size(*size)
        canvas.add(picture)
        found = []
        for number in numbers:
            if scene is not None:
                scene.set_frame(number)
            canvas.update()
            canvas.draw(True)
            canvas.sync()
            found.append(_digest(bytes(canvas.buffer_arr), *size))
        return found
    finally:
        canvas.destroy()


def _serve():
    from thorvg_python import Engine

    engine = None
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the peer prints is nobody's answer
    while (job := _receive(stdin)) is not None:
        path, numbers, plain = job
        try:
            if plain is None:
                answer = _by_peer(path, numbers)
            else:
                if engine is None:
                    engine = Engine(threads=0)
                os.chdir(os.path.dirname(path))
                answer = _by_thorvg(path, numbers, plain, engine)
        except Exception as error:  # noqa: BLE001  whatever the peer raises is its answer
            answer = f"{type(error).__name__}: {error}"
        _send(stdout, answer)
    os._exit(0)


if __name__ == "__main__":
    _serve()
