"""Bad input: a message with place, fact and hint, and every other composition is built."""

from __future__ import annotations

import pytest
from opspace import HEAD, MOVING, STILL

WHOLE = MOVING.encode()

BROKEN = {
    "empty": b"",
    "blank": b"  \n ",
    "text": b"not a composition",
    "utf-16 cut": MOVING.encode("utf-16")[:101],
    "unknown entity": MOVING.replace("<rect", "&nope;<rect", 1).encode(),
    "bomb": (
        '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(12))
        + "]>"
        + MOVING.replace("<rect", "&m;<rect", 1)
    ).encode(),
    "zero canvas": MOVING.replace('data-width="64"', 'data-width="0"').encode(),
    "huge canvas": MOVING.replace('data-width="64"', 'data-width="9999999"').encode(),
    "no number": MOVING.replace('data-width="64"', 'data-width="wide"').encode(),
    "zero rate": MOVING.replace('data-fps="10"', 'data-fps="0"').encode(),
    "bad duration": MOVING.replace('data-duration="1"', 'data-duration="-1"').encode(),
    "bad json": MOVING.replace('"animations"', "animations").encode(),
    "missing image": MOVING.replace("<rect", '<image id="pic" href="no.png"/><rect', 1).encode(),
    "http image": MOVING.replace("<rect", '<image href="http://x/y.png"/><rect', 1).encode(),
    "bad rotate": MOVING.replace('"translate": [40, 0]', '"rotate": {"by": 3}').encode(),
    "bad scale": MOVING.replace('"translate": [40, 0]', '"scale": "big"').encode(),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_composition_is_one_clear_message(space, kind):
    """The fault is named with its place; nothing else suffers."""
    space.write("compositions/broken.nf.svg", BROKEN[kind])
    space.compose("still", STILL)
    ran = space.build()
    errors = ran.report.errors

    assert ran.exit == 3
    assert [error.composition for error in errors] == ["broken"]
    assert errors[0].file == "compositions/broken.nf.svg"
    assert errors[0].message
    assert errors[0].hint
    assert ran.row("broken").verdict == "failed"
    assert ran.row("still").written


def test_a_missing_image_names_element_and_file(space):
    """Never a silent hole."""
    space.write("compositions/broken.nf.svg", BROKEN["missing image"])
    error = space.build().report.errors[0]

    assert "no.png" in error.message
    assert error.line == 2


def test_cut_off_anywhere(space):
    """A document cut at any byte ends in frames or in one message."""
    for cut in range(0, len(WHOLE), 61):
        space.write("compositions/broken.nf.svg", WHOLE[:cut])
        ran = space.build()
        assert (ran.exit, len(ran.report.errors)) == (3, 1), cut


def test_a_directory_in_place_of_a_composition(space):
    """A folder of that name is no composition."""
    (space.root / "compositions" / "folder.nf.svg").mkdir(parents=True)
    space.compose("still", STILL)
    ran = space.build()

    assert ran.row("still").written
    assert ran.exit in (0, 3)
    assert len(ran.report.errors) == (ran.exit == 3)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings_are_read(space, encoding):
    """UTF-16 and a byte-order mark are XML's own."""
    space.compose("plain")
    space.write("compositions/other.nf.svg", MOVING.encode(encoding))
    ran = space.build()

    assert ran.exit == 0
    assert {name for name, _ in ran.rendered} == {"other"}
    assert ran.row("other").digest == ran.row("plain").digest


def test_entities_expand(space):
    """An entity is its text, in attributes too."""
    space.compose("plain", STILL)
    body = STILL.replace("#203040", "&dark;").replace("Still", "&word;")
    space.compose("with", '<!DOCTYPE svg [<!ENTITY dark "#203040"><!ENTITY word "Still">]>' + body)
    ran = space.build()

    assert ran.row("with").digest == ran.row("plain").digest


def test_a_target_that_matches_nothing_is_a_warning_with_a_hint(space):
    """Drawn as the peer draws it, and said."""
    space.compose("moving", MOVING.replace('"target": "#box"', '"target": "#bx"'))
    ran = space.build()
    warnings = ran.report.warnings

    assert ran.exit == 0
    assert [(w["file"], w["composition"]) for w in warnings] == [
        ("compositions/moving.nf.svg", "moving")
    ]
    assert "#bx" in warnings[0]["message"]
    assert "#box" in (warnings[0]["hint"] or "")


def test_an_unknown_ease_is_a_warning(space):
    """It interpolates linearly, as the peer does, and is said."""
    space.compose("linear")
    space.compose("odd", MOVING.replace("[40, 0]}", '[40, 0]}, "ease": "eas-in"'))
    ran = space.build()

    assert ran.row("odd").digest == ran.row("linear").digest
    assert any("eas-in" in warning["message"] for warning in ran.report.warnings)


def test_the_program_prints_no_traceback(space):
    """A user's mistake is a message and an exit code."""
    space.write("compositions/broken.nf.svg", BROKEN["bad json"])
    ran = space.run()

    assert ran.returncode == 3
    assert "Traceback" not in ran.stderr
    assert "compositions/broken.nf.svg:" in ran.stderr
    assert "hint: " in ran.stderr


def test_a_frame_that_kills_its_worker_is_named_and_the_rest_is_built(space):
    """The frame, its composition and its time; exit 3."""
    deadly = MOVING.replace('"translate": [40, 0]}}', '"translate": [40, 0]}, "fill": "#dead00"}')
    space.compose("deadly", deadly.replace('{"t": 0,', '{"t": 0, "fill": "#dead00",'))
    space.compose("still", STILL)
    ran = space.build(target="doubles:DyingWorker")
    error = ran.report.errors[0]

    assert ran.exit == 3
    assert error.composition == "deadly"
    assert "frame 0 (0.000 s)" in error.message
    assert ran.row("still").written
    assert HEAD in space.read("compositions/deadly.nf.svg")
