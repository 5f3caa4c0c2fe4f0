"""Each command as a function: call the operation, print its events and its report.

Not here: option names (`app`), what an operation decides (`ops`).
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from nfbuild.cli.plain import put, put_json, say, spoken, summary
from nfbuild.cli.telling import describe, reason_lines, speaking
from nfbuild.cli.terminal import Voice, follow
from nfbuild.errors import EXIT_USAGE, NfbuildError


@speaking
def init(folder: str, voice: Voice) -> int:
    """`nfbuild init`."""
    from nfbuild.project.init import init_project  # noqa: PLC0415  each verb loads what it needs

    written = init_project(folder)
    if not voice.quiet:
        for path in written:
            say(f"wrote {path}")
        say(f"hint: `nfbuild -C {shlex.quote(folder)}` builds it")
    return 0


@speaking
def build(voice: Voice, start: str, names: list[str], **options: Any) -> int:
    """`nfbuild build`."""
    with _workers_ahead(options.get("jobs")):
        from nfbuild.ops.build import build as operation  # noqa: PLC0415
        from nfbuild.ops.run.options import read_options  # noqa: PLC0415
        from nfbuild.ops.run.session import open_session  # noqa: PLC0415

        chosen, settings = read_options(names, start, **options)
        with open_session(start, settings) as session:
            report = follow(operation(session, chosen), voice)
    if voice.as_json:
        put_json(report.to_json())
    _say_build(report, voice)
    return report.exit_code


@contextlib.contextmanager
def _workers_ahead(jobs: int | None) -> Iterator[None]:
    """Start the workers of a command that will draw, and only then load what tells them what."""
    from nfbuild.execute import ahead  # noqa: PLC0415  not for commands that draw nothing

    if jobs is None or jobs > 0:
        ahead.boot(jobs or ahead.cores(), ahead.DRAWING)
    try:
        yield
    finally:
        ahead.dismiss()


def _say_build(report: Any, voice: Voice) -> None:
    for row in report.rows:
        _say_row(row, voice)
    if not voice.quiet:
        for line in report.notes:
            say(line)
        say(summary(report.to_json()["totals"], len(report.rows)))


_ALWAYS_SAID = ("changed", "regression")


def _say_row(row: Any, voice: Voice) -> None:
    if row.verdict not in _ALWAYS_SAID and not row.note:
        return
    if voice.quiet and row.verdict != "regression":
        return
    say(describe(row.name, row.verdict, row.moved, row.frames))
    for line in reason_lines(row.reasons):
        say(f"  {line}")
    if row.note:
        say(row.note)


@speaking
def status(voice: Voice, start: str, names: list[str]) -> int:
    """`nfbuild status`."""
    from nfbuild.ops.run.session import Settings, open_session  # noqa: PLC0415
    from nfbuild.ops.status import status as operation  # noqa: PLC0415

    with open_session(start, Settings(observe=True)) as session:
        report = follow(operation(session, names, start), voice)
    if voice.as_json:
        put_json(report.to_json())
        return report.exit_code
    for row in report.rows:
        state = "up to date" if row.up_to_date else f"{row.to_render} to render"
        put(f"{row.name}: {row.frames} frames, {state}")
        for line in reason_lines(row.reasons):
            put(f"  {line}")
    return report.exit_code


@speaking
def verify(voice: Voice, start: str, names: list[str], **options: Any) -> int:
    """`nfbuild verify`."""
    with _workers_ahead(options.get("jobs")):
        from nfbuild.cli.gate import run_verify  # noqa: PLC0415

        return run_verify(voice, start, names, **options)


@speaking
def digest(voice: Voice, start: str, name: str, **options: Any) -> int:
    """`nfbuild digest`."""
    from nfbuild.ops.digest import digest as operation  # noqa: PLC0415
    from nfbuild.ops.run.session import open_session  # noqa: PLC0415
    from nfbuild.ops.verify import verify_settings  # noqa: PLC0415

    jobs = options.pop("jobs")
    with open_session(start, verify_settings(jobs)) as session:
        report = follow(operation(session, name, start, **options), voice)
    if voice.as_json:
        put_json(report.to_json())
    elif report.exit_code == 0:
        put(report.digest)
    return report.exit_code


@speaking
def frame(voice: Voice, start: str, name: str, **options: Any) -> int:
    """`nfbuild frame`."""
    from nfbuild.ops.frame import frame as operation  # noqa: PLC0415
    from nfbuild.ops.run.session import Settings, open_session  # noqa: PLC0415

    open_it = options.pop("open_it")
    with open_session(start, Settings(jobs=1)) as session:
        made = operation(session, name, start, **options)
    if made.path is None:
        sys.stdout.write(made.text)
        return 0
    if not voice.quiet:
        say(f"wrote {made.path}")
    if open_it:
        import webbrowser  # noqa: PLC0415  only for --open

        webbrowser.open(f"file://{made.path}")
    return 0


@speaking
def doctor(voice: Voice, start: str) -> int:
    """`nfbuild doctor`."""
    from nfbuild.ops.doctor import examine  # noqa: PLC0415

    report = examine(start)
    if voice.as_json:
        put_json(report.to_json())
    else:
        for check in report.checks:
            put(f"{'ok ' if check.ok else 'BAD'} {check.name}: {check.fact}")
            if check.hint and not check.ok:
                put(f"    hint: {check.hint}")
    return report.exit_code


def version(number: str) -> int:
    """`nfbuild --version`: the version, and the toolchain by parts."""
    put(f"nfbuild {number}")
    try:
        from nfbuild.ops.run.toolchain import read_toolchain  # noqa: PLC0415

        toolchain = read_toolchain()
    except NfbuildError as error:
        say("error: " + spoken(error.message, None, None, error.hint))
        return EXIT_USAGE
    put(f"lane {toolchain.lane} ({toolchain.level})")
    put(f"pixel core {toolchain.core}")
    for name, value in sorted(toolchain.base.items()):
        if not name.startswith("nfbuild/"):
            put(f"{name} {value}")
    return 0


@speaking
def cache_stats(voice: Voice, start: str) -> int:
    """`nfbuild cache stats`."""
    from nfbuild.ops.cache import stats  # noqa: PLC0415

    document = stats(start)
    if voice.as_json:
        put_json(document)
    else:
        for name, value in document.items():
            if isinstance(value, bool) or name == "lifetime":
                continue
            if isinstance(value, int | float):
                put(f"{name}: {value:,}")
            elif isinstance(value, dict):
                for part, count in value.items():
                    put(f"{name}: {part}: {count:,}")
    return 0


@speaking
def cache_clear(voice: Voice, start: str) -> int:
    """`nfbuild cache clear`."""
    from nfbuild.ops.cache import clear  # noqa: PLC0415

    removed = clear(start)
    if not voice.quiet:
        say(f"removed {removed}")
    return 0
