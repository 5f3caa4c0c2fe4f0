"""`docs/configuration.md` names every key with its default, and none that is not there."""

from __future__ import annotations

import os
import re

from nfbuild.project import schema
from nfbuild.project.load import parse
from nfbuild.project.reading import read_project
from nfbuild.project.values import Limits

PAGE = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "docs", "configuration.md")

_TABLES = {
    "`[project]`": "project",
    "`[fonts]`": "fonts",
    "`[lottie]`": "lottie",
    "`[cache]`": "cache",
    "`[[cache.shared]]`:": "cache.shared",
    "`[[export]]`": "export",
    '`[verify.excused."NAME"]`': "verify.excused",
    "`[limits]`": "limits",
}


def _documented() -> dict[str, dict[str, str]]:
    """Return the rows of the page: the second column of each key, by table."""
    found: dict[str, dict[str, str]] = {}
    table = ""
    with open(PAGE, encoding="utf-8") as file:
        for line in file:
            title = line.removeprefix("## ").strip()
            if line.startswith("## ") or title in _TABLES:
                table = _TABLES.get(title, "")
            row = re.match(r"\| `(\w+)` \| ([^|]*) \|", line)
            if row is not None and table:
                found.setdefault(table, {})[row[1]] = row[2].strip()
    return found


def test_every_key_is_documented_and_no_other():
    """The list of keys is one list, in the code and on the page."""
    documented = {table: sorted(keys) for table, keys in _documented().items()}

    assert documented == {
        table: sorted(keys) for table, keys in schema.TABLES.items() if table != "verify"
    }


def test_the_documented_limits_are_the_real_ones():
    """Read the page's own values as a configuration."""
    rows = _documented()["limits"]
    text = "[limits]\n" + "".join(f"{key} = {value.strip('`')}\n" for key, value in rows.items())
    project = read_project("/p", parse("nfbuild.toml", text.encode()), None, {}, ())

    assert project.limits == Limits()


def test_the_options_of_exports_are_for_the_documented_formats():
    """A format gained or lost is told."""
    rows = _documented()["export"]
    for option, formats in schema.OPTIONS.items():
        expected = "all" if formats == schema.FORMATS else ", ".join(f"`{f}`" for f in formats)
        assert rows[option] == expected, option


def test_the_example_of_the_page_is_read():
    """What people copy works."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read().split("```toml\n", 1)[1].split("```", 1)[0]
    project = read_project("/p", parse("nfbuild.toml", text.encode()), None, {}, ())

    assert project.limits.worker_memory == 4_000_000_000
    assert project.exports[0].composition == "intro/*"
