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
from collections.abc import Mapping

from nfbuild.core import core_files, package_folder
from nfbuild.digests import derive, file_digest

_CORE_CONTEXT = "nfbuild 2026 pixel core v1"


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
