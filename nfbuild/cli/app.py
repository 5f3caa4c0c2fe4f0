"""The commands and their options, as Typer reads them; each calls one operation.

Every command takes `-C DIR`, `-q` and `-v`; `entry.arrange` moves them behind the command's name.
Not here: what an operation does (`ops`), how its events and its report are printed (`terminal`).
"""

from __future__ import annotations

import copy
import os
from typing import Annotated

from nfbuild import __version__
from nfbuild.cli import explaining, looking, proof_verbs, telling, verbs
from nfbuild.cli.app_cache import cache_app
from nfbuild.cli.app_ledger import ledger_app
from nfbuild.cli.door import PLAIN, Abort, Argument, Exit, Option, Typer, get_command
from nfbuild.cli.terminal import Voice
from nfbuild.cli.words import Jobs, Json, Name, Names, Quiet, Scale, Seed, Start, Verbose
from nfbuild.errors import EXIT_INTERRUPTED, EXIT_USAGE

_HELP = {"help_option_names": ["--help", "-h"]}

app = Typer(
    name="nfbuild",
    help="Build animated compositions: every frame once, and a ledger that anybody can falsify.",
    add_completion=False,
    no_args_is_help=True,
    context_settings=_HELP,
    **PLAIN,
)
app.add_typer(ledger_app, name="ledger", no_args_is_help=True)
app.add_typer(cache_app, name="cache", no_args_is_help=True)


def run(words: list[str]) -> int:
    """Run the command line `words`; returns the exit code."""
    command = get_command(_only(words[0]) if words else app)
    try:
        result = command.main(args=words, prog_name="nfbuild", standalone_mode=False)
    except Exit as done:
        return done.exit_code
    except Abort:
        return EXIT_INTERRUPTED
    except KeyboardInterrupt:
        return telling.interrupted()
    except Exception as error:
        if _is_usage(error):
            telling.say_usage(error)
            return EXIT_USAGE
        raise
    return result if isinstance(result, int) else 0


def _only(name: str) -> Typer:
    """Return the program with the one command of that name, or with all where there is none.

    Typer reads the parameters of every command that it is given, which takes 20 ms for all.
    """
    commands = [
        one
        for one in app.registered_commands
        if one.callback is not None and name == (one.name or one.callback.__name__)
    ]
    groups = [one for one in app.registered_groups if one.name == name]
    if not commands and not groups:
        return app
    narrowed = copy.copy(app)
    narrowed.registered_commands, narrowed.registered_groups = commands, groups
    return narrowed


def _is_usage(error: Exception) -> bool:
    # Click's own class, without importing click past Typer's door.
    return any(kind.__name__ == "ClickException" for kind in type(error).__mro__)


@app.callback(invoke_without_command=True)
def _top(
    *,
    version: Annotated[
        bool, Option("--version", help="print versions and the toolchain by parts")
    ] = False,
) -> None:
    if version:
        raise Exit(verbs.version(__version__))


@app.command()
def init(
    folder: Annotated[str, Argument(metavar="DIR", help="the folder of the new project")],
    *,
    start: Start = ".",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Make a project with one composition and a PNG export that builds."""
    return verbs.init(os.path.join(start, folder), Voice(quiet=quiet, verbose=verbose))


@app.command()
def build(
    names: Names = None,
    *,
    start: Start = ".",
    jobs: Jobs = None,
    locked: Annotated[
        bool, Option("--locked", help="write no ledger entry; 1 where one would be")
    ] = False,
    record: Annotated[
        bool, Option("--record", help="write ledger entries even with CI=true")
    ] = False,
    no_cache: Annotated[
        bool, Option("--no-cache", help="read no record and no blob, still write both")
    ] = False,
    recache: Annotated[
        bool, Option("--recache", help="draw afresh and replace what differs upstream")
    ] = False,
    rehash: Annotated[bool, Option("--rehash", help="read every input, trust no stat")] = False,
    scale: Scale = "1",
    frames: Annotated[
        str | None, Option("--range", metavar="A:B", help="only these frames, or a marker")
    ] = None,
    export: Annotated[
        list[str] | None, Option("--export", metavar="FORMAT", help="also make this film")
    ] = None,
    graph: Annotated[
        str | None, Option("--graph", metavar="FILE", help="write the build graph")
    ] = None,
    audit: Annotated[
        str | None, Option("--audit", metavar="SHARE", help="draw this share of reused again")
    ] = None,
    require_shared: Annotated[
        bool, Option("--require-shared", help="trouble with a shared tier is exit 4")
    ] = False,
    no_reuse: Annotated[
        bool, Option("--no-reuse", help="draw every frame whole, keep no raster")
    ] = False,
    profile: Annotated[
        str | None, Option("--profile", metavar="FILE", help="write a Chrome trace")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Render what moved, and write ledger entries (the default command)."""
    return verbs.build(
        Voice(quiet=quiet, verbose=verbose, as_json=as_json),
        start,
        names or [],
        jobs=jobs,
        locked=locked,
        record=record,
        no_cache=no_cache,
        recache=recache,
        rehash=rehash,
        scale=scale,
        frames=frames,
        export=export or [],
        graph=graph,
        audit=audit,
        require_shared=require_shared,
        reuse=not no_reuse,
        profile=profile,
        seed=seed,
    )


@app.command()
def status(
    names: Names = None,
    *,
    start: Start = ".",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Say what build would do and why; writes nothing."""
    return verbs.status(Voice(quiet=quiet, verbose=verbose, as_json=as_json), start, names or [])


@app.command()
def verify(
    names: Names = None,
    *,
    start: Start = ".",
    jobs: Jobs = None,
    samples: Annotated[
        int | None, Option("--samples", min=1, help="draw only a seeded sample of N frames")
    ] = None,
    seed: Seed = 0,
    every: Annotated[
        bool, Option("--every", help="draw every frame, not only the distinct ones")
    ] = False,
    report: Annotated[
        str | None, Option("--report", metavar="FILE.html", help="write a report to look at")
    ] = None,
    junit: Annotated[
        str | None, Option("--junit", metavar="FILE.xml", help="write JUnit XML")
    ] = None,
    fail_on: Annotated[
        str, Option("--fail-on", metavar="changed|regression", help="what is a failure")
    ] = "changed",
    github: Annotated[
        bool | None, Option("--github/--no-github", help="GitHub annotations and summary")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Draw everything afresh and compare it with the ledger: the gate."""
    return verbs.verify(
        Voice(quiet=quiet, verbose=verbose, as_json=as_json),
        start,
        names or [],
        jobs=jobs,
        samples=samples,
        seed=seed,
        every=every,
        report=report,
        junit=junit,
        fail_on=fail_on,
        github=github,
    )


@app.command()
def explain(
    name: Annotated[str, Argument(metavar="NAME", help="a name, or two graphs' files")],
    other: Annotated[str | None, Argument(metavar="[OTHER]", show_default=False)] = None,
    *,
    start: Start = ".",
    frame: Annotated[int | None, Option("--frame", metavar="I", help="one frame")] = None,
    since: Annotated[
        str | None, Option("--since", metavar="REV", help="which commit moved the picture")
    ] = None,
    revision: Annotated[
        str | None, Option("--between", metavar="REV:[REV]", help="two ledger states")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Say why it would be rendered, or why it moved."""
    return explaining.explain(
        Voice(quiet=quiet, verbose=verbose, as_json=as_json),
        start,
        name,
        other=other,
        frame=frame,
        since=since,
        between=revision,
    )


@app.command()
def digest(
    name: Name,
    *,
    start: Start = ".",
    jobs: Jobs = None,
    algorithm: Annotated[
        str, Option("--algorithm", metavar="blake3|sha256", help="sha256 is the peer's")
    ] = "blake3",
    samples: Annotated[int | None, Option("--samples", min=1, help="only N frames")] = None,
    seed: Seed = 0,
    record: Annotated[
        bool, Option("--record", help="write the ledger entry if the table allows")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Print a fresh sequence digest."""
    return verbs.digest(
        Voice(quiet=quiet, verbose=verbose, as_json=as_json),
        start,
        name,
        jobs=jobs,
        algorithm=algorithm,
        samples=samples,
        seed=seed,
        record=record,
    )


@app.command()
def frame(
    name: Name,
    number: Annotated[int | None, Argument(metavar="[I]", help="the frame number")] = None,
    *,
    start: Start = ".",
    at: Annotated[str | None, Option("--at", metavar="TIME", help="as 2.5s")] = None,
    output: Annotated[str | None, Option("-o", metavar="FILE.png", help="where to")] = None,
    svg: Annotated[bool, Option("--svg", help="the baked frame as a standalone SVG")] = False,
    open_it: Annotated[bool, Option("--open", help="show it")] = False,
    scale: Scale = "1",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Write one frame as PNG, or as the SVG that is drawn."""
    return verbs.frame(
        Voice(quiet=quiet, verbose=verbose),
        start,
        name,
        number=number,
        at=at,
        output=output,
        svg=svg,
        open_it=open_it,
        scale=scale,
    )


@app.command()
def graph(
    names: Names = None,
    *,
    start: Start = ".",
    source: Annotated[
        str | None, Option("--from", metavar="FILE", help="read it from a file")
    ] = None,
    form: Annotated[str, Option("--format", metavar="text|json|dot", help="form")] = "text",
    reaching: Annotated[
        str | None, Option("--uses", metavar="FILE", help="compositions that FILE would move")
    ] = None,
    frames: Annotated[
        str | None, Option("--frames", metavar="NAME", help="frames of one composition")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Print the build graph: what a build made of what."""
    return proof_verbs.graph(
        Voice(quiet=quiet, verbose=verbose, as_json=as_json),
        start,
        names or [],
        source=source,
        form=form,
        reaching=reaching,
        frames=frames,
    )


@app.command()
def reproduce(
    names: Names = None,
    *,
    start: Start = ".",
    jobs: Annotated[
        str, Option("-j", "--jobs", metavar="LIST", help="worker counts")
    ] = "1,2,4,8,max",
    seed: Annotated[int, Option("--seed", metavar="S", help="seed of the matrix")] = 20260701,
    rounds: Annotated[int, Option("--rounds", min=1, help="dispatch orders a count")] = 3,
    certify: Annotated[
        str | None, Option("--certify", metavar="FILE", help="write what was shown")
    ] = None,
    against: Annotated[
        str | None, Option("--against", metavar="FILE", help="compare with a certificate")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Prove that worker counts, orders and surroundings change no byte of what is made."""
    return proof_verbs.reproduce(
        Voice(quiet=quiet, verbose=verbose, as_json=as_json),
        start,
        names or [],
        jobs=jobs,
        seed=seed,
        rounds=rounds,
        certify=certify,
        against=against,
    )


@app.command()
def doctor(
    *,
    start: Start = ".",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Say whether this machine can build, with what, and where its caches are."""
    return verbs.doctor(Voice(quiet=quiet, verbose=verbose, as_json=as_json), start)


@app.command()
def check(
    names: Names = None,
    *,
    start: Start = ".",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Find authoring mistakes: what would draw nothing or draw wrong."""
    return looking.check(Voice(quiet=quiet, verbose=verbose, as_json=as_json), start, names or [])


@app.command()
def sheet(
    name: Name,
    *,
    start: Start = ".",
    cells: Annotated[int, Option("-n", "--cells", min=1, help="how many frames")] = 12,
    onion: Annotated[
        int | None, Option("--onion", metavar="I", help="frame I under its neighbours")
    ] = None,
    output: Annotated[str | None, Option("-o", metavar="FILE.png", help="where to")] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Write a contact sheet, or an onion skin of one frame."""
    return looking.sheet(
        Voice(quiet=quiet, verbose=verbose), start, name, cells=cells, onion=onion, output=output
    )
