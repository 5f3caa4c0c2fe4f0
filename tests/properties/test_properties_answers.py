"""What a scene asks while it loads and bakes decides the same, whether or not it was known before.

A question that is asked and then forgotten would draw one thing in the first run and another in
the second.
"""

import random

import pytest

pytestmark = pytest.mark.process

ROOT = (
    '<svg xmlns="http://www.w3.org/2000/svg" data-width="200" data-height="100" data-fps="10" '
    'data-duration="1"><rect width="40" height="40"/><text x="90" y="49" font-size="9">far</text>'
    '<script type="application/nanoframes+json">{"animations": [{"target": "svg", "keyframes": '
    '[{"t": 0, "transform": {"rotate": 0, "center": "auto"}}, '
    '{"t": 1, "transform": {"rotate": 30, "center": "auto"}}]}]}</script></svg>'
)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from mutation_bench import Bench

    made = Bench(tmp_path_factory.mktemp("answers"))
    yield made
    made.close()


def cold_and_warm(bench, case):
    bench.forget_answers()
    cold = bench.again(case)
    warm = bench.again(case)
    assert cold.refused is None, cold.refused
    return (cold.id, cold.keys), (warm.id, warm.keys)


def test_a_question_of_the_root_is_asked(bench):
    """The root turns about the middle of what it holds, a text included, in the first run too."""
    from mutation_edits import Case

    case = Case({"compositions/case.nf.svg": ROOT.encode()})
    cold, warm = cold_and_warm(bench, case)

    assert bench.answers.measured == 1
    assert cold == warm
    assert b"translate(20,20)" not in bench.again(case).tasks[5].document


def test_every_case_is_the_same_cold_and_warm(bench):
    """The corpus, and forty generated compositions."""
    import mutation_cases

    cases = mutation_cases.corpus()
    cases += [mutation_cases.generated(f"answers {number}") for number in range(40)]
    random.Random(1).shuffle(cases)
    for case in cases:
        cold, warm = cold_and_warm(bench, case)
        assert cold == warm, case.name
