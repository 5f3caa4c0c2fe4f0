"""The commands below `nfbuild cache`."""

from __future__ import annotations

from typing import Annotated

from nfbuild.cli import looking, verbs
from nfbuild.cli.door import Argument, Option, group
from nfbuild.cli.terminal import Voice
from nfbuild.cli.words import Json, Quiet, Seed, Start, Verbose

cache_app = group("The cache: stats, collect, verify, explain, clear.")


@cache_app.command("stats")
def cache_stats(
    *, start: Start = ".", as_json: Json = False, quiet: Quiet = False, verbose: Verbose = False
) -> int:
    """Count what the cache holds and what it did."""
    return verbs.cache_stats(Voice(quiet=quiet, verbose=verbose, as_json=as_json), start)


@cache_app.command("clear")
def cache_clear(*, start: Start = ".", quiet: Quiet = False, verbose: Verbose = False) -> int:
    """Remove the cache; the next build draws everything."""
    return verbs.cache_clear(Voice(quiet=quiet, verbose=verbose), start)


@cache_app.command("collect")
def cache_collect(
    *,
    start: Start = ".",
    dry: Annotated[bool, Option("--dry-run", help="only say what would go")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Let old frames go, by age, size and free space."""
    voice = Voice(quiet=quiet, verbose=verbose, as_json=as_json)
    return looking.cache_collect(voice, start, dry=dry)


@cache_app.command("verify")
def cache_verify(
    *,
    start: Start = ".",
    sample: Annotated[str, Option("--sample", metavar="SHARE", help="as 5%")] = "100%",
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Read the cache and check that everything is what its name says."""
    voice = Voice(quiet=quiet, verbose=verbose, as_json=as_json)
    return looking.cache_verify(voice, start, sample=sample, seed=seed)


@cache_app.command("explain")
def cache_explain(
    key: Annotated[str, Argument(metavar="KEY", help="a frame key, a digest, or its start")],
    *,
    start: Start = ".",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Say what is behind a frame key, a frame digest or a blob."""
    voice = Voice(quiet=quiet, verbose=verbose, as_json=as_json)
    return looking.cache_explain(voice, start, key)
