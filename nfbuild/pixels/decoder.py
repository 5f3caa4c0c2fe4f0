"""Which decoders this installation has, as files, for the identity of what they decode.

Nothing here imports one: the parent process asks, and never loads it.
Not here: decoding (`decode`, `video`).
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING

from nfbuild.dataclasses import dataclass
from nfbuild.digests import file_digest
from nfbuild.errors import UsageError

if TYPE_CHECKING:
    from nfbuild.digests import InputDigest


@dataclass(frozen=True)
class Decoder:
    """An installed decoder: its package, and the folder of libraries that its wheel puts beside."""

    package: str
    libraries: str
    install: str


PICTURES = Decoder("PIL", "pillow.libs", "pillow")
FILMS = Decoder("av", "av.libs", "nfbuild[video]")

_KINDS = (".py", ".so", ".pyd", ".dll", ".dylib")


def installed(decoder: Decoder) -> bool:
    """Tell whether the decoder is there at all."""
    return importlib.util.find_spec(decoder.package) is not None


def files(decoder: Decoder = PICTURES) -> dict[str, str]:
    """Return every file that decides what is decoded: a stable name to its absolute path.

    They are its modules and extension modules, and the codecs that its wheel brings along, beside
    the package on Linux and inside it on macOS. A decoder that some distribution linked to the
    system's codecs shows only its own files. UsageError when there is none.
    """
    spec = importlib.util.find_spec(decoder.package)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(
            f"the decoder `{decoder.package}` is not installed",
            hint=f"install it with `pip install {decoder.install}`",
            code="decoder",
        )
    package = os.path.abspath(spec.submodule_search_locations[0])
    beside = os.path.join(os.path.dirname(package), decoder.libraries)
    found: dict[str, str] = {}
    for label, folder in ((decoder.package, package), (decoder.libraries, beside)):
        for place, _, names in sorted(os.walk(folder)):
            for name in names:
                if name.endswith(_KINDS) or ".so." in name:
                    path = os.path.join(place, name)
                    found[f"{label}/{os.path.relpath(path, folder)}".replace(os.sep, "/")] = path
    return dict(sorted(found.items()))


def libraries(decoder: Decoder = PICTURES) -> dict[str, InputDigest]:
    """Return the digest of every file of `files`; reads 20 MB of Pillow, which takes 25 ms."""
    digests: dict[str, InputDigest] = {}
    for name, path in files(decoder).items():
        with open(path, "rb") as file:
            digests[name] = file_digest(file.read())
    return digests
