"""A model of all stores together: in whatever order, what is returned is right or absent.

The truth is a function: the number of a frame decides its bytes and its records. The machine
puts, gets, damages, kills, collects, clears and changes users and tiers; every answer is compared
with the function.
"""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from store_contract import key

from nfbuild.digests import blob_digest
from nfbuild.errors import StoreError
from nfbuild.store.base import KINDS, encode_record
from nfbuild.store.collect import Policy, carry_out, plan_collection
from nfbuild.store.directory import open_directory
from nfbuild.store.files import temporary_name
from nfbuild.store.scrub import scrub
from nfbuild.store.stack import open_caches

FRAMES = 6
HARM = ["truncate", "flip", "empty", "delete", "swap", "link", "directory"]
NUMBERS = st.integers(0, FRAMES - 1)
DAY = 86_400.0


def data(number):
    return b"frame %d " % number * (50 + number)


def payload(kind, number):
    return f"{kind} {number}".encode()


NAMES = [blob_digest(data(number)) for number in range(FRAMES)]
_DEAD = subprocess.Popen([sys.executable, "-c", ""])
_DEAD.wait()


class Stores(RuleBasedStateMachine):
    """Two developers with a local cache each, and two shared directories."""

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed):
        self.root = tempfile.mkdtemp(prefix="nfbuild-model-")
        self.chance = random.Random(seed)
        self.stacks = {}
        self.opened = {}
        for tier in ("near", "far"):
            open_directory(f"{self.root}/{tier}", read_only=False)
        for user in ("alice", "bob"):
            self.reopen(user, ["near", "far"], writes=user == "alice")
        for number in range(FRAMES):
            self.put("alice", number, replace=False)

    def teardown(self):
        for caches in getattr(self, "stacks", {}).values():
            caches.close()
        shutil.rmtree(getattr(self, "root", ""), ignore_errors=True)

    @rule(
        user=st.sampled_from(["alice", "bob"]),
        tiers=st.lists(st.sampled_from(["near", "far", "nowhere/at/all"]), unique=True),
        writes=st.booleans(),
    )
    def reopen(self, user, tiers, writes):
        """A new run, with tiers in any order."""
        if user in self.stacks:
            self.stacks[user].close()
        self.opened[user] = (tiers, writes)
        mode = "read-write" if writes else "read-only"
        self.stacks[user] = open_caches(
            f"{self.root}/{user}", [(f"file://{self.root}/{tier}", mode) for tier in tiers]
        )

    users = st.sampled_from(["alice", "bob"])

    @rule(user=users, number=NUMBERS, replace=st.booleans())
    def put(self, user, number, replace):
        caches = self.stacks[user]
        try:
            assert caches.store.put_blob(data(number), replace=replace) == NAMES[number]
            for kind in KINDS:
                caches.store.put_record(kind, key(number), payload(kind, number), replace=replace)
        except StoreError:
            return

    @rule(user=users, number=NUMBERS)
    def get(self, user, number):
        """Right, or one of three errors."""
        store = self.stacks[user].store
        with contextlib.suppress(StoreError):
            assert store.get_blob(NAMES[number]) == data(number)
        for kind in KINDS:
            try:
                assert store.get_record(kind, key(number)) == payload(kind, number)
            except StoreError:
                continue

    @rule(user=users)
    def get_all(self, user):
        caches = self.stacks[user]
        for number in range(FRAMES):
            self.get(user, number)
        for kind in KINDS:
            found = caches.look_up(kind, [key(number) for number in range(FRAMES)])
            for number in range(FRAMES):
                if key(number) in found:
                    assert found[key(number)].payload == payload(kind, number)
        here = caches.fetch_blobs(NAMES)
        assert here <= set(NAMES)

    @rule(
        tier=st.sampled_from(["near", "far"]),
        harm=st.lists(st.sampled_from([*HARM, "plant"]), max_size=6),
    )
    def arrive(self, tier, harm):
        """A tier suffers; somebody new, whose cache is cold, reads all that it has."""
        for how in harm:
            if how == "plant":
                number, other = self.chance.sample(range(FRAMES), 2)
                self.plant_record(number, other, tier)
            else:
                self.damage(how, self.chance.choice([".png", ".rec"]), tier)
        self.reopen("carol", [tier], writes=False)
        self.get_all("carol")
        self.stacks.pop("carol").close()
        self.opened.pop("carol")
        shutil.rmtree(f"{self.root}/carol")

    @rule(user=users, number=NUMBERS)
    def put_then_get(self, user, number):
        """Nothing stands between: what was put and not refused is there."""
        caches = self.stacks[user]
        try:
            caches.local.put_blob(data(number), replace=True)
        except StoreError:
            return
        assert caches.local.get_blob(NAMES[number]) == data(number)

    def _files(self, *suffixes):
        return sorted(
            os.path.join(folder, name)
            for folder, _, names in os.walk(self.root)
            for name in names
            if name.endswith(suffixes)
        )

    @rule(
        how=st.sampled_from(HARM),
        suffix=st.sampled_from([".png", ".rec"]),
        place=st.sampled_from(["alice", "bob", "near", "far"]),
    )
    def damage(self, how, suffix, place):
        """One blob or record file of any store."""
        # A link that was planted before may lead nowhere, or to itself.
        files = [
            path
            for path in self._files(suffix)
            if f"/{place}/" in path and not os.path.islink(path)
        ]
        if not files:
            return
        path = self.chance.choice(files)
        with open(path, "rb") as file:
            good = file.read()
        os.unlink(path)
        if how == "truncate":
            _write(path, good[: len(good) // 2])
        elif how == "flip" and good:
            place = self.chance.randrange(len(good))
            _write(path, good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        elif how == "empty":
            _write(path, b"")
        elif how == "swap":
            other = self.chance.choice([*files, ""])
            if other and other != path and os.path.isfile(other):
                shutil.copyfile(other, path)
        elif how == "link":
            os.symlink(self.chance.choice(files), path)
        elif how == "directory":
            os.mkdir(path)

    @rule(user=users, how=st.sampled_from(["garbage", "empty", "torn", "delete"]))
    def damage_table(self, user, how):
        """Between two runs: a table is no shared thing."""
        self.stacks[user].close()
        path = f"{self.root}/{user}/table/cache.db"
        if os.path.isfile(path):
            with open(path, "rb") as file:
                good = file.read()
            if how == "delete":
                os.unlink(path)
            else:
                torn = {"garbage": os.urandom(3000), "empty": b"", "torn": good[: len(good) // 2]}
                _write(path, torn[how])
        self.reopen(user, ["near"], writes=True)

    @rule(place=st.sampled_from(["alice", "bob", "near", "far"]), number=NUMBERS)
    def killed_writer(self, place, number):
        """A writer died between its temporary file and the rename."""
        shard = f"{self.root}/{place}/blobs/{NAMES[number][:2]}"
        os.makedirs(shard, exist_ok=True)
        host, _, rest = temporary_name().removeprefix(".tmp-").split("-")
        _write(f"{shard}/.tmp-{host}-{_DEAD.pid}-{rest}", data(number)[:20])

    @rule(
        place=st.sampled_from(["alice", "bob", "near", "far"]),
        number=NUMBERS,
        date=st.sampled_from([631_152_000.0, 2_051_222_400.0]),
    )
    def wrong_clock(self, place, number, date):
        path = f"{self.root}/{place}/blobs/{NAMES[number][:2]}/{NAMES[number]}.png"
        if os.path.isfile(path):
            os.utime(path, (date, date))

    @rule(
        place=st.sampled_from(["alice", "bob", "near", "far"]),
        size=st.sampled_from([0, 1000, 10**9]),
        protected=st.sets(st.sampled_from(NAMES)),
    )
    def collect(self, place, size, protected):
        # An upload that lands between the plan and the count is nobody's fault.
        for user, (tiers, writes) in list(self.opened.items()):
            self.reopen(user, tiers, writes)
        root = f"{self.root}/{place}"
        plan = plan_collection(root, Policy(size, 30 * DAY, min_free=0), protected=protected)
        done = carry_out(plan)
        assert done.failed == 0
        left = sum(
            os.lstat(path).st_size
            for path in self._files(".png")
            # Somebody's link is no blob: a collection does not touch it.
            if f"/{place}/blobs/" in path and not os.path.islink(path)
        )
        spared = done.spared * max(len(data(number)) for number in range(FRAMES))
        assert left <= size + spared

    @rule(place=st.sampled_from(["near", "far"]))
    def scrub_shared(self, place):
        """After a scrub a second one finds nothing."""
        store = open_directory(f"{self.root}/{place}", read_only=False)
        scrub(store)
        assert scrub(store).damage == ()

    @rule(user=users)
    def scrub_local(self, user):
        scrub(self.stacks[user].local)
        assert scrub(self.stacks[user].local).damage == ()

    @rule(number=NUMBERS, other=NUMBERS, place=st.sampled_from(["near", "far"]))
    def plant_record(self, number, other, place):
        """A whole record of one key under the name of another."""
        path = f"{self.root}/{place}/records/frame/{key(number)[:2]}/{key(number)}.rec"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.isdir(path) and number != other:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            _write(path, encode_record("frame", key(other), payload("frame", other)))

    @rule(user=users)
    def clear(self, user):
        """Deleting a cache changes speed only; the run that stands in it goes on."""
        shutil.rmtree(f"{self.root}/{user}/blobs", ignore_errors=True)

    @precondition(lambda self: hasattr(self, "root"))
    @invariant()
    def nothing_is_written_outside(self):
        assert set(os.listdir(self.root)) <= {"alice", "bob", "near", "far"}


def _write(path, content):
    with open(path, "wb") as file:
        file.write(content)


SETTINGS = settings(
    max_examples=60,
    stateful_step_count=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_what_is_returned_is_right_or_absent():
    """The product, against the model."""
    run_state_machine_as_test(Stores, settings=SETTINGS)


class _Anything(str):
    """A digest that is equal to every other."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


def suffer(stores, harm):
    for _ in range(20):
        stores.arrive("far", [harm] * 3)


@pytest.mark.parametrize(
    ("broken", "harm"),
    [("blob digests", "flip"), ("blob digests", "swap"), ("record keys", "plant")],
)
def test_the_model_finds_a_store_that_does_not_check(monkeypatch, broken, harm):
    """The negative control: a store that believes what it reads must be caught."""
    if broken == "blob digests":
        monkeypatch.setattr("nfbuild.store.blobs.blob_digest", lambda _: _Anything("0" * 64))
    else:
        monkeypatch.setattr(
            "nfbuild.store.recordfiles.decode_record",
            lambda kind, _, data, __: data[42 + len(kind) : -34],
        )
        assert encode_record("frame", key(1), b"payload")[47:-34] == b"payload"
    for seed in range(2):
        stores = Stores()
        stores.begin(seed)
        try:
            stores.arrive("near", [])
            with pytest.raises(AssertionError):
                suffer(stores, harm)
        finally:
            stores.teardown()
