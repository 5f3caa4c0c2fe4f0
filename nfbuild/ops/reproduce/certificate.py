"""What a proof has shown, as a file: canonical, so that two of them compare line by line.

There is no time, path, host or processor count in it. What a machine's processor may decide (the
bytes of PNG files) stands apart under `machine`; the rest is the same wherever the same toolchain
draws the same pixels.
"""

from __future__ import annotations

import json
from typing import Any

from nfbuild.digests import by_utf8
from nfbuild.errors import Place, ProjectError, UsageError
from nfbuild.ops.reproduce.proof import ReproduceReport
from nfbuild.ops.reproduce.surroundings import DIMENSIONS
from nfbuild.ops.run.outputs import write_output

FORMAT = "nfbuild.certificate/1"
_FAMILY = "nfbuild.certificate/"
_EVERYWHERE = ("graph", "frames")


def certificate(report: ReproduceReport) -> bytes:
    """Return the certificate of a proof; raises UsageError where it showed a difference."""
    if report.exit_code != 0:
        raise UsageError(
            "there is nothing to certify: the builds were not all good and equal",
            hint="the report says where they differ",
            code="reproduce.certify",
        )
    here = [name for name in report.digests if name not in _EVERYWHERE]
    document = {
        "format": FORMAT,
        "lane": report.lane,
        "toolchains": report.toolchains,
        "proof": {
            "builds": len(report.runs),
            "dimensions": list(DIMENSIONS),
            "jobs": list(report.options.jobs),
            "rounds": report.options.rounds,
            "seed": report.options.seed,
        },
        "compositions": {row["name"]: [row["frames"], row["digest"]] for row in report.films},
        "digests": {name: report.digests[name] for name in _EVERYWHERE},
        "machine": {
            "processor": report.level,
            "digests": {name: report.digests[name] for name in here},
        },
    }
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode("ascii")


def save(report: ReproduceReport, path: str) -> None:
    """Write the certificate; raises UsageError."""
    write_output(path, [certificate(report)])


def read(path: str) -> dict[str, Any]:
    """Return a certificate's document; raises ProjectError."""
    try:
        with open(path, "rb") as file:
            document = json.loads(file.read())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise ProjectError(
            f"the certificate cannot be read: {reason}",
            place=Place(path),
            code="reproduce.certificate",
        ) from None
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        known = isinstance(found, str) and found.startswith(_FAMILY)
        raise ProjectError(
            f"has the format `{found}`; this version knows `{FORMAT}`"
            if known
            else "is not a certificate",
            place=Place(path),
            code="reproduce.certificate",
        )
    result: dict[str, Any] = document
    return result


def compare_certificates(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return what two certificates say differently, a line a fact; empty where they agree.

    How much was tried (`proof`) and what a processor decides (`machine`) are no contradiction.
    """
    old, new = before["compositions"], after["compositions"]
    pairs = [
        *((name, before[name], after[name]) for name in ("lane", "toolchains")),
        *((f"composition `{name}`", old.get(name), new.get(name)) for name in by_utf8(old | new)),
        *((name, before["digests"][name], after["digests"].get(name)) for name in _EVERYWHERE),
    ]
    return [f"{name}: {was} against {now}" for name, was, now in pairs if was != now]
