"""Which rasterizer this installation has: its files, version, options and platform, for identity.

Nothing here loads the library or imports its binding: paths come from the import system's finder,
so a null build can ask. `thorvg` loads exactly the file that `library` names, so that what was
hashed is what runs.
Not here: reading or hashing the files (`identity`), loading the library (`thorvg`).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

BINDING = "thorvg_python"
DISTRIBUTION = "thorvg-python"

ENGINE_OPTIONS = "threads=0 canvas=software option=none colorspace=ABGR8888S clear=true"
"""Every choice made when engine, canvas and target are set up, in one canonical line."""

_LIBRARY_NAMES = {
    "darwin": ("libthorvg-1.dylib", "libthorvg.dylib"),
    "win32": ("thorvg-1.dll", "libthorvg-1.dll", "thorvg.dll"),
}
_OTHER_LIBRARY_NAMES = ("libthorvg-1.so", "libthorvg.so")


@dataclass(frozen=True)
class Rasterizer:
    """The installed rasterizer as files: absolute paths, `modules` sorted by relative name.

    `modules` maps the binding's module files, relative to its folder with forward slashes, to
    their paths. The program declares the C functions itself and runs none of them; they are
    listed because they belong to the release that the library came in, and a needless miss is
    the side to err on.
    """

    version: str
    folder: str
    library: str
    modules: dict[str, str]


def folder() -> str:
    """Return the folder of the installed binding, without importing it; UsageError if absent."""
    spec = importlib.util.find_spec(BINDING)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(
            f"the rasterizer `{DISTRIBUTION}` is not installed",
            hint=f"install it with `pip install {DISTRIBUTION}`",
            code="rasterizer",
        )
    return os.path.abspath(spec.submodule_search_locations[0])


def library(inside: str | None = None) -> str:
    """Return the path of the rasterizer library that the binding's folder carries."""
    base = folder() if inside is None else inside
    for name in _LIBRARY_NAMES.get(sys.platform, _OTHER_LIBRARY_NAMES):
        path = os.path.join(base, name)
        if os.path.isfile(path):
            return path
    raise UsageError(
        f"the rasterizer `{DISTRIBUTION}` has no library for this system in `{base}`",
        hint=f"reinstall it with `pip install --force-reinstall {DISTRIBUTION}`",
        code="rasterizer",
    )


def find() -> Rasterizer:
    """Return the installed rasterizer; UsageError when there is none for this system."""
    base = folder()
    modules: dict[str, str] = {}
    for place, _, names in sorted(os.walk(base)):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(place, name)
                modules[os.path.relpath(path, base).replace(os.sep, "/")] = path
    return Rasterizer(
        version=_version(base),
        folder=base,
        library=library(base),
        modules=dict(sorted(modules.items())),
    )


def _version(base: str) -> str:
    # The installed distribution's folder carries the version in its name; asking
    # `importlib.metadata` costs 20 ms, as it imports the e-mail parser.
    start = f"{BINDING}-"
    try:
        names = os.listdir(os.path.dirname(base))
    except OSError:
        names = []
    found = [n for n in names if n.startswith(start) and n.endswith(".dist-info")]
    if len(found) == 1:
        return found[0][len(start) : -len(".dist-info")]
    import importlib.metadata  # noqa: PLC0415  20 ms, and only for an unusual installation

    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def platform_tag() -> str:
    """Return the name of this platform's lane: `linux-x86_64`, `macos-arm64`, `windows-amd64`.

    It is the library's platform: system and processor family, in lower case. One wheel serves
    all glibc systems of a family; the C library itself is a part of the toolchain.
    """
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = os.uname().machine if hasattr(os, "uname") else _platform().machine()
    return f"{system}-{machine}".lower()


def c_library() -> str:
    """Return name and version of the C library, as `glibc 2.36`.

    The rasterizer takes its `sinf` and `powf` from it. `os.confstr` answers in a microsecond
    where glibc is; `platform.libc_ver` reads the interpreter's file, which takes milliseconds.
    On macOS and Windows the C library is a part of the system and has its version.
    """
    if sys.platform == "darwin":
        return f"macos {_platform().mac_ver()[0]}"
    if sys.platform == "win32":
        return f"windows {_platform().version()}"
    try:
        known = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        known = None
    if known:
        return known
    name, version = _platform().libc_ver()
    return f"{name} {version}" if name else f"unknown {os.uname().release}"


def _platform() -> ModuleType:
    import platform  # noqa: PLC0415  3 ms, and not needed on Linux with glibc

    return platform


_X86_LEVELS = (
    ("x86-64-v4", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    ("x86-64-v3", ("avx2", "bmi1", "bmi2", "fma", "movbe")),
    ("x86-64-v2", ("sse4_2", "ssse3", "popcnt")),
)


def processor_level() -> str:
    """Return the processor's feature level as a fact for the ledger's reader; never hashed."""
    machine = platform_tag().partition("-")[2]
    if machine not in ("x86_64", "amd64"):
        return machine
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            text = file.read(20_000)
    except OSError:
        return machine
    for line in text.splitlines():
        if line.startswith("flags"):
            flags = set(line.partition(":")[2].split())
            for level, needed in _X86_LEVELS:
                if flags.issuperset(needed):
                    return level
            return "x86-64-v1"
    return machine
