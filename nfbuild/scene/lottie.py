"""A Lottie scene as a composition: frames by number, the scene's bytes the same in every frame.

`load` reads the JSON, or the scene of a `.lottie` archive, settles its pictures and faces, and
finds before anything is drawn what would kill the rasterizer or make a frame depend on when it is
drawn. Frame count and markers: see `lottie_scene`.

Not here: drawing (`render`), what a picture is (the services).
"""

from __future__ import annotations

import re
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from nfbuild.digests import Field, InputDigest, ManifestDigest, derive, file_digest
from nfbuild.errors import MediaError, Place, ProjectError, UsageError
from nfbuild.scene.baked import BakedFrame, LottieFrame
from nfbuild.scene.inputs import FACES, SceneInputs, faces_asked, put
from nfbuild.scene.lottie_archive import ZIP_MAGIC, Archive
from nfbuild.scene.lottie_assets import Assets, settle
from nfbuild.scene.lottie_json import Members, read, write
from nfbuild.scene.lottie_scene import Facts, read_facts
from nfbuild.scene.protocols import SourceFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nfbuild.scene.composition import Kind
    from nfbuild.scene.protocols import Limits, Services

_MARK = b"\xef\xbb\xbf"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_HEX = re.compile(r"#[0-9a-fA-F]{6}")
_NAMED = {"white": (255, 255, 255), "black": (0, 0, 0), "none": None, "": None}

_CONTEXT = "nfbuild 2026 lottie input v1"

Colour: TypeAlias = tuple[int, int, int]


class LottieComposition:
    """A Lottie scene: offers what every composition offers."""

    def __init__(
        self,
        source: SourceFile,
        document: bytes,
        facts: Facts,
        assets: Assets,
        inputs: SceneInputs,
        *,
        background: Colour | None,
    ) -> None:
        self.source = source
        self.width = facts.width
        self.height = facts.height
        self.rate = facts.rate
        self.frames = facts.frames
        self.kind: Kind = "lottie"
        self.warnings = tuple(assets.warnings)
        self.inputs = inputs
        self.markers: Mapping[str, tuple[int, int]] = MappingProxyType(dict(facts.markers))
        self.expressions = facts.expressions
        self.embedded = tuple(assets.embedded)
        self.background = background
        self._document = document
        self._pictures = tuple(sorted(assets.pictures))
        self._faces = tuple(sorted({face.digest for face in assets.faces.values()}))

    def time(self, number: int) -> Fraction:
        """Return the instant of a frame, in seconds."""
        return Fraction(number) / self.rate

    def bake(self, number: int) -> BakedFrame:
        """Return frame `number`: the scene's bytes, and which of its frames to draw."""
        if not 0 <= number < self.frames:
            raise UsageError(
                f"there is no frame {number}", hint=f"frames are 0 to {self.frames - 1}"
            )
        return BakedFrame(
            self._document,
            (),
            b"",
            self.width,
            self.height,
            self._pictures,
            self._faces,
            LottieFrame(Fraction(number), self.expressions, self.background),
        )


def load_lottie(
    source: SourceFile, services: Services, limits: Limits, *, background: str | None = None
) -> LottieComposition:
    """Return the scene of a `.json` or `.lottie` file.

    `background` is what `parse_background` takes. Raises `SourceError`, `MediaError`, `FontError`,
    and `NeedsAnswers` where a picture must be decoded first.
    """
    archive = None
    data = source.data
    if data.startswith(ZIP_MAGIC):
        archive = Archive(data, source.path, limits)
        data = archive.scene()
    scene = read(data, source.path)
    found = read_facts(scene, source.path, limits)
    color = parse_background(background)
    inputs = _source_inputs(scene, color)

    def fetch(folder: str, name: str, place: Place) -> SourceFile:
        if _SCHEME.match(folder + name):
            raise MediaError(
                f"`{folder}{name}` lies outside the project",
                place=place,
                hint="save the file beside the scene; nothing is read from a network",
            )
        inside = None if archive is None else archive.asset(folder, name)
        if inside is not None:
            return SourceFile(f"{source.path}/{folder}{name}", inside, file_digest(inside))
        # Exporters write the folder as `/images/`; the rasterizer looks below the scene's folder.
        return services.files.read((folder + name).lstrip("/"), base=source.path, place=place)

    assets = settle(scene, source.path, services, fetch)
    plain = not assets.edited and not data.startswith(_MARK) and _is_utf8(data)
    document = data if plain else write(scene)
    return LottieComposition(
        source, document, found, assets, _inputs(assets, inputs), background=color
    )


def parse_background(text: str | None) -> Colour | None:
    """Return a background as red, green and blue of 0 to 255, or None for a transparent one.

    `none`, `white`, `black`, `#rrggbb` and `r,g,b` are read; anything else is a `ProjectError`.
    """
    if text is None or text in _NAMED:
        return None if text is None else _NAMED[text]
    if _HEX.fullmatch(text):
        return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
    parts = [part.strip(" ") for part in text.split(",")]
    if len(parts) == 3 and all(_is_byte(part) for part in parts):
        return int(parts[0]), int(parts[1]), int(parts[2])
    raise ProjectError(
        f"`{text}` is no background",
        hint="write `none`, `white`, `black`, `#rrggbb` or `r,g,b`",
    )


def _source_inputs(scene: Members, background: Colour | None) -> dict[str, ManifestDigest]:
    """Return the named digests of the scene's `source` part: one a layer, so that one can tell."""
    inputs: dict[str, ManifestDigest] = {}

    def add(name: str, *fields: Field) -> None:
        label, number = name, 2
        while label in inputs:
            label, number = f"{name} ({number})", number + 1
        inputs[label] = ManifestDigest(derive(_CONTEXT, *fields))

    def parts(kind: str, member: str, name: str) -> None:
        value = scene.get(member)
        for index, one in enumerate(value if isinstance(value, list) else []):
            label = (one.text(name) if isinstance(one, Members) else None) or f"[{index}]"
            add(f"{kind} {label}", kind, index, write(one))

    parts("layer", "layers", "nm")
    parts("asset", "assets", "id")
    rest = [pair for pair in scene.pairs if pair[0] not in ("layers", "assets")]
    add("scene", "scene", write(Members(rest)))
    if background is not None:
        add("background", "background", list(background))
    return inputs


def _inputs(assets: Assets, source: dict[str, ManifestDigest]) -> SceneInputs:
    fonts: dict[str, InputDigest] = {}
    asked: list[tuple[str, str]] = []
    for name, face in assets.faces.items():
        label = face.stem or face.full_name or face.family
        if fonts.get(label, face.digest) != face.digest:
            label = f"{label} {face.digest[:16]}"
        fonts[label] = face.digest
        if name != face.stem:
            asked.append((name, label))
    if asked:
        put(source, FACES, faces_asked(asked))
    return SceneInputs(source, {path: one.digest for path, one in assets.media.items()}, fonts)


def _is_byte(text: str) -> bool:
    return 0 < len(text) < 4 and all(c in "0123456789" for c in text) and int(text) < 256


def _is_utf8(data: bytes) -> bool:
    # JSON in UTF-16 or UTF-32 has zero bytes, in UTF-8 it never does.
    return b"\0" not in data
