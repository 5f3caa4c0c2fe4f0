"""An HTTP server as a store: plain `GET`, `HEAD` and `PUT`, as any WebDAV server speaks them.

Where a `PUT` meets a folder that is not there the folders are made by `MKCOL` and it is put once
more. Nothing rests on conditional requests, ranges or redirects.
Connections are kept, one per call at a time. Every request ends by a deadline, also against a
server that sends a byte now and then. Credentials come from the environment only:
`NFBUILD_HTTP_TOKEN`, or `NFBUILD_HTTP_USER` and `NFBUILD_HTTP_PASSWORD`.

Not here: names and records (`remote`), giving a server up (`breaker`).
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import os
import socket
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlsplit

from nfbuild.errors import Corrupt, Missing, Unavailable, UsageError
from nfbuild.store.parallel import bounded
from nfbuild.store.remote import RemoteStore

if TYPE_CHECKING:
    from typing_extensions import Buffer

_REQUEST_SECONDS: Final = 10.0
_CONNECT_SECONDS: Final = 3.0
_AGENT: Final = "nfbuild"


def open_http(
    url: str, *, seconds: float = _REQUEST_SECONDS, environment: Mapping[str, str] | None = None
) -> RemoteStore:
    """Return the store at `url`; nothing is asked of the server yet.

    Raises `UsageError` for a URL that no request can be sent to.
    """
    return RemoteStore(HttpTransport(url, seconds=seconds, environment=environment or os.environ))


class HttpTransport:
    """See `remote.Transport`."""

    def __init__(self, url: str, *, seconds: float, environment: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise UsageError(f"`{url}` is no URL of a server", hint="as in `https://host/path`")
        self._host = parts.hostname
        self._port = port or (443 if parts.scheme == "https" else 80)
        self._secure = parts.scheme == "https"
        self._base = quote(unquote(parts.path.rstrip("/")), safe="/") + "/"
        shown = f"[{self._host}]" if ":" in self._host else self._host
        self.name = f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{self._base}"
        self._seconds = seconds
        self._headers = {"User-Agent": _AGENT, "Accept-Encoding": "identity"}
        self._headers.update(_credentials(environment))
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._made: set[str] = set()
        self._resolved = False

    # --- objects ----------------------------------------------------------------------------------

    def get(self, path: str, limit: int) -> bytes:
        """See `remote.Transport`."""
        status, data = self._request("GET", path, limit=limit)
        if status == 200:
            return data
        raise self._refused(status, path)

    def has(self, path: str) -> bool:
        """See `remote.Transport`."""
        status, _ = self._request("HEAD", path)
        if status == 200:
            return True
        if status in (404, 410):
            return False
        raise self._refused(status, path)

    def put(self, path: str, data: bytes) -> None:
        """See `remote.Transport`."""
        status, _ = self._request("PUT", path, body=data)
        # WebDAV says 409 where a folder is missing; some servers say 404, and nginx says 500.
        if status in (404, 409, 500):
            self._make_folders(path)
            status, _ = self._request("PUT", path, body=data)
        if status not in (200, 201, 204):
            if status in (404, 409, 410):
                raise Unavailable(f"{self.name}: it takes no `{path}` ({status})", code="refuses")
            raise self._refused(status, path)

    def _make_folders(self, path: str) -> None:
        """Make every folder above `path`, the server's own base too; one thread at a time.

        Another thread may have made them since the put that failed: that one is worth trying again.
        """
        parts = (self._base.strip("/") + "/" + path).strip("/").split("/")[:-1]
        with self._making:
            for count in range(1, len(parts) + 1):
                folder = "/" + "/".join(parts[:count]) + "/"
                if folder in self._made:
                    continue
                # 405 says that it is there. Whatever else it answers, the put will say.
                status, _ = self._request("MKCOL", folder, absolute=True)
                if status in (200, 201, 204, 405):
                    self._made.add(folder)

    def _refused(self, status: int, path: str) -> Missing | Unavailable:
        if status in (404, 410):
            return Missing(f"{self.name}: no `{path}`")
        codes = {401: "forbidden", 403: "forbidden", 405: "refuses", 413: "full", 507: "full"}
        return Unavailable(
            f"{self.name}: it answers {status}", code=codes.get(status, f"http-{status}")
        )

    # --- requests ---------------------------------------------------------------------------------

    def _request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        limit: int = 0,
        absolute: bool = False,
    ) -> tuple[int, bytes]:
        """Return status and body; a body is kept only where the status is 200."""
        target = path if absolute else self._base + path
        deadline = time.monotonic() + self._seconds
        connection = self._take()
        fresh = connection is None
        while True:
            if connection is None:
                connection = self._connect(deadline)
            try:
                connection.arm(deadline)
                connection.request(method, target, body=body, headers=self._headers)
                return self._receive(connection, limit if method == "GET" else 0, path)
            except TimeoutError as error:
                connection.close()
                raise Unavailable(
                    f"{self.name}: no answer for {self._seconds:g} s", code="timeout"
                ) from error
            except (OSError, http.client.HTTPException, ValueError) as error:
                connection.close()
                # A kept connection may have been closed meanwhile; a new one deserves no retry.
                if fresh:
                    fact = str(error) or type(error).__name__
                    raise Unavailable(f"{self.name}: {fact}", code="broken-off") from error
                fresh, connection = True, None
            except BaseException:
                connection.close()
                raise

    def _receive(self, connection: _Connection, limit: int, path: str) -> tuple[int, bytes]:
        """Return status and body of the answer, and keep the connection where it is free again.

        A body that ends early is the line's fault, not the object's.
        """
        response = connection.getresponse()
        wanted = response.status == 200 and limit > 0
        length = response.length
        if wanted and length is not None and length > limit:
            raise Corrupt(f"{self.name}: `{path}` has {length} bytes", code="too-large")
        # What is not wanted is read to its end only where that is short: then the line is free.
        bound = limit if wanted else 65536
        data = response.read(bound + 1)
        if wanted and len(data) > bound:
            raise Corrupt(f"{self.name}: `{path}` has too many bytes", code="too-large")
        if wanted and length is not None and len(data) < length:
            raise Unavailable(f"{self.name}: `{path}` was cut short", code="short")
        if response.isclosed() and not response.will_close and connection.sock is not None:
            self._give(connection)
        else:
            connection.close()
        return response.status, data if wanted else b""

    def _take(self) -> _Connection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _give(self, connection: _Connection) -> None:
        with self._lock:
            self._idle.append(connection)

    def _connect(self, deadline: float) -> _Connection:
        if not self._resolved:
            # The resolver knows no timeout.
            self._ask_resolver()
            self._resolved = True
        connection: _Connection
        if self._secure:
            connection = _SecureConnection(self._host, self._port, timeout=_CONNECT_SECONDS)
        else:
            connection = _Connection(self._host, self._port, timeout=_CONNECT_SECONDS)
        connection.arm(deadline)
        try:
            connection.connect()
        except TimeoutError as error:
            raise Unavailable(f"{self.name}: it cannot be reached", code="timeout") from error
        except OSError as error:
            fact = error.strerror or str(error)
            raise Unavailable(f"{self.name}: {fact}", code="unreachable") from error
        return connection

    def _ask_resolver(self) -> None:
        try:
            bounded(
                lambda: socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM),
                _CONNECT_SECONDS,
                self.name,
            )
        except OSError as error:
            raise Unavailable(f"{self.name}: {error.strerror}", code="unreachable") from error

    def close(self) -> None:
        """See `remote.Transport`: close the kept connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _credentials(environment: Mapping[str, str]) -> dict[str, str]:
    token = environment.get("NFBUILD_HTTP_TOKEN")
    if token:
        return {"Authorization": f"Bearer {token}"}
    user, password = environment.get("NFBUILD_HTTP_USER"), environment.get("NFBUILD_HTTP_PASSWORD")
    if user and password:
        pair = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
        return {"Authorization": f"Basic {pair}"}
    return {}


# --- connections with a deadline ------------------------------------------------------------------


class _TimedReader(io.RawIOBase):
    """What a response reads from: each wait is cut by the deadline of the whole request."""

    def __init__(self, line: _TimedSocket) -> None:
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._line.trim()
        return self._line.socket.recv_into(buffer)


class _TimedSocket:
    """The part of a socket that `http.client` uses, with one deadline for everything it waits for.

    A socket's own timeout starts anew with every byte: a server that sends one now and then would
    hold a request for hours.
    """

    def __init__(self, raw: socket.socket, deadline: float) -> None:
        self.socket = raw
        self.deadline = deadline

    def trim(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        self.socket.settimeout(left)

    def sendall(self, data: Buffer) -> None:
        self.trim()
        self.socket.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self), 65536)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.close()


class _Connection(http.client.HTTPConnection):
    """A connection whose socket keeps to a deadline."""

    _deadline = 0.0
    sock: Any

    def arm(self, deadline: float) -> None:
        """Set the deadline of the request that comes next."""
        self._deadline = deadline
        if self.sock is not None:
            self.sock.deadline = deadline

    def connect(self) -> None:
        super().connect()
        self.sock = _TimedSocket(self.sock, self._deadline)


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    """The same over TLS, certificates checked."""
