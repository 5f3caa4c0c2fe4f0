"""What `explain` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nfbuild.cli.plain import put, put_json
from nfbuild.cli.verbs import describe, reason_lines
from nfbuild.ops.reports import reason_json

if TYPE_CHECKING:
    from nfbuild.cli.terminal import Voice
    from nfbuild.ops.explain import Explanation

_SHOWN_PIXELS = 8
_ALL = 10_000


def print_explanation(answer: Explanation, voice: Voice) -> None:
    """Print an explanation as text or as JSON."""
    if voice.as_json:
        put_json(answer.to_json())
        return
    moved = describe(answer.name, "moved", answer.moved, answer.frames) if answer.moved else None
    if moved is not None:
        first, last = answer.moved[0][0], answer.moved[-1][1]
        seconds = (float(first / answer.rate), float((last + 1) / answer.rate))
        put(f"{moved}, {seconds[0]:.3f} s to {seconds[1]:.3f} s")
    for fact in answer.facts:
        put(fact)
    for line in reason_lines([reason_json(reason) for reason in answer.reasons], _ALL):
        put(f"  {line}")
    if answer.old_source is not None:
        put(f"compared with the source from {answer.old_source}")
    for one in answer.pixels[:_SHOWN_PIXELS]:
        put(f"  frame {one['frame']}: {one['pixels']:,} pixels by at most {one['step']}/255")
    if len(answer.pixels) > _SHOWN_PIXELS:
        put(f"  and {len(answer.pixels) - _SHOWN_PIXELS} more frames")
    for commit in answer.commits:
        parts = ", ".join(commit["parts"]) or "entry"
        put(f"{commit['commit'][:12]} {parts}: {commit['subject']}")
        for line in reason_lines(commit["reasons"]):
            put(f"  {line}")
    if answer.to_render:
        put(f"{answer.to_render} distinct frames would be rendered")
