"""What can happen while an operation runs, as frozen values.

Operations in `ops` yield these; the terminal reporter, the JSON reporter and the tests are three
readers of them. An event says what has just happened, never how to print it.
"""

from __future__ import annotations

from typing import TypeAlias

from nfbuild.dataclasses import dataclass
from nfbuild.digests import FrameDigest, FrameKey


@dataclass(frozen=True)
class Planned:
    """Occurs once, when it is known what will be drawn and before anything is."""

    compositions: int
    frames: int
    distinct: int
    to_render: int


@dataclass(frozen=True)
class FrameRendered:
    """Occurs when a frame was rasterized in this run; `number` is its first frame number."""

    composition: str
    number: int
    key: FrameKey
    digest: FrameDigest


@dataclass(frozen=True)
class CacheLied:
    """Occurs when a cached answer was found to be wrong; it has been replaced."""

    composition: str
    number: int
    key: FrameKey
    cached: FrameDigest
    drawn: FrameDigest


@dataclass(frozen=True)
class Warned:
    """Occurs when something deserves the user's attention and stops nothing."""

    code: str
    message: str
    composition: str | None = None
    file: str | None = None
    line: int | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Failed:
    """Occurs when one composition cannot be built; the others go on."""

    code: str
    message: str
    exit_code: int
    composition: str | None = None
    file: str | None = None
    line: int | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Encoding:
    """Occurs now and then while exports are made: frames encoded and checked, of all there are."""

    done: int
    total: int


@dataclass(frozen=True)
class Exported:
    """Occurs when an export was brought up to date; counts are files."""

    composition: str
    target: str
    written: int
    removed: int
    kept: int


Event: TypeAlias = "Planned | FrameRendered | CacheLied | Warned | Failed | Encoding | Exported"
