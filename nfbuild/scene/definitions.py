"""Definitions: which of a sheet's are needed, in which order, and where they have to stand.

Not here: how one is written (`compile`), which of them a frame needs (`pool`).
"""

from __future__ import annotations

from nfbuild.scene.references import ids_of
from nfbuild.scene.sheet import Sheet
from nfbuild.scene.tree import Element


def pinned_elements(sheet: Sheet) -> set[Element]:
    """Return the elements that something refers to, and everything around them."""
    pinned: set[Element] = set()
    path: list[Element] = []
    stack: list[Element | None] = [sheet.root]
    while stack:
        element = stack.pop()
        if element is None:
            path.pop()
            continue
        path.append(element)
        if element.get("id") in sheet.referenced:
            pinned.update(path)
        stack.append(None)
        stack.extend(reversed(element.children))
    return pinned


def needed_definitions(sheet: Sheet, pinned: set[Element]) -> list[Element]:
    """Return the definitions that something refers to, each after those that it refers to.

    Where definitions refer to each other in a circle, the first one met comes last.
    """
    owners: dict[str, Element] = {}
    definitions: list[Element] = []
    for holder in sheet.root.children:
        if holder.tag != "defs":
            continue
        for child in holder.children:
            if child not in pinned or child.tag == "style":
                continue
            definitions.append(child)
            for inner in child.walk():
                name = inner.get("id")
                if name is not None and name in sheet.referenced:
                    owners.setdefault(name, child)
    return _by_need(definitions, owners)


def _by_need(definitions: list[Element], owners: dict[str, Element]) -> list[Element]:
    order: list[Element] = []
    met: set[Element] = set()
    for first in definitions:
        stack: list[tuple[Element, bool]] = [(first, False)]
        while stack:
            definition, left = stack.pop()
            if left:
                order.append(definition)
                continue
            if definition in met:
                continue
            met.add(definition)
            stack.append((definition, True))
            needed: dict[Element, None] = {}
            for inner in definition.walk():
                for name in ids_of(inner):
                    owner = owners.get(name)
                    if owner is not None and owner is not definition:
                        needed[owner] = None
            stack.extend((owner, False) for owner in reversed(needed))
    return order


def late_definitions(sheet: Sheet) -> set[Element]:
    """Return the definitions that have to stand at the end of the document.

    What a `use` draws is styled by the sheet only where its definition stands before it. So with
    a style sheet, definitions after the first `use` stay behind everything.
    """
    late: set[Element] = set()
    used = False
    for child in sheet.root.children if sheet.styles else ():
        if child.tag == "defs" and used:
            late.update(child.children)
        used = used or any(inner.tag == "use" for inner in child.walk())
    return late
