"""Compile a sheet: its tree becomes a program that writes a frame.

What never changes is written here, once. What changes becomes an item of the program, with
everything about it that does not change already in text. Elements that cannot be seen are left
out, except where something refers to them.

Not here: running (`program`), what nested files and pictures are (`embed`).
"""

from __future__ import annotations

from collections.abc import Callable

from nfbuild.dataclasses import dataclass
from nfbuild.scene.attributes import drawn_attributes
from nfbuild.scene.box import TextBox, center
from nfbuild.scene.clock import Clock
from nfbuild.scene.colour import normal_colour
from nfbuild.scene.definitions import late_definitions, needed_definitions, pinned_elements
from nfbuild.scene.join import merged
from nfbuild.scene.layout.raster import Rastering
from nfbuild.scene.lone import COMPANY, has_company, is_lone, is_translucent
from nfbuild.scene.names import body_name, content_name
from nfbuild.scene.pool import Pool
from nfbuild.scene.program import (
    Constant,
    Dressing,
    End,
    FullEnd,
    Item,
    Moving,
    Program,
    Start,
    Words,
    Wrapped,
)
from nfbuild.scene.protocols import LayoutContext
from nfbuild.scene.references import ids_in, ids_of, renamed
from nfbuild.scene.sheet import DRAWN, PAINTED, SHAPES, Sheet
from nfbuild.scene.texts import text_items
from nfbuild.scene.timeline import Track
from nfbuild.scene.tree import Element
from nfbuild.scene.window import read_window
from nfbuild.scene.write import (
    MOVING,
    attributes_text,
    escaped,
    leading_text,
    resting_text,
    style_text,
)

# Known to draw nothing, whatever stands in them, unless it is an element that is drawn.
_SILENT = frozenset(["desc", "metadata", "script", "title"])

# Containers whose content is not drawn where it stands: nothing in them is ever left out.
_DEFINING = frozenset(
    ["clipPath", "defs", "filter", "linearGradient", "mask", "radialGradient", "symbol"]
)

# An empty group draws nothing, whatever attributes it has.
_EMPTY_DRAWS_NOTHING = frozenset(["g", "svg"])

# Colours of a long film are many; the most are met again within a few frames.
_PAINTS = 4096

Embed = Callable[["Compiler", Element, "Context"], "list[Item]"]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the compiler asks of others: images, the ink of texts, layout, raster text."""

    embed: Embed
    text_box: TextBox
    layout: LayoutContext
    rastering: Rastering | None


@dataclass(frozen=True, slots=True)
class Context:
    """What holds at a place in the tree: blanks of text kept, and nothing may be left out."""

    preserved: bool
    kept: bool


class Compiler:
    """Compiles one sheet for one place where it is drawn; `prefix` tells that place."""

    def __init__(self, sheet: Sheet, pool: Pool, prefix: str, drawing: Drawing) -> None:
        self.sheet = sheet
        self.pool = pool
        self.prefix = prefix
        self.drawing = drawing
        self.moving_definitions: list[tuple[Program, bool]] = []
        self.styles: list[str] = []
        self.styles_mask = 0
        self.nested = 0
        self._names: dict[str, str] = {}
        self._masks: dict[str, int] = {}
        self._styles_show = any(
            "opacity" in text or "display" in text for text in sheet.styles.values()
        )
        self._paints: dict[str, str] = {}
        self._pinned = pinned_elements(sheet)
        self.start_clock = Clock(sheet.canvas, 0, 1, 0)

    def compile(self) -> list[Program]:
        """Return one program for each child of the root that can be drawn, in order."""
        root = self.sheet.root
        context = Context(root.get("xml:space") == "preserve", kept=False)
        late = late_definitions(self.sheet)
        for definition in needed_definitions(self.sheet, self._pinned):
            self._compile_definition(definition, context, late)
        for style in self.sheet.styles.values():
            for name in ids_in(style):
                self.styles_mask |= self._masks.get(name, 0)
        programs: list[Program] = []
        for child in root.children:
            # Where a style sheet stands matters to what is drawn before it.
            for text in self._styles_in(child):
                if programs and not self.prefix:
                    programs.append([Constant(style_text(text))])
                else:
                    self.styles.append(text)
            if child.tag in ("defs", "style"):
                continue
            program = self.elements([child], context)
            if program:
                programs.append(program)
        return programs

    def _styles_in(self, child: Element) -> list[str]:
        sheets = self.sheet.styles
        if not sheets:
            return []
        return [renamed(sheets[each], self.rename) for each in child.walk() if each in sheets]

    # -- ids and what they bring along

    def rename(self, name: str) -> str:
        """Return the drawn id of an author's id."""
        drawn = self._names.get(name)
        return body_name(self.prefix, name) if drawn is None else drawn

    def mask_of(self, element: Element) -> int:
        """Return the bits of the definitions that the element's attributes refer to."""
        mask = 0
        for name in ids_of(element):
            mask |= self._masks.get(name, 0)
        return mask

    def _paint_masks(self, tracks: tuple[Track, ...]) -> dict[str, int] | None:
        """Return the bits of the definitions that each paint of a timeline refers to."""
        masks: dict[str, int] = {}
        for track in tracks:
            for paint in track.paints:
                for name in ids_in(paint):
                    masks[paint] = masks.get(paint, 0) | self._masks.get(name, 0)
        return masks or None

    def paint(self, text: str) -> str:
        """Return a paint of the timeline as it is drawn."""
        known = self._paints.get(text)
        if known is None:
            known = escaped(normal_colour(renamed(text, self.rename)))
            if len(self._paints) < _PAINTS:
                self._paints[text] = known
        return known

    # -- definitions

    def _compile_definition(
        self, definition: Element, context: Context, late: set[Element]
    ) -> None:
        names: list[str] = []
        shared: list[str] = []
        for inner in definition.walk():
            name = inner.get("id")
            if name is not None and name in self.sheet.referenced:
                (shared if name in self._names or name in names else names).append(name)
        # While its content is not known yet, each id is written as a mark that no text can hold.
        for number, name in enumerate(names):
            self._names[name] = f"\0{number}\0"
        program = self.elements([definition], Context(context.preserved, kept=True))
        if len(program) == 1 and isinstance(program[0], Constant):
            text, uses = program[0].text, program[0].mask
            base = content_name(text)
            for number, name in enumerate(names):
                drawn = f"{base}-{number}" if number else base
                text = text.replace(self._names[name], drawn)
                self._names[name] = drawn
            mask = self.pool.definition(text, uses, late=definition in late)
        else:
            for name in names:
                del self._names[name]
            program = self.elements([definition], Context(context.preserved, kept=True))
            self.moving_definitions.append((program, definition in late))
            mask = 0
        for name in names:
            self._masks[name] = mask
        for name in shared:
            # A gradient and a clip path may have one id: which is meant, the reference decides.
            self._masks[name] = self._masks.get(name, 0) | mask

    # -- elements

    def elements(self, elements: list[Element], context: Context) -> list[Item]:
        """Return the program that draws `elements` one after the other."""
        items: list[Item] = []
        # An entry is an element to write, or the end of one whose content is complete.
        stack: list[tuple[Element, Context] | _Open] = [
            (element, context) for element in reversed(elements)
        ]
        while stack:
            entry = stack.pop()
            if isinstance(entry, _Open):
                self._close(entry, items)
                continue
            element, here = entry
            opened = self._element(element, here, items)
            if opened is not None:
                stack.append(opened)
                inner = _inside(element, here)
                stack.extend((child, inner) for child in reversed(element.children))
        return merged(items)

    def _element(self, element: Element, context: Context, items: list[Item]) -> _Open | None:
        """Write an element, or its start; returns what to do after its content."""
        pinned = element in self._pinned
        if element.tag not in DRAWN:
            return self._unknown(element, items, pinned=pinned)
        if element.tag == "style":
            return None  # gathered by the sheet, written in the head
        kept = context.kept or pinned or self._overruled(element)
        if element.get("display") == "none" and not kept:
            return None
        if element.tag == "text":
            inner = _inside(element, context)
            items += text_items(self, element, preserved=inner.preserved, kept=kept)
            return None
        if element.tag == "image":
            items += self.drawing.embed(self, element, Context(context.preserved, kept))
            return None
        drawn = self.drawn(element)
        mask = self.mask_of(element)
        dressing = self.dressing(element, drawn, kept=kept, wrapped=False)
        closed = not element.children or (element.tag in SHAPES and not pinned)
        tag = element.tag
        if closed:
            if tag in _EMPTY_DRAWS_NOTHING and not kept:
                return None
            if dressing is None:
                if not _invisible(drawn, kept=kept):
                    items.append(Constant(f"<{tag}{attributes_text(drawn)}/>", mask))
            else:
                items.append(self._moving(tag, dressing, drawn, "/>", mask))
            return None
        opened = _Open(element, tag, len(items), kept=kept)
        if dressing is None:
            if _invisible(drawn, kept=kept):
                return None
            opened.start = Constant(f"<{tag}{attributes_text(drawn)}>", mask)
            items.append(opened.start)
        else:
            opened.moving = self._moving(tag, dressing, drawn, ">", mask)
            items.append(opened.moving)
        return opened

    def _overruled(self, element: Element) -> bool:
        """Tell whether a style may show an element that its attributes hide: a style wins."""
        style = element.get("style")
        if style is not None and ("opacity" in style or "display" in style):
            return True
        return self._styles_show

    def drawn(self, element: Element) -> dict[str, str]:
        """Return the element's drawn attributes."""
        return drawn_attributes(
            element,
            rename=self.rename,
            referenced=self.sheet.referenced,
            styled=bool(self.sheet.styles),
            animated=element in self.sheet.tracks,
        )

    def dressing(
        self, element: Element, drawn: dict[str, str], *, kept: bool, wrapped: bool
    ) -> Dressing | None:
        """Return what moves about an element, None where nothing does.

        The attributes that may move are taken out of `drawn`.
        """
        sheet = self.sheet
        window = read_window(element, sheet.path, sheet.canvas.duration)
        if window is not None and window.always(float(sheet.canvas.duration)):
            window = None
        tracks = sheet.tracks.get(element, ())
        painted = element.tag in PAINTED
        if not painted:
            tracks = tuple(track for track in tracks if track.moves)
        if window is None and not tracks:
            return None
        auto = None
        if any(track.automatic for track in tracks):
            auto = center(element, sheet.path, self.drawing.text_box)
        fixed = {name: drawn.pop(name) for name in MOVING if name in drawn}
        return Dressing(
            window=window,
            tracks=tracks,
            fixed=fixed,
            auto=auto,
            kept=kept,
            wrapped=wrapped,
            paint=self.paint if painted else None,
            masks=self._paint_masks(tracks) if painted else None,
        )

    @staticmethod
    def _moving(
        tag: str, dressing: Dressing, drawn: dict[str, str], closing: str, mask: int
    ) -> Moving:
        rest = resting_text(drawn) + closing
        hidden = resting_text({**drawn, "display": "none"}) + closing
        return Moving(f"<{tag}{leading_text(drawn)}", dressing, rest, hidden, mask)

    def _unknown(self, element: Element, items: list[Item], *, pinned: bool) -> _Open | None:
        if not pinned and not any(inner.tag in DRAWN for inner in element.walk()):
            if element.tag in _SILENT or "{" in element.tag:
                return None
            if not element.children:
                return None
        # The rasterizer does not know it and draws its children as if it were not there.
        tag = "x" if "{" in element.tag else element.tag
        drawn = {} if tag == "x" else self.drawn(element)
        opened = _Open(element, tag, len(items), kept=pinned)
        opened.start = Constant(f"<{tag}{attributes_text(drawn)}>", 0)
        items.append(opened.start)
        return opened

    def _close(self, opened: _Open, items: list[Item]) -> None:
        inside = items[opened.at + 1 :]
        end = f"</{opened.tag}>"
        empty = not inside
        full = any(isinstance(item, Constant) for item in inside)
        prunable = not opened.kept and (
            opened.tag in _EMPTY_DRAWS_NOTHING or opened.tag not in DRAWN
        )
        company = has_company(opened.element)
        if empty and prunable:
            items.pop()
        elif opened.moving is not None:
            kind = FullEnd if full or not prunable else End
            items.append(kind(end, company=company))
            opened.moving.end = -1  # set when the program is complete
        elif full or not prunable:
            assert opened.start is not None
            if company and is_translucent(opened.start.text):
                if not all(isinstance(item, Constant) for item in inside):
                    items[opened.at] = Start(opened.start.text, opened.start.mask)
                    items.append(FullEnd(end, company=True))
                    return
                if is_lone("".join(item.text for item in inside if isinstance(item, Constant))):
                    items.append(Constant(COMPANY))
            items.append(Constant(end))
        else:
            assert opened.start is not None
            items[opened.at] = Start(opened.start.text, opened.start.mask)
            items.append(End(end, company=company))

    # -- text

    def wrapped(
        self,
        element: Element,
        drawn: dict[str, str],
        content: Words | str,
        mask: int,
        *,
        kept: bool,
    ) -> list[Item]:
        """Return a text or an image, with the group that carries its opacity and display."""
        tag = element.tag
        if element.get("display") == "none":
            # Only an element that something refers to comes here: it is never shown.
            body = content if isinstance(content, str) else "/>"
            return [Constant(f'<g display="none"><{tag}{attributes_text(drawn)}{body}</g>', mask)]
        dressing = self.dressing(element, drawn, kept=kept, wrapped=True)
        if dressing is None:
            if isinstance(content, str):
                return [Constant(f"<{tag}{attributes_text(drawn)}{content}", mask)]
            dressing = self._still(drawn, kept=kept)
        return [
            Wrapped(f"<{tag}{leading_text(drawn)}", dressing, resting_text(drawn), content, mask)
        ]

    def dressed(self, element: Element, drawn: dict[str, str], *, kept: bool) -> Dressing:
        """Return what moves about an image, also where nothing does."""
        dressing = self.dressing(element, drawn, kept=kept, wrapped=True)
        return self._still(drawn, kept=kept) if dressing is None else dressing

    def _still(self, drawn: dict[str, str], *, kept: bool) -> Dressing:
        fixed = {name: drawn.pop(name) for name in MOVING if name in drawn}
        return Dressing(
            window=None,
            tracks=(),
            fixed=fixed,
            auto=None,
            kept=kept,
            wrapped=True,
            paint=None,
        )


class _Open:
    """An element whose content is being written."""

    __slots__ = ("at", "element", "kept", "moving", "start", "tag")

    def __init__(self, element: Element, tag: str, at: int, *, kept: bool) -> None:
        self.element = element
        self.tag = tag
        self.at = at
        self.kept = kept
        self.start: Constant | None = None
        self.moving: Moving | None = None


def _invisible(drawn: dict[str, str], *, kept: bool) -> bool:
    return not kept and drawn.get("opacity") == "0"


def _inside(element: Element, context: Context) -> Context:
    # An element that the rasterizer does not know hands nothing down.
    space = element.get("xml:space") if element.tag in DRAWN else None
    kept = context.kept or element.tag in _DEFINING
    if space is None and kept == context.kept:
        return context
    # Any value but these two says nothing, and what stands around holds.
    preserved = {"preserve": True, "default": False}.get(space or "", context.preserved)
    return Context(preserved, kept)
