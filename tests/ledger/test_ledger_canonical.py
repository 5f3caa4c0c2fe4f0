"""An entry has one text: golden bytes, round trips, and everything else refused by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_films import LINUX, MAC, Film

from nfbuild.dataclasses import replace
from nfbuild.errors import Place, ProjectError
from nfbuild.identity.manifest import Part
from nfbuild.ledger.canonical import is_canonical, read, write
from nfbuild.ledger.entry import Entry, Lane
from nfbuild.ledger.runs import Run, Runs
from nfbuild.ledger.write_policy import recorded

ENTRY = recorded(None, LINUX, Film().present(), reason="why", facts={"cpu": "x86-64-v3"})


def test_the_text_of_an_entry():
    """The format, byte by byte: a change of it needs a new format version."""
    lane = Lane(
        identity={"source": "5" * 64, "media": "none", "fonts": "none", "toolchain": "none"},
        toolchain={},
        width=96,
        height=54,
        rate=Fraction(30000, 1001),
        digest="d" * 64,
        runs=Runs([Run(3, "0" * 16, "1" * 16), Run(2, None, None)]),
        sampled=True,
    )
    source = Part("source", {"#é\n\udce9": "a" * 64, "canvas": "b" * 64})
    entry = Entry(source, Part("media", {}), Part("fonts", {}), {"linux-x86_64": lane})

    assert write(entry).decode("ascii") == (
        """\
{{
 "format": "nfbuild.ledger/1",
 "inputs": {{
  "fonts": {{
   "digest": "none",
   "inputs": {{}}
  }},
  "media": {{
   "digest": "none",
   "inputs": {{}}
  }},
  "source": {{
   "digest": "{}",
   "inputs": {{
    "#\\u00e9\\n\\udce9": "{}",
    "canvas": "{}"
   }}
  }}
 }},
 "lanes": {{
  "linux-x86_64": {{
   "canvas": [96, 54],
   "digest": "{}",
   "frames": 5,
   "identity": {{
    "fonts": "none",
    "media": "none",
    "source": "{}",
    "toolchain": "none"
   }},
   "rate": "30000/1001",
   "runs": [
    [3, "0000000000000000", "1111111111111111"],
    [2, null, null]
   ],
   "sampled": true,
   "toolchain": {{}}
  }}
 }}
}}
""".format(source.digest, "a" * 64, "b" * 64, "d" * 64, "5" * 64)
    )


def test_an_entry_comes_back_as_it_was():
    """And the text says the same again."""
    data = write(ENTRY)
    back = read(data, "ledger/a.json", "a")

    assert back == ENTRY
    assert is_canonical(data, back)
    assert back.lanes[LINUX].reason == "why"


_WORDS = st.text(max_size=6)
_DIGESTS = st.integers(0, 2**256 - 1).map(lambda n: f"{n:064x}")
_SHORT = st.integers(0, 2**64 - 1).map(lambda n: f"{n:016x}")
_RUNS = st.lists(st.builds(Run, st.integers(1, 2**40), _SHORT, _SHORT), min_size=0, max_size=5).map(
    Runs
)


@given(
    st.dictionaries(_WORDS, _WORDS, max_size=4),
    st.dictionaries(_WORDS, _WORDS, max_size=4),
    st.dictionaries(_WORDS, st.tuples(_RUNS, _DIGESTS, _WORDS), max_size=3),
    st.fractions(min_value=Fraction(1, 1000), max_value=1000),
)
@settings(max_examples=150, deadline=None)
def test_any_entry_comes_back_as_it_was(source, toolchain, lanes, rate):
    """Whatever names and values it holds."""
    tools = Part("toolchain", toolchain)
    entry = Entry(
        Part("source", source),
        Part("media", {}),
        Part("fonts", source),
        {
            tag: Lane(
                identity={
                    "source": sequence,
                    "media": "none",
                    "fonts": sequence,
                    "toolchain": tools.digest,
                },
                toolchain=toolchain,
                width=1,
                height=2,
                rate=rate,
                digest=sequence,
                runs=runs,
                reason=reason,
            )
            for tag, (runs, sequence, reason) in lanes.items()
        },
    )
    data = write(entry)

    assert read(data, "ledger/a.json", "a") == entry
    assert json.loads(data)["format"] == "nfbuild.ledger/1"
    assert data.isascii()


def test_one_change_is_one_line():
    """A reviewer sees what moved, and only that."""
    before = write(ENTRY).splitlines()
    runs = list(ENTRY.lanes[LINUX].runs)
    runs[2] = replace(runs[2], digest="f" * 16)
    lane = replace(ENTRY.lanes[LINUX], runs=Runs(runs))
    after = write(replace(ENTRY, lanes={LINUX: lane})).splitlines()

    assert len(before) == len(after)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def test_line_ends_of_another_system_are_canonical():
    """A checkout may translate them; the entry says the same."""
    data = write(ENTRY).replace(b"\n", b"\r\n")

    assert is_canonical(data, read(data, "ledger/a.json", "a"))


@pytest.mark.parametrize(
    "edit",
    [
        json.dumps,
        lambda raw: json.dumps(raw, indent=1),
        lambda raw: json.dumps(dict(reversed(raw.items())), indent=1),
    ],
)
def test_other_bytes_with_the_same_meaning_are_not_canonical(edit):
    """They are read, and told apart."""
    data = edit(json.loads(write(ENTRY))).encode()
    back = read(data, "ledger/a.json", "a")

    assert back == ENTRY
    assert not is_canonical(data, back)


def _refused(data: bytes) -> ProjectError:
    with pytest.raises(ProjectError) as caught:
        read(data, "ledger/a.json", "a")
    assert caught.value.exit_code == 2
    return caught.value


def test_a_merge_conflict_is_named_with_its_line_and_what_to_do():
    """Nobody should have to merge digests by hand."""
    lines = write(ENTRY).split(b"\n")
    lines[5:5] = [b"<<<<<<< HEAD", b"=======", b">>>>>>> topic"]
    error = _refused(b"\n".join(lines))

    assert error.code == "ledger.conflict"
    assert error.place == Place("ledger/a.json", 6)
    assert error.hint == "`nfbuild build a` writes the entry again"


def test_an_unknown_format_version_is_refused_by_name():
    """An older program must not touch what a newer one wrote."""
    error = _refused(write(ENTRY).replace(b"ledger/1", b"ledger/2"))

    assert error.code == "ledger.version"
    assert "`nfbuild.ledger/2`" in error.message


def _with(path: str, value: object) -> bytes:
    raw = json.loads(write(ENTRY))
    *way, last = path.split(".")
    node = raw
    for step in way:
        node = node[step.replace("LANE", LINUX)]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return json.dumps(raw).encode()


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"", "is not JSON"),
        (b"[]", "is not a ledger entry"),
        (b"{}", "is not a ledger entry"),
        (b"\xff\xfe{}", "is not UTF-8 text"),
        (b"[" * 100_000, "is not a ledger entry"),
        (b"9" * 10_000, "is not a ledger entry"),
        (b'{"format": 1, "format": 2}', "has the key `format` twice"),
        (b'{"format": 1.5}', "the number `1.5`"),
        (b'{"format": NaN}', "the number `NaN`"),
        (_with("extra", 1), "the unknown key `extra`"),
        (_with("inputs", None), "has no `inputs`"),
        (_with("inputs.media", None), "`inputs` has no `media`"),
        (_with("inputs.toolchain", {}), "the unknown key `toolchain`"),
        (_with("inputs.source.digest", "0" * 64), "not the digest of the inputs below it"),
        (_with("inputs.source.inputs", []), "`inputs.source.inputs` is not an object"),
        (_with("inputs.source.inputs.x", 1), "`x` is not a text"),
        (_with("lanes.LANE.when", "now"), "the unknown key `when`"),
        (_with("lanes.LANE.digest", "short"), "is not a digest"),
        (_with("lanes.LANE.frames", 13), "adds up to 12 frames, not 13"),
        (_with("lanes.LANE.identity.source", "x"), "`lanes.linux-x86_64.identity.source`"),
        (_with("lanes.LANE.identity.toolchain", "0" * 64), "not the digest of its sub-inputs"),
        (_with("lanes.LANE.canvas", [96]), "not a width and a height"),
        (_with("lanes.LANE.canvas", [96, True]), "not a width and a height"),
        (_with("lanes.LANE.rate", "60/2"), "not an exact frame rate"),
        (_with("lanes.LANE.rate", "29.97"), "not an exact frame rate"),
        (_with("lanes.LANE.rate", "1/0"), "not an exact frame rate"),
        (_with("lanes.LANE.sampled", 0), "neither true nor false"),
        (_with("lanes.LANE.reason", 0), "`lanes.linux-x86_64.reason` is not a text"),
        (_with("lanes.LANE.runs", {}), "is not a list"),
        (_with("lanes.LANE.runs", [[12, "x", "y"]]), "run 0 has no key and digest"),
        (_with("lanes.LANE.runs", [[12, None, "0" * 16]]), "run 0 has no key and digest"),
        (_with("lanes.LANE.runs", [[0, "0" * 16, "0" * 16]]), "run 0 is not a count"),
        (_with("lanes.LANE.runs", [[12, None, None]]), "without being a sample"),
    ],
    ids=str,
)
def test_damage_is_named(data, fact):
    """Never a traceback, never a guess."""
    error = _refused(data)

    assert error.code == "ledger.damaged"
    assert fact in error.message
    assert error.place is not None
    assert error.place.file == "ledger/a.json"


@given(st.integers(0, len(write(ENTRY)) - 1), st.integers(0, 255))
@settings(max_examples=300, deadline=None)
def test_one_wrong_byte_is_refused_or_says_something_else(at, byte):
    """No damage passes for the entry."""
    data = bytearray(write(ENTRY))
    if data[at] == byte:
        return
    data[at] = byte
    try:
        back = read(bytes(data), "ledger/a.json", "a")
    except ProjectError:
        return
    assert back != ENTRY or not is_canonical(bytes(data), back)


SCRIPT = """
import sys, os
sys.path.insert(0, sys.argv[1])
from ledger_films import Film, LINUX, MAC
from nfbuild.ledger.book import Book
from nfbuild.ledger.canonical import write
from nfbuild.ledger.write_policy import recorded
names = ("z", "a", "\\u00c4", "ss", "\\u0131", "I", "\\U0001f600")
film = Film(source={name: name for name in names}).present()
entry = recorded(recorded(None, MAC, film), LINUX, film, facts={"b": "1", "a": "2"})
book = Book(os.path.join(os.getcwd(), "ledger"))
book.write("b/a", entry)
sys.stdout.buffer.write(open(book.path("b/a"), "rb").read())
"""


@pytest.mark.process
def test_the_bytes_do_not_depend_on_the_surroundings(tmp_path):
    """Hash seed, locale, time zone, umask and checkout path, each in a real process."""
    here = os.path.dirname(__file__)
    written = set()
    for number, (seed, locale, zone, umask) in enumerate(
        [
            ("0", "C", "UTC", 0o022),
            ("1", "C.UTF-8", "Asia/Kathmandu", 0o077),
            ("4242", "tr_TR.UTF-8", "America/St_Johns", 0o002),
            ("random", "de_DE.ISO-8859-1", "Pacific/Chatham", 0o027),
        ]
    ):
        folder = tmp_path / ("x" * number + " checkout")
        folder.mkdir()
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "LC_ALL": locale,
            "LANG": locale,
            "TZ": zone,
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, here],
            cwd=folder,
            env=environment,
            umask=umask,
            capture_output=True,
            check=True,
        )
        written.add(done.stdout)

    assert len(written) == 1
    assert MAC.encode() in written.pop()
