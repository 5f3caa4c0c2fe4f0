"""What the tests of shared caches have in common: a project with tiers, servers, kills, one truth.

The truth is a cold build without any cache: its entries and its exports, file by file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from opspace import HEAD, Space

from nfbuild.dataclasses import dataclass

ROOT = Path(__file__).resolve().parent.parent.parent
if str(ROOT / "tests" / "store") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests" / "store"))

DISTINCT = 26
"""Different frames of `fill`: a longer film of 20, one of 6 that repeats them for a second."""


def film(seconds: str, step: int, colour: str) -> str:
    """Return a film that moves a box for `seconds` at 10 frames a second, and then stands."""
    return (
        HEAD
        + f""" data-duration="{seconds}">
  <rect id="bg" width="64" height="36" fill="#102030"/>
  <rect id="box" x="2" y="10" width="10" height="10" fill="{colour}"/>
  <text x="4" y="30" font-size="9" fill="#fff">Kept</text>
  <script type="application/nanoframes+json"><![CDATA[
  {{"animations": [{{"target": "#box", "keyframes": [
    {{"t": 0, "transform": {{"translate": [0, 0]}}}},
    {{"t": {step / 10}, "transform": {{"translate": [{2 * step}, 0]}}}}
  ]}}]}}
  ]]></script>
</svg>
"""
    )


def configuration(
    *tiers: str, mode: str = "read-write", cache: str = "", export: bool = True
) -> str:
    """Return a project's configuration with shared tiers, and an export of every frame."""
    text = f"[project]\n[cache]\n{cache}\n"
    for tier in tiers:
        text += f'[[cache.shared]]\nurl = "{tier}"\nmode = "{mode}"\n'
    if export:
        text += (
            '[[export]]\ncomposition = "*"\nformat = "png"\nto = "out/{name}/{number:05d}.png"\n'
        )
    return text


def fill(space: Space) -> None:
    """Write the two compositions that these tests build: 30 frames, 26 of them distinct."""
    space.compose("long", film("2", 19, "#ff8800"))
    space.compose("short", film("1", 5, "#2288ff"))


def project(root: Path, *tiers: str, **options: object) -> Space:
    """Return a new project with the two compositions."""
    space = Space(root, configuration(*tiers, **options))
    fill(space)
    return space


@dataclass(frozen=True)
class Product:
    """Everything that people keep of a build: entries and exports, by path and digest."""

    files: dict[str, str]


def product(root: Path) -> Product:
    """Return the product of the last build."""
    files = {}
    for folder in ("ledger", "out"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                name = path.relative_to(root).as_posix()
                files[name] = _content(path)
    return Product(files)


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a build that is no CI's."""
    env = {key: value for key, value in os.environ.items() if key not in ("CI", "NFBUILD_SHARED")}
    env.update(more)
    return env


def start(root: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start the program in a session of its own, so that its children can be counted and killed."""
    return subprocess.Popen(
        [sys.executable, "-m", "nfbuild", *words],
        cwd=root,
        env=environment(**env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def report(root: Path, *words: str, **env: str) -> dict[str, object]:
    """Run the program with `--json` and return its document; it may have failed."""
    process = start(root, *words, "--json", **env)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err, err
    return {"exit": process.returncode, **json.loads(out)}


def good(root: Path, *words: str, **env: str) -> dict[str, object]:
    """Run the program with `--json`; it must not fail."""
    document = report(root, *words, **env)
    assert document["exit"] == 0, document
    return document


def tier_of(document: dict[str, object], name: str) -> dict[str, object]:
    """Return what one place did in a build."""
    return next(tier for tier in document["cache"]["tiers"] if tier["name"] == name)


def children(session: int) -> list[int]:
    """Return the processes of a session that are alive, by /proc."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    found.append(int(entry))
    return found


def wait_until_gone(session: int, seconds: float = 5.0) -> list[int]:
    """Wait for every process of a session to end; return those that have not."""
    until = time.monotonic() + seconds
    while (left := children(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def kill(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    """Send a signal to a process and wait for it."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
    process.wait(30)
    process.stdout.close()
    process.stderr.close()


def litter(root: Path) -> list[str]:
    """Return the temporary files and folders below a folder."""
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if ".tmp" in path.name or path.parent.name == "staging"
    )


def blobs(folder: Path) -> Iterator[Path]:
    """Yield the blobs of a cache folder or a shared directory, by name."""
    return iter(sorted((folder / "blobs").rglob("*.png")))
