"""Servers that die, stall, lie and come back; and the stack of one run in front of real ones."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from store_contract import ABSENT, key
from store_fakes import BadServer, answer
from store_servers import free_port, nginx, rclone, s3_environment

from nfbuild.digests import blob_digest
from nfbuild.errors import Corrupt, Missing, StoreError, StoreRequired, Unavailable, UsageError
from nfbuild.store.base import BLOB_LIMIT
from nfbuild.store.http import open_http
from nfbuild.store.object import open_object
from nfbuild.store.stack import open_caches
from nfbuild.store.stats import Journal

pytestmark = pytest.mark.process

FRAMES = {key(n): b"%d" % n for n in range(60)}
BLOBS = [b"frame %d " % n * 2000 for n in range(60)]
NAMES = [blob_digest(data) for data in BLOBS]


@pytest.fixture
def bad():
    servers = []

    def make(behave):
        servers.append(BadServer(behave))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def store_at(url, seconds=1.0):
    return open_http(url, seconds=seconds)


# --- one request ----------------------------------------------------------------------------------


def test_connections_are_kept(bad):
    """One line serves many requests, one after another."""
    data = b"x" * 1000
    server = bad(lambda _, line, method, __: answer(line, 200, data, method=method))
    store = store_at(server.url)
    for _ in range(20):
        assert store.get_blob(blob_digest(data)) == data
        assert store.has_blob(blob_digest(data))

    assert len(server._lines) == 1
    name = blob_digest(data)
    assert server.requests[0] == ("GET", f"/cache/v1/blobs/{name[:2]}/{name}.png")
    store.close()


def test_a_kept_connection_that_was_closed_is_replaced(bad):
    """Servers close idle lines: that is no fault."""

    def once(_, line, method, __):
        answer(line, 200, b"x", method=method)
        return False

    server = bad(once)
    store = store_at(server.url)
    for _ in range(5):
        assert store.get_blob(blob_digest(b"x")) == b"x"
        time.sleep(0.02)
    store.close()


@pytest.mark.parametrize(
    ("status", "expected", "code"),
    [
        (404, Missing, "missing"),
        (410, Missing, "missing"),
        (301, Unavailable, "http-301"),
        (302, Unavailable, "http-302"),
        (401, Unavailable, "forbidden"),
        (403, Unavailable, "forbidden"),
        (429, Unavailable, "http-429"),
        (500, Unavailable, "http-500"),
        (503, Unavailable, "http-503"),
        (206, Unavailable, "http-206"),
        (204, Unavailable, "http-204"),
    ],
)
def test_statuses_steer(bad, status, expected, code):
    """Only 200 is an answer; redirects are not followed."""
    server = bad(lambda _, line, method, __: answer(line, status, b"", method=method))
    store = store_at(server.url)

    with pytest.raises(expected) as caught:
        store.get_blob(ABSENT)
    assert caught.value.code == code
    store.close()


def _stall(server, line, _method, _path):
    server.wait(30)


def _stall_in_body(server, line, _method, _path):
    line.sendall(b"HTTP/1.1 200 x\r\nContent-Length: 100000\r\n\r\nhalf")
    server.wait(30)


def _drip_head(server, line, _method, _path):
    for byte in b"HTTP/1.1 200 x\r\nX-Long: " + b"a" * 1000:
        line.sendall(bytes([byte]))
        server.wait(0.1)


def _drip_body(server, line, _method, _path):
    line.sendall(b"HTTP/1.1 200 x\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(1000):
        line.sendall(b"x")
        server.wait(0.1)


@pytest.mark.parametrize("behave", [_stall, _stall_in_body, _drip_head, _drip_body])
def test_a_request_ends_by_its_deadline(bad, behave):
    """A byte now and then does not start the clock anew."""
    store = store_at(bad(behave).url, seconds=0.6)
    began = time.monotonic()

    with pytest.raises(Unavailable) as caught:
        store.get_blob(ABSENT)
    assert caught.value.code == "timeout"
    assert time.monotonic() - began < 2
    store.close()


def _short(_server, line, _method, _path):
    answer(line, 200, b"half", length=8)
    return False


def _reset(_server, line, _method, _path):
    return False


def _nonsense(_server, line, _method, _path):
    line.sendall(b"\0\1\2 this is not the protocol at all\r\n\r\n")
    return False


def _many_headers(_server, line, _method, _path):
    line.sendall(b"HTTP/1.1 200 x\r\n" + b"A: b\r\n" * 500 + b"\r\n")
    return False


@pytest.mark.parametrize("behave", [_short, _reset, _nonsense, _many_headers])
def test_a_broken_line_is_the_lines_fault(bad, behave):
    """Nothing of it is taken for the object, and the object is not taken for damaged."""
    store = store_at(bad(behave).url)

    with pytest.raises(Unavailable):
        store.get_blob(ABSENT)
    store.close()


def test_bytes_cut_with_a_right_length_are_damage(bad):
    """The server holds a torn file: the digest says so."""
    server = bad(lambda _, line, method, __: answer(line, 200, b"hal", method=method))
    store = store_at(server.url)

    with pytest.raises(Corrupt):
        store.get_blob(blob_digest(b"half"))
    with pytest.raises(Corrupt):
        store.get_record("frame", key(1))
    found, wrong = store.look("frame", [key(1), key(2)])
    assert (found, set(wrong)) == ({}, {key(1), key(2)})
    store.close()


def test_an_endless_answer_is_not_read(bad):
    """Announced or not, no more than the limit is taken."""

    def announced(_server, line, _method, _path):
        answer(line, 200, b"", length=BLOB_LIMIT + 1)
        return False

    def chunked(_server, line, _method, _path):
        line.sendall(b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(64):
            line.sendall(b"80000\r\n" + bytes(0x80000) + b"\r\n")

    with pytest.raises(Corrupt):
        store_at(bad(announced).url).get_blob(ABSENT)
    store = store_at(bad(chunked).url, seconds=5)
    with pytest.raises(Corrupt):
        store.get_record("frame", key(1))
    store.close()


def test_nothing_listens():
    """Refused at once is unavailable at once."""
    began = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        store_at(f"http://127.0.0.1:{free_port()}/x").get_blob(ABSENT)

    assert caught.value.code == "unreachable"
    assert time.monotonic() - began < 2


def test_credentials_come_from_the_environment(bad):
    """They are sent, and never shown."""
    heads = []

    def behave(_server, line, method, _path):
        answer(line, 404, method=method)

    server = bad(behave)
    store = open_http(server.url, environment={"NFBUILD_HTTP_TOKEN": "secret"})
    headers = store._transport._headers
    heads.append(headers["Authorization"])
    assert heads == ["Bearer secret"]
    assert "secret" not in store.name
    with pytest.raises(Missing) as caught:
        store.get_blob(ABSENT)
    assert "secret" not in str(caught.value)
    store.close()
    basic = open_http(
        "http://x/", environment={"NFBUILD_HTTP_USER": "u", "NFBUILD_HTTP_PASSWORD": "p"}
    )
    assert basic._transport._headers["Authorization"] == "Basic dTpw"


@pytest.mark.parametrize("url", ["http://", "ftp://x/y", "http://x:notaport/", "https:///path"])
def test_a_url_that_is_none_is_the_users_matter(url):
    """Exit 2, with a hint."""
    with pytest.raises(UsageError):
        open_http(url)


# --- the stack of a run ---------------------------------------------------------------------------


def build(folder, tiers, *, require=False, close=True):
    """Do what a build does: ask, fetch, or make, then share; return what had to be made."""
    caches = open_caches(str(folder), tiers, require=require)
    found = caches.look_up("frame", FRAMES)
    here = caches.fetch_blobs(NAMES)
    made = [n for n, (k, name) in enumerate(zip(FRAMES, NAMES, strict=True))
            if k not in found or name not in here]  # fmt: skip
    for number in made:
        caches.store.put_blob(BLOBS[number])
    caches.store.put_records(
        "frame", {k: v for n, (k, v) in enumerate(FRAMES.items()) if n in made}
    )
    for name, data in zip(NAMES, BLOBS, strict=True):
        assert caches.store.get_blob(name) == data
    assert caches.store.get_records("frame", FRAMES) == FRAMES
    if close:
        caches.close()
    return made, caches


@pytest.mark.parametrize("kind", ["nginx", "webdav", "s3", "directory"])
def test_a_cold_cache_and_a_warm_server_make_nothing(tmp_path, kind, monkeypatch):
    """What one developer made the next one has; and then it is here, and the tier is not asked."""
    if kind == "directory":
        server, url = None, (tmp_path / "shared").as_uri()
    else:
        server = nginx(tmp_path / "s") if kind == "nginx" else rclone(tmp_path / "s", kind)
        server.start()
        url = server.url
        if kind == "s3":
            for name, value in s3_environment(server).items():
                monkeypatch.setenv(name, value)
    try:
        made, first = build(tmp_path / "one", [(url, "read-write")])
        assert len(made) == 60
        assert first.warnings() == []
        assert first.journal.lost == ()

        made, second = build(tmp_path / "two", [(url, "read-only")])
        assert made == []
        assert second.journal.total("hit", url) == 120
        assert second.journal.take_warnings() == []
        assert all(found.shared for found in second.look_up("frame", FRAMES).values())
        assert second.look_up("frame", FRAMES, shared=False) == {}
        second.local.close()
    finally:
        if server is not None:
            server.kill()

    made, third = build(tmp_path / "two", [(url, "read-only")])
    assert made == []
    assert third.journal.take_warnings() == []


def test_a_server_killed_in_the_middle_costs_what_is_left(tmp_path):
    """`kill -9` while a run reads: one warning, everything right, and the next run goes on."""
    server = nginx(tmp_path / "s").start()
    try:
        build(tmp_path / "one", [(server.url, "read-write")])
        caches = open_caches(str(tmp_path / "two"), [(server.url, "read-write")])
        assert len(caches.look_up("frame", list(FRAMES)[:20])) == 20
        server.kill()
        began = time.monotonic()
        assert caches.look_up("frame", list(FRAMES)[20:]) == {}
        assert caches.fetch_blobs(NAMES) == set()
        for data in BLOBS:
            caches.store.put_blob(data)
        caches.close()
        assert time.monotonic() - began < 5
        assert len(caches.warnings()) == 1

        server.start()
        made, _ = build(tmp_path / "three", [(server.url, "read-only")])
        assert made == []
    finally:
        server.kill()


def test_a_server_killed_while_it_is_written_to_holds_nothing_half(tmp_path):
    """Whatever the moment: the next reader gets right bytes or none."""
    server = nginx(tmp_path / "s").start()
    try:
        for delay in (0.0, 0.01, 0.03):
            caches = open_caches(str(tmp_path / f"w{delay}"), [(server.url, "read-write")])
            killer = threading.Timer(delay, server.kill)
            killer.start()
            for data in BLOBS:
                caches.store.put_blob(data)
            caches.store.put_records("frame", FRAMES)
            caches.close()
            killer.join()
            server.kill()
            server.start()
            reader = open_http(server.url)
            held = 0
            for name, data in zip(NAMES, BLOBS, strict=True):
                try:
                    assert reader.get_blob(name) == data
                    held += 1
                except Missing:
                    assert f"blob {name}" in caches.journal.lost
            assert held + sum(what.startswith("blob") for what in caches.journal.lost) >= 60
            reader.close()
    finally:
        server.kill()


@pytest.mark.parametrize("behave", [_stall, _drip_body, _short, _reset, _nonsense])
def test_a_bad_server_costs_a_bounded_delay_once(tmp_path, bad, behave, monkeypatch):
    """Then it is off, with one warning, and the run is as if there were none."""
    monkeypatch.setattr(
        "nfbuild.store.http.open_http.__kwdefaults__", {"seconds": 1.0, "environment": None}
    )
    began = time.monotonic()
    made, caches = build(tmp_path / "c", [(bad(behave).url, "read-write")])

    assert len(made) == 60
    assert time.monotonic() - began < 6
    assert len(caches.warnings()) == 1


def test_a_server_of_lies_harms_nobody(tmp_path, bad):
    """Every answer is another's bytes: all are refused, and the tier is given up."""
    server = bad(lambda _, line, method, __: answer(line, 200, BLOBS[0], method=method))
    made, caches = build(tmp_path / "c", [(server.url, "read-only")])

    assert len(made) >= 59
    assert caches.journal.total("corrupt") >= 5
    assert len(caches.warnings()) == 1
    assert len(server.requests) < 100


def test_a_server_that_starts_late_is_not_waited_for(tmp_path):
    """This run goes on without it; the next one has it."""
    server = nginx(tmp_path / "s")
    made, first = build(tmp_path / "one", [(server.url, "read-write")])
    assert len(made) == 60
    assert len(first.warnings()) == 1
    assert len(first.journal.lost) == 60 + 60
    try:
        server.start()
        build(tmp_path / "two", [(server.url, "read-write")])
        made, _ = build(tmp_path / "three", [(server.url, "read-only")])
        assert made == []
    finally:
        server.kill()


def test_several_tiers_are_asked_in_order_and_all_are_written(tmp_path):
    """A directory before a server; what only the second has comes from there."""
    server = nginx(tmp_path / "s").start()
    near, far = ((tmp_path / "near").as_uri(), "read-write"), (server.url, "read-write")
    try:
        build(tmp_path / "one", [far])
        made, second = build(tmp_path / "two", [near, far])
        assert made == []
        assert second.journal.total("hit", server.url) == 120
        made, _ = build(tmp_path / "three", [far, near])
        assert made == []
        build(tmp_path / "four", [near])
        made, fifth = build(tmp_path / "five", [near, far])
        assert made == []
        assert fifth.journal.total("hit", near[0]) == 120
        assert server.url not in fifth.journal.by_tier()
    finally:
        server.kill()


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9/x", "file:///nowhere/at/all", "s3://bucket/prefix"],
)
def test_a_required_tier_that_is_not_there_is_exit_4(tmp_path, url, monkeypatch):
    """Known before anything is drawn."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "key")
    began = time.monotonic()

    with pytest.raises(StoreRequired) as caught:
        open_caches(str(tmp_path / "c"), [(url, "read-only")], require=True)
    assert caught.value.exit_code == 4
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    ("url", "mode"),
    [
        ("http://user:password@host/x", "read-only"),
        ("https://token@host/x", "read-only"),
        ("ftp://host/x", "read-only"),
        ("relative/path", "read-only"),
        ("file://host/path", "read-only"),
        ("http://host/x", "write"),
    ],
)
def test_a_tier_that_makes_no_sense_is_exit_2(tmp_path, url, mode):
    """And no password is repeated in the message."""
    with pytest.raises(UsageError) as caught:
        open_caches(str(tmp_path / "c"), [(url, mode)])
    assert "password" not in str(caught.value)
    assert "token@" not in str(caught.value)


def test_after_a_fork_a_bucket_is_not_asked(tmp_path, monkeypatch):
    """obstore would hang for ever in a child; there it is `Unavailable`."""
    server = rclone(tmp_path / "s", "s3").start()
    for name, value in s3_environment(server).items():
        monkeypatch.setenv(name, value)
    try:
        store = open_object(f"{server.url}/x")
        digest = store.put_blob(b"x")
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                store.get_blob(digest)
            except Unavailable as error:
                os.write(write, error.code.encode())
            finally:
                os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        assert os.read(read, 100) == b"fork"
        os.close(read)
    finally:
        server.kill()


def test_a_dead_bucket_costs_a_bounded_delay(tmp_path, monkeypatch):
    """Retries inside obstore are bounded as well."""
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_port()}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "key",
    }.items():
        monkeypatch.setenv(name, value)
    began = time.monotonic()
    made, caches = build(tmp_path / "c", [("s3://bucket/prefix", "read-write")])

    assert len(made) == 60
    assert time.monotonic() - began < 20
    assert len(caches.warnings()) == 1


def test_replacing_puts_right_what_a_tier_has_wrong(tmp_path):
    """`--recache`: a poisoned record upstream is replaced, though it was never seen as damaged."""
    url = (tmp_path / "shared").as_uri()
    poisoned = open_caches(str(tmp_path / "bad"), [(url, "read-write")])
    poisoned.store.put_record("frame", key(1), b"a lie that is whole")
    poisoned.close()

    honest = open_caches(str(tmp_path / "good"), [(url, "read-write")])
    honest.store.put_record("frame", key(1), b"the truth")
    honest.close()
    reader = open_caches(str(tmp_path / "r1"), [(url, "read-only")])
    assert reader.look_up("frame", [key(1)])[key(1)].payload == b"a lie that is whole"
    reader.close()

    recache = open_caches(str(tmp_path / "good"), [(url, "read-write")], replace=True)
    recache.store.put_record("frame", key(1), b"the truth")
    recache.close()
    reader = open_caches(str(tmp_path / "r2"), [(url, "read-only")])
    assert reader.look_up("frame", [key(1)])[key(1)].payload == b"the truth"
    reader.close()


def test_lifetime_sums_add_up(tmp_path):
    """Two runs, one sum; a broken file is a new beginning."""
    for _ in range(2):
        caches = open_caches(str(tmp_path / "c"))
        with pytest.raises(StoreError):
            caches.store.get_blob(ABSENT)
        caches.store.put_blob(b"x")
        caches.close()
    local = open_caches(str(tmp_path / "c")).local
    assert local.lifetime()["local miss.missing"] == 2
    assert local.lifetime()["local put"] == 1

    (tmp_path / "c" / "lifetime").write_bytes(b"\xff garbage\nlocal put x\n")
    assert dict(local.lifetime()) == {}
    assert isinstance(local.journal, Journal)


INTERRUPTED = """
import sys
from nfbuild.store.stack import open_caches
with open_caches(sys.argv[1], [(sys.argv[2], "read-write")]) as caches:
    for number in range(40):
        caches.store.put_blob(b"%d" % number * 50_000)
    print("waiting", flush=True)
    if sys.argv[3] == "outside":
        import time
        time.sleep(60)
"""


@pytest.mark.parametrize("when", ["outside", "inside"])
@pytest.mark.parametrize("kind", ["stalled server", "directory"])
def test_an_interrupt_ends_in_seconds_and_leaves_nothing(tmp_path, bad, kind, when):
    """`^C` while uploads are waited for, or before: no wait, no child, no temporary file."""
    if kind == "directory":
        (tmp_path / "shared").mkdir()
        url = (tmp_path / "shared").as_uri()
    else:
        url = bad(_stall).url
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "c"), url, when],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.05)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert time.monotonic() - began < 8
    # It may have been done already, or about to leave when the interpreter no longer listens.
    done = (0, -signal.SIGINT) if when == "inside" else ()
    assert "KeyboardInterrupt" in err or process.returncode in done
    assert list(tmp_path.rglob(".tmp-*")) == []
    assert len(list((tmp_path / "c" / "blobs").rglob("*.png"))) == 40
