"""Surroundings of the render tests: a staging folder, two faces, the peer's baked documents."""

import glob
import os
import re
import subprocess
import sys

import pytest
from render_pieces import folder_of, pieces_of

from nfbuild.digests import file_digest

# Pictures of all kinds are made once, beside the tests of the pixel room.
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "pixels"))


@pytest.fixture(scope="session", autouse=True)
def answers(tmp_path_factory):
    """Where child processes leave their answers."""
    os.environ["NFBUILD_TEST_ANSWERS"] = str(tmp_path_factory.mktemp("answers"))


@pytest.fixture(scope="session")
def face_paths():
    """The two faces of the tests: the default face, and the peer's big CJK face."""
    sans = glob.glob(
        os.path.join(folder_of("font_source_sans_pro"), "**", "SourceSansPro-Regular.ttf"),
        recursive=True,
    )[0]
    mono = os.path.join(folder_of("nanoframes"), "fonts", "Sarasa Mono SC.ttf")
    return {"sans": sans, "mono": mono}


@pytest.fixture(scope="session")
def face_digests(face_paths):
    digests = {}
    for name, path in face_paths.items():
        with open(path, "rb") as file:
            digests[name] = file_digest(file.read())
    return digests


@pytest.fixture(scope="session")
def faces(face_paths, face_digests):
    """What a setup gets: digest to path."""
    return {face_digests[name]: face_paths[name] for name in face_paths}


@pytest.fixture
def staging(tmp_path):
    folder = tmp_path / "staging"
    folder.mkdir()
    return folder


@pytest.fixture
def stage(staging):
    """Put a picture into the staging folder; return its name."""

    def put(data, suffix=".png", name=None):
        name = name or file_digest(data) + suffix
        (staging / name).write_bytes(data)
        return name

    return put


@pytest.fixture(scope="session")
def baked(tmp_path_factory, face_digests):
    """The peer's baked documents of a few of its examples, as nfbuild would name things.

    A dictionary: composition name to documents; pictures are named by digest, families too.
    """
    out = tmp_path_factory.mktemp("baked")
    examples = os.path.join(folder_of("nanoframes"), "examples")
    with open(os.path.join(examples, "assets", "dot.png"), "rb") as file:
        dot = file.read()
    (out / "pictures").mkdir()
    (out / "pictures" / f"{file_digest(dot)}.png").write_bytes(dot)
    documents = {}
    for name in ("master-demo", "nested-card", "title-card", "text-measure", "org-chart"):
        subprocess.run(
            [
                *(sys.executable, "-m", "nanoframes", "svg", f"{name}.nf.svg"),
                *("--all", "--with-measure", "-o", str(out / name)),
            ],
            cwd=examples,
            check=True,
            capture_output=True,
        )
        found = []
        for path in sorted(glob.glob(str(out / name / "*.svg")))[::7]:
            with open(path, "rb") as file:
                document = file.read()
            document = document.replace(b"Sarasa Mono SC", face_digests["mono"].encode())
            document = re.sub(
                rb'href="[^"#]*dot\.png"', b'href="%s.png"' % file_digest(dot).encode(), document
            )
            assert pieces_of(document)[1]
            found.append(document)
        documents[name] = found
    return documents, out / "pictures"


@pytest.fixture
def tasks_of(baked, staging, face_digests):
    """Tasks that draw the baked documents of one of the peer's compositions."""
    from nfbuild.render.tasks import DrawTask

    documents, pictures = baked
    for path in pictures.iterdir():
        (staging / path.name).write_bytes(path.read_bytes())

    def make(name, scale=1, **more):
        tasks = []
        for document in documents[name]:
            size = re.search(rb' width="(\d+)" height="(\d+)"', document)
            width, height = (int(side) * scale for side in size.groups())
            named = re.findall(rb'href="([0-9a-f]{64}\.png)"', document)
            tasks.append(
                DrawTask(
                    document,
                    width,
                    height,
                    pictures=tuple(sorted({part.decode() for part in named})),
                    faces=(face_digests["mono"],),
                    **more,
                )
            )
        return tasks

    return make
