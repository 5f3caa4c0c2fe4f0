"""A fresh process that bakes and draws one composition of each kind, in itself.

Prints the loaded modules of the core's rooms as JSON, and the kinds that were drawn.
"""

import json
import sys


def main(folder):
    from nfbuild.ops.build import build
    from nfbuild.ops.options import read_options
    from nfbuild.ops.session import open_session

    # No job means: parent and worker are this one process, so that both can be looked at.
    options, settings = read_options([], folder, jobs=0, no_cache=True, record=True)
    with open_session(folder, settings) as session:
        running = build(session, options)
        while True:
            try:
                next(running)
            except StopIteration as done:
                report = done.value
                break
        _draw_on_a_colour(session)
    drawn = {row.name: str(getattr(row, "error", None)) for row in report.rows}
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "nfbuild")
    print(json.dumps({"exit": report.exit_code, "drawn": drawn, "loaded": loaded}))


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
