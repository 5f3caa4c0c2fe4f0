"""The corpus: one matter per file, its baked text beside it, and the peer's pixels.

`NFBUILD_REFRESH=1` rewrites the baked texts and fails the run, so that it cannot pass unnoticed.
A case that departs from the peer says so in a comment, `departure: ...`, and is not compared.
"""

import hashlib
import os
import re

import pytest

CORPUS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "corpus")
# Drawn by the cases that nest them, and without a matter of their own.
CHILDREN = {"nested/child", "nested/middle", "nested/gradient"}


def cases():
    found = []
    for folder, _, files in sorted(os.walk(CORPUS)):
        for name in sorted(files):
            path = os.path.relpath(os.path.join(folder, name), CORPUS).replace(os.sep, "/")
            if name.endswith(".nf.svg") and path[:-7] not in CHILDREN:
                found.append(path[:-7])
    return found


CASES = cases()


def baked_text(composition):
    """Return all distinct frames as text, one element a line, with the frames that show them."""
    runs = []
    for number in range(composition.frames):
        document = composition.bake(number).document.decode()
        if runs and runs[-1][2] == document:
            runs[-1][1] = number
        else:
            runs.append([number, number, document])
    out = [f"{finding.code} {finding.line}\n" for finding in composition.warnings]
    for first, last, document in runs:
        lines = re.sub(r"(?<=>)(?=<)", "\n", document)
        out.append(f"frames {first}-{last}\n{lines}\n")
    return "\n".join(out)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, peer_face):
    from world import World

    made = World(CORPUS, tmp_path_factory.mktemp("staging"), [peer_face])
    yield made
    made.close()


@pytest.mark.process
@pytest.mark.parametrize("case", CASES)
def test_a_case_bakes_to_its_golden_text(corpus, case):
    """The baked text is the narrow waist: it changes only on purpose."""
    text = baked_text(corpus.load(f"{case}.nf.svg"))
    path = os.path.join(CORPUS, f"{case}.baked.txt")
    if os.environ.get("NFBUILD_REFRESH"):
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        pytest.fail("refreshed: read the difference, then run again without the switch")
    with open(path, encoding="utf-8", newline="\n") as file:
        expected = file.read()

    assert text == expected


def departure_of(case):
    """Return why a case is not compared with the peer, or None."""
    with open(os.path.join(CORPUS, f"{case}.nf.svg"), encoding="utf-8") as file:
        departure = re.search("departure: (.*) -->", file.read())
    return None if departure is None else departure.group(1)


@pytest.fixture(scope="module")
def peer():
    """The peer's frame digests of every case that is compared, by path."""
    from peer_child import peer_digests

    cases = [case for case in CASES if departure_of(case) is None]
    return peer_digests([os.path.join(CORPUS, f"{case}.nf.svg") for case in cases])


@pytest.mark.oracle
@pytest.mark.process
@pytest.mark.parametrize("case", CASES)
def test_a_case_draws_the_peers_pixels(corpus, peer, case):
    """Every frame, byte for byte, except where the case says that it departs."""
    departure = departure_of(case)
    if departure is not None:
        pytest.skip(departure)
    composition = corpus.load(f"{case}.nf.svg")
    ours = []
    for number in range(composition.frames):
        frame = composition.bake(number)
        head = f"RGBA {frame.width}x{frame.height}\0".encode()
        ours.append(hashlib.sha256(head + corpus.draw(frame)).hexdigest())

    assert ours == peer[os.path.join(CORPUS, f"{case}.nf.svg")]
