"""From what was judged to the report's file."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence

from nfbuild.events import Event
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.gate.moves import Judgement
from nfbuild.ops.gate.report.gather import gather
from nfbuild.ops.gate.report.page import render
from nfbuild.ops.run.outputs import writable, write_output
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
    write_output(path, [writable(render(report, views, name))])
