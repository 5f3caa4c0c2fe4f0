"""The ledger as a thing that a team keeps: the same bytes everywhere, merged, checked, accepted."""

from __future__ import annotations

import subprocess

import pytest
from gate_space import (
    edit_entry,
    entry_json,
    entry_path,
    faulty,
    other_toolchain,
    verdicts,
    verify_with,
)
from opspace import MOVING, STILL, Space

from nfbuild.errors import UsageError
from nfbuild.ops.accept import AcceptOptions, accept
from nfbuild.ops.verify import verify_settings


@pytest.fixture
def recorded(space: Space) -> Space:
    space.compose("moving")
    space.compose("still", STILL)
    assert space.build().exit == 0
    return space


def accept_with(space, fault="", *names, **options):
    """Accept with a rasterizer that draws wrong what `fault` names."""
    chosen = AcceptOptions(names=names, start=str(space.root), **options)
    return space._run(accept, chosen, faulty(verify_settings(1), fault))


# --- the same bytes -----------------------------------------------------------------------------


@pytest.mark.process
def test_ledger_files_are_byte_equal_in_all_surroundings(tmp_path):
    """Whatever `-j`, locale, time zone, hash seed and checkout path."""
    surroundings = [
        ("a", "1", {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "0"}),
        ("b with ünïcode", "2", {"LC_ALL": "C.UTF-8", "TZ": "Pacific/Kiritimati"}),
        ("deep/er/still", "4", {"LANG": "tr_TR.UTF-8", "TZ": "America/St_Johns"}),
    ]
    ledgers = []
    for index, (folder, jobs, environment) in enumerate(surroundings):
        space = Space(tmp_path / folder)
        space.compose("moving")
        space.compose("sub/still", STILL)
        space.compose("ünïcode", STILL.replace("Still", "Größe"))
        ran = space.run("build", "-j", jobs, **{"PYTHONHASHSEED": str(index + 7), **environment})
        assert ran.returncode == 0, ran.stderr
        root = space.root / "ledger"
        ledgers.append(
            {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.json")}
        )

    assert len(ledgers[0]) == 3
    assert ledgers[0] == ledgers[1] == ledgers[2]


@pytest.mark.process
def test_two_branches_that_change_different_films_merge_without_conflict(tmp_path):
    """One file a film: git merges two people's edits, and the merged ledger holds."""
    space = Space(tmp_path / "project")
    space.write(".gitignore", "cache/\n")

    def git(*words):
        settings = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *settings, *words], cwd=space.root, check=True, capture_output=True, text=True
        ).stdout

    for name, color in (("left", "#ff8800"), ("right", "#0088ff"), ("third", "#888888")):
        space.compose(name, MOVING.replace("#ff8800", color))
    space.build()
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "record")
    for branch, before, after in (("left", "#ff8800", "#ff8801"), ("right", "#0088ff", "#0088fe")):
        git("switch", "-q", "-c", branch, "main")
        space.edit(f"compositions/{branch}.nf.svg", before, after)
        space.build()
        git("commit", "-q", "-a", "-m", f"edit {branch}")
    git("switch", "-q", "left")
    git("merge", "-q", "-m", "merge", "right")

    assert git("status", "--porcelain") == ""
    assert verdicts(space.verify()) == {"left": "match", "right": "match", "third": "match"}


# --- accept -------------------------------------------------------------------------------------


def test_accept_shows_and_writes_nothing_without_yes(recorded):
    """How many frames and pixels moved, and by how much; the entry stays."""
    before = entry_path(recorded, "still").read_bytes()
    ran = accept_with(recorded, "Still|pixels=7,3")
    row = ran.row("still")

    assert (row.action, row.moved, row.measured) == ("would accept", 5, 5)
    assert (row.pixels, row.total, row.step) == (7, 35, 3)
    assert ran.row("moving").action == "nothing"
    assert ran.exit == 0
    assert entry_path(recorded, "still").read_bytes() == before


def test_accepting_a_regression_keeps_the_reason_and_turns_the_gate_green(recorded):
    """With `--yes` the entry says what is drawn now, and why; only that film's file moved."""
    other = entry_path(recorded, "moving").read_bytes()
    red = verify_with(recorded, "Still|pixels=7,3")
    ran = accept_with(recorded, "Still|pixels=7,3", yes=True, reason="  new glyph hinting ")
    (lane,) = entry_json(recorded, "still")["lanes"].values()
    green = verify_with(recorded, "Still|pixels=7,3")

    assert verdicts(red)["still"] == "regression"
    assert ran.row("still").action == "accepted"
    assert lane["reason"] == "new glyph hinting"
    assert green.exit == 0
    assert entry_path(recorded, "moving").read_bytes() == other


def test_the_reason_stays_as_long_as_its_digest(recorded):
    """A build that refreshes nothing keeps it; an edit makes another promise."""
    accept_with(recorded, "Still|pixel", yes=True, reason="why")
    accepted = entry_path(recorded, "still").read_bytes()
    recorded.edit("compositions/still.nf.svg", "#203040", "#203041")
    recorded.build()
    (lane,) = entry_json(recorded, "still")["lanes"].values()

    assert b'"why"' in accepted
    assert lane.get("reason") is None


def test_accepting_another_toolchain(recorded, monkeypatch):
    """A toolchain that draws otherwise is what this verb is for."""
    other_toolchain(monkeypatch, libthorvg="ab" * 32)
    before = verify_with(recorded, "Still|pixel")
    ran = accept_with(recorded, "Still|pixel", yes=True, reason="ThorVG 9")
    after = verify_with(recorded, "Still|pixel")

    assert verdicts(before) == {"moving": "match", "still": "changed"}
    assert [row.action for row in ran.report.rows] == ["accepted", "nothing"]
    assert after.exit == 0


def test_accept_takes_no_edit(recorded):
    """An edit is recorded by `build`, whose diff is reviewed."""
    recorded.edit("compositions/still.nf.svg", "#203040", "#203041")
    before = entry_path(recorded, "still").read_bytes()
    ran = accept_with(recorded, yes=True, reason="no")

    assert ran.row("still").action == "nothing"
    assert "nfbuild build still" in ran.row("still").note
    assert entry_path(recorded, "still").read_bytes() == before


def test_accept_takes_no_picture_that_does_not_repeat_itself(recorded, tmp_path):
    """Two pictures under one key: there is nothing to record."""
    seen = tmp_path / "seen"
    seen.mkdir()
    before = entry_path(recorded, "still").read_bytes()
    ran = accept_with(recorded, f"Still|once={seen}", yes=True, reason="no")

    assert ran.row("still").action == "refused"
    assert ran.exit == 1
    assert entry_path(recorded, "still").read_bytes() == before


def test_accept_wants_a_reason(recorded):
    """`--yes` without one is a mistake of the command line."""
    with pytest.raises(UsageError, match="for a reason"):
        accept_with(recorded, "Still|pixel", yes=True, reason="  ")


def test_a_contact_sheet_shows_before_after_and_difference(recorded, tmp_path):
    """Three cells for each moved picture."""
    from PIL import Image

    sheet = tmp_path / "sheet.png"
    ran = accept_with(recorded, "Still|block", sheet=str(sheet))
    with Image.open(sheet) as picture:
        colors = picture.convert("RGB").getcolors(1 << 16)

    assert ran.report.sheet == str(sheet)
    assert (picture.width, picture.height) == (3 * 68 + 4, 40 + 4)
    assert any(red == 255 and blue == 0 for _, (red, _, blue) in colors)


# --- check, show, prune -------------------------------------------------------------------------


def codes(space):
    """What `ledger check` finds."""
    document = space.json("ledger", "check")
    assert document["ok"] == (document["findings"] == [])
    return sorted((one["name"], one["code"]) for one in document["findings"])


@pytest.mark.process
def test_check_names_everything_that_is_out_of_shape(recorded):
    """No drawing: missing, orphaned, damaged, sampled, of two passes; then in shape again."""
    assert codes(recorded) == []
    recorded.compose("new", STILL.replace("#203040", "#334455"))
    (recorded.root / "compositions/moving.nf.svg").unlink()
    path = entry_path(recorded, "still")
    path.write_text(path.read_text().replace('"sampled": false', '"sampled":false', 1))
    found = codes(recorded)

    assert ("new", "ledger.missing") in found
    assert ("moving", "ledger.orphaned") in found
    assert ("still", "ledger.canonical") in found
    assert not (recorded.root / "cache/staging").exists() or not any(
        (recorded.root / "cache/staging").iterdir()
    )


def _whole_and_two(entry):
    from nfbuild.dataclasses import replace

    (tag,) = entry.lanes
    lane = entry.lanes[tag]
    runs = list(lane.runs)
    from nfbuild.ledger.runs import Runs

    runs[0] = replace(runs[0], digest="0123456789abcdef")
    other = replace(lane, digest="ab" * 32, runs=Runs(runs))
    return replace(entry, lanes={tag: lane, "macos-arm64": other, "linux-aarch64": lane})


@pytest.mark.process
def test_show_prints_which_lanes_agree_and_in_which_frames_not(recorded):
    """The matrix: one letter is one film, and the frames in which the others differ."""
    edit_entry(recorded, "moving", _whole_and_two)
    text = recorded.run("ledger", "show").stdout
    document = recorded.json("ledger", "show", "moving")
    (row,) = document["compositions"]

    assert row["cells"]["macos-arm64"] == "differs"
    assert row["differs"] == {"macos-arm64": [[0, 0]]}
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["composition", "linux-aarch64", "linux-x86_64", "macos-arm64"]
    assert lines[1] == ["moving", "A", "A", "B"]
    assert "(0)" in text
    assert lines[-1] == ["still", "-", "A", "-"]


@pytest.mark.process
def test_prune_removes_orphans_and_nothing_else(recorded):
    """Plan first with --dry-run; files that are no entries stay."""
    (recorded.root / "compositions/moving.nf.svg").unlink()
    note = recorded.write("ledger/notes.json", "{}")
    planned = recorded.json("ledger", "prune", "--dry-run")
    still_there = entry_path(recorded, "moving").exists()
    pruned = recorded.json("ledger", "prune")

    assert planned["removed"] == pruned["removed"] == ["ledger/compositions/moving.json"]
    assert still_there
    assert not entry_path(recorded, "moving").exists()
    assert pruned["left"] == ["ledger/notes.json"]
    assert note.exists()
    assert entry_path(recorded, "still").exists()


@pytest.mark.process
def test_accept_from_the_command_line(recorded):
    """Nothing to accept says so; a reason is asked for before anything is drawn."""
    nothing = recorded.run("ledger", "accept")
    unreasoned = recorded.run("ledger", "accept", "--yes")

    assert (nothing.returncode, unreasoned.returncode) == (0, 2)
    assert "nothing to accept" in nothing.stderr
    assert "for a reason" in unreasoned.stderr


def test_a_sample_never_enters_the_ledger_as_whole(recorded):
    """Drawing a sample writes no entry, and the lane that is recorded stays whole."""
    before = {path: path.read_bytes() for path in (recorded.root / "ledger").rglob("*.json")}
    ran = recorded.verify(samples=2, seed=5)

    assert ran.report.sampled
    assert ran.report.to_json()["sampled"] is True
    assert ran.report.compared == 4
    assert before == {path: path.read_bytes() for path in before}
