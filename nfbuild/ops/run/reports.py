"""What operations return: plain values with the fields that tools outside read.

Every report becomes one JSON document by `to_json`; field names, their order and the exit codes are
a contract (`docs/formats.md`). `ok` is true exactly when the exit code is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nfbuild.dataclasses import dataclass, field
from nfbuild.digests import is_hex_digest, shown
from nfbuild.errors import NfbuildError, worst_exit
from nfbuild.events import Failed, Warned
from nfbuild.identity.manifest import PartName, Reason


def shown_value(value: str | None) -> str | None:
    """Return a sub-input's value as tools read it: digests get their algorithm's name."""
    if value is not None and is_hex_digest(value):
        return shown(value)
    return value


def reason_json(reason: Reason) -> dict[str, Any]:
    """Return a reason as the reports print it."""
    return {
        "part": reason.part,
        "what": reason.what,
        "file": reason.file,
        "line": reason.line,
        "before": shown_value(reason.before),
        "after": shown_value(reason.after),
    }


def talk_json(talk: Failed | Warned) -> dict[str, Any]:
    """Return an error or a warning as the reports print it."""
    return {
        "code": talk.code,
        "composition": talk.composition,
        "file": talk.file,
        "line": talk.line,
        "message": talk.message,
        "hint": talk.hint,
    }


def failure(error: NfbuildError, composition: str | None = None) -> Failed:
    """Return the event for an error."""
    place = error.place
    return Failed(
        code=error.code,
        message=error.message,
        exit_code=error.exit_code,
        composition=composition,
        file=None if place is None else place.file,
        line=None if place is None else place.line,
        hint=error.hint,
    )


def identity_json(digests: Mapping[PartName, str] | None) -> dict[str, str] | None:
    """Return the four part digests as the reports print them."""
    return None if digests is None else {str(part): shown(d) for part, d in digests.items()}


@dataclass
class BuildRow:
    """What a build found and did for one composition; `verdict` is from before it wrote."""

    name: str
    source: str
    frames: int = 0
    distinct: int = 0
    rendered: int = 0
    reused: int = 0
    written: bool = False
    digest: str | None = None
    identity: dict[str, str] | None = None
    verdict: str = "failed"
    reasons: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    moved: list[tuple[int, int]] = field(default_factory=list)
    note: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the row of the JSON document."""
        return {
            "name": self.name,
            "source": self.source,
            "frames": self.frames,
            "distinct": self.distinct,
            "rendered": self.rendered,
            "reused": self.reused,
            "written": self.written,
            "digest": self.digest,
            "identity": self.identity,
            "verdict": self.verdict,
            "reasons": self.reasons,
            "seconds": round(self.seconds, 3),
        }


@dataclass
class BuildReport:
    """What a whole build did; `totals` counts a frame that two compositions share once."""

    rows: list[BuildRow] = field(default_factory=list)
    frames: int = 0
    distinct: int = 0
    rendered: int = 0
    reused: int = 0
    cache_lied: int = 0
    seconds: float = 0.0
    errors: list[Failed] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    exits: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return worst_exit(self.exits | {error.exit_code for error in self.errors})

    def to_json(self) -> dict[str, Any]:
        """Return the document of `build --json`."""
        return {
            "schema": "nfbuild.build/1",
            "ok": self.exit_code == 0,
            "compositions": [row.to_json() for row in self.rows],
            "totals": {
                "frames": self.frames,
                "distinct": self.distinct,
                "rendered": self.rendered,
                "reused": self.reused,
                "cache_lied": self.cache_lied,
                "seconds": round(self.seconds, 3),
            },
            "errors": [talk_json(error) for error in self.errors],
            "warnings": self.warnings,
            **self.extra,
        }


@dataclass
class StatusRow:
    """What a build would do for one composition."""

    name: str
    frames: int = 0
    up_to_date: bool = True
    to_render: int = 0
    reasons: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class StatusReport:
    """What a build would do; making it writes nothing."""

    rows: list[StatusRow] = field(default_factory=list)
    errors: list[Failed] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0, or the code of the composition that cannot be read."""
        return worst_exit({error.exit_code for error in self.errors})

    def to_json(self) -> dict[str, Any]:
        """Return the document of `status --json`."""
        return {
            "schema": "nfbuild.status/1",
            "ok": self.exit_code == 0,
            "compositions": [vars(row) for row in self.rows],
            "errors": [talk_json(error) for error in self.errors],
            "warnings": self.warnings,
        }


VERDICTS = ("match", "changed", "regression", "excused", "missing", "orphaned", "failed")


@dataclass
class VerifyRow:
    """The verdict on one composition."""

    name: str
    verdict: str
    identity_moved: bool = False
    reasons: list[dict[str, Any]] = field(default_factory=list)
    frames: int = 0
    digest: str | None = None
    recorded: str | None = None
    across: list[str] = field(default_factory=list)
    excuse: dict[str, Any] | None = None
    moved: list[tuple[int, int]] = field(default_factory=list)
    source: str | None = None
    rate: str | None = None
    note: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the row of the JSON document."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "identity_moved": self.identity_moved,
            "reasons": self.reasons,
            "frames": self.frames,
            "digest": self.digest,
            "recorded": self.recorded,
            "across": self.across,
            "excuse": self.excuse,
            "moved": [list(span) for span in self.moved],
            "note": self.note,
        }


@dataclass
class VerifyReport:
    """The gate's answer."""

    lane: str
    seed: int
    sampled: bool = False
    compared: int = 0
    rows: list[VerifyRow] = field(default_factory=list)
    cache_lied: list[dict[str, Any]] = field(default_factory=list)
    errors: list[Failed] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    exits: set[int] = field(default_factory=set)

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return worst_exit(self.exits | {error.exit_code for error in self.errors})

    def totals(self) -> dict[str, int]:
        """Return how many compositions have each verdict."""
        return {kind: sum(row.verdict == kind for row in self.rows) for kind in VERDICTS}

    def to_json(self) -> dict[str, Any]:
        """Return the document of `verify --json`."""
        return {
            "schema": "nfbuild.verify/1",
            "ok": self.exit_code == 0,
            "lane": self.lane,
            "seed": self.seed,
            "sampled": self.sampled,
            "compared": self.compared,
            "compositions": [row.to_json() for row in self.rows],
            "totals": self.totals(),
            "cache_lied": self.cache_lied,
            "errors": [talk_json(error) for error in self.errors],
            "warnings": self.warnings,
        }


def spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return ascending frame numbers as inclusive ranges."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
