"""What a kind of edit is, and what every file of them needs: a case, the table, random picks."""

from __future__ import annotations

import re

from mutation_text import Document

from nfbuild.dataclasses import dataclass, field, replace

KINDS = {}
NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?')
TEXTUAL = ("text", "tspan")
COLOURS = ("#fff", "#204060", "red", "#00ff00", "rgb(10,200,30)", "none", "orange", "#abc")


@dataclass(frozen=True)
class Case:
    """A project: its files, which composition is meant, faces, configuration and toolchain.

    `frames` are the frame numbers that are looked at, None for all. `faces` and `toolchain` name
    variants that the bench has made. `still` says that bare ThorVG can draw the author's bytes.
    """

    files: dict = field(repr=False)
    main: str = "compositions/case.nf.svg"
    frames: tuple | None = None
    faces: str = "plain"
    fonts: tuple = ("Fallback", "Body", "Strong")
    extra: str = ""
    toolchain: str = ""
    still: bool = False
    lottie: bool = False
    name: str = ""

    def with_file(self, path, data):
        return replace(self, files={**self.files, path: data})


@dataclass(frozen=True)
class Kind:
    """`tight`: pixels should stay and so should keys; `declared`: the key must always move."""

    name: str
    edit: object
    tight: bool = False
    declared: bool = False


def kind(name, *, tight=False, declared=False):
    def keep(function):
        KINDS[name] = Kind(name, function, tight, declared)
        return function

    return keep


def of_document(function):
    """Turn an edit of a `Document` into one of the composition's own file."""

    def edit(rng, case):
        if case.lottie:
            return None
        document = Document(case.files[case.main])
        if function(rng, document) is False:
            return None
        return case.with_file(case.main, document.bytes())

    return edit


def doc_kind(name, **options):
    def keep(function):
        kind(name, **options)(of_document(function))
        return function

    return keep


# --- helpers ------------------------------------------------------------------------------------


def pick(rng, found):
    return rng.choice(found) if found else None


def drawn_tags(document):
    return [t for t in document.tags()[1:] if t.name not in ("script", "style", "title", "desc")]


def attribute_of(rng, document, wanted, *, names=None):
    """Return a random (tag, attribute) that `wanted` takes."""
    found = [
        (tag, one)
        for tag in drawn_tags(document)
        for one in tag.attributes
        if wanted(one[1]) and (names is None or one[0] in names) and not one[0].startswith("xmlns")
    ]
    return pick(rng, found)


def insert_child(rng, document, text, *, nested=False):
    """Put an element's text before a random drawn child of the root, or at the root's end."""
    spots = [
        first
        for first, _, parents in document.elements()
        if (len(parents) == 1 or (nested and parents))
        and not document.inside(first, "text", "defs", "script", "style", "clipPath", "mask")
        and document.tokens[first][1].name not in ("tspan", "stop")
    ]
    spot = pick(rng, spots)
    if spot is None:
        return False
    document.tokens.insert(spot, ["raw", text])
    return True


def another_number(rng, text):
    value = float(text)
    new = rng.choice(
        [value + 1, value - 1, value * 2, value / 2, value + 0.25, value + 13, -value, value * 1.01]
    )
    return f"{new:.6g}"


def number_moved(rng, text):
    found = list(NUMBER.finditer(text))
    match = pick(rng, found)
    if match is None:
        return None
    return text[: match.start()] + another_number(rng, match[0]) + text[match.end() :]


def edit_value(rng, name, value):
    """Return another value of an attribute: another number, colour, word."""
    if value in COLOURS or value.startswith("#") or name in ("fill", "stroke", "stop-color"):
        return rng.choice([colour for colour in COLOURS if colour != value])
    moved = number_moved(rng, value)
    if moved is not None and rng.random() < 0.9:
        return moved
    return rng.choice([value + "x", "", "none", value + " 1", value[::-1]])
