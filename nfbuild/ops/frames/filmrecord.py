"""The composition record: composition id and raster size → its frames, as bytes.

It lets a build whose inputs did not move report and export without baking anything. Layout,
all numbers big-endian: the magic `nfbfilm1`, the number of runs (4 bytes), then per run its length
(4 bytes), frame key (32), frame digest (32) and the first 8 bytes of the scene key. Equal
consecutive frames are one run.

A long film is several records, numbered parts of 4,096 runs each; the first part that has fewer
is the last. So neither writing nor reading one ever holds a long film twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import NamedTuple, overload

from nfbuild.digests import CompositionId, FrameDigest, FrameKey, RecordKey, derive
from nfbuild.errors import Corrupt, Missing

_MAGIC = b"nfbfilm1"
_CONTEXT = "nfbuild 2026 composition record key v1"
_RUN = 4 + 32 + 32 + 8
PART = 4_096


class FilmRun(NamedTuple):
    """`length` consecutive frames with one key, and its answer; `scene` is 16 hex digits."""

    length: int
    key: FrameKey
    digest: FrameDigest
    scene: str


def record_key(identity: CompositionId, width: int, height: int, part: int = 0) -> RecordKey:
    """Return the key of a part of a film at one raster size in pixels."""
    if part == 0:
        return RecordKey(derive(_CONTEXT, identity, width, height))
    return RecordKey(derive(_CONTEXT, identity, width, height, part))


def pack_parts(runs: Iterable[FilmRun]) -> Iterator[bytes]:
    """Yield the payloads of a film's parts, in order; reads `runs` once."""
    source = iter(runs)
    while True:
        chunk = list(islice(source, PART))
        yield pack(chunk)
        if len(chunk) < PART:
            return


def read_parts(payload_of: Callable[[int], bytes | None]) -> Iterator[FilmRun]:
    """Yield the runs of a film; `payload_of` gives a part's payload, None where there is none.

    Raises Corrupt for a damaged part and Missing for an absent one.
    """
    for body in _bodies(payload_of):
        yield from _runs(body)


def read_film(payload_of: Callable[[int], bytes | None]) -> FilmRuns:
    """Return the runs of a whole film; as `read_parts`, but raises before anything is given."""
    return FilmRuns(_bodies(payload_of))


def _bodies(payload_of: Callable[[int], bytes | None]) -> Iterator[bytes]:
    body = bytes(PART * _RUN)
    part = 0
    while len(body) == PART * _RUN:
        payload = payload_of(part)
        if payload is None:
            raise Missing("a part of a composition record is not there", code="film")
        body = _body(payload)
        yield body
        part += 1


class FilmRuns(Sequence[FilmRun]):
    """The runs of a film as they are packed, 76 bytes each; unpacked as they are asked for.

    `frames` is the number of their frames.
    """

    def __init__(self, bodies: Iterable[bytes]) -> None:
        # All but the last are whole parts.
        self._bodies = list(bodies)
        self.frames = sum(
            int.from_bytes(body[at : at + 4], "big")
            for body in self._bodies
            for at in range(0, len(body), _RUN)
        )

    def __len__(self) -> int:
        return sum(map(len, self._bodies)) // _RUN

    def __iter__(self) -> Iterator[FilmRun]:
        return chain.from_iterable(map(_runs, self._bodies))

    @overload
    def __getitem__(self, at: int) -> FilmRun: ...

    @overload
    def __getitem__(self, at: slice) -> list[FilmRun]: ...

    def __getitem__(self, at: int | slice) -> FilmRun | list[FilmRun]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        part, place = divmod(range(len(self))[at], PART)
        return next(_runs(self._bodies[part][place * _RUN : (place + 1) * _RUN]))


def pack(runs: Iterable[FilmRun]) -> bytes:
    """Return the record's payload; reads `runs` once and keeps none of them."""
    body = bytearray(_MAGIC + bytes(4))
    count = 0
    for run in runs:
        body += _packed(run)
        count += 1
    body[len(_MAGIC) : len(_MAGIC) + 4] = count.to_bytes(4, "big")
    return bytes(body)


def _packed(run: FilmRun) -> bytes:
    return (
        run.length.to_bytes(4, "big")
        + bytes.fromhex(run.key)
        + bytes.fromhex(run.digest)
        + bytes.fromhex(run.scene)
    )


def unpack(payload: bytes) -> list[FilmRun]:
    """Return the runs of a payload; raises Corrupt for anything that `pack` does not write."""
    return list(_runs(_body(payload)))


def _body(payload: bytes) -> bytes:
    start = len(_MAGIC) + 4
    if payload[: len(_MAGIC)] != _MAGIC or len(payload) < start:
        raise Corrupt("a composition record is none", code="film")
    count = int.from_bytes(payload[len(_MAGIC) : start], "big")
    if len(payload) != start + count * _RUN:
        raise Corrupt("a composition record is longer or shorter than it says", code="film")
    return payload[start:]


def _runs(body: bytes) -> Iterator[FilmRun]:
    for at in range(0, len(body), _RUN):
        yield FilmRun(
            int.from_bytes(body[at : at + 4], "big"),
            FrameKey(body[at + 4 : at + 36].hex()),
            FrameDigest(body[at + 36 : at + 68].hex()),
            body[at + 68 : at + 76].hex(),
        )


def fold(frames: Iterable[tuple[FrameKey, FrameDigest, str]]) -> Iterator[FilmRun]:
    """Yield consecutive equal frames as runs."""
    for frame, group in groupby(frames):
        yield FilmRun(sum(1 for _ in group), *frame)
