"""Each kind of input x each extent of a fault x each state of the record: one verdict.

The table is computed from the design's sentences, not from the code: `_expected` says in a few
lines what the design says; reasons, frames and exit code of every case are checked as well.
"""

from __future__ import annotations

import itertools

import pytest
from ledger_films import LINUX, MAC, Film

from nfbuild.ledger.verdict import judge
from nfbuild.ledger.write_policy import decide, recorded

INPUTS = ("source", "media", "fonts", "library", "module", "none")
EXTENTS = ("one frame", "all frames", "frame count", "none")
STATES = ("this lane", "sampled", "another lane only", "stale identity", "missing")

MOVES = {
    "source": ("source", "#a"),
    "media": ("media", "logo.png"),
    "fonts": ("fonts", "Sans"),
    "library": ("toolchain", "libthorvg"),
    "module": ("toolchain", "nfbuild/scene/bake.py"),
}
ALL = tuple(range(12))


def _film_after(moved: str, extent: str) -> Film:
    """The film after one input and some pixels moved, as the real thing would be.

    An edit gives the frames that it touches another scene. The library changes no scene. A
    module may change any: here it changes none, the harder case. Without a moved input pixels
    move under the same scenes: a fault.
    """
    film = Film()
    if moved in MOVES:
        film = film.edited(*MOVES[moved])
    numbers = {"one frame": (5,), "all frames": ALL}.get(extent, ())
    scene_moves = moved in ("source", "media", "fonts")
    film = film.redrawn(*numbers) if scene_moves else film.flipped(*numbers)
    if extent == "frame count":
        film = film.but(scenes=(*film.scenes, "s9"), pixels=(*film.pixels, "p9"))
    return film


def _record(state: str):
    film = Film()
    if state == "missing":
        return None
    if state == "sampled":
        return recorded(None, LINUX, film.but(drawn=(0, 5, 9)).present())
    if state == "another lane only":
        other = film.edited("toolchain", "libthorvg", "mac")
        return recorded(None, MAC, other.present())
    if state == "stale identity":
        # The composition was edited without effect since it was recorded.
        return recorded(None, LINUX, film.edited("source", "#a", "older").present())
    return recorded(None, LINUX, film.present())


def _expected(moved: str, extent: str, state: str) -> str:
    """What the design says."""
    if state == "missing":
        return "missing"
    if state == "sampled" and extent == "none":
        return "missing"  # a sample that agrees never passes for a whole
    if extent == "none":
        return "match"
    toolchain_moved = moved in ("library", "module") or state == "another lane only"
    source_moved = moved in ("source", "media", "fonts") or state == "stale identity"
    scene_kept = moved not in ("source", "media", "fonts") and extent != "frame count"
    if scene_kept and not toolchain_moved:
        return "regression"  # whatever else moved: the scene stands in the record
    return "changed" if toolchain_moved or source_moved else "regression"


CASES = list(itertools.product(INPUTS, EXTENTS, STATES))


@pytest.mark.parametrize(("moved", "extent", "state"), CASES, ids=["-".join(c) for c in CASES])
def test_the_verdict_matrix(moved, extent, state):
    """Kind, identity, reasons, frames and what `build` does, for each case."""
    entry = _record(state)
    present = _film_after(moved, extent).present()
    verdict = judge(entry, LINUX, present)

    assert verdict.kind == _expected(moved, extent, state)

    if verdict.kind == "missing":
        assert verdict.reasons == ()
        assert decide(verdict, entry, LINUX, "a").action == "write"
        assert decide(verdict, entry, LINUX, "a", locked=True).exit_code == 1
        return

    named = {(reason.part, reason.what) for reason in verdict.reasons}
    wanted = set() if moved == "none" else {MOVES[moved]}
    if state == "stale identity":
        wanted.add(("source", "#a"))
    if state == "another lane only":
        wanted.add(("toolchain", "libthorvg"))
        if verdict.kind == "match":
            # Under an equal digest another platform's toolchain is no news.
            wanted = {(part, what) for part, what in wanted if part != "toolchain"}
    assert named == wanted
    assert verdict.identity_moved is bool(wanted)
    assert verdict.across == ((MAC,) if state == "another lane only" and extent == "none" else ())

    if state == "sampled":
        # Only the frames that were sampled can be compared, and the length of the film.
        frames = {"one frame": ((5, 5),), "all frames": ((0, 0), (5, 5), (9, 9))}
        assert verdict.sampled
    else:
        frames = {"one frame": ((5, 5),), "all frames": ((0, 11),), "none": ()}
    assert verdict.moved == frames.get(extent, ((12, 12),))

    decision = decide(verdict, entry, LINUX, "a")
    only_toolchain = {part for part, _ in wanted} == {"toolchain"}
    kept_scenes = bool(verdict.redrawn)
    if verdict.kind == "regression":
        assert (decision.action, decision.exit_code) == ("untouched", 1)
    elif verdict.kind == "match":
        refresh = bool(wanted) or state == "another lane only"
        assert decision.action == ("refresh" if refresh else "untouched")
        assert decision.exit_code == 0
        assert decide(verdict, entry, LINUX, "a", locked=True).exit_code == 0
    elif only_toolchain or (kept_scenes and ("toolchain" in {part for part, _ in wanted})):
        assert (decision.action, decision.exit_code) == ("untouched", 0)
        assert "nfbuild ledger accept" in (decision.hint or "")
        assert decide(verdict, entry, LINUX, "a", locked=True).exit_code == 0
    else:
        assert (decision.action, decision.exit_code) == ("write", 0)
        assert decide(verdict, entry, LINUX, "a", locked=True).exit_code == 1


def test_the_matrix_has_every_verdict():
    """A table that never expects a verdict would not test it."""
    assert {_expected(*case) for case in CASES} == {"match", "changed", "regression", "missing"}
