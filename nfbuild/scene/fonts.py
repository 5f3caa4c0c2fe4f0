"""Faces: which face each text draws with, and the faces that a document embeds.

A text's family is the value of its own `font-family` attribute: that is the only place where the
rasterizer looks, and the pixels must be those. Every `@font-face` rule is taken out of the style
sheets; its face becomes one of the composition, resolved before the project's.
"""

from __future__ import annotations

import re

from nfbuild.errors import FontError, Place
from nfbuild.scene.protocols import Face, Finding, Services
from nfbuild.scene.references import read_file
from nfbuild.scene.tree import Element, describe

_RULE = re.compile(r"@font-face\s*\{([^}]*)\}", re.IGNORECASE | re.ASCII)
_FAMILY = re.compile(r"(?:^|;)\s*font-family\s*:\s*([^;]+)", re.IGNORECASE | re.ASCII)
_SOURCE = re.compile(
    r"url\(\s*(?:\"([^\"]*)\"|'([^']*)'|([^)\"'\s]*))\s*\)", re.IGNORECASE | re.ASCII
)


def take_font_faces(
    style: str, element: Element, services: Services, file: str
) -> tuple[str, list[Face]]:
    """Return the style sheet without its `@font-face` rules, and the faces these embed."""
    faces = []
    place = Place(file, element.line)
    for body in _RULE.findall(style):
        family = _FAMILY.search(body)
        if family is None:
            raise FontError(
                "an `@font-face` rule has no `font-family`",
                place=place,
                hint="write `font-family: Name;` into the rule",
            )
        name = family.group(1).strip(" \t\r\n").strip("'\"")
        source = _SOURCE.search(body)
        if source is None:
            raise FontError(
                f"the `@font-face` rule of `{name}` has no `src: url(...)`",
                place=place,
                hint="embed a TrueType face: `src: url(data:font/ttf;base64,...)`",
            )
        reference = next((group for group in source.groups() if group is not None), "")
        data = read_file(reference, element, services.files, base=file, place=place)
        faces.append(services.faces.embed(data.data, family=name, place=place))
    return _RULE.sub(" ", style), faces


class FaceBook:
    """Resolves the texts of one file and remembers what could not be resolved."""

    def __init__(self, services: Services, embedded: tuple[Face, ...], file: str) -> None:
        self._services = services
        self._embedded = embedded
        self._file = file
        self._warned: set[str] = set()
        self.findings: list[Finding] = []
        self.used: dict[str, Face] = {}
        self.asked: dict[tuple[str | None, str | None, str | None], Face] = {}

    def face_of(self, element: Element) -> Face:
        """Return the face that a text draws with; an unresolved family is a finding, once."""
        family = element.get("font-family")
        asked = (family, element.get("font-weight"), element.get("font-style"))
        resolved = self._services.faces.resolve(*asked, embedded=self._embedded)
        face = resolved.face
        if not resolved.matched and family is not None and family not in self._warned:
            self._warned.add(family)
            self.findings.append(
                Finding(
                    "text.unresolved_family",
                    f"no face answers to `{family}` of `{describe(element)}`",
                    self._file,
                    element.line,
                    f"it is drawn with `{face.full_name or face.family}`; "
                    "add the face to `[fonts] faces`",
                )
            )
        self.used.setdefault(face.digest, face)
        self.asked.setdefault(asked, face)
        return face
