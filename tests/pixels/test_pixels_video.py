"""Films: decoding from a keyframe is decoding from the start, and the rate is the peer's."""

import io
import random
from fractions import Fraction

import av
import numpy as np
import pytest
from pixels_films import FILMS, HEIGHT, WIDTH, X264, film

from nfbuild.errors import MediaError
from nfbuild.pixels import video
from nfbuild.pixels.samples import straight

MOST = 10_000_000


def every_picture(data):
    """All pictures as PyAV gives them when a file is read from its start, in its own way."""
    with av.open(io.BytesIO(data)) as container:
        stream = container.streams.video[0]
        context = stream.codec_context
        if any(name.lower() == "alpha_mode" for name in stream.metadata):
            context = av.CodecContext.create("libvpx-vp9", "r")
            context.extradata = stream.codec_context.extradata
        context.thread_count = 1
        frames = []
        for packet in container.demux(stream):
            for frame in context.decode(packet if packet.size else None):
                frames.append(straight(frame, name="film").pixels)  # noqa: PERF401  reads on
        return frames


def shown(data, rate, numbers):
    found = video.pictures(data, Fraction(rate), numbers, max_pixels=MOST)
    return {number: picture.pixels for number, picture in found}


@pytest.mark.parametrize("kind", FILMS)
def test_any_picture_alone_is_the_one_that_decoding_from_the_start_gives(kind):
    """Closed and open groups, pictures predicted from later ones, hidden ones, alpha."""
    data = film(30, **FILMS[kind])
    whole = every_picture(data)
    alone = [shown(data, 25, [number])[number] for number in range(30)]
    some = shown(data, 25, [3, 4, 19, 26, 27])

    assert video.describe(data, Fraction(25), max_pixels=MOST) == video.VideoFacts(
        WIDTH, HEIGHT, Fraction(30, 25), 30
    )
    assert len(set(whole)) == 30
    assert [mine == other for mine, other in zip(alone, whole, strict=True)] == [True] * 30
    assert some == {number: whole[number] for number in (3, 4, 19, 26, 27)}


def test_alpha_is_read():
    """The second picture of a VP9 file is the alpha of the first."""
    picture = np.frombuffer(
        shown(film(9, **FILMS["vp9 with alpha"]), 25, [4])[4], np.uint8
    ).reshape(HEIGHT, WIDTH, 4)

    assert abs(int(picture[5, 5, 3]) - 92) <= 13
    assert picture[-5, -5, 3] == 255


def test_only_what_is_needed_is_decoded(monkeypatch):
    """From the keyframe before the first picture to the last one, and nothing behind it."""
    used = []
    feed = video._Film.feed

    def counted(self, start):
        for position, frames in feed(self, start):
            used.append(position - 1)
            yield position, frames

    monkeypatch.setattr(video._Film, "feed", counted)
    data = film(200, options=X264["closed, no B"])
    shown(data, 25, [72, 73, 180])

    assert used == [*range(70, 74), *range(175, 181)]


def levels(numbers, data, rate):
    """The number of the film's picture that shows at each place: a flat grey tells it."""
    found = shown(data, rate, numbers)
    return [round((found[number][0] * 219 / 255 - 4) / 5) for number in numbers]


def flat(number, width, height):
    return [
        np.full((height, width), 20 + 5 * number, np.uint8),
        *[np.full((height // 2, width // 2), 128, np.uint8)] * 2,
    ]


EXACT = {"crf": "1", "preset": "ultrafast"}
UNEVEN = [0, 40, 250, 260, 500, 700, 940, 1000]

# What `ffmpeg -vf fps=RATE` extracts from the same films.
RATES = {
    "fewer": (10, {"count": 20}, [1, 3, 6, 8, 11, 13, 16, 18]),
    "more": (30, {"count": 8}, [0, 1, 2, 2, 3, 4, 5, 6, 7, 7]),
    "nearly as many": (
        25,
        {"count": 20, "rate": 24},
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12, 13, 14, 15, 16, 17, 18, 19],
    ),
    "uneven times": (
        10,
        {"count": 8, "times": UNEVEN, "base": Fraction(1, 1000), "container": "matroska"},
        [1, 1, 1, 3, 3, 4, 4, 5, 5, 6],
    ),
    "a late start": (
        10,
        {"count": 8, "times": [300 + t for t in UNEVEN], "base": Fraction(1, 1000)},
        [1, 1, 1, 3, 3, 4, 4, 5, 5, 6],
    ),
}


@pytest.mark.parametrize("kind", RATES)
def test_a_rate_shows_the_pictures_that_the_peer_extracts(kind):
    """The nearest place, the last picture at or before a place, the length rounded."""
    rate, making, wanted = RATES[kind]
    data = film(options=EXACT, picture=flat, **making)

    assert video.describe(data, Fraction(rate), max_pixels=MOST).frames == len(wanted)
    assert levels(range(len(wanted)), data, rate) == wanted


def test_a_number_past_the_end_is_the_last_picture():
    """Whoever asks past the end sees the film hold."""
    data = film(4)

    assert shown(data, 25, [99])[99] == shown(data, 25, [3])[3]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "media.damaged"),
        (b"#EXTM3U\n#EXTINF:1,\nhttp://example.org/a.ts\n", "media.damaged"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "media.damaged"),
        (film(5)[:900], "media.damaged"),
        (b"\0\0\0\x18ftypmp42" + bytes(50), "media.damaged"),
    ],
    ids=["empty", "playlist", "list of files", "cut off", "nothing in it"],
)
def test_what_is_no_film_is_refused(data, code):
    """A message, and no other file is ever looked at."""
    with pytest.raises(MediaError) as caught:
        video.describe(data, Fraction(25), max_pixels=MOST, name="clip.mp4")

    assert caught.value.code == code
    assert "`clip.mp4`" in caught.value.message


def test_a_film_larger_than_the_limit_is_refused():
    """The limit is on one picture, and it is named."""
    with pytest.raises(MediaError, match="64 x 48 pixels, more than 3000"):
        video.describe(film(2), Fraction(25), max_pixels=3000)


@pytest.mark.parametrize("kind", ["h264 open, B", "vp9 with alpha", "mpeg4 in avi"])
def test_a_damaged_film_is_pictures_or_one_error(kind):
    """Cut off, or with bits flipped anywhere and in its head."""
    rng = random.Random(5)
    whole = film(9, **FILMS[kind])
    refused = 0
    for number in range(60):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 2, 40))):
            data[rng.randrange(len(data) if number % 2 else 700)] ^= 1 << rng.randrange(8)
        if number % 3 == 0:
            del data[rng.randrange(len(data)) :]
        try:
            facts = video.describe(bytes(data), Fraction(25), max_pixels=MOST)
            assert len(shown(bytes(data), 25, range(min(facts.frames, 9)))) > 0
        except MediaError:
            refused += 1

    assert 0 < refused < 60


def test_sound_alone_is_no_film():
    """A file without moving pictures says so."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as out:
        stream = out.add_stream("aac", rate=8000)
        stream.layout = "mono"
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.planes[0].update(bytes(4096))
        frame.sample_rate = 8000
        frame.pts = 0
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    with pytest.raises(MediaError, match="no moving picture"):
        video.describe(file.getvalue(), Fraction(25), max_pixels=MOST)


@pytest.mark.parametrize(
    ("kind", "sample", "wanted"),
    [
        ("rgb24", [10, 20, 30], [10, 20, 30, 255]),
        ("bgra", [30, 20, 10, 77], [10, 20, 30, 77]),
        ("argb", [77, 10, 20, 30], [10, 20, 30, 77]),
        ("gray", [126], [128, 128, 128, 255]),
    ],
)
def test_packed_pixels_are_taken_as_they_are(kind, sample, wanted):
    """No conversion where there is nothing to convert."""
    frame = av.VideoFrame(6, 4, kind)
    plane = frame.planes[0]
    row = bytes(sample * 6).ljust(plane.line_size, b"\0")
    plane.update(row * 4)

    assert straight(frame, name="film").pixels == bytes(wanted * 24)


def test_ten_bits_are_rounded_to_eight():
    """Half a step up, and never past the end."""
    frame = av.VideoFrame(4, 2, "gbrp10le")
    for plane, value in zip(frame.planes, (1023, 402, 401), strict=True):
        plane.update(value.to_bytes(2, "little") * (plane.buffer_size // 2))

    assert straight(frame, name="film").pixels[:4] == bytes([100, 255, 101, 255])


def test_what_cannot_be_read_right_is_refused():
    """A layout without a conversion of ours is an error that says what to save."""
    with pytest.raises(MediaError, match="`yuv410p`"):
        straight(av.VideoFrame(8, 8, "yuv410p"), name="film")
