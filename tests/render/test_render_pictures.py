"""The judgement of `pixels.sniff`, held by drawing: what ThorVG may have as it is, and what not."""

import pixels_pictures
import pytest
import render_children as children
from render_children import run

from nfbuild.digests import file_digest
from nfbuild.pixels.sniff import sniff
from nfbuild.render.tasks import DecodeTask, DrawTask, Setup

pytestmark = pytest.mark.process

PLACES = (b'width="32" height="24"', b'width="90" height="31" transform="rotate(11)"')


def shown(staging, names):
    """The digests of a few drawings of each picture: at its own size, and scaled and turned."""
    tasks = []
    for name in names:
        for place in PLACES:
            document = b'<svg viewBox="0 0 96 40"><image href="%s" %s/></svg>'
            tasks.append(DrawTask(document % (name.encode(), place), 96, 40))
    drawn = run(children.draw, str(staging), {}, tasks)
    return dict(zip(names, zip(drawn[::2], drawn[1::2], strict=True), strict=True))


@pytest.fixture
def both(staging):
    """Drawings of every picture of a table as it is, and of what it is decoded to."""

    def draw(table):
        original, decoded = {}, {}
        tasks = [DecodeTask(data, name=name) for name, data in table.items()]
        answers = run(children.perform, Setup(str(staging)), tasks)
        for (name, data), answer in zip(table.items(), answers, strict=True):
            original[name] = f"{file_digest(data)}{sniff(data).suffix}"
            (staging / original[name]).write_bytes(data)
            decoded[name] = f"{answer.digest}.png"
        found = shown(staging, sorted({*original.values(), *decoded.values()}))
        return {name: (found[original[name]], found[decoded[name]]) for name in table}

    return draw


def test_what_is_left_alone_is_drawn_as_decoded(both):
    """Byte for byte, straight and turned; but for a PNG's own gamma, which only ThorVG honours."""
    found = both(pixels_pictures.DRAWN_RIGHT)
    differing = {name for name, (original, decoded) in found.items() if original != decoded}

    assert differing == {"gamma.png"}


def test_what_is_decoded_would_be_drawn_wrong_or_is_drawn_equal(both):
    """Of the kinds that are decoded, four are drawn right by this build of the library too."""
    found = both(pixels_pictures.NEEDS_DECODING)
    nothing = both({"clear.png": pixels_pictures.saved(pixels_pictures.RGBA * 0, "PNG")})
    empty = nothing["clear.png"][0]
    equal = {name for name, (original, decoded) in found.items() if original == decoded}
    holes = {name for name, (original, _) in found.items() if original == empty}

    assert all(decoded != empty for _, decoded in found.values())
    assert equal == {"palette.png", "interlaced.png", "grey.jpg", "still.webp", "lossless.webp"}
    assert holes == {"cmyk.jpg", "animated.webp", "a.gif", "a.bmp", "a.tif", "cmyk.tif"}
