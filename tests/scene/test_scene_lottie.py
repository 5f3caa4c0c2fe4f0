"""Lottie scenes: what is read, what is refused, and what reaches the rasterizer."""

import json
from fractions import Fraction

import pytest
from lottie_bench import (
    Memory,
    archive,
    box,
    data_url,
    draw_all,
    expressed,
    face_of,
    layer,
    load,
    moving,
    png,
    scene,
    words,
)

from nfbuild.errors import CompositionError, MediaError, ProjectError, SourceError, UsageError
from nfbuild.scene.lottie import load_lottie, parse_background
from nfbuild.scene.protocols import Limits, NeedsAnswers

GREEN = png((0, 200, 0, 255))
PICTURE = layer(2, "pic", refId="im")


def asset(path, **members):
    return {"id": "im", "w": 8, "h": 8, "u": "", "p": path, "e": 0, **members}


@pytest.mark.parametrize(
    ("members", "frames"),
    [
        ({"op": 10}, 10),
        ({"op": 10.5}, 10),
        ({"op": 9.2}, 9),
        ({"ip": 0.5, "op": 10}, 9),
        ({"ip": 0.5, "op": 10.5}, 10),
        ({"ip": -3, "op": 4}, 7),
        ({"ip": None, "op": 4}, 4),
        ({"op": 0.4}, 1),
        ({"ip": 0.1, "op": 0.3}, 1),
        ({"ip": 0.1, "op": 3.1}, 3),
    ],
)
def test_a_scene_has_the_whole_frames_between_its_points(members, frames):
    """`floor(op - ip)` of the exact numbers: 3.1 - 0.1 is 3, which doubles would miss."""
    assert load(scene(**members)).frames == frames


@pytest.mark.parametrize("rate", ["29.97", "23.976", "7", "12.5", "6e1"])
def test_a_rate_is_its_decimal_text(rate):
    """29.97 is 2997/100, not the nearest double."""
    text = json.dumps(scene()).replace('"fr": 10', f'"fr": {rate}')
    composition = load(text.encode())

    assert composition.rate == Fraction(rate)
    assert composition.time(3) == 3 / Fraction(rate)


@pytest.mark.parametrize(
    ("members", "fact"),
    [
        ({"fr": 0}, "frame rate"),
        ({"fr": None}, "frame rate"),
        ({"fr": -5}, "frame rate"),
        ({"fr": "30"}, "frame rate"),
        ({"op": None}, "`op`"),
        ({"op": "10"}, "`op`"),
        ({"ip": "0"}, "`ip`"),
        ({"ip": 10, "op": 2}, "before it has begun"),
        ({"ip": 5, "op": 5}, "before it has begun"),
        ({"w": None}, "`w`"),
        ({"h": 0}, "`h`"),
        ({"w": 1e9}, "`w`"),
        ({"w": 16000, "h": 16000}, "pixels"),
        ({"op": 1e7}, "frames"),
        ({"layers": []}, "layers"),
        ({"layers": None}, "layers"),
    ],
)
def test_a_scene_that_means_nothing_is_refused(members, fact):
    """Each with the member that is wrong, and a hint."""
    with pytest.raises(SourceError, match=fact) as caught:
        load(scene(**members))

    assert caught.value.place.file == "scene.json"
    assert caught.value.hint


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"w": NaN}',
        b"\xff\xfe\xfa",
        b'{"a":' + b"[" * 300 + b"]" * 300 + b"}",
        b"[" * 100_000,
        b"PK\x03\x04 no archive",
    ],
)
def test_what_is_no_scene_is_refused(data):
    """Broken text never reaches the rasterizer."""
    with pytest.raises(SourceError):
        load(data)


@pytest.mark.parametrize(
    ("assets", "circle"),
    [
        ([("a", "a")], "a > a"),
        ([("a", "b"), ("b", "a")], "a > b > a"),
        ([("a", "b"), ("b", "c"), ("c", "b")], "b > c > b"),
    ],
)
def test_a_precomposition_that_holds_itself_is_refused(assets, circle):
    """It would kill the rasterizer; the message shows the circle."""
    inner = [{"id": name, "layers": [layer(0, "x", refId=held, w=9, h=9)]} for name, held in assets]
    with pytest.raises(SourceError, match=circle):
        load(scene(layer(0, "start", refId="a", w=9, h=9), assets=inner))


def test_an_unused_precomposition_may_not_matter_but_a_bomb_does():
    """Thirty levels of ten references each unfold to more than any machine holds."""
    bomb = [
        {"id": f"{n}", "layers": [layer(0, "x", refId=f"{n + 1}", w=9, h=9)] * 10}
        for n in range(30)
    ]
    with pytest.raises(SourceError, match="unfolds"):
        load(scene(layer(0, "x", refId="0", w=9, h=9), assets=bomb))

    assert load(scene(box(), assets=bomb)).frames == 10


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[time * 10, 20]", True),
        ("Math.random() * 9", True),
        ("thisComp.update; myDate; Dated; $Date", True),
        ("", False),
    ],
)
def test_expressions_are_noticed(text, found):
    """A scene with expressions is drawn alone."""
    baked = load(scene(expressed(text))).bake(0)

    assert baked.lottie.expressions is found


@pytest.mark.parametrize(
    "text", ["new Date()", "Date.now()", "var d=Date;d()", "this['Date']", "D\\u0061te.now()"]
)
def test_an_expression_that_reads_the_clock_is_refused(text):
    """A frame must not depend on when it is drawn."""
    with pytest.raises(SourceError, match="Date"):
        load(scene(expressed(text)))


def test_eases_and_split_positions_are_no_expressions():
    """Their member `x` is a list, a number or an object."""
    split = box()
    split["ks"]["p"] = {"s": True, "x": {"a": 0, "k": 5}, "y": {"a": 0, "k": 9}}

    assert load(scene(moving(), split)).bake(0).lottie.expressions is False


def test_markers_name_ranges_of_frames():
    """From the frame at or after `tm`, as long as `dr`; what lies outside is clipped or dropped."""
    marks = [
        {"cm": "a", "tm": 3, "dr": 2},
        {"cm": "point", "tm": 5.5, "dr": 0},
        {"cm": "long", "tm": 8, "dr": 99},
        {"cm": "before", "tm": -9, "dr": 12},
        {"cm": "gone", "tm": 50, "dr": 1},
        {"tm": 1, "dr": 1},
    ]
    composition = load(scene(ip=1, op=11, markers=marks))

    assert composition.markers == {"a": (2, 3), "point": (5, 5), "long": (7, 9), "before": (0, 1)}


def test_a_scene_without_files_keeps_its_bytes():
    """What is not edited reaches the rasterizer as the author's tool wrote it."""
    data = json.dumps(scene(moving()), indent=3).encode()

    assert load(data).bake(4).document == data
    assert load(b"\xef\xbb\xbf" + data).bake(4).document[:1] == b"{"


def test_numbers_survive_an_edit_to_the_letter():
    """0.30000000000000004 and 1E-7 are written back as they were."""
    text = json.dumps(scene(PICTURE, assets=[asset(data_url(GREEN))]))
    text = text.replace(
        '"ip": 0, "op": 10,', '"ip": 0.0, "op": 1.0e1, "z": [1E-7, 0.30000000000000004],'
    )

    document = load(text.encode()).bake(0).document

    assert b'"op":1.0e1,"z":[1E-7,0.30000000000000004]' in document


@pytest.mark.parametrize("where", ["inside", "beside", "archive 1", "archive 2"])
def test_a_picture_becomes_its_digest_wherever_it_stands(where, tmp_path):
    """The scene's bytes hold no path, and the same picture draws the same frame."""
    memory = Memory({"pics/g.png": GREEN})
    path = "g.png"
    value = scene(PICTURE, op=1, assets=[asset(path, u="pics/")])
    if where == "inside":
        value = scene(PICTURE, op=1, assets=[asset(data_url(GREEN))])
    elif where == "archive 1":
        manifest = {"animations": [{"id": "one"}]}
        members = {"manifest.json": manifest, "animations/one.json": value, "images/g.png": GREEN}
        value = archive(members)
    elif where == "archive 2":
        manifest = {"version": "2", "animations": [{"id": "x"}, {"id": "one"}]}
        manifest["initial"] = {"animation": "one"}
        value = archive({"manifest.json": manifest, "a/one.json": value, "i/g.png": GREEN})
    composition = load(value, memory, path="s.lottie" if where.startswith("archive") else "s.json")
    baked = composition.bake(0)
    digest = baked.pictures[0].digest

    assert f'"p":"{digest}.png"'.encode() in baked.document
    assert b"pics" not in baked.document
    assert memory.read_paths == (["pics/g.png"] if where == "beside" else [])
    assert list(composition.inputs.media.values()) == [digest]
    plain = load(scene(PICTURE, op=1, assets=[asset(data_url(GREEN))]), memory)
    blank = load(scene(PICTURE, op=1))
    drawn = draw_all(composition, memory, str(tmp_path))
    assert drawn == draw_all(plain, memory, str(tmp_path))
    assert drawn != draw_all(blank, memory, str(tmp_path))


def test_what_no_layer_draws_loses_its_path():
    """An unused asset or a sound names a file of the author's machine: it is not read."""
    memory = Memory()
    sound = {"id": "snd", "u": "/some/where/", "p": "s.mp3", "e": 0}
    composition = load(scene(box(), assets=[sound, asset("unused.png")]), memory)

    assert memory.read_paths == []
    assert b"mp3" not in composition.bake(0).document
    assert b"unused" not in composition.bake(0).document


def test_questions_about_all_pictures_are_asked_together():
    """Rounds stay few."""
    memory = Memory(ask_first=True)
    pictures = [dict(asset(data_url(png((n, 0, 0, 255)))), id=f"i{n}") for n in range(3)]
    layers = [layer(2, "p", refId=f"i{n}") for n in range(3)]

    with pytest.raises(NeedsAnswers) as caught:
        load(scene(*layers, assets=pictures), memory)

    assert len(caught.value.requests) == 3


@pytest.mark.parametrize(
    ("reference", "fact"),
    [
        ("http://example.org/a.png", "outside the project"),
        ("file:///etc/passwd", "outside the project"),
        ("absent.png", "no `absent.png`"),
        ("data:image/png,abc", "base64"),
        ("data:image/png;base64,@@@", "damaged"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "SVG"),
    ],
)
def test_a_picture_that_cannot_be_had_is_an_error(reference, fact):
    """Never a silent hole, never the network."""
    with pytest.raises(MediaError, match=fact):
        load(scene(PICTURE, assets=[asset(reference)]))


@pytest.mark.parametrize(
    ("members", "fact"),
    [
        ({"manifest.json": {"animations": []}}, "names no animation"),
        ({"manifest.json": {"animations": [{"id": "a"}]}}, "no scene `a`"),
        ({"animations/a.json": {}}, "no `manifest.json`"),
        ({"manifest.json": {}, "../evil.json": b"x"}, "member named"),
        ({"manifest.json": {}, "/etc/evil": b"x"}, "member named"),
        ({"manifest.json": {}, "a\\..\\evil": b"x"}, "member named"),
        ({"manifest.json": {}, "C:evil": b"x"}, "member named"),
        ({"manifest.json": b"[" + b"1," * 1_000_000 + b"1]"}, "unpacks to too much"),
    ],
)
def test_an_archive_with_tricks_is_refused(members, fact):
    """Names that climb, a bomb, a manifest that lies."""
    small = Limits(document_bytes=1 << 20)
    from lottie_bench import source

    with pytest.raises(SourceError, match=fact):
        load_lottie(source(archive(members), "s.lottie"), Memory().services(), small)


def test_a_damaged_archive_is_refused():
    """Every cut of it, and a flipped byte in its middle."""
    whole = archive({"manifest.json": {"animations": [{"id": "a"}]}, "animations/a.json": scene()})
    assert load(whole, path="s.lottie").frames == 10
    for cut in range(4, len(whole), 7):
        with pytest.raises(CompositionError):
            load(whole[:cut], path="s.lottie")
    flipped = bytearray(whole)
    flipped[60] ^= 0xFF
    with pytest.raises(CompositionError):
        load(bytes(flipped), path="s.lottie")


@pytest.fixture(scope="module")
def sans():
    import glob
    import importlib.util
    import os

    home = importlib.util.find_spec("font_source_sans_pro").submodule_search_locations[0]
    return {
        name: face_of(
            glob.glob(os.path.join(home, "**", f"SourceSansPro-{name}.ttf"), recursive=True)[0]
        )
        for name in ("Regular", "Bold")
    }


def test_a_text_layer_draws_with_the_face_it_names(sans, tmp_path):
    """By family, else with the first face and a warning; never with what the rasterizer matches."""
    faces = [sans["Regular"], sans["Bold"]]
    memory = Memory(faces=faces)

    def drawn(font, family):
        listing = {"list": [{"fName": font, "fFamily": family, "fStyle": "Regular", "ascent": 75}]}
        composition = load(scene(words("Hello", font), op=1, w=120, fonts=listing), memory)
        return composition, draw_all(composition, memory, str(tmp_path))

    bold, bold_pixels = drawn("F1", "SourceSansPro-Bold")
    plain, plain_pixels = drawn("F2", "SourceSansPro-Regular")
    lost, lost_pixels = drawn("F3", "Nowhere")

    assert bold.bake(0).faces == (sans["Bold"].digest,)
    assert list(bold.inputs.fonts) == ["SourceSansPro-Bold"]
    assert bold_pixels != plain_pixels
    assert lost_pixels == plain_pixels
    assert [finding.code for finding in lost.warnings] == ["text.unresolved_family"]
    assert bold.warnings == plain.warnings == ()


def test_a_face_that_the_scene_brings_along_is_its_own(sans, tmp_path):
    """Embedded as `fPath`, it is drawn with before any configured face."""
    memory = Memory(faces=[sans["Regular"]])
    carried = {
        "fName": "F",
        "fFamily": "Anything",
        "fStyle": "Bold",
        "ascent": 75,
        "fPath": data_url(sans["Bold"].data, "font/ttf"),
    }
    composition = load(scene(words("Hello", "F"), op=1, w=120, fonts={"list": [carried]}), memory)
    other = Memory(faces=[sans["Bold"]])
    plain = load(scene(words("Hello", "SourceSansPro-Bold"), op=1, w=120), other)

    assert [face.digest for face in composition.embedded] == [sans["Bold"].digest]
    assert b"fPath" not in composition.bake(0).document
    ours = draw_all(composition, memory, str(tmp_path))
    assert ours == draw_all(plain, other, str(tmp_path))


@pytest.mark.parametrize(
    ("text", "colour"),
    [
        (None, None),
        ("none", None),
        ("white", (255, 255, 255)),
        ("#1e1E2e", (30, 30, 46)),
        ("1, 2,3", (1, 2, 3)),
    ],
)
def test_a_background_is_a_colour(text, colour):
    """And an input: two backgrounds are two sources."""
    composition = load(scene(), background=text)

    assert composition.bake(0).lottie.background == colour == parse_background(text)
    assert ("background" in composition.inputs.source) is (colour is not None)


@pytest.mark.parametrize("text", ["red", "#fff", "1,2", "1,2,256", "1,2,x", "#12345g"])
def test_what_is_no_background_is_a_configuration_error(text):
    """With what may be written."""
    with pytest.raises(ProjectError, match="background"):
        load(scene(), background=text)


def test_inputs_name_the_layer_that_moved():
    """`explain` can say which one."""
    before = load(scene(box("one"), box("two"))).inputs.source
    after = load(scene(box("one"), box("two", (0, 1, 0, 1)))).inputs.source

    assert {name for name in before if before[name] != after[name]} == {"layer two"}
    assert before.keys() == after.keys()


def test_frames_outside_the_scene_are_refused():
    """A number that is not one of the scene's frames is a mistake of the caller."""
    composition = load(scene())
    for number in (-1, 10):
        with pytest.raises(UsageError):
            composition.bake(number)
