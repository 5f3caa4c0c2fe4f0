"""Where an input stands: from a reason's stable path to a file and a line.

A ledger knows names, no lines; the present file knows both. What went from a file has no line any
more and is placed at the file.
Not here: which inputs moved (`ledger`), what the names are made of (`scene.inputs`).
"""

from __future__ import annotations

import re

from nfbuild.dataclasses import replace
from nfbuild.errors import CompositionError, Place
from nfbuild.identity.manifest import Reason
from nfbuild.ops.run.inputs import ProjectFiles
from nfbuild.scene.timeline import scripts
from nfbuild.scene.tree import Element
from nfbuild.scene.xml import parse

_CHILD = re.compile(r"child (?P<path>.+?): (?P<rest>.+)", re.DOTALL)
_NUMBERED = re.compile(r"(?P<name>.+?)\[(?P<number>\d+)\]", re.DOTALL)


class Places:
    """Places inputs of one composition; each file is parsed once, and only when asked for."""

    def __init__(self, files: ProjectFiles, source: str) -> None:
        self._files = files
        self._source = source
        self._roots: dict[str, Element | None] = {}

    def placed(self, reason: Reason) -> Reason:
        """Return the reason with file and line, as far as they are known."""
        if reason.file is not None:
            return reason
        if reason.part == "source":
            path, name = self._source, reason.what
            child = _CHILD.fullmatch(name)
            if child is not None:
                path, name = child["path"], child["rest"]
            return replace(reason, file=path, line=self._line(path, name))
        if reason.part == "media":
            return replace(reason, file=reason.what)
        return reason

    def _line(self, path: str, name: str) -> int | None:
        root = self._root(path)
        if root is None:
            return None
        if name in ("canvas", "rate", "duration", "order"):
            return root.line
        if name.startswith("timeline "):
            return _in_timeline(root, name.removeprefix("timeline "))
        if name.startswith("#"):
            return next((one.line for one in root.children if one.get("id") == name[1:]), None)
        numbered = _NUMBERED.fullmatch(name)
        tag, number = (name, 1) if numbered is None else (numbered["name"], int(numbered["number"]))
        lines = [one.line for one in root.children if one.tag == tag]
        return lines[number - 1] if number <= len(lines) else None

    def _root(self, path: str) -> Element | None:
        if path not in self._roots:
            self._roots[path] = None
            if path.endswith(".svg"):
                try:
                    data = self._files.read(path, place=Place(path)).data
                    self._roots[path] = parse(data, path)
                except CompositionError:
                    pass  # it was read a moment ago: then the file alone is the place
        return self._roots[path]


def _in_timeline(root: Element, target: str) -> int | None:
    numbered = _NUMBERED.fullmatch(target)
    number = 1
    if numbered is not None:
        target, number = numbered["name"], int(numbered["number"])
    written = re.compile(r'"target"\s*:\s*' + re.escape(f'"{target}"'))
    seen = 0
    for script in scripts(root):
        for found in written.finditer(script.text):
            seen += 1
            if seen == number:
                return script.line + script.text.count("\n", 0, found.start())
    return None
