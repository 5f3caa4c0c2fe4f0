"""The id sees which text draws with which face, and not only which faces are drawn with.

Found by asking where two configurations could use one set of faces in two ways.
"""

import pytest
from mutation_edits import Case

from nfbuild.dataclasses import replace

pytestmark = pytest.mark.process

HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" data-width="200" data-height="100" data-fps="10" '
    'data-duration="0.1">'
)
TEXTS = (
    f'{HEAD}<text y="20" font-family="Nobody">aaa</text>'
    '<text y="40" font-family="Body">bbb</text><text y="60" font-family="Strong">ccc</text></svg>'
)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from mutation_bench import Bench

    made = Bench(tmp_path_factory.mktemp("faces"))
    yield made
    made.close()


def judged(bench, one, two):
    """Return whether ids and pixels of two cases are equal."""
    first, second = bench.again(one), bench.again(two)
    assert first.refused is None, first.refused
    assert second.refused is None, second.refused
    drawn = []
    for case, film in ((one, first), (two, second)):
        bench.put(case)
        drawn.append(bench.draw(film))
    return first.id == second.id, drawn[0] == drawn[1]


def test_two_faces_that_change_places(bench):
    """Both are used before and after; the text that matches neither falls back to the other."""
    case = Case({"compositions/case.nf.svg": TEXTS.encode()}, fonts=("Body", "Strong", "Spare"))
    other = replace(case, fonts=("Strong", "Body", "Spare"))

    assert judged(bench, case, other) == (False, False)


def test_faces_behind_the_first_may_change_places(bench):
    """No text of it is drawn otherwise: neither picture nor id moves."""
    case = Case({"compositions/case.nf.svg": TEXTS.encode()}, fonts=("Body", "Strong", "Spare"))
    other = replace(case, fonts=("Body", "Spare", "Strong"))

    assert judged(bench, case, other) == (True, True)


def embedding(face):
    return (
        f"{HEAD}<style>@font-face{{font-family:Own;src:url(../{face}.ttf)}}</style>"
        '<text y="60" font-size="60" font-family="Own">Own</text></svg>'
    )


def test_two_children_that_exchange_what_they_embed(bench):
    """Parent and children each bring a face of one name: which brings which is seen."""
    faces = {}
    for name in ("Body", "Strong", "Spare"):
        with open(f"{bench.folder}/faces/plain/{name}.ttf", "rb") as file:
            faces[f"{name}.ttf"] = file.read()
    parent = (
        f"{HEAD}<style>@font-face{{font-family:Own;src:url(../Spare.ttf)}}</style>"
        '<text y="90" font-size="30" font-family="Own">Own</text>'
        '<image href="one.nf.svg" width="80" height="40"/>'
        '<image href="two.nf.svg" x="90" width="80" height="40"/></svg>'
    ).encode()
    # The children's text stays; the file that both refer to by its path does not.
    one = embedding("Body").encode()
    two = embedding("Strong").encode()
    case = Case({
        "compositions/case.nf.svg": parent,
        "compositions/one.nf.svg": one,
        "compositions/two.nf.svg": two,
        **faces,
    })  # fmt: skip
    swapped = {"Body.ttf": faces["Strong.ttf"], "Strong.ttf": faces["Body.ttf"]}
    other = replace(case, files={**case.files, **swapped})

    assert judged(bench, case, other) == (False, False)


def test_a_child_called_like_an_input_of_another(bench):
    """The inputs of two files with names that hold separators are all kept."""
    second = "compositions/b.nf.svg: #x.svg"
    parent = (
        f'{HEAD}<image href="b.nf.svg" width="80" height="40"/>'
        '<image href="./b.nf.svg:%20%23x.svg" x="90" width="80" height="40"/></svg>'
    ).encode()
    first = f'{HEAD}<rect id="x.svg: #x" width="99" height="50"/></svg>'.encode()
    child = f'{HEAD}<rect id="x" width="99" height="50"/></svg>'.encode()
    case = Case({
        "compositions/case.nf.svg": parent,
        "compositions/b.nf.svg": first,
        second: child,
    })  # fmt: skip
    film = bench.again(case)
    assert film.refused is None, film.refused
    clashing = [
        label for label in film.identity.source.inputs if label.startswith(f"child {second}")
    ]

    assert f"child {second}: #x" in clashing
    assert f"child {second}: #x (2)" in clashing
    painted = first.replace(b"/></svg>", b' fill="red"/></svg>')
    assert judged(bench, case, case.with_file("compositions/b.nf.svg", painted)) == (False, False)
