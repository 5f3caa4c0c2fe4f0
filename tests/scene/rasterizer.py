"""Draw documents with bare ThorVG in a child process: the tests' own, smallest possible renderer.

The child answers jobs on its standard input until it is closed. A document that kills ThorVG
kills only the child; the next job starts a new one.
"""

import os
import pickle
import struct
import subprocess
import sys


class Rasterizer:
    """One child process. `faces` are (name, bytes) in load order; it stands in `folder`."""

    def __init__(self, folder, faces=()):
        self.folder = str(folder)
        self.faces = list(faces)
        self.child = None

    def draw(self, document, width, height):
        """Return the straight-alpha RGBA rows of `document`, or the result code's name."""
        if self.child is None or self.child.poll() is not None:
            self.child = subprocess.Popen(
                [sys.executable, __file__, self.folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            _send(self.child.stdin, self.faces)
        _send(self.child.stdin, (document, width, height))
        answer = _receive(self.child.stdout)
        return "DIED" if answer is None else answer

    def close(self):
        if self.child is not None:
            self.child.stdin.close()
            self.child.wait()
            self.child.stdout.close()


def _send(stream, value):
    data = pickle.dumps(value)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _receive(stream):
    head = stream.read(8)
    if len(head) < 8:
        return None
    return pickle.loads(stream.read(struct.unpack("<Q", head)[0]))


def _serve(folder):
    import ctypes

    from thorvg_python import Colorspace, Engine, Picture, SwCanvas
    from thorvg_python.base import EngineOption

    os.chdir(folder)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    engine = Engine(threads=0)
    library = engine.thorvg_lib
    kept = []
    for name, data in _receive(stdin):
        buffer = ctypes.create_string_buffer(data, len(data))
        kept.append(buffer)
        library.tvg_font_load_data.argtypes = [
            ctypes.c_char_p,
            ctypes.c_void_p,
            ctypes.c_uint32,
            ctypes.c_char_p,
            ctypes.c_bool,
        ]
        code = library.tvg_font_load_data(
            name.encode(), ctypes.addressof(buffer), len(data), b"ttf", False
        )
        if int(code) != 0:
            raise RuntimeError(f"face {name}: {code}")
    while (job := _receive(stdin)) is not None:
        document, width, height = job
        canvas = SwCanvas(engine, EngineOption.NONE)
        canvas.set_target(width, height, cs=Colorspace.ABGR8888S)
        picture = Picture(engine)
        result = picture.load_data(document, "svg", None, True)
        if int(result) != 0:
            _send(stdout, str(result))
            canvas.destroy()
            continue
        picture.set_size(width, height)
        canvas.add(picture)
        canvas.update()
        canvas.draw(True)
        canvas.sync()
        _send(stdout, bytes(canvas.buffer_arr))
        canvas.destroy()
    os._exit(0)


if __name__ == "__main__":
    _serve(sys.argv[1])
