"""Layers, the fuse of a tier and uploads, against a store that does as it is told."""

import threading
import time

import pytest
from store_contract import ABSENT, StoreContract, key
from store_fakes import ScriptedStore, down, tier

from nfbuild.digests import BlobDigest, blob_digest
from nfbuild.errors import Corrupt, Missing, StoreRequired, Unavailable
from nfbuild.store.base import WritableStore
from nfbuild.store.layers import Cached, ReadOnly, Router, SingleFlight
from nfbuild.store.memory import MemoryStore
from nfbuild.store.stats import Journal
from nfbuild.store.uploads import Uploads


class TestCachedContract(StoreContract):
    """A cached store is a store."""

    @pytest.fixture
    def store(self):
        return Cached(MemoryStore("near"), Router([ScriptedStore("far")]))


def test_a_far_blob_is_fetched_once_and_kept_near():
    """Read-through with back-fill."""
    near, far = MemoryStore(), ScriptedStore()
    digest = MemoryStore.put_blob(far, b"far")
    store = Cached(near, far)

    assert [store.get_blob(digest), store.get_blob(digest)] == [b"far", b"far"]
    assert far.calls == [("get", digest)]
    assert near.get_blob(digest) == b"far"


def test_a_near_damage_is_healed_from_far():
    """The tier still has it: nothing is drawn again."""
    near, far = MemoryStore(), ScriptedStore()
    digest = MemoryStore.put_blob(far, b"right")
    near.put_blob(b"right")
    near.held_blobs[digest] = b"wrong"

    assert Cached(near, far).get_blob(digest) == b"right"
    assert near.get_blob(digest) == b"right"


def test_far_records_are_remembered_apart_and_asked_once():
    """Hearsay goes through `remember`."""
    near, far = MemoryStore(), MemoryStore()
    far.put_records("frame", {key(1): b"1", key(2): b"2"})
    near.put_record("frame", key(1), b"mine")
    told = []
    store = Cached(near, far, remember=lambda kind, items: told.append((kind, dict(items))))

    wanted = [key(1), key(2), key(3)]
    assert store.get_records("frame", wanted) == {key(1): b"mine", key(2): b"2"}
    assert told == [("frame", {key(2): b"2"})]
    assert store.get_record("frame", key(2)) == b"2"


def test_the_worst_fault_is_what_is_reported():
    """Damage anywhere is worth more words than absence everywhere."""
    near, far = ScriptedStore("near"), ScriptedStore("far")
    with pytest.raises(Missing):
        Cached(near, far).get_blob(ABSENT)
    far.fault = down()
    with pytest.raises(Unavailable):
        Cached(near, far).get_blob(ABSENT)
    near.held_blobs[ABSENT] = b"wrong"
    with pytest.raises(Corrupt):
        Cached(near, far).get_blob(ABSENT)


def test_a_router_asks_in_order_and_goes_on_after_any_fault():
    """Missing, damaged and unavailable all mean: ask the next."""
    stores = [ScriptedStore(name) for name in "abcd"]
    digest = MemoryStore.put_blob(stores[3], b"right")
    stores[0].fault = down()
    stores[1].held_blobs[digest] = b"wrong"
    router = Router(stores)

    assert router.get_blob(digest) == b"right"
    assert [len(store.calls) for store in stores] == [1, 1, 1, 1]
    assert router.has_blob(digest)

    MemoryStore.put_record(stores[2], "frame", key(1), b"from c")
    MemoryStore.put_record(stores[3], "frame", key(1), b"from d")
    MemoryStore.put_record(stores[3], "frame", key(2), b"from d")
    assert router.get_records("frame", [key(1), key(2), key(3)]) == {
        key(1): b"from c",
        key(2): b"from d",
    }


def test_equal_requests_at_one_time_are_one_request():
    """Sixteen threads that need one frame fetch it once; its error is everybody's as well."""
    far = ScriptedStore()
    digest = MemoryStore.put_blob(far, b"wanted")
    far.delay = 0.3
    store = SingleFlight(far)
    for name, expected in ((digest, b"wanted"), (ABSENT, Missing)):
        far.calls.clear()
        results = []
        together = threading.Barrier(16)

        def ask(name=name, results=results, together=together):
            together.wait()
            try:
                results.append(store.get_blob(name))
            except Missing as error:
                results.append(type(error))

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert results == [expected] * 16
        assert len(far.calls) == 1
    far.delay = 0.0
    assert store.get_blob(digest) == b"wanted"
    assert len(far.calls) == 2


def test_a_read_only_store_has_no_way_to_write():
    """Capability is a protocol."""
    store = ReadOnly(MemoryStore())

    assert not isinstance(store, WritableStore)
    assert not store.has_blob(ABSENT)


# --- the fuse -------------------------------------------------------------------------------------


def test_a_dead_tier_is_asked_once_and_warned_of_once():
    """What follows would wait as long again."""
    journal, store = Journal(), ScriptedStore()
    store.fault = down("timeout")
    fused = tier(store, journal)
    for _ in range(5):
        with pytest.raises(Unavailable):
            fused.get_blob(ABSENT)
        with pytest.raises(Unavailable):
            fused.get_records("frame", [key(1)])

    assert len(store.calls) == 1
    (warning,) = journal.take_warnings()
    assert warning.code == "shared-cache"
    assert "`scripted` is not used in this run: it is down" in warning.message
    assert journal.by_tier() == {"scripted": {"miss.off": 9, "miss.timeout": 1}}


def test_a_tier_may_stumble_but_not_fall():
    """Three failures in a row are one too many; an answer between them starts anew."""
    store = ScriptedStore()
    fused = tier(store)
    for fault in (down("http-500"), down("http-500"), None) * 3:
        store.fault = fault
        with pytest.raises((Unavailable, Missing)):
            fused.get_blob(ABSENT)
    assert fused.off is None

    store.fault = down("http-500")
    for _ in range(3):
        with pytest.raises(Unavailable):
            fused.get_blob(ABSENT)
    assert fused.off is not None


def test_a_lying_tier_is_given_up():
    """Five damaged answers, and more than one in ten."""
    journal, store = Journal(), ScriptedStore()
    fused = tier(store, journal)
    names = [blob_digest(b"%d" % number) for number in range(20)]
    for name in names:
        store.held_blobs[name] = b"a lie"
    for name in names:
        with pytest.raises((Corrupt, Unavailable)):
            fused.get_blob(name)

    assert journal.total("corrupt", "scripted") == 5
    assert len(store.calls) == 5
    assert len(journal.take_warnings()) == 1


def test_rare_damage_is_no_reason_to_give_a_tier_up():
    """A big old server has some rot."""
    store = ScriptedStore()
    fused = tier(store)
    for number in range(200):
        digest = MemoryStore.put_blob(store, b"%d" % number)
        if number % 20 == 0:
            store.held_blobs[digest] = b"rot"
            with pytest.raises(Corrupt):
                fused.get_blob(digest)
        else:
            assert fused.get_blob(digest) == b"%d" % number
    assert fused.off is None


def test_a_slow_tier_is_given_up_after_a_bounded_time():
    """Drawing is faster than waiting: patience is for the run, not for each call."""
    store = ScriptedStore()
    store.delay = 0.15
    fused = tier(store, seconds=0.5, slow_call=0.1)
    began = time.monotonic()
    for _ in range(50):
        with pytest.raises((Missing, Unavailable)):
            fused.get_blob(ABSENT)

    assert fused.off is not None
    assert "takes" in fused.off
    assert time.monotonic() - began < 1.5


def test_big_answers_may_take_their_time():
    """Slow is little for long."""
    store = ScriptedStore()
    digest = MemoryStore.put_blob(store, bytes(200_000))
    store.delay = 0.15
    fused = tier(store, seconds=0.5, slow_call=0.1)
    for _ in range(6):
        assert fused.get_blob(digest) == bytes(200_000)


@pytest.mark.parametrize("code", ["full", "forbidden", "read-only"])
def test_a_tier_that_takes_nothing_is_still_read(code):
    """A full disk upstream concerns uploads."""
    journal, store = Journal(), ScriptedStore()
    digest = MemoryStore.put_blob(store, b"there")
    fused = tier(store, journal)
    store.fault = down(code)
    with pytest.raises(Unavailable):
        fused.put_blob(b"new")
    store.fault = None
    with pytest.raises(Unavailable):
        fused.put_blob(b"new")

    assert fused.get_blob(digest) == b"there"
    assert len(journal.take_warnings()) == 1
    assert [call[0] for call in store.calls] == ["put", "get"]


def test_a_required_tier_ends_the_run():
    """`--require-shared` turns trouble into exit 4."""
    store = ScriptedStore()
    store.fault = down()
    with pytest.raises(StoreRequired) as caught:
        tier(store, required=True).get_blob(ABSENT)
    assert caught.value.exit_code == 4


def test_a_tier_that_fails_on_the_way_has_found_what_it_found():
    """Batches are cut: the first ones stand."""
    journal, store = Journal(), ScriptedStore()
    items = {key(number): b"x" for number in range(200)}
    MemoryStore.put_records(store, "frame", items)
    fused = tier(store, journal)
    store.calls.clear()
    look = store.look

    def failing(kind, keys):
        if len(store.calls) == 2:
            store.fault = down()
        return look(kind, keys)

    store.look = failing
    found = fused.get_records("frame", items)
    assert 0 < len(found) < 200
    assert len(found) + journal.total("miss") == 200
    assert fused.off is not None


# --- uploads --------------------------------------------------------------------------------------


class Shelf(dict):
    """Blobs by digest, as the local store reads them for an upload."""

    def read(self, digest):
        if digest not in self:
            raise Missing("gone")
        return self[digest]

    def add(self, data):
        self[blob_digest(data)] = data
        return blob_digest(data)


def test_uploads_arrive_and_records_follow_their_blobs():
    """At no moment is there a record upstream whose blob is not."""
    shelf, store, journal = Shelf(), ScriptedStore(), Journal()
    store.delay = 0.002
    seen = []
    put_record = store.put_record

    def watched(kind, name, payload, *, replace=False):
        seen.append(MemoryStore.has_blob(store, BlobDigest(payload.decode())))
        put_record(kind, name, payload, replace=replace)

    store.put_record = watched
    uploads = Uploads(shelf.read, [tier(store, journal)], journal)
    for number in range(100):
        digest = shelf.add(b"%d" % number)
        uploads.blob(digest)
        uploads.blob(digest)
        uploads.record("pixels", key(number), digest.encode())
    uploads.close()

    assert seen == [True] * 100
    assert len(store.held_blobs) == len(store.held_records) == 100
    assert sum(call[0] == "put" for call in store.calls) == 100
    assert journal.lost == ()


def test_nobody_waits_for_an_upload():
    """Offering is a matter of microseconds, however slow the tier is."""
    shelf, store = Shelf(), ScriptedStore()
    store.delay = 0.05
    journal = Journal()
    uploads = Uploads(shelf.read, [tier(store, journal)], journal)
    began = time.monotonic()
    for number in range(20):
        uploads.blob(shelf.add(b"%d" % number))
    assert time.monotonic() - began < 0.1
    uploads.close()
    assert len(store.held_blobs) == 20


def test_lost_uploads_are_counted_and_named():
    """By a tier that died, by a blob that went, by a full queue, by the end of the run."""
    for cause in ("dead", "gone", "full queue", "no time"):
        shelf, store, journal = Shelf(), ScriptedStore(), Journal()
        digests = [shelf.add(b"%d" % number) for number in range(10)]
        if cause == "dead":
            store.fault = down()
        elif cause == "gone":
            shelf.clear()
        else:
            store.delay = 0.2
        limit = 2 if cause == "full queue" else 1000
        uploads = Uploads(shelf.read, [tier(store, journal)], journal, limit=limit)
        for digest in digests:
            uploads.blob(digest)
        began = time.monotonic()
        uploads.close(0.0 if cause == "no time" else 10.0)

        lost = set(journal.lost)
        assert time.monotonic() - began < 5
        assert lost, cause
        assert lost <= {f"blob {digest}" for digest in digests}
        assert len(lost) + len(store.held_blobs) == 10, cause
        assert journal.total("lost") == len(lost)


def test_a_required_tier_that_takes_no_uploads_is_known_at_the_end():
    """Exit 4 comes from the caller's thread."""
    shelf, store, journal = Shelf(), ScriptedStore(), Journal()
    store.fault = down("full")
    uploads = Uploads(shelf.read, [tier(store, journal, required=True)], journal)
    uploads.blob(shelf.add(b"x"))

    with pytest.raises(StoreRequired):
        uploads.close()


def test_damage_upstream_is_replaced_by_the_next_upload():
    """A read found it wrong, drawing made it right, the upload heals the tier."""
    shelf, store, journal = Shelf(), ScriptedStore(), Journal()
    digest = shelf.add(b"right")
    store.held_blobs[digest] = b"wrong"
    fused = tier(store, journal)
    with pytest.raises(Corrupt):
        fused.get_blob(digest)
    uploads = Uploads(shelf.read, [fused], journal)
    uploads.blob(digest)
    uploads.close()

    assert ("put", b"right", True) in store.calls
    assert store.held_blobs[digest] == b"right"
    assert journal.total("healed") == 1


def test_nothing_is_sent_to_a_tier_that_is_read_only():
    """CI writes, developers read."""
    shelf, store, journal = Shelf(), ScriptedStore(), Journal()
    uploads = Uploads(shelf.read, [tier(store, journal, writable=False)], journal)
    uploads.blob(shelf.add(b"x"))
    uploads.record("frame", key(1), b"x")
    uploads.close()

    assert store.calls == []
    assert journal.lost == ()
