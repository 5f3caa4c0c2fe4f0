"""The command `explain`, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nfbuild.cli.plain import put, put_json
from nfbuild.cli.telling import describe, reason_lines, speaking
from nfbuild.cli.terminal import Voice, follow

if TYPE_CHECKING:
    from nfbuild.ops.explain import Explanation

_SHOWN_PIXELS = 8
_ALL = 10_000


@speaking
def explain(voice: Voice, start: str, name: str, **options: Any) -> int:
    """`nfbuild explain`."""
    other: str | None = options.pop("other")
    if other is not None:
        from nfbuild.cli.proof_verbs import compare_graph_files  # noqa: PLC0415  two files

        return compare_graph_files(voice, name, other)
    from nfbuild.ops.explain import ExplainOptions  # noqa: PLC0415  each verb loads what it needs
    from nfbuild.ops.explain import explain as operation  # noqa: PLC0415
    from nfbuild.ops.run.session import Settings, open_session  # noqa: PLC0415

    chosen = ExplainOptions(name=name, start=start, **options)
    with open_session(start, Settings(observe=True)) as session:
        answer = follow(operation(session, chosen), voice)
    print_explanation(answer, voice)
    return answer.exit_code


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
    from nfbuild.ops.run.reports import reason_json  # noqa: PLC0415  with the answer

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
