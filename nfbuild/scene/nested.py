"""A composition drawn inside another one, on a clock of its own.

The child's canvas is mapped into the image's box by a group; what the image says of its own
(transform, opacity, clip) and what the child's root says besides its canvas stand on groups too.
The canvas does not clip: the format's peer draws what leaves it, and so do we.
"""

from __future__ import annotations

from collections.abc import Sequence

from nfbuild.scene.aspect import declared_box, placement
from nfbuild.scene.clock import Clock
from nfbuild.scene.compile import Compiler
from nfbuild.scene.lone import has_company
from nfbuild.scene.mapping import Mapping
from nfbuild.scene.numbers import double, shown
from nfbuild.scene.program import Dressing, Program, Run, execute, keep_company
from nfbuild.scene.tree import Element
from nfbuild.scene.write import attribute_text, attributes_text

# What stands on the root of a nested composition and is about its canvas.
_CANVAS_ATTRIBUTES = frozenset(
    ["baseProfile", "height", "preserveAspectRatio", "version", "viewBox", "width", "x", "y"]
)


class Nested:
    """Draws a child composition on the mapped clock.

    `start` is what follows the transform in the group's start tag; `dressing` is the image's.
    """

    __slots__ = (
        "child",
        "company",
        "dressing",
        "fit",
        "group",
        "mapping",
        "mask",
        "opacity",
        "programs",
        "root",
        "root_end",
        "root_start",
    )

    def __init__(
        self,
        child: Compiler,
        programs: Sequence[Program],
        *,
        dressing: Dressing,
        mapping: Mapping,
        group: dict[str, str],
        fit: str,
        mask: int,
    ) -> None:
        self.child = child
        self.programs = programs
        self.dressing = dressing
        self.mapping = mapping
        self.opacity = attribute_text("opacity", group.pop("opacity")) if "opacity" in group else ""
        self.group = f"{attributes_text(group)}>"
        self.fit = fit
        self.mask = mask | child.styles_mask
        self.company = has_company(child.sheet.root)
        self.root, self.root_start, self.root_end = _root_group(child)

    def run(self, run: Run, following: int) -> int:
        """Write the group and, inside, the child at its own time."""
        clock = run.clock
        state = self.dressing.state(clock)
        kept = self.dressing.kept
        if state is None and not kept:
            return following
        canvas = self.child.sheet.canvas
        mapped = self.mapping.instant(clock.instant, canvas.duration)
        inner = Clock(canvas, mapped.numerator, mapped.denominator)
        root_start = self.root_start
        if self.root is not None:
            moving = self.root.dress(inner)
            if moving is None:
                return following
            root_start = f"<g{moving[1]}{root_start}"
        start, end = "", f"{self.root_end}</g>"
        own = None
        if state is None:
            start, end = '<g display="none">', f"{end}</g>"
        else:
            if state[0] is not None:
                start, end = f'<g opacity="{state[0]}">', f"{end}</g>"
            own = state[3]
        transform = attribute_text("transform", f"{own} {self.fit}" if own else self.fit)
        length = len(run.out)
        run.out.append(f"{start}<g{self.opacity}{transform}{self.group}{root_start}")
        run.clock = inner
        for program in self.programs:
            execute(program, run)
        if self.company:
            keep_company(run.out, length)
        if len(run.out) == length + 1 and not kept:
            run.out.pop()
        else:
            run.out.append(end)
            run.mask |= self.mask
            definitions(self.child, run)
        run.clock = clock
        return following


def definitions(compiler: Compiler, run: Run) -> None:
    """Write the definitions of a sheet that change from frame to frame."""
    if not compiler.moving_definitions:
        return
    out = run.out
    for program, late in compiler.moving_definitions:
        run.out = []
        execute(program, run)
        (run.late_definitions if late else run.definitions).extend(run.out)
    run.out = out


def fit(element: Element, width: int, height: int) -> str:
    """Return the transform that maps a canvas of `width` x `height` into the element's box."""
    x, y, horizontal, vertical = _fit(element, width, height)
    return f"translate({shown(x)},{shown(y)}) scale({shown(horizontal)},{shown(vertical)})"


def _fit(element: Element, width: int, height: int) -> tuple[float, float, float, float]:
    """Return x, y and the two factors that map a child's canvas into the element's box."""
    box = declared_box(element)
    if box is None:
        x, y = element.get("x"), element.get("y")
        return ((double(x or "0") or 0.0), (double(y or "0") or 0.0), 1.0, 1.0)
    placed = placement(element, width, height)
    if placed is not None:
        return (placed.x, placed.y, placed.width / width, placed.height / height)
    return (box[0], box[1], box[2] / width, box[3] / height)


def _root_group(child: Compiler) -> tuple[Dressing | None, str, str]:
    """Return what moves about a child's root, and the group for what it says besides its canvas.

    With something that moves, the start of the group is without `<g`, which the frame writes.
    """
    root = child.sheet.root
    drawn = {
        name: value
        for name, value in child.drawn(as_group(root)).items()
        if name not in _CANVAS_ATTRIBUTES
    }
    canvas = child.sheet.canvas
    box = [double(part) for part in (root.get("viewBox") or "").replace(",", " ").split()]
    if len(box) == 4 and None not in box:
        x, y, width, height = (value or 0.0 for value in box)
        if width > 0 and height > 0 and (x, y, width, height) != (0, 0, *_size(child)):
            # As the rasterizer maps a root's own viewBox: proportions kept, centred.
            factor = min(canvas.width / width, canvas.height / height)
            left = (canvas.width - width * factor) / 2 - x * factor
            top = (canvas.height - height * factor) / 2 - y * factor
            view = f"translate({shown(left)},{shown(top)}) scale({shown(factor)})"
            own = drawn.get("transform")
            drawn["transform"] = f"{view} {own}" if own else view
    dressing = child.dressing(root, drawn, kept=False, wrapped=False)
    if dressing is not None:
        return dressing, f"{attributes_text(drawn)}>", "</g>"
    return (None, f"<g{attributes_text(drawn)}>", "</g>") if drawn else (None, "", "")


def _size(child: Compiler) -> tuple[int, int]:
    return child.sheet.canvas.width, child.sheet.canvas.height


def as_group(element: Element) -> Element:
    """Return an element as a group: there, opacity and display are not inert."""
    return Element("g", element.attributes, line=element.line)
