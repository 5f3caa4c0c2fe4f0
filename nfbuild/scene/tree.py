"""The document tree: one mutable element type that everything in this room reads and edits.

Names are resolved once, when the document is read: an element of SVG's namespace or of none has
its local name as `tag`, one of any other namespace reads `{uri}local`. Attributes follow the same
rule; the two namespaces that SVG itself uses keep their usual spelling, `xlink:href` and
`xml:space`, whatever prefix the author chose. So a prefix is never an input.

Not here: reading (`xml`), writing (`write`), meaning (`compile` and its neighbours).
"""

from __future__ import annotations

from collections.abc import Iterator

SVG_NAMESPACE = "http://www.w3.org/2000/svg"
XLINK_NAMESPACE = "http://www.w3.org/1999/xlink"
XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"


class Element:
    """One element: its names are resolved, its `text` and `tail` are never None.

    `line` counts from 1 in the file that the tree was read from; an element that bake makes up
    carries the line of the element it stands for.
    """

    __slots__ = ("attributes", "children", "line", "tag", "tail", "text")

    def __init__(
        self,
        tag: str,
        attributes: dict[str, str] | None = None,
        *,
        text: str = "",
        tail: str = "",
        line: int = 0,
        children: list[Element] | None = None,
    ) -> None:
        self.tag = tag
        self.attributes: dict[str, str] = {} if attributes is None else attributes
        self.children: list[Element] = [] if children is None else children
        self.text = text
        self.tail = tail
        self.line = line

    def __repr__(self) -> str:
        return f"<{self.tag} {self.attributes!r} line {self.line}>"

    def get(self, name: str) -> str | None:
        """Return the attribute's value, None where it is not written."""
        return self.attributes.get(name)

    def walk(self) -> Iterator[Element]:
        """Yield this element and everything below it in document order, without recursion."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def copy(self) -> Element:
        """Return a deep copy that shares nothing mutable, without recursion."""
        twin = self._shallow()
        stack = [(self, twin)]
        while stack:
            source, target = stack.pop()
            for child in source.children:
                copied = child._shallow()  # noqa: SLF001  its own class
                target.children.append(copied)
                if child.children:
                    stack.append((child, copied))
        return twin

    def all_text(self) -> str:
        """Return every character inside this element in document order, tails of children too."""
        if not self.children:
            return self.text
        parts = [self.text]
        stack: list[Element | str] = []
        for child in reversed(self.children):
            stack += [child.tail, child]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(item)
                continue
            parts.append(item.text)
            for child in reversed(item.children):
                stack += [child.tail, child]
        return "".join(parts)

    def _shallow(self) -> Element:
        return Element(
            self.tag, dict(self.attributes), text=self.text, tail=self.tail, line=self.line
        )


def describe(element: Element) -> str:
    """Return the element as a message names it: `<image id="orb">`, or `<image>` without an id."""
    name = element.attributes.get("id")
    return f"<{element.tag}>" if name is None else f'<{element.tag} id="{name}">'
