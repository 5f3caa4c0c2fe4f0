"""The program `nfbuild`: the shortest way to an answer.

A bare build with nothing to do is the command people run most; it is answered from the state file
before Typer is imported (which alone takes twice as long as everything here).
Not here: options and commands (`app`).
"""

from __future__ import annotations

import os
import sys

COMMANDS = frozenset(
    {
        "init", "build", "status", "verify", "explain", "digest", "frame", "reproduce", "graph",
        "ledger", "cache", "check", "doctor", "sheet",
    }
)  # fmt: skip

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
    words = arrange(sys.argv[1:])
    code = _quick(words)
    if code is None:
        from nfbuild import core  # noqa: PLC0415  before anything that it speaks of

        core.install()
        from nfbuild.cli.app import run  # noqa: PLC0415  Typer is not needed above

        code = run(words)
    _leave(code)


def _quick(words: list[str]) -> int | None:
    """Answer a build that has nothing to do; None where everything must be looked at."""
    if words[0] != "build":
        return None
    start, quiet, as_json, verbose = ".", False, False, False
    rest = iter(words[1:])
    for word in rest:
        if word == "-C":
            start = next(rest, ".")
        elif word in ("-q", "--quiet"):
            quiet = True
        elif word == "--json":
            as_json = True
        elif word in ("-v", "--verbose"):
            verbose = True
        else:
            return None
    from nfbuild.ops.nothing import nothing_to_do  # noqa: PLC0415  only a bare build is quick

    done = nothing_to_do(start)
    if done is None:
        return None
    from nfbuild.cli.plain import print_nothing  # noqa: PLC0415

    return print_nothing(done, quiet=quiet, as_json=as_json, verbose=verbose)


def _leave(code: int) -> None:
    # A reader that went away (`nfbuild | head`) is no error of ours: the flush at interpreter exit
    # would print one.
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
