"""The running toolchain: which files and facts draw here, gathered from the rooms that know.

The rasterizer's files come from `render.build`, the pixel core from `identity.toolchain`, decoders
from `pixels`. A composition that needs no decoder has none in its toolchain.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from nfbuild.core import core_files, package_folder
from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import file_digest
from nfbuild.identity.manifest import Part
from nfbuild.identity.toolchain import core_digest, core_digests
from nfbuild.ops.run.state import Witness, stat_of
from nfbuild.render import build as rasterizer


@dataclass(frozen=True)
class Toolchain:
    """What draws: the base part of every composition, and the decoders that some add.

    `lane` is the platform tag of the rasterizer library. `watched` vouches for every file.
    """

    base: Mapping[str, str]
    lane: str
    level: str
    core: str
    watched: Mapping[str, Witness] = field(repr=False)
    _parts: dict[tuple[str, ...], Part] = field(default_factory=dict, repr=False)

    def part(self, decoders: Mapping[str, str]) -> Part:
        """Return the toolchain part of a composition that uses these decoders."""
        key = tuple(f"{name}={digest}" for name, digest in sorted(decoders.items()))
        found = self._parts.get(key)
        if found is None:
            found = Part("toolchain", {**self.base, **decoders})
            self._parts[key] = found
        return found


def read_toolchain() -> Toolchain:
    """Hash what draws on this machine; raises UsageError when the rasterizer is not installed."""
    found = rasterizer.find()
    package = package_folder()
    core = core_digests(package)
    watched: dict[str, Witness] = {}
    for name in core_files(package):
        path = os.path.join(package, *name.split("/"))
        # Line ends are folded in the core's digests, so the witness has one of its own.
        watched[path] = _witness(path)
    inputs = dict(core)
    files = {"libthorvg": found.library}
    files.update({f"thorvg_python/{name}": path for name, path in found.modules.items()})
    for name, path in files.items():
        watched[path] = _witness(path)
        inputs[name] = watched[path].digest
    inputs["thorvg-python version"] = found.version
    inputs["engine options"] = rasterizer.ENGINE_OPTIONS
    inputs["c library"] = rasterizer.c_library()
    return Toolchain(
        base=inputs,
        lane=rasterizer.platform_tag(),
        level=rasterizer.processor_level(),
        core=core_digest(core),
        watched=watched,
    )


def hash_files(files: Mapping[str, str]) -> dict[str, Witness]:
    """Return a witness for each named file: what stat says, and the digest of its bytes."""
    return {name: _witness(path) for name, path in files.items()}


def folders_of(paths: Iterable[str]) -> list[str]:
    """Return the folders that hold `paths`, sorted: a new module beside them is a change too."""
    return sorted({os.path.dirname(path) for path in paths})


def _witness(path: str) -> Witness:
    stat = stat_of(path)
    with open(path, "rb") as file:
        return Witness(stat, file_digest(file.read()))
