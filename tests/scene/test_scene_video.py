"""Videos in an image: which picture a frame shows, and how it is asked for."""

from fractions import Fraction

import pytest

from nfbuild.dataclasses import replace
from nfbuild.digests import file_digest
from nfbuild.errors import MediaError
from nfbuild.scene.protocols import Clip, NeedsAnswers, Picture, VideoRequest

FRAMES = 20


class Reels:
    """Answers for one clip of two seconds at the rate asked for; `asked` are picture numbers."""

    def __init__(self, *, ready=True, frames=FRAMES):
        self.ready = ready
        self.frames = frames
        self.asked = []

    def clip(self, file, *, rate, place):
        return Clip(8, 4, Fraction(2), self.frames)

    def frame(self, file, number, *, rate, place):
        if not self.ready:
            raise NeedsAnswers([VideoRequest(file, rate, (number,))])
        self.asked.append(number)
        return Picture(file_digest(str(number).encode()), ".png", 8, 4)


def composition(world, attributes, reels):
    with open(f"{world.folder}/clip.mp4", "wb") as file:
        file.write(b"film")
    world.services = replace(world.services, videos=reels)
    return world.text(
        '<svg xmlns="http://www.w3.org/2000/svg" data-width="80" data-height="40" data-fps="10" '
        f'data-duration="3"><image href="clip.mp4" width="80" height="80" {attributes}/></svg>'
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("attributes", "spec"),
    [
        ("", {}),
        ('data-loop="true"', {"loop": True}),
        ('data-speed="0.5"', {"speed": 0.5}),
        ('data-speed="-1" data-in="1.5"', {"speed": -1.0, "in_point": 1.5}),
        ('data-in="0.2" data-loop="true"', {"in_point": 0.2, "loop": True}),
        ('data-speed="0" data-in="0.7"', {"speed": 0.0, "in_point": 0.7}),
    ],
)
def test_a_frame_shows_the_picture_that_the_peer_shows(world, attributes, spec):
    """The nearest picture, half to even, held at the end or looped."""
    from nanoframes.media import MediaCache, MediaResolver, MediaSpec

    reels = Reels()
    made = composition(world, attributes, reels)
    for number in range(made.frames):
        made.bake(number)
    peer = MediaResolver(MediaCache(), 10)
    peer._frames["x"], peer._counts["x"], peer._durations["x"] = "x", FRAMES, 2.0
    theirs = MediaSpec("x", 0.0, 3.0, **spec)

    assert reels.asked == [peer.frame_index(theirs, n / 10) for n in range(made.frames)]


def test_a_video_is_placed_and_dressed_like_a_picture(world):
    """Aspect, fade and the group around it."""
    made = composition(world, 'data-aspect="contain" data-fade="1"', Reels())
    frame = made.bake(5)
    text = frame.document.decode()

    assert '<g opacity="0.5"><image' in text
    assert 'height="40"' in text
    assert frame.pictures[0].name in text
    assert made.inputs.media == {"clip.mp4": file_digest(b"film")}


def test_a_picture_that_is_not_decoded_yet_is_asked_for(world):
    """The question names file, rate and picture."""
    made = composition(world, "", Reels(ready=False))
    with pytest.raises(NeedsAnswers) as caught:
        made.bake(7)

    (request,) = caught.value.requests
    assert (request.rate, request.numbers) == (10, (7,))
    assert request.file.path == "clip.mp4"


def test_a_film_without_a_picture_is_refused(world):
    """A hole is never drawn silently."""
    with pytest.raises(MediaError):
        composition(world, "", Reels(frames=0))
