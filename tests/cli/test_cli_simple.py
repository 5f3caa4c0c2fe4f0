"""What is read without Typer means what Typer reads; everything else is left to it."""

from __future__ import annotations

import pytest

from nfbuild.cli import app, entry, simple, verbs
from nfbuild.ops.run.options import read_options
from nfbuild.ops.verify import VerifyOptions

SIMPLE = [
    "build",
    "build --json",
    "build -q a b/c.svg 'd*'",
    "build -v --scale 2 a",
    "build a --scale 1/3 --json --quiet",
    "build -C x --verbose",
    "build -C x -C y --scale 1 --scale 2",
    "build --scale nonsense",
    "verify",
    "verify --json -q a b",
    "verify -C x --verbose --quiet",
]
NOT_SIMPLE = [
    "build --record",
    "build -j 2",
    "build --scale",
    "build --scale=2",
    "build --scale -2",
    "build -C",
    "build -qv",
    "build -- a",
    "build --help",
    "verify --scale 2",
    "verify --samples 3",
    "verify --nonsense",
    "status",
    "digest a",
    "--version",
]


@pytest.fixture
def asked(monkeypatch):
    """What a verb was called with, every default put in."""
    found = []

    def build(voice, start, names, **options):
        found.append(
            ("build", vars(voice), start, *map(repr, read_options(names, start, **options)))
        )
        return 0

    def verify(voice, start, names, *, junit=None, github=None, jobs=None, **options):
        chosen = VerifyOptions(names=tuple(names), start=start, **options)
        found.append(("verify", vars(voice), start, repr(chosen), junit, github, jobs))
        return 0

    monkeypatch.setattr(verbs, "build", build)
    monkeypatch.setattr(verbs, "verify", verify)
    monkeypatch.setattr("nfbuild.execute.ahead.boot", lambda *_: None)
    return found


def words_of(line):
    return [word.strip("'") for word in line.split()]


@pytest.mark.parametrize("line", [line for line in SIMPLE if "nonsense" not in line])
def test_both_ways_ask_for_the_same(asked, line):
    words = words_of(line)
    read = simple.read_simple(words)

    assert read is not None
    assert entry._run_simple(read) == app.run(words) == 0
    assert asked[0] == asked[1]


@pytest.mark.parametrize("line", SIMPLE)
def test_simple_lines_are_read(line):
    assert simple.read_simple(words_of(line)) is not None


@pytest.mark.parametrize("line", NOT_SIMPLE)
def test_the_rest_is_left_to_typer(line):
    assert simple.read_simple(words_of(line)) is None


def test_only_a_build_of_everything_is_bare():
    """The state file tells of nothing else."""
    assert simple.read_simple(["build", "--json"]).is_bare
    assert not simple.read_simple(["build", "a"]).is_bare
    assert not simple.read_simple(["build", "--scale", "1"]).is_bare
    assert not simple.read_simple(["verify"]).is_bare
