"""A fresh process that bakes and draws one composition of each kind, in itself.

Prints the loaded modules of the core's rooms as JSON, and the kinds that were drawn.
"""

import json
import sys


def main(folder):
    from fractions import Fraction

    from nfbuild.ops.frames.drawing import Drawing
    from nfbuild.ops.frames.films import ask, load_film
    from nfbuild.ops.frames.questions import Questions, State
    from nfbuild.ops.frames.recall import Recall
    from nfbuild.ops.run.session import Settings, open_session
    from nfbuild.project import discover

    # No job means: parent and worker are this one process, so that both can be looked at.
    with open_session(folder, Settings(jobs=0, fresh=True)) as session:
        listed = discover(session.project).compositions
        films = [load_film(session, at, one, Fraction(1)) for at, one in enumerate(listed)]
        questions = Questions()
        for film in films:
            if film.error is None:
                ask(session, film, questions, range(film.scene.frames))
        drawing = Drawing(session, films, questions, Recall(session))
        for _ in drawing.draw(sorted(questions.numbers(State.UNKNOWN))):
            pass
        drawn = {film.name: str(film.error) for film in films}
        left = len(list(questions.numbers(State.UNKNOWN, State.FAILED)))
        _draw_on_a_colour(session)
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "nfbuild")
    print(json.dumps({"left": left, "drawn": drawn, "loaded": loaded}))


def _draw_on_a_colour(session):
    """Draw a scene on a background, which the library's callers can ask for."""
    from nfbuild.execute.base import Done, Job
    from nfbuild.render.tasks import DrawTask, LottieShot

    path = f"{session.project.root}/compositions/scene.lottie.json"
    with open(path, "rb") as file:
        shot = LottieShot(0.0, background=(9, 9, 9))
        task = DrawTask(file.read(), 200, 100, lottie=shot, png=False)
    (outcome,) = session.executor.run([Job(0, task)])
    assert isinstance(outcome, Done), outcome


if __name__ == "__main__":
    main(sys.argv[1])
