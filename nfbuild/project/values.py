"""What a project says, as frozen values: already read, checked and with every default filled in.

Paths: `root` is absolute; what is `project-relative` uses forward slashes, whatever the system.
Not here: how the text is read (`reading`), and which files are compositions (`discover`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import Place
from nfbuild.project.schema import drawing_keys

if TYPE_CHECKING:
    import datetime as dt
    from fractions import Fraction

    from nfbuild.digests import Field

CONFIG_NAME = "nfbuild.toml"
LOCAL_NAME = "nfbuild.local.toml"

Mode: TypeAlias = Literal["read-write", "read-only"]
Format: TypeAlias = Literal["png", "mp4", "webm", "mov", "apng", "webp", "gif"]

MB = 1_000_000
GB = 1_000_000_000
DAY = 86_400


@dataclass(frozen=True)
class SharedTier:
    """One `[[cache.shared]]`: where it is and whether this machine may write to it."""

    url: str
    mode: Mode
    place: Place


@dataclass(frozen=True)
class CacheSettings:
    """`[cache]`: `folder` is absolute, `max_size` in bytes, `max_age` in seconds.

    `shared` is in the order of asking; empty when `NFBUILD_SHARED=off`.
    """

    folder: str
    max_size: int = 10 * GB
    max_age: int = 30 * DAY
    shared: tuple[SharedTier, ...] = ()


@dataclass(frozen=True)
class Export:
    """One `[[export]]`: which compositions, which format, where to, and its options.

    `frames` is an inclusive range of frame numbers. An option that the file does not name is
    None: what that means is the format's own rule.
    """

    composition: str
    format: Format
    to: str
    place: Place
    frames: tuple[int, int] | None = None
    marker: str | None = None
    scale: Fraction | None = None
    background: str | None = None
    rate: Fraction | None = None
    quality: int | None = None
    loop: int | None = None
    palette: int | None = None
    audio: str | None = None


@dataclass(frozen=True)
class Excuse:
    """One `[verify.excused."NAME"]`: a difference between machines that a team accepts for a while.

    `lanes` are platform tags, `until` is the last day it holds. `max_pixels` bounds the pixels
    that may differ in one frame, `max_step` the difference of one channel, 1 to 255.
    """

    name: str
    lanes: tuple[str, ...]
    reason: str
    until: dt.date
    max_pixels: int
    max_step: int
    place: Place


@dataclass(frozen=True)
class Limits:
    """`[limits]`: bounds that keep one composition from taking the machine.

    They refuse, they never draw otherwise. Sizes are bytes, `frame_deadline` is seconds of
    processor time.
    """

    canvas_pixels: int = 64_000_000
    canvas_side: int = 16_384
    frames: int = 1_000_000
    elements: int = 200_000
    depth: int = 4_096
    nesting: int = 64
    document_size: int = 64 * MB
    worker_memory: int = 2 * GB
    frame_deadline: int = 60


@dataclass(frozen=True)
class Lottie:
    """`[lottie]`: what a scene does not say of itself.

    `background` is `none`, which keeps a scene's transparency, or `#rrggbb` to lay it on. It
    draws: it is in the source part of every Lottie scene.
    """

    background: str = "none"


@dataclass(frozen=True)
class Project:
    """Everything one `nfbuild.toml` names.

    `root` is the folder of the configuration as the user reached it, `config` the name of the
    file (None where a `compositions` folder alone makes the project). `outside` are absolute real
    paths of folders that may be read besides the project; `faces` are written as in the file, in
    load order, each with its place. `sources` are absolute paths of configuration files that were
    looked for, found or not: what a shortcut must watch.
    """

    root: str
    config: str | None
    patterns: tuple[tuple[str, Place], ...]
    ledger: str
    outside: tuple[str, ...]
    faces: tuple[tuple[str, Place], ...]
    cache: CacheSettings
    exports: tuple[Export, ...] = ()
    excused: Mapping[str, Excuse] = field(default_factory=dict)
    limits: Limits = Limits()
    lottie: Lottie = Lottie()
    sources: tuple[str, ...] = ()

    @property
    def ledger_folder(self) -> str:
        """Absolute path of the folder of ledger entries."""
        return self.path(self.ledger)

    def path(self, relative: str) -> str:
        """Return the absolute path of a project-relative one."""
        return os.path.join(self.root, *relative.split("/"))

    def relative(self, path: str) -> str:
        """Return how messages and manifests name a file: from the root, forward slashes.

        A file on another drive keeps its absolute path.
        """
        try:
            found = os.path.relpath(path, self.root)
        except ValueError:  # Windows: there is no way from one drive to another
            found = os.path.abspath(path)
        return found.replace(os.sep, "/")

    def allows(self, path: str) -> bool:
        """Tell whether compositions may read `path`: inside the project or an `outside` folder.

        Judged by the real path, so neither `..` nor a link leads out unseen.
        """
        real = os.path.realpath(path)
        return any(_holds(folder, real) for folder in (os.path.realpath(self.root), *self.outside))

    def drawing_configuration(self) -> Mapping[str, Field]:
        """Return the values of the configuration that draw, by their dotted keys.

        They enter the source part of the compositions that they draw in. The faces enter by their
        content through the fonts part, limits only refuse, and the rest only says where things
        are. A key that draws is marked so in `schema`, and appears here by that alone.
        """
        return {key: self._value_of(key) for key in drawing_keys()}

    def guarding_configuration(self) -> Mapping[str, Field]:
        """Return the values that decide whether a composition is refused, by their dotted keys.

        A shortcut that skips reading must not hold when one of these moved.
        """
        limits: dict[str, Field] = {
            f"limits.{name}": value for name, value in sorted(vars(self.limits).items())
        }
        return {"project.outside": list(self.outside), **limits}

    def _value_of(self, key: str) -> Field:
        table, _, name = key.partition(".")
        value: Field = getattr(getattr(self, table), name)
        return value


def _holds(folder: str, path: str) -> bool:
    # `commonpath` costs more and raises between drives.
    prefix = folder if folder.endswith(os.sep) else folder + os.sep
    return path == folder or path.startswith(prefix)
