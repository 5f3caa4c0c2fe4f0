"""Films without pictures: what a build would record, from names instead of pixels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from nfbuild.digests import FrameDigest
from nfbuild.identity.manifest import Identity
from nfbuild.ledger.entry import Present
from nfbuild.ledger.runs import Runs
from nfbuild.ledger.sequence import SampleHasher, SequenceHasher

LINUX = "linux-x86_64"
MAC = "macos-arm64"


def digest(*words: object) -> str:
    """A digest of 64 digits that stands for what `words` say."""
    return hashlib.sha256("/".join(map(str, words)).encode()).hexdigest()


@dataclass(frozen=True)
class Film:
    """What draws, in words; `pixels` is what came out, one word a frame.

    `scenes` are what each frame shows: equal words are one scene. Frame 5 shows a scene that no
    other frame shows.
    """

    source: Mapping[str, str] = field(default_factory=lambda: {"canvas": "c", "#a": "a"})
    media: Mapping[str, str] = field(default_factory=lambda: {"logo.png": "logo"})
    fonts: Mapping[str, str] = field(default_factory=lambda: {"Sans": "sans"})
    toolchain: Mapping[str, str] = field(
        default_factory=lambda: {"libthorvg": "1", "nfbuild/scene/bake.py": "1"}
    )
    scenes: Sequence[str] = tuple("aabbcdeeffgg")
    pixels: Sequence[str] = tuple("AABBCDEEFFGG")
    drawn: Iterable[int] | None = None
    unsound: tuple[int, ...] = ()
    width: int = 96
    height: int = 54
    rate: Fraction = Fraction(30000, 1001)

    def identity(self) -> Identity:
        """The four parts."""
        return Identity.of(
            **{
                name: {key: digest(word) for key, word in getattr(self, name).items()}
                for name in ("source", "media", "fonts", "toolchain")
            }
        )

    def present(self) -> Present:
        """The film as a build knows it."""
        count = len(self.pixels)
        numbers = set(range(count) if self.drawn is None else self.drawn)
        sampled = self.drawn is not None
        shape = (self.width, self.height, self.rate, count)
        hasher = SampleHasher(*shape) if sampled else SequenceHasher(*shape)
        frames: list[tuple[str, str] | None] = []
        for number, (scene, pixel) in enumerate(zip(self.scenes, self.pixels, strict=True)):
            if number not in numbers:
                frames.append(None)
                continue
            one = digest("pixels", pixel)
            frames.append((digest("scene", scene), one))
            if isinstance(hasher, SampleHasher):
                hasher.add_frame(number, FrameDigest(one))
            else:
                hasher.add(FrameDigest(one))
        return Present(
            identity=self.identity(),
            width=self.width,
            height=self.height,
            rate=self.rate,
            digest=hasher.digest(),
            runs=Runs.of(frames),
            sampled=sampled,
            unsound=self.unsound,
        )

    def but(self, **changes: object) -> Film:
        """This film with some words changed."""
        return replace(self, **changes)

    def edited(self, part: str, name: str, word: str = "moved") -> Film:
        """This film with one named input changed."""
        return replace(self, **{part: {**getattr(self, part), name: word}})

    def flipped(self, *numbers: int, word: str = "!") -> Film:
        """This film with other pixels in some frames, and the same scenes."""
        pixels = [p + word if i in numbers else p for i, p in enumerate(self.pixels)]
        return replace(self, pixels=tuple(pixels))

    def redrawn(self, *numbers: int, word: str = "!") -> Film:
        """This film with another scene, hence other pixels, in some frames."""
        scenes = [s + word if i in numbers else s for i, s in enumerate(self.scenes)]
        return replace(self.flipped(*numbers, word=word), scenes=tuple(scenes))
