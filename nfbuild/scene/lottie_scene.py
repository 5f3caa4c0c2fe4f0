"""What a Lottie scene says of itself: canvas, clock, markers, expressions, and what it draws.

**Frames.** A scene runs from its in point `ip` to its out point `op`, in frames of its own, which
need not be whole. It has as many frames as whole steps fit between them, at least one:
`max(1, floor(op - ip))`, taken of the exact decimal numbers. Frame i is drawn at `ip + i`. That is
what ThorVG's total comes to in the format's reference. A scene whose out point is not behind its
in point, or without `op` or `fr`, is refused.

**Markers.** A marker at `tm` lasting `dr` names the frames i with `tm <= ip + i < tm + dr`, at
least the one at or next after `tm`.

Not here: the files it refers to (`lottie_assets`), frames (`lottie`).
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.errors import Place, SourceError
from nfbuild.scene.lottie_json import Members, Number, objects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nfbuild.scene.protocols import Limits

PRECOMP = 0
IMAGE = 2
TEXT = 5

# Identifiers of JavaScript in ASCII; what hides behind escapes or `eval` is found by drawing one
# frame twice, more than a second apart.
_CLOCK = re.compile(r"(?<![A-Za-z0-9_$])Date(?![A-Za-z0-9_$])")
_ESCAPE = re.compile(r"\\u(?:\{0*([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4}))")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a scene says in its own head."""

    width: int
    height: int
    rate: Fraction
    frames: int
    markers: Mapping[str, tuple[int, int]]
    expressions: bool


def read_facts(scene: Members, file: str, limits: Limits) -> Facts:
    """Return what `scene` says of itself; raises `SourceError` where it cannot be drawn."""
    place = Place(file)
    if not scene.items("layers"):
        raise SourceError(
            "the scene has no layers", place=place, hint="an empty scene draws nothing"
        )
    width, height = (_side(scene, name, place, limits) for name in ("w", "h"))
    if width * height > limits.pixels:
        raise SourceError(
            f"the scene of {width} x {height} has more than {limits.pixels} pixels",
            place=place,
            hint="make it smaller, or raise the limit `canvas_pixels`",
        )
    rate = scene.number("fr")
    if rate is None or rate <= 0:
        raise SourceError(
            "the scene's frame rate `fr` is missing or not above zero",
            place=place,
            hint='write the frames per second, such as `"fr": 30`',
        )
    first, frames = _span(scene, place, limits)
    _require_no_cycle(scene, place, limits)
    return Facts(
        width, height, rate, frames, _markers(scene, first, frames), _expressions(scene, place)
    )


def compositions(scene: Members) -> dict[str, list[Members]]:
    """Return the layers of every precomposed asset by its id; doubles of an id are joined."""
    found: dict[str, list[Members]] = {}
    for asset in scene.items("assets"):
        if isinstance(asset.get("layers"), list):
            found.setdefault(name_of(asset, "id"), []).extend(asset.items("layers"))
    return found


def drawn_layers(scene: Members) -> list[Members]:
    """Return the layers of the scene and of every precomposition that it reaches, once each."""
    inner = compositions(scene)
    layers: list[Members] = []
    seen: set[str] = set()
    waiting = [scene.items("layers")]
    while waiting:
        for layer in waiting.pop():
            layers.append(layer)
            name = name_of(layer, "refId")
            if name in inner and name not in seen:
                seen.add(name)
                waiting.append(inner[name])
    return layers


def kind_of(layer: Members) -> int:
    """Return a layer's type number, -1 where it has none."""
    number = layer.number("ty")
    return -1 if number is None or number.denominator != 1 else int(number)


def name_of(members: Members, member: str) -> str:
    """Return an id or a reference to one; some tools write numbers."""
    value = members.get(member)
    return str.__str__(value) if isinstance(value, (str, Number)) else ""


def _side(scene: Members, name: str, place: Place, limits: Limits) -> int:
    number = scene.number(name)
    side = 0 if number is None else int(number)
    if not 0 < side <= limits.side:
        raise SourceError(
            f"the scene's `{name}` is missing or not from 1 to {limits.side}",
            place=place,
            hint="`w` and `h` are the canvas in px",
        )
    return side


def _span(scene: Members, place: Place, limits: Limits) -> tuple[Fraction, int]:
    """Return the in point and the number of frames."""
    first = Fraction(0) if scene.get("ip") is None else scene.number("ip")
    last = scene.number("op")
    if first is None or last is None:
        raise SourceError(
            f"the scene's `{'op' if last is None else 'ip'}` is missing or no number",
            place=place,
            hint="`ip` and `op` are its first and last moment, in frames",
        )
    if last <= first:
        raise SourceError(
            f"the scene ends at {_shown(last)} before it has begun at {_shown(first)}",
            place=place,
            hint="`op` must be greater than `ip`",
        )
    frames = max(1, floor(last - first))
    if frames > limits.frames:
        raise SourceError(
            f"the scene has {frames} frames, more than {limits.frames}",
            place=place,
            hint="make it shorter, or raise the limit `frames`",
        )
    return first, frames


def _shown(value: Fraction) -> str:
    return f"{float(value):g}"


def _markers(scene: Members, first: Fraction, frames: int) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for marker in scene.items("markers"):
        name = marker.text("cm")
        begin = marker.number("tm")
        if not name or begin is None:
            continue
        length = marker.number("dr") or Fraction(0)
        low = ceil(begin - first)
        high = max(low, ceil(begin + length - first) - 1)
        low, high = max(low, 0), min(high, frames - 1)
        if low <= high:
            found.setdefault(name, (low, high))
    return found


def _expressions(scene: Members, place: Place) -> bool:
    """Tell whether any property has an expression; raises where one reads the clock.

    A property's expression is its member `x` where that is a text; the `x` of a position or of
    an ease is an object, a list or a number.
    """
    found = False
    for one in objects(scene):
        text = one.text("x")
        if not text:
            continue
        found = True
        if _CLOCK.search(_ESCAPE.sub(_unescaped, text)):
            name = one.text("nm")
            where = "" if name is None else f" of `{name}`"
            raise SourceError(
                f"an expression{where} reads the clock with `Date`",
                place=place,
                hint="use `time`, the scene's own: a frame must not depend on when it is drawn",
            )
    return found


def _unescaped(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    return chr(code) if code < 0x110000 else ""


def _require_no_cycle(scene: Members, place: Place, limits: Limits) -> None:
    """Refuse a precomposition that holds itself, which kills the rasterizer, and a bomb of them."""
    inner = compositions(scene)
    sizes: dict[str, int] = {}
    path: list[str] = []
    # Each entry: a name, its layers, and how far they have been looked at.
    stack: list[tuple[str, list[Members], list[int]]] = [("", scene.items("layers"), [0, 0])]
    while stack:
        name, layers, state = stack[-1]
        if state[0] == len(layers):
            stack.pop()
            size = len(layers) + state[1]
            if size > limits.elements:
                raise SourceError(
                    f"the scene unfolds to more than {limits.elements} layers",
                    place=place,
                    hint="raise the limit `elements`, or nest fewer precompositions",
                )
            sizes[name] = size
            if path:
                path.pop()
            if stack:
                stack[-1][2][1] += size
            continue
        reference = name_of(layers[state[0]], "refId")
        state[0] += 1
        if reference not in inner:
            continue
        if reference in path:
            circle = " > ".join([*path[path.index(reference) :], reference])
            raise SourceError(
                f"the precomposition `{reference}` holds itself: {circle}",
                place=place,
                hint="remove one of these references",
            )
        if reference in sizes:
            state[1] += sizes[reference]
            continue
        path.append(reference)
        stack.append((reference, inner[reference], [0, 0]))
