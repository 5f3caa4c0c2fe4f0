"""The progress line: rendering first, then encoding, with the time that is left."""

from __future__ import annotations

import re

from nfbuild.cli import terminal
from nfbuild.digests import FrameDigest, FrameKey
from nfbuild.events import Encoding, FrameRendered, Planned


def lines(capsys, monkeypatch, *events) -> list[str]:
    monkeypatch.setattr(terminal, "_PLAIN_EVERY_SECONDS", 0.0)
    show = terminal.Show()
    for event in events:
        show.hear(event)
    show.stop()
    return capsys.readouterr().err.splitlines()


def drawn(number: int) -> FrameRendered:
    return FrameRendered("a", number, FrameKey("0" * 64), FrameDigest("0" * 64))


def test_rendering_and_then_encoding_are_told_with_the_time_left(capsys, monkeypatch):
    """While frames are drawn, encoding beside it has no line of its own."""
    told = lines(
        capsys, monkeypatch,
        Planned(1, 2, 2, 2), drawn(0), Encoding(1, 4), drawn(1), Encoding(3, 4), Encoding(4, 4),
    )  # fmt: skip

    assert [re.sub(r"\d+ s left", "N s left", line) for line in told] == [
        "rendered 1 of 2 frames, N s left",
        "rendered 2 of 2 frames, N s left",
        "encoded 3 of 4 frames, N s left",
        "encoded 4 of 4 frames, N s left",
    ]


def test_encoding_alone_has_its_line(capsys, monkeypatch):
    """Nothing is to be drawn: a film is made from the cache."""
    told = lines(capsys, monkeypatch, Planned(1, 2, 2, 0), Encoding(0, 2), Encoding(2, 2))

    assert told == ["encoded 2 of 2 frames, 0 s left"]
