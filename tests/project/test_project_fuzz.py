"""Whatever stands in the file: a project, or a `ProjectError` with a place."""

from __future__ import annotations

import os
import tempfile
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from nfbuild.errors import ProjectError
from nfbuild.project import schema
from nfbuild.project.lines import Lines
from nfbuild.project.load import parse
from nfbuild.project.reading import read_project

_SCALARS = st.one_of(
    st.sampled_from(["true", "false", "0", "-1", "3", "256", "29.97", "1e400", "nan", "-inf"]),
    st.sampled_from(["2027-06-30", "2027-06-30T10:00:00", "10:00:00"]),
    st.sampled_from(["'10 GB'", "'30 d'", "'a:b'", "'1:5'", "'png'", "'gif'", "'../x'", "''"]),
    st.sampled_from(["'{name}.png'", "'{number:05d}'", "'s3://b'", "'file://'", "'~'", "'*'"]),
    st.text(max_size=8).map(lambda text: "'" + "".join(c for c in text if c.isalnum()) + "'"),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        inner.map(lambda item: "{ a = " + item + " }"),
    ),
    max_leaves=4,
)
_NAMES = sorted({key for keys in schema.TABLES.values() for key in keys} | {"a", "'b c'"})
_HEADERS = [f"[{table}]" for table in (*schema.TABLES, "verify.excused.x", "a")] + [
    "[[export]]",
    "[[cache.shared]]",
    "[[project]]",
]
_LINES = st.one_of(
    st.sampled_from(_HEADERS),
    st.tuples(st.sampled_from(_NAMES), _VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    st.just("# a comment with ' and \" and ["),
)


def _load(data: bytes) -> None:
    root = tempfile.gettempdir()
    main = parse("nfbuild.toml", data)
    read_project(os.path.join(root, "nowhere"), main, None, {}, ())


@given(st.lists(_LINES, max_size=12).map("\n".join))
@settings(max_examples=400, deadline=None)
def test_tables_of_any_shape_are_read_or_refused(text):
    """Right names with wrong values, wrong names with right values."""
    try:
        _load(text.encode())
    except ProjectError as error:
        assert error.place is not None  # noqa: PT017  either outcome is right; this is its form
        assert error.message[:1] == error.message[:1].lower()  # noqa: PT017  the same


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_bytes_of_any_kind_are_read_or_refused(data):
    """No byte sequence is a traceback."""
    try:
        _load(data)
    except ProjectError as error:
        assert error.place is not None  # noqa: PT017  either outcome is right; this is its form


@given(st.lists(_LINES, max_size=12).map("\n".join))
@settings(max_examples=200, deadline=None)
def test_every_key_that_toml_finds_has_the_line_that_sets_it(text):
    """The walker sees what the parser sees: each plain key stands on the line it is given."""
    try:
        raw = tomllib.loads(text)
    except ValueError:
        return
    found = Lines(text).found
    rows = text.split("\n")

    for table, keys in raw.items():
        assert (table,) in found
        for key, value in keys.items() if isinstance(keys, dict) else ():
            line = found[table, key]
            nested = isinstance(value, (dict, list))  # then a header may be where it stands
            assert key in rows[line - 1] or (nested and table in rows[line - 1])
