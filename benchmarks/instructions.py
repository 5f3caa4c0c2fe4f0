"""Compare the instructions that the pure-Python stages take in two revisions.

    python -m benchmarks.instructions [OLD] [NEW] [--limit 1.03] [--stage NAME...]

OLD is a revision of git (`HEAD` unless given), NEW another or the work tree (the default). Time on
a shared machine is noise, the number of instructions is not: it is counted by `perf stat` where the
processor lets it, else by `valgrind --tool=callgrind`, which is fifty times slower and needs no
rights. Exits with 1 when a stage takes more than `--limit` times the instructions.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from benchmarks import projects
from benchmarks.measure import surroundings

BASE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Each stage runs in a process of its own, in a project that is already there. What a stage needs
# before it begins is counted too, and is the same on both sides but for what changed.
STAGES = {
    "import": "import nfbuild.digests, nfbuild.errors, nfbuild.events",
    "null": "from nfbuild.cli.entry import main; main()",
    "load": ("from nfbuild.project import load, discover\nfor _ in range(20): discover(load('.'))"),
    "encode": (
        "from nfbuild.digests import derive\n"
        "rows = [[f'file{i}', 'a' * 64] for i in range(200)]\n"
        "for _ in range(200): derive('nfbuild 2026 benchmark v1', rows)"
    ),
    "keys": (
        "from nfbuild.identity.keys import SceneKeys, frame_key\n"
        "keys = SceneKeys(960, 540)\n"
        "for i in range(20000): frame_key(keys.key((b'<svg/>', b'%d' % i), (), ()), 'a' * 64)"
    ),
    # `status` where nothing is kept bakes and keys every frame and draws none. It is asked by its
    # words, which two revisions share, whatever their modules are called.
    "bake": (
        "import os\n"
        "from nfbuild.cli.entry import main\n"
        "os.environ['NFBUILD_CACHE_DIR'] = os.path.abspath('nothing-kept')\n"
        "sys.argv[1:] = ['status', '-q']\n"
        "main()"
    ),
}


def checkout(revision: str | None, folder: str) -> str:
    """Return a folder with the package as of a revision; None is the work tree."""
    if revision is None:
        return BASE
    target = os.path.join(folder, "tree")
    os.makedirs(target)
    archive = subprocess.run(
        ["git", "-C", BASE, "archive", revision, "nfbuild"], check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", target], input=archive.stdout, check=True)
    return target


def counter() -> str:
    """Return what counts here: `perf` where it may, else `valgrind`."""
    if shutil.which("perf"):
        tried = subprocess.run(
            ["perf", "stat", "-x,", "-e", "instructions:u", "true"],
            capture_output=True,
            check=False,
        )
        text = tried.stderr.decode()
        if tried.returncode == 0 and "not supported" not in text and "not counted" not in text:
            return "perf"
    if shutil.which("valgrind"):
        return "valgrind"
    raise RuntimeError("neither `perf` nor `valgrind` is here")


def count(tool: str, tree: str, project: str, code: str) -> int:
    """Return the instructions of one stage in one tree."""
    # One hash seed and ready bytecode on both sides: neither is what is being compared.
    env = surroundings({"PYTHONPATH": tree, "PYTHONHASHSEED": "0"})
    run = [sys.executable, "-c", f"import sys; sys.argv = ['nfbuild', 'build', '-q']\n{code}"]
    if tool == "perf":
        words = ["perf", "stat", "-x,", "-e", "instructions:u", *run]
    else:
        out = "--callgrind-out-file=/dev/null"
        words = ["valgrind", "--tool=callgrind", out, *run]
    done = subprocess.run(words, cwd=project, env=env, capture_output=True, check=False)
    text = done.stderr.decode("utf-8", "replace")
    if tool == "perf":
        found = re.search(r"^(\d+),.*instructions", text, re.MULTILINE)
    else:
        found = re.search(r"Collected\s*:\s*(\d+)", text)
    if done.returncode != 0 or found is None:
        raise RuntimeError(f"the stage failed in `{os.path.basename(tree)}`: {text[-1500:]}")
    return int(found[1])


def prepare(folder: str, *, built: bool) -> str:
    """Return a project of small films for the stages to stand in; `built` by the work tree."""
    project = os.path.join(folder, "project")
    projects.many(project, 40, 100)
    if not built:
        return project
    build = [sys.executable, "-c", "from nfbuild.cli.entry import main; raise SystemExit(main())"]
    env = surroundings({"PYTHONPATH": BASE})
    subprocess.run([*build, "build", "-q"], cwd=project, env=env, check=True)
    return project


def main() -> int:
    """Count every stage in both trees and print the ratios; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions")
    parser.add_argument("old", nargs="?", default="HEAD")
    parser.add_argument("new", nargs="?", help="the work tree unless given")
    parser.add_argument("--limit", type=float, default=1.03)
    parser.add_argument("--stage", action="append", choices=sorted(STAGES))
    asked = parser.parse_args()
    tool = counter()
    failed = False
    with tempfile.TemporaryDirectory(prefix="nfbuild-instructions-") as folder:
        sides = []
        for name, revision in (("old", asked.old), ("new", asked.new)):
            os.makedirs(os.path.join(folder, name))
            sides.append(checkout(revision, os.path.join(folder, name)))
        stages = asked.stage or list(STAGES)
        project = prepare(folder, built="null" in stages)
        print(f"instructions by {tool}: {asked.old} against {asked.new or 'the work tree'}")
        for stage in stages:
            # The first run of a tree writes its bytecode, and is not counted.
            for tree in sides:
                count(tool, tree, project, STAGES[stage])
            before, after = (count(tool, tree, project, STAGES[stage]) for tree in sides)
            ratio = after / before
            failed |= ratio > asked.limit
            word = "MORE" if ratio > asked.limit else "ok"
            print(f"  {stage:<8} {before:>15,} {after:>15,}  {ratio:.3f} x  {word}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
