"""Parallel execution changes the time, never a byte; and what must stay light stays light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from opspace import MOVING, STILL, Space

HEAVY = ("thorvg_python", "numpy", "PIL", "networkx", "diskcache", "rich", "av", "obstore")


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_equal_for_any_number_of_workers(tmp_path):
    """Ledger, blobs, exports and digests are byte-equal."""
    made = {}
    for jobs in (0, 1, 2, 5):
        space = Space(tmp_path / str(jobs))
        space.write(
            "nfbuild.toml",
            '[[export]]\ncomposition = "*"\nformat = "png"\nto = "out/{name}/{number:05d}.png"\n',
        )
        for number in range(3):
            space.compose(f"m{number}", MOVING.replace("#ff8800", f"#ff88{number}0"))
        space.compose("still", STILL)
        ran = space.build(jobs=jobs) if jobs else _inline(space)
        assert ran.exit == 0
        made[jobs] = [tree(space.root / part) for part in ("ledger", "cache/blobs", "out")]

    assert len(made[0][2]) == 35
    assert made[0] == made[1] == made[2] == made[5]


def _inline(space):
    from nfbuild.ops.run.session import Settings

    original = Settings.__init__
    ran = {}

    def build():
        from nfbuild.ops.run import options

        chosen, settings = options.read_options([], str(space.root), record=True)
        from nfbuild.dataclasses import replace

        ran["it"] = space._run(
            __import__("nfbuild.ops.build", fromlist=["build"]).build,
            chosen,
            replace(settings, jobs=0),
        )

    assert original is Settings.__init__
    # ThorVG in this process: in a child, as a crash of it must not end the tests.
    import multiprocessing

    child = multiprocessing.get_context("fork").Process(target=build)
    child.start()
    child.join(60)
    assert child.exitcode == 0
    return space.build()


def loaded(words: list[str], cwd: Path) -> set[str]:
    """Return the modules that a run of the program leaves loaded.

    They are said by an exit handler: a simple command line leaves without handing back control.
    """
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('\\n'.join(sorted(sys.modules)), file=sys.__stderr__))\n"
        "sys.argv = ['nfbuild', *sys.argv[1:]]\n"
        "from nfbuild.cli.entry import main\n"
        "main()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return {line.partition(".")[0] for line in ran.stderr.splitlines()}


@pytest.mark.parametrize("words", [["--help"], ["build", "--help"]])
def test_help_is_light(space, words):
    """Asking for help loads nothing that draws, counts or remembers."""
    assert loaded(words, space.root).isdisjoint(HEAVY)


def test_a_null_build_is_light(space):
    """A build with nothing to do loads nothing heavy, and not even Typer."""
    space.compose("moving")
    assert space.run().returncode == 0
    assert space.run().returncode == 0
    modules = loaded([], space.root)

    assert "nfbuild" in modules
    assert modules.isdisjoint((*HEAVY, "typer", "click", "asyncio"))


def test_a_null_build_of_a_changed_project_is_not_answered_from_the_state(space):
    """Every input that moves, appears or goes takes the shortcut away."""
    space.compose("moving")
    assert space.run().returncode == 0
    assert space.json()["totals"]["frames"] == 10
    space.compose("still", STILL)
    assert space.json()["totals"]["frames"] == 15
    (space.root / "compositions/moving.nf.svg").unlink()
    assert space.json()["totals"]["frames"] == 5
    (space.root / "ledger/compositions/still.json").unlink()
    assert space.json()["compositions"][0]["verdict"] == "missing"
