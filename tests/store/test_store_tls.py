"""TLS: whom a store trusts, and the deadline of a request over it."""

import contextlib
import socket
import ssl
import threading
import time

import pytest
from store_contract import ABSENT
from store_servers import certify, nginx

from nfbuild.errors import Missing, Unavailable
from nfbuild.store.http import open_http

pytestmark = pytest.mark.process


@pytest.fixture
def served(tmp_path):
    """Start nginx with a certificate for `name`; it is known to nobody until it is trusted."""
    running = []

    def start(name):
        running.append(nginx(tmp_path / "server", certificate=certify(tmp_path, name)).start())
        return running[-1]

    yield start
    for server in running:
        server.kill()


def test_a_certificate_that_nobody_vouches_for_is_refused(served):
    """No byte of the cache goes to a server that is not shown to be the one that was named."""
    server = served("IP:127.0.0.1")
    store = open_http(server.url)

    with pytest.raises(Unavailable, match="certificate verify failed: self-signed") as caught:
        store.put_blob(b"frame")
    assert caught.value.code == "unreachable"
    assert not list(server.data.rglob("*"))


def test_a_certificate_of_another_host_is_refused(served, tmp_path, monkeypatch):
    """A trusted certificate speaks for the names in it and for nobody else."""
    server = served("DNS:cache.example.com")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))

    with pytest.raises(Unavailable, match=r"certificate is not valid for '127\.0\.0\.1'"):
        open_http(server.url).get_blob(ABSENT)


def test_a_trusted_server_keeps_a_blob(served, tmp_path, monkeypatch):
    """The control of the two tests above: the same server answers when its certificate is known."""
    server = served("IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with contextlib.closing(open_http(server.url)) as store:
        name = store.put_blob(b"frame")

        assert store.get_blob(name) == b"frame"
        with pytest.raises(Missing):
            store.get_blob(ABSENT)


def _stall_before_the_handshake(line, _context, over):
    over.wait(30)
    line.close()


def _drip_in_the_body(line, context, over):
    with context.wrap_socket(line, server_side=True) as secure:
        secure.recv(65536)
        secure.sendall(b"HTTP/1.1 200 x\r\nContent-Length: 1000\r\n\r\n")
        with contextlib.suppress(OSError):  # the other end leaves: that is what is waited for
            while not over.wait(0.1):
                secure.sendall(b"x")


@pytest.mark.parametrize("behave", [_stall_before_the_handshake, _drip_in_the_body])
def test_a_request_over_tls_ends_by_its_deadline(behave, tmp_path, monkeypatch):
    """A byte now and then inside of TLS does not start the clock anew, nor does a silent start."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certify(tmp_path, "IP:127.0.0.1"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def serve():
            line, _ = server.accept()
            behave(line, context, over)

        thread = threading.Thread(target=serve)
        thread.start()
        began = time.monotonic()
        try:
            with pytest.raises(Unavailable) as caught:
                open_http(f"https://127.0.0.1:{port}", seconds=0.6).get_blob(ABSENT)
            took = time.monotonic() - began
        finally:
            over.set()
            thread.join(10)

    assert caught.value.code == "timeout"
    assert took < 6  # the server would hold the line for thirty seconds
