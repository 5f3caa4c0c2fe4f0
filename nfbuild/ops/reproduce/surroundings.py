"""The surroundings of one build of a proof: what may differ between two of them, drawn from a seed.

Everything here is something that a byte of an output must not depend on. Choices come from a
digest over the seed and the run's place in the matrix, so a seed means the same matrix on every
machine and under every Python.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import Any, TypeVar

from nfbuild.dataclasses import dataclass
from nfbuild.digests import by_utf8, derive

_CHOICE_CONTEXT = "nfbuild 2026 reproduce choice v1"

_LOCALES = ("C", "C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP")
# Spelled as rules, so that they hold where no time zone tables are installed.
_ZONES = ("UTC0", "NPT-5:45", "NST3:30NDT", "XXX-14", "CET-1CEST", "YYY12")
_UMASKS = (0o022, 0o077, 0o002, 0o027, 0o000)
_FOLDERS = ("checkout", "home", "root", "elsewhere")
_CHECKOUTS = ("project", "a project", "проект", "x" * 60, "deep/er/and/deep/er", "P.nf.svg")
_HOMES = ("home", "h ö m e", "users/x")
_OPEN_FILES = (0, 256, 512, 1024)
_NICE = (0, 1, 5, 10)

Value = TypeVar("Value")


@dataclass(frozen=True)
class Surroundings:
    """One build's surroundings.

    `jobs` 0 is the inline executor. `order` is the seed of the dispatch order, None the plan's
    own. `creation` is the seed of the order in which the checkout's files were made, 0 by name.
    `open_files` 0 leaves the limit as it is. `folder` says where the process stands.
    """

    jobs: int = 0
    order: int | None = None
    reuse: bool = True
    hash_seed: int = 0
    locale: str = "C"
    zone: str = "UTC0"
    umask: int = 0o022
    folder: str = "checkout"
    checkout: str = "project"
    home: str = "home"
    creation: int = 0
    open_files: int = 0
    nice: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the surroundings as reports print them."""
        return {name: getattr(self, name) for name in DIMENSIONS}

    def differing(self, other: Surroundings) -> dict[str, list[Any]]:
        """Return what is not the same as in `other`: name to both values."""
        return {
            name: [getattr(other, name), getattr(self, name)]
            for name in DIMENSIONS
            if getattr(self, name) != getattr(other, name)
        }


DIMENSIONS: tuple[str, ...] = Surroundings.__match_args__
"""What is varied."""

REFERENCE = Surroundings()
"""The inline executor in plain surroundings: what every other build must equal."""


def matrix(seed: int, jobs: Sequence[int], rounds: int) -> list[Surroundings]:
    """Return the surroundings to try: each worker count in `rounds` dispatch orders.

    Kept rasters are on and off in turns, so that each worker count has both with two rounds.
    """
    runs = []
    for place, count in enumerate(jobs):
        for number in range(rounds):
            chance = _Chance(seed, place, count, number)
            runs.append(
                Surroundings(
                    jobs=count,
                    order=chance.number("order"),
                    reuse=(place + number) % 2 == 1,
                    hash_seed=1 + chance.number("hash seed") % 4_000_000_000,
                    locale=chance.one_of("locale", _LOCALES),
                    zone=chance.one_of("zone", _ZONES),
                    umask=chance.one_of("umask", _UMASKS),
                    folder=chance.one_of("folder", _FOLDERS),
                    checkout=chance.one_of("checkout", _CHECKOUTS),
                    home=chance.one_of("home", _HOMES),
                    creation=1 + chance.number("creation"),
                    open_files=chance.one_of("open files", _OPEN_FILES),
                    nice=chance.one_of("nice", _NICE),
                )
            )
    return runs


class _Chance:
    """Choices of one run, each by a name of its own: a new dimension moves no other choice."""

    def __init__(self, seed: int, place: int, jobs: int, number: int) -> None:
        self._where = [seed, place, jobs, number]

    def number(self, what: str) -> int:
        return int(derive(_CHOICE_CONTEXT, self._where, what)[:12], 16)

    def one_of(self, what: str, values: Sequence[Value]) -> Value:
        return values[self.number(what) % len(values)]


@dataclass(frozen=True)
class Checkout:
    """A copy of what a project is made of, in folders of its own."""

    base: str
    root: str
    cache: str
    home: str
    elsewhere: str

    def stands_in(self, folder: str) -> str:
        """Return the working directory that `Surroundings.folder` names."""
        places = {"checkout": self.root, "home": self.home, "elsewhere": self.elsewhere}
        return places.get(folder, os.path.abspath(os.sep))


def make_checkout(
    base: str, root: str, paths: Sequence[str], surroundings: Surroundings
) -> Checkout:
    """Copy the files `paths` (relative to `root`, `..` allowed) to below the new folder `base`.

    The copy lies deep enough that every path that leaves the project stays below `base`.
    """
    leaving = max((path.count("../") for path in paths), default=0)
    nest = os.path.join(base, *(f"n{level}" for level in range(leaving)))
    checkout = Checkout(
        base=base,
        root=os.path.join(nest, *surroundings.checkout.split("/")),
        cache=os.path.join(base, "the cache" if surroundings.creation % 2 else "cache"),
        home=os.path.join(base, *surroundings.home.split("/")),
        elsewhere=os.path.join(base, "elsewhere"),
    )
    for folder in (checkout.root, checkout.home, checkout.elsewhere):
        os.makedirs(folder, exist_ok=True)
    for path in _in_order(paths, surroundings.creation):
        target = os.path.normpath(os.path.join(checkout.root, path))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(os.path.join(root, path), target)
    return checkout


def _in_order(paths: Sequence[str], creation: int) -> list[str]:
    names = by_utf8(paths)
    if creation == 0:
        return names
    return sorted(names, key=lambda name: derive(_CHOICE_CONTEXT, creation, name))
