"""The program `nfbuild`: the shortest way to an answer.

A bare build with nothing to do is the command people run most; it is answered from the state file
before Typer is imported (which alone takes twice as long as everything here).
Not here: options and commands (`app`).
"""

from __future__ import annotations

import atexit
import os
import sys

from nfbuild.cli.simple import Simple, read_simple
from nfbuild.cli.streams import exit_code, steady

COMMANDS = frozenset(
    {
        "init", "build", "status", "verify", "explain", "digest", "frame", "reproduce", "graph",
        "ledger", "cache", "check", "doctor", "sheet",
    }
)  # fmt: skip

_INTERRUPTED = 130  # `errors.EXIT_INTERRUPTED`, before anything is imported

_WITH_VALUE = ("-C",)
_PLAIN = ("-q", "-v", "--quiet", "--verbose")


def arrange(words: list[str]) -> list[str]:
    """Return the words of the command line with the command first.

    Options that every command has (`-C DIR`, `-q`, `-v`) may stand before it, and no command at
    all means `build`.
    """
    ahead: list[str] = []
    rest = list(words)
    while rest:
        if rest[0] in _WITH_VALUE and len(rest) > 1:
            ahead += [rest.pop(0), rest.pop(0)]
        elif rest[0] in _PLAIN:
            ahead.append(rest.pop(0))
        else:
            break
    if rest and (rest[0] in COMMANDS or rest[0] in ("--help", "--version", "-h")):
        head = ["--help"] if rest[0] == "-h" else [rest[0]]
        return [*head, *ahead, *rest[1:]]
    if rest and not rest[0].startswith("-"):
        return [*rest[:1], *ahead, *rest[1:]]
    return ["build", *ahead, *rest]


def main() -> None:
    """Run the program and exit with its code."""
    out = steady()
    try:
        code = _run(arrange(sys.argv[1:]))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    _leave(exit_code(out, code))


def _run(words: list[str]) -> int:
    simple = read_simple(words)
    if simple is not None and simple.is_bare:
        code = _nothing(simple)
        if code is not None:
            return code
    from nfbuild import core  # noqa: PLC0415  before anything that it speaks of

    core.install()
    if simple is not None:
        return _run_simple(simple)
    from nfbuild.cli.app import run  # noqa: PLC0415  Typer takes twice as long as all of the above

    return run(words)


def _run_simple(asked: Simple) -> int:
    from nfbuild.execute import ahead  # noqa: PLC0415  not for a build that has nothing to do

    ahead.boot(ahead.cores(), ahead.DRAWING)
    from nfbuild.cli import verbs  # noqa: PLC0415  as above
    from nfbuild.cli.terminal import Voice  # noqa: PLC0415  as above

    voice = Voice(quiet=asked.quiet, verbose=asked.verbose, as_json=asked.as_json)
    if asked.command == "verify":
        return verbs.verify(voice, asked.start, asked.names)
    scale = {} if asked.scale is None else {"scale": asked.scale}
    return verbs.build(voice, asked.start, asked.names, **scale)


def _nothing(asked: Simple) -> int | None:
    """Answer a build that has nothing to do; None where everything must be looked at."""
    from nfbuild.ops.nothing import nothing_to_do  # noqa: PLC0415  only a plain build is quick

    done = nothing_to_do(asked.start)
    if done is None:
        return None
    from nfbuild.cli.plain import print_nothing  # noqa: PLC0415

    return print_nothing(done, quiet=asked.quiet, as_json=asked.as_json, verbose=asked.verbose)


def _leave(code: int) -> None:
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        sys.exit(code)  # which waits for those that must be waited for
    # Taking the interpreter apart takes 3 ms of a null build's 26 and up to 20 after a large one,
    # to free what the system frees at once.
    atexit._run_exitfuncs()  # noqa: SLF001  there is no public way to leave as it does
    os._exit(code)
