"""Text layout by itself: departures from the peer, errors, questions, raster text."""

import io

import pytest
from layout_bench import Bench
from layout_cases import BASE

from nfbuild.digests import file_digest
from nfbuild.errors import MediaError, SourceError
from nfbuild.scene.layout.curve import circle
from nfbuild.scene.layout.lines import units, wrap
from nfbuild.scene.layout.path import PathError, flatten, follows_reference_oddly, outline
from nfbuild.scene.layout.raster import Rastering, is_cacheable, replace
from nfbuild.scene.protocols import NeedsAnswers, Picture
from nfbuild.scene.tree import Element
from nfbuild.scene.xml import parse


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    made = Bench(tmp_path_factory.mktemp("layout"))
    yield made
    made.close()


def text(attributes, words="a b"):
    return parse(f"<text {attributes}>{words}</text>".encode(), "t.svg")


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("M0 0H50", "M0 0L50 0"),
        ("M0 0V50", "M0 0L0 50"),
        ("m5 5h50v50h-50z", "M5 5L55 5L55 55L5 55L5 5"),
    ],
)
def test_a_path_that_the_peer_stops_at_is_read_as_svg_says(written, same):
    """A lone H or V leaves the peer a number too few: then SVG's own reading holds."""
    assert flatten(written).points == flatten(same).points


def test_a_path_that_the_peer_misreads_is_misread():
    """Two numbers of H and V fit together: the peer draws a diagonal, and its pixels hold."""
    assert flatten("M0 0H50V50").points == flatten("M0 0L50 50").points
    assert outline("M0 0H50V50") == outline("M0 0L50 0L50 50")


def test_an_arc_is_part_of_an_ellipse():
    """SVG 1.1 F.6: half a circle, its flags, and radii that are too small."""
    half = flatten("M0 0A50 50 0 0 1 100 0").points
    other = flatten("M0 0A50 50 0 0 0 100 0").points
    grown = flatten("M0 0A1 1 0 0 1 100 0").points

    for points, sign in ((half, -1), (other, 1), (grown, -1)):
        for x, y in points:
            assert (x - 50) ** 2 + y**2 == pytest.approx(2500)
            assert y * sign >= -1e-9
        assert points[-1] == (100.0, 0.0)


def test_an_arc_takes_the_long_way_when_asked():
    """And follows the turn of its ellipse: every point satisfies the ellipse's equation."""
    short = flatten("M0 0A50 50 0 0 1 50 50")
    long = flatten("M0 0a50 50 0 1 1 50 50")

    assert short.distances[-1] == pytest.approx(78.54, rel=1e-3)
    assert long.distances[-1] == pytest.approx(235.6, rel=1e-3)


@pytest.mark.parametrize(
    "d", ["foo", "M", "L5 5", "M0 0C1 2", "M0 0A1 1 0 0 1", "M0 0L1e9 0", "50"]
)
def test_what_is_no_path_is_refused(d, bench):
    """With the element's line, before anything is measured."""
    with pytest.raises(PathError):
        flatten(d)
    with pytest.raises(SourceError, match="data-curve-d") as caught:
        bench.laid_out(text(f'data-curve-d="{d}"'))
    assert caught.value.place.line == 1


@pytest.mark.parametrize(
    ("d", "odd"),
    [
        ("M0 0L9 9C1 2 3 4 5 6Z", False),
        ("M0 0Q1 2 3 4", True),
        ("M0 0L9 9ZL1 1", True),
        ("M0 0H9V9", True),
        ("M0 0H9", False),
        ("M0 0A1 1 0 0 1 9 9", False),
    ],
)
def test_a_path_read_otherwise_than_svg_says_is_told_apart(d, odd):
    """`check` warns of exactly these."""
    assert follows_reference_oddly(d) is odd


@pytest.mark.parametrize(
    "attributes",
    [
        'data-wrap=""',
        'data-wrap="wide"',
        'data-fit="50%"',
        'data-bg="red" x="1 2 3"',
        'data-bg="red" font-size="2em"',
        'data-bg="red" data-bg-rx="round"',
        'data-bg="red" data-bg-pad-x="1e999"',
        'data-curve-circle="1,2"',
        'data-curve-circle="a,b,c"',
    ],
)
def test_a_value_that_is_no_number_is_an_error(bench, attributes):
    """A chip of a guessed size is worse than none; the message names attribute and element."""
    with pytest.raises(SourceError) as caught:
        bench.laid_out(text(attributes))

    assert str(caught.value.place) == "test.svg:1"
    assert attributes.rpartition(" ")[2].partition("=")[0] in caught.value.message


def test_a_size_in_px_is_a_number(bench):
    """The peer stops at `20px`; it means what 20 means."""
    plain, _ = bench.laid_out(text('font-size="20" data-bg="red"'))
    px, _ = bench.laid_out(text('font-size="20px" data-bg="red" x="0px"'))

    assert plain[0].attributes == px[0].attributes


def test_characters_of_spans_and_markup_are_laid_out_too(bench):
    """The peer loses what stands after a child, and stops at an ampersand."""
    whole, _ = bench.laid_out(text('data-wrap="500"', "a<tspan>b c</tspan> d &amp; &lt;e"))

    assert [line.text for line in whole[0].children] == ["ab c d & <e"]


def test_a_paragraph_takes_few_rounds_of_questions(bench):
    """Guesses let a layout go on asking: a dozen lines in a handful of rounds, not a hundred."""
    words = "the quick brown fox jumps over the lazy dog and runs away into the wood " * 3
    _, rounds = bench.laid_out(text(f'{BASE} data-wrap="180" data-bg="red"', words))
    _, again = bench.laid_out(text(f'{BASE} data-wrap="180" data-bg="red"', words))

    assert 0 < rounds <= 6
    assert again == 0


def test_a_fit_takes_few_rounds_of_questions(bench):
    """A bisection of seven steps is not seven rounds."""
    _, rounds = bench.laid_out(text(f'{BASE} data-fit="123"', "fitted into the narrow lane"))

    assert 0 < rounds <= 4


def test_a_group_is_not_touched_while_answers_are_missing(bench):
    """Whoever called asks again with the same group."""
    from nfbuild.scene.layout import apply
    from nfbuild.scene.protocols import LayoutContext

    group = Element("g", children=[text('data-bg="#123456"', "never asked before")])
    context = LayoutContext("t.svg", 9, 9, bench, lambda element: bench.face)
    with pytest.raises(NeedsAnswers):
        apply(group, context)

    assert [child.tag for child in group.children] == ["text"]


def test_measuring_counts_what_is_half_covered(bench):
    """A hairline of a quarter pixel's grey is no ink; the peer's threshold is exactly half."""
    box = bench.settled(lambda ruler: ruler.box("漢字", 31.52))

    # Measured with the peer; counting 127/255 as ink would make it 60.
    assert box.width == 59.0


def test_a_circle_begins_one_step_late():
    """As the format has it: 240 points, the first at 1.5 degrees."""
    points = circle(0.0, 0.0, 100.0, 0.0).points

    assert len(points) == 240
    assert points[0] == pytest.approx((99.96573, 2.6176948))
    assert points[-1] == pytest.approx((100.0, 0.0), abs=1e-9)


def test_units_are_words_and_ideographs():
    """And a blank before a word is remembered until an ideograph."""
    shown = [(unit.glue, unit.text) for unit in units(" ab 漢字 c漢")]

    assert shown == [(" ", "ab"), (" ", "漢"), ("", "字"), (" ", "c"), (" ", "漢")]


def test_a_line_is_never_wider_than_its_box_but_for_single_characters():
    """With a ruler of ten px a character."""
    lines = wrap("some words and incomprehensibilities", 95.0, lambda run: 10.0 * len(run))

    assert lines == ["some", "words and", "incompreh", "ensibilit", "ies"]


class Handler:
    """A handler that draws one colour, or nothing."""

    def __init__(self, data, identity="one"):
        self.data = data
        self.identity = identity
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        return self.data


def png(width, height):
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGBA", (width, height), (255, 0, 0, 255)).save(buffer, "PNG")
    return buffer.getvalue()


def replaced(attributes, handler, size=(40, 20)):
    def prepare(file, place):
        return Picture(file_digest(file.data), ".png", *size)

    return replace(text(attributes, "hi <tspan>x</tspan> y"), Rastering(handler, prepare), "t.svg")


@pytest.mark.parametrize(
    ("attributes", "image"),
    [
        ("", "80 40 40 20"),
        ('data-anchor="top-left"', "100 50 40 20"),
        ('data-anchor="bottom-right"', "60 30 40 20"),
        ('data-anchor="middle-left"', "100 40 40 20"),
        ('data-anchor="top-center"', "80 50 40 20"),
        ('data-width="10"', "95 47.5 10 5"),
        ('data-height="60"', "40 20 120 60"),
        ('data-width="100" data-height="60"', "50 25 100 50"),
    ],
)
def test_raster_text_stands_where_the_peer_puts_it(attributes, image):
    """The boxes are the peer's for a picture of 40 x 20, asked of its `bake_svg`."""
    group, picture = replaced(f'x="100" y="50" data-raster="k" {attributes}', Handler(png(40, 20)))
    (drawn,) = group.children

    shown = " ".join(drawn.attributes[name] for name in ("x", "y", "width", "height"))
    assert shown == image
    assert drawn.attributes["href"] == picture.name == f"{file_digest(png(40, 20))}.png"


def test_raster_text_turns_about_its_anchor_and_keeps_its_group():
    """Transform, opacity and name stay with the group around the picture."""
    attributes = (
        'id="a" x="100" y="50" data-raster="k" data-yaw="30" transform="scale(2)" fill="red"'
    )
    group, _ = replaced(attributes, Handler(png(40, 20)))

    assert group.attributes == {"id": "a", "transform": "scale(2)"}
    assert group.children[0].attributes["transform"] == "rotate(30 100 50)"


def test_a_handler_is_told_the_words_and_the_wishes():
    """All words, children's too."""
    handler = Handler(png(4, 4))
    replaced('data-raster="tex" font-size="33" fill="red" data-own="1"', handler)
    (request,) = handler.requests

    assert (request.text, request.kind, request.font_size) == ("hi x y", "tex", 33.0)
    assert (request.fill, request.attributes["data-own"]) == ("red", "1")


def test_a_handler_that_draws_nothing_leaves_the_text():
    """It is then drawn by font; a text without `data-raster` is not even offered."""
    silent = Handler(None)

    assert replaced('data-raster="k"', silent) is None
    assert replaced("", silent) is None
    assert len(silent.requests) == 1


def test_a_handler_must_return_png_and_know_the_anchors():
    """Both name the element."""
    with pytest.raises(MediaError, match="PNG"):
        replaced('data-raster="k"', Handler(b"GIF89a"))
    with pytest.raises(SourceError, match="middle"):
        replaced('data-raster="k" data-anchor="middle"', Handler(png(4, 4)))


def test_only_a_handler_with_an_identity_may_be_cached():
    """Without one nobody can tell when it would draw something else."""
    assert is_cacheable(None)
    assert is_cacheable(Handler(b"", "v1"))
    assert not is_cacheable(Handler(b"", None))
