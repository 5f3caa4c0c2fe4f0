"""Lottie scenes for the tests, services that answer from memory, and both programs' frames."""

import base64
import glob
import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile

from nfbuild.digests import file_digest
from nfbuild.errors import MediaError
from nfbuild.render.tasks import DrawTask, LottieShot, Setup
from nfbuild.scene.lottie import load_lottie
from nfbuild.scene.protocols import (
    Face,
    Limits,
    NeedsAnswers,
    Picture,
    Resolved,
    Services,
    SourceFile,
)


def fixed(value):
    return {"a": 0, "k": value}


def layer(kind, name, **members):
    transform = {
        "o": fixed(100),
        "r": fixed(0),
        "p": fixed([30, 20, 0]),
        "a": fixed([0, 0, 0]),
        "s": fixed([100, 100, 100]),
    }
    made = {"ty": kind, "nm": name, "ip": 0, "op": 100, "st": 0, "ks": transform}
    made.update(members)
    return made


def box(name="box", color=(1, 0, 0, 1), **members):
    shapes = [
        {
            "ty": "gr",
            "it": [
                {"ty": "rc", "d": 1, "s": fixed([20, 20]), "p": fixed([0, 0]), "r": fixed(3)},
                {"ty": "fl", "c": fixed(list(color)), "o": fixed(80), "r": 1},
                {
                    "ty": "tr",
                    "p": fixed([0, 0]),
                    "a": fixed([0, 0]),
                    "s": fixed([100, 100]),
                    "r": fixed(0),
                    "o": fixed(100),
                },
            ],
        }
    ]
    return layer(4, name, shapes=shapes, **members)


def moving(**members):
    made = box("moving", (0, 0.4, 1, 1), **members)
    ease = {"i": {"x": [0.5], "y": [1]}, "o": {"x": [0.5], "y": [0]}}
    keys = [{"t": 0, "s": [5, 20, 0], **ease}, {"t": 20, "s": [60, 30, 0]}]
    made["ks"]["p"] = {"a": 1, "k": keys}
    return made


def expressed(text):
    made = box("driven")
    made["ks"]["p"] = {"a": 0, "k": [30, 20, 0], "x": text}
    return made


def words(text, font, size=20, **members):
    document = {
        "s": size,
        "f": font,
        "t": text,
        "j": 0,
        "tr": 0,
        "lh": size,
        "ls": 0,
        "fc": [1, 0, 0],
    }
    made = layer(5, "words", t={"d": {"k": [{"s": document, "t": 0}]}, "p": {}, "a": []}, **members)
    made["t"]["m"] = {"g": 1, "a": fixed([0, 0])}
    made["ks"]["p"] = fixed([5, 30, 0])
    return made


def scene(*layers, **members):
    made = {"v": "5.7.0", "fr": 10, "ip": 0, "op": 10, "w": 64, "h": 48, "assets": []}
    made["layers"] = list(layers) or [box()]
    made.update(members)
    return {key: value for key, value in made.items() if value is not None}


def source(value, path="scene.json"):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return SourceFile(path, data, file_digest(data))


def archive(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data if isinstance(data, bytes) else json.dumps(data))
    return buffer.getvalue()


def png(color, side=8):
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGBA", (side, side), color).save(buffer, "PNG")
    return buffer.getvalue()


def data_url(data, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def face_of(path):
    with open(path, "rb") as file:
        data = file.read()
    stem = os.path.splitext(os.path.basename(path))[0]
    return Face(file_digest(data), stem, stem, stem, stem, 400, False, data)


class Memory:
    """Files, pictures and faces from memory; pictures are drawable as they are."""

    def __init__(self, files=None, faces=(), ask_first=False):
        self.files = dict(files or {})
        self.faces = list(faces)
        self.ask_first = ask_first
        self.read_paths = []
        self.embedded = []
        self.staged = {}

    def services(self):
        return Services(self, self, self, None)

    def read(self, reference, *, base, place):
        self.read_paths.append(reference)
        if reference not in self.files:
            raise MediaError(f"there is no `{reference}`", place=place, code="media.missing")
        return SourceFile(reference, self.files[reference], file_digest(self.files[reference]))

    def prepare(self, file, *, place):
        if self.ask_first:
            raise NeedsAnswers([file.path])
        self.staged[f"{file.digest}.png"] = file.data
        return Picture(file.digest, ".png", 8, 8)

    def resolve(self, family, weight, style, *, embedded):
        for face in self.faces:
            if face.family == family:
                return Resolved(face, True)
        return Resolved(self.faces[0], False)

    def embed(self, data, *, family, place):
        face = Face(file_digest(data), family, family, family, family, 400, False, data)
        self.embedded.append(face)
        return face


def load(value, memory=None, *, background=None, path="scene.json"):
    memory = memory or Memory()
    return load_lottie(source(value, path), memory.services(), Limits(), background=background)


def draw_all(composition, memory, folder, numbers=None):
    """Return the frames' SHA-256 digests in the peer's form, drawn in a child process."""
    staging = os.path.join(folder, "staging")
    os.makedirs(staging, exist_ok=True)
    for name, data in memory.staged.items():
        with open(os.path.join(staging, name), "wb") as file:
            file.write(data)
    faces = {face.digest: face.data for face in [*memory.faces, *memory.embedded]}
    tasks = []
    for number in numbers or range(composition.frames):
        baked = composition.bake(number)
        shot = LottieShot(
            float(baked.lottie.number), baked.lottie.expressions, baked.lottie.background
        )
        names = tuple(picture.name for picture in baked.pictures)
        tasks.append(
            DrawTask(
                baked.document,
                baked.width,
                baked.height,
                names,
                baked.faces,
                shot,
                png=False,
                sha256=True,
            )
        )
    job = pickle.dumps((Setup(staging, faces), tasks))
    done = subprocess.run([sys.executable, __file__], input=job, capture_output=True, check=True)
    return pickle.loads(done.stdout)


def peer_all(paths, folder, background="none"):
    """Return the frames' digests of several scene files, drawn by one process of the peer."""
    os.makedirs(folder, exist_ok=True)
    run = (
        "import sys; from nanoframes.cli import main\n"
        "for i, p in enumerate(sys.argv[3:]):\n"
        "  main(['lottie', p, '-o', f'{sys.argv[1]}/{i}.mp4', '--bg', sys.argv[2],"
        " '--keep-frames', f'{sys.argv[1]}/{i}'])"
    )
    command = [sys.executable, "-c", run, folder, background, *paths]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [_digests(os.path.join(folder, str(index))) for index in range(len(paths))]


def _digests(folder):
    from PIL import Image

    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*.png"))):
        with Image.open(path) as image:
            rows = image.convert("RGBA")
            head = f"RGBA {rows.width}x{rows.height}\0".encode()
            found.append(hashlib.sha256(head + rows.tobytes()).hexdigest())
    return found


def _serve():
    from nfbuild.render.worker import Worker

    setup, tasks = pickle.loads(sys.stdin.buffer.read())
    worker = Worker(setup)
    answers = [worker.perform(task).sha256 for task in tasks]
    sys.stdout.buffer.write(pickle.dumps(answers))
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    _serve()
