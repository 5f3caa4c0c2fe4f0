"""All findings about a loaded composition, in order of file and line.

Not here: fixing anything, printing (`cli`), and what only pixels tell (`blank_frames` takes it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.dataclasses import replace
from nfbuild.errors import Place
from nfbuild.scene.lint.elements import check_element
from nfbuild.scene.lint.finding import Findings
from nfbuild.scene.lint.ignored import check_ignored, check_inheritance
from nfbuild.scene.lint.landing import check_landing
from nfbuild.scene.lint.motion import check_motion, check_window, moves_of
from nfbuild.scene.lint.paint import check_paint
from nfbuild.scene.lint.words import Glyphs, check_text
from nfbuild.scene.protocols import Finding, Limits, NeedsAnswers, Request, Services, SourceFile
from nfbuild.scene.references import NESTED_SUFFIXES, hyperlink, path_of, read_file
from nfbuild.scene.sheet import Sheet, read_sheet
from nfbuild.scene.textbox import TextBoxes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nfbuild.scene.composition import Composition
    from nfbuild.scene.timeline import Animation
    from nfbuild.scene.tree import Element

__all__ = ["Glyphs", "blank_frames", "check"]

# What is surely not what the author meant; everything else may be, and is a warning.
ERRORS = frozenset(["animation.unmatched_target"])

# Rates that stand for a fraction of 1001, by their usual decimal spellings.
_NTSC = {
    "23.976": "24000/1001",
    "23.98": "24000/1001",
    "29.97": "30000/1001",
    "47.952": "48000/1001",
    "59.94": "60000/1001",
    "119.88": "120000/1001",
}


def check(
    composition: Composition, services: Services, limits: Limits, *, glyphs: Glyphs | None = None
) -> tuple[Finding, ...]:
    """Return what the author of `composition` should know, nested files included.

    The findings of loading are among them. Without `glyphs` no face is asked for characters.
    Raises `NeedsAnswers` with the measurements of all files together where some are missing.
    """
    found = list(composition.warnings)
    if composition.kind != "lottie":
        missing: list[Request] = []
        for sheet in _sheets(composition.source, services, limits):
            found += _check_sheet(sheet, services, glyphs, missing)
        if missing:
            raise NeedsAnswers(tuple(dict.fromkeys(missing)))
    once = dict.fromkeys(
        replace(each, severity="error") if each.code in ERRORS else each for each in found
    )
    return tuple(
        sorted(once, key=lambda each: (each.file, each.line or 0, each.code, each.message))
    )


def blank_frames(composition: Composition, blank: Iterable[int]) -> tuple[Finding, ...]:
    """Return the finding about frames that were drawn and are fully transparent.

    `blank` are their numbers, told by whoever drew them; empty gives no finding.
    """
    runs: list[list[int]] = []
    for number in sorted(set(blank)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    if not runs:
        return ()
    listed = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs[:8])
    more = "" if len(runs) <= 8 else ", ..."
    return (
        Finding(
            "frame.transparent",
            f"nothing is drawn in frames {listed}{more}",
            composition.source.path,
            None,
            "look at the windows and positions of the elements there, or shorten the composition",
        ),
    )


def _sheets(source: SourceFile, services: Services, limits: Limits) -> list[Sheet]:
    """Return the file and all SVG files nested in it, each once."""
    sheets: dict[str, Sheet] = {}
    waiting = [source]
    while waiting:
        file = waiting.pop(0)
        if file.path in sheets:
            continue
        sheet = sheets[file.path] = read_sheet(file, services, limits)
        for element in sheet.root.walk():
            reference = hyperlink(element)
            if element.tag != "image" or reference is None or _is_inline(reference):
                continue
            if not path_of(reference).lower().endswith(NESTED_SUFFIXES):
                continue
            place = Place(sheet.path, element.line)
            waiting.append(
                read_file(reference, element, services.files, base=sheet.path, place=place)
            )
    return list(sheets.values())


def _is_inline(reference: str) -> bool:
    return reference.strip(" \t\r\n")[:5].lower() == "data:"


def _check_sheet(
    sheet: Sheet, services: Services, glyphs: Glyphs | None, missing: list[Request]
) -> list[Finding]:
    findings = Findings(sheet.path)
    ids: dict[str, Element] = {}
    parents: dict[Element, Element] = {}
    for element in sheet.root.walk():
        name = element.get("id")
        if name is not None:
            if name in ids:
                findings.add(
                    "structure.double_id",
                    element,
                    f"has the id of the element in line {ids[name].line}",
                    "ids must be different: give one of the two another",
                )
            ids.setdefault(name, element)
        for child in element.children:
            parents[child] = element
    _rate(sheet, findings)
    moves = moves_of(sheet)
    said: set[tuple[Element, str]] = set()
    for element in sheet.root.walk():
        check_element(element, parents, findings)
        check_paint(element, ids, findings)
        check_ignored(element, findings, driven=_drives_opacity(moves.get(element, ())))
        if element is not sheet.root:
            check_window(element, sheet, findings)
        if element.tag == "text":
            for around, name in check_inheritance(element, parents, said):
                findings.add(
                    "render.inert_attribute",
                    around,
                    f'has `{name}="{around.attributes[name]}"`, which texts do not inherit',
                    "write it on each `<text>`",
                )
            try:
                check_text(element, sheet, findings, glyphs=glyphs, measurer=services.measurer)
            except NeedsAnswers as needed:
                missing += needed.requests
    check_motion(sheet, moves, parents, findings)
    boxes = TextBoxes(services, sheet, missing)
    check_landing(sheet, moves, parents, findings, boxes.box)
    return [*sheet.findings, *sheet.faces.findings, *findings.made]


def _drives_opacity(animations: Iterable[Animation]) -> bool:
    return any("opacity" in frame.properties for one in animations for frame in one.keyframes)


def _rate(sheet: Sheet, findings: Findings) -> None:
    written = (sheet.root.get("data-fps") or "").strip(" \t\r\n")
    exact = _NTSC.get(written)
    if exact is not None:
        findings.add(
            "canvas.rate_is_not_ntsc",
            sheet.root,
            f'has `data-fps="{written}"`, which is exactly that and not {exact}',
            f'write `data-fps="{exact}"` for a film that goes with video',
        )
