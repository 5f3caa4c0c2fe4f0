"""Six ways in which parallel builds go wrong, each planted into one build process by its name.

`reproduce` calls one of these before it builds. Each puts a double in the place of a part that
merges results, and does there what a careless part would do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from nfbuild.dataclasses import replace
from nfbuild.execute.base import Done
from nfbuild.ledger.runs import Runs
from nfbuild.ops.exports import products
from nfbuild.ops.gate import judging
from nfbuild.ops.graph import make as graph_make
from nfbuild.ops.run.session import Session


def _watch(note: Callable[[Done], None]) -> None:
    """Call `note` with every outcome in the order of completion."""
    plain = Session.perform

    def perform(self: Session, jobs: object) -> Iterator[object]:
        for outcome in plain(self, jobs):
            # Baking may ask for measurements on the way; only drawings are told of.
            if isinstance(outcome, Done) and hasattr(outcome.value, "digest"):
                note(outcome)
            yield outcome

    Session.perform = perform


def _fact(name: str, value: Callable[[], str]) -> None:
    """Write a fact into every lane that is recorded."""
    plain = judging.recorded

    def recorded(entry: object, tag: str, present: object, *, facts: dict[str, str]) -> object:
        return plain(entry, tag, present, facts={**facts, name: value()})

    judging.recorded = recorded


def completion_order_append() -> None:
    """The ledger's frames are appended as they are finished."""
    arrived: dict[int, int] = {}
    _watch(lambda outcome: arrived.setdefault(outcome.position, len(arrived)))
    plain = judging.present_of

    def present_of(film: object, questions: object) -> object:
        present = plain(film, questions)
        frames = sorted(film.frames, key=lambda number: arrived.get(number, -1))
        runs = Runs.of((questions.scene(n), questions.digest(n)) for n in frames)
        return replace(present, runs=runs)

    judging.present_of = present_of


def set_iteration() -> None:
    """The graph's rows are written in the order of a set."""
    graph_make.ordered = lambda rows: list(set(rows))


def hash_seed_in_a_name() -> None:
    """An export's file name has a piece of `hash()` in it."""
    plain = products.resolve

    def resolve(*args: object) -> object:
        plan = plain(*args)
        return replace(plan, name=f"{hash('export') & 0xFFFFFFFF:08x}-{plan.name}")

    products.resolve = resolve


def time_in_the_ledger() -> None:
    """An entry says when it was recorded."""
    _fact("recorded", lambda: str(time.time_ns()))


def float_sum_in_completion_order() -> None:
    """Numbers of the frames are added as they come: addition of floats has no free order."""
    total = [0.0]

    def add(outcome: Done) -> None:
        # Large and small, of both signs: most orders round to another sum.
        size = 1e8 if outcome.position % 3 else 1e-8
        sign = -1.0 if outcome.position % 2 else 1.0
        total[0] += (1.1 + outcome.position * outcome.position) * size * sign

    _watch(add)
    _fact("energy", lambda: repr(total[0]))


def first_finished_wins() -> None:
    """Of several frames that are one picture, the first that was finished stands for all."""
    winners: dict[str, int] = {}
    _watch(lambda outcome: winners.setdefault(outcome.value.digest, outcome.position))
    _fact("shown by", lambda: " ".join(str(winners[digest]) for digest in sorted(winners)))
