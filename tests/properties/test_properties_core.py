"""The pixel core is what bake and draw load: no module more, none less."""

import io
import json
import os
import subprocess
import sys
from fractions import Fraction

import mutation_pictures
import pytest
from mutation_cases import lottie

from nfbuild.core import CORE_MODULES, CORE_ROOMS, OUTSIDE_THE_CORE, core_files, package_folder
from nfbuild.identity.toolchain import core_digests

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" data-width="64" data-height="36" data-fps="10"'
TEXT = (
    f'{HEAD} data-duration="0.3"><style>.a{{fill:red}}</style>'
    '<text class="a" x="4" y="9" font-size="8" data-wrap="30">wrapped words here</text>'
    '<text x="4" y="20" font-size="20" data-fit="30">fitted</text>'
    '<text id="chip" x="4" y="30" font-size="8" data-bg="#123456">chip</text>'
    '<text x="4" y="30" font-size="8" data-curve-circle="30 20 10">curved</text>'
    '<text x="40" y="30" font-size="8" data-frame-text="{frame}">0</text>'
    '<script type="application/nanoframes+json">{"animations": [{"target": "#chip", "keyframes": '
    '[{"t": 0, "transform": {"scale": [1, 1], "center": "auto"}}, {"t": 0.2, "ease": "ease-in", '
    '"transform": {"scale": [2, 2], "center": "auto"}}]}]}</script></svg>'
)


def _picture(kind):
    from PIL import Image

    out = io.BytesIO()
    mode = "CMYK" if kind == "JPEG" else "P"
    Image.new(mode, (12, 9), 7 if mode == "P" else (9, 99, 199, 0)).save(out, kind)
    return out.getvalue()


def _film():
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 32, 24, "yuv420p"
        for number in range(3):
            frame = av.VideoFrame(32, 24, "yuv420p")
            for plane in frame.planes:
                plane.update(bytes([60 + 40 * number]) * plane.buffer_size)
            frame.pts, frame.time_base = number, Fraction(1, 10)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def _archive(scene):
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"animations": [{"id": "scene"}]}))
        archive.writestr("animations/scene.json", scene)
    return out.getvalue()


def _image(name):
    return (
        f'{HEAD} data-duration="0.2"><image id="i" href="{name}" x="3" y="2" width="30" height="20"'
        ' data-aspect="cover"/></svg>'
    )


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """What a fresh process has loaded after one composition of each kind; which were drawn."""
    folder = tmp_path_factory.mktemp("core")
    case = lottie(1)
    scene = case.files[case.main]
    files = {
        "nfbuild.toml": '[project]\ncompositions = ["compositions/**/*.nf.svg", '
        '"compositions/*.lottie", "compositions/*.lottie.json", "compositions/still.svg"]\n'
        '[fonts]\nfaces = ["package:font_source_sans_pro/files/SourceSansPro-Regular.ttf"]\n',
        "compositions/text.nf.svg": TEXT,
        "compositions/still.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
        '<circle r="5"/></svg>',
        "compositions/nested.nf.svg": _image("text.nf.svg"),
        "compositions/plain.nf.svg": _image("dots.png"),
        "compositions/dots.png": mutation_pictures.png(9, 9, lambda x, y: (x, y, 9, 255)),
        "compositions/foreign.nf.svg": _image("foreign.gif"),
        "compositions/foreign.gif": _picture("GIF"),
        "compositions/four.nf.svg": _image("four.jpg"),
        "compositions/four.jpg": _picture("JPEG"),
        "compositions/film.nf.svg": _image("film.mp4"),
        "compositions/film.mp4": _film(),
        "compositions/scene.lottie.json": scene,
        "compositions/packed.lottie": _archive(scene),
    }
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = subprocess.run(
        [sys.executable, os.path.join(HERE, "core_child.py"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.process
def test_each_kind_was_drawn(loaded):
    """The process did what it is looked at for."""
    assert set(loaded["drawn"].values()) == {"None"}, loaded["drawn"]
    assert loaded["left"] == 0
    assert len(loaded["drawn"]) == 9


@pytest.mark.process
def test_the_core_is_what_baking_and_drawing_load(loaded):
    """A module that is loaded and not hashed could change pixels; the other way costs drawings."""
    rooms = tuple(f"nfbuild.{room}" for room in CORE_ROOMS)
    names = {f"nfbuild.{module.removesuffix('.py')}" for module in CORE_MODULES}
    found = {
        name
        for name in loaded["loaded"]
        if name in names or name in rooms or name.startswith(tuple(f"{room}." for room in rooms))
    }
    hashed = {_module(path) for path in core_files()}

    assert found - hashed == set()
    assert hashed - found == set()


@pytest.mark.process
def test_what_is_outside_is_not_loaded(loaded):
    """Wording of findings, comparing of finished frames: nothing of it when frames are drawn."""
    outside = {_module(path) for path in OUTSIDE_THE_CORE}

    assert [name for name in loaded["loaded"] if name.startswith(tuple(outside))] == []


def _module(path):
    return f"nfbuild.{path.removesuffix('.py').removesuffix('/__init__')}".replace("/", ".")


def test_what_is_outside_is_there():
    """An exemption of something that was renamed would exempt nothing, or the wrong thing."""
    for path in OUTSIDE_THE_CORE:
        assert os.path.exists(os.path.join(package_folder(), path))


def test_line_ends_of_the_core_are_no_input(tmp_path):
    """A checkout with other line ends is the same core; another byte is another."""
    import shutil

    copy = tmp_path / "nfbuild"
    shutil.copytree(package_folder(), copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = core_digests(str(copy))
    for name in core_files(str(copy)):
        path = copy / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert core_digests(str(copy)) == before
    path = copy / "scene" / "ease.py"
    path.write_bytes(path.read_bytes() + b"\n")
    after = core_digests(str(copy))
    assert [name for name in before if before[name] != after[name]] == ["nfbuild/scene/ease.py"]
