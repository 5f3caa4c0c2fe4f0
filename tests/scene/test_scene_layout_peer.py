"""Laid out texts draw the peer's pixels, and their lines and curves are the peer's."""
# ruff: noqa: RUF001  fullwidth marks are the matter

import random
import re

import pytest
from layout_bench import Bench, peer_documents, peer_lines
from layout_cases import BASE, CASES

from nfbuild.scene.layout.lines import wrap

pytestmark = pytest.mark.oracle

LETTERS = [
    *"漢字かな文ー。，、）」（「『』《》・：；？！…—“”()!?.,",
    " ",
    " ",
    "a",
    "word",
    "sesquipedalian",
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    made = Bench(tmp_path_factory.mktemp("layout"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def peers(bench):
    """The peer's documents of all cases, made by one process."""
    names = sorted(CASES)
    return dict(zip(names, peer_documents(bench, [CASES[name] for name in names]), strict=True))


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_laid_out_text_draws_the_peers_pixels(bench, peers, case):
    """One rasterizer draws both documents; not a pixel may differ."""
    ours = bench.draw(bench.document(CASES[case]), 640, 360)
    theirs = bench.draw(peers[case], 640, 360)

    assert ours == theirs


@pytest.mark.parametrize("seed", [1, 2])
def test_paragraphs_break_where_the_peer_breaks_them(bench, seed):
    """Random mixtures of ideographs, marks, words and blanks at random widths."""
    source = random.Random(seed)
    texts = []
    while len(texts) < 30:
        text = "".join(source.choice(LETTERS) for _ in range(source.randint(2, 14)))
        if text.strip():
            texts.append((text, source.choice([30, 45, 58, 60, 65, 78, 90, 105, 130])))

    ours = [
        bench.settled(lambda ruler, t=t, w=w: wrap(t, w, lambda run: ruler.width(run, 20.0)))
        for t, w in texts
    ]

    assert ours == peer_lines(bench.folder, texts)


@pytest.mark.parametrize("seed", [1, 2])
def test_paths_are_followed_as_the_peer_follows_them(bench, seed):
    """Random paths of the commands that the peer knows: places and turns to six digits."""
    source = random.Random(seed)
    paths = [_path(source) for _ in range(12)]
    bodies = [f'<text {BASE} data-curve-d="{d}">{"b" * 30}</text>' for d in paths]

    for body, theirs in zip(bodies, peer_documents(bench, bodies), strict=True):
        ours = _turns(bench.document(body))
        assert len(ours) == 30
        assert _near(ours, _turns(theirs))


def _path(source):
    d = f"M{source.randint(0, 99)} {source.randint(0, 99)}"
    for _ in range(source.randint(1, 5)):
        letter = source.choice("MmLlCcSsTt")
        count = {"c": 6, "s": 4}.get(letter.lower(), 2) * source.choice([1, 1, 2])
        d += letter + " ".join(f"{source.uniform(-99, 99):.1f}" for _ in range(count))
    return d


def _turns(document):
    found = re.findall(rb"rotate\((\S+) (\S+) (\S+)\)", document)
    return [tuple(float(value) for value in turn) for turn in found]


def _near(ours, theirs):
    return all(
        a == pytest.approx(b, rel=2e-5, abs=2e-5)
        for mine, other in zip(ours, theirs, strict=True)
        for a, b in zip(mine, other, strict=True)
    )
