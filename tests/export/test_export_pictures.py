"""Contact sheets and onion skins: the right pixels at the right places."""

from __future__ import annotations

import pytest
from export_frames import Frames, flat

from nfbuild.errors import UsageError
from nfbuild.export.pictures import SheetLayout, contact_sheet, onion_skin, sheet_layout, spread
from nfbuild.pixels.png import decode

RED, GREEN, CLEAR = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("count", "wanted", "numbers"),
    [(10, 4, [0, 3, 6, 9]), (3, 9, [0, 1, 2]), (1, 1, [0]), (7, 1, [0]), (100, 3, [0, 50, 99])],
)
def test_frames_are_spread_evenly(count, wanted, numbers):
    """The first and the last are there, nothing twice."""
    assert spread(count, wanted) == numbers


def test_a_sheet_holds_every_frame_in_its_cell(tmp_path):
    """Cells shrink by the mean of squares; gaps stay transparent."""
    size = (4, 2)
    frames = Frames(str(tmp_path), [flat(size, RED), flat(size, GREEN)], [0, 1, 0], size)
    sheet = contact_sheet(frames, [0, 1, 2], SheetLayout(columns=2, shrink=2, gap=1))
    pixels, width, height = decode(sheet)

    assert (width, height) == (1 + 2 * 3, 1 + 2 * 2)
    rows = [[tuple(pixels[4 * (y * width + x) :][:4]) for x in range(width)] for y in range(height)]
    assert rows[1] == [CLEAR, RED, RED, CLEAR, GREEN, GREEN, CLEAR]
    assert rows[3] == [CLEAR, RED, RED, CLEAR, CLEAR, CLEAR, CLEAR]
    assert all(set(rows[y]) == {CLEAR} for y in (0, 2, 4))


def test_shrinking_weighs_colour_by_alpha(tmp_path):
    """A transparent black pixel does not darken its red neighbour."""
    raster = bytes(RED + CLEAR)
    frames = Frames(str(tmp_path), [raster], [0], (2, 1))
    pixels, *size = decode(contact_sheet(frames, [0], SheetLayout(columns=1, shrink=2, gap=0)))

    assert size == [1, 1]
    assert tuple(pixels) == (255, 0, 0, 128)


def test_a_sheet_on_a_background_is_opaque(tmp_path):
    """The colour shows between the cells."""
    frames = Frames(str(tmp_path), [flat((2, 2), RED)], [0], (2, 2))
    layout = SheetLayout(columns=1, shrink=1, gap=1, background=(9, 8, 7))
    pixels, width, _ = decode(contact_sheet(frames, [0], layout))

    assert tuple(pixels[:4]) == (9, 8, 7, 255)
    assert tuple(pixels[4 * (width + 1) :][:4]) == RED


def test_a_sheet_without_frames_or_too_large_is_refused(tmp_path):
    """The message says what to choose otherwise."""
    frames = Frames(str(tmp_path), [flat((2, 2), RED)], [0], (2, 2))
    with pytest.raises(UsageError, match="at least one frame"):
        contact_sheet(frames, [], SheetLayout(columns=1, shrink=1))
    with pytest.raises(UsageError, match="pixels"):
        contact_sheet(frames, [0], SheetLayout(columns=1, shrink=1, gap=20_000))


def test_the_usual_layout_is_about_square(tmp_path):
    """Nine wide frames stand three in a row; cells are no wider than asked."""
    frames = Frames(str(tmp_path), [flat((96, 54), RED)], [0], (96, 54))
    layout = sheet_layout(frames, 9, cell_width=40)

    assert (layout.columns, layout.shrink) == (3, 3)


def test_an_onion_skin_shows_neighbours_where_they_differ(tmp_path):
    """A dot that moves right: red-tinted where it was, blue-tinted where it goes."""
    size = (5, 1)

    def dot(at: int) -> bytes:
        out = bytearray(flat(size, CLEAR))
        out[4 * at : 4 * at + 4] = bytes((200, 200, 200, 255))
        return bytes(out)

    frames = Frames(str(tmp_path), [dot(i) for i in range(5)], [0, 1, 2, 3, 4], size)
    pixels, *_ = decode(onion_skin(frames, 2, before=1, after=1))
    seen = [tuple(pixels[4 * x :][:4]) for x in range(5)]

    assert seen[0] == CLEAR
    assert seen[2] == (200, 200, 200, 255)
    assert seen[4] == CLEAR
    assert seen[1] == (212, 130, 125, 160)
    assert seen[3] == (120, 155, 215, 160)


def test_an_onion_skin_at_the_end_has_what_there_is(tmp_path):
    """Neighbours before the first frame do not exist."""
    frames = Frames(str(tmp_path), [flat((2, 1), RED)], [0], (2, 1))

    assert decode(onion_skin(frames, 0))[0] == flat((2, 1), RED)
    with pytest.raises(UsageError, match="no frame 1"):
        onion_skin(frames, 1)
