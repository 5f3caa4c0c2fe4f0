"""A small world that answers the scene: files of a folder, given faces, pictures by Pillow."""

import io
import os

from rasterizer import Rasterizer

from nfbuild.digests import file_digest
from nfbuild.errors import FontError, MediaError
from nfbuild.scene.load import load
from nfbuild.scene.protocols import (
    Face,
    FontConfig,
    Ink,
    Limits,
    Picture,
    Resolved,
    Services,
    SourceFile,
)


def peer_folder(*parts):
    """Return a path in the peer's package."""
    import nanoframes

    return os.path.join(os.path.dirname(nanoframes.__file__), *parts)


def face_of(data, stem):
    return Face(file_digest(data), stem, stem, stem, stem, 400, False, data)


class DiskFiles:
    def __init__(self, folder):
        self.folder = str(folder)

    def read(self, reference, *, base, place):
        path = os.path.normpath(os.path.join(os.path.dirname(base), reference))
        full = os.path.join(self.folder, path)
        if not os.path.exists(full):
            raise MediaError(f"`{path}` does not exist", place=place, code="media.missing")
        if os.path.isdir(full):
            raise MediaError(f"`{path}` is a directory", place=place, code="media.directory")
        with open(full, "rb") as file:
            data = file.read()
        return SourceFile(path, data, file_digest(data))


class StemFaces:
    """Families match the stem exactly, as the peer's do; anything else is the first face."""

    def __init__(self, faces):
        self.faces = list(faces)
        self.embedded = {}

    def resolve(self, family, weight, style, *, embedded):
        name = (family or "").strip()
        for face in (*embedded, *self.faces):
            if name and name in (face.stem, face.family):
                return Resolved(face, matched=True)
        return Resolved(self.faces[0], matched=not name)

    def embed(self, data, *, family, place):
        if data[:4] != b"\x00\x01\x00\x00":
            raise FontError("no TrueType face", place=place, hint="embed a .ttf")
        face = face_of(data, family)
        self.embedded[face.digest] = face
        return face


class PlainPictures:
    """Pictures that the rasterizer draws right as they are; staged in `folder`."""

    def __init__(self, folder):
        self.folder = str(folder)

    def prepare(self, file, *, place):
        from PIL import Image

        try:
            with Image.open(io.BytesIO(file.data)) as image:
                size, kind = image.size, image.format
        except OSError:
            raise MediaError(f"`{file.path}` is no picture", place=place) from None
        picture = Picture(file.digest, ".jpg" if kind == "JPEG" else ".png", *size)
        with open(os.path.join(self.folder, picture.name), "wb") as staged:
            staged.write(file.data)
        return picture


class World:
    """Services over a folder, and a rasterizer that stands in the staging folder."""

    def __init__(self, folder, staging, faces):
        self.folder = str(folder)
        self.faces = StemFaces(faces)
        self.rasterizer = Rasterizer(staging, [(face.digest, face.data) for face in faces])
        self.services = Services(
            files=DiskFiles(folder),
            faces=self.faces,
            pictures=PlainPictures(staging),
            measurer=self,
            fonts=FontConfig(tuple(faces)),
        )
        self.measured = 0

    def ink(self, document, width, height, faces):
        self.measured += 1
        rows = self.rasterizer.draw(document, width, height)
        lines = [y for y in range(height) if any(rows[y * width * 4 + 3 : (y + 1) * width * 4 : 4])]
        if not lines:
            return Ink(True, 0, 0, 0, 0)
        columns = [x for x in range(width) if any(rows[x * 4 + 3 :: width * 4])]
        return Ink(False, columns[0], lines[0], columns[-1] + 1, lines[-1] + 1)

    def source(self, path):
        with open(os.path.join(self.folder, path), "rb") as file:
            data = file.read()
        return SourceFile(path, data, file_digest(data))

    def load(self, path, limits=None):
        return load(self.source(path), self.services, limits or Limits())

    def text(self, text, path="case.nf.svg", limits=None):
        data = text if isinstance(text, bytes) else text.encode()
        source = SourceFile(path, data, file_digest(data))
        return load(source, self.services, limits or Limits())

    def draw(self, frame):
        return self.rasterizer.draw(frame.document, frame.width, frame.height)

    def close(self):
        self.rasterizer.close()
