"""Read XML into a tree, with the standard library's expat.

Every error is a `SourceError` with file, line, fact and hint. Internal entities expand, up to a
bound on what they add; nothing outside the document is ever read. UTF-8 and UTF-16 with or
without a byte-order mark, and the other encodings that expat knows, are read as declared.

Not here: what the elements mean.
"""

from __future__ import annotations

from xml.parsers import expat
from xml.parsers.expat import errors as expat_errors

from nfbuild.errors import Place, SourceError
from nfbuild.scene.protocols import Limits
from nfbuild.scene.tree import SVG_NAMESPACE, XLINK_NAMESPACE, XML_NAMESPACE, Element

_SEPARATOR = "\n"  # cannot stand in a name or, after normalisation, in a namespace

# Entities may add this much to any document, and this many times its size to a bigger one.
_EXPANSION_FREE = 1 << 20
_EXPANSION_FACTOR = 10


def parse(data: bytes, file: str, limits: Limits | None = None) -> Element:
    """Return the root element of `data`, or raise `SourceError` naming `file` and line."""
    limits = limits or Limits()
    if len(data) > limits.document_bytes:
        raise SourceError(
            f"the document has {len(data)} bytes, more than {limits.document_bytes}",
            place=Place(file),
            hint="raise the limit `document_size`, or split the composition",
        )
    if not data.strip(b"\x00\t\r\n \xef\xbb\xbf\xff\xfe"):
        raise SourceError(
            "the file is empty", place=Place(file, 1), hint="a composition is one `<svg>` element"
        )
    return _Reader(file, len(data), limits).read(data)


class _Reader:
    """The handlers of one parse; built once per document."""

    def __init__(self, file: str, size: int, limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self.budget = max(_EXPANSION_FREE, size * _EXPANSION_FACTOR)
        self.count = 0
        self.root: Element | None = None
        self.open: list[Element] = []
        self.pieces: list[str] = []
        self.names: dict[str, str] = {}
        self.parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self.parser.buffer_text = True
        self.parser.ordered_attributes = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity
        self.parser.ExternalEntityRefHandler = self.external
        self.parser.SkippedEntityHandler = self.skipped

    def read(self, data: bytes) -> Element:
        try:
            self.parser.Parse(data, True)
        except expat.ExpatError as error:
            raise self.explained(error) from None
        except (LookupError, ValueError) as error:
            # An encoding that the document declares and Python does not know, or cannot offer.
            raise self.failure(
                f"the document's encoding cannot be read: {error}",
                hint="save the file as UTF-8",
            ) from None
        assert self.root is not None  # expat reports a document without an element itself
        return self.root

    def place(self) -> Place:
        return Place(self.file, self.parser.CurrentLineNumber)

    def failure(self, message: str, *, hint: str) -> SourceError:
        return SourceError(message, place=self.place(), hint=hint)

    def explained(self, error: expat.ExpatError) -> SourceError:
        place = Place(self.file, error.lineno)
        if error.code == expat_errors.codes[expat_errors.XML_ERROR_NO_ELEMENTS]:
            if self.open:
                return self.cut_off(place)
            return SourceError(
                "there is no element in the file",
                place=place,
                hint="a composition is one `<svg>` element",
            )
        unclosed = (
            expat_errors.XML_ERROR_UNCLOSED_TOKEN,
            expat_errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
            expat_errors.XML_ERROR_PARTIAL_CHAR,
        )
        if error.code in {expat_errors.codes[name] for name in unclosed}:
            return self.cut_off(place)
        message = expat.ErrorString(error.code) or f"expat error {error.code}"
        if "amplification" in message:
            return self.too_much(place)
        hint = "the file must be well-formed XML"
        if error.code == expat_errors.codes[expat_errors.XML_ERROR_TAG_MISMATCH] and self.open:
            top = self.open[-1]
            hint = f"`<{top.tag}>` of line {top.line} is still open here"
        elif error.code == expat_errors.codes[expat_errors.XML_ERROR_UNBOUND_PREFIX]:
            hint = 'declare it on the root: `xmlns:prefix="..."`'
        elif error.code == expat_errors.codes[expat_errors.XML_ERROR_UNDEFINED_ENTITY]:
            hint = "only `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` need no declaration"
        return SourceError(message, place=place, hint=hint)

    def cut_off(self, place: Place) -> SourceError:
        top = self.open[-1] if self.open else None
        where = "" if top is None else f" inside `<{top.tag}>` of line {top.line}"
        return SourceError(
            f"the document ends{where} before it is complete",
            place=place,
            hint="the file was cut off, or an end tag is missing",
        )

    def too_much(self, place: Place | None = None) -> SourceError:
        return SourceError(
            "the document's entities expand to too much text",
            place=place or self.place(),
            hint="write the text out, or use fewer nested entities",
        )

    def start(self, name: str, attributes: list[str]) -> None:
        self.flush()
        self.count += 1
        limits = self.limits
        if self.count > limits.elements:
            raise self.failure(
                f"the document has more than {limits.elements} elements",
                hint="raise the limit `elements`, or split the composition",
            )
        if len(self.open) >= limits.depth:
            raise self.failure(
                f"elements are nested deeper than {limits.depth}",
                hint="raise the limit `depth`, or unwrap some groups",
            )
        resolved: dict[str, str] = {}
        for index in range(0, len(attributes), 2):
            value = attributes[index + 1]
            self.budget -= len(value)
            resolved[self.attribute(attributes[index])] = value
        if self.budget < 0:
            raise self.too_much()
        element = Element(self.resolved(name), resolved, line=self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, _name: str) -> None:
        self.flush()
        self.open.pop()

    def characters(self, data: str) -> None:
        self.budget -= len(data)
        if self.budget < 0:
            raise self.too_much()
        self.pieces.append(data)

    def flush(self) -> None:
        """Give the collected text to the element it belongs to: as its text, or as a tail."""
        if not self.pieces:
            return
        text = "".join(self.pieces)
        self.pieces.clear()
        top = self.open[-1]
        if top.children:
            top.children[-1].tail += text
        else:
            top.text += text

    def entity(
        self,
        name: str,
        is_parameter: bool,
        value: str | None,
        _base: str | None,
        system: str | None,
        _public: str | None,
        _notation: str | None,
    ) -> None:
        if value is None:
            raise self.failure(
                f"entity `{name}` lies outside the document, at `{system}`",
                hint="write its text into the document; nothing outside is read",
            )
        if is_parameter:
            raise self.failure(
                f"`%{name};` is a parameter entity",
                hint='declare ordinary entities: `<!ENTITY name "text">`',
            )

    def external(self, _context: str, _base: str | None, system: str | None, _p: str | None) -> int:
        raise self.failure(
            f"the document refers to text outside itself, at `{system}`",
            hint="write the text into the document; nothing outside is read",
        )

    def skipped(self, name: str, _is_parameter: bool) -> None:
        raise self.failure(
            f"entity `{name}` is not declared in the document",
            hint='declare it: `<!DOCTYPE svg [ <!ENTITY name "text"> ]>`',
        )

    def attribute(self, name: str) -> str:
        # `svg:fill` is not `fill`: an attribute without a prefix is in no namespace at all.
        if name.startswith(SVG_NAMESPACE + _SEPARATOR):
            return f"{{{SVG_NAMESPACE}}}{name.rpartition(_SEPARATOR)[2]}"
        return self.resolved(name)

    def resolved(self, name: str) -> str:
        known = self.names.get(name)
        if known is None:
            uri, _, local = name.rpartition(_SEPARATOR)
            if uri in ("", SVG_NAMESPACE):
                known = local
            elif uri == XLINK_NAMESPACE:
                known = f"xlink:{local}"
            elif uri == XML_NAMESPACE:
                known = f"xml:{local}"
            else:
                known = f"{{{uri}}}{local}"
            self.names[name] = known
        return known
