"""Which picture decoder this installation has, as files, for the identity of what it decodes.

Nothing here imports Pillow: the parent process asks, and never loads it.
Not here: decoding (`decode`).
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING

from nfbuild.digests import file_digest
from nfbuild.errors import UsageError

if TYPE_CHECKING:
    from nfbuild.digests import InputDigest

_PACKAGE = "PIL"
_LIBRARIES = "pillow.libs"
_KINDS = (".py", ".so", ".pyd", ".dll", ".dylib")


def files() -> dict[str, str]:
    """Return every file that decides what Pillow decodes: a stable name to its absolute path.

    They are its modules and extension modules, and the codecs that its wheel brings along, beside
    the package on Linux and inside it on macOS. A Pillow that some distribution linked to the
    system's codecs shows only its own files. UsageError when there is none.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(
            "the picture decoder `pillow` is not installed",
            hint="install it with `pip install pillow`",
            code="decoder",
        )
    package = os.path.abspath(spec.submodule_search_locations[0])
    libraries = os.path.join(os.path.dirname(package), _LIBRARIES)
    found: dict[str, str] = {}
    for label, folder in ((_PACKAGE, package), (_LIBRARIES, libraries)):
        for place, _, names in sorted(os.walk(folder)):
            for name in names:
                if name.endswith(_KINDS) or ".so." in name:
                    path = os.path.join(place, name)
                    found[f"{label}/{os.path.relpath(path, folder)}".replace(os.sep, "/")] = path
    return dict(sorted(found.items()))


def libraries() -> dict[str, InputDigest]:
    """Return the digest of every file of `files`; reads 20 MB, which takes 25 ms."""
    digests: dict[str, InputDigest] = {}
    for name, path in files().items():
        with open(path, "rb") as file:
            digests[name] = file_digest(file.read())
    return digests
