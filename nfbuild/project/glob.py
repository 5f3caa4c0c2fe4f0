"""Patterns: one path segment, or a whole name, against `*`, `?` and `[...]`.

Own matching instead of `fnmatch`, which imports and compiles regular expressions; a pattern here
never goes exponential, however many stars it has. Case matters on every system.
"""

from __future__ import annotations

_SPECIAL = "*?["


def is_pattern(text: str) -> bool:
    """Tell whether `text` has a character that stands for others."""
    return any(char in text for char in _SPECIAL)


def matches_text(pattern: str, text: str) -> bool:
    """Tell whether the whole `text` is of the form `pattern`; `*` may stand for anything."""
    tokens = _tokens(pattern)
    at = position = 0
    star: int | None = None
    resume = 0
    while position < len(text):
        if at < len(tokens) and tokens[at] == "*":
            star, resume = at, position
            at += 1
        elif at < len(tokens) and _is_one(tokens[at], text[position]):
            at += 1
            position += 1
        elif star is not None:
            # The last star takes one more character; earlier ones never need to move again.
            resume += 1
            at, position = star + 1, resume
        else:
            return False
    return all(token == "*" for token in tokens[at:])  # noqa: S105  a token of a pattern


def _tokens(pattern: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "[":
            # A bracket closed at once, `[]...]`, holds the closing bracket.
            close = pattern.find("]", at + (3 if pattern[at + 1 : at + 2] == "!" else 2))
            end = close + 1 if close > 0 else end
        tokens.append(pattern[at:end])
        at = end
    return tokens


def _is_one(token: str, char: str) -> bool:
    if len(token) == 1:
        return token in ("?", char)
    inner = token[1:-1]
    refused = inner.startswith("!")
    if refused:
        inner = inner[1:]
    held = False
    at = 0
    while at < len(inner):
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            held = held or inner[at] <= char <= inner[at + 2]
            at += 3
        else:
            held = held or inner[at] == char
            at += 1
    return held != refused
