"""The canonical encoding is a format: frozen vectors, and a reader that shares no code with it.

`tests/vectors/encoding.json` is read by anybody who writes a second implementation. A vector that
moves means that every key and every ledger entry of the world moves: make a new version instead.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from house_reading import ROOT
from hypothesis import given
from hypothesis import strategies as st

from nfbuild import digests

VECTORS = json.loads((ROOT / "tests/vectors/encoding.json").read_text("utf-8"))


def value_of(told: Any) -> digests.Field:
    """Return the value a vector tells of: `{"bytes": hex}` is bytes, the rest is itself."""
    if isinstance(told, dict):
        return bytes.fromhex(told["bytes"])
    if isinstance(told, list):
        return [value_of(each) for each in told]
    return told


def read(data: bytes, at: int = 0) -> tuple[digests.Field, int]:
    """Return the value whose encoding begins at `at`, and where it ends: written from the docs."""
    tag, at = data[at : at + 1], at + 1
    if tag == b"n":
        return None, at
    count = shift = 0
    while True:
        byte, at = data[at], at + 1
        count |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if tag == b"l":
        items = []
        for _ in range(count):
            item, at = read(data, at)
            items.append(item)
        return items, at
    body, at = data[at : at + count], at + count
    if tag == b"b":
        return body, at
    if tag == b"t":
        return body.decode("utf-8", "surrogatepass"), at
    assert tag == b"i", tag
    return int(body), at


@pytest.mark.parametrize("vector", VECTORS["encodings"], ids=lambda vector: vector["name"])
def test_encoding_is_frozen(vector: dict[str, Any]) -> None:
    """A value has one encoding, on every machine and in every version."""
    value = value_of(vector["value"])

    assert digests.encode(value).hex() == vector["encoding"]
    assert read(bytes.fromhex(vector["encoding"])) == (value, len(vector["encoding"]) // 2)


@pytest.mark.parametrize("vector", VECTORS["digests"], ids=lambda vector: vector["name"])
def test_digests_are_frozen(vector: dict[str, Any]) -> None:
    """A context and fields have one digest; two contexts never share one."""
    fields = value_of(vector["fields"])
    assert isinstance(fields, list)

    assert digests.derive(vector["context"], *fields) == vector["digest"]


def test_a_file_is_named_as_b3sum_names_it() -> None:
    """Input and blob digests are plain BLAKE3, so anybody can check them without this program."""
    assert digests.file_digest(b"") == VECTORS["plain"]["empty"]
    assert digests.blob_digest(b"abc") == VECTORS["plain"]["abc"]


def test_no_two_vectors_share_an_encoding_or_a_digest() -> None:
    """The vectors were chosen to collide if fields were joined without tags and lengths."""
    encodings = [vector["encoding"] for vector in VECTORS["encodings"]]
    named = [vector["digest"] for vector in VECTORS["digests"]]

    assert len(encodings) == len(set(encodings)) >= 20
    assert len(named) == len(set(named)) >= 6


@pytest.mark.parametrize("length", [0, 127, 128, 16_383, 16_384, 2_097_152])
def test_lengths_grow_by_a_byte_where_the_docs_say(length: int) -> None:
    """A length is an unsigned LEB128 number: seven bits a byte, lowest first."""
    data = digests.encode(b"\0" * length)

    assert read(data) == (b"\0" * length, len(data))
    assert len(data) - length == 1 + max(1, -(-length.bit_length() // 7))


FIELDS = st.recursive(
    st.none() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)


@given(FIELDS)
def test_every_value_can_be_read_back(value: digests.Field) -> None:
    """What can be read back to itself has an encoding that nothing else has."""
    data = digests.encode(value)

    assert read(data) == (value, len(data))


@given(FIELDS, FIELDS)
def test_different_values_have_different_encodings(one: Any, other: Any) -> None:
    """Not by luck of the lengths: no value's encoding begins another's."""
    if one != other:
        assert not digests.encode(one).startswith(digests.encode(other))


@pytest.mark.parametrize("value", [True, False, [True]])
def test_a_bool_has_no_encoding(value: Any) -> None:
    """`True` would be 1: the two states are named in words."""
    with pytest.raises(TypeError, match="name the two states"):
        digests.encode(value)
