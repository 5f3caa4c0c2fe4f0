"""A record's bytes: their format, and that nothing else passes for one."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_contract import key

from nfbuild.digests import derive_raw
from nfbuild.errors import Corrupt, Missing, StoreError
from nfbuild.store.base import decode_record, encode_record

VECTOR = (
    "6e666272"  # magic
    "01"  # version
    "05" + b"frame".hex() + "ab" * 32 + "00000003" + "010203" + "0000"
)


def test_the_format_does_not_move():
    """A byte that moves is a format that every store in use would refuse."""
    body = bytes.fromhex(VECTOR)
    checksum = derive_raw("nfbuild 2026 store record v1", body)
    data = encode_record("frame", "ab" * 32, b"\x01\x02\x03")

    assert data == body + bytes.fromhex(checksum)
    assert checksum == "5273c3d4e22ef5174865747531ac1658d9ecb1ace8f3b1de3ce7a18844153825"


def test_a_signed_record_reads_as_an_unsigned_one():
    """There is room for a signature that this version does not judge."""
    data = encode_record("frame", key(1), b"payload", signature=b"s" * 64)

    assert decode_record("frame", key(1), data, "here") == b"payload"


def test_a_later_version_is_missing_and_not_damage():
    """What another program wrote is nobody's fault, and is not to be dropped."""
    body = b"nfbr\x02anything that a later program may say, long enough to be a record" + b"." * 32
    data = body + bytes.fromhex(derive_raw("nfbuild 2026 store record v1", body))

    with pytest.raises(Missing, match="version 2") as caught:
        decode_record("frame", key(1), data, "here")
    assert caught.value.code == "version"


@pytest.mark.parametrize(
    ("kind", "number", "reason"), [("pixels", 1, "other-key"), ("frame", 2, "other-key")]
)
def test_a_record_under_another_name_is_refused(kind, number, reason):
    """A record carries its own kind and key."""
    data = encode_record("frame", key(1), b"payload")

    with pytest.raises(Corrupt) as caught:
        decode_record(kind, key(number), data, "here")
    assert caught.value.code == reason


@given(st.data())
def test_one_changed_byte_is_always_found(data):
    """Every byte is under the checksum, the checksum too."""
    good = encode_record("pixels", key(3), data.draw(st.binary(max_size=60)))
    place = data.draw(st.integers(0, len(good) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda value: value != good[place]))
    bad = good[:place] + bytes([other]) + good[place + 1 :]

    with pytest.raises(StoreError):
        decode_record("pixels", key(3), bad, "here")


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_no_record(noise):
    """Hostile input is `Corrupt`, whatever it is."""
    with pytest.raises(Corrupt):
        decode_record("frame", key(1), noise, "here")


@given(st.binary(min_size=1, max_size=200))
def test_a_right_checksum_over_nonsense_is_refused(nonsense):
    """A checksum is no signature: anybody can take it, so lengths are checked as well."""
    body = b"nfbr\x01\x05frame" + bytes.fromhex(key(1)) + nonsense
    if int.from_bytes(nonsense[:4], "big") + 6 == len(nonsense):
        return
    data = body + bytes.fromhex(derive_raw("nfbuild 2026 store record v1", body))

    with pytest.raises(Corrupt):
        decode_record("frame", key(1), data, "here")


def test_a_pickle_stays_bytes():
    """A payload is handed on and never evaluated."""
    payload = pickle.dumps({"a": 1})
    data = encode_record("answer", key(1), payload)

    assert decode_record("answer", key(1), data, "here") == payload
