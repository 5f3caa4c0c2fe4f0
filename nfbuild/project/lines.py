"""Where a key stands in a TOML text: `tomllib` gives values without places.

Walks a text that `tomllib` has accepted, so it need not judge, only skip: strings of all four
kinds, comments, nested brackets. Only used when something is wrong.
"""

from __future__ import annotations

from typing import TypeAlias

Key: TypeAlias = "tuple[str | int, ...]"

_QUOTES = "\"'"
# No key of ours is deeper; a name of a thousand parts must not cost a million entries.
_DEPTH = 8


class Lines:
    """All keys, tables and array members of one text with the line each starts on."""

    def __init__(self, text: str) -> None:
        self.found: dict[Key, int] = {}
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._line = 1
        self._counts: dict[Key, int] = {}
        self._walk()

    def line(self, key: Key) -> int | None:
        """Return the line (from 1) on which `key` is set, or the nearest table around it.

        A key is the path to a value: table and key names, and positions in arrays. None when the
        text names nothing of it.
        """
        while key:
            if key in self.found:
                return self.found[key]
            key = key[:-1]
        return None

    def _peek(self, count: int = 1) -> str:
        return self._text[self._at : self._at + count]

    def _step(self, count: int = 1) -> str:
        taken = self._peek(count)
        self._line += taken.count("\n")
        self._at += count
        return taken

    def _skip_blank(self, blanks: str) -> None:
        while char := self._peek():
            if char in blanks:
                self._step()
            elif char == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return

    def _walk(self) -> None:
        table: Key = ()
        while True:
            self._skip_blank(" \t\n")
            if not self._peek():
                return
            line = self._line
            if self._peek() == "[":
                table = self._header(line)
            else:
                key = (*table, *self._dotted())
                self._note(key, line)
                self._skip_blank(" \t")
                self._step()  # "="
                self._skip_blank(" \t")
                self._value(key)

    def _note(self, key: Key, line: int) -> None:
        for length in range(1, min(len(key), _DEPTH) + 1):
            self.found.setdefault(key[:length], line)

    def _header(self, line: int) -> Key:
        many = self._peek(2) == "[["
        self._step(2 if many else 1)
        names = self._dotted()
        self._step(2 if many else 1)
        # A name on the way that is an array of tables means its last member.
        key: Key = ()
        for position, name in enumerate(names):
            key = (*key, name)
            if many and position == len(names) - 1:
                self._counts[key] = self._counts.get(key, -1) + 1
            if key in self._counts:
                self.found.setdefault(key, line)
                key = (*key, self._counts[key])
        self.found[key] = line
        self._note(key, line)
        return key

    def _dotted(self) -> list[str]:
        names: list[str] = []
        while True:
            self._skip_blank(" \t")
            if self._peek() and self._peek() in _QUOTES:
                names.append(self._string())
            else:
                start = self._at
                while self._peek() and self._peek() not in " \t.=]\n":
                    self._step()
                names.append(self._text[start : self._at])
            self._skip_blank(" \t")
            if self._peek() != ".":
                return names
            self._step()

    def _string(self) -> str:
        quote = self._peek()
        if self._peek(3) == quote * 3:
            self._step(3)
            return self._string_until(quote * 3, escapes=quote == '"')
        self._step()
        return self._string_until(quote, escapes=quote == '"')

    def _string_until(self, end: str, *, escapes: bool) -> str:
        start = self._at
        while self._peek() and self._peek(len(end)) != end:
            self._step(2 if escapes and self._peek() == "\\" else 1)
        text = self._text[start : self._at]
        self._step(len(end))
        # Up to two quotes may stand directly before the closing three.
        while len(end) == 3 and self._peek() == end[0]:
            text += self._step()
        return text

    def _value(self, key: Key) -> None:
        opening = self._peek()
        if opening == "[":
            self._step()
            self._members(key)
        elif opening == "{":
            self._step()
            self._fields(key)
        elif opening and opening in _QUOTES:
            self._string()
        else:
            while self._peek() and self._peek() not in ",]}#\n":
                self._step()

    def _members(self, key: Key) -> None:
        position = 0
        while True:
            self._skip_blank(" \t\n,")
            if self._peek() in ("", "]"):
                self._step()
                return
            member = (*key, position)
            self.found.setdefault(member, self._line)
            before = self._at
            self._value(member)
            if self._at == before:  # nothing that a value starts with: never loop
                self._step()
            position += 1

    def _fields(self, key: Key) -> None:
        while True:
            self._skip_blank(" \t\n,")
            if self._peek() in ("", "}"):
                self._step()
                return
            name = (*key, *self._dotted())
            self._note(name, self._line)
            self._skip_blank(" \t")
            self._step()  # "="
            self._skip_blank(" \t")
            self._value(name)
