"""Writing the report's file: beside its place, then renamed into it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence

from nfbuild.errors import UsageError
from nfbuild.events import Event
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.gate.moves import Judgement
from nfbuild.ops.gate.report.gather import gather
from nfbuild.ops.gate.report.page import render
from nfbuild.ops.run.reports import VerifyReport
from nfbuild.ops.run.session import Session


def write_report(
    session: Session,
    drawing: Drawing,
    judged: Sequence[Judgement],
    report: VerifyReport,
    path: str,
) -> Generator[Event, None, None]:
    """Look at what moved and write the page; raises `UsageError` where it cannot be written."""
    views = yield from gather(drawing, judged)
    name = os.path.basename(os.path.abspath(session.project.root))
    write_beside(path, render(report, views, name))


def write_beside(path: str, text: str) -> None:
    """Write a text file in one step; raises `UsageError` where that is not possible."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(beside, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError as fault:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise UsageError(f"`{path}` cannot be written: {fault.strerror or 'unknown'}") from None
