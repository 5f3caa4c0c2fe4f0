"""A document as tokens that join to exactly its bytes: what the edits of the mutation engine cut.

Shares nothing with the parser under test. Reads well-formed XML as the compositions of the tests
write it; whatever it does not understand stays a raw token.
"""

import re

_TOKEN = re.compile(
    r"(?P<raw><!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!DOCTYPE(?:[^\[>]|\[.*?\])*>)"
    r"|(?P<close></[^>]*>)"
    r"|(?P<open><[^\s/>!?]+(?:[^>\"']|\"[^\"]*\"|'[^']*')*>)"
    r"|(?P<text>[^<]+)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s=/]+)\s*=\s*(\"[^\"]*\"|'[^']*')")


class Tag:
    """A start tag or an empty element; `attributes` are [name, value] as written."""

    def __init__(self, text):
        self.empty = text.endswith("/>")
        inner = text[1 : -2 if self.empty else -1]
        self.name = re.match(r"[^\s]+", inner)[0]
        rest = inner[len(self.name) :]
        self.attributes = [[m[1], m[2][1:-1], m[2][0]] for m in _ATTRIBUTE.finditer(rest)]
        self.gap = " "
        self.before_end = ""

    def get(self, name):
        for attribute in self.attributes:
            if attribute[0] == name:
                return attribute[1]
        return None

    def put(self, name, value):
        for attribute in self.attributes:
            if attribute[0] == name:
                attribute[1] = value
                return
        self.attributes.append([name, value, '"'])

    def drop(self, name):
        self.attributes = [one for one in self.attributes if one[0] != name]

    def __str__(self):
        written = "".join(f"{self.gap}{n}={q}{v}{q}" for n, v, q in self.attributes)
        return f"<{self.name}{written}{self.before_end}{'/' if self.empty else ''}>"


class Document:
    """Tokens: [kind, value]; kind is raw, open, close or text; an open one's value is a Tag."""

    def __init__(self, data):
        text = data.decode()
        self.tokens = []
        at = 0
        for match in _TOKEN.finditer(text):
            if match.start() != at:
                self.tokens.append(["raw", text[at : match.start()]])
            kind = match.lastgroup
            self.tokens.append([kind, Tag(match[0]) if kind == "open" else match[0]])
            at = match.end()
        if at != len(text):
            self.tokens.append(["raw", text[at:]])

    def bytes(self):
        return "".join(str(value) for _, value in self.tokens).encode()

    def elements(self):
        """Return (first token, last token, depth, parents' tokens) of every element."""
        found, stack = [], []
        for index, (kind, value) in enumerate(self.tokens):
            if kind == "open":
                if value.empty:
                    found.append((index, index, tuple(stack)))
                else:
                    stack.append(index)
            elif kind == "close" and stack:
                first = stack.pop()
                found.append((first, index, tuple(stack)))
        return sorted(found)

    def tags(self):
        return [value for kind, value in self.tokens if kind == "open"]

    def root(self):
        return self.tags()[0]

    def inside(self, index, *names):
        """Tell whether a token stands in an element of one of these names."""
        open_names = []
        for kind, value in self.tokens[:index]:
            if kind == "open" and not value.empty:
                open_names.append(value.name)
            elif kind == "close" and open_names:
                open_names.pop()
        return any(name in names for name in open_names)

    def script(self):
        """Return the index of the token that holds the timeline's JSON, or None."""
        for index, (kind, value) in enumerate(self.tokens):
            if kind == "open" and value.name == "script" and not value.empty:
                for later in range(index + 1, len(self.tokens)):
                    found, text = self.tokens[later]
                    if found in ("raw", "text") and "animations" in text:
                        return later
                    if found == "close":
                        return None
        return None

    def json(self):
        """Return the timeline's JSON text and a function that puts another one in its place."""
        index = self.script()
        if index is None:
            return None, None
        text = self.tokens[index][1]
        head, tail = "", ""
        if text.startswith("<![CDATA["):
            head, text, tail = text[:9], text[9:-3], text[-3:]

        def put(new):
            self.tokens[index][1] = head + new + tail

        return text, put
