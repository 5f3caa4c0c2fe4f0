"""Importing the peer's ledger: exactly what agrees here is taken, the rest is explained."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.resources import files

import pytest
from opspace import Space

from nfbuild.ops.ledgers import import_ledger
from nfbuild.ops.verify import verify_settings

pytestmark = pytest.mark.oracle

# The five of the twelve published digests (recorded by the peer's authors on macOS and ARM) that
# its own drawing on x86-64 Linux does not give; the other seven are the same on both.
PUBLISHED = {
    "badge": "7a43aa37d584d0d4917d233ac92cbea9fb92add36fb5659890bb254d32e14d5f",
    "master-demo": "5598564d07dc0024934c29e431be94342e9f0dadaceac7fca3ce341718085f47",
    "nested-card": "f517e7a93d8f49a7b5dfb200ba79b3d942cfa113e9c7c0c61c3a3b998d644bfe",
    "text-measure": "094977efd4d6df6a7859ddc36d73c667648d0da70243ee241952bcef45d8e3f6",
    "title-card": "1f4677b1c48eae58954ecefc7fe61407d05ec481805a98d22c943311ee5bca26",
}
FACES = '[fonts]\nfaces = ["package:nanoframes/fonts/Sarasa Mono SC.ttf"]\n'


@pytest.fixture(scope="module")
def drawn_by_peer(tmp_path_factory):
    """The peer's examples, and the ledger that it records of them on this machine."""
    folder = tmp_path_factory.mktemp("peer")
    peer = pytest.importorskip("nanoframes")
    shutil.copytree(files(peer.__name__).joinpath("examples"), folder / "examples")
    words = ["-m", "nanoframes", "digest", "--all", "--record", "--ledger", "digests.json"]
    subprocess.run(
        [sys.executable, *words], cwd=folder, check=True, capture_output=True, env=dict(os.environ)
    )
    return folder


@pytest.fixture
def project(drawn_by_peer, tmp_path):
    """A project with the peer's twelve examples."""
    space = Space(tmp_path / "project", '[project]\ncompositions = ["examples/*.nf.svg"]\n' + FACES)
    shutil.copytree(drawn_by_peer / "examples", space.root / "examples")
    return space


def run(space, ledger):
    """Import a ledger in this process; returns what became of each entry, by name."""
    file = space.write("digests.json", json.dumps(ledger, indent=2, sort_keys=True))
    ran = space._run(import_ledger, str(file), verify_settings(2))
    written = sorted(
        path.name.removesuffix(".json") for path in space.root.glob("ledger/examples/*.json")
    )
    return ran, {row.imported.name: row.imported.outcome for row in ran.report.rows}, written


def test_exactly_what_agrees_is_taken(drawn_by_peer, project):
    """Of the twelve as drawn here only the nested one differs: the peer leaves its child out."""
    ledger = json.loads((drawn_by_peer / "digests.json").read_text())
    ran, outcomes, written = run(project, ledger)
    agreed = sorted(name for name, outcome in outcomes.items() if outcome == "agrees")

    assert len(outcomes) == 12
    assert outcomes["nested-card"] == "differs"
    assert agreed == written == sorted(set(outcomes) - {"nested-card"})
    assert ran.exit == 1


def test_of_the_published_ledger_what_agrees_here_is_taken(drawn_by_peer, project):
    """The peer's own drawing here is the judge of which published digests agree here."""
    here = json.loads((drawn_by_peer / "digests.json").read_text())
    published = json.loads(json.dumps(here))
    for name, digest in PUBLISHED.items():
        published["compositions"][f"examples/{name}.nf.svg"]["digest"] = digest
    expected = sorted(
        path.removeprefix("examples/").removesuffix(".nf.svg")
        for path, entry in published["compositions"].items()
        if entry == here["compositions"][path]
    )
    _, outcomes, written = run(project, published)

    assert written == expected
    assert {name: outcomes[name] for name in outcomes if name not in expected} == dict.fromkeys(
        sorted(set(outcomes) - set(expected)), "differs"
    )
    assert 0 < len(expected) < 12


def test_entries_that_promise_nothing_are_explained(drawn_by_peer, project):
    """A sample, another number of frames, no such composition: each has its own reason."""
    ledger = json.loads((drawn_by_peer / "digests.json").read_text())
    all_of_them = ledger["compositions"]
    ledger["compositions"] = {
        "examples/loop.nf.svg": {**all_of_them["examples/loop.nf.svg"], "sampled": True},
        "examples/badge.nf.svg": {**all_of_them["examples/badge.nf.svg"], "frames": 61},
        "examples/none.nf.svg": all_of_them["examples/badge.nf.svg"],
    }
    ran, outcomes, written = run(project, ledger)

    assert outcomes == {"loop": "sampled", "badge": "frames", None: "absent"}
    assert written == []
    assert ran.exit == 1
