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
    drawn = {row.name: str(getattr(row, "error", None)) for row in report.rows}
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "nfbuild")
    print(json.dumps({"exit": report.exit_code, "drawn": drawn, "loaded": loaded}))


if __name__ == "__main__":
    main(sys.argv[1])
