"""The findings of one film as the scene tells them: what `check` and the gate say to an author."""

from __future__ import annotations

from nfbuild.ops.frames.films import Film, scene_limits, services_of
from nfbuild.ops.run.session import Session
from nfbuild.render.faces import FaceFacts, read_face
from nfbuild.scene.lint import check
from nfbuild.scene.protocols import Face, Finding


class FaceGlyphs:
    """Says which characters a face lacks; each face is read once."""

    def __init__(self) -> None:
        self._facts: dict[str, FaceFacts] = {}

    def lacks(self, face: Face, characters: str) -> str:
        """Return those of `characters` for which the face has no glyph, in their order."""
        facts = self._facts.get(face.digest)
        if facts is None:
            facts = self._facts[face.digest] = read_face(face.data, name=face.full_name)
        return "".join(c for c in dict.fromkeys(characters) if not facts.covers(ord(c)))


def findings_of(session: Session, film: Film, glyphs: FaceGlyphs) -> tuple[Finding, ...]:
    """Return the findings of one loaded film, without drawing frames."""
    services, _, _ = services_of(session)
    limits = scene_limits(session)
    return session.answers.settle(lambda: check(film.scene, services, limits, glyphs=glyphs))
