"""Every normalisation draws the same bytes of pixels as what the author wrote."""

import random

import pytest
from rasterizer import Rasterizer

from nfbuild.scene.colour import NAMED
from nfbuild.scene.normal import (
    normal_number,
    normal_path,
    normal_points,
    normal_text,
    normal_transform,
    normal_value,
)

pytestmark = pytest.mark.process

SIDE = 24


def document(body, attributes=""):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}" width="{SIDE}" '
        f'height="{SIDE}" {attributes}>{body}</svg>'
    ).encode()


@pytest.fixture(scope="module")
def draw(tmp_path_factory, peer_face):
    rasterizer = Rasterizer(tmp_path_factory.mktemp("staging"), [("face", peer_face.data)])

    def draw(body):
        rows = rasterizer.draw(document(body), SIDE, SIDE)
        assert isinstance(rows, bytes), rows
        return rows

    yield draw
    rasterizer.close()


def spellings(source, count):
    """Yield ways to write numbers, whole and broken, as authors do."""
    for _ in range(count):
        digits = source.randint(0, 6)
        whole = source.randint(0, 10 ** min(digits, 4))
        fraction = "".join(source.choice("0123456789") for _ in range(source.randint(0, 6)))
        text = f"{whole}.{fraction}" if fraction else source.choice([f"{whole}", f"{whole}."])
        if text.startswith("0.") and fraction and source.random() < 0.5:
            text = text[1:]
        yield (
            source.choice(["", "", "-", "+", "00"])
            + text
            + source.choice(["", "0"]) * ("." in text)
        )


def test_a_number_in_its_one_spelling_is_the_same_number(draw):
    """Magnified so far that the last bit of a single precision number shows."""
    source = random.Random(1)
    for text in spellings(source, 400):
        normal = normal_number(text)
        near = float(text)
        body = (
            '<g transform="scale(65536 1) translate({} 0)"><rect x="{}" y="1" width="0.0002" '
            'height="9"/></g>'
        )

        assert draw(body.format(f"{-near:.7g}", text)) == draw(body.format(f"{-near:.7g}", normal))


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1.0", "1"),
        (" +1.50 ", "1.5"),
        (".5", "0.5"),
        ("-0.0", "0"),
        ("007", "7"),
        ("5.", "5."),
        ("1e1", "1e1"),
        ("10px", "10px"),
        ("50%", "50%"),
        ("12345678", "12345678"),
        ("0.12345678", "0.12345678"),
        ("", ""),
        (".", "."),
        ("-", "-"),
        ("\u0661", "\u0661"),
    ],
)
def test_only_plain_short_numbers_are_respelled(text, normal):
    """What could be another number to the rasterizer stays as it is."""
    assert normal_number(text) == normal


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_colour_name_is_the_colour_of_its_digits(draw, name):
    """The table of names holds the rasterizer's colours."""
    digits = NAMED[name]

    assert draw(f'<rect width="9" height="9" fill="{name}"/>') == draw(
        f'<rect width="9" height="9" fill="{digits}"/>'
    )


COLOURS = [
    *("#ABC", "#aBcDeF", " red ", "RED", "rgb(1,2,3)", "rgb( 10 , 20,30 )", "rgb(300,0,0)"),
    *("#abcd", "#aabbccdd", "rgba(1,2,3,0.5)", "none", "None", "transparent", "currentColor"),
    *("url(#x)", "hsl(10,20%,30%)", "rgb(10%,20%,30%)", "inherit", "", "#12", "mediumpurple"),
]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_colour_in_its_one_spelling_is_the_same_colour(draw, colour):
    """Also the ones that no rule reads, which stay as they are."""
    body = '<rect width="20" height="20" {}="{}" stroke-width="4"/>'
    for name in ("fill", "stroke"):
        value = normal_value(name, colour)

        assert draw(body.format(name, colour)) == draw(body.format(name, value))


TRANSFORMS = [
    *("translate(3 4)", "translate( 3 , 4 )", "translate(3)", "scale(2.0)", "scale(2,0.5)"),
    *("rotate(20.0 3,4)", "rotate(20,3 4)rotate(.5)", "skewX(10.)\nskewY(5)", "translate (1,2)"),
    *("matrix(1 0.1 0.2 1 3.50 4)", "translate(1,2),scale(2)", "translate(1 2) foo(3)", "junk"),
    *("translate(1,2,3)", "translate()", "rotate(1,2)", "translate(1e1,2)", "TRANSLATE(1,2)"),
    *("translate(3px,4px)", "translate(3-4)", "translate(1,2", "", " ", "rotate(20deg)"),
    *("translate(1,,2)", "scale(2)scale(3)", ",translate(1,2)", "translate(1,2),"),
]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_transform_list_in_its_one_spelling_is_the_same_transform(draw, transform):
    """Also lists with mistakes, which the rasterizer reads its own way."""
    body = '<rect x="2.3" y="1.7" width="7" height="5" transform="{}"/>'

    assert draw(body.format(transform)) == draw(body.format(normal_transform(transform)))


def test_random_transform_lists_in_their_one_spelling_are_the_same(draw):
    """Every function, several in a row, with every way to write the numbers."""
    source = random.Random(2)
    arities = {
        "translate": (1, 2),
        "scale": (1, 2),
        "rotate": (1, 3),
        "skewX": (1,),
        "matrix": (6,),
    }
    for _ in range(200):
        parts = []
        for _ in range(source.randint(1, 4)):
            name = source.choice(sorted(arities))
            numbers = [
                f"{source.uniform(-9, 9):.{source.randint(0, 5)}f}"
                for _ in range(source.choice(arities[name]))
            ]
            joint = source.choice([",", " ", " , ", "\n"])
            parts.append(f"{name}({joint.join(numbers)})")
        text = source.choice([" ", "", ", ", "\n"]).join(parts)
        body = '<rect x="2.3" y="1.7" width="7" height="5" transform="{}"/>'

        assert draw(body.format(text)) == draw(body.format(normal_transform(text)))


def test_random_paths_in_their_one_spelling_are_the_same(draw):
    """Letters, separators and numbers as authors mix them."""
    source = random.Random(3)
    arities = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "Z": 0}
    for _ in range(300):
        text = "M2 3"
        for _ in range(source.randint(1, 6)):
            letter = source.choice(sorted(arities))
            count = arities[letter] * source.choice([1, 1, 2])
            numbers = list(spellings(source, count))
            numbers = [n if abs(float(n)) < 40 else "7.5" for n in numbers]
            text += source.choice([" ", ""]) + source.choice([letter, letter.lower()])
            text += source.choice([" ", ",", " , ", "\n"]).join(numbers)
        body = '<path d="{}" stroke="red" fill="#808080"/>'

        assert draw(body.format(text)) == draw(body.format(normal_path(text)))


@pytest.mark.parametrize(
    "path",
    [
        *("M0 0L10-5-6-7", "M0 0L.5.6 9 9", "M1e1 1E1L20 5", "M0 0a5 5 0 01 10 10", "M 0,0,9,9"),
        *("M0 0 A 5 5 0 0 1 10 10 L 3 3", "10 10", "L 5 5", "M0 0 L 9 x 5 5", "", "M", "M0 0 L 9"),
        *(
            "M0 0L9 9zL0 9",
            "M+5+5L9-1",
            "M0 0 9 9 9 0Z",
            "M0 0,L9 9 0 9",
            "M0 0 H9V9H0",
            "M-.5-.5L9 9",
        ),
    ],
)
def test_an_odd_path_in_its_one_spelling_is_the_same_path(draw, path):
    """Numbers that run together, flags, mistakes."""
    body = '<path d="{}" stroke="red" fill="#808080"/>'

    assert draw(body.format(path)) == draw(body.format(normal_path(path)))


@pytest.mark.parametrize(
    "points",
    [
        "0 0 9 9 0 9",
        "0,0,9,9,0,9",
        "0.0,0 9.50,9\n0 9 ",
        "0 0 9-5 0 9",
        "0 0 9",
        "",
        "0;0 9 9",
        "1e1 0 9 9 0 9",
    ],
)
def test_points_in_their_one_spelling_are_the_same_points(draw, points):
    """Pairs, odd counts, mistakes."""
    body = '<polygon points="{}" stroke="red"/>'

    assert draw(body.format(points)) == draw(body.format(normal_points(points)))


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "y",
        "width",
        "height",
        "rx",
        "ry",
        "stroke-width",
        "opacity",
        "fill-opacity",
        "stroke-opacity",
    ],
)
@pytest.mark.parametrize(
    "value", ["4.0", ".50", "+3", " 2 ", "", "x", "1e0", "50%", "3px", "-1", "2.", "NaN"]
)
def test_a_numeric_attribute_in_its_one_spelling_is_the_same(draw, name, value):
    """The rule for numbers holds on each attribute that it is used for."""
    attributes = {"x": "3", "y": "4", "width": "9", "height": "8", "stroke": "red"}
    body = "<rect {}/>"

    def written(text):
        return body.format(" ".join(f'{n}="{v}"' for n, v in {**attributes, name: text}.items()))

    assert draw(written(value)) == draw(written(normal_value(name, value)))


@pytest.mark.parametrize(
    "text", ["a b", " a  b ", "\n a\n\t b\n", "a\r\nb", "\u00a0a\u00a0 b", "a\u2003b", "  ", "a\fb"]
)
def test_a_text_in_its_one_spelling_is_the_same_text(draw, text):
    """Blanks, tabs and line ends run together; other white space is a character."""
    body = '<text x="1" y="15" font-size="10">{}</text>'

    assert draw(body.format(text)) == draw(body.format(normal_text(text)))
