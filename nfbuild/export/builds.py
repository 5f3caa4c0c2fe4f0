"""Which encoder makes a product: named without loading it.

A wheel lists the digests of all its files in `RECORD`, bundled libraries included: the digest of
that list names the build better than any version, and costs one small read. This package's
own encoding modules are part of the encoder, so their bytes count too (line ends as LF).
"""

from __future__ import annotations

import functools
import os
import zlib

from nfbuild.digests import Field, derive, file_digest

_CONTEXT = "nfbuild 2026 encoder build v1"
_FILM = ("planes", "yuv", "film", "settings")
_MODULES = {
    "png": ("pngs",),
    "apng": ("planes", "holds", "animate", "apng"),
    "webp": ("planes", "holds", "animate", "stills", "webp"),
    "gif": ("planes", "holds", "animate", "palette", "stills", "gif"),
    "mp4": _FILM,
    "webm": _FILM,
    "mov": _FILM,
}
_LAYING_ON = os.path.join("..", "pixels", "blend")
_PACKAGES = {"webp": "pillow", "gif": "pillow", "mp4": "av", "webm": "av", "mov": "av"}


@functools.cache
def encoder_build(kind: str) -> str:
    """Return the digest of everything whose change may move a product's bytes at equal input."""
    package = _PACKAGES.get(kind)
    fields: list[Field] = [kind, None if package is None else _package(package)]
    if kind == "apng":
        fields.append(zlib.ZLIB_RUNTIME_VERSION)
    fields.extend(
        [os.path.basename(name), _module(name)] for name in ("timing", _LAYING_ON, *_MODULES[kind])
    )
    return derive(_CONTEXT, fields)


def _package(name: str) -> Field:
    from importlib import metadata  # noqa: PLC0415  costs 10 ms, and most builds never get here

    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return "none"
    record = found.read_text("RECORD")
    return [found.version, "none" if record is None else file_digest(record.encode("utf-8"))]


def _module(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), f"{name}.py")
    with open(path, "rb") as file:
        return file_digest(file.read().replace(b"\r\n", b"\n"))
