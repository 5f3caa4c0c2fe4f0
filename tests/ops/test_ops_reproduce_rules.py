"""Rules of parallel execution that are about the whole program and not about one part."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from opspace import MOVING, STILL, Space

from nfbuild.ops.run.session import Settings, open_session

PACKAGE = Path(__file__).resolve().parents[2] / "nfbuild"

PARENT = """
import sys
from nfbuild.ops.build import build
from nfbuild.ops.run.options import BuildOptions
from nfbuild.ops.run.session import Settings, open_session
with open_session(sys.argv[1], Settings(jobs=int(sys.argv[2]))) as session:
    running = build(session, BuildOptions(start=sys.argv[1]))
    while True:
        try:
            next(running)
        except StopIteration as done:
            assert done.value.rendered > 0
            break
draw = {"thorvg_python", "numpy", "PIL", "nfbuild.render.thorvg", "nfbuild.render.renderer"}
print(*sorted(draw.intersection(sys.modules)))
"""


def loaded(space: Space, jobs: int) -> list[str]:
    """Return which modules that draw are in the parent after a cold build."""
    command = [sys.executable, "-c", PARENT, str(space.root), str(jobs)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_the_parent_of_a_build_never_loads_what_draws(space: Space):
    """Text is measured and frames are drawn by workers alone; inline, the parent is the worker."""
    space.compose("moving", MOVING)
    space.compose("still", STILL)

    assert loaded(space, jobs=2) == []
    (space.root / "cache").rename(space.root / "gone")
    assert loaded(space, jobs=0) == ["nfbuild.render.renderer", "nfbuild.render.thorvg"]


def test_there_is_one_worker_a_core_unless_asked_otherwise(space: Space, monkeypatch):
    """Engine threads are none, so a worker is a core's work."""
    from nfbuild.execute import ahead

    space.compose("still", STILL)
    monkeypatch.setattr(ahead, "cores", lambda: 5)

    with open_session(str(space.root), Settings()) as session:
        assert session.executor.workers == 5
    with open_session(str(space.root), Settings(jobs=2)) as session:
        assert session.executor.workers == 2


@pytest.mark.parametrize(
    "command", [("verify",), ("digest", "still", "--samples", "2"), ("reproduce", "-j", "1")]
)
def test_a_seed_is_in_the_report_that_used_it(space: Space, command: tuple[str, ...]):
    """What was drawn at random can be drawn again."""
    space.compose("still", STILL)
    space.build()

    assert space.json(*command, "--seed", "4711").get("seed") == 4711


def test_nothing_draws_but_the_software_canvas():
    """The names of the other canvases of ThorVG's C interface are nowhere in the program."""
    text = "\n".join(path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py")))

    assert re.search(r"SwCanvas|swcanvas", text)
    assert re.findall(r"(?i)\b\w*(?:gl|wg)_?canvas\w*", text) == []
