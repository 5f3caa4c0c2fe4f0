"""Standard streams as a shell may leave them, and outputs that are no ordinary files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest
from opspace import MOVING

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="streams are made by a Linux shell"),
]

COMMANDS = ["build", "build --json", "build -j 1", "status", "status --json", "verify", "--help"]


@pytest.fixture
def built(space):
    """A project that is built and recorded: every command has an answer and the code 0."""
    space.compose("a")
    assert space.run("build", "--record").returncode == 0
    return space


def shell(space, command):
    """Run a shell command in which `nfbuild` is the program."""
    script = f'nfbuild() {{ "{sys.executable}" -m nfbuild "$@"; }}\n{command}'
    env = {key: value for key, value in os.environ.items() if key != "CI"}
    return subprocess.run(
        ["bash", "-c", script],
        cwd=space.root,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_stream_is_nothing_to_write_to(built, command):
    """No traceback, no other exit code, and talk does not go where data is expected."""
    plain = built.run(*command.split())
    without_out = shell(built, f"nfbuild {command} >&-")
    without_error = shell(built, f"nfbuild {command} 2>&-")

    assert (plain.returncode, without_out.returncode, without_error.returncode) == (0, 0, 0)
    assert without_out.stdout == without_error.stderr == ""
    assert "Traceback" not in without_out.stderr
    if "--json" in command:
        assert json.loads(without_error.stdout)["ok"] is True
    elif command != "build":
        assert len(without_error.stdout) == len(plain.stdout)


def test_no_file_takes_the_place_of_a_closed_stream(built):
    """The ledger, the cache and the report are whole though all three streams were closed."""
    built.edit("compositions/a.nf.svg", "<rect", '<rect fill-opacity="0.5"')

    assert shell(built, "nfbuild build --record --graph g.txt <&- >&- 2>&-").returncode == 0
    assert built.run("verify").returncode == 0
    assert built.run("cache", "verify").returncode == 0
    assert built.read("g.txt").startswith("nfbuild graph 1\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_is_lost_is_an_error_in_one_line(built, command):
    """On a full device; what only talks is not stopped by it."""
    plain = built.run(*command.split())
    full = shell(built, f"nfbuild {command} >/dev/full")
    mute = shell(built, f"nfbuild {command} 2>/dev/full")

    assert mute.returncode == 0
    assert mute.stdout == plain.stdout or command in {"build --json", "verify"}
    if not plain.stdout:
        assert full.returncode == 0
        return
    assert full.returncode == 2
    assert full.stderr.splitlines()[-1] == (
        "error: the output cannot be written: No space left on device"
    )
    assert "Traceback" not in full.stderr


@pytest.mark.parametrize("command", ["status", "status --json", "--help", "ledger show a"])
def test_a_reader_that_goes_away_ends_it_as_a_shell_expects(built, command):
    ran = shell(built, f"nfbuild {command} | true; exit ${{PIPESTATUS[0]}}")
    waited = shell(built, f"(sleep 2; nfbuild {command}) | true; exit ${{PIPESTATUS[0]}}")

    assert ran.returncode in {0, 141}, "the reader may have been slower"
    assert (waited.returncode, waited.stderr) == (141, "")


OUTPUTS = [
    ("build --graph {}", b"nfbuild graph 1\n"),
    ("build --profile {}", b"{"),
    ("verify --report {}", b"<!doctype html>"),
    ("verify --junit {}", b"<?xml"),
    ("frame a 0 -o {}", b"\x89PNG"),
    ("sheet a -o {}", b"\x89PNG"),
]


@pytest.mark.parametrize(("command", "start"), OUTPUTS)
def test_links_and_pipes_are_written_through(built, command, start):
    """A link stays a link, and a pipe gives its reader the bytes."""
    os.symlink("elsewhere/real", built.root / "link")
    os.mkfifo(built.root / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((built.root / "pipe").read_bytes()))
    reader.start()

    for name in ("link", "pipe"):
        ran = built.run(*command.format(name).split())
        assert ran.returncode == 0, ran.stderr

    reader.join(60)
    assert (built.root / "link").is_symlink()
    assert (built.root / "elsewhere/real").read_bytes().lower().startswith(start.lower())
    assert got[0].lower().startswith(start.lower())
    assert (built.root / "pipe").is_fifo()


@pytest.mark.parametrize(
    "command", ["build --graph {}", "build --profile {}", "verify --report {}"]
)
@pytest.mark.parametrize("path", [".", "compositions/", ""])
def test_what_cannot_be_a_file_is_said_before_anything_is_drawn(space, command, path):
    space.compose("a", MOVING)

    ran = space.run(*(word.format(path) for word in command.split()))

    assert ran.returncode == 2
    assert ran.stderr.startswith("error: ")
    assert not (space.root / "cache" / "blobs").exists()


@pytest.mark.parametrize("command", ["build", "verify", "digest a"])
@pytest.mark.parametrize("jobs", ["0", "513", "99999999999999999999", "-1", "two"])
def test_a_number_of_workers_no_machine_has_is_a_mistake(built, command, jobs):
    ran = built.run(*command.split(), "-j", jobs)

    assert ran.returncode == 2
    assert "error: " in ran.stderr
