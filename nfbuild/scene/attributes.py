"""From an author's attributes to the drawn ones: what stays, what is renamed, what is dropped.

A deny-list: an attribute that is not named here is drawn, and so is an input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nfbuild.scene.normal import normal_value
from nfbuild.scene.references import renamed
from nfbuild.scene.tree import Element

# Read by bake itself, or by nobody at all.
_DROPPED = frozenset(["id", "class", "xml:space", "href", "xlink:href"])

# Inert on these elements, measured: the group around them carries the first two, and the face
# that the last three choose is written by its digest.
_INERT = {
    "image": frozenset(["display", "opacity"]),
    "text": frozenset(["display", "opacity", "font-family", "font-weight", "font-style"]),
}
_NONE: frozenset[str] = frozenset()


def drawn_attributes(
    element: Element,
    *,
    rename: Callable[[str], str],
    referenced: frozenset[str],
    styled: bool,
) -> dict[str, str]:
    """Return the attributes of `element` as they are drawn, each in its one spelling.

    `rename` gives the drawn id for an author's id. An id stays only where it is `referenced`, a
    class only where the document has a style sheet. A reference to a file is not taken over.
    """
    drawn: dict[str, str] = {}
    inert = _INERT.get(element.tag, _NONE)
    source: Mapping[str, str] = element.attributes
    for name, value in source.items():
        if name in _DROPPED or name in inert or name[:5] == "data-" or "{" in name:
            continue
        if name[:6] == "xlink:":
            continue
        drawn[name] = normal_value(name, renamed(value, rename))
    own = source.get("id")
    if own is not None and own in referenced:
        drawn["id"] = rename(own)
    if styled and "class" in source:
        drawn["class"] = source["class"]
    link = source.get("href", source.get("xlink:href"))
    if link is not None:
        stripped = link.strip(" \t\r\n")
        if stripped[:1] == "#":
            drawn["href"] = "#" + rename(stripped[1:])
        elif element.tag != "image":
            drawn["href"] = stripped
    return drawn
