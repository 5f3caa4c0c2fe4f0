"""What identifies and draws the cases of the mutation engine: one worker, one peer, kept alive.

`identify` runs the program's own loading, baking and keying on files of a folder. `draw` has the
program's worker draw the baked frames, each distinct set of worker inputs once (told apart by
the inputs themselves, not by any key). `oracle` has the author's bytes drawn by others.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
from fractions import Fraction

from mutation_peer import Oracle

from nfbuild.dataclasses import dataclass, replace
from nfbuild.errors import NfbuildError
from nfbuild.execute.base import Done, Job, WorkerSetup
from nfbuild.execute.pool import ProcessPool
from nfbuild.identity.keys import frame_key
from nfbuild.ops.frames.films import bake, draw_task, load_film
from nfbuild.ops.run import toolchain as toolchains
from nfbuild.ops.run.answers import Answers, Staging
from nfbuild.ops.run.faces import FaceShelf
from nfbuild.ops.run.session import Session, Settings
from nfbuild.project import Listed, load
from nfbuild.render.tasks import Setup
from nfbuild.store.files import HOST_FILES


@dataclass
class Film:
    """A case as the program sees it: its id, and the key and worker inputs of each frame looked at.

    `wanted` are the frame numbers; `refused` says why there is none of this.
    """

    id: str = ""
    wanted: tuple = ()
    keys: tuple = ()
    tasks: tuple = ()
    identity: object = None
    refused: str | None = None


class Bench:
    """Folders, faces, a worker and oracles; made once."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.root = os.path.join(self.folder, "project")
        self.staging_folder = os.path.join(self.folder, "staging")
        for made in (self.root, self.staging_folder):
            os.makedirs(made, exist_ok=True)
        self.homes = _faces(self.folder)
        self.staging = Staging(lambda: self.staging_folder)
        self._written = {}
        self._shelves = {}
        self._toolchains = {"": toolchains.read_toolchain()}
        self._decoders = None
        self._drawn = {}
        self.drawings = 0
        self._oracles = {}
        faces = {}
        for variant in ("plain", "exchanged", "cut", "padded"):
            shelf = self._shelf(
                variant, ("Fallback", "Body", "Strong", "Spare"), self._project(variant)
            )
            faces.update(shelf.paths())
        self.pool = ProcessPool(
            WorkerSetup(
                target="nfbuild.render.worker:Worker",
                value=Setup(self.staging_folder, faces),
                readable=(self.staging_folder, *faces.values(), *HOST_FILES),
                writable=(self.staging_folder,),
                audited=True,
            ),
            workers=1,
        )
        self.pool.start()
        self.answers = self._make_answers()

    def close(self):
        self.pool.close()
        for oracle in self._oracles.values():
            oracle.close()

    # --- identities -----------------------------------------------------------------------------

    def put(self, case):
        """Make the project's folder hold exactly the files of a case."""
        wanted = {**case.files, "nfbuild.toml": _configuration(case)}
        for path in [path for path in self._written if path not in wanted]:
            os.unlink(os.path.join(self.root, path))
            del self._written[path]
        for path, data in wanted.items():
            if self._written.get(path) != data:
                full = os.path.join(self.root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "wb") as file:
                    file.write(data)
                self._written[path] = data

    def identify(self, case):
        """Return what the program makes of the case that `put` has put there."""
        try:
            project = load(self.root, {})
        except NfbuildError as error:
            return Film(refused=str(error))
        session = Session(project, Settings(observe=True))
        session.__dict__["toolchain"] = self._toolchain(case.toolchain)
        session.__dict__["faces"] = self._shelf(case.faces, case.fonts, project)
        session.__dict__["staging"] = self.staging
        session.__dict__["answers"] = self.answers
        if self._decoders is None:
            self._decoders = session.decoder_digests
        session.__dict__["decoder_digests"] = self._decoders
        for face in session.faces.faces:
            self.staging.offer(f"{face.digest}.ttf", lambda face=face: face.data)
        film = load_film(session, 0, Listed("case", case.main), Fraction(1))
        if film.error is not None:
            return Film(refused=str(film.error))
        count = film.scene.frames
        wanted = tuple(n for n in (case.frames or range(min(count, 24))) if n < count)
        keys, tasks = [], []
        try:
            for number in wanted:
                frame = bake(session, film, number)
                keys.append(frame_key(film.scene_key(frame), film.identity.toolchain.digest))
                tasks.append(draw_task(session, film, frame, png=False, sha256=True))
        except NfbuildError as error:
            return Film(refused=str(error))
        return Film(film.id, wanted, tuple(keys), tuple(tasks), film.identity)

    def again(self, case):
        """Put a case there once more and identify it, remembering nothing of it."""
        self.put(case)
        return self.identify(case)

    def _project(self, variant):
        os.makedirs(self.root, exist_ok=True)
        from mutation_edits import Case

        fonts = ("Fallback", "Body", "Strong", "Spare")
        self.put(Case({}, faces=variant, fonts=fonts))
        return load(self.root, {})

    def _shelf(self, variant, fonts, project):
        key = (variant, fonts)
        if key not in self._shelves:
            self._shelves[key] = FaceShelf.of_project(project)
        return self._shelves[key]

    def _toolchain(self, variant):
        if variant not in self._toolchains:
            self._toolchains[variant] = _edited_toolchain(variant, self.folder)
        return self._toolchains[variant]

    def forget_answers(self):
        """Have every measurement asked anew, as in a first run."""
        self.answers = self._make_answers()

    def _make_answers(self):
        return Answers(
            toolchain=self._toolchains[""].part({}).digest,
            decoder=lambda: self._decoders,
            executor=lambda: self.pool,
            staging=lambda: self.staging,
            store=None,
            fresh=True,
        )

    # --- drawings -------------------------------------------------------------------------------

    def draw(self, film):
        """Return the peer's digest of each frame, or a text where it could not be drawn."""
        missing = list(dict.fromkeys(t for t in film.tasks if t not in self._drawn))
        jobs = [Job(position, task) for position, task in enumerate(missing)]
        for outcome in self.pool.run(jobs):
            task = missing[outcome.position]
            done = isinstance(outcome, Done)
            self._drawn[task] = outcome.value.sha256 if done else f"refused: {outcome!r}"[:200]
        self.drawings += len(missing)
        found = [self._drawn[task] for task in film.tasks]
        if len(self._drawn) > 4000:
            self._drawn.clear()
        return found

    def ask_oracle(self, case, frames):
        """Have the files of the case drawn by who shares no code; `take` gives the answer."""
        bare = case.still or case.lottie
        key = "bare" if bare else case.faces
        if key not in self._oracles:
            self._oracles[key] = Oracle(self.homes["plain" if bare else case.faces])
        oracle = self._oracles[key]
        path = os.path.join(self.root, case.main)
        oracle.ask(path, frames, _canvas(case) if bare else None)
        return oracle


def _canvas(case):
    """Return the canvas that bare ThorVG is asked for: a scene's own, as its file says."""
    if not case.lottie:
        return 200, 100
    scene = json.loads(case.files[case.main])
    sides = (scene.get("w"), scene.get("h"))
    good = all(isinstance(side, (int, float)) and 1 <= side <= 4000 for side in sides)
    return tuple(int(side) for side in sides) if good else (200, 100)


def _configuration(case):
    faces = {
        "Fallback": '"package:nanoframes/fonts/Sarasa Mono SC.ttf"',
        **{name: f'"../faces/{case.faces}/{name}.ttf"' for name in ("Body", "Strong", "Spare")},
    }
    listed = ", ".join(faces[name] for name in case.fonts)
    return (
        f'[project]\ncompositions = ["compositions/**/*.nf.svg"]\noutside = ["../faces"]\n'
        f"[fonts]\nfaces = [{listed}]\n{case.extra}"
    ).encode()


def _faces(folder):
    """Write the variants of the faces, and a home of the peer for each; return the homes."""
    import font_source_sans_pro

    place = os.path.join(os.path.dirname(font_source_sans_pro.__file__), "files")

    def read(name):
        with open(os.path.join(place, f"SourceSansPro-{name}.ttf"), "rb") as file:
            return file.read()

    body, strong, spare = read("Regular"), read("Bold"), read("Light")
    variants = {
        "plain": {"Body": body, "Strong": strong, "Spare": spare},
        "exchanged": {"Body": strong, "Strong": body, "Spare": spare},
        "cut": {"Body": _without_glyphs(body), "Strong": strong, "Spare": spare},
        "padded": {"Body": body + b"\0\0\0\0", "Strong": strong + b"\0\0\0\0", "Spare": spare},
    }
    homes = {}
    for variant, faces in variants.items():
        homes[variant] = os.path.join(folder, "homes", variant)
        known = os.path.join(homes[variant], ".local/share/nanoframes/fonts")
        ours = os.path.join(folder, "faces", variant)
        for there in (known, ours):
            os.makedirs(there, exist_ok=True)
            for name, data in faces.items():
                with open(os.path.join(there, f"{name}.ttf"), "wb") as file:
                    file.write(data)
    return homes


def _without_glyphs(data):
    """Return a face whose letters are all a little wider apart: its `hmtx` table is edited."""
    data = bytearray(data)
    (tables,) = struct.unpack(">H", data[4:6])
    for number in range(tables):
        at = 12 + 16 * number
        if data[at : at + 4] == b"hmtx":
            start, length = struct.unpack(">II", data[at + 8 : at + 16])
            for place in range(start, start + min(length, 4000), 4):
                (advance,) = struct.unpack(">H", data[place : place + 2])
                data[place : place + 2] = struct.pack(">H", advance + 90)
    return bytes(data)


def _edited_toolchain(variant, folder):
    """Return the toolchain as it is read where one file of it has other bytes."""
    found = toolchains.rasterizer.find()
    place = os.path.join(folder, f"toolchain {variant}")
    os.makedirs(place, exist_ok=True)

    def padded(path):
        copy = os.path.join(place, os.path.basename(path))
        with open(path, "rb") as source, open(copy, "wb") as target:
            target.write(source.read() + b"\n")
        return copy

    real_find, real_folder = toolchains.rasterizer.find, toolchains.package_folder
    real_libc = toolchains.rasterizer.c_library
    try:
        if variant == "library":
            changed = replace(found, library=padded(found.library))
            toolchains.rasterizer.find = lambda: changed
        elif variant == "binding":
            name = next(iter(found.modules))
            changed = replace(found, modules={**found.modules, name: padded(found.modules[name])})
            toolchains.rasterizer.find = lambda: changed
        elif variant == "c library":
            toolchains.rasterizer.c_library = lambda: "glibc 0.1"
        else:
            copy = os.path.join(place, "nfbuild")
            shutil.copytree(real_folder(), copy, ignore=shutil.ignore_patterns("__pycache__"))
            with open(os.path.join(copy, "scene", "ease.py"), "ab") as file:
                file.write(b"\n")
            toolchains.package_folder = lambda: copy
        return toolchains.read_toolchain()
    finally:
        toolchains.rasterizer.find, toolchains.package_folder = real_find, real_folder
        toolchains.rasterizer.c_library = real_libc
