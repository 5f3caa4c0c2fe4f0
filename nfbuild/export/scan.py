"""Looking at a folder of exported files without reading one of them.

A null build asks whether anybody touched an exported sequence: one pass over the folder, one
`stat` a file. This module and what it imports stay light (no NumPy, no Pillow, no PyAV), as every
build pays for it. Not here: what is done about a folder that moved (`pngs`).
"""

from __future__ import annotations

import os
import re
import stat
from typing import NamedTuple

from nfbuild.dataclasses import dataclass
from nfbuild.digests import derive_raw

_CONTEXT = "nfbuild 2026 export folder scan v1"
_NUMBER = re.compile(r"\{number(?::0([1-9][0-9]?)d)?\}")


@dataclass(frozen=True)
class NamePattern:
    """File names that differ by a number: `prefix`, at least `width` digits, `suffix`.

    Every name has one number and every number one name: `7` is no name where width is 2.
    """

    prefix: str
    width: int
    suffix: str

    def name(self, number: int) -> str:
        """Return the file name of a number from 0."""
        return f"{self.prefix}{number:0{self.width}d}{self.suffix}"

    @property
    def text(self) -> str:
        """The pattern as `parse_pattern` reads it."""
        form = f":0{self.width}d" if self.width > 1 else ""
        return f"{self.prefix}{{number{form}}}{self.suffix}"

    def number(self, name: str) -> int | None:
        """Return the number of a name of this pattern, None for every other name."""
        end = len(name) - len(self.suffix)
        start = len(self.prefix)
        if end - start < self.width or not name.startswith(self.prefix):
            return None
        digits = name[start:end]
        if not (name.endswith(self.suffix) and digits.isascii() and digits.isdigit()):
            return None
        if len(digits) > self.width and digits[0] == "0":
            return None
        return int(digits)


def parse_pattern(name: str) -> NamePattern | None:
    """Return the pattern of a file name that holds `{number}` or `{number:05d}` once, else None."""
    found = _NUMBER.search(name)
    if found is None:
        return None
    prefix, suffix = name[: found.start()], name[found.end() :]
    return NamePattern(prefix, int(found.group(1) or 1), suffix)


class Stamp(NamedTuple):
    """What a file looks like from outside: it moves when somebody writes or replaces the file."""

    size: int
    mtime_ns: int
    inode: int
    regular: bool = True


def scan(folder: str, pattern: NamePattern) -> dict[str, Stamp]:
    """Return the stamps of the files in `folder` whose name fits; empty when there is no folder.

    Links are not followed: a link at one of our names is not one of our files.
    """
    found: dict[str, Stamp] = {}
    number = pattern.number
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return found
    with entries:
        for entry in entries:
            name = entry.name
            if number(name) is None:
                continue
            try:
                seen = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # removed while we look: the same as never there
                continue
            found[name] = stamp_of(seen)
    return found


def stamp_of(seen: os.stat_result) -> Stamp:
    """Return the stamp of a file that was looked at without following links."""
    return Stamp(seen.st_size, seen.st_mtime_ns, seen.st_ino, stat.S_ISREG(seen.st_mode))


def fingerprint(stamps: dict[str, Stamp]) -> str:
    """Return one digest for a whole scan; equal exactly when all names and stamps are."""
    # A name holds neither `/` nor NUL, so a line of four fields can be read in one way only.
    lines = [
        f"{name}/{stamp.size}/{stamp.mtime_ns}/{stamp.inode}/{stamp.regular:d}\0"
        for name, stamp in sorted(stamps.items())
    ]
    return derive_raw(_CONTEXT, "".join(lines).encode("utf-8", "surrogateescape"))


def scan_fingerprint(folder: str, name: str | NamePattern) -> str:
    """Return a digest of what `folder` holds under `name`, by name, size, time and inode.

    `name` is a file name, or with `{number}` or `{number:05d}` all file names that it stands for.
    Stable while nobody writes there; files of other names do not count, and neither do names that
    a resolved pattern does not give. A folder that is not there has a fingerprint too.
    """
    pattern = parse_pattern(name) if isinstance(name, str) else name
    if pattern is not None:
        return fingerprint(scan(folder, pattern))
    assert isinstance(name, str)
    try:
        # A film is followed through a link: what is played is what counts.
        seen = os.stat(os.path.join(folder, name))
    except (FileNotFoundError, NotADirectoryError):
        return fingerprint({})
    return fingerprint({name: stamp_of(seen)})
