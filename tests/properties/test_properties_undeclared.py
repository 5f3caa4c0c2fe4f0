"""Undeclared inputs: a worker that looks at what no key names fails the build, by name."""

import io
import json
import os
import shutil
import subprocess
import sys

import pytest

from nfbuild.core import core_files, package_folder
from nfbuild.execute.launch import FIXED_ENVIRONMENT, PASSED_ON

HERE = os.path.dirname(os.path.abspath(__file__))
MOVING = (
    '<svg xmlns="http://www.w3.org/2000/svg" data-width="40" data-height="20" data-fps="10" '
    'data-duration="0.3"><rect id="box" width="9" height="9"/>'
    '<script type="application/nanoframes+json">{"animations": [{"target": "#box", "keyframes": '
    '[{"t": 0, "opacity": 1}, {"t": 0.3, "opacity": 0.5}]}]}</script></svg>'
)

pytestmark = pytest.mark.process


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "compositions").mkdir(parents=True)
    (folder / "compositions" / "moving.nf.svg").write_text(MOVING)
    (folder / "nfbuild.toml").write_text("[project]\n")
    (folder / "palette.txt").write_text("red")
    return folder


def build(folder, worker, *words):
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment["PYTHONPATH"] = HERE
    program = os.path.join(HERE, "planted_program.py")
    return subprocess.run(
        [sys.executable, program, worker, "build", "-j", "1", "-C", str(folder), *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


SURPRISES = {
    "ReadsAFile": "palette.txt",
    "LooksForAFile": "absent.txt",
    "ListsAFolder": "compositions",
    "ReadsTheComposition": "moving.nf.svg",
    "WritesAFile": "note.txt",
    "StartsAProgram": "started the program",
    "AsksTheNetwork": "network",
}


@pytest.mark.parametrize("worker", SURPRISES)
def test_a_surprise_fails_the_build_by_name(project, worker):
    """Exit 3, what it was, and nothing recorded: neither an entry nor a frame."""
    ran = build(project, worker)

    assert ran.returncode == 3, ran.stderr
    assert SURPRISES[worker] in ran.stderr
    assert "not among its declared inputs" in ran.stderr
    assert not (project / "ledger").exists()


def test_a_surprise_is_in_the_json(project):
    """Tools read the code; the composition is named."""
    ran = build(project, "ReadsAFile", "--json")
    (error,) = json.loads(ran.stdout)["errors"]

    assert (error["code"], error["composition"]) == ("draw.undeclared", "moving")
    assert "palette.txt" in error["message"]


def test_a_frame_with_a_surprise_answers_nobody(project):
    """What it drew is not kept as an answer: the next build draws every frame itself."""
    assert build(project, "ReadsAFile").returncode == 3
    ran = build(project, "Honest", "--json")

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["totals"]["rendered"] == 3


# --- the environment ----------------------------------------------------------------------------


def picture(kind):
    from PIL import Image

    out = io.BytesIO()
    image = Image.radial_gradient("L").resize((60, 40))
    image.convert("RGB" if kind == "JPEG" else "P").save(out, kind)
    return out.getvalue()


def draw(environment):
    words = [sys.executable, os.path.join(HERE, "environment_child.py")]
    words += [picture("JPEG").hex(), picture("GIF").hex()]
    ran = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


HOSTILE = {
    "LC_ALL": "C.UTF-8",
    "LANG": "tr_TR.UTF-8",
    "TZ": "Asia/Kathmandu",
    "HOME": "/nowhere",
    "TMPDIR": "/tmp",
    "JPEGMEM": "1",
    "JSIMD_FORCENONE": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_PERTURB_": "165",
    "PYTHONHASHSEED": "4",
    "PYTHONUTF8": "1",
    "COLUMNS": "3",
    "SOURCE_DATE_EPOCH": "1",
    "DISPLAY": ":7",
    "OMP_NUM_THREADS": "3",
    "PILLOW_BLOCKS_MAX": "3",
    "PILLOW_ALIGNMENT": "64",
    "XDG_CACHE_HOME": "/nowhere",
    "FONTCONFIG_FILE": "/nowhere",
    "NFBUILD_SHARED": "off",
}


def test_no_variable_of_a_list_decides_a_pixel():
    """Drawn under a hostile environment, in this very process tree: the same bytes.

    Workers never see these, as their environment is fixed; here they do.
    """
    plain = draw({**FIXED_ENVIRONMENT})
    hostile = draw({**FIXED_ENVIRONMENT, **HOSTILE})

    assert plain["drawn"] == hostile["drawn"]


def test_drawing_asks_for_no_variable():
    """While a frame is drawn or a picture decoded, Python code looks up no variable but Pillow's.

    Pillow is loaded for the first picture that must be decoded, and reads its own then.
    """
    asked = draw({**FIXED_ENVIRONMENT})["asked"]

    assert [name for name in asked if not name.startswith("PILLOW_")] == []


def test_the_core_reads_no_variable():
    """No module that bakes or draws speaks of the environment."""
    package = package_folder()
    for name in core_files():
        with open(os.path.join(package, *name.split("/")), encoding="utf-8") as file:
            text = file.read()
        assert "environ" not in text.replace("environment", ""), name
        assert "getenv" not in text, name


KNOWN_TO_THE_LIBRARY = {
    "JPEGMEM",
    "JSIMD_FORCEAVX2",
    "JSIMD_FORCENONE",
    "JSIMD_FORCESSE2",
    "JSIMD_NOHUFFENC",
}
"""Its JPEG decoder's: how much memory it may use, and by which instructions it computes. Workers
never have them; on x86-64 they change no pixel either, as the hostile environment shows."""

_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static char *(*real)(const char *);
char *getenv(const char *name) {
  Dl_info by;
  if (!real) real = dlsym(RTLD_NEXT, "getenv");
  if (dladdr(__builtin_return_address(0), &by) && by.dli_fname && strstr(by.dli_fname, "thorvg")) {
    FILE *file = fopen(real("SHIM_OUT"), "a");
    if (file) { fprintf(file, "%s\n", name); fclose(file); }
  }
  return real(name);
}
char *secure_getenv(const char *name) { return getenv(name); }
"""


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None,
    reason="needs a C compiler and a loader that takes LD_PRELOAD",
)
def test_every_variable_that_the_library_reads_is_known(tmp_path):
    """The rasterizer's own calls of `getenv`, seen by a library that stands before it."""
    source, shim, seen = tmp_path / "shim.c", tmp_path / "shim.so", tmp_path / "seen"
    source.write_text(_SHIM)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", str(shim), str(source), "-ldl"], check=True, timeout=60
    )
    draw({**FIXED_ENVIRONMENT, "LD_PRELOAD": str(shim), "SHIM_OUT": str(seen)})

    assert set(seen.read_text().split()) == KNOWN_TO_THE_LIBRARY
    assert not KNOWN_TO_THE_LIBRARY & {*FIXED_ENVIRONMENT, *PASSED_ON}
