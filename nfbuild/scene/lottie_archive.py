"""Open a `.lottie` archive: a zip file with a manifest, scenes and their assets.

Both layouts of the format are read: version 1 (`animations/`, `images/`) and version 2 (`a/`,
`i/`, `f/`). The first animation of the manifest is the scene, unless the manifest names an
initial one. Nothing is unpacked to disk; names that climb, absolute names, links, encrypted
members and members that unpack to more than a bound are refused.

Source: the dotLottie format, versions 1.0 and 2.0. Not here: the scene itself (`lottie_scene`).
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

from nfbuild.errors import Place, SourceError
from nfbuild.scene.lottie_json import Members, read

if TYPE_CHECKING:
    from nfbuild.scene.protocols import Limits

ZIP_MAGIC = b"PK\x03\x04"
MANIFEST = "manifest.json"

_SCENES = ("animations", "a")
_ASSETS = ("images", "i", "fonts", "f", "u")
_MEMBERS = 10_000
_LINK = 0o120000
_KIND = 0o170000
_ENCRYPTED = 0x1


class Archive:
    """The members of one archive by name, each unpacked when it is asked for."""

    def __init__(self, data: bytes, file: str, limits: Limits) -> None:
        self._file = file
        self._left = limits.document_bytes
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise self._broken(f"the archive cannot be opened: {error}") from None
        self._members: dict[str, zipfile.ZipInfo] = {}
        listing = self._zip.infolist()
        if len(listing) > _MEMBERS:
            raise self._broken(f"the archive has more than {_MEMBERS} members")
        for info in listing:
            self._require_plain(info)
            if not info.is_dir():
                self._members.setdefault(info.filename, info)

    def scene(self) -> bytes:
        """Return the JSON of the scene that the manifest names."""
        manifest = read(self._read(MANIFEST), f"{self._file}/{MANIFEST}")
        animations = manifest.items("animations")
        initial = manifest.get("initial")
        wanted = manifest.text("activeAnimationId")
        if isinstance(initial, Members):
            wanted = initial.text("animation") or wanted
        names = [name for one in animations if (name := one.text("id"))]
        if not names:
            raise self._broken("the manifest names no animation")
        name = wanted if wanted in names else names[0]
        for folder in _SCENES:
            if f"{folder}/{name}.json" in self._members:
                return self._read(f"{folder}/{name}.json")
        raise self._broken(f"the archive has no scene `{name}`, which its manifest names")

    def asset(self, folder: str, name: str) -> bytes | None:
        """Return an asset by the folder and name that a scene gives, None where there is none."""
        plain = f"{folder}{name}".lstrip("/")
        tail = plain.rpartition("/")[2]
        for candidate in (plain, name, *(f"{place}/{tail}" for place in _ASSETS)):
            if candidate in self._members:
                return self._read(candidate)
        return None

    def _read(self, name: str) -> bytes:
        info = self._members.get(name)
        if info is None:
            raise self._broken(f"the archive has no `{name}`")
        try:
            with self._zip.open(info) as member:
                # The size that the archive claims may lie: read one byte past the bound.
                data = member.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
            raise self._broken(f"`{name}` in the archive cannot be read: {error}") from None
        if len(data) > self._left:
            raise SourceError(
                "the archive unpacks to too much",
                place=Place(self._file),
                hint="raise the limit `document_size`, or make its assets smaller",
            )
        self._left -= len(data)
        return data

    def _require_plain(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in name:
            raise self._broken(f"the archive has a member named `{name}`")
        if (info.external_attr >> 16) & _KIND == _LINK:
            raise self._broken(f"`{name}` in the archive is a link")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self._broken(f"`{name}` in the archive is packed in a way that is not read")
        if info.flag_bits & _ENCRYPTED:
            raise self._broken(f"`{name}` in the archive is encrypted")

    def _broken(self, fact: str) -> SourceError:
        return SourceError(
            fact, place=Place(self._file), hint="export the `.lottie` file again, or use its JSON"
        )
