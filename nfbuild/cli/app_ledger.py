"""The commands below `nfbuild ledger`."""

from __future__ import annotations

from typing import Annotated

from nfbuild.cli import ledger_verbs
from nfbuild.cli.door import Argument, Option, group
from nfbuild.cli.terminal import Voice
from nfbuild.cli.words import Jobs, Json, Names, Quiet, Start, Verbose

ledger_app = group("The committed promise: check, show, accept, prune, import.")


@ledger_app.command("check")
def ledger_check(
    *, start: Start = ".", as_json: Json = False, quiet: Quiet = False, verbose: Verbose = False
) -> int:
    """Check the ledger's shape without drawing: fit for a test suite."""
    voice = Voice(quiet=quiet, verbose=verbose, as_json=as_json)
    return ledger_verbs.ledger_check(voice, start)


@ledger_app.command("show")
def ledger_show(
    names: Names = None,
    *,
    start: Start = ".",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Print which lanes agree on which compositions, and entries by name."""
    voice = Voice(quiet=quiet, verbose=verbose, as_json=as_json)
    return ledger_verbs.ledger_show(voice, start, names or [])


@ledger_app.command("accept")
def ledger_accept(
    names: Names = None,
    *,
    start: Start = ".",
    jobs: Jobs = None,
    reason: Annotated[
        str | None, Option("--reason", metavar="TEXT", help="why; kept in the entry")
    ] = None,
    yes: Annotated[bool, Option("--yes", help="write; without it nothing is")] = False,
    sheet: Annotated[
        str | None, Option("--sheet", metavar="FILE.png", help="before, after, difference")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Take a toolchain change or a regression, with a reason; shows what moved first."""
    voice = Voice(quiet=quiet, verbose=verbose, as_json=as_json)
    return ledger_verbs.ledger_accept(
        voice, start, names or [], jobs=jobs, reason=reason, yes=yes, sheet=sheet
    )


@ledger_app.command("prune")
def ledger_prune(
    *,
    start: Start = ".",
    dry_run: Annotated[bool, Option("--dry-run", help="only say what would go")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Remove entries whose composition is gone."""
    voice = Voice(quiet=quiet, verbose=verbose, as_json=as_json)
    return ledger_verbs.ledger_prune(voice, start, dry_run=dry_run)


@ledger_app.command("import")
def ledger_import(
    file: Annotated[str, Argument(metavar="FILE", help="a nanoframes digests.json")],
    *,
    start: Start = ".",
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Draw what a nanoframes ledger names; write entries for what agrees."""
    voice = Voice(quiet=quiet, verbose=verbose, as_json=as_json)
    return ledger_verbs.ledger_import(voice, start, file, jobs=jobs)
