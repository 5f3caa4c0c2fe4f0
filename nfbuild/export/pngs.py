"""PNG sequences: one file a frame, and only files whose frame moved are written.

Whose a file is: the state file (kept by the caller below its cache) lists every file this export
wrote, with its frame digest and stamp. A listed file that nobody touched is kept without reading
it. A file at one of our names that is not listed, because the state was lost or because it was
never ours, is compared with the frame: equal content is ours from now on; other content is
replaced only when the file has exactly the form of our own files (`pixels.png.decode_own`), and is
otherwise a foreign file that stops the export before anything is written. Only listed
files are ever removed, and of those only what is still ours; everything else is left alone.

All files are staged before the first is put in place: an error, a full disk or `^C` leaves the
former sequence as it was. Then the new names are noted as claimed, files are renamed and stale ones
removed; a process that dies in between leaves whole files that its successor knows as its own.
Not here: other products (`make`), looking without touching (`scan`).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import derive
from nfbuild.errors import Corrupt
from nfbuild.export.base import ExportError, FrameSource, Progress, no_progress
from nfbuild.export.publish import Staging, share_file, write_file
from nfbuild.export.record import SCHEMA, write_json
from nfbuild.export.scan import NamePattern, Stamp, fingerprint, scan, stamp_of

if TYPE_CHECKING:
    from nfbuild.export.plan import ExportPlan

_LAID_ON = "nfbuild 2026 export frame on background v1"
_CLAIMED = "claimed"
"""Stands for the digest of a file of ours of which it is not known what it holds."""
_SHOWN = 5


@dataclass(frozen=True)
class Known:
    """A file of ours as it was left: what it shows, and its stamp."""

    digest: str
    stamp: Stamp


@dataclass(frozen=True)
class SequenceReport:
    """What became of a sequence: names of files written and removed, and how many were kept.

    `left` are names of the pattern outside the sequence that are not ours; `fingerprint` is what
    `scan_fingerprint` of the folder gives until somebody writes there.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: int
    left: tuple[str, ...]
    fingerprint: str


@dataclass
class _Work:
    """The decisions of one run, before anything is put in place."""

    known: dict[str, Known]
    seen: dict[str, Stamp]
    kept: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def export_sequence(
    plan: ExportPlan,
    source: FrameSource,
    state_path: str,
    *,
    progress: Progress = no_progress,
) -> SequenceReport:
    """Bring a PNG sequence up to date; return what was done.

    Files are numbered from the first frame of the plan's range. `state_path` is where this export
    remembers its files: one path per folder and name pattern, kept between runs, and safe to lose.
    Raises `ExportError` when foreign files stand where frames go, or when the folder cannot be
    written; nothing was changed then.
    """
    pattern = plan.pattern
    assert pattern is not None
    check_raster(plan, source)
    shown = _Shown(plan, source)
    try:
        with Staging(plan.folder) as staging:
            work = _Work(read_state(state_path, plan.folder, pattern), scan(plan.folder, pattern))
            total = plan.timing.count
            for position, number in enumerate(plan.timing.numbers()):
                source.wait(number)
                name = pattern.name(plan.timing.first + position)
                _decide(work, staging, name, shown, number)
                progress(position + 1, total)
            if work.foreign:
                raise _foreign(plan, work.foreign)
            _find_stale(work, plan.folder)
            source.confirm()
            return _put_in_place(work, plan, pattern, staging, state_path)
    except OSError as error:
        raise ExportError(
            f"cannot write the PNG sequence `{plan.target}`: {error.strerror or error}",
            place=plan.place,
            hint="see that the folder is writable and has room",
        ) from error


def check_raster(plan: ExportPlan, source: FrameSource) -> None:
    """Raise ValueError when a source does not draw what the plan was made for."""
    if (source.width, source.height) != (plan.width, plan.height):
        raise ValueError(
            f"the plan wants {plan.width} x {plan.height}, the source draws"
            f" {source.width} x {source.height}"
        )


def _decide(work: _Work, staging: Staging, name: str, shown: _Shown, number: int) -> None:
    digest = shown.digest(number)
    path = os.path.join(staging.folder, name)
    stamp = work.seen.get(name)
    known = work.known.get(name)
    if stamp is None and os.path.lexists(path):
        stamp = _appeared(staging.folder, name)
        if stamp is None:
            # Not listed and yet there: a file system that folds the case of names.
            work.foreign.append(name)
            return
        work.seen[name] = stamp
    if stamp is not None:
        if known is not None and known.stamp == stamp and known.digest == digest:
            work.kept[name] = digest
            return
        moved = known is not None and known.stamp == stamp and known.digest != _CLAIMED
        if not moved and shown.is_in(path, stamp, number):
            work.kept[name] = digest
            return
        if not stamp.regular or (known is None and not is_own_form(path)):
            work.foreign.append(name)
            return
    if not work.foreign:  # else nothing will be published, and staging is only cost
        shown.write(staging.file(name), number)
    work.written[name] = digest


def _appeared(folder: str, name: str) -> Stamp | None:
    """Return the stamp of a file that came since the folder was looked at: another build's."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name == name:
                with contextlib.suppress(FileNotFoundError):
                    return stamp_of(entry.stat(follow_symlinks=False))
    return None


class _Shown:
    """The frames as their files show them: as drawn, or laid on the export's background."""

    def __init__(self, plan: ExportPlan, source: FrameSource) -> None:
        self._plan = plan
        self._source = source
        self._last: tuple[str, bytes] | None = None
        self._may_share = plan.background is None

    def digest(self, number: int) -> str:
        """Return what names the content of a frame's file."""
        drawn = self._source.digest(number)
        if self._plan.background is None:
            return drawn
        return derive(_LAID_ON, drawn, list(self._plan.background))

    def write(self, target: str, number: int) -> None:
        """Write a frame's file, of the blob's own blocks where the file system can share them."""
        if self._may_share and self._shares(target, number):
            return
        write_file(target, self._bytes(number))

    def _shares(self, target: str, number: int) -> bool:
        path = self._source.png_path(number)
        if path is None:
            return False
        try:
            self._may_share = share_file(path, target)
        except FileNotFoundError:  # another build's collector has taken the blob
            return False
        return self._may_share

    def is_in(self, path: str, stamp: Stamp, number: int) -> bool:
        """Tell whether a file holds exactly what `write` would write."""
        if not stamp.regular:
            return False
        if self._plan.background is None:
            blob = self._source.png_path(number)
            with contextlib.suppress(FileNotFoundError):
                if blob is not None and os.stat(blob).st_size != stamp.size:
                    return False
        try:
            with open(path, "rb") as file:
                return file.read() == self._bytes(number)
        except OSError:
            return False

    def _bytes(self, number: int) -> bytes:
        digest = self.digest(number)  # holds ask for one frame many times in a row
        if self._last is None or self._last[0] != digest:
            self._last = (digest, self._encoded(number))
        return self._last[1]

    def _encoded(self, number: int) -> bytes:
        if self._plan.background is not None:
            # NumPy is loaded by those alone who lay frames on a background.
            from nfbuild.pixels import blend, png  # noqa: PLC0415

            size = (self._plan.width, self._plan.height)
            raster = bytearray(self._source.rgba(number))
            blend.lay_on(raster, *size, self._plan.background)
            return png.encode(raster, *size)
        return self._source.png_bytes(number)


def is_own_form(path: str) -> bool:
    """Tell whether a file has exactly the form in which frames are written, whatever it shows."""
    from nfbuild.pixels.png import decode_own  # noqa: PLC0415  only for files nobody remembers

    try:
        with open(path, "rb") as file:
            decode_own(file.read())
    except (OSError, Corrupt):
        return False
    return True


def _foreign(plan: ExportPlan, names: list[str]) -> ExportError:
    listed = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ExportError(
        f"frames of `{plan.composition}` would replace files in `{plan.folder}` that are not"
        f" exported frames: {listed}{more}",
        place=plan.place,
        hint="move them away, or give the export another `to`",
        code="export.foreign",
    )


def _find_stale(work: _Work, folder: str) -> None:
    for name, stamp in work.seen.items():
        if name in work.kept or name in work.written:
            continue
        known = work.known.get(name)
        # Listed, and untouched since or at least still one of our files: copied or dated anew.
        untouched = known is not None and known.stamp == stamp
        listed = known is not None and stamp.regular
        if listed and (untouched or is_own_form(os.path.join(folder, name))):
            work.stale.append(name)
        else:
            work.left.append(name)


def _put_in_place(
    work: _Work, plan: ExportPlan, pattern: NamePattern, staging: Staging, state_path: str
) -> SequenceReport:
    folder = plan.folder
    if work.written:
        claims = {name: Known(_CLAIMED, Stamp(0, 0, 0)) for name in work.written}
        _write_state(state_path, folder, pattern, {**work.known, **claims})
        for name in work.written:
            staging.publish(name)
    for name in work.stale:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))
    now: dict[str, Known] = {}
    for name, digest in sorted({**work.kept, **work.written}.items()):
        if name in work.written:
            stamp = stamp_of(os.stat(os.path.join(folder, name), follow_symlinks=False))
        else:
            stamp = work.seen[name]
        now[name] = Known(digest, stamp)
    if now != work.known or work.written:
        _write_state(state_path, folder, pattern, now)
    stamps = {name: known.stamp for name, known in now.items()}
    stamps.update((name, work.seen[name]) for name in work.left)
    return SequenceReport(
        written=tuple(work.written),
        removed=tuple(work.stale),
        kept=len(work.kept),
        left=tuple(sorted(work.left)),
        fingerprint=fingerprint(stamps),
    )


def read_state(path: str, folder: str, pattern: NamePattern) -> dict[str, Known]:
    """Return what the state file says of this folder and pattern; empty when it says nothing.

    A damaged state is a lost one: files are then compared by content.
    """
    try:
        with open(path, "rb") as file:
            raw: Any = json.loads(file.read())
        if raw["schema"] != SCHEMA or raw["folder"] != _folder_id(folder):
            return {}
        if raw["pattern"] != pattern.text:
            return {}
        rows = zip(
            raw["numbers"], raw["digests"], raw["sizes"], raw["times"], raw["inodes"], strict=True
        )
        return {
            pattern.name(number): Known(str(digest), Stamp(int(size), int(time), int(inode)))
            for number, digest, size, time, inode in rows
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write_state(path: str, folder: str, pattern: NamePattern, files: dict[str, Known]) -> None:
    def column(value: Callable[[Known], str | int]) -> list[str | int]:
        return [value(known) for known in files.values()]

    document = {
        "schema": SCHEMA,
        "folder": _folder_id(folder),
        "pattern": pattern.text,
        "numbers": [pattern.number(name) for name in files],
        "digests": column(lambda known: known.digest),
        "sizes": column(lambda known: known.stamp.size),
        "times": column(lambda known: known.stamp.mtime_ns),
        "inodes": column(lambda known: known.stamp.inode),
    }
    write_json(path, document)


def _folder_id(folder: str) -> str:
    # A project copied elsewhere brings its cache along: it must not speak for another folder.
    return os.path.realpath(folder)
