"""How every command speaks: errors into text and exit codes, verdicts and reasons into lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from nfbuild.cli.plain import put_json, say, spoken
from nfbuild.cli.terminal import Voice
from nfbuild.errors import EXIT_INTERRUPTED, NfbuildError

P = ParamSpec("P")


def speaking(verb: Callable[P, int]) -> Callable[P, int]:
    """Turn an error that ends the whole command into its text and its exit code."""

    @wraps(verb)
    def speak(*args: P.args, **kwargs: P.kwargs) -> int:
        voice = next((arg for arg in args if isinstance(arg, Voice)), Voice())
        try:
            return verb(*args, **kwargs)
        except NfbuildError as error:
            return _say_error(error, verb.__name__.replace("_", "-"), voice)
        except KeyboardInterrupt:
            return interrupted()

    return speak


def _say_error(error: NfbuildError, verb: str, voice: Voice) -> int:
    place = error.place
    file = None if place is None else place.file
    line = None if place is None else place.line
    say("error: " + spoken(error.message, file, line, error.hint))
    if voice.as_json:
        row = {
            "code": error.code,
            "composition": None,
            "file": file,
            "line": line,
            "message": error.message,
            "hint": error.hint,
        }
        put_json(
            {
                "schema": f"nfbuild.{verb}/1",
                "ok": False,
                "compositions": [],
                "errors": [row],
                "warnings": [],
            }
        )
    return error.exit_code


def say_usage(error: Exception) -> None:
    """Say what is wrong with the command line."""
    say(f"error: {getattr(error, 'message', None) or error}")
    say("hint: `nfbuild --help` lists the commands, `nfbuild COMMAND --help` their options")


def interrupted() -> int:
    """Say that the user ended it."""
    say("interrupted")
    return EXIT_INTERRUPTED


def describe(name: str, verdict: str, moved: list[tuple[int, int]], frames: int) -> str:
    """Return the first line about a composition: its verdict and which frames moved."""
    count = sum(last - first + 1 for first, last in moved)
    if not count:
        return f"`{name}` {verdict}"
    shown = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in moved[:8])
    more = f" and {len(moved) - 8} more ranges" if len(moved) > 8 else ""
    return f"`{name}` {verdict}: {count} of {frames} frames ({shown}{more})"


def reason_lines(reasons: list[dict[str, Any]], most: int = 12) -> list[str]:
    """Return the reasons as lines, the first `most` of them."""
    lines = [_reason_line(reason) for reason in reasons[:most]]
    if len(reasons) > most:
        lines.append(f"and {len(reasons) - most} more")
    return lines


def _reason_line(reason: dict[str, Any]) -> str:
    before, after = reason["before"], reason["after"]
    what = f"{reason['part']}: {reason['what']}"
    if reason["file"]:
        line = "" if reason["line"] is None else f":{reason['line']}"
        what += f" ({reason['file']}{line})"
    if before is None:
        return f"{what} appeared"
    if after is None:
        return f"{what} went"
    return f"{what} {_short(before)} → {_short(after)}"


def _short(value: str) -> str:
    _name, colon, rest = value.partition(":")
    if colon and len(rest) == 64:
        return f"{rest[:12]}…"
    return value if len(value) < 60 else f"{value[:57]}…"
