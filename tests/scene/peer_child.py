"""The peer's frames, drawn in a process of its own.

ThorVG keeps faces for a whole process: a test that ran before in the same one would decide which
face the peer falls back to. Reads composition paths from its arguments; prints one JSON object:
path to the SHA-256 of each frame in the peer's own form, or to what the peer says went wrong.
"""

import json
import subprocess
import sys


def peer_digests(paths):
    """Return the peer's frame digests by path; a path it fails on has the failure's text."""
    ran = subprocess.run(
        [sys.executable, __file__, *paths], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def _digests(path):
    from nanoframes.digest import frame_digest
    from nanoframes.media import MediaCache, MediaResolver
    from nanoframes.parse import parse_file
    from nanoframes.render import render_frame
    from nanoframes.timeline import frame_times

    document = parse_file(path)
    resolver = MediaResolver(MediaCache(), document.composition.fps)
    resolver.prepare(document)
    return [
        frame_digest(render_frame(document, time, media_resolver=resolver, warn_blank=False))
        for time in frame_times(document.composition)
    ]


def _answer(path):
    try:
        return _digests(path)
    except Exception as error:  # noqa: BLE001  the peer's own failures are its answer
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    print(json.dumps({path: _answer(path) for path in sys.argv[1:]}))
