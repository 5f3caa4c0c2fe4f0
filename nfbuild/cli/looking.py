"""The commands that look: `check`, `sheet`, and the ones that look after the cache."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from nfbuild.cli.plain import put, put_json, say, spoken
from nfbuild.cli.telling import speaking
from nfbuild.cli.terminal import Voice, follow


@speaking
def check(voice: Voice, start: str, names: list[str]) -> int:
    """`nfbuild check`."""
    from nfbuild.ops.check import check_project  # noqa: PLC0415  each verb loads what it needs
    from nfbuild.ops.run.session import Settings, open_session  # noqa: PLC0415

    with open_session(start, Settings(observe=True)) as session:
        report = follow(check_project(session, names, start), voice)
    if voice.as_json:
        put_json(report.to_json())
        return report.exit_code
    for _, finding in report.findings:
        if voice.quiet and finding.severity != "error":
            continue
        text = spoken(finding.message, finding.file, finding.line, finding.hint)
        put(f"{finding.severity}: {text} [{finding.code}]" if not finding.hint else _told(finding))
    errors = sum(finding.severity == "error" for _, finding in report.findings)
    if not voice.quiet:
        say(
            f"{report.compositions} compositions: {errors} errors, "
            f"{len(report.findings) - errors} warnings"
        )
    return report.exit_code


def _told(finding: Any) -> str:
    place = spoken(finding.message, finding.file, finding.line, None)
    return f"{finding.severity}: {place} [{finding.code}]\nhint: {finding.hint}"


@speaking
def sheet(voice: Voice, start: str, name: str, **options: Any) -> int:
    """`nfbuild sheet`."""
    from nfbuild.ops.run.session import open_session  # noqa: PLC0415
    from nfbuild.ops.sheet import sheet as operation  # noqa: PLC0415

    with open_session(start) as session:
        made = follow(operation(session, name, start, **options), voice)
    if not voice.quiet:
        say(f"wrote {made.path}")
    return 0


@speaking
def cache_collect(voice: Voice, start: str, *, dry: bool) -> int:
    """`nfbuild cache collect`."""
    from nfbuild.ops.collect import collect_caches  # noqa: PLC0415

    report = collect_caches(start, dry=dry)
    if voice.as_json:
        put_json(report.to_json())
        return 0
    for folder in report.busy:
        say(f"{folder}: another collector is at work")
    for plan, done in report.folders:
        reasons = ", ".join(f"{count} by {reason}" for reason, count in plan.by_reason().items())
        verb = "would go" if done is None else "went"
        count, freed = (len(plan.doomed), plan.freed) if done is None else (done.files, done.freed)
        put(f"{plan.root}: {plan.blobs:,} frames, {plan.bytes:,} bytes")
        put(f"  {count:,} files with {freed:,} bytes {verb}" + (f" ({reasons})" if reasons else ""))
    return 0


@speaking
def cache_verify(voice: Voice, start: str, *, sample: str, seed: int) -> int:
    """`nfbuild cache verify`."""
    from nfbuild.ops.collect import scrub_cache  # noqa: PLC0415
    from nfbuild.ops.run.options import read_share  # noqa: PLC0415

    report = scrub_cache(start, share=read_share(sample) or Fraction(1), seed=seed)
    if voice.as_json:
        put_json(report.to_json())
        return report.exit_code
    for damage in report.scrubbed.damage:
        put(f"damaged {damage.kind} {damage.name}: {damage.reason}")
    for digest in report.wrong_pixels:
        put(f"wrong pixels under {digest}; its record is gone")
    say(
        f"{report.scrubbed.blobs:,} frames ({report.scrubbed.bytes:,} bytes) and "
        f"{report.scrubbed.records:,} records were read, "
        f"{len(report.scrubbed.damage) + len(report.wrong_pixels)} damaged"
    )
    return report.exit_code


@speaking
def cache_explain(voice: Voice, start: str, key: str) -> int:
    """`nfbuild cache explain`."""
    from nfbuild.ops.cache import explain_key  # noqa: PLC0415

    document = explain_key(start, key)
    if voice.as_json:
        put_json(document)
        return 0
    for fact in document["facts"]:
        put(" ".join(f"{name}={value}" for name, value in fact.items()))
    for film in document["films"]:
        spans = ", ".join(f"{first}-{last}" for first, last in film["frames"])
        put(f"in the film {film['film'][:16]}: frames {spans}")
    return 0
