"""`check`: every mistake is a finding with its code, its line and a remedy, and nothing else is."""

import glob
import importlib.util
import json
import os

import pytest
from layout_bench import sarasa
from world import World

from nfbuild.errors import SourceError
from nfbuild.scene.lint import blank_frames, check
from nfbuild.scene.protocols import Limits, NeedsAnswers

SARASA = 'font-family="Sarasa Mono SC"'
MOVE = {"translate": [5, 0]}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lint")
    made = World(folder, folder, [sarasa()])
    yield made
    made.rasterizer.close()


class Glyphs:
    """A face that lacks whatever is not ASCII."""

    def lacks(self, face, characters):
        return "".join(c for c in characters if not c.isascii())


def document(body, animations=(), root=""):
    timeline = json.dumps({"animations": list(animations)})
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' data-width="200" data-height="100" data-fps="10" data-duration="1" {root}>\n{body}\n'
        f'<script type="application/nanoframes+json"><![CDATA[{timeline}]]></script></svg>'
    )


def found(world, body, animations=(), root="", glyphs=None):
    composition = world.text(document(body, animations, root))
    return check(composition, world.services, Limits(), glyphs=glyphs)


def animation(target, *keyframes):
    return {"target": target, "keyframes": list(keyframes)}


RECT = '<rect id="r" width="20" height="20" fill="#ff0000"/>'
PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PATTERN = '<defs><pattern id="p" width="4" height="4"/></defs>'

MISTAKES = [
    ("render.inert_attribute", '<rect visibility="hidden" width="9" height="9"/>'),
    ("render.inert_attribute", '<text text-anchor="middle" y="20">a</text>'),
    ("render.inert_attribute", '<g letter-spacing="2"><text y="20">a</text></g>'),
    ("render.inert_attribute", "<style>#r { fill: red }</style>" + RECT),
    ("render.inert_attribute", '<text y="20" opacity="0.5">a</text>'),
    ("render.inert_attribute", '<text y="20" opacity="0.5" data-bg="red">a</text>'),
    ("render.inert_attribute", f'<image width="9" height="9" opacity="0" href="{PNG}"/>'),
    ("render.inert_attribute", '<text y="20" style="display:none">a</text>'),
    ("render.inert_attribute", '<text y="20" style="fill:red; font-size: 30px">a</text>'),
    ("render.inert_attribute", '<text y="20" stroke="red">a</text>'),
    ("render.inert_attribute", '<text y="20" dominant-baseline="middle">a</text>'),
    ("render.inert_attribute", '<text y="20" textLength="90">a</text>'),
    ("render.inert_attribute", '<g font-size="30"><g><text y="20">a</text></g></g>'),
    ("render.inert_attribute", '<g font-weight="bold"><text y="20">a</text>b</g>'),
    ("render.inert_attribute", '<rect style="visibility:hidden" width="9" height="9"/>'),
    ("render.inert_attribute", '<rect transform="scale(50%)" width="9" height="9"/>'),
    ("render.inert_attribute", '<rect style="transform:rotate(9deg)" width="9" height="9"/>'),
    ("render.inert_attribute", '<rect style="filter: blur(2px)" width="9" height="9"/>'),
    ("render.inert_attribute", "<style>text { font-size: 30px }</style>" + RECT),
    ("render.inert_attribute", "<style>@keyframes k { to { opacity: 0 } }</style>" + RECT),
    ("render.unsupported_element", f"<switch>{RECT}</switch>"),
    ("render.unsupported_element", '<text y="20"><textPath href="#r">a</textPath></text>'),
    ("render.unsupported_element", '<text y="20">a<title>b</title></text>'),
    ("render.unsupported_element", f'{RECT[:-2]}><animate attributeName="x" to="9"/></rect>'),
    ("render.unsupported_element", f'{RECT[:-2]}><set attributeName="x" to="9"/></rect>'),
    ("render.unsupported_element", f"<foreignObject>{RECT}</foreignObject>"),
    ("render.unsupported_element", f"<rectt>{RECT}</rectt>"),
    (
        "render.unsupported_element",
        '<defs><filter id="f"><feMerge><feMergeNode/></feMerge></filter></defs>',
    ),
    *(
        ("render.degraded_paint", f'<rect width="9" height="9" {written}/>')
        for written in (
            'fill="transparent"',
            'fill="rgb(255 0 0)"',
            'fill="rgb(300, 0, 0)"',
            'fill="rebeccapurple"',
            'fill="mediumpurple"',
            'stroke="inherit"',
            'stroke="oklch(0.6 0.2 30)"',
            'style="stroke:none;fill:transparent"',
        )
    ),
    ("render.degraded_paint", "<style>rect { fill: hwb(0 0% 0%) }</style>" + RECT),
    ("render.degraded_paint", '<rect width="9" height="9" fill="rgba(1,2,3,0.4)"/>'),
    ("render.degraded_paint", '<rect width="9" height="9" stroke="#11223344"/>'),
    ("render.degraded_paint", '<rect width="9" height="9" fill="#1234"/>'),
    ("render.degraded_paint", '<rect width="9" height="9" fill="url(#nowhere)"/>'),
    ("render.degraded_paint", '<path d="M0 0L9 9" stroke="red" marker-end="url(#p)"/>'),
    ("render.out_of_range_alpha", '<rect width="9" height="9" opacity="1.2"/>'),
    ("render.out_of_range_alpha", '<rect width="9" height="9" fill-opacity="-1"/>'),
    ("render.inert_tspan", '<text y="20">a<tspan data-start="0.5">b</tspan></text>'),
    ("render.inert_tspan", '<text y="20">a<tspan fill="red">b</tspan></text>'),
    ("render.inert_tspan", '<text y="20">a<tspan display="none">b</tspan></text>'),
    ("text.inert_content", '<text y="20" data-frame-text="{frame}">words</text>'),
    ("text.size_dropped", '<text y="20" font-size="30" data-wrap="90">a b</text>'),
    ("text.size_dropped", '<text y="20" font-size="16px" data-wrap="90">a b</text>'),
    ("text.size_dropped", '<text y="20" data-wrap="90">a b</text>'),
    ("text.size_dropped", '<text data-curve-circle="99,50,40">ab</text>'),
    ("text.odd_path", '<text font-size="10" data-curve-d="M0 50Q50 0 90 50">ab</text>'),
    ("text.chip_stays", '<text y="20" data-bg="red" transform="rotate(5)">ab</text>'),
    (
        "text.inert_layout",
        '<text font-size="10" data-bg="red" data-curve-circle="99,50,40">ab</text>',
    ),
    ("text.measured_short", f'<text y="20" data-bg="red">{"wide " * 40}</text>'),
    ("geometry.never_on_canvas", '<rect x="300" width="9" height="9"/>'),
    ("geometry.never_on_canvas", '<path d="M-9 -9C-90 0 -90 0 -20 -20"/>'),
    ("geometry.never_on_canvas", '<g transform="translate(0 500)"><circle r="9"/></g>'),
    ("geometry.never_on_canvas", '<text y="900">low</text>'),
    ("animation.never_visible", '<rect width="9" height="9" data-start="5"/>'),
]


@pytest.mark.parametrize(("code", "body"), MISTAKES)
def test_a_mistake_is_found_once_with_its_line(world, code, body):
    """Nothing else is said about it, and there is a remedy."""
    findings = found(world, f"\n\n{body}")

    assert [finding.code for finding in findings] == [code]
    assert findings[0].line == 4
    assert findings[0].file == "case.nf.svg"
    assert findings[0].hint


SOUND = [
    RECT,
    *(
        f'<rect width="9" height="9" fill="{colour}"/>'
        for colour in (
            *("RED", "rgb( 255 , 0%, 0 )", "hsl(0 100% 50%)", "hsl(-9.5, 10%, 5.5%)"),
            *("currentColor", "#ABC", "none"),
        )
    ),
    '<text y="20" display="none" opacity="1">a</text>',
    '<text y="20" opacity="0.5" font-size="10" data-wrap="90">a b</text>',
    '<g opacity="0.5"><text y="20" stroke="none">a</text></g>',
    '<text y="20" opacity="0.5" id="driven">a</text>',
    f'<g font-size="30" font-family="x">{RECT}<text y="20" font-size="9" {SARASA}>a</text></g>',
    f"<title>a</title><metadata><b/></metadata><a>{RECT}<desc>b</desc></a>",
    "<style>/* a: b */ rect { fill: red; opacity: 0.5 } text { fill: #fff }</style>" + RECT,
    '<rect width="9" height="9" style="mix-blend-mode:multiply; transform:scale(2)"/>',
    '<defs><filter id="f"><feGaussianBlur stdDeviation="2"/></filter></defs>',
    '<rect width="9" height="9" fill="none" stroke="none" opacity="0"/>',
    '<path d="M0 0L9 9" stroke="red" marker-end="none"/>',
    '<text y="20" text-anchor="start" letter-spacing="0">a<tspan>b</tspan></text>',
    '<defs><linearGradient id="g"/></defs><rect width="9" height="9" fill="url(#g)"/>',
    '<defs><rect x="900" width="9" height="9"/></defs>',
    '<rect x="900" width="9" height="9" display="none"/>',
    '<rect x="199" width="9" height="9"/>',
    '<line x1="-5" y1="50" x2="-1" y2="50" stroke="red" stroke-width="4"/>',
    '<text y="20" font-size="10" data-wrap="90">a b</text>',
    '<text y="20" data-bg="red">chip</text>',
    '<text font-size="10" data-curve-d="M0 50L90 50C100 20 150 20 180 90Z">path</text>',
]


@pytest.mark.parametrize("body", SOUND)
def test_what_is_drawn_as_written_is_no_mistake(world, body):
    """A false alarm teaches to ignore alarms."""
    driven = [animation("#driven", {"t": 0, "opacity": 1})] if "driven" in body else []

    assert found(world, body, driven) == ()


def test_a_pattern_paints_nothing(world):
    """Neither does an id that is not there; a gradient does."""
    findings = found(world, f'{PATTERN}<rect width="9" height="9" fill="url(#p)"/>')

    assert [finding.code for finding in findings] == ["render.degraded_paint"]
    assert "pattern" in findings[0].message


TIMELINES = [
    ("animation.unmatched_target", animation("#s", {"t": 0, "opacity": 0})),
    (
        "animation.inert_ease",
        animation("#r", {"t": 0, "opacity": 0, "ease": "ease-out"}, {"t": 1, "opacity": 1}),
    ),
    (
        "animation.unknown_ease",
        animation("#r", {"t": 0, "opacity": 0}, {"t": 1, "opacity": 1, "ease": "wobble"}),
    ),
    (
        "animation.keyframe_out_of_range",
        animation("#r", {"t": 0, "opacity": 0}, {"t": 5, "opacity": 1}),
    ),
    (
        "animation.transform_shape_mixed",
        animation(
            "#r", {"t": 0, "transform": {"rotate": 0}}, {"t": 1, "transform": {"rotate": [9, 1, 2]}}
        ),
    ),
]


@pytest.mark.parametrize(("code", "move"), TIMELINES)
def test_a_mistake_in_the_timeline_is_found(world, code, move):
    """With the line of the timeline."""
    findings = found(world, RECT, [move])

    assert [finding.code for finding in findings] == [code]
    assert findings[0].line == 3


def test_a_target_that_matches_nothing_is_an_error(world):
    """The gate fails on it; everything else may be meant and is a warning."""
    lost = animation("#s", {"t": 0, "opacity": 0})
    findings = found(world, '<rect visibility="hidden" width="9" height="9"/>', [lost])

    assert {finding.code: finding.severity for finding in findings} == {
        "animation.unmatched_target": "error",
        "render.inert_attribute": "warning",
    }


def test_an_animation_outside_its_window_is_never_seen(world):
    """The windows of the groups around it count too."""
    move = animation("#r", {"t": 0, "opacity": 0}, {"t": 0.3, "opacity": 1})
    inside = f'<g data-start="0.5">{RECT}</g>'

    assert [finding.code for finding in found(world, inside, [move])] == [
        "animation.outside_visibility"
    ]
    assert found(world, f'<g data-start="0.3">{RECT}</g>', [move]) == ()


def test_a_turn_about_the_origin_throws_an_element_off(world):
    """`center` or a pivot of its own is the remedy."""
    far = '<rect id="r" x="150" y="60" width="20" height="20"/>'

    def turn(**more):
        return animation(
            "#r",
            {"t": 0, "transform": {"rotate": 0, **more}},
            {"t": 1, "transform": {"rotate": 90, **more}},
        )

    assert [f.code for f in found(world, far, [turn()])] == ["animation.unanchored_pivot"]
    assert found(world, far, [turn(center="auto")]) == ()
    assert found(world, RECT, [turn()]) == ()


def test_the_middle_of_what_has_no_geometry_is_no_pivot(world):
    """A `<use>` has none of its own; a group around a text has."""
    plate = '<defs><rect id="plate" width="20" height="9"/></defs>'
    turn = animation("#u", {"t": 0, "transform": {"rotate": 9, "center": "auto"}})

    (finding,) = found(world, f'{plate}<use id="u" href="#plate"/>', [turn])
    assert finding.code == "animation.inert_pivot"
    assert finding.line == 3
    assert found(world, '<g id="u"><text y="20">a</text></g>', [turn]) == ()


def test_what_a_timeline_paints_has_to_be_a_colour_that_is_drawn(world):
    """Each spelling is told once; a stroke never reaches a text."""
    clear = {"fill": "transparent"}
    (finding,) = found(world, RECT, [animation("#r", {"t": 0, **clear}, {"t": 1, **clear})])
    (stroked,) = found(
        world, '<text id="r" y="20">a</text>', [animation("#r", {"t": 0, "stroke": "#ff0000"})]
    )

    assert finding.code == "render.degraded_paint"
    assert "painted black" in finding.message
    assert stroked.code == "render.inert_attribute"


def test_what_is_lost_is_told_as_it_comes_out(world):
    """A fill is black, a stroke is not there; of a nested composition nothing is lost."""
    with open(os.path.join(world.folder, "faded.nf.svg"), "w", encoding="utf-8") as file:
        file.write(document(RECT))
    shape = '<rect width="9" height="9" {}="#1234"/>'
    (fill,), (stroke,) = (found(world, shape.format(name)) for name in ("fill", "stroke"))

    assert "painted black" in fill.message
    assert "no stroke" in stroke.message
    assert "`stroke-opacity`" in stroke.hint
    assert found(world, '<image href="faded.nf.svg" opacity="0.5" width="9" height="9"/>') == ()


def test_what_flies_across_the_canvas_has_landed(world):
    """Between two instants that are both outside it may still be seen."""
    flying = animation(
        "#r",
        {"t": 0, "transform": {"translate": [-900, 20]}},
        {"t": 1, "transform": {"translate": [900, 20]}},
    )
    passing = animation(
        "#r",
        {"t": 0, "transform": {"translate": [-900, 500]}},
        {"t": 1, "transform": {"translate": [900, 500]}},
    )

    assert found(world, RECT, [flying]) == ()
    assert [f.code for f in found(world, RECT, [passing])] == ["geometry.never_on_canvas"]


def test_characters_that_a_face_lacks_are_named(world):
    """Only where somebody can say what a face has."""
    body = f'<text y="20" {SARASA}>a→b→c</text>'
    (finding,) = found(world, body, glyphs=Glyphs())

    assert finding.code == "text.missing_glyph"
    assert "U+2192" in finding.message
    assert found(world, body) == ()


def test_a_decimal_rate_that_means_a_fraction_is_pointed_out(world):
    """29.97 is exactly that here; a film beside video wants 30000/1001."""
    text = document(RECT).replace('data-fps="10"', 'data-fps="29.97"')
    (finding,) = check(world.text(text), world.services, Limits())

    assert finding.code == "canvas.rate_is_not_ntsc"
    assert "30000/1001" in finding.hint


def test_a_mistake_in_a_nested_file_is_found_with_its_file(world):
    """A defect of the child is a defect of the parent's film; each file is looked at once."""
    child = document('\n<rect x="500" width="9" height="9"/>')
    with open(os.path.join(world.folder, "child.nf.svg"), "w", encoding="utf-8") as file:
        file.write(child)
    image = '<image href="child.nf.svg" width="99" height="50"/>'
    (finding,) = found(world, image + image)

    assert (finding.code, finding.file, finding.line) == (
        "geometry.never_on_canvas",
        "child.nf.svg",
        3,
    )


def test_findings_stand_in_order_and_once(world):
    """By file and line, whatever found them."""
    bad = '<rect visibility="hidden" fill="#1234" opacity="7" width="9" height="9"/>'
    findings = found(world, f"{bad}\n{bad}\n{bad}")

    assert [finding.line for finding in findings] == [2, 2, 2, 3, 3, 3, 4, 4, 4]
    assert len(set(findings)) == len(findings)


def test_missing_measurements_are_asked_for_together(world):
    """Two chips and a text off the canvas: three questions, one round."""
    texts = [('y="20" data-bg="red"', "one"), ('y="40" data-fit="9"', "two"), ('y="900"', "3")]
    body = "".join(f"<text {attributes}>{words}</text>" for attributes, words in texts)
    composition = world.text(document(body))

    class Unanswering:
        def ink(self, document, width, height, faces):
            raise NeedsAnswers([(document, width, height, faces)])

    from nfbuild.dataclasses import replace

    with pytest.raises(NeedsAnswers) as caught:
        check(composition, replace(world.services, measurer=Unanswering()), Limits())

    assert len(caught.value.requests) == 3


def test_blank_frames_are_one_finding(world):
    """Told in ranges, as an author can look at them."""
    composition = world.text(document(RECT))
    (finding,) = blank_frames(composition, [7, 3, 4, 5])

    assert finding.code == "frame.transparent"
    assert "3-5, 7" in finding.message
    assert blank_frames(composition, []) == ()


def test_what_cannot_be_loaded_is_an_error_and_no_finding(world):
    """A bad frame field stops the build; `check` shows that error."""
    with pytest.raises(SourceError, match="nobody"):
        found(world, '<text y="20" data-frame-text="{nobody}"/>')


@pytest.mark.oracle
def test_the_peers_examples_have_no_errors(world):
    """They are what the format's authors mean by sound."""
    home = importlib.util.find_spec("nanoframes").submodule_search_locations[0]
    paths = sorted(glob.glob(os.path.join(home, "examples", "*.nf.svg")))
    assert len(paths) == 12
    examples = World(os.path.join(home, "examples"), world.folder, [sarasa()])
    try:
        for path in paths:
            composition = examples.load(os.path.basename(path))
            findings = check(composition, examples.services, Limits())
            assert [f for f in findings if f.severity == "error"] == []
            noisy = {f.code for f in findings} - {"text.size_dropped", "render.inert_tspan"}
            assert noisy <= {"animation.unanchored_pivot", "text.unresolved_family"}, (
                path,
                findings,
            )
    finally:
        examples.rasterizer.close()
