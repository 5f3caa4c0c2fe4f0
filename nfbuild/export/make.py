"""Making one product: frames in, a file that was read back, in its place.

`export` is what operations call for every format. It makes a product only when something moved:
the settings, a frame, the sound or the file itself. One frame is held at a time, besides what an
encoder holds (`settings`). Not here: PNG sequences (`pngs`), animated pictures (`animate`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nfbuild.dataclasses import dataclass, replace
from nfbuild.digests import file_digest
from nfbuild.export.base import Audio, ExportError, FrameSource, Progress, Steps, no_progress
from nfbuild.export.pngs import check_raster, export_sequence
from nfbuild.export.publish import Staging, remove_stale
from nfbuild.export.record import Record, Runs, read_record, stamp, write_record
from nfbuild.export.scan import scan_fingerprint

if TYPE_CHECKING:
    from nfbuild.export.film import Moment
    from nfbuild.export.plan import ExportPlan
    from nfbuild.export.readback import Means
    from nfbuild.export.settings import Coding


@dataclass(frozen=True)
class Report:
    """What became of a product: files written, removed and kept.

    `left` are files among those of a sequence that are not ours. `fingerprint` is what
    `scan.scan_fingerprint(plan.folder, plan.name)` gives until somebody writes there.
    """

    written: int
    removed: int
    kept: int
    left: tuple[str, ...]
    fingerprint: str


def export(
    plan: ExportPlan,
    source: FrameSource,
    state_path: str,
    *,
    audio: Audio | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Bring a product up to date.

    `source` draws at the plan's raster. `state_path` is where this export remembers what it made;
    one path per target, kept between runs, safe to lose. `audio` is the plan's audio file.
    Raises `ExportError` when the product cannot be made or does not read back, `UsageError` when a
    package is missing, and whatever `source` and `progress` raise: in each case, and when the
    process dies, the former product stays as it was.
    """
    check_raster(plan, source)
    if plan.format == "png":
        made = export_sequence(plan, source, state_path, progress=progress)
        return Report(len(made.written), len(made.removed), made.kept, made.left, made.fingerprint)
    placed = plan
    if os.path.islink(plan.target):
        # What the link points to is replaced, the link stays.
        folder, name = os.path.split(os.path.realpath(plan.target))
        placed = replace(plan, folder=folder, name=name)
    written = _export_file(placed, source, state_path, audio, progress)
    fingerprint = scan_fingerprint(plan.folder, plan.name)
    return Report(int(written), 0, int(not written), (), fingerprint)


def _export_file(
    plan: ExportPlan,
    source: FrameSource,
    state_path: str,
    audio: Audio | None,
    progress: Progress,
) -> bool:
    settings = plan.key(None, None if audio is None else audio.digest)
    if _is_current(plan, source, read_record(state_path), settings):
        source.confirm()
        remove_stale(plan.folder)
        return False
    sound = _sound(plan, audio)
    try:
        with Staging(plan.folder) as staging:
            path = staging.file(plan.name)
            if plan.format in ("mp4", "webm", "mov"):
                runs = _make_film(plan, source, path, sound, progress)
            else:
                runs = _make_animation(plan, source, path, progress)
            source.confirm()
            seen = stamp(path)
            assert seen is not None
            staging.publish(plan.name)
        write_record(state_path, Record(settings, seen, runs))
    except OSError as error:
        raise _refused(plan, error.strerror or str(error)) from error
    return True


def _is_current(
    plan: ExportPlan, source: FrameSource, former: Record | None, settings: str
) -> bool:
    if former is None or former.settings != settings or former.stamp != stamp(plan.target):
        return False

    def digests() -> Iterator[str]:
        for number in plan.timing.numbers():
            source.wait(number)
            yield source.digest(number)

    return former.runs.equal(digests())


def _refused(plan: ExportPlan, fact: str) -> ExportError:
    return ExportError(
        f"cannot write `{plan.target}`: {fact}",
        place=plan.place,
        hint="see that the folder is writable and has room; the former product is still in place",
    )


def _sound(plan: ExportPlan, audio: Audio | None) -> bytes | None:
    if audio is None:
        return None
    try:
        with open(audio.path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ExportError(
            f"cannot read the audio file `{audio.path}`: {error.strerror}",
            place=plan.place,
            hint="`audio` names a file of the project",
        ) from error
    if file_digest(data) != audio.digest:
        raise ExportError(
            f"the audio file `{audio.path}` changed while the build ran",
            place=plan.place,
            hint="build again",
        )
    return data


def _make_animation(plan: ExportPlan, source: FrameSource, path: str, progress: Progress) -> Runs:
    from nfbuild.export.animate import Animation  # noqa: PLC0415  NumPy and Pillow
    from nfbuild.export.readback import check_animation  # noqa: PLC0415

    steps = Steps(progress, plan.timing.count, 3 if plan.format == "gif" else 2)
    animation = Animation(plan, source, steps)
    units = animation.write(path)
    check_animation(path, plan, animation.pictures, units, steps)
    return animation.runs


def _make_film(
    plan: ExportPlan, source: FrameSource, path: str, sound: bytes | None, progress: Progress
) -> Runs:
    from nfbuild.export import film, readback, settings  # noqa: PLC0415  PyAV and NumPy

    coding = settings.coding_of(plan)
    steps = Steps(progress, plan.timing.count, 2)
    frames = _Frames(plan, source, coding)
    if sound is not None and not film.has_sound(sound):
        raise ExportError(
            f"the audio file `{plan.audio}` holds no sound that can be decoded",
            place=plan.place,
            hint="use for example a WAV, FLAC, MP3, M4A or Ogg file",
        )
    try:
        film.encode_film(
            path,
            coding,
            (plan.stored_width, plan.stored_height),
            plan.timing.rate,
            frames.moments(steps),
            sound=sound,
            length=plan.timing.duration,
        )
    except film.FilmFault as error:
        raise _refused(plan, error.strerror or str(error)) from error
    readback.check_film(path, plan, coding, frames.means, steps, sound=sound is not None)
    return frames.runs


class _Frames:
    """The frames on their way into a film; `means` is what must be read back."""

    def __init__(self, plan: ExportPlan, source: FrameSource, coding: Coding) -> None:
        self.runs = Runs()
        self.means: list[Means] = []
        self._plan = plan
        self._source = source
        self._bits = 10 if coding.pixels.endswith("10le") else 8

    def moments(self, steps: Steps) -> Iterator[Moment]:
        """Yield every frame in order, as soon as it is there."""
        from nfbuild.export import film, readback  # noqa: PLC0415  PyAV and NumPy

        planes: list[Any] = []
        for position, number in enumerate(self._plan.timing.numbers()):
            self._source.wait(number)
            same = self.runs.add(self._source.digest(number))
            if same:
                self.means.append(self.means[-1])
            else:
                planes = self._planes(number)
                self.means.append(readback.means_of(planes, self._bits))
            yield film.Moment(planes, same)
            steps.at(position + 1)

    def _planes(self, number: int) -> list[Any]:
        from nfbuild.export import planes, yuv  # noqa: PLC0415  NumPy

        plan = self._plan
        raster = planes.shown(plan, self._source, number)
        convert = yuv.full if self._bits == 10 else yuv.halved
        return list(convert(raster, plan.width, plan.height, alpha=plan.alpha))
