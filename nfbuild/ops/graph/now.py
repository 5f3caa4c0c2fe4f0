"""The build graph of the project as it stands, from what the caches know: nothing is drawn.

It is the graph that `build --graph` would write now. Where a frame is not known there is no such
graph yet, and that is said; what depends on which file can be told without any frame.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from nfbuild.errors import NfbuildError, UsageError
from nfbuild.events import Event
from nfbuild.ops.exports.products import audio_of, listed_exports, plan_of
from nfbuild.ops.frames.drawing import Drawing
from nfbuild.ops.frames.films import Film, ask, load_film
from nfbuild.ops.frames.questions import Questions, State
from nfbuild.ops.frames.recall import Recall
from nfbuild.ops.frames.underway import Product
from nfbuild.ops.graph.make import graph_of, inputs_of
from nfbuild.ops.graph.model import Graph
from nfbuild.project import discover, select

if TYPE_CHECKING:
    from nfbuild.ops.run.session import Session


def input_graph(
    session: Session, names: Sequence[str], start: str
) -> Generator[Event, None, Graph]:
    """Return files and compositions; yields the failure of a composition that cannot be read."""
    films = yield from _load(session, names, start)
    return inputs_of(session, films)


def current_graph(
    session: Session, names: Sequence[str], start: str
) -> Generator[Event, None, Graph]:
    """Return the whole graph; raises UsageError where a frame has not been drawn yet."""
    films = yield from _load(session, names, start)
    questions = Questions()
    recall = Recall(session)
    products: list[Product] = []
    for film in list(films):
        if film.error is not None:
            continue
        try:
            _ask(session, film, questions, recall)
            for owed in listed_exports(session, film):
                plan = plan_of(session, film, owed)
                shown = film
                if (plan.width, plan.height) != (film.width, film.height):
                    shown = load_film(session, len(films), film.listed, plan.scale)
                    if shown.error is not None:
                        raise shown.error
                    films.append(shown)
                    _ask(session, shown, questions, recall)
                audio = audio_of(session, plan)
                products.append(Product(plan.folder, plan.name, "", plan, shown, audio))
        except NfbuildError as error:
            yield film.fail(error)
    Drawing(session, films, questions, recall).look_up()
    unknown = list(questions.numbers(State.UNKNOWN))
    if unknown:
        index, frame = questions.asker(unknown[0])
        raise UsageError(
            f"{len(unknown)} frames are not drawn yet, the first is frame {frame} of"
            f" `{films[index].name}`",
            hint="`nfbuild build --graph FILE` draws them and writes the graph",
            code="graph.unknown",
        )
    made = [product for product in products if product.film.error is None]
    return graph_of(session, films, questions, made)


def _load(session: Session, names: Sequence[str], start: str) -> Generator[Event, None, list[Film]]:
    discovery = discover(session.project)
    listed = select(session.project, discovery.compositions, names, start)
    films = [load_film(session, index, one, Fraction(1)) for index, one in enumerate(listed)]
    for film in films:
        if film.error is not None:
            yield film.fail(film.error)
    return films


def _ask(session: Session, film: Film, questions: Questions, recall: Recall) -> None:
    runs = recall.film(film)
    if runs is not None:
        film.ask_again(runs, questions)
    else:
        ask(session, film, questions, range(film.scene.frames))
