"""Bake documents with the peer in a process of its own.

The peer measures text with an engine in its own process; whatever else has loaded faces there
would be measured too.
"""

import subprocess
import sys
from pathlib import Path

from rasterizer import _receive, _send


class PeerBaker:
    """One child process, which bakes compositions that stand in `folder`."""

    def __init__(self, folder):
        self._child = subprocess.Popen(
            [sys.executable, __file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def bake(self, text, numbers):
        """Return the peer's documents of these frames of a composition."""
        _send(self._child.stdin, (text, list(numbers)))
        return _receive(self._child.stdout)

    def close(self):
        self._child.stdin.close()
        self._child.wait()
        self._child.stdout.close()


def _serve(folder):
    from nanoframes.bake import bake_svg
    from nanoframes.parse import parse_string
    from nanoframes.render import measurer
    from nanoframes.timeline import frame_times

    while (asked := _receive(sys.stdin.buffer)) is not None:
        text, numbers = asked
        parsed = parse_string(text)
        parsed.base_dir = Path(folder)
        times = frame_times(parsed.composition)
        documents = [bake_svg(parsed, times[number], measurer()).encode() for number in numbers]
        _send(sys.stdout.buffer, documents)


if __name__ == "__main__":
    _serve(sys.argv[1])
