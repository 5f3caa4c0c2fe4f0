"""Determinism of the code itself: what could let chance into a picture is found by reading.

Two scopes. Everything that makes canonical bytes (pixel core, identity, ledger, graph writer) has
no order, name or fact of the machine in it. The pixel core has also no arithmetic and no character
table of the machine. Each rule says why, and each finds the violations planted here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

import house_determinism as rules
import pytest
from house_reading import Finding, Module, Rule, modules, planted, report

PIXEL_CORE = (
    *("nfbuild.errors", "nfbuild.digests"),
    *("nfbuild.scene*", "nfbuild.pixels*", "nfbuild.render*"),
)
CANONICAL = (*PIXEL_CORE, "nfbuild.identity*", "nfbuild.ledger*", "nfbuild.ops.graph*")

EVERYWHERE: tuple[Rule, ...] = (
    rules.set_iteration,
    rules.hash_and_id,
    rules.surroundings,
    rules.directory_order,
    rules.completion_order,
)
IN_THE_CORE: tuple[Rule, ...] = (
    rules.libm,
    rules.reductions,
    rules.power,
    rules.characters,
)

# (module, rule, line as it stands there) -> why it may. A line that moves keeps its exemption, a
# line that changes loses it, and an exemption that nobody needs fails the suite.
EXEMPT: dict[tuple[str, str, str], str] = {
    (
        "nfbuild.ledger.book",
        "directory order",
        "for folder, names, files in os.walk(self.folder):",
    ): "fills two lists that are sorted by their UTF-8 bytes before they are returned",
    (
        "nfbuild.ledger.excuse",
        "surroundings",
        "import datetime as dt",
    ): "the date on which an excuse ends; today is given by the caller, no clock is read",
    (
        "nfbuild.render.build",
        "directory order",
        "names = os.listdir(os.path.dirname(base))",
    ): "looks for the one folder of a kind; two of them are answered in another way",
    (
        "nfbuild.render.renderer",
        "surroundings",
        "import time",
    ): "times the stages of a frame for the profile; no key and no digest has them in it",
}


def findings(house: tuple[Module, ...]) -> Iterator[Finding]:
    """Yield every broken rule of the modules that make canonical bytes."""
    for module in house:
        if _inside(module, CANONICAL):
            for rule in EVERYWHERE:
                yield from rule(module)
        if _inside(module, PIXEL_CORE):
            for rule in IN_THE_CORE:
                yield from rule(module)


def _inside(module: Module, scope: tuple[str, ...]) -> bool:
    return any(fnmatchcase(module.name, pattern) for pattern in scope)


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.module.name, finding.rule, finding.module.line(finding.number)


def test_nothing_of_the_machine_reaches_canonical_bytes() -> None:
    """Sets, hashes, clocks, directory and completion order, libm and Unicode tables stay out."""
    found = [each for each in findings(modules()) if _key(each) not in EXEMPT]

    assert found == [], report(found)


def test_every_exemption_is_needed_and_has_a_reason() -> None:
    """An exemption outlives its line in no case."""
    used = {_key(each) for each in findings(modules())}

    assert [key for key in EXEMPT if key not in used] == []
    assert [key for key, reason in EXEMPT.items() if len(reason) < 20] == []


def test_both_scopes_hold_modules() -> None:
    """The patterns name rooms that exist: a renamed room may not slip out of the rules."""
    names = [module.name for module in modules()]

    for pattern in (*PIXEL_CORE, "nfbuild.identity*", "nfbuild.ledger*"):
        assert any(fnmatchcase(name, pattern) for name in names), pattern


PLANTED: list[tuple[Rule, str]] = [
    (rules.set_iteration, "for x in {1, 2}:\n    print(x)\n"),
    (rules.set_iteration, "names = set(('a', 'b'))\nout = [n for n in names]\n"),
    (rules.set_iteration, "def f(names: frozenset[str]):\n    return ','.join(names)\n"),
    (rules.set_iteration, "def f(names: 'set[str] | None'):\n    return list(names)\n"),
    (rules.set_iteration, "def f(a, b):\n    return tuple(a.keys() - b.keys())\n"),
    (rules.set_iteration, "def f(a):\n    s = set(a)\n    return s.pop()\n"),
    (rules.set_iteration, "def f(a):\n    return [*set(a)]\n"),
    (rules.set_iteration, "def f(a):\n    return f'{set(a)}'\n"),
    (rules.set_iteration, "def f(a):\n    return sum(x * 0.1 for x in set(a))\n"),
    (rules.set_iteration, "def f(a):\n    return max(set(a), key=len)\n"),
    (rules.set_iteration, "def f(a):\n    yield from set(a)\n"),
    (
        rules.set_iteration,
        "class C:\n    seen: set[str]\n    def f(self):\n        return list(self.seen)\n",
    ),
    (
        rules.set_iteration,
        "def ids() -> set[str]:\n    return {'a'}\ndef f():\n    return dict.fromkeys(ids())\n",
    ),
    (rules.hash_and_id, "def f(x):\n    return hash(x)\n"),
    (rules.hash_and_id, "def f(xs):\n    return sorted(xs, key=id)\n"),
    (rules.surroundings, "import random\n"),
    (rules.surroundings, "from time import time\n"),
    (rules.surroundings, "def f():\n    import datetime\n"),
    (rules.surroundings, "import os\nHOME = os.environ['HOME']\n"),
    (rules.surroundings, "from os import environ\n"),
    (rules.directory_order, "import os\nnames = os.listdir('.')\n"),
    (rules.directory_order, "def f(folder):\n    return [p for p in folder.iterdir()]\n"),
    (rules.directory_order, "from glob import glob\nfound = list(glob('*.py'))\n"),
    (rules.directory_order, "import os\nwith os.scandir('.') as names:\n    x = list(names)\n"),
    (rules.completion_order, "from concurrent.futures import as_completed\n"),
    (rules.completion_order, "def f(pool, xs):\n    return list(pool.imap_unordered(len, xs))\n"),
    (rules.libm, "import math\nx = math.sin(1.0)\n"),
    (rules.libm, "import math\nx = math.hypot(1.0, 2.0)\n"),
    (rules.libm, "from math import exp\n"),
    (rules.libm, "import numpy as np\nx = np.power(2.0, 3.0)\n"),
    (rules.libm, "import cmath\n"),
    (rules.reductions, "def f(a):\n    return a.sum()\n"),
    (rules.reductions, "import numpy as np\ndef f(a, b):\n    return np.dot(a, b)\n"),
    (rules.reductions, "def f(a, b):\n    return a @ b\n"),
    (rules.power, "def f(x):\n    return x**2\n"),
    (rules.power, "def f(x):\n    x **= 0.5\n"),
    (rules.power, "def f(x):\n    return pow(x, 3)\n"),
    (rules.characters, "import unicodedata\n"),
    (rules.characters, "def f(c):\n    return c.isalpha()\n"),
    (rules.characters, "import re\nWORD = re.compile(r'\\w+')\n"),
    (rules.characters, "import re\ndef f(x):\n    return re.sub(r'a\\s*b', '', x)\n"),
    (rules.characters, "import re\nPART = r'\\d'\nBOTH = re.compile(PART + 'x')\n"),
    (rules.characters, "import re\ndef f(p):\n    return re.compile(p)\n"),
    (rules.characters, "import re\nX = re.compile('[a-z]+', re.IGNORECASE)\n"),
]


@pytest.mark.parametrize(("rule", "text"), PLANTED)
def test_a_planted_violation_is_found(rule: Rule, text: str) -> None:
    """A rule that cannot find what it forbids forbids nothing."""
    found = list(rule(planted("nfbuild.scene.planted", text)))

    assert found != []
    assert all(len(each.message) > 30 for each in found)


@pytest.mark.parametrize("rule", [*EVERYWHERE, *IN_THE_CORE])
def test_every_rule_has_a_planted_violation(rule: Rule) -> None:
    """A new rule comes with the fault it is for."""
    assert rule in [each for each, _ in PLANTED]


def test_a_planted_module_is_found_through_the_scopes() -> None:
    """The scopes reach the rules: the same fault counts in the core and not in the command line."""
    fault = "def f(x):\n    return [y**2 for y in set(x)]\n"

    def broken(name: str) -> list[str]:
        return [each.rule for each in findings((planted(name, fault),))]

    assert broken("nfbuild.scene.planted") == ["set order", "power"]
    assert broken("nfbuild.ledger.planted") == ["set order"]
    assert broken("nfbuild.ops.graphtext") == ["set order"]
    assert broken("nfbuild.cli.planted") == []


def test_what_is_allowed_passes() -> None:
    """The rules are no noise: sorted sets, exact functions and ASCII patterns pass."""
    right = planted(
        "nfbuild.scene.planted",
        """
        import math
        import os
        import re

        WORD = re.compile(r"\\w+", re.ASCII)
        PLAIN = re.compile("[a-z0-9]+")
        BYTES = re.compile(rb"\\s+")
        LIMIT = 2**31

        def f(names: set[str], folder: str, samples):
            for name in sorted(names):
                yield name
            yield len(names), "a" in names, any(n == "a" for n in names)
            yield sorted(n for n in os.listdir(folder) if n)
            with os.scandir(folder) as found:
                yield sorted(found, key=lambda entry: entry.name)
            yield math.sqrt(2.0), math.floor(1.5)
            yield samples.sum(dtype="int64")
            yield {n for n in names}
        """,
    )

    assert list(findings((right,))) == []
