"""Write elements as the rasterizer gets them: one canonical form.

Attributes that move stand first, in fixed order, the others sorted; nothing stands between tags.
Text with `&` or `<` stands in a CDATA section: the rasterizer expands no entity, so `&amp;` would
be drawn letter for letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOVING = ("fill", "opacity", "stroke", "transform")
"""What a timeline moves; written before every other attribute."""

LEADING = "!style"
"""Stands for `style` in a set of attributes where the style has to be written before them all."""


def escaped(value: str) -> str:
    """Return an attribute's value as it stands between quotes; blanks in it are plain blanks."""
    if "&" in value or "<" in value or '"' in value:
        # Only an author's exotic class or font name comes here; the rasterizer compares bytes, so
        # that both ends of a reference are still equal.
        value = value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    if "\n" in value or "\t" in value or "\r" in value:
        value = value.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    return value


def attribute_text(name: str, value: str) -> str:
    """Return ` name="value"`."""
    return f' {name}="{escaped(value)}"'


def leading_text(attributes: Mapping[str, str]) -> str:
    """Return the style that has to stand before every other attribute, empty without one."""
    style = attributes.get(LEADING)
    return "" if style is None else attribute_text("style", style)


def attributes_text(attributes: Mapping[str, str]) -> str:
    """Return all attributes in canonical order, each with a blank before it."""
    first = [attribute_text(name, attributes[name]) for name in MOVING if name in attributes]
    return leading_text(attributes) + "".join(first) + resting_text(attributes)


def resting_text(attributes: Mapping[str, str]) -> str:
    """Return the attributes that no timeline moves, sorted by UTF-8 bytes."""
    return "".join(
        attribute_text(name, attributes[name])
        for name in sorted(attributes, key=_utf8)
        if name not in MOVING and name != LEADING
    )


def character_text(text: str) -> str:
    """Return character data that the rasterizer reads back as exactly `text`."""
    if "&" not in text and "<" not in text:
        return text.replace("]]>", "]]]]><![CDATA[>") if "]]>" in text else text
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"


def style_text(sheet: str) -> str:
    """Return a style sheet's element."""
    return f"<style>{character_text(sheet)}</style>"


def tag_text(tag: str, attributes: Mapping[str, str], inside: Iterable[str] | str = "") -> str:
    """Return an element with ready content."""
    content = inside if isinstance(inside, str) else "".join(inside)
    if not content:
        return f"<{tag}{attributes_text(attributes)}/>"
    return f"<{tag}{attributes_text(attributes)}>{content}</{tag}>"


def _utf8(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
