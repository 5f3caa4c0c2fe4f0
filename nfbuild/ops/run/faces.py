"""The faces of a project, read once, and the answer to `scene.Faces`.

Not here: finding their files (`project.faces`), reading their tables (`render.faces`), the rule
that chooses one (`render.families`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import InputDigest, file_digest
from nfbuild.errors import FontError, NfbuildError, Place, ProjectError
from nfbuild.ops.run.state import Witness, stat_of
from nfbuild.project import Project
from nfbuild.project.faces import face_files
from nfbuild.render.faces import FaceFacts, read_face
from nfbuild.render.families import choose
from nfbuild.scene.protocols import Face, Resolved


@dataclass(frozen=True)
class FaceShelf:
    """The configured faces in load order; the first one is the fallback.

    `labels` name them for people and in the fonts part; `files` are their paths.
    """

    faces: tuple[Face, ...]
    labels: Mapping[InputDigest, str]
    files: Mapping[InputDigest, str]
    watched: Mapping[str, Witness] = field(repr=False)

    @classmethod
    def of_project(cls, project: Project) -> FaceShelf:
        """Read every configured face; raises ProjectError for one that cannot be used."""
        faces: list[Face] = []
        labels: dict[InputDigest, str] = {}
        files: dict[InputDigest, str] = {}
        watched: dict[str, Witness] = {}
        for found in face_files(project):
            stat = stat_of(found.path)
            try:
                with open(found.path, "rb") as file:
                    data = file.read()
                face = face_of(data, stem=_stem(found.path), place=found.place)
            except OSError as error:
                raise ProjectError(
                    f"the face `{found.label}` cannot be read: {error.strerror}",
                    place=found.place,
                    code="project.face",
                ) from None
            except NfbuildError as error:
                raise ProjectError(
                    f"the face `{found.label}` cannot be used: {error.message}",
                    place=found.place,
                    hint=error.hint,
                    code="project.face",
                ) from None
            watched[found.path] = Witness(stat, face.digest)
            if face.digest not in files:
                faces.append(face)
                labels[face.digest] = found.label
                files[face.digest] = found.path
        return cls(tuple(faces), labels, files, watched)

    def paths(self) -> dict[InputDigest, str | bytes]:
        """Return where each face's bytes are; who loads one checks them against the digest."""
        return dict(self.files)


class CompositionFaces:
    """Answers the scene for one composition, and offers the faces that it embeds for staging."""

    def __init__(self, shelf: FaceShelf, offer: Callable[[str, Callable[[], bytes]], None]) -> None:
        self._shelf = shelf
        self._offer = offer

    def resolve(
        self,
        family: str | None,
        weight: str | None,
        style: str | None,
        *,
        embedded: Sequence[Face],
    ) -> Resolved:
        """Return the face of a run; the composition's own faces answer before the configured."""
        if not self._shelf.faces and not embedded:
            raise FontError(
                "the project has no face to draw text with",
                hint="list one in `[fonts] faces`",
            )
        own = choose(embedded, family, weight, style)
        if own is not None:
            return Resolved(own, matched=True)
        face = choose(self._shelf.faces, family, weight, style)
        if face is not None:
            return Resolved(face, matched=True)
        fallback = self._shelf.faces[0] if self._shelf.faces else embedded[0]
        return Resolved(fallback, matched=family is None or not family.strip())

    def embed(self, data: bytes, *, family: str, place: Place) -> Face:
        """Return an embedded face; it answers to the family that its rule gives it."""
        face = face_of(data, stem=family, place=place, family=family)
        self._offer(f"{face.digest}.ttf", lambda: data)
        return face


def face_of(data: bytes, *, stem: str, place: Place, family: str | None = None) -> Face:
    """Return the face in `data`; raises FontError where the rasterizer could not use it."""
    tables = _facts(data, stem, place)
    return Face(
        digest=file_digest(data),
        family=tables.family if family is None else family,
        full_name=tables.full_name,
        postscript_name=tables.postscript_name,
        stem=stem,
        weight=tables.weight,
        italic=tables.italic,
        data=data,
    )


def _facts(data: bytes, name: str, place: Place) -> FaceFacts:
    try:
        return read_face(data, name=name)
    except FontError as error:
        raise FontError(error.message, place=place, hint=error.hint, code=error.code) from None


def _stem(path: str) -> str:
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[0] or name
