"""Lanes against compositions: which platforms agree on which films, and where they do not.

A pure reading of entries: nothing is drawn. Two lanes agree on a film when their whole sequence
digests are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from nfbuild.dataclasses import dataclass
from nfbuild.digests import by_utf8
from nfbuild.ledger.entry import Entry
from nfbuild.ledger.runs import ranges, stretches
from nfbuild.ledger.verdict import Ranges

Cell: TypeAlias = Literal["agrees", "differs", "sampled", "stale", "absent"]
"""`agrees`: as most lanes do. `differs`: another whole digest. `sampled`: not all was drawn.
`stale`: recorded of another film than the entry's inputs. `absent`: no such lane."""


@dataclass(frozen=True)
class Row:
    """One composition: its cells by lane, and for lanes that differ the frames that do.

    `group` numbers the lanes by their digest, from 1 for the one that most lanes have: lanes with
    one number are one film, pixel for pixel. `frames` are compared with the first lane of group 1.
    """

    name: str
    cells: Mapping[str, Cell]
    group: Mapping[str, int]
    frames: Mapping[str, Ranges]


@dataclass(frozen=True)
class Matrix:
    """All lanes found, sorted, and a row for each composition, sorted."""

    lanes: tuple[str, ...]
    rows: tuple[Row, ...]


def matrix(entries: Mapping[str, Entry]) -> Matrix:
    """Return which lanes agree, for entries by composition name."""
    lanes = tuple(by_utf8({tag for entry in entries.values() for tag in entry.lanes}))
    return Matrix(lanes, tuple(_row(name, entries[name], lanes) for name in by_utf8(entries)))


def _row(name: str, entry: Entry, lanes: tuple[str, ...]) -> Row:
    film = entry.film()
    cells: dict[str, Cell] = {}
    whole: dict[str, list[str]] = {}
    for tag in lanes:
        lane = entry.lanes.get(tag)
        if lane is None:
            cells[tag] = "absent"
        elif not lane.same_film(film):
            cells[tag] = "stale"
        elif lane.sampled:
            cells[tag] = "sampled"
        else:
            whole.setdefault(lane.digest, []).append(tag)
    # Most lanes first; of equally many the one with the first tag.
    groups = sorted(whole.values(), key=lambda tags: (-len(tags), tags))
    group: dict[str, int] = {}
    frames: dict[str, Ranges] = {}
    for number, tags in enumerate(groups, 1):
        for tag in tags:
            group[tag] = number
            cells[tag] = "agrees" if number == 1 else "differs"
            if number > 1:
                frames[tag] = _difference(entry, groups[0][0], tag)
    return Row(name, {tag: cells[tag] for tag in lanes}, group, frames)


def _difference(entry: Entry, first: str, second: str) -> Ranges:
    before, after = entry.lanes[first].runs, entry.lanes[second].runs
    return ranges(
        (start, count)
        for start, count, old, new in stretches(before, after)
        if old is None or new is None or old.digest != new.digest
    )
