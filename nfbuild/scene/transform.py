"""Animated transforms: what a keyframe may say, how two blend, and the text that is drawn.

Source: the format's table of transforms and pivots. Printed in the order translate, rotate,
scale; a pivot is printed as `translate(cx,cy) op translate(-cx,-cy)` around each op it holds for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from nfbuild.errors import Place, SourceError
from nfbuild.scene.numbers import json_number
from nfbuild.scene.write import escaped

Pivot: TypeAlias = "tuple[float, float] | None"
Anchor: TypeAlias = "tuple[str, str]"

AUTO = "auto"


class Motion(NamedTuple):
    """One instant of an animated transform; None where the keyframes say nothing.

    `rotate` is (degrees,) or (degrees, cx, cy); `scale` is (s,) or (sx, sy); `center` is "auto",
    a point or None; `raw` is transform text taken over as it is.
    """

    translate: tuple[float, float] | None = None
    rotate: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None
    center: str | tuple[float, float] | None = None
    raw: str | None = None

    def text(self, auto: Pivot) -> str:
        """Return the transform list; `auto` is the element's own centre, None where unknown."""
        return self.written(anchor(auto))

    def written(self, auto: Anchor) -> str:
        """Return the transform list; `auto` stands around what turns about the own centre.

        Adding 0.0 to a number takes the sign of a zero away.
        """
        if self.raw is not None:
            return self.raw
        translate, rotate, scale = self.translate, self.rotate, self.scale
        text = ""
        if translate is not None:
            text = f"translate({translate[0] + 0.0:g},{translate[1] + 0.0:g})"
        if rotate is None and scale is None:
            return text
        center = self.center
        if center is None:
            before = after = ""
        else:
            before, after = auto if isinstance(center, str) else anchor(center)
        if rotate is not None:
            gap = " " if text else ""
            if len(rotate) == 3:
                degrees, x, y = rotate
                text += f"{gap}rotate({degrees + 0.0:g} {x + 0.0:g} {y + 0.0:g})"
            else:
                text += f"{gap}{before}rotate({rotate[0] + 0.0:g}){after}"
        if scale is not None:
            gap = " " if text else ""
            if len(scale) == 2:
                text += f"{gap}{before}scale({scale[0] + 0.0:g},{scale[1] + 0.0:g}){after}"
            else:
                text += f"{gap}{before}scale({scale[0] + 0.0:g}){after}"
        return text


def anchor(pivot: Pivot) -> Anchor:
    """Return what stands before and after an operation that turns about `pivot`."""
    if pivot is None or pivot == (0.0, 0.0):
        return ("", "")
    x, y = pivot
    return (
        f"translate({x + 0.0:g},{y + 0.0:g}) ",
        f" translate({-x + 0.0:g},{-y + 0.0:g})",
    )


def motion_of(value: Any) -> Motion | None:
    """Return the motion that one keyframe's checked `transform` value says."""
    if value is None:
        return None
    if isinstance(value, str):
        return Motion(raw=escaped(value))
    return Motion(
        _translate(value["translate"]) if "translate" in value else None,
        _numbers(value["rotate"]) if "rotate" in value else None,
        _scale(value["scale"]) if "scale" in value else None,
        _center(value.get("center")),
    )


def motion_between(low: Any, high: Any) -> Callable[[float], Motion] | None:
    """Return the motion at a position between two keyframes' values, None where neither has any.

    Parts of the earlier value decide: what only the later one has is not shown yet.
    """
    if low is None:
        low = high
    held = motion_of(low)
    if held is None:
        return None
    if not isinstance(low, dict) or not isinstance(high, dict):
        return lambda _position: held
    pairs: dict[str, tuple[list[float], list[float]]] = {}
    for name in ("translate", "rotate", "scale", "center"):
        if name in low and name in high:
            pair = _blending(low[name], high[name])
            if pair is not None:
                pairs[name] = pair
    if not pairs:
        return lambda _position: held

    first = held
    translate, rotate = pairs.get("translate"), pairs.get("rotate")
    scale, center = pairs.get("scale"), pairs.get("center")
    # `[2]` means `[2, 0]` for a translation and `[2, 2]` for a scale: known before blending.
    one_scale = scale is not None and isinstance(low["scale"], list) and len(scale[0]) == 1

    def at(position: float) -> Motion:
        moved = first.translate
        if translate is not None:
            values = _between(translate, position)
            moved = (values[0], values[1] if len(values) > 1 else 0.0)
        turned = first.rotate if rotate is None else _between(rotate, position)
        sized = first.scale
        if scale is not None:
            sized = _between(scale, position)
            if one_scale:
                sized = (sized[0], sized[0])
        around = first.center
        if center is not None:
            values = _between(center, position)
            around = (values[0], values[1])
        return Motion(moved, turned, sized, around)

    return at


def _between(pair: tuple[list[float], list[float]], position: float) -> tuple[float, ...]:
    return tuple([low + (high - low) * position for low, high in zip(*pair, strict=True)])


def _blending(low: Any, high: Any) -> tuple[list[float], list[float]] | None:
    if _is_number(low) and _is_number(high):
        return [float(low)], [float(high)]
    if isinstance(low, list) and isinstance(high, list) and len(low) == len(high):
        first, second = [], []
        for before, after in zip(low, high, strict=True):
            number = json_number(before)
            assert number is not None  # checked when the keyframe was read
            first.append(number)
            second.append(float(after) if _is_number(before) and _is_number(after) else number)
        return first, second
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(value: Any) -> tuple[float, ...]:
    values: Sequence[Any] = value if isinstance(value, list) else [value]
    return tuple(number for item in values if (number := json_number(item)) is not None)


def _translate(value: Any) -> tuple[float, float]:
    numbers = _numbers(value)
    return (numbers[0], numbers[1] if len(numbers) > 1 else 0.0)


def _scale(value: Any) -> tuple[float, ...]:
    numbers = _numbers(value)
    return (numbers[0], numbers[0]) if isinstance(value, list) and len(numbers) == 1 else numbers


def _center(value: Any) -> str | tuple[float, float] | None:
    if value is None or isinstance(value, str):
        return value
    numbers = _numbers(value)
    return (numbers[0], numbers[1])


def check_transform(value: object, target: str, place: Place) -> None:
    """Raise `SourceError` unless `value` is a transform that can be drawn."""
    if isinstance(value, str):
        return
    if not isinstance(value, dict):
        raise _wrong("transform", value, target, place, '{"translate": [0, 30], "rotate": 45}')
    checks: dict[str, tuple[bool, str]] = {}
    if "translate" in value:
        checks["translate"] = (_is_list(value["translate"], (1, 2)), '"translate": [0, 30]')
    if "rotate" in value:
        rotate = value["rotate"]
        good = json_number(rotate) is not None or _is_list(rotate, (3,))
        checks["rotate"] = (good, '"rotate": 45, or [45, cx, cy]; a pivot for both is "center"')
    if "scale" in value:
        scale = value["scale"]
        good = _is_number(scale) and json_number(scale) is not None
        checks["scale"] = (good or _is_list(scale, (1, 2)), '"scale": 0.5, or [1, 0.5]')
    center = value.get("center")
    if center is not None:
        checks["center"] = (center == AUTO or _is_list(center, (2,)), '"center": "auto" or [x, y]')
    for name, (good, example) in checks.items():
        if not good:
            raise _wrong(name, value[name], target, place, example)


def _is_list(value: object, lengths: tuple[int, ...]) -> bool:
    return (
        isinstance(value, list)
        and len(value) in lengths
        and all(json_number(item) is not None for item in value)
    )


def _wrong(name: str, value: object, target: str, place: Place, example: str) -> SourceError:
    text = json.dumps(value, ensure_ascii=False)
    return SourceError(
        f"`{name}` of `{target}` is `{text[:80]}`, which cannot be drawn",
        place=place,
        hint=f"write {example}",
    )
