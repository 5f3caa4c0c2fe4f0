"""Build a project on every other machine that can be had here, and compare frame by frame.

    scripts/second-machine [--root DIR] [--folder DIR] [--only KIND,...] [--json FILE] [NAME...]

Kinds: `python` (every other Python from 3.11 on that is at hand, each in a virtual environment of
its own), `processor` (this Python under `qemu-x86_64 -cpu Nehalem`, without the vector units of
this decade), `architecture` (Debian's arm64 Python and arm64 wheels under `qemu-aarch64`). What
cannot be had is said and left out. Nothing is installed into the system: packages are unpacked
below `--folder`, which may be kept for the next time.

Exits with 1 when another Python or the old processor draws another frame: these must agree. Another
architecture may differ, hence lanes; it is counted and measured. An emulated processor proves the
translation by qemu, not the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from nfbuild.ops.graph.compare import films  # noqa: E402
from nfbuild.ops.graph.model import Graph  # noqa: E402  the path is set above
from nfbuild.ops.graph.text import load  # noqa: E402
from nfbuild.pixels.compare import Raster, difference  # noqa: E402
from nfbuild.pixels.png import decode_own  # noqa: E402

OLDEST = (3, 11)
MUST_AGREE = ("python", "processor")
WHEELS = (
    *("blake3", "diskcache", "font-source-sans-pro", "isal", "networkx", "numpy", "pillow"),
    *("thorvg-python",),
)
SUITE_PYTHON = "3.11"  # of the Debian release whose packages are unpacked
MEASURED = 50


class NotHere(Exception):
    """A machine that cannot be had, with the reason."""


@dataclass
class Machine:
    """Something that runs a build: how it is called, and the start of its command line."""

    kind: str
    label: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Built:
    """What a machine drew."""

    graph: Graph
    folder: Path
    blobs: dict[str, str]

    def frames(self) -> dict[tuple[str, int], tuple[str, str]]:
        """Return (frame key, frame digest) by composition and frame number."""
        found = {}
        for (name, _size), film in films(self.graph).items():
            expanded = (run for run in film.runs for _ in range(run.count))
            for number, run in enumerate(expanded):
                found[name, number] = (run.key, run.digest)
        return found


def build(machine: Machine, root: Path, folder: Path, names: list[str]) -> Built:
    """Build a copy of the project inline on a machine; raises NotHere where it does not run."""
    copy, cache = folder / "project", folder / "cache"
    ignored = shutil.ignore_patterns(
        ".git", ".venv", "cache", "ledger", "out", "__pycache__", "nfbuild.local.toml"
    )
    shutil.copytree(root, copy, ignore=ignored)
    task = {
        "root": str(copy),
        "cache": str(cache),
        "folder": str(folder),
        "names": names,
        "graph": str(folder / "graph.txt"),
        "result": str(folder / "result.json"),
        "jobs": 0,
        "order": None,
        "reuse": True,
        "umask": 0o022,
        "open_files": 0,
        "nice": 0,
        "target": None,
        "prelude": None,
        "worker_environment": {},
    }
    (folder / "task.json").write_text(json.dumps(task), "utf-8")
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "NFBUILD_CACHE_DIR": str(cache),
        "NFBUILD_SHARED": "off",
        "PYTHONDONTWRITEBYTECODE": "1",
        **machine.environment,
    }
    command = [*machine.command, "-P", "-m", "nfbuild.ops.reproduce.one", str(folder / "task.json")]
    ran = subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=False)
    if not (folder / "result.json").exists():
        raise NotHere(f"it does not run: {_last_line(ran.stderr)}")
    result = json.loads((folder / "result.json").read_text("utf-8"))
    if result["report"] is None or result["exit"]:
        raise NotHere(f"its build failed: {result['error'] or result['report']['errors']}")
    return Built(load(task["graph"]), cache, result["blobs"])


def _last_line(said: bytes) -> str:
    return said.decode("utf-8", "replace").strip().rpartition("\n")[2] or "no word"


# --- which machines ---------------------------------------------------------------------------


def reference() -> Machine:
    """Return this Python on this processor."""
    version = platform.python_version()
    return Machine("reference", f"Python {version}", [sys.executable], {"PYTHONPATH": str(ROOT)})


def pythons(folder: Path) -> Iterator[Machine | str]:
    """Yield other Pythons, each in a virtual environment with the pinned versions."""
    for path, version in _other_pythons():
        venv = folder / f"venv-{version[0]}.{version[1]}"
        python = venv / "bin" / "python"
        label = f"Python {'.'.join(str(part) for part in version)}"
        if not (venv / "whole").exists():
            shutil.rmtree(venv, ignore_errors=True)
            steps = [
                [path, "-m", "venv", str(venv)],
                [str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"),
                 str(ROOT)],
            ]  # fmt: skip
            failed = next((ran for ran in map(_ran, steps) if ran.returncode), None)
            if failed is not None:
                yield f"{label}: cannot be set up: {_last_line(failed.stderr)}"
                continue
            (venv / "whole").touch()
        # The environment's packages, but the code of this checkout.
        yield Machine("python", label, [str(python)], {"PYTHONPATH": str(ROOT)})


def _ran(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, capture_output=True, check=False)


def _other_pythons() -> list[tuple[str, tuple[int, int, int]]]:
    names = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], 30)]
    managed = sorted(str(path) for path in Path.home().glob(".pyenv/versions/*/bin/python3"))
    found: dict[tuple[int, int], tuple[str, tuple[int, int, int]]] = {}
    program = "import sys; print(*sys.version_info[:3])"
    for path in [*managed, *(name for name in names if name)]:
        ran = _ran([path, "-c", program])
        if ran.returncode == 0:
            major, minor, micro = (int(word) for word in ran.stdout.split())
            if (major, minor) >= OLDEST and (major, minor) != sys.version_info[:2]:
                found.setdefault((major, minor), (path, (major, minor, micro)))
    return [found[key] for key in sorted(found)]


def processors(folder: Path) -> Iterator[Machine | str]:
    """Yield this Python on an emulated processor without newer vector units."""
    if platform.machine() != "x86_64":
        yield "Nehalem: only on x86-64"
        return
    emulator = _emulator("qemu-x86_64", folder)
    command = [emulator, "-cpu", "Nehalem", os.path.realpath(sys.executable)]
    paths = [str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))]
    yield Machine("processor", "Nehalem (qemu)", command, {"PYTHONPATH": os.pathsep.join(paths)})


def architectures(folder: Path) -> Iterator[Machine | str]:
    """Yield Debian's arm64 Python with arm64 wheels, unpacked, under qemu."""
    emulator = _emulator("qemu-aarch64", folder)
    home = folder / "arm64"
    root, site = home / "root", home / "site"
    if not (home / "whole").exists():
        shutil.rmtree(home, ignore_errors=True)
        _unpack_debian(home, root)
        _unpack_wheels(home, site)
        (home / "whole").touch()
    yield Machine(
        "architecture",
        "aarch64 (qemu)",
        [emulator, "-L", str(root), str(root / "usr/bin" / f"python{SUITE_PYTHON}")],
        {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)]),
            "PYTHONHOME": str(root / "usr"),
        },
    )


def _emulator(name: str, folder: Path) -> str:
    for one in (name, f"{name}-static"):
        found = shutil.which(one)
        if found:
            return found
    unpacked = folder / "qemu" / "usr/bin" / f"{name}-static"
    if not unpacked.exists():
        (folder / "qemu").mkdir(parents=True, exist_ok=True)
        _must(["apt-get", "-qq", "download", "qemu-user-static"], folder / "qemu")
        _unpack_debs(folder / "qemu", folder / "qemu")
    return str(unpacked)


def _unpack_debian(home: Path, root: Path) -> None:
    """Fetch Python for arm64 with what it needs by a package database of its own."""
    for name in ("lists/partial", "cache/archives/partial", "state"):
        (home / name).mkdir(parents=True)
    (home / "status").touch()
    options = {
        "Dir::State::Lists": home / "lists",
        "Dir::Cache": home / "cache",
        "Dir::State": home / "state",
        "Dir::State::status": home / "status",
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
    }
    apt = ["apt-get", "-qq", *(part for key, value in options.items()
                               for part in ("-o", f"{key}={value}"))]  # fmt: skip
    _must([*apt, "update"], home)
    wanted = [f"python{SUITE_PYTHON}", "libstdc++6", "libgomp1"]
    _must([*apt, "-y", "-d", "--no-install-recommends", "install", *wanted], home)
    _unpack_debs(home / "cache" / "archives", root)


def _unpack_debs(folder: Path, root: Path) -> None:
    root.mkdir(exist_ok=True)
    for package in sorted(folder.glob("*.deb")):
        _must(["dpkg-deb", "-x", str(package), str(root)], folder)
        package.unlink()


def _unpack_wheels(home: Path, site: Path) -> None:
    platforms = ("manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_28_aarch64", "any")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", "wheels"]
    command += ["--only-binary=:all:", "--python-version", SUITE_PYTHON]
    command += [part for one in platforms for part in ("--platform", one)]
    _must([*command, "-c", str(ROOT / "constraints.txt"), *WHEELS], home)
    for wheel in sorted((home / "wheels").glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)


def _must(command: list[str], folder: Path) -> None:
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise NotHere(f"there is no `{command[0]}`") from None
    if ran.returncode:
        raise NotHere(f"`{command[0]}` failed: {_last_line(ran.stderr)}")


# --- comparing --------------------------------------------------------------------------------


def compared(first: Built, other: Built) -> dict[str, Any]:
    """Return how many frames agree, which differ, and by how much at the most."""
    ours, theirs = first.frames(), other.frames()
    differing = [at for at in ours if at not in theirs or ours[at][1] != theirs[at][1]]
    pairs = {(ours[at][1], theirs[at][1]) for at in differing if at in theirs}
    step = pixels = 0
    for before, after in sorted(pairs)[:MEASURED]:
        found = difference(_raster(first, before), _raster(other, after))
        step, pixels = max(step, found.step), max(pixels, found.pixels)
    names: dict[str, int] = {}
    for name, _ in differing:
        names[name] = names.get(name, 0) + 1
    return {
        "frames": len(ours),
        "agreeing": len(ours) - len(differing),
        "differing": names,
        "same_keys": sum(at in theirs and ours[at][0] == theirs[at][0] for at in ours),
        "step": step,
        "pixels": pixels,
    }


def _raster(built: Built, digest: str) -> Raster:
    return Raster(*decode_own((built.folder / built.blobs[digest]).read_bytes()))


def _told(label: str, found: dict[str, Any]) -> str:
    line = f"{label}: {found['agreeing']} of {found['frames']} frames agree"
    if found["differing"]:
        names = ", ".join(f"{name} {count}" for name, count in sorted(found["differing"].items()))
        line += f"; by at most {found['step']}/255 in {found['pixels']} pixels: {names}"
    return line


KINDS = {"python": pythons, "processor": processors, "architecture": architectures}


def main() -> int:
    """Build everywhere and print what agrees; returns the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/second-machine", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="compositions; all of them")
    parser.add_argument("--root", type=Path, default=ROOT, help="the project")
    parser.add_argument("--folder", type=Path, help="keep what is unpacked here")
    parser.add_argument("--only", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    told: list[dict[str, Any]] = []
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        kept = (asked.folder or Path(temporary) / "kept").resolve()
        kept.mkdir(parents=True, exist_ok=True)
        work = Path(temporary)
        ours = reference()
        first = build(ours, asked.root.resolve(), _new(work), asked.names)
        print(f"{ours.label} on {platform.machine()} is the reference", flush=True)
        for kind in asked.only.split(","):
            for machine in _machines(kind, kept):
                if isinstance(machine, str):
                    print(f"left out: {machine}", flush=True)
                    told.append({"kind": kind, "left_out": machine})
                    continue
                try:
                    other = build(machine, asked.root.resolve(), _new(work), asked.names)
                except NotHere as reason:
                    print(f"left out: {machine.label}: {reason}", flush=True)
                    told.append({"kind": kind, "left_out": f"{machine.label}: {reason}"})
                    continue
                found = compared(first, other)
                print(_told(machine.label, found), flush=True)
                told.append({"kind": kind, "label": machine.label, **found})
                failed |= kind in MUST_AGREE and bool(found["differing"])
    if asked.json is not None:
        asked.json.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    return int(failed)


def _machines(kind: str, kept: Path) -> Iterator[Machine | str]:
    try:
        yield from KINDS[kind](kept)
    except NotHere as reason:
        yield f"{kind}: {reason}"


def _new(work: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=work))


if __name__ == "__main__":
    sys.exit(main())
