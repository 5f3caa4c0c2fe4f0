"""`doctor`: can this machine build, with what, where are its caches, and who may write there.

Nothing is changed: writing is tried with a temporary file that goes again, and a shared tier is
asked one question. A tier that does not answer is a fault of the surroundings, not of the project.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from nfbuild import __version__
from nfbuild.dataclasses import dataclass, field
from nfbuild.errors import EXIT_USAGE, NfbuildError
from nfbuild.ops.run.session import Session, Settings
from nfbuild.ops.run.state import filesystem_now
from nfbuild.project import load
from nfbuild.store.mounts import filesystem_type, is_network

_PROBE = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2" viewBox="0 0 2 2">'
    b'<rect width="2" height="2" fill="#0f0"/></svg>'
)
_SKEW_SECONDS = 5.0


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: the fact, whether it is as it should be, and the remedy."""

    name: str
    fact: str
    ok: bool = True
    hint: str | None = None
    needed: bool = True
    """Whether a build cannot do without it."""


@dataclass
class DoctorReport:
    """Everything that was looked at."""

    checks: list[Check] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 when everything that building needs is there, else 2."""
        return 0 if all(check.ok or not check.needed for check in self.checks) else EXIT_USAGE

    def to_json(self) -> dict[str, Any]:
        """Return the document of `doctor --json`."""
        return {
            "schema": "nfbuild.doctor/1",
            "ok": self.exit_code == 0,
            "checks": [vars(check) for check in self.checks],
        }


def examine(start: str) -> DoctorReport:
    """Look at everything that building needs; a fault of one hides no other."""
    report = DoctorReport()
    report.checks.extend(_machine())
    try:
        project = load(start)
    except NfbuildError as error:
        report.checks.append(Check("project", str(error), ok=False, hint=error.hint))
        return report
    report.checks.append(Check("project", project.root))
    report.checks.extend(_cache(project.cache.folder))
    for tier in project.cache.shared:
        report.checks.extend(examine_tier(tier.url, tier.mode))
    if not project.cache.shared:
        report.checks.append(Check("shared tiers", _why_none()))
    with Session(project, Settings(jobs=1)) as session:
        report.checks.extend(_drawing(session))
    return report


def _machine() -> Iterator[Check]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield Check("nfbuild", f"{__version__} on Python {version}")
    for extra, module in (("video", "av"), ("remote", "obstore")):
        there = _installed(module)
        fact = "installed" if there else f"not installed (`pip install nfbuild[{extra}]`)"
        yield Check(f"extra `{extra}`", fact)


def _installed(module: str) -> bool:
    import importlib.util  # noqa: PLC0415  for this command only

    return importlib.util.find_spec(module) is not None


def _cache(folder: str) -> Iterator[Check]:
    kind = filesystem_type(folder if os.path.isdir(folder) else os.path.dirname(folder))
    yield Check("cache", f"{folder} on {kind or 'an unknown file system'}")
    if is_network(kind):
        yield Check(
            "cache file system",
            f"`{kind}` is a network file system: the frame table is not used there",
            ok=False,
            hint="set `[cache] dir` to a local folder, and share frames by `[[cache.shared]]`",
        )
    try:
        os.makedirs(folder, exist_ok=True)
        skew = abs(filesystem_now(folder) / 1e9 - time.time())
    except OSError as error:
        yield Check(
            "cache writing",
            f"nothing can be written: {error.strerror}",
            ok=False,
            hint="look at the permissions and the free space of the folder",
        )
        return
    fact = f"the file system's clock is {skew:.1f} s off this machine's"
    yield Check("clock", fact, ok=skew < _SKEW_SECONDS, hint="set the machine's clock")


def _why_none() -> str:
    chosen = os.environ.get("NFBUILD_SHARED")
    return "none" if chosen is None else f"none (`NFBUILD_SHARED={chosen}`)"


def examine_tier(url: str, mode: str) -> Iterator[Check]:
    """Look at one shared tier: does it answer, may we write, and what does it lie on."""
    from nfbuild.store.breaker import Tier  # noqa: PLC0415  for this command only
    from nfbuild.store.stack import directory_of, tier_name, tier_opener  # noqa: PLC0415
    from nfbuild.store.stats import Journal  # noqa: PLC0415

    is_folder = url.startswith("file:") or os.path.isabs(url)
    try:
        name = tier_name(url)
        if is_folder and mode == "read-write" and _is_virgin(directory_of(url)):
            yield Check("shared tier", f"{name} ({mode}): empty, the first build makes it a store")
            return
        opener = tier_opener(url, read_only=True)
        with contextlib.closing(Tier(name, opener, Journal(), writable=False)) as tier:
            began = time.monotonic()
            tier.probe()
            took = 1000 * (time.monotonic() - began)
    except NfbuildError as error:
        hint = error.hint or "builds go on without it; `--require-shared` makes it an error"
        fact = f"{url} ({mode}): {error.message}"
        yield Check("shared tier", fact, ok=False, hint=hint, needed=False)
        return
    yield Check("shared tier", f"{name} ({mode}): active, it answers in {took:.0f} ms")
    if is_folder:
        yield from _directory(directory_of(url), mode)
    elif mode == "read-write":
        yield Check("shared writing", f"{name} decides who may write when something is uploaded")


def _is_virgin(folder: str) -> bool:
    """Tell whether a directory, or its place in an existing one, is free to become a store."""
    try:
        return not any(not name.startswith((".", "lost+found")) for name in os.listdir(folder))
    except FileNotFoundError:
        return os.path.isdir(os.path.dirname(folder))
    except OSError:
        return False


def _directory(folder: str, mode: str) -> Iterator[Check]:
    kind = filesystem_type(folder) or "an unknown file system"
    status = os.stat(folder)
    fact = f"{folder} on {kind}, {_writers(status)}"
    if mode == "read-only":
        yield Check("shared writing", f"{fact}; this project only reads")
        return
    try:
        skew = abs(filesystem_now(folder) / 1e9 - time.time())
    except OSError as error:
        yield Check(
            "shared writing",
            f"{fact}; nothing can be written: {error.strerror}",
            ok=False,
            hint='join the group, or set `mode = "read-only"` or `NFBUILD_SHARED=read-only`',
        )
        return
    yield Check("shared writing", f"{fact}; you may write")
    fact = f"the clock of {folder} is {skew:.1f} s off this machine's"
    hint = "set the machine's clock"
    yield Check("shared clock", fact, ok=skew < _SKEW_SECONDS, hint=hint, needed=False)


def _writers(status: os.stat_result) -> str:
    who = ["its owner"]
    if status.st_mode & 0o020:
        who.append(f"group `{_group(status.st_gid)}`")
    if status.st_mode & 0o002:
        who.append("everybody")
    return f"writable by {', '.join(who)}"


def _group(number: int) -> str:
    try:
        import grp  # noqa: PLC0415  not on every system

        return grp.getgrgid(number).gr_name
    except (ImportError, KeyError):
        return str(number)


def _drawing(session: Session) -> Iterator[Check]:
    try:
        toolchain = session.toolchain
        yield Check("lane", f"{toolchain.lane} ({toolchain.level})")
        yield Check("toolchain", toolchain.part({}).digest)
        for face in session.faces.faces:
            yield Check("face", f"{session.faces.labels[face.digest]} ({face.full_name})")
        yield Check("drawing", _draw(session))
    except NfbuildError as error:
        yield Check("drawing", str(error), ok=False, hint=error.hint)


def _draw(session: Session) -> str:
    from nfbuild.execute.base import Done, Job  # noqa: PLC0415  for this command only
    from nfbuild.render.tasks import DrawTask  # noqa: PLC0415

    with contextlib.closing(session.executor):
        for outcome in session.executor.run([Job(0, DrawTask(_PROBE, 2, 2, png=False), "")]):
            if isinstance(outcome, Done):
                return f"a frame was drawn: {outcome.value.digest}"
            raise outcome.error if hasattr(outcome, "error") else NfbuildError("nothing was drawn")
    raise NfbuildError("nothing was drawn", hint=f"look at `{tempfile.gettempdir()}`")
