"""Excuses: a difference between machines that a team accepts for a while, within bounds.

An excuse covers one thing only: the toolchain, and nothing else, moved, and every frame that
differs does so by few enough pixels and small enough steps. It never covers an edit or a
regression. What was measured is part of the answer, so that it can be printed on every run.
Not here: measuring (`pixels`), the day (comes in), the key in `nfbuild.toml` (`project`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from nfbuild.dataclasses import dataclass, replace
from nfbuild.ledger.verdict import Verdict

if TYPE_CHECKING:
    import datetime as dt

    from nfbuild.project.values import Excuse

WARNING_DAYS = 14

Outcome: TypeAlias = Literal["holds", "expired", "exceeded", "unmeasured", "refused", "unneeded"]
"""`holds`: the difference is inside the bounds. `expired`: its last day is over. `exceeded`: a
frame is out of bounds. `unmeasured`: the recorded frames are not at hand. `refused`: what moved is
no excuse's matter. `unneeded`: nothing moved."""

DEAD: tuple[Outcome, ...] = ("expired", "exceeded")
"""Outcomes that fail the gate also when it is only asked for regressions."""


@dataclass(frozen=True)
class Measured:
    """How one frame differs from the recorded one.

    `pixels` differ in any channel; `step` is the largest difference of one channel, 0 to 255,
    taken on alpha and on colour premultiplied to 8 bits.
    """

    pixels: int
    step: int


@dataclass(frozen=True)
class Judged:
    """What became of an excuse: the outcome, what was measured, and what to say.

    `frames` were measured; `pixels` and `step` are the largest found in one frame, `worst` the
    number of the first frame that is out of bounds, or else of the first with the most pixels.
    `days_left` counts from today to the last day; `warning` is set in the last fourteen days.
    """

    excuse: Excuse
    outcome: Outcome
    fact: str
    frames: int = 0
    pixels: int = 0
    step: int = 0
    worst: int | None = None
    days_left: int = 0
    warning: str | None = None


def find(excuses: Mapping[str, Excuse], name: str, tag: str) -> Excuse | None:
    """Return the excuse of the composition `name` in the lane `tag` of this platform."""
    excuse = excuses.get(name)
    return excuse if excuse is not None and tag in excuse.lanes else None


def needs_measuring(verdict: Verdict, excuse: Excuse | None, today: dt.date) -> bool:
    """Tell whether `measured` is wanted: whether the excuse could hold at all."""
    return (
        excuse is not None
        and verdict.kind == "changed"
        and verdict.only_toolchain
        and not verdict.shape_moved
        and today <= excuse.until
    )


def judge_excuse(
    verdict: Verdict,
    excuse: Excuse,
    today: dt.date,
    measured: Mapping[int, Measured] | None,
) -> tuple[Verdict, Judged]:
    """Return the verdict with the excuse applied, and what became of the excuse.

    `measured` has every frame of `verdict.moved`; None, or a frame that is not in it, means that
    the recorded frame is not at hand. The caller has made sure that the excuse is for this lane.
    """
    days = (excuse.until - today).days
    if verdict.kind == "match":
        return verdict, Judged(excuse, "unneeded", "nothing differs any more", days_left=days)
    if verdict.kind != "changed" or not verdict.only_toolchain or verdict.shape_moved:
        return verdict, Judged(excuse, "refused", _why_refused(verdict), days_left=days)
    if days < 0:
        fact = f"ended on {excuse.until.isoformat()}"
        return verdict, Judged(excuse, "expired", fact, days_left=days)
    numbers = [n for first, last in verdict.moved for n in range(first, last + 1)]
    absent = [n for n in numbers if measured is None or n not in measured]
    if measured is None or absent or not numbers:
        fact = "no frame is recorded as moved"
        if absent:
            fact = f"frame {absent[0]} as recorded is in no cache, so nothing can be measured"
        return verdict, Judged(excuse, "unmeasured", fact, days_left=days)
    judged = _bounded(excuse, {n: measured[n] for n in numbers}, days)
    if judged.outcome == "holds":
        return replace(verdict, kind="excused"), judged
    return verdict, judged


def _bounded(excuse: Excuse, measured: Mapping[int, Measured], days: int) -> Judged:
    pixels = max(one.pixels for one in measured.values())
    step = max(one.step for one in measured.values())
    beyond = [
        number
        for number, one in sorted(measured.items())
        if one.pixels > excuse.max_pixels or one.step > excuse.max_step
    ]
    worst = next(n for n, one in sorted(measured.items()) if one.pixels == pixels)
    seen = f"{_counted(pixels, 'pixel')} by at most {step}/255"
    fact = f"{_counted(len(measured), 'frame')} differ, in at most {seen}"
    warning = None
    if not beyond and days <= WARNING_DAYS:
        warning = f"the excuse of `{excuse.name}` ends on {excuse.until.isoformat()}"
    if beyond:
        one = measured[beyond[0]]
        fact = (
            f"frame {beyond[0]} differs in {_counted(one.pixels, 'pixel')} by at most"
            f" {one.step}/255; {excuse.max_pixels} by {excuse.max_step} are excused"
        )
    return Judged(
        excuse,
        "exceeded" if beyond else "holds",
        fact,
        frames=len(measured),
        pixels=pixels,
        step=step,
        worst=beyond[0] if beyond else worst,
        days_left=days,
        warning=warning,
    )


def _why_refused(verdict: Verdict) -> str:
    if verdict.kind == "regression":
        return "a regression is never excused"
    if verdict.kind == "changed":
        parts = [part for part in verdict.moved_parts() if part != "toolchain"]
        return f"{' and '.join(parts) or 'the shape of the film'} moved, which is never excused"
    return f"there is nothing to compare: {verdict.kind}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def nameless(excuses: Mapping[str, Excuse], names: Collection[str]) -> list[Excuse]:
    """Return the excuses for compositions that are not there, by name: nothing needs them."""
    return [excuses[name] for name in sorted(excuses) if name not in names]
