"""What is an input and what is not, at both levels: the baked bytes and the named sub-inputs."""

import base64
import os

import pytest

HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" data-width="60" data-height="40" data-fps="10" '
    'data-duration="0.5" data-safe-margin="4">'
)
BODY = """
  <!-- a comment -->
  <defs>
    <linearGradient id="g"><stop offset="0" stop-color="#ff0000"/></linearGradient>
    <linearGradient id="unused"><stop offset="0" stop-color="#00ff00"/></linearGradient>
  </defs>
  <metadata>who and when</metadata>
  <rect id="panel" x="1" y="2" width="30" height="20" fill="url(#g)"/>
  <g><circle id="dot" cx="40" cy="20" r="5.5" fill="#ffffff" data-start="0.2"/></g>
  <text id="t" x="2" y="30" font-size="10"
    font-family="Sarasa Mono SC">one <tspan>two</tspan> three</text>
  <script type="application/nanoframes+json">
    {"animations": [{"target": "#dot", "keyframes": [
      {"t": 0, "opacity": 0.5}, {"t": 0.4, "opacity": 1.0, "ease": "ease-in"}]}]}
  </script>
"""
TEXT = f"{HEAD}{BODY}</svg>"


def frames(composition):
    return [composition.bake(number) for number in range(composition.frames)]


def changed(text, *pairs):
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def prefixed(text):
    text = text.replace("xmlns=", "xmlns:v=")
    for tag in (
        *("svg", "defs", "linearGradient", "stop", "metadata", "rect", "g", "circle", "text"),
        *("tspan", "script"),
    ):
        for old, new in ((f"<{tag} ", f"<v:{tag} "), (f"<{tag}>", f"<v:{tag}>")):
            text = text.replace(old, new)
        text = text.replace(f"</{tag}>", f"</v:{tag}>")
    return text


NO_INPUT = {
    "indentation": lambda text: text.replace("\n  ", "\n\t\t    "),
    "one line": lambda text: text.replace("\n", " "),
    "line ends": lambda text: text.replace("\n", "\r\n"),
    "comments": lambda text: text.replace("a comment", "another"),
    "more comments": lambda text: text.replace("<rect", "<!-- x --><rect"),
    "attribute order": lambda text: changed(text, ('x="1" y="2"', 'y="2" x="1"')),
    "quotes": lambda text: changed(text, ('x="1"', "x='1'")),
    "prefix": prefixed,
    "checks only": lambda text: changed(text, ('margin="4"', 'margin="9" data-palette-budget="3"')),
    "processing instruction": lambda text: '<?xml version="1.0"?><?php x?>\n' + text,
    "json layout": lambda text: changed(text, ('{"t": 0,', '{   "t" :0 ,')),
    "json numbers": lambda text: changed(text, ('"opacity": 1.0', '"opacity": 1')),
    "character references": lambda text: changed(text, ("three", "thr&#x65;e")),
    "cdata": lambda text: changed(text, ("three", "<![CDATA[three]]>")),
}

# Not an input to any frame, though the conservative composition id may move.
DRAWS_NOTHING = {
    "unused definition": lambda text: changed(text, ("#00ff00", "#0000ff")),
    "unused definition gone": lambda text: changed(
        text,
        (
            '<linearGradient id="unused"><stop offset="0" stop-color="#00ff00"/></linearGradient>',
            "",
        ),
    ),
    "name of a definition": lambda text: changed(text, ('"g"', '"h"'), ("#g", "#h")),
    "unreferenced id": lambda text: changed(text, ('id="panel"', 'id="board"')),
    "metadata": lambda text: changed(text, ("who and when", "why")),
    "hidden element": lambda text: changed(
        text, ("<metadata>", '<g display="none"><rect width="9" height="9"/></g><metadata>')
    ),
    "transparent element": lambda text: changed(
        text, ("<metadata>", '<rect width="9" height="9" opacity="0.0"/><metadata>')
    ),
    "colour": lambda text: changed(text, ("#ffffff", "#FFF")),
    "colour by name": lambda text: changed(text, ("#ffffff", "White")),
    "number": lambda text: changed(text, ('r="5.5"', 'r="05.50"'), ('x="1"', 'x="1.0"')),
    "blanks of a text": lambda text: changed(text, ("one <tspan>", "  one\n   <tspan>")),
    "span of a text": lambda text: changed(text, ("<tspan>two</tspan>", "two")),
    "weight without a face": lambda text: changed(
        text, ("font-size", 'font-weight="700" font-size')
    ),
    "data attribute": lambda text: changed(text, ("<rect id", '<rect data-note="x" id')),
    "foreign attribute": lambda text: changed(
        text, ("<rect id", '<rect xmlns:i="urn:i" i:l="x" id')
    ),
    "composition name": lambda text: changed(
        text, ("data-fps", 'data-composition-id="x" data-fps')
    ),
}

INPUT = {
    "geometry": lambda text: changed(text, ('x="1"', 'x="2"')),
    "text": lambda text: changed(text, ("one ", "ONE ")),
    "text of a span": lambda text: changed(text, (">two<", ">TWO<")),
    "tail after a span": lambda text: changed(text, (" three", " four")),
    "preserved blanks": lambda text: changed(
        text, ('id="t"', 'id="t" xml:space="preserve"'), ("one ", "one  ")
    ),
    "sibling order": lambda text: changed(
        text, ("<g>", "<hold>"), ("</g>", "</hold>"), ("<metadata>", '<circle r="9"/><metadata>')
    ),
    "namespace of an element": lambda text: changed(
        text, ('<rect id="panel"', '<f:rect xmlns:f="urn:f" id="panel"')
    ),
    "colour of a gradient": lambda text: changed(text, ("#ff0000", "#ff0001")),
    "unknown attribute": lambda text: changed(text, ("<rect id", '<rect shiny="x" id')),
    "canvas": lambda text: changed(text, ('data-width="60"', 'data-width="61"')),
    "keyframe value": lambda text: changed(text, ('"opacity": 0.5', '"opacity": 0.4')),
    "keyframe time": lambda text: changed(text, ('"t": 0.4', '"t": 0.3')),
    "ease": lambda text: changed(text, ("ease-in", "ease-out")),
    "window": lambda text: changed(text, ('data-start="0.2"', 'data-start="0.3"')),
}


@pytest.mark.parametrize("name", sorted(NO_INPUT))
def test_the_layout_of_the_source_is_no_input(world, name):
    """Neither a byte of a frame nor a sub-input moves."""
    before, after = world.text(TEXT), world.text(NO_INPUT[name](TEXT))

    assert frames(after) == frames(before)
    assert after.inputs == before.inputs


@pytest.mark.parametrize("name", sorted(DRAWS_NOTHING))
def test_what_draws_nothing_is_in_no_frame(world, name):
    """Bake is tight: equal pixels have equal bytes."""
    before, after = world.text(TEXT), world.text(DRAWS_NOTHING[name](TEXT))

    assert frames(after) == frames(before)


@pytest.mark.parametrize("name", sorted(INPUT))
def test_what_can_be_drawn_is_an_input(world, name):
    """Some frame moves, and so does some named sub-input."""
    before, after = world.text(TEXT), world.text(INPUT[name](TEXT))

    assert frames(after) != frames(before)
    assert after.inputs != before.inputs


def test_a_definition_is_in_a_frame_only_while_something_of_it_is_shown(world):
    """An edit of a gradient moves exactly the frames that draw with it."""
    text = changed(TEXT, ('fill="#ffffff" data', 'fill="url(#unused)" data'))
    before, after = world.text(text), world.text(changed(text, ("#00ff00", "#0000ff")))
    moved = [
        number
        for number, (old, new) in enumerate(zip(frames(before), frames(after), strict=True))
        if old != new
    ]

    assert moved == [2, 3, 4]


def test_a_moved_keyframe_moves_only_the_frames_of_its_segments(world):
    """Frames outside of what the edit reaches keep their bytes."""
    text = changed(TEXT, ('"opacity": 0.5}', '"opacity": 0.5}, {"t": 0.2, "opacity": 0.6}'))
    before, after = (
        world.text(text),
        world.text(changed(text, ('"opacity": 0.6', '"opacity": 0.7'))),
    )
    moved = [
        number
        for number, (old, new) in enumerate(zip(frames(before), frames(after), strict=True))
        if old != new
    ]

    assert moved == [2, 3]


def test_sub_inputs_have_the_names_that_people_use(world):
    """Elements by id or by tag and number, the timeline by target."""
    names = set(world.text(TEXT).inputs.source)

    assert names == {
        "canvas",
        "defs[1]",
        "duration",
        "metadata[1]",
        "#panel",
        "g[1]",
        "#t",
        "order",
        "rate",
        "timeline #dot",
    }


def test_an_edit_moves_the_sub_input_it_is_in_and_no_other(world):
    """So that a reason can name it."""
    before = world.text(TEXT).inputs.source
    for edit, name in (
        (('r="5.5"', 'r="6"'), "g[1]"),
        (('x="1"', 'x="2"'), "#panel"),
        (("three", "four"), "#t"),
        (("ease-in", "ease-out"), "timeline #dot"),
        (('data-fps="10"', 'data-fps="12"'), "rate"),
    ):
        after = world.text(changed(TEXT, edit)).inputs.source
        moved = {key for key in {**before, **after} if before.get(key) != after.get(key)}

        assert moved - {"duration"} == {name}


def write(world, name, data):
    with open(os.path.join(world.folder, name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def test_a_change_in_a_grandchild_moves_the_frames_in_which_it_shows(world):
    """Children are inputs, transitively, at both levels."""
    child = f'{HEAD}<rect width="9" height="9" fill="red" data-start="0.2"/></svg>'
    write(world, "b.nf.svg", child)
    write(world, "a.nf.svg", f'{HEAD}<image href="b.nf.svg" width="60" height="40"/></svg>')
    text = f'{HEAD}<image href="a.nf.svg" width="60" height="40" data-start="0.1"/></svg>'
    before = world.text(text)
    old = frames(before)
    write(world, "b.nf.svg", child.replace("red", "blue"))
    after = world.text(text)
    moved = [n for n, frame in enumerate(frames(after)) if frame != old[n]]

    assert moved == [3, 4]
    assert "child b.nf.svg: rect[1]" in before.inputs.source
    assert before.inputs != after.inputs


def test_an_embedded_face_is_one_of_the_composition(world, peer_face):
    """The rule is gone from the document, and the text is drawn with the face's digest."""
    other = peer_face.data + b"\0"
    rule = "@font-face{{font-family:'Mine';src:url(data:font/ttf;base64,{})}}"
    made = []
    for data in (peer_face.data, other):
        style = rule.format(base64.b64encode(data).decode())
        body = f'<style>{style}</style><text font-family="Mine">x</text>'
        made.append(world.text(f"{HEAD}{body}</svg>"))
    first, second = (composition.bake(0) for composition in made)

    assert b"font-face" not in first.document
    assert first.faces == (peer_face.digest,)
    assert first.faces != second.faces
    assert f'font-family="{second.faces[0]}"'.encode() in second.document
    assert made[0].inputs.fonts != made[1].inputs.fonts


def test_an_unresolved_family_is_a_warning_and_the_first_face(world, peer_face):
    """Said once for each family."""
    text = f'{HEAD}<text font-family="No Such">a</text><text font-family="No Such">b</text></svg>'
    composition = world.text(text)

    assert [finding.code for finding in composition.warnings] == ["text.unresolved_family"]
    assert composition.bake(0).faces == (peer_face.digest,)


def test_a_document_names_no_path_of_the_machine(world):
    """Pictures are called after their content, wherever they lie."""
    from PIL import Image

    Image.new("RGBA", (2, 2), (1, 2, 3, 255)).save(os.path.join(world.folder, "a.png"))
    os.makedirs(os.path.join(world.folder, "sub"))
    Image.new("RGBA", (2, 2), (1, 2, 3, 255)).save(os.path.join(world.folder, "sub", "b.png"))
    one, two = (
        world.text(f'{HEAD}<image href="{path}" width="9" height="9"/></svg>').bake(0)
        for path in ("a.png", "sub/b.png")
    )

    assert one == two
    assert one.pictures[0].name in one.document.decode()
    assert str(world.folder) not in one.document.decode()
