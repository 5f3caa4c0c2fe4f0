"""The build graph: one text for one build, readable, strict, comparable, and without a machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opspace import MOVING, STILL, Space

from nfbuild.dataclasses import replace
from nfbuild.digests import by_utf8
from nfbuild.errors import ProjectError, UsageError
from nfbuild.ops.graph import text as graph_text
from nfbuild.ops.graph.compare import compare_graphs
from nfbuild.ops.graph.draw import to_dot, to_json
from nfbuild.ops.graph.model import ROWS, FileNode, Graph, frames_of, is_whole, ordered, uses

ROOT = Path(__file__).resolve().parents[2]
VECTOR = json.loads((ROOT / "tests/vectors/graph.json").read_text("utf-8"))

EXPORT = '[[export]]\ncomposition = "*"\nformat = "png"\nto = "out/{name}/{number:05d}.png"\n'
PARENT = (
    '<svg xmlns="http://www.w3.org/2000/svg" data-width="64" data-height="36" data-fps="10"'
    ' data-duration="0.4"><rect width="64" height="36" fill="#fff"/>'
    '<image href="still.nf.svg" width="32" height="18"/></svg>'
)


def text(graph: Graph) -> bytes:
    return b"".join(graph_text.write(graph))


def vector_graph() -> Graph:
    return Graph(**{
        name: [ROWS[name](*row) for row in rows] for name, rows in VECTOR["rows"].items()
    })  # fmt: skip


@pytest.fixture
def built(space: Space) -> Graph:
    """A project of three, one of which holds another, built with its graph."""
    space.write("nfbuild.toml", EXPORT)
    space.compose("moving", MOVING)
    space.compose("still", STILL)
    space.compose("parent", PARENT)
    assert space.build(graph=str(space.root / "g.txt")).exit == 0
    return graph_text.load(str(space.root / "g.txt"))


# --- the text ---------------------------------------------------------------------------------


def test_the_text_is_frozen():
    """A byte of the format that moves moves here too, and then it is a new version."""
    graph = vector_graph()

    assert text(graph).decode("ascii").split("\n") == VECTOR["text"]
    assert graph_text.read(text(graph)) == graph
    assert is_whole(graph)


def test_the_text_holds_no_machine(built: Graph, space: Space):
    """Neither the checkout's path nor a blob's name is in it."""
    written = (space.root / "g.txt").read_bytes()
    blobs = [path.stem for path in (space.root / "cache/blobs").rglob("*.png")]

    assert len(blobs) >= 6
    assert str(space.root.parent).encode() not in written
    assert [blob for blob in blobs if blob.encode() in written] == []


def test_the_text_does_not_depend_on_what_was_kept(built: Graph, space: Space):
    """Cold, warm, by another number of workers, or only looked at: the same bytes."""
    first = (space.root / "g.txt").read_bytes()

    space.build(graph=str(space.root / "warm.txt"))
    space.build(graph=str(space.root / "again.txt"), no_cache=True, jobs=3)
    now = space.run("graph")

    assert now.returncode == 0, now.stderr
    assert (space.root / "warm.txt").read_bytes() == first
    assert (space.root / "again.txt").read_bytes() == first
    assert now.stdout.encode() == first


def test_what_is_not_drawn_yet_has_no_graph(space: Space):
    """`graph` draws nothing, and says so; what reads which file is known without a frame."""
    space.compose("moving", MOVING)

    ran = space.run("graph")
    told = space.run("graph", "--uses", "compositions/moving.nf.svg")

    assert ran.returncode == 2
    assert "6 frames are not drawn yet, the first is frame 0 of `moving`" in ran.stderr
    assert (told.returncode, told.stdout) == (0, "moving\n")
    assert not (space.root / "cache").exists()


def test_a_failed_composition_is_in_it(space: Space):
    """It is a node with its error's code; the others are whole."""
    space.compose("good", MOVING)
    space.compose("bad", MOVING.replace("</svg>", ""))

    ran = space.build(graph=str(space.root / "g.txt"))
    graph = graph_text.load(str(space.root / "g.txt"))

    assert ran.exit == 3
    assert [row.name for row in graph.failed] == ["bad"]
    assert [row.name for row in graph.compositions] == ["good"]


def test_a_range_has_no_graph(space: Space):
    """A graph tells of whole films."""
    space.compose("moving", MOVING)

    with pytest.raises(UsageError, match="whole films"):
        space.build(graph="g.txt", frames="0:3")


@pytest.mark.parametrize("at", range(0, 100, 7))
def test_a_text_with_one_byte_moved_is_refused(at: int):
    """No damage is half understood, wherever it is."""
    data = bytearray(text(vector_graph()))
    place = at * (len(data) - 1) // 100
    data[place] ^= 1

    with pytest.raises(ProjectError) as refused:
        graph_text.read(bytes(data), "g.txt")
    assert refused.value.code in ("graph.damaged", "graph.version")


@pytest.mark.parametrize("cut", [0, 1, 17, 200, -1])
def test_a_text_that_ends_early_is_refused(cut: int):
    """A file that was cut is not a smaller graph."""
    with pytest.raises(ProjectError):
        graph_text.read(text(vector_graph())[:cut])


def test_rows_out_of_order_are_refused_even_with_right_digests():
    """One graph has one text: a second spelling of it is none."""
    graph = vector_graph()
    turned = replace(graph, files=list(graph.files)[::-1])

    with pytest.raises(ProjectError, match="out of order"):
        graph_text.read(text(turned))


def test_an_edge_without_its_node_is_refused():
    """A film that shows a frame that is not there is no film."""
    graph = vector_graph()

    with pytest.raises(ProjectError, match="edge without its node"):
        graph_text.read(text(replace(graph, frames=list(graph.frames)[1:])))


def test_another_version_is_refused_by_name():
    """A newer program's graph is not damage."""
    data = text(vector_graph()).replace(b"nfbuild graph 1\n", b"nfbuild graph 7\n", 1)

    with pytest.raises(ProjectError, match="`nfbuild graph 7`") as refused:
        graph_text.read(data)
    assert refused.value.code == "graph.version"


@given(st.lists(st.text(max_size=12), max_size=6, unique=True))
def test_any_name_can_be_written_and_read(names: list[str]):
    """Blanks, line ends, quotes, lone surrogates: a path is what it is."""
    graph = Graph(files=ordered(FileNode("0" * 64, "file", name) for name in names))

    assert text(graph_text.read(text(graph))) == text(graph)
    assert [row.path for row in graph_text.read(text(graph)).files] == by_utf8(names)


# --- asked ------------------------------------------------------------------------------------


def test_a_nested_composition_reaches_its_parent(built: Graph):
    """What holds a file, directly or through another composition, would move with it."""
    moved = uses(built, "compositions/still.nf.svg")

    assert moved.compositions == ["parent", "still"]
    assert moved.exports == ["out/parent/{number:05d}.png", "out/still/{number:05d}.png"]
    with pytest.raises(UsageError, match="no composition reads"):
        uses(built, "compositions/gone.nf.svg")


def test_frames_of_a_film_are_its_runs(built: Graph):
    """Ten frames, the last five of which hold."""
    runs = frames_of(built, "moving")

    assert [(run.first, run.last) for run in runs] == [(n, n) for n in range(5)] + [(5, 9)]
    with pytest.raises(UsageError, match="no composition `nothing`"):
        frames_of(built, "nothing")


def test_json_and_dot_tell_the_same_nodes(built: Graph):
    """Both are made of the rows, in their order."""
    document = json.loads(json.dumps(to_json(built)))
    dot = list(to_dot(built, "moving"))

    assert document["schema"] == "nfbuild.graph/1"
    assert [row["name"] for row in document["compositions"]] == [
        row.name for row in built.compositions
    ]
    assert sum(line.lstrip().startswith('"frame ') and "label" in line and "->" not in line
               for line in dot) == 6  # fmt: skip
    assert (dot[0], dot[-1]) == ("digraph nfbuild {", "}")
    assert list(to_dot(built, "moving")) == dot


def test_networkx_is_not_loaded_for_the_text(built: Graph, space: Space):
    """Its import costs more than a build with nothing to do."""
    program = (
        "import sys; from nfbuild.ops.graph import text, compare, draw;"
        "text.load(sys.argv[1]); sys.exit('networkx' in sys.modules)"
    )

    command = [sys.executable, "-c", program, space.root / "g.txt"]
    assert subprocess.run(command, check=False).returncode == 0


# --- compared ---------------------------------------------------------------------------------


def test_equal_graphs_have_no_difference(built: Graph):
    """The comparison looks at the bytes first."""
    assert compare_graphs(built, built).equal


def test_an_edit_is_told_by_file_part_and_frames(built: Graph, space: Space):
    """Which file, which part of which composition, which frames of which film."""
    space.edit("compositions/moving.nf.svg", '"translate": [40, 0]', '"translate": [30, 0]')
    space.build(graph=str(space.root / "after.txt"))

    found = compare_graphs(built, graph_text.load(str(space.root / "after.txt")))
    told = {(one.section, one.node, one.what): one for one in found.differences}

    assert ("files", "file compositions/moving.nf.svg", "digest") in told
    assert ("compositions", "moving", "source") in told
    assert told["sequences", "moving at 64x36", "digest"].frames == ((1, 9),)
    assert not any("still" in one.node or "parent" in one.node for one in found.differences)


def test_a_question_with_two_answers_is_named(built: Graph):
    """The alarm: one frame key, two pictures."""
    frames = list(built.frames)
    frames[2] = frames[2]._replace(digest="0" * 64)

    found = compare_graphs(built, replace(built, frames=frames))

    first = found.differences[0]
    assert (first.section, first.node) == ("frames", frames[2].key)


def test_explain_compares_two_files(built: Graph, space: Space):
    """`explain` of two graphs, as text and as JSON."""
    space.compose("new", STILL.replace("#203040", "#403020"))
    space.build(graph=str(space.root / "after.txt"))

    text_form = space.run("explain", "g.txt", "after.txt")
    json_form = space.json("explain", "g.txt", "after.txt")
    same = space.run("explain", "g.txt", "g.txt")

    assert "compositions: new appeared" in text_form.stdout
    assert json_form["equal"] is False
    assert "the same bytes" in same.stdout


def test_the_command_reads_a_file_in_every_form(built: Graph, space: Space):
    """Text, JSON and DOT of a graph's file; frames and uses of it; another form is refused."""
    run = space.run("graph", "--from", "g.txt")
    frames = space.run("graph", "--from", "g.txt", "--frames", "moving")
    reached = space.json("graph", "--from", "g.txt", "--uses", "compositions/still.nf.svg")
    document = space.json("graph", "--from", "g.txt")
    dot = space.run("graph", "--from", "g.txt", "--format", "dot", "--frames", "still")
    wrong = space.run("graph", "--from", "g.txt", "--format", "png")
    absent = space.run("graph", "--from", "gone.txt")

    assert run.stdout.encode() == (space.root / "g.txt").read_bytes()
    assert frames.stdout.splitlines()[-1].startswith("5-9 ")
    assert reached["compositions"] == ["parent", "still"]
    assert len(document["frames"]) == len(built.frames)
    assert dot.stdout.startswith("digraph nfbuild {")
    assert (wrong.returncode, absent.returncode) == (2, 2)


# --- large ------------------------------------------------------------------------------------


def test_a_hundred_thousand_frames_are_written_within_200_mb(tmp_path: Path):
    """Peak memory of a process that does nothing else; the benchmark judges its seconds."""
    command = [sys.executable, "-m", "benchmarks.graph", "--json", str(tmp_path / "found.json")]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=False)  # 1 on a slow machine
    found = json.loads((tmp_path / "found.json").read_text())

    assert found["frames"] == 100_000
    assert found["runs"] == 3_000
    assert found["peak_bytes"] < 200 * 1000 * 1000
