"""`graph`, `reproduce` and the comparison of two graphs: words in, words out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from nfbuild.cli.plain import put, put_json, say
from nfbuild.cli.telling import speaking
from nfbuild.cli.terminal import Voice, follow
from nfbuild.errors import UsageError

if TYPE_CHECKING:
    from nfbuild.ops.graph.compare import Comparison, Difference
    from nfbuild.ops.graph.model import Graph
    from nfbuild.ops.reproduce.evidence import Place
    from nfbuild.ops.reproduce.proof import ReproduceReport
    from nfbuild.ops.reproduce.trial import Run

_FORMS = ("text", "json", "dot")
_MOST = 40


@speaking
def graph(
    voice: Voice,
    start: str,
    names: list[str],
    *,
    source: str | None,
    form: str,
    reaching: str | None,
    frames: str | None,
) -> int:
    """`nfbuild graph`."""
    if form not in _FORMS:
        raise UsageError(f"`{form}` is no form of a graph", hint=f"it is {', '.join(_FORMS)}")
    if voice.as_json:
        form = "json"
    found = _graph(voice, start, names, source=source, inputs_only=reaching is not None)
    if reaching is not None:
        return _print_uses(found, reaching, as_json=form == "json")
    if frames is not None and form != "dot":
        return _print_frames(found, frames, as_json=form == "json")
    _print_graph(found, form, frames)
    return 0


def _graph(
    voice: Voice, start: str, names: list[str], *, source: str | None, inputs_only: bool
) -> Graph:
    if source is not None:
        from nfbuild.ops.graph.text import load  # noqa: PLC0415  each verb loads what it needs

        return load(source)
    from nfbuild.ops.graph.now import current_graph, input_graph  # noqa: PLC0415
    from nfbuild.ops.run.session import Settings, open_session  # noqa: PLC0415

    operation = input_graph if inputs_only else current_graph
    with open_session(start, Settings(observe=True)) as session:
        return follow(operation(session, names, start), voice)


def _print_graph(found: Graph, form: str, frames: str | None) -> None:
    if form == "text":
        from nfbuild.ops.graph.text import write  # noqa: PLC0415

        for piece in write(found):
            sys.stdout.write(piece.decode("ascii"))
        return
    from nfbuild.ops.graph.draw import to_dot, to_json  # noqa: PLC0415

    if form == "json":
        put_json(to_json(found))
        return
    for line in to_dot(found, frames):
        put(line)


def _print_uses(found: Graph, path: str, *, as_json: bool) -> int:
    from nfbuild.ops.graph.model import uses  # noqa: PLC0415

    moved = uses(found, path)
    if as_json:
        put_json(
            {
                "schema": "nfbuild.graph-uses/1",
                "ok": True,
                "file": path,
                "compositions": moved.compositions,
                "exports": moved.exports,
            }
        )
        return 0
    for name in moved.compositions:
        put(name)
    return 0


def _print_frames(found: Graph, name: str, *, as_json: bool) -> int:
    from nfbuild.ops.graph.model import frames_of  # noqa: PLC0415

    runs = frames_of(found, name)
    if as_json:
        rows = [run._asdict() for run in runs]
        put_json({"schema": "nfbuild.graph-frames/1", "ok": True, "name": name, "frames": rows})
        return 0
    for run in runs:
        put(f"{_range(run.first, run.last)} {run.key} {run.digest}")
    return 0


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


@speaking
def compare_graph_files(voice: Voice, before: str, after: str) -> int:
    """`nfbuild explain FILE FILE`: what differs between two build graphs."""
    from nfbuild.ops.graph.compare import compare_graphs  # noqa: PLC0415
    from nfbuild.ops.graph.text import load  # noqa: PLC0415

    comparison = compare_graphs(load(before), load(after))
    if voice.as_json:
        put_json(comparison.to_json())
    else:
        _print_comparison(comparison, voice)
    return 0


def _print_comparison(comparison: Comparison, voice: Voice) -> None:
    if comparison.equal:
        put("the two graphs are the same bytes")
        return
    put(f"sections that differ: {', '.join(comparison.sections)}")
    shown = comparison.differences if voice.verbose else comparison.differences[:_MOST]
    for one in shown:
        put("  " + _difference(one))
    if len(shown) < len(comparison.differences):
        put(f"  and {len(comparison.differences) - len(shown)} more; `-v` shows all")


def _difference(one: Difference) -> str:
    what = f"{one.section}: {one.node} {one.what}".rstrip()
    if one.frames:
        ranges = ", ".join(_range(first, last) for first, last in one.frames[:8])
        what += f", frames {ranges}" + (" and more" if len(one.frames) > 8 else "")
    if one.before is None and one.after is None:
        return what
    if one.before is None:
        return f"{what} appeared"
    if one.after is None:
        return f"{what} went"
    return f"{what} {one.before[:12]} → {one.after[:12]}"


# --- reproduce --------------------------------------------------------------------------------


@speaking
def reproduce(
    voice: Voice,
    start: str,
    names: list[str],
    *,
    jobs: str,
    seed: int,
    rounds: int,
    certify: str | None,
    against: str | None,
) -> int:
    """`nfbuild reproduce`."""
    from nfbuild.ops.reproduce.proof import reproduce as operation  # noqa: PLC0415
    from nfbuild.ops.reproduce.trial import ReproduceOptions  # noqa: PLC0415
    from nfbuild.ops.run.session import Settings, open_session  # noqa: PLC0415

    words = tuple(word.strip() for word in jobs.split(",") if word.strip())
    options = ReproduceOptions(tuple(names), start, jobs=words, seed=seed, rounds=rounds)
    with open_session(start, Settings(observe=True)) as session:
        report = _follow(operation(session, options), voice)
    if voice.as_json:
        put_json(report.to_json())
    else:
        _print_proof(report)
    code = report.exit_code
    if code == 0 and certify is not None:
        from nfbuild.ops.reproduce.certificate import save  # noqa: PLC0415

        save(report, certify)
        if not voice.quiet:
            say(f"wrote {certify}")
    if code == 0 and against is not None:
        code = _compare_with(report, against)
    return code


def _follow(operation: Any, voice: Voice) -> ReproduceReport:
    """Run the proof to its end, saying each build as it was compared."""
    from nfbuild.ops.reproduce.proof import Compared  # noqa: PLC0415

    def others() -> Any:
        while True:
            try:
                event = next(operation)
            except StopIteration as done:
                return done.value
            if not isinstance(event, Compared):
                yield event
            elif not voice.quiet:
                say(f"{event.number}/{event.of}: {_told(event.run)}")

    report: ReproduceReport = follow(others(), voice)
    return report


def _told(run: Run) -> str:
    around = run.surroundings
    workers = "inline" if around.jobs == 0 else f"{around.jobs} workers"
    rasters = "kept rasters" if around.reuse else "no kept rasters"
    state = "equal" if run.equal else "DIFFERENT"
    return f"{workers}, order {around.order}, {rasters}, {around.locale}: {state}"


def _print_proof(report: ReproduceReport) -> None:
    for run in report.different:
        put(f"DIFFERENT: {_told(run)}")
        for place in run.places:
            for line in _place_lines(place):
                put(f"  {line}")
        around = run.to_json()["differs_from_reference"]
        for name, (before, after) in around.items():
            put(f"  surroundings: {name} {before!r} → {after!r}")
        if run.alone:
            put(f"  what makes a difference alone: {', '.join(run.alone)}")
    for name, digest in report.digests.items():
        put(f"{name} {digest}")
    jobs = ",".join(report.options.jobs)
    equal = len(report.runs) - len(report.different)
    put(
        f"reproduce: {equal} of {len(report.runs)} builds are equal to the reference"
        f" ({len(report.films)} compositions; jobs {jobs}, {report.options.rounds} orders each,"
        f" seed {report.options.seed}; {report.lane})"
    )


def _place_lines(place: Place) -> list[str]:
    where = f"{place.section}: {place.node}"
    if place.line is not None:
        where += f":{place.line}"
    if place.composition is not None and place.composition not in place.node:
        where += f", composition `{place.composition}`"
    if place.frame is not None and "frame" not in place.node:
        where += f", frame {place.frame}"
    if place.pixel is not None:
        where += f", pixel {place.pixel[0]},{place.pixel[1]}"
    if place.fact:
        where += f": {place.fact}"
    values = [("before", place.before), ("after ", place.after)]
    return [where, *(f"  {name} {value}" for name, value in values if value is not None)]


def _compare_with(report: ReproduceReport, path: str) -> int:
    import json  # noqa: PLC0415  only here

    from nfbuild.errors import EXIT_GATE  # noqa: PLC0415
    from nfbuild.ops.reproduce.certificate import (  # noqa: PLC0415
        certificate,
        compare_certificates,
        read,
    )

    lines = compare_certificates(read(path), json.loads(certificate(report)))
    for line in lines:
        say(f"{path}: {line}")
    if lines:
        return EXIT_GATE
    say(f"{path} says the same")
    return 0
