"""Films and pictures that a decoder must read: what they show, and that nothing is done twice."""

from __future__ import annotations

import io
from fractions import Fraction

import av
import pytest
from opspace import HEAD
from PIL import Image

from nfbuild.ops.frames import films
from nfbuild.ops.run.answers import Answers
from nfbuild.pixels import png

FLAT = [*range(24, 224, 10)]
"""The luma of the pictures of a film: each is one grey."""


def film_bytes(levels=FLAT, rate=10, container="mp4", codec="libx264", options=None):
    """Return a film of flat greys."""
    file = io.BytesIO()
    with av.open(file, "w", format=container) as out:
        stream = out.add_stream(codec, rate=rate, options=options or {"crf": "1", "g": "5"})
        stream.width, stream.height, stream.pix_fmt = 32, 24, "yuv420p"
        stream.codec_context.thread_count = 1
        for number, level in enumerate(levels):
            frame = av.VideoFrame(32, 24, "yuv420p")
            for plane, value in zip(frame.planes, (level, 128, 128), strict=True):
                plane.update(bytes([value]) * plane.buffer_size)
            frame.pts = number
            frame.time_base = Fraction(1, rate)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return file.getvalue()


def composition(attributes="", duration="1.2", href="clip.mp4", more=""):
    return (
        f'{HEAD} data-duration="{duration}"><rect width="64" height="36" fill="#123"/>'
        f'<image id="clip" href="{href}" x="8" y="6" width="32" height="24" {attributes}/>'
        f"{more}</svg>"
    )


@pytest.fixture
def decoded(monkeypatch):
    """What was decoded: the number of pictures, by the worker's answers."""
    counts = []
    take = Answers._take

    def counted(self, request, value, kept):
        before = self.decoded
        take(self, request, value, kept)
        counts.append(self.decoded - before)

    monkeypatch.setattr(Answers, "_take", counted)
    return counts


MAPPINGS = {
    "in": ('data-in="0.35"', [4, 4, 6, 6, 8, 8, 10, 10, 12, 12]),
    "slow": ('data-speed="0.5"', [0, 0, 1, 2, 2, 2, 3, 4, 4, 4]),
    "backwards": ('data-speed="-1" data-in="0.78"', [8, 7, 6, 5, 4, 3, 2, 1, 0, 0]),
    "held": ('data-in="1.8"', [18, 19, 19, 19, 19, 19, 19, 19, 19, 19]),
    "looped": ('data-in="1.6" data-loop="true"', [16, 17, 18, 19, 0, 1, 2, 3, 4, 5]),
    "looped backwards": (
        'data-in="0.2" data-speed="-1" data-loop="true"',
        [2, 1, 0, 19, 18, 17, 16, 15, 14, 13],
    ),
    "standing": ('data-in="0.3" data-speed="0"', [3] * 10),
}


def greys_of(space, name):
    """The grey of each frame, read from the kept blobs that `build` exports."""
    found = []
    for path in sorted((space.root / "out" / name).iterdir()):
        pixels, width, _ = png.decode(path.read_bytes())
        found.append(round((pixels[4 * (18 * width + 24)] * 219 / 255 + 16 - 24) / 10))
    return found


def test_a_frame_shows_the_picture_that_its_time_maps_to(space):
    """Into the film, slower, backwards, past the end and around: the peer's rule."""
    space.write(
        "nfbuild.toml",
        '[project]\n[[export]]\ncomposition = "*"\nformat = "png"\n'
        'to = "out/{name}/{number:05d}.png"\n',
    )
    space.write("compositions/clip.mp4", film_bytes())
    for name, (attributes, _) in MAPPINGS.items():
        space.compose(name.replace(" ", "-"), composition(attributes, duration="1"))
    ran = space.build()

    assert (ran.exit, ran.report.errors) == (0, [])
    shown = {name: greys_of(space, name.replace(" ", "-")) for name in MAPPINGS}
    assert shown == {name: wanted for name, (_, wanted) in MAPPINGS.items()}


@pytest.mark.oracle
@pytest.mark.process
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("rate", [10, 12, 25])
def test_the_peer_shows_the_same_pictures(tmp_path, space, rate):
    """By the peer's own extraction, where its FFmpeg is installed.

    Halves that binary fractions miss, and lengths that the peer reads rounded, are left out.
    """
    import shutil

    if shutil.which("ffmpeg") is None:
        pytest.skip("the peer extracts with FFmpeg's program, which is not installed")
    from nanoframes.media import MediaCache, MediaResolver
    from nanoframes.parse import parse_file
    from nanoframes.render import render_frame
    from nanoframes.timeline import frame_times

    space.write("compositions/clip.mp4", film_bytes(rate=rate))
    theirs = {}
    names = [name for name in MAPPINGS if rate != 12 or "looped" not in name]
    for name in names:
        attributes, _ = MAPPINGS[name]
        stem = name.replace(" ", "-")
        space.compose(stem, composition(attributes, duration="1"))
        document = parse_file(str(space.root / f"compositions/{stem}.nf.svg"))
        resolver = MediaResolver(MediaCache(str(tmp_path / "cache")), document.composition.fps)
        resolver.prepare(document)
        theirs[name] = []
        for time in frame_times(document.composition):
            image = render_frame(document, time, media_resolver=resolver, warn_blank=False)
            level = image.convert("RGBA").getpixel((24, 18))[0]
            theirs[name].append(round((level * 219 / 255 + 16 - 24) / 10))
    space.write(
        "nfbuild.toml",
        '[project]\n[[export]]\ncomposition = "*"\nformat = "png"\n'
        'to = "out/{name}/{number:05d}.png"\n',
    )
    space.build()

    assert {name: greys_of(space, name.replace(" ", "-")) for name in names} == theirs


def test_a_film_is_decoded_once_and_only_where_it_shows(space, decoded):
    """One question a film, one a picture that some frame shows; later builds ask nothing."""
    space.write("compositions/clip.mp4", film_bytes())
    space.compose("one", composition('data-start="0.2" data-duration="0.3"', duration="0.8"))
    first = space.build()

    assert len(first.rendered) == 5
    assert decoded == [0, 4]
    decoded.clear()
    second = space.build()
    assert (second.rendered, decoded) == ([], [])
    assert space.verify().exit == 0
    assert decoded == [0, 4]


def test_a_new_composition_finds_what_an_old_one_decoded(space, decoded):
    """Pictures of a film are the film's, whoever shows them."""
    space.write("compositions/clip.mp4", film_bytes())
    space.compose("one", composition(duration="0.6"))
    space.build()
    decoded.clear()
    space.compose("two", composition('data-in="0.1" data-aspect="cover"', duration="0.6"))
    second = space.build()

    assert len(second.rendered) == 6
    assert decoded == [1]


def test_a_film_s_bytes_and_its_decoder_are_inputs(space):
    """Of exactly the compositions that show a film."""
    space.write("compositions/clip.mp4", film_bytes())
    space.compose("film", composition(duration="0.4"))
    space.compose("plain")
    space.build()
    entry, other = (
        space.read("ledger/compositions/film.json"),
        space.read("ledger/compositions/plain.json"),
    )
    assert "av.libs/libavcodec" in entry
    assert "PIL/" not in entry
    assert "av/" not in other
    space.write("compositions/clip.mp4", film_bytes([*FLAT[:2], 200, *FLAT[3:]]))
    second = space.build()

    assert second.rendered == [("film", 2)]
    assert [reason["part"] for reason in second.row("film").reasons] == ["media"]


def test_without_the_extra_a_film_is_an_error_that_names_it(space, monkeypatch):
    """Every other composition is built."""
    monkeypatch.setattr(films, "installed", lambda _: False)
    space.write("compositions/clip.mp4", film_bytes())
    space.compose("film", composition())
    space.compose("plain")
    ran = space.build()

    error = ran.report.errors[0]
    assert ran.exit == 3
    assert (error.composition, error.line) == ("film", 1)
    assert "`pip install nfbuild[video]`" in error.hint
    assert ran.row("plain").written


def test_a_film_that_is_none_is_one_message(space):
    """With the file that is wrong."""
    space.write("compositions/clip.mp4", film_bytes()[:700])
    space.compose("film", composition())
    ran = space.build()

    assert (ran.exit, len(ran.report.errors)) == (3, 1)
    assert "`compositions/clip.mp4` cannot be decoded" in ran.report.errors[0].message
    assert ran.report.errors[0].file == "compositions/clip.mp4"


def test_a_film_plays_inside_a_nested_composition(space):
    """On the child's clock."""
    space.write("compositions/clip.mp4", film_bytes())
    space.write("parts/child.nf.svg", composition(duration="1", href="../compositions/clip.mp4"))
    space.compose("film", composition('data-in="0.3"', duration="0.5", href="clip.mp4"))
    space.compose(
        "parent",
        f'{HEAD} data-duration="0.5"><image href="../parts/child.nf.svg" width="64" height="36"'
        ' data-in="0.3"/></svg>',
    )
    ran = space.build()

    assert (ran.exit, len(ran.row("parent").reasons)) == (0, 0)
    assert len({frame for frame in ran.rendered if frame[0] == "parent"}) == 5


# --- stills ---------------------------------------------------------------------------------------


def gif():
    file = io.BytesIO()
    Image.new("P", (16, 12), 3).save(file, "GIF")
    return file.getvalue()


def cmyk():
    file = io.BytesIO()
    Image.new("CMYK", (16, 12), (10, 200, 30, 40)).save(file, "JPEG")
    return file.getvalue()


STILLS = {"dot.gif": gif, "dot.jpg": cmyk}


@pytest.mark.parametrize("name", STILLS)
def test_a_decoded_picture_is_decoded_once(space, decoded, name):
    """The second build draws nothing and decodes nothing; so does a new composition."""
    space.write(f"compositions/{name}", STILLS[name]())
    space.compose("one", composition(duration="0.1", href=name))
    assert len(space.build().rendered) == 1
    assert decoded == [1]
    assert (space.build().rendered, decoded) == ([], [1])
    space.compose("two", composition('data-fade="0.05"', duration="0.1", href=name))

    assert space.build().rendered == [("two", 0)]
    assert decoded == [1]


@pytest.mark.parametrize("name", [*STILLS, "clip.mp4"])
def test_a_decoded_picture_whose_blob_is_gone_is_decoded_again(space, decoded, name):
    """Same pixels under the same name: nothing else notices."""
    space.write(f"compositions/{name}", film_bytes() if name == "clip.mp4" else STILLS[name]())
    space.compose("one", composition(duration="0.1", href=name))
    first = space.build()
    decoded.clear()
    for blob in (space.root / "cache" / "blobs").rglob("*.png"):
        blob.unlink()
    second = space.build("one", recache=False)

    assert sum(decoded) == 1
    assert second.row("one").digest == first.row("one").digest
    assert space.verify().exit == 0


def test_a_picture_whose_blob_is_damaged_is_decoded_again(space, decoded):
    """Damage is found where the bytes are read, after the answer was taken from its record."""
    space.write("compositions/dot.gif", gif())
    space.compose("one", composition(duration="0.1", href="dot.gif"))
    first = space.build()
    decoded.clear()
    for blob in (space.root / "cache" / "blobs").rglob("*.png"):
        blob.chmod(0o644)
        blob.write_bytes(b"\x89PNG nothing")
    space.compose("one", composition(duration="0.1", href="dot.gif", more="<g/>"))
    second = space.build()

    assert second.row("one").digest == first.row("one").digest
    assert second.exit == 0
