"""The stack of one run: the local cache in front, the shared tiers behind it, uploads beside.

    get  ->  local  ->  tier 1  ->  tier 2 ...     what a tier gives is kept locally
    put  ->  local, and in the background every tier that may be written

What a tier says of a record is kept apart from what this cache made itself (`Found.shared`): a
shared answer is hearsay until it is checked, and `verify` trusts none. Tiers are opened when they
are first asked, so a run that needs none pays for none.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from nfbuild.dataclasses import dataclass
from nfbuild.digests import BlobDigest
from nfbuild.errors import StoreError, Unavailable, UsageError
from nfbuild.events import Warned
from nfbuild.store import blobs
from nfbuild.store.base import Kind, TierStore, WritableStore, sound_names
from nfbuild.store.breaker import Patience, Tier
from nfbuild.store.layers import Cached, Router, SingleFlight
from nfbuild.store.local import LocalStore, open_cache
from nfbuild.store.parallel import bounded, fan_out
from nfbuild.store.stats import MISS, Journal
from nfbuild.store.uploads import Uploads

READ_WRITE: Final = "read-write"
READ_ONLY: Final = "read-only"
_OBJECT_SCHEMES: Final = ("s3", "gs", "az")
_DIRECTORY_SECONDS: Final = 5.0
_CLOSE_SECONDS: Final = 30.0


@dataclass(frozen=True)
class Found:
    """A record's payload; `shared` is true for what a tier said and nobody has checked here."""

    payload: bytes
    shared: bool


def open_caches(
    folder: str,
    tiers: Sequence[tuple[str, str]] = (),
    *,
    require: bool = False,
    replace: bool = False,
    observe: bool = False,
    journal: Journal | None = None,
    patience: Patience | None = None,
) -> Caches:
    """Return the stack of the local cache in `folder` and of `tiers`, each a URL and a mode.

    With `require` every tier is asked at once, and trouble with one is `StoreRequired`, now or
    later. With `replace` an upload replaces what a tier has. With `observe` nothing is
    written, here or there. Raises `UsageError` for a URL or a mode that makes no sense, and
    `ProjectError` for a cache of an unknown version.
    """
    journal = journal or Journal()
    opened = [
        Tier(
            tier_name(url),
            tier_opener(url, read_only=_is_read_only(mode, url) or observe),
            journal,
            writable=mode == READ_WRITE and not observe,
            required=require,
            patience=patience or Patience(),
        )
        for url, mode in tiers
    ]
    local = open_cache(folder, journal, observe=observe)
    caches = Caches(local, opened, journal, replace=replace, observe=observe)
    if require:
        for tier in opened:
            with contextlib.suppress(StoreError):
                tier.probe()
    return caches


class Caches:
    """Everything one run can remember with; a context that finishes uploads when it is left."""

    def __init__(
        self,
        local: LocalStore,
        tiers: Sequence[Tier],
        journal: Journal,
        *,
        replace: bool = False,
        observe: bool = False,
    ) -> None:
        self.local = local
        self._observe = observe
        self.local_folder = local.root
        self.tiers = tuple(tiers)
        self.journal = journal
        self._uploads = Uploads(
            partial(_read_again, local.root), self.tiers, journal, replace=replace
        )
        self._shared = SingleFlight(Router(self.tiers))
        self.store: WritableStore = Cached(
            local, self._shared, remember=self._remember, offers=self._uploads
        )

    # --- records ----------------------------------------------------------------------------------

    def look_up(self, kind: Kind, keys: Iterable[str], *, shared: bool = True) -> dict[str, Found]:
        """Return what is known, and whether by hearsay; never raises for a store's fault.

        Without `shared` only what this cache made or checked itself counts.
        """
        wanted = sound_names(keys)
        found: dict[str, Found] = {}
        for own in (True, False) if shared else (True,):
            rest = [key for key in wanted if key not in found]
            with contextlib.suppress(Unavailable):
                for key, payload in self.local.find_records(kind, rest, own=own).items():
                    found[key] = Found(payload, shared=not own)
        rest = [key for key in wanted if key not in found]
        if not shared or not rest:
            return found
        self.journal.count(self.local.name, f"{MISS}.missing", len(rest))
        if not self.tiers:
            return found
        told = self._shared.get_records(kind, rest)
        if told:
            self._remember(kind, told)
        found.update({key: Found(payload, shared=True) for key, payload in told.items()})
        return found

    def _remember(self, kind: Kind, items: Mapping[str, bytes]) -> None:
        with contextlib.suppress(Unavailable):
            self.local.put_records(kind, items, own=False, replace=True)

    # --- blobs ------------------------------------------------------------------------------------

    def share_blobs(self, digests: Iterable[BlobDigest]) -> None:
        """Offer blobs that are in the local folder (workers write them there) to the tiers.

        Comes before the records that speak of them.
        """
        for digest in digests:
            self._uploads.blob(digest)

    def have_blobs(self, digests: Iterable[BlobDigest]) -> set[BlobDigest]:
        """Return which blobs are here or at a tier; none is read."""
        wanted = [BlobDigest(name) for name in sound_names(digests)]
        have = {digest for digest in wanted if self._is_local(digest)}
        rest = [digest for digest in wanted if digest not in have]
        if rest and self.tiers:
            answers = fan_out(self._shared.has_blob, rest)
            have.update(digest for digest, there in zip(rest, answers, strict=True) if there)
        return have

    def fetch_blobs(self, digests: Iterable[BlobDigest]) -> set[BlobDigest]:
        """Bring blobs here that are not; return which are here afterwards.

        Those that come from a tier have been checked; those that were here are checked when read.
        Who only observes learns which could be brought from a tier.
        """
        if self._observe:
            asked = [BlobDigest(name) for name in sound_names(digests)]
            answers = fan_out(self._shared.has_blob, asked)
            return {digest for digest, there in zip(asked, answers, strict=True) if there}
        wanted = [BlobDigest(name) for name in sound_names(digests)]
        here = {digest for digest in wanted if self._is_local(digest)}
        rest = [digest for digest in wanted if digest not in here]
        if rest and self.tiers:
            fetched = fan_out(self._fetch, rest)
            here.update(digest for digest, got in zip(rest, fetched, strict=True) if got)
        return here

    def _fetch(self, digest: BlobDigest) -> bool:
        try:
            self.local.put_known_blob(digest, self._shared.get_blob(digest))
        except StoreError:
            return False
        return True

    def _is_local(self, digest: BlobDigest) -> bool:
        try:
            return self.local.has_blob(digest)
        except Unavailable:
            return False

    # --- the end ----------------------------------------------------------------------------------

    def warnings(self) -> list[Warned]:
        """Return what has to be said since the last call."""
        return self.journal.take_warnings()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Who interrupts does not want to wait: what is under way ends, the rest is lost.
        interrupted = kind is not None and not issubclass(kind, Exception)
        self.close(0.0 if interrupted else _CLOSE_SECONDS)

    def finish_uploads(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Finish uploads within `seconds`; what is offered afterwards is lost.

        Raises `StoreRequired` when a required tier was given up while uploading.
        """
        self._uploads.close(seconds)

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Finish uploads within `seconds`, add this run to the lifetime sums, let go of everything.

        Raises `StoreRequired` when a required tier was given up while uploading.
        """
        try:
            self._uploads.close(seconds)
        finally:
            for tier in self.tiers:
                tier.close()
            self.local.add_lifetime()
            self.local.close()


def _read_again(root: str, digest: BlobDigest) -> bytes:
    """Read a blob for uploading: not a hit, and no use of it."""
    return blobs.read_blob(root, digest, keep=True)


# --- urls -----------------------------------------------------------------------------------------


def _is_read_only(mode: str, url: str) -> bool:
    if mode not in (READ_WRITE, READ_ONLY):
        raise UsageError(
            f"mode `{mode}` of `{url}` is unknown", hint=f"`{READ_WRITE}` or `{READ_ONLY}`"
        )
    return mode == READ_ONLY


def tier_name(url: str) -> str:
    """Return what a tier is called; refuses a URL that holds a password (`UsageError`)."""
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise UsageError(
            f"the URL of the cache at `{parts.netloc.rpartition('@')[2]}` holds a credential",
            hint="credentials come from the environment: `NFBUILD_HTTP_USER`, `AWS_ACCESS_KEY_ID`",
        )
    return url


def tier_opener(url: str, *, read_only: bool) -> Callable[[], TierStore]:
    """Return what opens the store at `url`; raises `UsageError` for a URL that is none."""
    scheme = urlsplit(url).scheme
    if scheme == "file" or os.path.isabs(url):
        return partial(_open_directory, directory_of(url), read_only=read_only)
    if scheme in ("http", "https"):
        return partial(_open_http, url)
    if scheme in _OBJECT_SCHEMES:
        return partial(_open_object, url)
    raise UsageError(
        f"`{url}` is no shared cache that is known",
        hint="`file:///path`, `https://…`, `s3://bucket/prefix`, `gs://…` or `az://…`",
    )


def directory_of(url: str) -> str:
    """Return the path that a `file:` URL, or an absolute path, stands for."""
    if os.path.isabs(url):
        return url
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost") or not path.startswith("/"):
        raise UsageError(f"`{url}` names no directory here", hint="as in `file:///srv/cache`")
    if os.name == "nt" and path[2:3] == ":":
        return path[1:]
    return path


# Each kind is imported when a tier of it is first asked: obstore alone costs a tenth of a second.
def _open_directory(path: str, *, read_only: bool) -> TierStore:
    from nfbuild.store.directory import open_directory  # noqa: PLC0415

    # A network mount whose server is gone answers nothing at all.
    return bounded(lambda: open_directory(path, read_only=read_only), _DIRECTORY_SECONDS, path)


def _open_http(url: str) -> TierStore:
    from nfbuild.store.http import open_http  # noqa: PLC0415

    return open_http(url)


def _open_object(url: str) -> TierStore:
    from nfbuild.store.object import open_object  # noqa: PLC0415

    return open_object(url)
