"""One file of a composition, read and understood, before anything of it is compiled.

Not here: what is drawn of it (`compile`), files nested in it (`compile` reads them as sheets).
"""

from __future__ import annotations

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import Place, SourceError
from nfbuild.scene.canvas import Canvas, read_canvas
from nfbuild.scene.fonts import FaceBook, take_font_faces
from nfbuild.scene.normal import normal_text
from nfbuild.scene.protocols import Face, Finding, Limits, Services, SourceFile
from nfbuild.scene.references import ids_in, ids_of
from nfbuild.scene.timeline import Animation, Track, read_timeline
from nfbuild.scene.tree import Element, describe
from nfbuild.scene.xml import parse

DRAWN = frozenset(
    [
        *("circle", "clipPath", "defs", "ellipse", "feGaussianBlur", "filter", "g", "image"),
        *("line", "linearGradient", "mask", "path", "polygon", "polyline", "radialGradient"),
        *("rect", "stop", "style", "svg", "symbol", "text", "tspan", "use"),
    ]
)
"""The elements that the rasterizer knows; it draws the children of any other one."""

SHAPES = frozenset(["circle", "ellipse", "line", "path", "polygon", "polyline", "rect"])

PAINTED = SHAPES | {"g", "text", "tspan", "use"}
"""The elements whose fill and stroke a timeline moves; elsewhere it leaves them alone."""

# What stands inside a text is read into the text's own record by the rasterizer: these overwrite
# it, and several kill the process.
_NOT_IN_TEXT = DRAWN - {"tspan"}


@dataclass
class Sheet:
    """A file's tree with its canvas, tracks, style sheets, faces and references."""

    source: SourceFile
    root: Element
    canvas: Canvas
    animations: tuple[Animation, ...]
    tracks: dict[Element, tuple[Track, ...]]
    styles: dict[Element, str]
    faces: FaceBook
    referenced: frozenset[str]
    findings: list[Finding] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The file's project path."""
        return self.source.path


def read_sheet(source: SourceFile, services: Services, limits: Limits) -> Sheet:
    """Return the file understood; raises `SourceError` with file, line, fact and hint."""
    path = source.path
    root = parse(source.data, path, limits)
    still = path.lower().endswith(".svg") and not path.lower().endswith(".nf.svg")
    canvas = read_canvas(root, path, limits, still=still)
    animations, findings = read_timeline(root, path)
    tracks = _targets(root, animations, path, findings)
    styles, embedded = _styles(root, services, path)
    _check_texts(root, path)
    return Sheet(
        source,
        root,
        canvas,
        animations,
        tracks,
        styles,
        FaceBook(services, tuple(embedded), path),
        _referenced(root, list(styles.values()), animations),
        findings,
    )


def _styles(root: Element, services: Services, path: str) -> tuple[dict[Element, str], list[Face]]:
    styles: dict[Element, str] = {}
    faces: list[Face] = []
    for element in root.walk():
        if element.tag == "style":
            text, found = take_font_faces(element.all_text(), element, services, path)
            faces += found
            if text.strip(" \t\r\n"):
                styles[element] = text.strip(" \t\r\n")
    return styles, faces


def _check_texts(root: Element, path: str) -> None:
    for element in root.walk():
        if element.tag != "text":
            continue
        for inner in element.walk():
            if inner is not element and inner.tag in _NOT_IN_TEXT:
                raise SourceError(
                    f"`{describe(inner)}` stands inside `{describe(element)}`",
                    place=Place(path, inner.line),
                    hint="only `<tspan>` can stand inside a text: move it before or after",
                )


def _referenced(
    root: Element, styles: list[str], animations: tuple[Animation, ...]
) -> frozenset[str]:
    found: set[str] = set()
    for element in root.walk():
        found.update(ids_of(element))
    for style in styles:
        found.update(ids_in(style))
    for animation in animations:
        for keyframe in animation.keyframes:
            for name in ("fill", "stroke"):
                value = keyframe.properties.get(name)
                if isinstance(value, str):
                    found.update(ids_in(value))
    return frozenset(found)


def _targets(
    root: Element, animations: tuple[Animation, ...], path: str, findings: list[Finding]
) -> dict[Element, tuple[Track, ...]]:
    if not animations:
        return {}
    by_selector: dict[str, list[Element]] = {}
    for element in root.walk():
        by_selector.setdefault(element.tag, []).append(element)
        name = element.get("id")
        if name is not None:
            by_selector.setdefault(f"#{name}", []).append(element)
        for word in dict.fromkeys(_words(element.get("class") or "")):
            by_selector.setdefault(f".{word}", []).append(element)
    tracks: dict[Element, tuple[Track, ...]] = {}
    for animation in animations:
        matched = by_selector.get(animation.target)
        if matched is None:
            findings.append(_unmatched(animation, by_selector, path))
            continue
        track = Track(animation)
        for element in matched:
            tracks[element] = (*tracks.get(element, ()), track)
    return tracks


def _words(text: str) -> list[str]:
    return normal_text(text).split(" ")


def _unmatched(animation: Animation, known: dict[str, list[Element]], path: str) -> Finding:
    import difflib  # noqa: PLC0415  milliseconds, and only a mistake needs it

    near = difflib.get_close_matches(animation.target, list(known), 1)
    hint = f"did you mean `{near[0]}`?" if near else "a target is `#id`, `.class` or a tag name"
    return Finding(
        "animation.unmatched_target",
        f"animation target `{animation.target}` matches no element",
        path,
        animation.line,
        hint,
    )
