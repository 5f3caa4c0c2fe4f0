"""The contract, on real servers: nginx and rclone over WebDAV, rclone as S3."""

import pytest
from store_contract import StoreContract
from store_servers import certify, nginx, rclone, s3_environment

from nfbuild.store.http import open_http
from nfbuild.store.object import open_object

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Start each server once for this module; every test gets a folder of its own on it."""
    running = {}

    def get(name, make):
        if name not in running:
            running[name] = make(tmp_path_factory.mktemp(name)).start()
        return running[name]

    yield get
    for server in running.values():
        server.kill()


@pytest.fixture
def folder(request):
    return f"test-{abs(id(request.node)):x}"


class TestNginx(StoreContract):
    @pytest.fixture
    def store(self, served, folder):
        store = open_http(served("nginx", nginx).url + f"/{folder}/")
        yield store
        store.close()


class TestNginxWithoutFullPutPath(StoreContract):
    """nginx answers 409 to a PUT into a folder that is not there, as WebDAV says."""

    @pytest.fixture
    def store(self, served, folder):
        server = served("nginx-strict", lambda path: nginx(path, full_path=False))
        store = open_http(server.url + f"/{folder}")
        yield store
        store.close()


class TestNginxOverTls(StoreContract):
    """The same over TLS: the server's certificate is one that this process trusts."""

    @pytest.fixture
    def store(self, served, folder, monkeypatch):
        def make(path):
            return nginx(path, certificate=certify(path, "IP:127.0.0.1"))

        server = served("nginx-tls", make)
        monkeypatch.setenv("SSL_CERT_FILE", str(server.data.parent / "cert.pem"))
        store = open_http(server.url + f"/{folder}/")
        yield store
        store.close()


class TestRcloneWebdav(StoreContract):
    @pytest.fixture
    def store(self, served, folder):
        store = open_http(served("webdav", lambda path: rclone(path, "webdav")).url + f"/{folder}")
        yield store
        store.close()


class TestRcloneS3(StoreContract):
    @pytest.fixture
    def store(self, served, folder, monkeypatch):
        server = served("s3", lambda path: rclone(path, "s3"))
        for name, value in s3_environment(server).items():
            monkeypatch.setenv(name, value)
        store = open_object(f"{server.url}/{folder}")
        yield store
        store.close()
