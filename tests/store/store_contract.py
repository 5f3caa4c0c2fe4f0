"""What every store promises: a new store supplies a factory and inherits the suite."""

import os

import pytest

from nfbuild.digests import BlobDigest, blob_digest, derive
from nfbuild.errors import Corrupt, Missing
from nfbuild.store.base import KINDS, PrunableStore, Store, WritableStore

ABSENT = BlobDigest("ab" * 32)
HOSTILE_NAMES = [
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\windows\\win.ini",
    "ab" * 31,
    "AB" * 32,
    "ab" * 31 + "\u0663\u0664",
    "",
    "ab" * 32 + "\n",
]


def key(number: int) -> str:
    return derive("nfbuild 2026 test key v1", number)


class StoreContract:
    """Inherit, and give a fixture `store` that yields an empty store."""

    def test_what_is_put_is_got(self, store):
        """A blob comes back byte for byte under its plain BLAKE3, also an empty and a big one."""
        for data in (b"", b"x", os.urandom(3_000_000)):
            digest = store.put_blob(data)

            assert digest == blob_digest(data)
            assert store.get_blob(digest) == data
            assert store.has_blob(digest)

    def test_what_is_absent_is_missing(self, store):
        """Absence is an answer of its own: ask the next store."""
        assert not store.has_blob(ABSENT)
        with pytest.raises(Missing):
            store.get_blob(ABSENT)
        for kind in KINDS:
            with pytest.raises(Missing):
                store.get_record(kind, key(1))
        assert store.get_records("frame", [key(1), key(2)]) == {}

    def test_a_blob_is_put_twice_without_harm(self, store):
        """Putting is idempotent, with and without replacing."""
        digest = store.put_blob(b"twice")

        assert store.put_blob(b"twice") == digest
        assert store.put_blob(b"twice", replace=True) == digest
        assert store.get_blob(digest) == b"twice"

    def test_records_of_four_kinds_are_four_spaces(self, store):
        """One key may be asked as four questions."""
        for kind in KINDS:
            store.put_record(kind, key(7), kind.encode())

        assert [store.get_record(kind, key(7)) for kind in KINDS] == [k.encode() for k in KINDS]

    def test_a_record_that_stands_stays_unless_replaced(self, store):
        """First wins; `replace` is for what was found wrong."""
        store.put_record("frame", key(1), b"first")
        store.put_record("frame", key(1), b"second")
        assert store.get_record("frame", key(1)) == b"first"

        store.put_record("frame", key(1), b"third", replace=True)
        assert store.get_record("frame", key(1)) == b"third"

    def test_records_come_in_batches(self, store):
        """A batch gives what is there and says nothing of the rest."""
        items = {key(i): b"%d" % i for i in range(40)}
        store.put_records("pixels", items)
        store.put_records("pixels", {key(3): b"other", key(40): b"40"})

        wanted = [key(i) for i in range(45)]
        assert store.get_records("pixels", wanted) == {**items, key(40): b"40"}

    def test_a_payload_is_any_bytes(self, store):
        """Nothing in a payload is a separator, a number or an end."""
        for number, payload in enumerate((b"", bytes(range(256)), b"\x80\x04N.", b"\n" * 5000)):
            store.put_record("answer", key(number), payload)

            assert store.get_record("answer", key(number)) == payload

    @pytest.mark.parametrize("name", HOSTILE_NAMES)
    def test_no_store_looks_up_what_is_no_digest(self, store, name):
        """Names come from records, which may say anything: they never become a path."""
        with pytest.raises(Corrupt):
            store.get_blob(name)
        with pytest.raises(Corrupt):
            store.has_blob(name)
        with pytest.raises(Corrupt):
            store.get_record("frame", name)
        with pytest.raises(Corrupt):
            store.put_record("frame", name, b"x")
        assert store.get_records("frame", [name, key(1)]) == {}

    def test_an_unknown_kind_is_a_mistake_of_the_caller(self, store):
        """Kinds are constants of the program."""
        with pytest.raises(ValueError, match="kind"):
            store.get_record("movie", key(1))
        with pytest.raises(ValueError, match="kind"):
            store.put_record("movie", key(1), b"x")

    def test_it_is_what_it_says(self, store):
        """Capability is a protocol, not a flag; the name is for people."""
        assert isinstance(store, Store)
        assert isinstance(store, WritableStore)
        assert store.name


class PrunableContract(StoreContract):
    """The suite of a store that can list and drop."""

    def test_what_is_listed_is_what_was_put(self, store):
        """Listings name everything, blobs in order of digest with their sizes."""
        digests = sorted(store.put_blob(b"%d" % i * 100) for i in range(30))
        store.put_records("frame", {key(i): b"" for i in range(5)})

        assert [info.digest for info in store.blobs()] == digests
        assert {info.size for info in store.blobs()} == {100, 200}
        assert sorted(store.records()) == sorted(("frame", key(i)) for i in range(5))

    def test_what_is_dropped_is_missing(self, store):
        """A blob goes without its records, and a record without its blob."""
        digest = store.put_blob(b"gone")
        store.put_record("pixels", key(1), b"stays")

        assert store.drop_blob(digest)
        assert not store.drop_blob(digest)
        with pytest.raises(Missing):
            store.get_blob(digest)
        assert store.get_record("pixels", key(1)) == b"stays"
        assert store.drop_record("pixels", key(1))
        assert not store.drop_record("pixels", key(1))
        with pytest.raises(Missing):
            store.get_record("pixels", key(1))
        assert isinstance(store, PrunableStore)
