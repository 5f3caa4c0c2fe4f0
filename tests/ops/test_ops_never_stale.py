"""Never stale: whatever could move a pixel moves the keys of the frames that it could move."""

from __future__ import annotations

import base64
import importlib.util
import os
import shutil
import struct
import zlib
from pathlib import Path

import pytest
from opspace import HEAD, MOVING, STILL, Space


def png(colour: tuple[int, int, int], side: int = 8) -> bytes:
    """Return a small opaque picture."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    rows = (b"\0" + bytes(colour) * side) * side
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows, 0))
        + chunk(b"IEND", b"")
    )


def face(name: str) -> Path:
    """Return a face of the font package that the project depends on."""
    spec = importlib.util.find_spec("font_source_sans_pro")
    assert spec is not None
    return Path(spec.submodule_search_locations[0]) / "files" / f"SourceSansPro-{name}.ttf"


# One that the compositions below do not embed.
ONE_FACE = '[fonts]\nfaces = ["package:font_source_sans_pro/files/SourceSansPro-Bold.ttf"]\n'


def film(body: str, head: str = "") -> str:
    return f'{HEAD} {head} data-duration="0.2">{body}</svg>'


EDITS = {
    "text": ('<text y="20">a</text>', '<text y="20">b</text>'),
    "tail": ('<text y="20">a<tspan>b</tspan>c</text>', '<text y="20">a<tspan>b</tspan>d</text>'),
    "blanks": (
        '<text y="20" xml:space="preserve">a b</text>',
        '<text y="20" xml:space="preserve">a  b</text>',
    ),
    "order": (
        '<rect width="9" height="9" fill="red"/><rect width="8" height="8" fill="blue"/>',
        '<rect width="8" height="8" fill="blue"/><rect width="9" height="9" fill="red"/>',
    ),
    "namespace": (
        '<rect width="9" height="9" fill="red"/>',
        '<o:rect xmlns:o="urn:other" width="9" height="9" fill="red"/>',
    ),
    "style": (
        '<style>.a{fill:red}</style><rect class="a" width="9" height="9"/>',
        '<style>.a{fill:blue}</style><rect class="a" width="9" height="9"/>',
    ),
}


@pytest.mark.parametrize("kind", EDITS)
def test_what_draws_moves_the_frame(space, kind):
    """Text, tails, preserved blanks, order, namespaces and styles are drawn."""
    before, after = EDITS[kind]
    space.compose("one", film(before))
    first = space.build()
    space.compose("one", film(after))
    second = space.build()

    assert len(first.rendered) == len(second.rendered) == 1
    assert first.row("one").digest != second.row("one").digest


def test_one_byte_deep_in_a_picture_with_its_old_size_and_time(space):
    """A picture is vouched for by its content, and by stat only where that proves something."""
    path = space.write("compositions/dot.png", png((200, 10, 10)))
    space.compose("one", film('<image href="dot.png" width="8" height="8"/>'))
    first = space.build()
    stat = path.stat()
    space.write("compositions/dot.png", png((200, 10, 11)))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    second = space.build()

    assert len(second.rendered) == 1
    assert first.row("one").digest != second.row("one").digest
    assert [reason["part"] for reason in second.row("one").reasons] == ["media"]
    assert space.json()["totals"]["rendered"] == 0


def test_the_shortcut_sees_it_too(space):
    """The same through the program, whose second run rests on the state file."""
    path = space.write("compositions/dot.png", png((200, 10, 10)))
    space.compose("one", film('<image href="dot.png" width="8" height="8"/>'))
    assert space.json()["totals"]["rendered"] == 1
    assert space.json()["totals"]["rendered"] == 0
    stat = path.stat()
    space.write("compositions/dot.png", png((200, 10, 11)))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert space.json()["totals"]["rendered"] == 1


def test_another_file_under_a_configured_face(space):
    """A face is its content."""
    shutil.copy(face("Regular"), space.root / "face.ttf")
    space.write("nfbuild.toml", '[fonts]\nfaces = ["face.ttf"]\n')
    space.compose("still", STILL)
    space.compose("moving", MOVING)
    space.build()
    shutil.copy(face("Bold"), space.root / "face.ttf")
    ran = space.verify()

    rows = {row.name: row for row in ran.report.rows}
    assert rows["still"].verdict == "changed"
    assert {reason["part"] for reason in rows["still"].reasons} == {"fonts"}
    assert rows["moving"].verdict == "match"


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_two_compositions_that_embed_different_faces_under_one_name(space, order):
    """An embedded face belongs to its composition, whichever is drawn first."""
    style = (
        "<style>@font-face{{font-family:'Own';src:url(data:font/ttf;base64,{})}}</style>"
        '<text y="20" font-size="18" font-family="Own">R</text>'
    )
    alone = {}
    space.write("nfbuild.toml", ONE_FACE)
    for name, weight in (("a", "Regular"), ("b", "Black")):
        data = base64.b64encode(face(weight).read_bytes()).decode()
        single = Space(space.root.parent / f"alone-{name}", ONE_FACE)
        single.compose("one", film(style.format(data)))
        alone[name] = single.build().row("one").digest
        space.compose(f"{order.index(name)}-{name}", film(style.format(data)))
    ran = space.build()

    assert alone["a"] != alone["b"]
    assert {row.name[-1]: row.digest for row in ran.report.rows} == alone


def test_a_module_of_the_core_moves_every_key_and_another_none(space, tmp_path):
    """The pixel core draws; the rest of the program does not."""
    package = tmp_path / "lib" / "nfbuild"
    shutil.copytree(
        Path(importlib.util.find_spec("nfbuild").submodule_search_locations[0]),
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    space.compose("moving")
    environment = {"PYTHONPATH": str(package.parent)}
    first = space.json(**environment)
    with (package / "cli" / "plain.py").open("a") as file:
        file.write("\n# another word\n")
    second = space.json("build", "--rehash", **environment)
    with (package / "scene" / "tree.py").open("a") as file:
        file.write("\n# another word\n")
    third = space.json(**environment)

    assert first["totals"]["rendered"] == 6
    assert second["totals"]["rendered"] == 0
    assert third["totals"]["rendered"] == 6
    assert third["compositions"][0]["verdict"] == "match"
    assert [r["what"] for r in third["compositions"][0]["reasons"]] == ["nfbuild/scene/tree.py"]


def test_the_library_s_bytes_move_every_key(space, monkeypatch):
    """The rasterizer is its bytes, not its version."""
    from nfbuild.dataclasses import replace
    from nfbuild.ops.run import session
    from nfbuild.ops.run.toolchain import read_toolchain

    space.compose("moving")
    assert len(space.build().rendered) == 6
    real = read_toolchain()
    other = replace(real, base={**real.base, "libthorvg": "0" * 64}, _parts={})
    monkeypatch.setattr(session, "read_toolchain", lambda: other)
    ran = space.build()

    assert len(ran.rendered) == 6
    assert ran.row("moving").verdict == "match"
    assert [reason["what"] for reason in ran.row("moving").reasons] == ["libthorvg"]
