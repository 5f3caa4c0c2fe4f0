"""Bad input: each a message with place, fact and hint, and never a traceback."""

import os

import pytest
from world import peer_folder

from nfbuild.errors import CompositionError, MediaError, SourceError
from nfbuild.scene.protocols import Limits

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" data-width="20" data-height="10" data-duration="1">'
TIMELINE = '<script type="application/nanoframes+json">{}</script>'


def document(body="", head=HEAD):
    return f"{head}{body}</svg>"


def animated(keyframes):
    animations = f'[{{"target": "#a", "keyframes": [{keyframes}]}}]'
    return document('<rect id="a"/>' + TIMELINE.format(f'{{"animations": {animations}}}'))


def refused(world, text, **options):
    with pytest.raises(CompositionError) as caught:
        world.text(text, **options)
    error = caught.value
    assert error.place is not None
    assert error.place.file == "case.nf.svg"
    assert error.message
    assert error.hint
    assert not error.message.endswith(".")
    return error


BAD = {
    "empty": b"",
    "blank": b" \n\t ",
    "zeros": b"\0" * 64,
    "text": b"no markup at all",
    "json": b'{"v": "5.0"}',
    "no element": b"<?xml version='1.0'?><!-- only a comment -->",
    "two roots": (HEAD + "</svg><svg/>").encode(),
    "wrong root": b'<html xmlns="http://www.w3.org/1999/xhtml"/>',
    "foreign root": b'<f:svg xmlns:f="urn:f" data-width="1" data-height="1" data-duration="1"/>',
    "mismatched tag": document("<g><rect></g></rect>").encode(),
    "twice an attribute": document('<rect x="1" x="2"/>').encode(),
    "unbound prefix": document("<f:rect/>").encode(),
    "undeclared entity": document("<text>&nope;</text>").encode(),
    "bad utf-8": document("<text>\ud800</text>").encode("utf-8", "surrogatepass"),
    "unknown encoding": b'<?xml version="1.0" encoding="klingon"?><svg/>',
    "external entity": b'<!DOCTYPE svg [<!ENTITY e SYSTEM "file:///etc/passwd">]><svg>&e;</svg>',
    "parameter entity": b'<!DOCTYPE svg [<!ENTITY % e "x">]><svg/>',
    "control character": document("<text>\x01</text>").encode(),
    "no width": document(head=HEAD.replace('data-width="20"', "")).encode(),
    "zero width": document(head=HEAD.replace('"20"', '"0"')).encode(),
    "negative height": document(head=HEAD.replace('"10"', '"-10"')).encode(),
    "half a pixel": document(head=HEAD.replace('"10"', '"0.5"')).encode(),
    "absurd width": document(head=HEAD.replace('"20"', '"1e9"')).encode(),
    "width in words": document(head=HEAD.replace('"20"', '"wide"')).encode(),
    "width in percent": document(head=HEAD.replace('"20"', '"100%"')).encode(),
    "not a number": document(head=HEAD.replace('"20"', '"nan"')).encode(),
    "too many pixels": document(
        head=HEAD.replace('"20"', '"16000"').replace('"10"', '"16000"')
    ).encode(),
    "no duration": document(head=HEAD.replace('data-duration="1"', "")).encode(),
    "zero duration": document(head=HEAD.replace('duration="1"', 'duration="0"')).encode(),
    "negative duration": document(head=HEAD.replace('duration="1"', 'duration="-1"')).encode(),
    "endless duration": document(head=HEAD.replace('duration="1"', 'duration="inf"')).encode(),
    "duration in words": document(head=HEAD.replace('duration="1"', 'duration="1s"')).encode(),
    "absurd duration": document(head=HEAD.replace('duration="1"', 'duration="1e9"')).encode(),
    "absurd exponent": document(
        head=HEAD.replace('duration="1"', 'duration="1e99999999"')
    ).encode(),
    "zero rate": document(head=HEAD.replace(">", ' data-fps="0">')).encode(),
    "rate over zero": document(head=HEAD.replace(">", ' data-fps="30/0">')).encode(),
    "rate in words": document(head=HEAD.replace(">", ' data-fps="ntsc">')).encode(),
    "negative rate": document(head=HEAD.replace(">", ' data-fps="-30">')).encode(),
    "timeline is no json": document(TIMELINE.format('{"animations": [}')).encode(),
    "timeline has a comment": document(TIMELINE.format('{"animations": [] } // x')).encode(),
    "timeline is a list": document(TIMELINE.format("[]")).encode(),
    "timeline has not-a-number": document(TIMELINE.format('{"animations": NaN}')).encode(),
    "animations are no list": document(TIMELINE.format('{"animations": 5}')).encode(),
    "animation is no object": document(TIMELINE.format('{"animations": [5]}')).encode(),
    "target is no text": document(TIMELINE.format('{"animations": [{"target": 5}]}')).encode(),
    "keyframes are no list": document(
        TIMELINE.format('{"animations": [{"target": "#a", "keyframes": 5}]}')
    ).encode(),
    "nested too deep a json": document(TIMELINE.format("[" * 100000)).encode(),
    "keyframe is no object": animated("5").encode(),
    "keyframe without time": animated('{"opacity": 1}').encode(),
    "time in words": animated('{"t": "soon"}').encode(),
    "time is true": animated('{"t": true}').encode(),
    "time is beyond": animated('{"t": 1e999}').encode(),
    "opacity in words": animated('{"t": 0, "opacity": "x"}').encode(),
    "opacity is a list": animated('{"t": 0, "opacity": [1]}').encode(),
    "fill is a number": animated('{"t": 0, "fill": 5}').encode(),
    "transform is a list": animated('{"t": 0, "transform": [1, 2]}').encode(),
    "transform is a number": animated('{"t": 0, "transform": 5}').encode(),
    "translate is a number": animated('{"t": 0, "transform": {"translate": 5}}').encode(),
    "translate has words": animated('{"t": 0, "transform": {"translate": ["a", 2]}}').encode(),
    "translate is empty": animated('{"t": 0, "transform": {"translate": []}}').encode(),
    "rotate is null": animated('{"t": 0, "transform": {"rotate": null}}').encode(),
    "rotate has two": animated('{"t": 0, "transform": {"rotate": [1, 2]}}').encode(),
    "rotate is an object": animated('{"t": 0, "transform": {"rotate": {"deg": 3}}}').encode(),
    "scale has three": animated('{"t": 0, "transform": {"scale": [1, 2, 3]}}').encode(),
    "scale is text": animated('{"t": 0, "transform": {"scale": "2"}}').encode(),
    "center in words": animated('{"t": 0, "transform": {"rotate": 1, "center": "x"}}').encode(),
    "center has one": animated('{"t": 0, "transform": {"rotate": 1, "center": [1]}}').encode(),
    "start in words": document('<rect data-start="soon"/>').encode(),
    "fade is empty": document('<rect data-fade=""/>').encode(),
    "unknown field": document('<text data-frame-text="{foo}"/>').encode(),
    "field of a field": document('<text data-frame-text="{frame.real}"/>').encode(),
    "open brace": document('<text data-frame-text="{frame"/>').encode(),
    "format that does not fit": document('<text data-frame-text="{second:d}"/>').encode(),
    "format of the machine": document('<text data-frame-text="{second:n}"/>').encode(),
    "format without end": document('<text data-frame-text="{frame:0999999999d}"/>').encode(),
    "shape inside a text": document("<text>a<rect/>b</text>").encode(),
    "group inside a text": document("<text><tspan>a<g/></tspan></text>").encode(),
    "image without a file": document('<image width="9" height="9"/>').encode(),
    "missing image": document('<image id="hero" href="nothing.png"/>').encode(),
    "image from a network": document('<image href="https://example.org/a.png"/>').encode(),
    "image of another host": document('<image href="file://host/a.png"/>').encode(),
    "image without a scheme": document('<image href="//example.org/a.png"/>').encode(),
    "image is a folder": document('<image href="."/>').encode(),
    "image of no data": document('<image href="data:image/png;base64,@@"/>').encode(),
    "image of no comma": document('<image href="data:image/png"/>').encode(),
    "missing child": document('<image href="nothing.nf.svg"/>').encode(),
    "video without the extra": document('<image href="clip.mp4"/>').encode(),
    "pivot of a length with a unit": document(
        '<rect id="a" x="1px" width="9" height="9"/>'
        + TIMELINE.format(
            '{"animations": [{"target": "#a", "keyframes": '
            '[{"t": 0, "transform": {"rotate": 1, "center": "auto"}}]}]}'
        )
    ).encode(),
    "font-face without a family": document("<style>@font-face{src:url(x.ttf)}</style>").encode(),
    "font-face without a source": document("<style>@font-face{font-family:x}</style>").encode(),
    "font-face that is no face": document(
        "<style>@font-face{font-family:x;src:url(data:font/ttf;base64,AAAA)}</style>"
    ).encode(),
    "odd speed": document('<image href="child.nf.svg" data-speed="fast"/>').encode(),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_is_a_message_with_place_fact_and_hint(world, name):
    """Whatever is wrong, the author is told where, what, and what to do."""
    for other in ("clip.mp4", "child.nf.svg"):
        with open(os.path.join(world.folder, other), "w", encoding="utf-8") as file:
            file.write(document())
    refused(world, BAD[name])


@pytest.mark.parametrize("name", ["master-demo", "title-card"])
def test_a_file_cut_off_anywhere_is_refused(make_world, name):
    """Every prefix of an example is an error that says so; only the last line end may go."""
    world = make_world(peer_folder("examples"))
    with open(peer_folder("examples", f"{name}.nf.svg"), "rb") as file:
        data = file.read()
    whole = data.rstrip()
    for length in range(0, len(whole), 7):
        error = refused(world, data[:length])

        assert isinstance(error, SourceError)


def test_a_missing_image_is_an_error_that_names_element_and_file(world):
    """A file looked for and absent is never a silent hole."""
    error = refused(world, document('\n<image id="hero" href="art/nothing.png"/>'))

    assert isinstance(error, MediaError)
    assert error.place.line == 2
    assert '<image id="hero">' in error.message
    assert "art/nothing.png" in error.message


def test_entities_expand_up_to_a_bound(world):
    """Entities are text to save typing, not a way to fill the memory."""
    pieces = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    bomb = f'<!DOCTYPE svg [<!ENTITY e0 "0123456789">{pieces}]>' + document("<text>&e9;</text>")
    inside = bomb.replace("<text>&e9;</text>", '<rect fill="&e9;"/>')
    flat = f'<!DOCTYPE svg [<!ENTITY e "{"x" * 50000}">]>' + document(
        "<text>" + "&e;" * 3000 + "</text>"
    )
    for text in (bomb, inside, flat):
        assert "expand" in refused(world, text).message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1"])
def test_every_declared_encoding_is_the_same_document(world, encoding):
    """UTF-16 with and without a mark, UTF-8 with one, and a declared single-byte encoding."""
    body = "<text>é</text>"
    plain = world.text(document(body)).bake(0)
    name = {"utf-8-sig": "utf-8", "latin-1": "iso-8859-1"}.get(encoding, "utf-16")
    text = f'<?xml version="1.0" encoding="{name}"?>\n' + document(body)
    data = text.encode(encoding)
    if encoding in ("utf-16-le", "utf-16-be"):
        data = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[encoding] + data

    assert world.text(data).bake(0) == plain


def test_limits_are_stated_and_can_be_raised(world):
    """Each limit's message names the limit."""
    many = document("<rect/>" * 30)
    deep = document("<g>" * 30 + "<rect/>" + "</g>" * 30)
    assert "`elements`" in refused(world, many, limits=Limits(elements=20)).hint
    assert "`depth`" in refused(world, deep, limits=Limits(depth=20)).hint
    assert "`document_size`" in refused(world, deep, limits=Limits(document_bytes=20)).hint
    assert "`frames`" in refused(world, many, limits=Limits(frames=20)).hint
    assert "`canvas_side`" in refused(world, many, limits=Limits(side=10)).hint
    assert "`canvas_pixels`" in refused(world, many, limits=Limits(pixels=10)).hint
    assert world.text(many).frames == 30


def test_two_thousand_nested_groups_bake(world):
    """Depth is a matter of memory, not of the interpreter's stack."""
    body = '<g data-fade="0.5">' * 2000 + '<rect id="r" width="9" height="9"/>' + "</g>" * 2000
    frame = world.text(document(body)).bake(3)

    assert frame.document.count(b"<g ") == 2000


def test_odd_things_are_warnings_and_are_drawn(world):
    """A target that matches nothing and an unknown ease are told, and drawn as linear."""
    text = animated(
        '\n{"t": 0, "opacity": 0, "ease": "ease-in"},\n{"t": 1, "opacity": 1, "ease": "ease-inn"}'
    )
    text = text.replace('id="a"', 'id="ring"').replace('"#a"', '"#ringg"')
    found = {finding.code: finding for finding in world.text(text).warnings}

    assert set(found) == {
        "animation.inert_ease",
        "animation.unknown_ease",
        "animation.unmatched_target",
    }
    assert found["animation.unknown_ease"].line == 3
    assert found["animation.unknown_ease"].hint == "did you mean `ease-in`?"
    assert found["animation.unmatched_target"].hint == "did you mean `#ring`?"


def test_the_line_of_an_error_in_the_timeline_is_the_line_in_the_file(world):
    """JSON counts from its own start; the author looks at the file."""
    text = (
        HEAD + "\n<rect/>\n" + TIMELINE.format('\n{"animations": [\n  {"target": }\n]}') + "</svg>"
    )

    assert refused(world, text).place.line == 5


def test_an_error_inside_a_child_names_parent_element_child_and_cause(world):
    """At any depth the author sees the way from the file that is built to the first cause."""

    def write(name, text):
        with open(os.path.join(world.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    write("broken.nf.svg", "<svg")
    write("middle.nf.svg", document('<image id="inner" href="broken.nf.svg"/>'))
    error = refused(world, document('<image id="outer" href="middle.nf.svg"/>'))

    for part in ('<image id="outer">', "middle.nf.svg:1", '<image id="inner">', "broken.nf.svg:1"):
        assert part in error.message


def test_a_cycle_prints_its_path(world):
    """Compositions that nest each other end in one message, not in a full memory."""

    def write(name, text):
        with open(os.path.join(world.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    write("a.nf.svg", document('<image href="b.nf.svg"/>'))
    write("b.nf.svg", document('<image href="a.nf.svg"/>'))
    with pytest.raises(SourceError) as caught:
        world.load("a.nf.svg")

    assert "a.nf.svg -> b.nf.svg -> a.nf.svg" in caught.value.message
