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

_INTERRUPTED = 130  # `errors.EXIT_INTERRUPTED`, before anything is imported
_READER_GONE = 141  # what a shell calls a program that SIGPIPE ended

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
    try:
        code = _run(arrange(sys.argv[1:]))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output went away (`nfbuild status | head`): no error, and no more words.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _READER_GONE
    _leave(code)


def _run(words: list[str]) -> int:
    plain = _plain_build(words)
    if plain is not None:
        code = _nothing(plain)
        if code is not None:
            return code
    from nfbuild import core  # noqa: PLC0415  before anything that it speaks of

    core.install()
    if plain is not None:
        from nfbuild.cli.terminal import Voice  # noqa: PLC0415  Typer is not needed here either
        from nfbuild.cli.verbs import build  # noqa: PLC0415

        voice = Voice(quiet=plain.quiet, verbose=plain.verbose, as_json=plain.as_json)
        return build(voice, plain.start, [])
    from nfbuild.cli.app import run  # noqa: PLC0415  Typer takes twice as long as all of the above

    return run(words)


class _PlainBuild:
    """A build of everything with no option that changes what is built."""

    def __init__(self) -> None:
        self.start = "."
        self.quiet = self.as_json = self.verbose = False


def _plain_build(words: list[str]) -> _PlainBuild | None:
    """Return what the words ask for when they are that simple, else None."""
    if words[0] != "build":
        return None
    plain = _PlainBuild()
    rest = iter(words[1:])
    for word in rest:
        if word == "-C":
            plain.start = next(rest, "")
        elif word in ("-q", "--quiet"):
            plain.quiet = True
        elif word == "--json":
            plain.as_json = True
        elif word in ("-v", "--verbose"):
            plain.verbose = True
        else:
            return None
    return plain if plain.start else None


def _nothing(plain: _PlainBuild) -> int | None:
    """Answer a build that has nothing to do; None where everything must be looked at."""
    from nfbuild.ops.nothing import nothing_to_do  # noqa: PLC0415  only a plain build is quick

    done = nothing_to_do(plain.start)
    if done is None:
        return None
    from nfbuild.cli.plain import print_nothing  # noqa: PLC0415

    return print_nothing(done, quiet=plain.quiet, as_json=plain.as_json, verbose=plain.verbose)


def _leave(code: int) -> None:
    # The same at the interpreter's own flush at its exit, which would print an error.
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
