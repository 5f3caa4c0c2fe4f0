"""What the command line asks of a build, read and checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction

from nfbuild.dataclasses import dataclass
from nfbuild.errors import UsageError
from nfbuild.ops.run.ranges import Span, parse_range
from nfbuild.ops.run.session import Settings


@dataclass(frozen=True)
class BuildOptions:
    """What a build is asked for; `span` limits which frames, `scale` the raster size."""

    names: tuple[str, ...] = ()
    start: str = "."
    locked: bool = False
    scale: Fraction = Fraction(1)
    span: Span | None = None
    export: tuple[str, ...] = ()
    graph: str | None = None
    audit: Fraction = Fraction(0)
    profile: str | None = None
    seed: int = 0
    use_state: bool = True


def read_options(
    names: Sequence[str],
    start: str,
    *,
    jobs: int | None = None,
    locked: bool = False,
    record: bool = False,
    no_cache: bool = False,
    recache: bool = False,
    rehash: bool = False,
    scale: str = "1",
    frames: str | None = None,
    export: Sequence[str] = (),
    graph: str | None = None,
    audit: str | None = None,
    require_shared: bool = False,
    reuse: bool = True,
    profile: str | None = None,
    seed: int = 0,
) -> tuple[BuildOptions, Settings]:
    """Return what the command line asks for; raises UsageError for a value that means nothing."""
    if locked and record:
        raise UsageError("`--locked` and `--record` exclude each other")
    if graph is not None and frames is not None:
        raise UsageError("the build graph tells of whole films: leave `--range` out")
    ci = os.environ.get("CI", "").lower() == "true"
    options = BuildOptions(
        names=tuple(names),
        start=start,
        locked=locked or (ci and not record),
        scale=read_scale(scale),
        span=None if frames is None else parse_range(frames),
        export=tuple(export),
        graph=graph,
        audit=read_share(audit),
        profile=profile,
        seed=seed,
    )
    settings = Settings(
        jobs=jobs,
        fresh=no_cache or recache,
        replace_shared=recache,
        require_shared=require_shared,
        rehash=rehash,
        keep_rasters=reuse,
        on_ground=reuse,
    )
    return options, settings


def read_scale(text: str) -> Fraction:
    """Return a raster scale: a positive decimal or a fraction; raises UsageError."""
    try:
        scale = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        scale = Fraction(0)
    if not 0 < scale <= 64:
        raise UsageError(
            f"`{text}` is no raster scale", hint="write a positive number, as `0.5` or `2`"
        )
    return scale


def read_share(text: str | None) -> Fraction:
    """Return a share as `0.5%` or `0.005`; raises UsageError."""
    if text is None:
        return Fraction(0)
    percent = text.strip().endswith("%")
    try:
        share = Fraction(text.strip().removesuffix("%")) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise UsageError(f"`{text}` is no share", hint="write it as `0.5%`")
    return share
