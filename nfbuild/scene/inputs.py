"""What a composition is made of, by name: the source, media and fonts parts of its identity.

Conservative: taken of the whole files, before anything is baked. Attribute order, comments,
prefixes, blanks outside text and attributes that only checks read are not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nfbuild.dataclasses import dataclass
from nfbuild.digests import Field, InputDigest, ManifestDigest, derive
from nfbuild.scene.protocols import Face, SourceFile
from nfbuild.scene.sheet import Sheet
from nfbuild.scene.timeline import SCRIPT_TYPE, Animation
from nfbuild.scene.tree import Element

_CHECKED_ONLY = frozenset(["data-safe-margin", "data-palette-budget"])
_CANVAS = frozenset(
    ["data-duration", "data-fps", "data-height", "data-width", "height", "viewBox", "width"]
)
_CONTEXT = "nfbuild 2026 scene input v1"

FACES = "faces"
"""The sub-input that says which face is meant where a text does not name one by its stem."""


@dataclass(frozen=True, slots=True)
class SceneInputs:
    """Named sub-inputs of the three parts that a composition itself declares."""

    source: Mapping[str, ManifestDigest]
    media: Mapping[str, InputDigest]
    fonts: Mapping[str, InputDigest]


def scene_inputs(
    sheets: Mapping[str, Sheet], main: Sheet, media: Mapping[str, SourceFile]
) -> SceneInputs:
    """Return the inputs of `main` with all `sheets` nested in it and all `media` drawn."""
    source = dict(_sheet_inputs(main, ""))
    for path, sheet in sheets.items():
        if sheet is not main:
            for label, digest in _sheet_inputs(sheet, f"child {path}: ").items():
                # A file can be called so that its inputs read like those of another one.
                put(source, label, digest)
    fonts: dict[str, InputDigest] = {}
    labels: dict[str, str] = {}
    for sheet in sheets.values():
        for face in sheet.faces.used.values():
            labels[face.digest] = _label(face, fonts)
            fonts[labels[face.digest]] = face.digest
    asked = [
        ("" if sheet is main else path, *names, labels[face.digest])
        for path, sheet in sheets.items()
        for names, face in sheet.faces.asked.items()
        # A text that names its face by a stem which no other face has says which it is.
        if names != (labels[face.digest], None, None)
    ]
    if asked:
        put(source, FACES, faces_asked(asked))
    return SceneInputs(source, {path: file.digest for path, file in media.items()}, fonts)


def put(inputs: dict[str, ManifestDigest], label: str, digest: ManifestDigest) -> None:
    """Put a sub-input under its label, or under a numbered one where that is taken."""
    numbered, number = label, 2
    while numbered in inputs:
        numbered, number = f"{label} ({number})", number + 1
    inputs[numbered] = digest


def faces_asked(asked: Iterable[tuple[str | None, ...]]) -> ManifestDigest:
    """Return the digest of which face each text draws with that does not itself say which.

    The faces alone do not tell: with two of them in another order, a text whose family matches
    neither falls back to the other one.
    """
    rows = {tuple("" if one is None else f"={one}" for one in row) for row in asked}
    return ManifestDigest(derive(_CONTEXT, "faces", [list(row) for row in sorted(rows)]))


def _label(face: Face, taken: Mapping[str, InputDigest]) -> str:
    label = face.stem or face.full_name or face.family
    if taken.get(label, face.digest) != face.digest:
        label = f"{label} {face.digest[:16]}"
    return label


def _sheet_inputs(sheet: Sheet, prefix: str) -> dict[str, ManifestDigest]:
    inputs: dict[str, ManifestDigest] = {}

    def add(name: str, *fields: Field) -> None:
        put(inputs, prefix + name, ManifestDigest(derive(_CONTEXT, *fields)))

    root = sheet.root
    canvas = sheet.canvas
    add("canvas", "canvas", canvas.width, canvas.height, root.get("viewBox"))
    add("rate", "rate", str(canvas.rate))
    add("duration", "duration", str(canvas.duration), canvas.frames)
    others = [pair for pair in _attributes(root) if pair[0] not in _CANVAS]
    if others:
        add("svg", "svg", others)
    counts: dict[str, int] = {}
    order: list[str] = []
    for child in root.children:
        if child.tag == "script" and (child.get("type") or "").strip(" \t\r\n") == SCRIPT_TYPE:
            continue
        counts[child.tag] = counts.get(child.tag, 0) + 1
        name = child.get("id")
        label = f"#{name}" if name else f"{child.tag}[{counts[child.tag]}]"
        if child.tag == "style" and not name:
            label = "style" if counts["style"] == 1 else f"style[{counts['style']}]"
        order.append(label)
        add(label, "element", _tree(child))
    add("order", "order", order)
    seen: dict[str, int] = {}
    for animation in sheet.animations:
        number = seen.get(animation.target, 0) + 1
        seen[animation.target] = number
        label = f"timeline {animation.target}" + (f"[{number}]" if number > 1 else "")
        add(label, "animation", _animation(animation))
    return inputs


def _attributes(element: Element) -> list[list[str]]:
    return [
        [name, value]
        for name, value in sorted(element.attributes.items())
        if name not in _CHECKED_ONLY and name != "data-composition-id"
    ]


def _tree(root: Element) -> list[Field]:
    """Return a subtree as a flat list: starts, texts and ends in document order."""
    fields: list[Field] = []
    stack: list[Element | str] = [root]
    text_depth = 0
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if item == "\0text":
                text_depth -= 1
            elif item == "\0end":
                fields.append(0)
            elif text_depth or item.strip(" \t\r\n"):
                fields.append(item)
            continue
        fields.append([item.tag, _attributes(item)])
        after: list[Element | str] = []
        if item.tag == "text":
            text_depth += 1
        after.append(item.text)
        for child in item.children:
            after += [child, child.tail]
        if item.tag == "text":
            after.append("\0text")
        after.append("\0end")
        stack.extend(reversed(after))
    return fields


def _animation(animation: Animation) -> list[Field]:
    return [
        animation.target,
        [
            [keyframe.seconds.hex(), keyframe.ease, _json(keyframe.properties)]
            for keyframe in animation.keyframes
        ],
    ]


def _json(value: object) -> Field:
    if isinstance(value, dict):
        return ["object", *([name, _json(value[name])] for name in sorted(value))]
    if isinstance(value, list):
        return ["list", *(_json(item) for item in value)]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (int, float)):
        return ["number", float(value).hex()]
    if isinstance(value, str):
        return ["text", value]
    return ["null"]
