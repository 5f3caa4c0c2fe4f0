"""The toolchain part: what draws, by the bytes of it.

The *pixel core* is the set of this package's modules that baking and drawing load; it is hashed
module by module, with line ends as LF, so that a checkout with other line ends is the same
core. A test bakes and draws one composition of each kind in a fresh process and compares the
loaded modules with this set: a module outside may change and nothing is drawn again.

Not here: where the rasterizer's files are (`render.build` knows), which decoders a composition
needs (`scene` says). Both come in as named files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from nfbuild.digests import derive, file_digest

_CORE_CONTEXT = "nfbuild 2026 pixel core v1"

CORE_ROOMS = ("pixels", "render", "scene")
CORE_MODULES = ("digests.py", "errors.py")

# Modules and folders of the core's rooms that neither bake nor draw: findings of `check`, and
# what reads finished frames. Editing them re-renders nothing.
OUTSIDE_THE_CORE = ("pixels/compare.py", "scene/lint")


def package_folder() -> str:
    """Return the folder of the running package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def core_files(package: str | None = None) -> list[str]:
    """Return the pixel core's modules: paths below the package, with slashes, sorted."""
    root = package or package_folder()
    names = list(CORE_MODULES)
    for room in CORE_ROOMS:
        names.extend(_modules(root, room))
    return sorted(names, key=lambda name: name.encode("utf-8"))


def _modules(root: str, folder: str) -> Iterator[str]:
    with os.scandir(os.path.join(root, folder)) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        name = f"{folder}/{entry.name}"
        if name in OUTSIDE_THE_CORE:
            continue
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _modules(root, name)
        elif entry.name.endswith(".py"):
            yield name


def core_digests(package: str | None = None) -> dict[str, str]:
    """Return the digest of each module of the core by its name, `nfbuild/scene/bake.py`."""
    root = package or package_folder()
    digests: dict[str, str] = {}
    for name in core_files(root):
        with open(os.path.join(root, name), "rb") as file:
            data = file.read()
        digests[f"nfbuild/{name}"] = file_digest(data.replace(b"\r\n", b"\n"))
    return digests


def core_digest(digests: Mapping[str, str]) -> str:
    """Return the digest of the whole core; it also names the folder of its bytecode."""
    return derive(_CORE_CONTEXT, [[name, digests[name]] for name in sorted(digests)])


def toolchain_inputs(
    core: Mapping[str, str], files: Mapping[str, str], facts: Mapping[str, str]
) -> dict[str, str]:
    """Return the sub-inputs of the toolchain part.

    `core` comes from `core_digests`; `files` maps the name of a library or module to the path
    of the file that will be loaded; `facts` are versions and options, taken as they are.
    """
    inputs = dict(core)
    for name, path in files.items():
        with open(path, "rb") as file:
            inputs[name] = file_digest(file.read())
    inputs.update(facts)
    return inputs
