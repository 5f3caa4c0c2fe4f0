"""Large compositions: they build within a worker's gigabyte, or a limit that can be raised says no.

Measured on 3840 x 2160 (x86-64, thorvg-python 1.1.3), the most that any worker held: 5,000 elements
92 MB, a path of 40,000 points 88 MB, 2,000 nested groups 169 MB, thirty megapixels of JPEG or PNG
217 MB, of CMYK (decoded by Pillow first) 563 MB, the first four in one frame 317 MB. Every level of
nested translucent groups takes another canvas, 33 MB: some 25 of them are within a gigabyte.
"""

from __future__ import annotations

import io

import pytest
from PIL import Image

CONFIGURATION = '[project]\n[limits]\nworker_memory = "1 GB"\n'
HEAD_4K = (
    '<svg xmlns="http://www.w3.org/2000/svg" data-width="3840" data-height="2160" data-fps="10"'
    ' data-duration="0.2">'
)


def photograph(kind):
    """Thirty megapixels that do not pack to nothing."""
    file = io.BytesIO()
    tile = Image.effect_noise((250, 250), 60).convert("RGB")
    picture = Image.new("RGB", (6000, 5000))
    for y in range(0, 5000, 250):
        for x in range(0, 6000, 250):
            picture.paste(tile, (x, y))
    if kind == "PNG":
        picture.save(file, "PNG", compress_level=1)
    elif kind == "CMYK":
        picture.convert("CMYK").save(file, "JPEG", quality=60)
    else:
        picture.save(file, kind, quality=60)
    return file.getvalue()


def points(count):
    """A path of `count` points that goes to and fro, row by row."""
    place = 7
    words = []
    for number in range(count):
        place = (place * 1103515245 + 12345) % 2147483648
        row, along = divmod(19 * number, 3840)
        words.append(f"{3840 - along if row % 2 else along} {10 * row + place % 13}")
    return "M" + "L".join(words)


IMAGE = '<image href="large.bin" width="3840" height="2160"/>'
PATH = f'<path fill="none" stroke="#f80" stroke-width="0.5" d="{points(40_000)}"/>'
ELEMENTS = "".join(
    f'<rect x="{i % 100 * 38}" y="{i // 100 * 43}" width="30" height="30" fill="#{i:06x}"/>'
    for i in range(5_000)
)
GROUPS = (
    "".join('<g opacity="0.99">' if i % 500 == 0 else "<g>" for i in range(2_000))
    + '<circle cx="1900" cy="1000" r="900" fill="#08f"/>'
    + "</g>" * 2_000
)


# The body, the kind of its picture, and whether its document has other limits to pass.
CASES = {
    "elements": (ELEMENTS, None),
    "groups": (GROUPS, None),
    "path": (PATH, None),
    "picture": (IMAGE, "JPEG"),
    "decoded picture": (IMAGE, "CMYK"),
    "all at once": (IMAGE + ELEMENTS + GROUPS + PATH, "PNG"),
}


@pytest.mark.process
@pytest.mark.parametrize("kind", CASES)
def test_a_large_frame_builds_within_a_gigabyte(space, kind):
    """One worker, whose private memory the system bounds."""
    body, picture = CASES[kind]
    space.write("nfbuild.toml", CONFIGURATION)
    if picture is not None:
        space.write("compositions/large.bin", photograph(picture))
    space.compose("large", f"{HEAD_4K}{body}</svg>")
    ran = space.build()

    assert (ran.exit, ran.report.errors) == (0, [])
    assert len(ran.rendered) == 1


def translucent(levels):
    """Groups that each need a canvas of their own while the one around them is drawn."""
    start = "".join(f'<g opacity="0.9"><path d="M{i} 0h3840v2160z"/>' for i in range(levels))
    return f"{start}<rect width='3840' height='2160'/>{'</g>' * levels}"


@pytest.mark.process
def test_what_needs_more_memory_names_the_limit_and_builds_where_it_is_raised(space):
    """The rasterizer crashes where it gets no memory; the message knows better."""
    space.write("nfbuild.toml", CONFIGURATION.replace("1 GB", "500 MB"))
    space.compose("deep", f"{HEAD_4K}{translucent(20)}</svg>")
    refused = space.build()
    space.write("nfbuild.toml", CONFIGURATION.replace("1 GB", "2 GB"))

    assert [error.code for error in refused.report.errors] == ["draw.memory"]
    assert "`worker_memory`" in refused.report.errors[0].hint
    assert space.build().exit == 0


LIMITS = {
    "canvas_pixels": (1_000_000, ""),
    "canvas_side": (2_000, ""),
    "elements": (4_000, ELEMENTS),
    "depth": (1_000, GROUPS),
    "document_size": ("300 KB", PATH),
    "frames": (1, ""),
}


@pytest.mark.parametrize("key", LIMITS)
def test_a_limit_refuses_by_the_name_that_the_configuration_has(space, key):
    """Whoever reads the message can raise it; the default has room for all of these."""
    value, body = LIMITS[key]
    written = f'"{value}"' if isinstance(value, str) else value
    space.write("nfbuild.toml", f"[project]\n[limits]\n{key} = {written}\n")
    space.compose("large", f"{HEAD_4K}<rect width='9' height='9'/>{body}</svg>")
    ran = space.build()

    (error,) = ran.report.errors
    assert ran.exit == 3
    assert f"raise the limit `{key}`" in error.hint
