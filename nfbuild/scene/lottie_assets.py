"""Make a scene self-contained: its pictures and faces named by the digest of their content.

A picture asset, whether it stands in the scene, in its archive or beside its file, becomes
`<digest>.png` (or `.jpg`) without a folder. What no drawn layer refers to loses its path, so that
the scene's bytes name nothing of the machine. A text layer's font becomes the digest of the face
that it resolves to: one that the scene brings along, else a configured one by family, weight and
style. A scene without pictures and text stays byte for byte what the author wrote.

Not here: reading files and decoding (the services), clock and canvas (`lottie_scene`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import TypeAlias

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import by_utf8, file_digest
from nfbuild.errors import FontError, MediaError, Place
from nfbuild.scene.baked import PictureRef
from nfbuild.scene.lottie_json import Members, Number, objects
from nfbuild.scene.lottie_scene import IMAGE, TEXT, drawn_layers, kind_of, name_of
from nfbuild.scene.protocols import Face, Finding, NeedsAnswers, Request, Services, SourceFile

_NO_BLANKS = dict.fromkeys(map(ord, " \t\r\n\f"))

Fetch: TypeAlias = Callable[[str, str, Place], SourceFile]


@dataclass(slots=True)
class Assets:
    """What a scene draws with, and what the author should know."""

    pictures: set[PictureRef] = field(default_factory=set)
    faces: dict[str, Face] = field(default_factory=dict)
    embedded: list[Face] = field(default_factory=list)
    media: dict[str, SourceFile] = field(default_factory=dict)
    warnings: list[Finding] = field(default_factory=list)
    edited: bool = False


def settle(scene: Members, file: str, services: Services, fetch: Fetch) -> Assets:
    """Rewrite the references of `scene` in place and return what they stand for.

    `fetch(folder, name, place)` returns a file that the scene names. Raises `NeedsAnswers` with
    the questions of all pictures together, `MediaError` and `FontError`.
    """
    settling = _Settling(file, services, fetch)
    layers = drawn_layers(scene)
    settling.pictures(scene, layers)
    texts = [layer for layer in layers if kind_of(layer) == TEXT]
    if texts:
        settling.fonts(scene, texts)
    return settling.assets


class _Settling:
    """One scene being made self-contained."""

    def __init__(self, file: str, services: Services, fetch: Fetch) -> None:
        self.file = file
        self.place = Place(file)
        self.services = services
        self.fetch = fetch
        self.assets = Assets()

    def pictures(self, scene: Members, layers: list[Members]) -> None:
        assets = self.assets
        drawn = {name_of(layer, "refId") for layer in layers if kind_of(layer) == IMAGE}
        known = {name_of(asset, "id") for asset in scene.items("assets")}
        for missing in by_utf8(drawn - known):
            fact = f"an image layer shows the asset `{missing}`, which the scene does not have"
            hint = "the layer draws nothing: add the asset or remove the layer"
            assets.warnings.append(Finding("lottie.missing_asset", fact, self.file, None, hint))
        waiting: list[Request] = []
        for asset in scene.items("assets"):
            path = asset.text("p")
            if path is None or isinstance(asset.get("layers"), list):
                continue
            assets.edited = True
            name = name_of(asset, "id")
            if name not in drawn:
                _point(asset, "")
                continue
            source = _embedded(path, f"{self.file}#{name}", self.place)
            if source is None:
                source = self.fetch(asset.text("u") or "", path, self.place)
            assets.media[source.path] = source
            try:
                picture = self.services.pictures.prepare(source, place=self.place)
            except NeedsAnswers as needed:
                waiting += needed.requests
                continue
            assets.pictures.add(PictureRef(picture.digest, picture.suffix))
            _point(asset, picture.name)
        if waiting:
            raise NeedsAnswers(tuple(dict.fromkeys(waiting)))

    def fonts(self, scene: Members, texts: list[Members]) -> None:
        assets = self.assets
        assets.edited = True
        listing = scene.get("fonts")
        entries = listing.items("list") if isinstance(listing, Members) else []
        own = {
            name: face
            for entry in entries
            if (name := entry.text("fName")) and (face := self.brought(entry, name)) is not None
        }
        by_name = {name: entry for entry in entries if (name := entry.text("fName"))}
        for document in _documents(texts):
            name = document.text("f") or ""
            face = own.get(name)
            if face is None:
                face = assets.faces.get(name) or self.resolved(name, by_name.get(name))
            elif face not in assets.embedded:
                assets.embedded.append(face)
            assets.faces[name] = face
            document.put("f", str(face.digest))
        for entry in entries:
            entry.drop("fPath")
            named = assets.faces.get(entry.text("fName") or "")
            if named is not None:
                entry.put("fName", str(named.digest))

    def brought(self, entry: Members, name: str) -> Face | None:
        """Return the face that a font entry carries or points to, None where it only names one."""
        path = entry.text("fPath")
        if not path or path[:5].lower() in ("http:", "https"):
            return None
        try:
            source = _embedded(path, f"{self.file}#{name}", self.place)
            if source is None:
                source = self.fetch("", path, self.place)
        except MediaError as error:
            fact = f"the font `{name}` cannot be read: {error.message}"
            raise FontError(fact, place=self.place, hint=error.hint) from None
        family = entry.text("fFamily") or name
        return self.services.faces.embed(source.data, family=family, place=self.place)

    def resolved(self, name: str, entry: Members | None) -> Face:
        """Return the configured face for a font that the scene only names."""
        style = _ascii_lower((entry.text("fStyle") if entry else None) or "")
        family = (entry.text("fFamily") if entry else None) or name
        weight = entry.text("fWeight") if entry else None
        if not weight:
            weight = "bold" if "bold" in style else "normal"
        slant = "italic" if "italic" in style or "oblique" in style else "normal"
        answer = self.services.faces.resolve(family, weight, slant, embedded=())
        if not answer.matched:
            fact = f"the font `{family}` of a text layer is no configured face"
            hint = f"it draws with `{answer.face.full_name}`: add the face to `[fonts] faces`"
            code = "text.unresolved_family"
            self.assets.warnings.append(Finding(code, fact, self.file, None, hint))
        return answer.face


def _point(asset: Members, name: str) -> None:
    asset.put("u", "")
    asset.put("p", name)
    asset.put("e", Number("0"))


def _embedded(reference: str, path: str, place: Place) -> SourceFile | None:
    """Return what a `data:` reference holds, None for any other reference."""
    if reference[:5].lower() != "data:":
        return None
    head, comma, body = reference[5:].partition(",")
    kinds = head.lower().split(";")
    if not comma or kinds[-1] != "base64":
        raise MediaError(
            f"`{path}` is no base64 data",
            place=place,
            hint="embed a file as `data:image/png;base64,...`",
        )
    if kinds[0] == "image/svg+xml":
        raise MediaError(
            f"`{path}` is an SVG picture inside a Lottie scene",
            place=place,
            hint="draw it with shape layers, or export it as PNG",
        )
    try:
        data = base64.b64decode(body.translate(_NO_BLANKS), validate=True)
    except (binascii.Error, ValueError):
        raise MediaError(
            f"`{path}` is damaged base64 data", place=place, hint="export the scene again"
        ) from None
    return SourceFile(path, data, file_digest(data))


def _documents(texts: list[Members]) -> list[Members]:
    """Return the text documents of text layers: objects with words `t` and a font `f`."""
    return [
        one
        for layer in texts
        for one in objects(layer.get("t"))
        if one.text("f") is not None and one.text("t") is not None
    ]


def _ascii_lower(text: str) -> str:
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)
