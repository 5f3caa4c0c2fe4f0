"""What TrueType files say, against FreeType (through Pillow), and hostile files."""

import glob
import os
import random
import struct

import pytest
from PIL import ImageFont
from render_pieces import folder_of

from nfbuild.errors import FontError
from nfbuild.render.faces import read_face


def family_of(package, pattern):
    return sorted(glob.glob(os.path.join(folder_of(package), "**", pattern), recursive=True))


SANS = family_of("font_source_sans_pro", "*.ttf")
MONO = family_of("nanoframes", "*.ttf")


def data_of(path):
    with open(path, "rb") as file:
        return file.read()


def regular():
    return data_of(next(path for path in SANS if path.endswith("-Regular.ttf")))


def without(data, tag):
    """The file with one table's tag struck out."""
    (count,) = struct.unpack_from(">H", data, 4)
    for at in range(12, 12 + 16 * count, 16):
        if data[at : at + 4] == tag:
            return data[:at] + b"none" + data[at + 4 :]
    raise AssertionError(tag)


@pytest.mark.parametrize("path", SANS + MONO, ids=os.path.basename)
def test_families_are_freetypes(path):
    """FreeType prefers the typographic family too; twelve styles and a CJK face agree."""
    facts = read_face(data_of(path))
    family, style = ImageFont.truetype(path).getname()

    assert facts.family == family
    assert facts.italic == ("Italic" in style)


def test_weights_and_names_of_a_family():
    named = {}
    for path in SANS:
        facts = read_face(data_of(path))
        named[facts.postscript_name] = (facts.plain_family, facts.full_name, facts.weight)

    assert len(named) == 12
    assert named["SourceSansPro-Regular"] == ("Source Sans Pro", "Source Sans Pro", 400)
    assert named["SourceSansPro-Bold"] == ("Source Sans Pro", "Source Sans Pro Bold", 700)
    assert named["SourceSansPro-SemiboldIt"] == (
        "Source Sans Pro Semibold",
        "Source Sans Pro Semibold Italic",
        600,
    )
    assert {weight for _, _, weight in named.values()} == {200, 300, 400, 600, 700, 900}


@pytest.mark.parametrize("path", [*SANS[:2], *MONO], ids=os.path.basename)
def test_coverage_is_freetypes(path):
    """A character is covered exactly when FreeType draws it otherwise than the missing glyph."""
    facts = read_face(data_of(path))
    font = ImageFont.truetype(path, 24, layout_engine=ImageFont.Layout.BASIC)
    missing = font.getmask("\U0010fffd")
    shape = (missing.size, bytes(missing))
    seen = {True: 0, False: 0}
    for character in [*range(0x21, 0x600), *range(0x2000, 0x2800, 3), *range(0x4E00, 0x9000, 97)]:
        drawn = font.getmask(chr(character))
        differs = (drawn.size, bytes(drawn)) != shape
        covered = facts.covers(character)
        seen[covered] += 1
        assert covered or not differs, hex(character)
        if not covered:
            continue
        # A covered character may look like the missing glyph (a blank), seldom otherwise.
        assert differs or not any(bytes(drawn)), hex(character)

    assert seen[True] > 200
    assert seen[False] > 200
    assert not any(facts.covers(c) for c in (-1, 0x110000, 0x10FFFF))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"OTTO" + bytes(40), "CFF outlines"),
        (b"ttcf" + bytes(40), "collection"),
        (b"wOF2" + bytes(40), "web font"),
        (b"wOFF" + bytes(40), "web font"),
        (b"", "not a TrueType face"),
        (b"<svg/>", "not a TrueType face"),
        (b"\0\1\0\0", "damaged"),
        (b"\0\1\0\0" + bytes(8), "no table `cmap`"),
        (b"\0\1\0\0\xff\xff" + bytes(200), "damaged"),
    ],
)
def test_what_the_rasterizer_cannot_read_is_refused(data, message):
    with pytest.raises(FontError, match=message) as caught:
        read_face(data, name="fonts/a.otf")

    assert "`fonts/a.otf`" in caught.value.message
    assert caught.value.hint


def test_real_cff_faces_are_refused():
    """The same family's OTF files, which ThorVG refuses with result 5."""
    for path in family_of("font_source_sans_pro", "*.otf")[:3]:
        with pytest.raises(FontError, match="CFF"):
            read_face(data_of(path))


@pytest.mark.parametrize("tag", [b"glyf", b"cmap", b"head", b"loca", b"hmtx", b"maxp", b"hhea"])
def test_a_face_without_a_needed_table_is_refused(tag):
    with pytest.raises(FontError, match=f"no table `{tag.decode()}`"):
        read_face(without(regular(), tag))


def test_a_face_may_lack_names_and_style():
    """They decide how a face is found, not whether it can be drawn."""
    nameless = read_face(without(regular(), b"name"))
    styleless = read_face(without(regular(), b"OS/2"))

    assert (nameless.family, nameless.full_name, nameless.postscript_name) == ("", "", "")
    assert (styleless.weight, styleless.italic) == (400, False)


def test_truncated_files_are_clear_errors():
    data = regular()
    for length in [*range(300), *range(300, len(data), 3_001)]:
        with pytest.raises(FontError):
            read_face(data[:length])


def test_hostile_files_are_clear_errors_or_faces():
    """Seeded noise in tables and directory raises FontError or gives a face that answers."""
    source = random.Random(11)
    data = regular()
    tables = {}
    (count,) = struct.unpack_from(">H", data, 4)
    for at in range(12, 12 + 16 * count, 16):
        tag, _, offset, length = struct.unpack_from(">4sIII", data, at)
        tables[tag] = (offset, length)
    answered = 0
    for turn in range(600):
        noisy = bytearray(data)
        places = [(0, 12 + 16 * count)] if turn % 4 == 0 else []
        places += [tables[tag] for tag in (b"cmap", b"name", b"OS/2", b"head")]
        for _ in range(source.randrange(1, 9)):
            start, length = source.choice(places)
            noisy[start + source.randrange(min(length, 400))] = source.randrange(256)
        try:
            facts = read_face(bytes(noisy))
            answered += sum(facts.covers(c) for c in (0, 65, 0x3A9, 0xFFFF, 0x10000, 0x10FFFF)) > 0
        except FontError:
            continue
        assert 1 <= facts.weight <= 1000

    assert answered > 100
