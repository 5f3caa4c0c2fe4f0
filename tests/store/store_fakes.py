"""A store that does what a test tells it to, and a server that misbehaves on purpose."""

import contextlib
import socket
import threading
import time

from nfbuild.errors import StoreError, Unavailable
from nfbuild.store.breaker import Tier
from nfbuild.store.memory import MemoryStore
from nfbuild.store.stats import Journal


class ScriptedStore(MemoryStore):
    """Counts calls, and fails or waits on demand."""

    def __init__(self, name="scripted"):
        super().__init__(name)
        self.calls = []
        self.fault = None
        self.delay = 0.0

    def _enter(self, *call):
        self.calls.append(call)
        if self.delay:
            time.sleep(self.delay)
        if self.fault is not None:
            raise self.fault

    def get_blob(self, digest):
        self._enter("get", digest)
        return super().get_blob(digest)

    def has_blob(self, digest):
        self._enter("has", digest)
        return super().has_blob(digest)

    def put_blob(self, data, *, replace=False):
        self._enter("put", data, replace)
        return super().put_blob(data, replace=replace)

    def look(self, kind, keys):
        keys = list(keys)
        self._enter("look", kind, keys)
        found, wrong = {}, {}
        for key in keys:
            try:
                found[key] = MemoryStore.get_record(self, kind, key)
            except StoreError as error:
                if error.code != "missing":
                    wrong[key] = error
        return found, wrong

    def put_record(self, kind, key, payload, *, replace=False):
        self._enter("record", kind, key)
        super().put_record(kind, key, payload, replace=replace)

    def close(self):
        self.calls.append(("close",))


def tier(store, journal=None, *, writable=True, required=False, **patience):
    from nfbuild.store.breaker import Patience

    return Tier(
        store.name,
        lambda: store,
        journal or Journal(),
        writable=writable,
        required=required,
        patience=Patience(**patience),
    )


def down(code="unreachable"):
    return Unavailable("scripted: it is down", code=code)


class BadServer:
    """An HTTP server in a thread that answers each request by a function of the socket."""

    def __init__(self, behave):
        self.behave = behave
        self.requests = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/cache"
        self._lines = []
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self._lines.append(line)
            threading.Thread(target=self._talk, args=(line,), daemon=True).start()

    def _talk(self, line):
        with line:
            buffer = b""
            while not self._closing.is_set():
                try:
                    while b"\r\n\r\n" not in buffer:
                        more = line.recv(65536)
                        if not more:
                            return
                        buffer += more
                    head, _, buffer = buffer.partition(b"\r\n\r\n")
                    method, path, _ = head.split(b"\r\n")[0].decode().split(" ", 2)
                    for field in head.lower().split(b"\r\n"):
                        if field.startswith(b"content-length:"):
                            length = int(field.split(b":")[1])
                            while len(buffer) < length:
                                buffer += line.recv(65536)
                            buffer = buffer[length:]
                    self.requests.append((method, path))
                    if self.behave(self, line, method, path) is False:
                        return
                except OSError:
                    return

    def wait(self, seconds):
        self._closing.wait(seconds)

    def close(self):
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes `accept`
        self._listener.close()
        for line in self._lines:
            line.close()
        self._thread.join(5)


def answer(line, status, body=b"", *, length=None, method="GET"):
    size = len(body) if length is None else length
    head = f"HTTP/1.1 {status} x\r\nContent-Length: {size}\r\n\r\n".encode()
    line.sendall(head + (b"" if method == "HEAD" else body))
