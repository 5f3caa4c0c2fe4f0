"""A bucket as a store: S3, Google Cloud Storage and Azure, through obstore.

The door to obstore, which is an optional extra (`remote`): no other module imports it. Credentials
and endpoints come from the environment, under the names that the providers gave them. obstore
hangs after a `fork`; another process than the one that opened the store is answered `Unavailable`.
Nothing rests on conditional puts or ranges: not every server of this protocol does them right.

Not here: names and records (`remote`), giving a server up (`breaker`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from nfbuild.errors import Corrupt, Missing, StoreError, Unavailable, UsageError
from nfbuild.store.parallel import bounded
from nfbuild.store.remote import RemoteStore

Value = TypeVar("Value")

SCHEMES: Final = ("s3", "gs", "az")
_REQUEST_SECONDS: Final = 10.0


def open_object(
    url: str, *, seconds: float = _REQUEST_SECONDS, environment: Mapping[str, str] | None = None
) -> RemoteStore:
    """Return the store at `url`; nothing is asked of the server yet.

    Raises `UsageError` for a URL that names no bucket, and `Unavailable` without obstore.
    """
    return RemoteStore(ObjectTransport(url, seconds=seconds, environment=environment or os.environ))


class ObjectTransport:
    """See `remote.Transport`."""

    def __init__(self, url: str, *, seconds: float, environment: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.netloc:
            raise UsageError(f"`{url}` is no URL of a bucket", hint="as in `s3://bucket/prefix`")
        try:
            import obstore  # noqa: PLC0415  optional, and heavy
            from obstore import exceptions, store  # noqa: PLC0415
        except ImportError as error:
            raise Unavailable(
                f"{url}: obstore is not installed; the extra `remote` brings it", code="extra"
            ) from error
        self.name = url
        self._seconds = seconds
        self._process = os.getpid()
        self._obstore = obstore
        self._missing = (exceptions.NotFoundError, FileNotFoundError)
        self._forbidden = (
            exceptions.PermissionDeniedError,
            exceptions.UnauthenticatedError,
            PermissionError,
        )
        self._faults = (exceptions.BaseError, OSError, ValueError)
        endpoint = environment.get("AWS_ENDPOINT_URL", "")
        config: dict[str, Any] = {}
        if parts.scheme == "s3" and endpoint:
            config["virtual_hosted_style_request"] = "false"
        # One call for three providers: its overloads ask which one this is.
        from_url: Any = store.from_url
        try:
            self._store = from_url(
                url,
                config=config or None,
                client_options={
                    "timeout": timedelta(seconds=seconds),
                    "connect_timeout": timedelta(seconds=3),
                    # Plain HTTP only where the environment names such an endpoint itself.
                    "allow_http": endpoint.startswith("http://"),
                },
                retry_config={"max_retries": 1, "retry_timeout": timedelta(seconds=seconds)},
            )
        except self._faults as error:
            raise Unavailable(f"{url}: {_first_line(error)}", code="settings") from error

    def get(self, path: str, limit: int) -> bytes:
        """See `remote.Transport`."""

        def act() -> bytes:
            result = self._obstore.get(self._store, path)
            if result.meta["size"] > limit:
                raise Corrupt(
                    f"{self.name}: {result.meta['size']} bytes are too many", code="too-large"
                )
            return bytes(result.bytes())

        return self._call(act, path)

    def has(self, path: str) -> bool:
        """See `remote.Transport`."""

        def act() -> bool:
            self._obstore.head(self._store, path)
            return True

        try:
            return self._call(act, path)
        except Missing:
            return False

    def put(self, path: str, data: bytes) -> None:
        """See `remote.Transport`."""
        # In one request: several parts would be several ways to fail.
        self._call(lambda: self._obstore.put(self._store, path, data, use_multipart=False), path)

    def close(self) -> None:
        """See `remote.Transport`: obstore closes its connections itself."""

    def _call(self, act: Callable[[], Value], path: str) -> Value:
        if os.getpid() != self._process:
            raise Unavailable(f"{self.name}: it was opened by another process", code="fork")
        try:
            return bounded(act, self._seconds + 1, self.name)
        except StoreError:
            raise
        except self._missing as error:
            raise Missing(f"{self.name}: no `{path}`") from error
        except self._forbidden as error:
            raise Unavailable(f"{self.name}: {_first_line(error)}", code="forbidden") from error
        except self._faults as error:
            raise Unavailable(f"{self.name}: {_first_line(error)}", code="unreachable") from error


def _first_line(error: BaseException) -> str:
    """Return what obstore says without its picture of the nested error."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
