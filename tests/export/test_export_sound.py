"""Sound under a film: once, from the beginning, exactly as long as the film."""

from __future__ import annotations

import io
import os
import struct
import wave
from fractions import Fraction

import pytest
from export_frames import Frames, numbered

from nfbuild.digests import file_digest
from nfbuild.errors import Place
from nfbuild.export.base import Audio, ExportError
from nfbuild.export.make import export
from nfbuild.export.plan import Subject, resolve
from nfbuild.project.values import Export

av = pytest.importorskip("av")
SIZE = (32, 18)
KINDS = ("mp4", "webm", "mov")


def tone(seconds: float, rate: int = 44_100) -> bytes:
    """A WAV file of a loud square wave."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        count = int(seconds * rate)
        file.writeframes(
            b"".join(struct.pack("<h", 16_000 if i // 50 % 2 else -16_000) for i in range(count))
        )
    return out.getvalue()


def film(tmp_path, kind: str, sound: bytes | None, count: int = 30):
    rasters = [numbered(SIZE, shade) for shade in range(3)]
    order = [i % 3 for i in range(count)]
    frames = Frames(str(tmp_path / "blobs"), rasters, order, SIZE, rate=Fraction(30))
    choice = Export("*", kind, f"out/film.{kind}", Place("nfbuild.toml", 5), audio="tone.wav")
    plan = resolve(choice, Subject("film", *SIZE, frames.rate, count, {}), str(tmp_path))
    audio = None
    if sound is not None:
        path = str(tmp_path / "tone.wav")
        with open(path, "wb") as file:
            file.write(sound)
        audio = Audio(path, file_digest(sound))
    return plan, frames, audio


def loudness(path: str) -> list[float]:
    """Return the mean of the absolute samples in each tenth of a second."""
    with av.open(path) as container:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=48_000)
        samples: list[int] = []
        for frame in container.decode(audio=0):
            frame.pts = None
            for part in resampler.resample(frame):
                samples.extend(part.to_ndarray()[0].tolist())
    return [
        sum(map(abs, samples[at : at + 4800])) / 4800 for at in range(0, len(samples) - 2400, 4800)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_sound_is_cut_off_where_the_film_ends(tmp_path, kind):
    """Three seconds of tone under one second of film: one second, loud throughout."""
    plan, frames, audio = film(tmp_path, kind, tone(3))
    export(plan, frames, str(tmp_path / "state.json"), audio=audio)
    heard = loudness(plan.target)

    assert len(heard) == 10
    assert min(heard[1:-1]) > 8_000


@pytest.mark.parametrize("kind", KINDS)
def test_sound_that_is_too_short_ends_in_silence(tmp_path, kind):
    """Played once, not again from its beginning."""
    plan, frames, audio = film(tmp_path, kind, tone(0.45))
    export(plan, frames, str(tmp_path / "state.json"), audio=audio)
    heard = loudness(plan.target)

    assert len(heard) == 10
    assert min(heard[1:4]) > 8_000
    assert max(heard[6:]) < 300


@pytest.mark.parametrize("kind", KINDS)
def test_another_sound_is_another_film(tmp_path, kind):
    """The content counts: the same file dated anew encodes nothing, another file encodes once."""
    state = str(tmp_path / "state.json")
    plan, frames, audio = film(tmp_path, kind, tone(1))
    assert export(plan, frames, state, audio=audio).written == 1
    os.utime(tmp_path / "tone.wav")
    assert export(plan, frames, state, audio=audio).written == 0
    plan, frames, audio = film(tmp_path, kind, tone(0.9))
    assert export(plan, frames, state, audio=audio).written == 1
    assert export(plan, frames, state, audio=None).written == 1


def test_sound_that_changed_while_the_build_ran_is_refused(tmp_path):
    """The bytes that were hashed are the bytes that are heard, or none are."""
    plan, frames, audio = film(tmp_path, "mp4", tone(1))
    with open(audio.path, "ab") as file:
        file.write(b"x")

    with pytest.raises(ExportError, match="changed while"):
        export(plan, frames, str(tmp_path / "state.json"), audio=audio)
    assert not os.path.exists(plan.target)


@pytest.mark.parametrize("data", [b"", b"no sound at all" * 100, tone(1)[:20]])
def test_a_file_without_sound_is_an_error(tmp_path, data):
    """It names the file as the project does, and says what would do."""
    plan, frames, audio = film(tmp_path, "mp4", data)

    with pytest.raises(ExportError, match=r"`tone\.wav` holds no sound") as caught:
        export(plan, frames, str(tmp_path / "state.json"), audio=audio)
    assert caught.value.place == Place("nfbuild.toml", 5)
    assert not os.listdir(plan.folder)
