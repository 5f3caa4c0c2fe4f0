"""Identities that are broken on purpose: the engine must catch every one of them.

A control makes a `Film` of what the program made, with id and keys as a careless program would
have them, or patches the program and identifies again. It is judged by the same rule and on the
same drawings as the real identity.
"""

import contextlib
import re
import time

from nfbuild.dataclasses import replace
from nfbuild.digests import derive, file_digest
from nfbuild.identity.manifest import Part, composition_id

CONTROLS = {}
_DIGEST = re.compile(rb"[0-9a-f]{64}")


class Control:
    """One broken identity; `caught` says by which mutation, `tried` how many it looked at."""

    def __init__(self, name, kinds, broken):
        self.name = name
        self.kinds = kinds
        self.broken = broken
        self.caught = None
        self.tried = 0

    def look(self, run, one):
        if self.caught is not None or (self.kinds and one.kind not in self.kinds):
            return
        self.tried += 1
        before = self.broken(run.bench, one.case_before, one.before)
        after = self.broken(run.bench, one.case_after, one.after)
        found = run.unsound(one, before, after)
        if not found:
            again = self.broken(run.bench, one.case_after, one.after)
            if (again.id, again.keys) != (after.id, after.keys):
                found = [f"{one.seed}: the same input has another identity the second time"]
        if found:
            self.caught = found[0]


def control(name, *kinds):
    def keep(function):
        CONTROLS[name] = (kinds, function)
        return function

    return keep


def controls():
    """Return fresh controls."""
    return [Control(name, kinds, function) for name, (kinds, function) in CONTROLS.items()]


def keyed(film, key):
    """Return the film with keys made by `key` from what the worker is given."""
    return replace(film, keys=tuple(key(task) for task in film.tasks))


def _plain_key(task, document=None, *, pictures=True, faces=True):
    return derive(
        "nfbuild 2026 test key v1",
        task.document if document is None else document,
        [task.width, task.height],
        list(task.pictures) if pictures else None,
        list(task.faces) if faces else None,
        repr(task.lottie),
    )


def without(film, part, keep=lambda name: False):
    """Return the id over a part from which sub-inputs are left out."""
    digests = film.identity.digests()
    inputs = {k: v for k, v in film.identity.part(part).inputs.items() if keep(k)}
    return composition_id({**digests, part: Part(part, inputs).digest})


@control("ignores fonts", "face content", "family")
def _fonts(bench, case, film):
    def key(task):
        document = task.document
        for face in task.faces:
            document = document.replace(face.encode(), b"")
        return _plain_key(task, document, faces=False)

    return replace(keyed(film, key), id=without(film, "fonts"))


@control("ignores which face a text means", "configured faces")
def _meant(bench, case, film):
    return replace(film, id=without(film, "source", lambda name: name != "faces"))


@control("ignores tails", "tail", "tail added", "text boundary")
def _tails(bench, case, film):
    from nfbuild.scene import xml

    def flush(reader):
        if reader.pieces and not reader.open[-1].children:
            reader.open[-1].text += "".join(reader.pieces)
        reader.pieces.clear()

    return _patched(bench, case, (xml._Reader, "flush", flush))


@control("ignores sibling order", "sibling order", "element doubled")
def _order(bench, case, film):
    def key(task):
        return _plain_key(task, b"".join(sorted(re.split(rb"(?=<)", task.document))))

    values = sorted(v for k, v in film.identity.source.inputs.items() if not k.endswith("order"))
    return replace(keyed(film, key), id=derive("nfbuild 2026 test id v1", values))


@control("truncates media", "media content", "media exchanged")
def _truncated(bench, case, film):
    from nfbuild.ops.run import inputs

    def digest(data):
        return file_digest(data[:33] if data[:4] == b"\x89PNG" else data)

    return _patched(bench, case, (inputs, "file_digest", digest))


@control("joins fields without lengths", "attribute swallowed", "text boundary")
def _joined(bench, case, film):
    from nfbuild import digests

    def encode(value):
        if isinstance(value, bytes):
            return value
        if isinstance(value, (list, tuple)):
            return b"".join(encode(item) for item in value)
        return str(value).encode()

    return _patched(bench, case, (digests, "encode", encode))


@control("takes the clock")
def _clock(bench, case, film):
    now = str(time.perf_counter_ns())
    return keyed(film, lambda task: _plain_key(task, task.document + now.encode()))


@control("names pictures, not their content", "media content")
def _named(bench, case, film):
    return keyed(
        film, lambda task: _plain_key(task, _DIGEST.sub(b"", task.document), pictures=False)
    )


@control("knows a list of attributes", "attribute value", "attribute removed", "attribute added")
def _listed(bench, case, film):
    unknown = re.compile(rb' (?:stroke-width|stroke|fill-opacity|opacity|font-size|r|y|cy)="[^"]*"')
    return keyed(film, lambda task: _plain_key(task, unknown.sub(b"", task.document)))


@control("rounds numbers", "attribute value", "timeline number", "definition in use")
def _rounded(bench, case, film):
    fraction = re.compile(rb"(?<=[0-9])\.[0-9]+")
    return keyed(film, lambda task: _plain_key(task, fraction.sub(b"", task.document)))


@control("ignores the timeline", "timeline number", "timeline name", "timeline shape")
def _still(bench, case, film):
    return replace(film, id=without(film, "source", lambda name: not name.startswith("timeline")))


@control("ignores nested files", "child composition")
def _alone(bench, case, film):
    return replace(film, id=without(film, "source", lambda name: not name.startswith("child")))


@control("ignores the toolchain", "library bytes", "core bytes")
def _any_tool(bench, case, film):
    return replace(keyed(film, _plain_key), id=without(film, "toolchain"))


@control("ignores the instant of a scene", "scene number", "scene order")
def _instant(bench, case, film):
    return keyed(
        film, lambda task: derive("nfbuild 2026 test key v1", task.document[:60], task.width)
    )


@contextlib.contextmanager
def _replaced(owner, name, value):
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _patched(bench, case, patch):
    with _replaced(*patch):
        return bench.again(case)
