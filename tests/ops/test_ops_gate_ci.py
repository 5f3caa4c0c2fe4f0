"""What a CI system sees: JUnit, GitHub's annotations and summary, exit codes."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from opspace import MOVING, STILL, Space

from nfbuild.events import Failed
from nfbuild.ops.gate import annotations
from nfbuild.ops.gate.junit import junit
from nfbuild.ops.run.reports import VerifyReport, VerifyRow
from nfbuild.ops.verify import failing_verdicts

FAILING = failing_verdicts("changed")


def row(name, verdict, **more):
    """A row of a verification, placed at a source file."""
    return VerifyRow(name, verdict, frames=30, source=f"compositions/{name}.nf.svg", **more)


def reason(**more):
    """One reason, of a source attribute in line 7."""
    plain = {
        "part": "source",
        "what": "#box@fill",
        "file": "compositions/b.nf.svg",
        "line": 7,
        "before": "#fff",
        "after": "#000",
    }
    return {**plain, **more}


@pytest.fixture
def report():
    """One composition of each verdict."""
    excuse = {
        "outcome": "holds",
        "fact": "3 frames differ, in at most 5 pixels by at most 1/255",
        "reason": "glyph edges",
        "until": "2027-06-30",
    }
    found = VerifyReport("linux-x86_64", 7, compared=90)
    found.rows = [
        row("a", "match"),
        row("b", "changed", moved=[(2, 4), (9, 9)], reasons=[reason()]),
        row("c", "regression", moved=[(5, 5)]),
        row("d", "missing"),
        row("e", "excused", excuse=excuse, moved=[(0, 2)]),
        row("f", "failed"),
    ]
    found.errors = [Failed("source", "mismatched `tag`", 3, "f", "compositions/f.nf.svg", 12)]
    found.exits = {1}
    return found


def test_junit_has_a_case_for_each_composition(report):
    """Failures, errors and passes are counted; what moved stands in the case."""
    suite = ET.fromstring(junit(report, FAILING)).find("testsuite")
    cases = {case.get("name"): case for case in suite.iter("testcase")}

    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "6",
        "failures": "3",
        "errors": "1",
    }
    assert [name for name in cases if cases[name].find("failure") is not None] == ["b", "c", "d"]
    assert cases["f"].find("error").get("message") == ("compositions/f.nf.svg:12: mismatched `tag`")
    assert "#box@fill (compositions/b.nf.svg:7): #fff -> #000" in cases["b"].find("failure").text
    assert "glyph edges" in cases["e"].find("system-out").text
    assert list(cases["a"]) == []


def test_junit_follows_what_the_gate_is_asked(report):
    """With `--fail-on regression` a change is no failure."""
    suite = ET.fromstring(junit(report, failing_verdicts("regression"))).find("testsuite")

    assert suite.get("failures") == "2"


def test_junit_is_xml_whatever_a_name_holds(report):
    """Names of files may hold anything, also what XML cannot write."""
    report.rows = [row('a"<&>\x01\udce9\n', "missing")]
    (case,) = ET.fromstring(junit(report, FAILING)).iter("testcase")

    assert case.get("name") == 'a"<&>\ufffd\ufffd\n'


def test_junit_fails_where_nothing_was_compared_and_where_the_cache_lied(report):
    """What fails the gate and is no composition's own has a case too."""
    report.rows = [row("a", "match")]
    report.compared = 0
    report.cache_lied = [{"composition": "a", "frame": 3}]
    text = junit(report, FAILING)

    assert ET.fromstring(text).get("failures") == "2"
    assert "nothing was compared" in text


def test_annotations_are_most_severe_first_with_file_and_line(report):
    """The worst first; the place is the line of the input that moved."""
    found = annotations.annotate(report, FAILING)

    assert [(one.level, one.title) for one in found] == [
        ("error", "nfbuild: regression"),
        ("error", "nfbuild: failed"),
        ("error", "nfbuild: changed"),
        ("error", "nfbuild: missing"),
        ("notice", "nfbuild: excused"),
    ]
    assert (found[1].file, found[1].line) == ("compositions/f.nf.svg", 12)
    assert (found[2].file, found[2].line) == ("compositions/b.nf.svg", 7)


def test_there_are_at_most_ten_annotations(report):
    """GitHub shows ten; the tenth says how many there are more."""
    report.rows = [row(f"m{index:02}", "missing") for index in range(40)]
    report.rows.append(row("z", "regression", moved=[(1, 1)]))
    found = annotations.annotate(report, FAILING)

    assert len(found) == 10
    assert found[0].title == "nfbuild: regression"
    assert "32 more" in found[-1].message


def test_an_annotation_is_one_line_whatever_it_says():
    """Line ends, colons and commas are written as GitHub's commands want them."""
    one = annotations.Annotation("error", "a: b, c", "50%\nnext", "x,y.svg", 3)

    assert one.command() == "::error file=x%2Cy.svg,line=3,title=a%3A b%2C c::50%25%0Anext"


def test_the_summary_is_markdown_that_a_name_cannot_break(report):
    """Bars, tags and fences in names stay text."""
    report.rows.append(row("x|<b>y", "regression", note="``` fence"))
    text = annotations.summary(report)

    assert "x\\|&lt;b&gt;y" in text
    assert "<summary>x|&lt;b&gt;y</summary>" in text
    assert "````text" in text
    assert text.index("REGRESSION") < text.index("| changed")


@pytest.fixture
def edited(space: Space) -> Space:
    space.compose("moving")
    space.compose("still", STILL)
    assert space.build().exit == 0
    space.edit("compositions/moving.nf.svg", "#ff8800", "#00ff88")
    return space


@pytest.mark.process
def test_in_github_actions_it_speaks_githubs_language(edited, tmp_path):
    """Detected: annotations on stdout with paths from the checkout, a summary in its file."""
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    surroundings = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_WORKSPACE": str(edited.root.parent),
    }
    ran = edited.run("verify", **surroundings)
    commands = [line for line in ran.stdout.splitlines() if line.startswith("::")]
    told = summary.read_text(encoding="utf-8")

    assert ran.returncode == 1
    assert len(commands) == 1
    assert commands[0].startswith(
        "::error file=project/compositions/moving.nf.svg,line=3,title=nfbuild%3A changed::"
    )
    assert told.startswith("before\n## nfbuild verify: the gate is shut")
    assert "| changed | moving |" in told


@pytest.mark.process
def test_elsewhere_it_does_so_only_when_asked(edited, tmp_path):
    """Not detected: nothing; `--github`: the same; `--no-github` in Actions: nothing."""
    quiet = edited.run("verify", GITHUB_ACTIONS="")
    asked = edited.run("verify", "--github", GITHUB_ACTIONS="")
    refused = edited.run("verify", "--no-github", GITHUB_ACTIONS="true")

    assert "::error" not in quiet.stdout + refused.stdout
    assert "::error" in asked.stdout


@pytest.mark.process
def test_with_json_stdout_holds_one_document(edited, tmp_path):
    """Annotations go to the other stream then, which GitHub reads too."""
    import json

    ran = edited.run(
        "verify", "--json", "--junit", str(tmp_path / "j.xml"), "--report",
        str(tmp_path / "r.html"), GITHUB_ACTIONS="true",
    )  # fmt: skip
    document = json.loads(ran.stdout)

    assert document["schema"] == "nfbuild.verify/1"
    assert document["compositions"][0]["moved"] == [[0, 9]]
    assert "::error" in ran.stderr
    assert ET.parse(tmp_path / "j.xml").getroot().get("failures") == "1"
    assert "nfbuild verify" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.process
def test_one_screen_says_what_moved_why_where_and_what_to_do(edited):
    """The last resort is reading: verdict, frames, times, reason with place, hint, counts."""
    lines = edited.run("verify", "-j", "1").stdout.splitlines()

    assert lines[0] == ("verify: `moving` changed: 10 of 10 frames (0-9), 0.000 s to 1.000 s")
    assert re.match(r"  source: #box@fill \(compositions/moving.nf.svg:3\)", lines[1])
    assert any(line.startswith("hint: ") for line in lines)
    assert lines[-1].startswith("verify: 1 match, 1 changed; 15 frames compared in ")
    assert len(lines) < 24


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "code"),
    [((), 1), (("--fail-on", "regression"), 0), (("--fail-on", "nothing"), 2), (("still",), 0)],
)
def test_exit_codes(edited, words, code):
    """0 done, 1 the gate failed, 2 usage."""
    assert edited.run("verify", *words).returncode == code


@pytest.mark.process
def test_nothing_compared_fails_whatever_the_gate_is_asked(space):
    """An empty project is no green one."""
    space.write("compositions/.keep", "")

    assert space.run("verify", "--fail-on", "regression").returncode == 1


def test_the_report_of_a_film_that_moved_twice_has_both_ranges(tmp_path):
    """Ranges are inclusive, and in order."""
    space = Space(tmp_path / "project")
    space.compose("film", MOVING)
    space.build()
    space.edit("compositions/film.nf.svg", '"t": 0.5', '"t": 0.3')
    moved = space.verify().row("film").moved

    assert moved == [(1, 4)]


@pytest.mark.process
def test_the_commands_of_the_documentation_run(space):
    """Every `nfbuild` line of the ready workflows does what the page says, from a clean project."""
    from pathlib import Path

    text = Path(__file__).parents[2].joinpath("docs/ci.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\s+- (?:run: )?nfbuild (.+)$", text, re.MULTILINE)
    space.compose("moving")
    assert space.build().exit == 0
    ran = {command: space.run(*_words(command), CI="true") for command in commands}

    assert len(commands) == 6
    assert {command: one.returncode for command, one in ran.items()} == dict.fromkeys(ran, 0)
    assert (space.root / "report.html").exists()


def _words(command):
    import shlex

    return shlex.split(command)
