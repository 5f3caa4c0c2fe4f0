"""From an author's attributes to the drawn ones: what stays, what is renamed, what is dropped.

A deny-list: an attribute that is not named here is drawn, and so is an input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nfbuild.scene.normal import normal_value
from nfbuild.scene.references import renamed
from nfbuild.scene.tree import Element
from nfbuild.scene.write import LEADING

# Read by bake itself, or by nobody at all.
_DROPPED = frozenset(["id", "class", "xml:space", "href", "xlink:href"])

# Inert on these elements, measured: the group around them carries the first two, and the face
# that the last three choose is written by its digest.
_INERT = {
    "image": frozenset(["display", "opacity"]),
    "text": frozenset(["display", "opacity", "font-family", "font-weight", "font-style"]),
}
# Where a style and an attribute both set one of these, it matters which stands first, measured.
_ORDERED = frozenset(["clip-path", "fill", "filter", "mask", "stroke", "stroke-dasharray"])

_BLANKS = " \t\r\n"
_NONE: frozenset[str] = frozenset()


def drawn_attributes(
    element: Element,
    *,
    rename: Callable[[str], str],
    referenced: frozenset[str],
    styled: bool,
    animated: bool = False,
) -> dict[str, str]:
    """Return the attributes of `element` as they are drawn, each in its one spelling.

    `rename` gives the drawn id for an author's id. An id stays only where it is `referenced`, a
    class only where the document has a style sheet; `animated` where a timeline moves its paints.
    A reference to a file is not taken over.
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
    if "style" in drawn and _style_comes_first(source, animated=animated):
        drawn[LEADING] = drawn.pop("style")
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


def _style_comes_first(source: Mapping[str, str], *, animated: bool) -> bool:
    """Tell whether a style has to stand before the attributes.

    The order of attributes does not matter to the rasterizer, except where a style and an
    attribute speak of the same property: then the later one, or the style, or neither wins,
    depending on the values. What the timeline adds stands behind the author's attributes.
    """
    declared = {part.partition(":")[0].strip(_BLANKS) for part in source["style"].split(";")}
    names = list(source)
    later = names[names.index("style") + 1 :]
    if animated:
        later += [name for name in ("fill", "stroke") if name not in source]
    return any(name in declared for name in later if name in _ORDERED)
