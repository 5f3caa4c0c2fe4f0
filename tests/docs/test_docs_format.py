"""`docs/format.md` is true: its examples build, its pictures are today's, its tables complete."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from docs_gaps import GAPS, TRUTHS

from nfbuild.render.build import platform_tag
from nfbuild.scene.ease import NAMED
from nfbuild.scene.frametext import FIELDS
from nfbuild.scene.layout.apply import LAYOUT_ATTRIBUTES
from nfbuild.scene.lint.check import ERRORS
from nfbuild.scene.timeline import PROPERTIES

PACKAGE = Path(__file__).parents[2] / "nfbuild"
CODE = re.compile(
    r"(?:animation|canvas|frame|geometry|image|lottie|media|render|structure|text)\.[a-z_]+"
)
LANE = "linux-x86_64"


def section(page: str, title: str) -> str:
    """Return the page from one heading to the next of the same depth or a lesser one."""
    found = re.search(rf"^(#+) {re.escape(title)}$", page, re.MULTILINE)
    assert found is not None, title
    end = re.search(rf"^#{{1,{len(found[1])}}} ", page[found.end() :], re.MULTILINE)
    return page[found.end() :] if end is None else page[found.end() :][: end.start()]


def rows(text: str) -> list[list[str]]:
    """Return the cells of all table rows in a text, without heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    heads = {number - 1 for number, row in enumerate(cells) if set(row[0]) == {"-"}}
    return [row for number, row in enumerate(cells) if number not in heads and set(row[0]) != {"-"}]


def names(cells: list[str]) -> list[str]:
    """Return what stands in backticks in the cells, without arguments of a function."""
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def codes_of_the_program() -> tuple[set[str], set[str]]:
    """Return the codes that findings have, and those that errors have."""
    said, errors = set(), set()
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "code":
                if isinstance(node.value, ast.Constant) and CODE.fullmatch(str(node.value.value)):
                    errors.add(str(node.value.value))
            elif isinstance(node, ast.Constant) and path.is_relative_to(PACKAGE / "scene"):
                text = str(node.value)
                said |= {text} if CODE.fullmatch(text) else set()
    return said - errors, errors


def test_every_example_builds(docs, page, built):
    """One build of all of them, from what stands on the page."""
    listed = {each.path for each in docs.examples(page)}
    compositions = {row["source"] for row in built.build["compositions"]}

    assert len(listed) >= 13
    assert {path for path in listed if path.startswith("compositions/")} <= compositions
    assert built.build["errors"] == []
    assert built.exits == (0, 0)


def test_every_block_of_the_page_is_an_example_or_a_session(docs, page):
    """Nothing that looks like an example is passed over."""
    fences = re.findall(r"^```(\w+)$", page, re.MULTILINE)

    assert len(list(docs.examples(page))) == len([each for each in fences if each != "console"])
    assert fences.count("console") == 1


def test_examples_have_the_findings_that_they_announce(docs, page, built):
    """None, where none is announced."""
    announced = {each.path: sorted(each.findings) for each in docs.examples(page)}
    announced["compositions/eases.nf.svg"] = []

    assert {path: built.codes(path) for path in announced} == announced
    assert sum(map(bool, announced.values())) == 1


def test_the_session_with_check_is_what_it_prints(docs, page, built):
    """Word for word."""
    block = re.search(
        r"^```console\n\$ nfbuild (check \w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    assert block is not None
    printed = docs.run(built.folder, *block[1].split()).stdout

    assert printed.rstrip("\n") == block[2].rstrip("\n")


@pytest.mark.skipif(platform_tag() != LANE, reason=f"the pictures are those of {LANE}")
def test_pictures_are_what_is_drawn_today(docs, page, built):
    """Pixel for pixel; `python scripts/draw_docs.py` writes them afresh."""
    shown = docs.pictures(page)
    moved = [one.file for one in shown if not docs.is_kept(one, docs.drawn(built.folder, one))]

    assert moved == []
    assert sorted(one.file for one in shown) == sorted(
        path.name for path in docs.PICTURES.glob("*.png")
    )
    assert page.count("](pictures/") == len(shown) + 1  # and the composition of the eases


def test_a_moved_pixel_is_seen(docs, page, built):
    """The comparison is of pixels, not of names."""
    one = docs.pictures(page)[0]
    image = docs.drawn(built.folder, one)
    image.putpixel((0, 0), (1, 2, 3, 255))

    assert not docs.is_kept(one, image)


def test_the_picture_of_eases_is_of_the_eases_of_the_program(docs):
    """A new ease, or another curve, has to be shown."""
    assert docs.EASES.read_text("utf-8") == docs.eases()


@pytest.mark.parametrize("row", GAPS)
def test_what_is_not_drawn_is_not_drawn(page, built, row):
    """Each row of the table: the scene draws as the one without it, and `check` as it says."""
    gap = GAPS[row]
    number = list(GAPS).index(row)
    stem = f"gap-{number:02d}"
    drawn = built.pair(stem)
    told = next(cells for cells in rows(section(page, NOT_DRAWN)) if cells[0] == row)

    assert drawn[0] == drawn[1]
    assert bool(built.codes(f"compositions/{stem}-written.nf.svg")) is gap.found
    assert told[-1] == ("✓" if gap.found else "")
    assert built.codes(f"compositions/{stem}-instead.nf.svg") == []


@pytest.mark.parametrize("sentence", TRUTHS)
def test_what_the_page_says_of_drawing_holds(page, built, sentence):
    """A sentence that is on the page, and two scenes that draw the same because of it."""
    drawn = built.pair(f"truth-{list(TRUTHS).index(sentence):02d}")

    assert sentence in " ".join(page.split())
    assert drawn[0] == drawn[1]


def test_the_scenes_of_the_pairs_differ_from_each_other(built):
    """Pairs are equal for their own reason, and not because nothing is drawn in them."""
    stems = [f"gap-{number:02d}" for number in range(len(GAPS))]
    stems += [f"truth-{number:02d}" for number in range(len(TRUTHS))]

    assert len({built.pair(stem)[1] for stem in stems}) > len(stems) / 2


NOT_DRAWN = "What is not drawn, and what to write instead"


def test_a_shape_inside_a_text_is_an_error(docs, tmp_path):
    """The one row that is no picture."""
    (tmp_path / "compositions").mkdir()
    (tmp_path / "compositions" / "bad.nf.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" data-width="9" data-height="9" data-duration="1">'
        "<text><rect/></text></svg>"
    )
    checked = docs.run(tmp_path, "check")

    assert checked.returncode == 3
    assert "stands inside" in checked.stderr


def test_the_table_of_what_is_not_drawn_is_the_one_that_is_tried(page):
    """No row without its proof."""
    told = [cells[0] for cells in rows(section(page, NOT_DRAWN))]

    assert sorted(told) == sorted([*GAPS, "a shape inside `<text>`"])


def test_the_table_of_findings_is_complete(page):
    """Every code of the program, each with its severity."""
    table = [row for row in rows(section(page, "What `check` says")) if len(row) == 4]
    told = {names([row[0]])[0]: row[1] for row in table}
    findings, _ = codes_of_the_program()

    assert {code: "error" if code in ERRORS else "warning" for code in findings} == told
    assert len(table) == len(told)
    assert all(row[2] and row[3] for row in table)


def test_the_table_of_errors_is_complete(page):
    """Every code that stops a composition because of what its author wrote."""
    table = [row for row in rows(section(page, "What `check` says")) if len(row) == 2]
    _, errors = codes_of_the_program()

    assert sorted(name for row in table for name in names([row[0]])) == sorted(errors)


def test_tables_name_what_the_program_knows(page):
    """Eases, animated properties, fields of a frame's words, attributes of layout."""
    eases = names([row[0] for row in rows(section(page, "Eases"))])
    properties = [
        name
        for row in rows(section(page, "The timeline"))
        for name in names([row[0]])
        if name in PROPERTIES
    ]
    fields = names([row[0] for row in rows(section(page, "Words of the frame"))])
    layout = names([row[0] for row in rows(section(page, "Layout"))])

    assert eases == [*eases[:-1], "cubic-bezier(x1, y1, x2, y2)"]
    assert sorted(eases[:-1]) == sorted(NAMED)
    assert sorted(properties) == [*PROPERTIES[:3], "transform"]
    assert sorted(fields) == sorted(f"{{{field}}}" for field in FIELDS)
    assert set(LAYOUT_ATTRIBUTES) <= set(layout)
