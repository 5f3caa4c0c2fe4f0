"""Ranks and doors: who may import whom, and which room each third-party package is let into."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

import pytest
from house_reading import (
    PACKAGE,
    Finding,
    Module,
    imports,
    is_lazy,
    is_type_only,
    modules,
    planted,
    report,
)

# The house of docs/ARCHITECTURE.md. `entry points` stand above everything: nobody imports them.
RANKS = {
    "core": 0,
    "dataclasses": 0,
    "errors": 0,
    "digests": 0,
    "events": 0,
    "project": 1,
    "scene": 1,
    "pixels": 1,
    "store": 2,
    "identity": 2,
    "render": 2,
    "export": 3,
    "execute": 3,
    "ledger": 3,
    "ops": 4,
    "cli": 5,
    "__main__": 6,
}

# Within rank 0 the event values name digests and errors; both are made with `dataclasses`.
VOCABULARY = {"errors": ("dataclasses",), "events": ("dataclasses", "digests", "errors")}

# The rooms inside of `ops`, in the order in which a frame passes them. Verbs are the files beside
# them; they and the two whole proofs, `graph` and `reproduce`, stand above every stage.
STAGES = {
    "run": 0,
    "frames": 1,
    "causes": 2,
    "caches": 2,
    "exports": 2,
    "gate": 3,
    "graph": 3,
    "reproduce": 5,
}
VERB = 4

# Each package and the rooms or modules that may import it, with the reason. Widen it in the commit
# that needs it. In one room a package is imported by one module: that one is its door.
DOORS: dict[str, dict[str, str]] = {
    "blake3": {
        "nfbuild.digests": "every digest is taken in one place, under one list of contexts",
        "nfbuild.core": "the core is stamped before any of it is loaded, `digests` too",
    },
    "thorvg_python": {
        "nfbuild.render.*": "two engines in one process can crash: only a worker may load one",
    },
    "numpy": {
        "nfbuild.pixels.*": "85 ms of start-up; pixels are arrays only where they are measured",
        "nfbuild.export.*": "films need whole planes: padding, palettes and the reading back",
    },
    "PIL": {
        "nfbuild.pixels.*": "decoding of foreign pictures is a part of the toolchain there",
        "nfbuild.export.*": "animated and still products; its version is in an export's key",
    },
    "isal": {
        "nfbuild.pixels.*": "the PNG files of the cache have one writer and one reader",
    },
    "av": {
        "nfbuild.pixels.*": "decoding of video sources is a part of the toolchain there",
        "nfbuild.export.*": "encoding and reading back of films; never a part of an identity",
    },
    "diskcache": {
        "nfbuild.store.*": "the local frame table is a private, disposable index, and only that",
    },
    "obstore": {
        "nfbuild.store.*": "object storage is one store among others, and it hangs after a fork",
    },
    "networkx": {
        "nfbuild.ops.graph*": "its import costs more than a build with nothing to do",
    },
    "typer": {"nfbuild.cli.*": "words in: nothing below the command line parses arguments"},
    "click": {"nfbuild.cli.*": "words in: nothing below the command line parses arguments"},
    "rich": {"nfbuild.cli.*": "words out: operations yield events and never print"},
}

# Packages that may cost time only when they are used: no import of a room may run one of these.
HEAVY = ("thorvg_python", "numpy", "PIL", "networkx", "diskcache", "rich", "av", "obstore")

# Their import stands inside the function that needs it.
INSIDE_FUNCTION = {"networkx": "its import costs more than a build with nothing to do"}


def layers(module: Module) -> Iterator[Finding]:
    """An import points to a strictly lower rank, or stays inside its own room."""
    rank = RANKS.get(module.room)
    for name, node in imports(module):
        if name.partition(".")[0] != PACKAGE:
            continue
        target = name.partition(".")[2].partition(".")[0]
        if target not in RANKS:
            if target.startswith("__"):
                continue  # the package itself: its version and its docstring
            yield Finding("rank", module, node.lineno, f"`{target}` is no room of the house")
            continue
        if not module.room:
            why = "the package itself is loaded first by everybody, so it may load nobody"
            yield Finding("rank", module, node.lineno, why)
            continue
        if target == module.room or target in VOCABULARY.get(module.room, ()):
            continue
        if rank is None or RANKS[target] < rank:
            continue
        relation = "stands beside" if RANKS[target] == rank else "stands above"
        yield Finding(
            "rank",
            module,
            node.lineno,
            f"`{module.room}` (rank {rank}) may not import `{target}` (rank {RANKS[target]}), "
            f"which {relation} it: what it has to ask, it asks through a protocol of its own",
        )


def stages(module: Module) -> Iterator[Finding]:
    """Inside of `ops` an import points to an earlier stage, or stays in its own, or among verbs."""
    here = _stage_of(module.name)
    if here is None:
        return
    for name, node in imports(module):
        there = _stage_of(name)
        if there is None or there == here or _order(there) < _order(here):
            continue
        if _order(there) == _order(here) == VERB:
            continue  # a verb may be made of another
        why = f"`ops.{here}` may not import `ops.{there}`: a frame passes it later, or beside it"
        yield Finding("stage", module, node.lineno, why)


def _stage_of(name: str) -> str | None:
    """Return the name behind `nfbuild.ops.`: a stage or a verb; `None` for everything else."""
    parts = name.split(".")
    return parts[2] if parts[:2] == [PACKAGE, "ops"] and len(parts) > 2 else None


def _order(stage: str) -> int:
    return STAGES.get(stage, VERB)


def doors(module: Module) -> Iterator[Finding]:
    """A third-party package is imported where its door is, and nowhere else."""
    for name, node in imports(module):
        top = name.partition(".")[0]
        if top == PACKAGE or top in sys.stdlib_module_names or not top:
            continue
        if top == "typing_extensions" and is_type_only(module, node):
            continue
        if top not in DOORS:
            why = f"`{top}` has no door: a new dependency is a decision, written in this table"
            yield Finding("door", module, node.lineno, why)
            continue
        if not any(fnmatchcase(module.name, place) for place in DOORS[top]):
            allowed = "; ".join(f"`{place}`: {why}" for place, why in DOORS[top].items())
            why = f"`{top}` is imported only by {allowed}"
            yield Finding("door", module, node.lineno, why)
        if top in INSIDE_FUNCTION and not is_lazy(module, node):
            why = f"`{top}` is imported inside the function that needs it: {INSIDE_FUNCTION[top]}"
            yield Finding("door", module, node.lineno, why)


def one_door_a_room(house: Iterable[Module]) -> Iterator[Finding]:
    """In one room, one module imports a package; the others ask that module."""
    first: dict[tuple[str, str], Module] = {}
    for module in house:
        for name, node in imports(module):
            top = name.partition(".")[0]
            if top not in DOORS or is_type_only(module, node):
                continue
            owner = first.setdefault((module.room, top), module)
            if owner.name != module.name:
                yield Finding(
                    "one door",
                    module,
                    node.lineno,
                    f"`{top}` already has its door in `{owner.path}`: two modules that know one "
                    "package are two places to change when it changes",
                )


def heavy_packages_of(house: Iterable[Module]) -> Iterator[Finding]:
    """Importing a room runs no heavy import: every command pays for every room it names."""
    by_name = {module.name: module for module in house}
    for module in by_name.values():
        if not module.is_package:
            continue
        seen: set[str] = set()
        queue: list[tuple[str, tuple[str, ...]]] = [(module.name, ())]
        while queue:
            name, trail = queue.pop(0)
            if name in seen or name not in by_name:
                continue
            seen.add(name)
            here = by_name[name]
            for imported, node in imports(here):
                if is_lazy(here, node):
                    continue
                top = imported.partition(".")[0]
                if top in HEAVY:
                    way = " > ".join((*trail, name))
                    why = f"importing `{module.name}` loads `{top}` (by {way}): see HEAVY"
                    yield Finding("heavy", here, node.lineno, why)
                elif top == PACKAGE:
                    # Importing a module runs the packages that hold it first.
                    parts = imported.split(".")
                    held_by = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
                    queue.extend((holder, (*trail, name)) for holder in held_by)


def test_imports_point_to_a_strictly_lower_rank() -> None:
    """Packages of one rank never see each other; nothing below knows what is above it."""
    found = [finding for module in modules() for finding in layers(module)]

    assert found == [], report(found)


def test_imports_inside_of_ops_point_to_an_earlier_stage() -> None:
    """What a frame passes first knows nothing of what comes after; verbs know them all."""
    found = [finding for module in modules() for finding in stages(module)]

    assert found == [], report(found)


def test_every_folder_of_ops_is_a_stage() -> None:
    """A new folder is a decision: it gets its place in the order before it gets code."""
    folders = {
        stage
        for module in modules()
        if module.is_package and (stage := _stage_of(module.name)) is not None
    }

    assert folders == set(STAGES)


def test_every_module_of_the_package_has_a_rank() -> None:
    """A new room is a decision: it gets its rank before it gets code."""
    homeless = [m.path for m in modules() if m.room and m.room not in RANKS]

    assert homeless == []


def test_third_party_packages_come_through_their_door() -> None:
    """One package, one door a room: what it does badly is fenced in one module."""
    found = [finding for module in modules() for finding in doors(module)]
    found += one_door_a_room(modules())

    assert found == [], report(found)


def test_importing_a_room_is_light() -> None:
    """A build with nothing to do may not pay for what it does not use."""
    found = list(heavy_packages_of(modules()))

    assert found == [], report(found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nfbuild.scene.planted", "from nfbuild.render import thorvg\n"),
        ("nfbuild.scene.planted", "from nfbuild import pixels\n"),
        ("nfbuild.scene.planted", "from nfbuild.project.load import load\n"),
        ("nfbuild.scene.planted", "def late():\n    import nfbuild.store\n"),
        ("nfbuild.scene.planted", "from ..identity import keys\n"),
        ("nfbuild.scene.planted", "import importlib\nimportlib.import_module('nfbuild.ops')\n"),
        ("nfbuild.render.planted", "if TYPE_CHECKING:\n    from nfbuild.execute import pool\n"),
        ("nfbuild.errors", "from nfbuild.events import Event\n"),
        ("nfbuild.digests", "from nfbuild.errors import NfbuildError\n"),
        ("nfbuild.ledger.planted", "from nfbuild.export import plan\n"),
        ("nfbuild.ops.planted", "from nfbuild.cli import app\n"),
        ("nfbuild", "from nfbuild.cli import app\n"),
        ("nfbuild.ops.planted", "from nfbuild.attic import old\n"),
    ],
)
def test_a_planted_import_upwards_is_found(name: str, text: str) -> None:
    """The rule of ranks finds an import sideways, upwards, late, relative, typed or by name."""
    assert [finding.rule for finding in layers(planted(name, text))] == ["rank"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nfbuild.ops.planted", "import numpy as np\n"),
        ("nfbuild.scene.planted", "from PIL import Image\n"),
        ("nfbuild.execute.planted", "def draw():\n    import thorvg_python\n"),
        ("nfbuild.identity.planted", "from blake3 import blake3\n"),
        ("nfbuild.cli.planted", "import requests\n"),
        ("nfbuild.ops.graph", "import networkx\n"),
        ("nfbuild.ops.build", "def order():\n    import networkx\n"),
        ("nfbuild.scene.planted", "from typing_extensions import Buffer\n"),
    ],
)
def test_a_planted_package_in_the_wrong_room_is_found(name: str, text: str) -> None:
    """The rule of doors finds a package in a foreign room, an unknown one, and an early import."""
    assert [finding.rule for finding in doors(planted(name, text))] == ["door"]


def test_a_planted_second_door_is_found() -> None:
    """Two modules of one room that import one package are one too many."""
    first = planted("nfbuild.pixels.png", "import numpy\n")
    second = planted("nfbuild.pixels.measure", "def f():\n    import numpy\n")

    assert [finding.rule for finding in one_door_a_room([first, second])] == ["one door"]


def test_a_planted_heavy_room_is_found() -> None:
    """A package's front door that loads NumPy two imports away is named with the way there."""
    text = "from nfbuild.pixels import png\n"
    front = planted("nfbuild.pixels", text)
    front = Module(front.name, front.path, front.text, front.tree, front.parents, is_package=True)
    inner = planted("nfbuild.pixels.png", "import numpy\n")
    lazy = planted("nfbuild.pixels.png", "def f():\n    import numpy\n")

    found = list(heavy_packages_of([front, inner]))
    assert [finding.module.name for finding in found] == ["nfbuild.pixels.png"]
    assert "nfbuild.pixels > nfbuild.pixels.png" in found[0].message
    assert list(heavy_packages_of([front, lazy])) == []


def test_what_the_table_allows_is_allowed() -> None:
    """The rules are not vacuous the other way round: right imports pass."""
    right = planted(
        "nfbuild.render.planted",
        """
        import os
        from nfbuild.scene.baked import BakedFrame
        from nfbuild.pixels import png
        from nfbuild import digests
        from . import thorvg
        import thorvg_python
        """,
    )

    assert list(layers(right)) == []
    assert list(doors(right)) == []

    verb = planted(
        "nfbuild.ops.planted",
        """
        from nfbuild.ops import verify
        from nfbuild.ops.gate import judging
        from nfbuild.ops.graph.make import graph_of
        """,
    )
    assert list(stages(verb)) == []
