"""Edits of every kind of input: each takes a case and a seeded generator and returns another case.

`KINDS` maps a kind's name to its `Kind`. A kind that finds nothing to edit returns None. The kinds
marked `tight` write the same picture differently: a key that moves with them costs a drawing.
"""

from __future__ import annotations

import itertools
import json
import re

from mutation_text import Document

from nfbuild.dataclasses import dataclass, field, replace

KINDS = {}
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?')
_TEXTUAL = ("text", "tspan")
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
    found = list(_NUMBER.finditer(text))
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


# --- kinds that write the same picture differently ----------------------------------------------


@doc_kind("unused definition", tight=True)
def _unused(rng, document):
    what = rng.choice(
        [
            '<linearGradient id="unused{n}"><stop offset="0" stop-color="{c}"/></linearGradient>',
            '<clipPath id="unused{n}"><rect width="{n}" height="5"/></clipPath>',
            '<circle id="unused{n}" r="{n}" fill="{c}"/>',
            '<g id="unused{n}"><path d="M0 0L{n} 9"/><rect width="9" height="{n}"/></g>',
            '<filter id="unused{n}"><feGaussianBlur stdDeviation="{n}"/></filter>',
        ]
    ).format(n=rng.randrange(900), c=rng.choice(COLOURS))
    for index, (k, value) in enumerate(document.tokens):
        if k == "open" and value.name == "defs" and not value.empty and rng.random() < 0.7:
            document.tokens.insert(index + 1, ["raw", what])
            return True
    return insert_child(rng, document, f"<defs>{what}</defs>")


@doc_kind("unreferenced id", tight=True)
def _unreferenced(rng, document):
    text = document.bytes().decode()
    free = [
        tag
        for tag in drawn_tags(document)
        if tag.get("id") is None or text.count(tag.get("id")) == 1
    ]
    tag = pick(rng, free)
    if tag is None:
        return False
    if tag.get("id") is not None and rng.random() < 0.4:
        tag.drop("id")
    else:
        tag.put("id", f"nobody{rng.randrange(10**6)}")
    return True


@doc_kind("metadata", tight=True)
def _metadata(rng, document):
    n = rng.randrange(1000)
    way = rng.randrange(6)
    if way == 0:
        document.root().put("data-safe-margin", str(n))
    elif way == 1:
        document.root().put("data-palette-budget", str(n))
    elif way == 2:
        return insert_child(rng, document, f"<!-- note {n} -->", nested=True)
    elif way == 3:
        return insert_child(rng, document, f"<title>film {n}</title>")
    elif way == 4:
        return insert_child(rng, document, f"<metadata><a:b xmlns:a='urn:{n}'/></metadata>")
    else:
        return insert_child(rng, document, f"<desc>words <!-- {n} --> more</desc>", nested=True)
    return True


@doc_kind("invisible element", tight=True)
def _invisible(rng, document):
    shape = rng.choice(
        [
            '<rect width="{n}" height="9" fill="{c}" {a}/>',
            '<text x="9" y="{n}" font-size="9" {a}>unseen {n}</text>',
            '<g {a}><circle r="{n}" fill="{c}"/><path d="M0 0L{n} 50" stroke="red"/></g>',
        ]
    )
    hidden = rng.choice(
        [
            'display="none"',
            'display="none"',
            'opacity="0"',
            'data-start="900"',
            'data-start="900" data-duration="2"',
        ]
    )
    if hidden == 'opacity="0"':
        shape = '<rect width="{n}" height="9" fill="{c}" {a}/>'
    n = rng.randrange(1, 90)
    return insert_child(rng, document, shape.format(n=n, c=rng.choice(COLOURS), a=hidden))


_SPELLED = {
    "#fff": ("#FFF", "#ffffff", "white", "rgb(255,255,255)", "#FFFfff"),
    "#ffffff": ("#fff", "white", "#FFFFFF"),
    "red": ("#f00", "#ff0000", "rgb(255,0,0)", "rgb(255, 0, 0)", "#FF0000"),
    "#00ff00": ("#0f0", "lime", "rgb(0,255,0)"),
    "orange": ("#ffa500", "#FFA500", "rgb(255,165,0)"),
    "#abc": ("#aabbcc", "#AABBCC", "#ABC"),
    "white": ("#fff", "#ffffff"),
    "black": ("#000", "#000000"),
}


@doc_kind("colour spelling", tight=True)
def _colour(rng, document):
    names = ("fill", "stroke", "stop-color")
    found = attribute_of(
        rng,
        document,
        lambda v: v in _SPELLED or re.fullmatch("#[0-9a-f]{6}", v) is not None,
        names=names,
    )
    if found is None:
        return False
    one = found[1]
    value = one[1]
    if value in _SPELLED:
        one[1] = rng.choice(_SPELLED[value])
    else:
        red, green, blue = (int(value[at : at + 2], 16) for at in (1, 3, 5))
        one[1] = rng.choice([value.upper(), f"rgb({red},{green},{blue})"])
    return one[1] != value


_PLAIN = ("x", "y", "width", "height", "cx", "cy", "r", "rx", "ry", "x1", "x2", "y1", "y2")
_PLAIN += ("stroke-width", "font-size", "opacity", "fill-opacity", "offset", "stroke-opacity")


def _respelled(rng, text):
    if "." in text:
        return rng.choice([text + "0", text + "00", "0" + text if text[0] not in "-+" else text])
    return rng.choice([text + ".0", text + ".00", "0" + text if text[0] not in "-+" else text])


@doc_kind("number spelling", tight=True)
def _number(rng, document):
    found = attribute_of(rng, document, lambda v: _NUMBER.fullmatch(v) and len(v) < 5, names=_PLAIN)
    if found is None:
        return False
    before = found[1][1]
    found[1][1] = _respelled(rng, before)
    return found[1][1] != before


@doc_kind("transform spelling", tight=True)
def _transform(rng, document):
    found = attribute_of(rng, document, lambda v: "(" in v, names=("transform",))
    if found is None:
        return False
    one = found[1]
    before = one[1]
    way = rng.randrange(5)
    if way == 0:
        one[1] = re.sub(r"\s*,\s*|(?<=[0-9])\s+(?=[-0-9.])", ",", before)
    elif way == 1:
        one[1] = re.sub(r"\s*,\s*", " ", before)
    elif way == 2:
        one[1] = before.replace("(", " ( ").replace(")", " ) ")
    elif way == 3:
        one[1] = f"  {before} "
    else:
        one[1] = re.sub(r"\b([0-9]{1,3})(?![0-9.])", r"\1.0", before)
    return one[1] != before


@doc_kind("path spelling", tight=True)
def _path(rng, document):
    found = attribute_of(rng, document, bool, names=("d", "points"))
    if found is None or re.search("[aA]", found[1][1]):
        return False
    one = found[1]
    before = one[1]
    if one[0] == "d":
        one[1] = rng.choice(
            [
                re.sub(r"([A-Za-z])", r" \1 ", before),
                re.sub(r"\s*([A-Za-z])\s*", r"\1", before),
                re.sub(r"(?<=[0-9])[ ]+(?=[0-9])", ",", before),
                before + "  ",
                re.sub(r"(?<![0-9.])([0-9]{1,3})(?![0-9.])", r"\1.0", before),
            ]
        )
    else:
        one[1] = re.sub(r"[ ,]+", rng.choice([" ", ",", ", ", "  "]), before)
    return one[1] != before


@kind("renamed file", tight=True)
def _renamed(rng, case):
    if case.lottie:
        return None
    document = Document(case.files[case.main])
    found = [
        (tag, one)
        for tag in document.tags()
        if tag.name == "image"
        for one in tag.attributes
        if one[0] in ("href", "xlink:href") and not one[1].startswith(("data:", "#"))
    ]
    chosen = pick(rng, found)
    if chosen is None:
        return None
    one = chosen[1]
    folder = case.main.rpartition("/")[0]
    path = f"{folder}/{one[1]}"
    if path not in case.files or ".." in one[1]:
        return None
    suffix = ".nf.svg" if one[1].endswith(".nf.svg") else "." + one[1].rpartition(".")[2]
    new = f"renamed{rng.randrange(1000)}{suffix}"
    if suffix == ".nf.svg" and "/" in one[1]:
        return None  # the child's own references are relative to its folder
    one[1] = new
    edited = case.with_file(case.main, document.bytes())
    return edited.with_file(f"{folder}/{new}", case.files[path])


def _reordered(rng, value):
    if isinstance(value, dict):
        names = list(value)
        rng.shuffle(names)
        return {name: _reordered(rng, value[name]) for name in names}
    if isinstance(value, list):
        return [_reordered(rng, item) for item in value]
    return value


@doc_kind("reformatted timeline", tight=True)
def _reformatted(rng, document):
    text, put = document.json()
    if text is None:
        return False
    way = rng.randrange(5)
    if way == 0:
        put(json.dumps(json.loads(text), indent=rng.randrange(1, 7)))
    elif way == 1:
        put(json.dumps(json.loads(text), separators=(",", ":")))
    elif way == 2:
        put(json.dumps(_reordered(rng, json.loads(text))))
    elif way == 3:
        new = re.sub(r"(?<=[:\[, ])(-?[0-9]+)(?=[,\]}\s])", r"\1.0", text)
        if new == text:
            return False
        put(new)
    else:
        put(text.replace(":", " :\n ").replace("{", "{ ") if "://" not in text else text + "\n")
    return True


@doc_kind("renamed id with its references", tight=True)
def _renamed_id(rng, document):
    names = [tag.get("id") for tag in drawn_tags(document) if tag.get("id")]
    name = pick(rng, [n for n in names if re.fullmatch(r"[a-zA-Z][a-zA-Z0-9-]*", n)])
    if name is None:
        return False
    new = f"{name}-{rng.randrange(1000)}"
    mark = re.compile(rf"#{name}(?![A-Za-z0-9_-])")
    for token in document.tokens:
        if token[0] == "open":
            for one in token[1].attributes:
                if one[0] == "id" and one[1] == name:
                    one[1] = new
                else:
                    one[1] = mark.sub(f"#{new}", one[1])
        elif token[0] in ("raw", "text"):
            token[1] = mark.sub(f"#{new}", token[1])
    return True


@doc_kind("attribute order", tight=True)
def _order(rng, document):
    tag = pick(rng, [tag for tag in document.tags() if len(tag.attributes) > 1])
    if tag is None:
        return False
    before = str(tag)
    rng.shuffle(tag.attributes)
    return str(tag) != before


@doc_kind("blanks outside text", tight=True)
def _blanks(rng, document):
    way = rng.randrange(4)
    if way == 0:
        for token in document.tags():
            token.gap = rng.choice(["  ", "\n   ", " "])
            token.before_end = rng.choice(["", " ", "\n"])
        return True
    if way == 1:
        for one in [one for tag in document.tags() for one in tag.attributes]:
            if "'" not in one[1] and '"' not in one[1]:
                one[2] = "'"
        return True
    changed = False
    for index, token in enumerate(document.tokens):
        if token[0] == "text" and not token[1].strip() and not document.inside(index, "text"):
            new = "" if way == 2 else "\n\t " * rng.randrange(1, 4)
            changed |= new != token[1]
            token[1] = new
    return changed


@doc_kind("prefixed namespace", tight=True)
def _prefix(rng, document):
    root = document.root()
    if root.get("xmlns") is None or any(":" in tag.name for tag in document.tags()):
        return False
    root.drop("xmlns")
    root.put("xmlns:s", "http://www.w3.org/2000/svg")
    for token in document.tokens:
        if token[0] == "open":
            token[1].name = "s:" + token[1].name
        elif token[0] == "close":
            token[1] = token[1].replace("</", "</s:", 1)
    return True


@kind("line ends", tight=True)
def _line_ends(rng, case):
    data = case.files[case.main]
    if case.lottie or b"\n" not in data or b"\r" in data:
        return None
    new = data.replace(b"\n", rng.choice([b"\r\n", b"\r"]))
    return case.with_file(case.main, rng.choice([b"", b"\xef\xbb\xbf"]) + new)


# --- kinds that may draw something else ---------------------------------------------------------


@doc_kind("attribute value")
def _value(rng, document):
    found = attribute_of(rng, document, lambda v: True)
    if found is None:
        return False
    one = found[1]
    if one[0] in ("id", "href", "xlink:href", "class"):
        return False
    before = one[1]
    one[1] = edit_value(rng, one[0], before)
    return one[1] != before


_ADDED = [
    *(("opacity", v) for v in ("0.5", "0", "1", "0.999")),
    *(("fill", v) for v in COLOURS),
    *(("stroke", v) for v in COLOURS),
    *(
        ("transform", v)
        for v in ("translate(3,4)", "scale(.5)", "rotate(9)", "matrix(1 0 0 1 2 2)")
    ),
    *(("display", v) for v in ("none", "inline", "block")),
    ("visibility", "hidden"),
    ("fill-opacity", ".4"),
    ("stroke-width", "3"),
    ("stroke-dasharray", "4 2"),
    ("stroke-linecap", "round"),
    ("fill-rule", "evenodd"),
    ("style", "fill:red"),
    ("style", "opacity:.3;stroke:blue"),
    ("class", "marked"),
    ("data-start", "0.3"),
    ("data-duration", "0.4"),
    ("data-fade", "0.3"),
    ("data-aspect", "contain"),
    ("data-aspect", "cover"),
    ("data-wrap", "50"),
    ("data-fit", "40"),
    ("data-fit-min", "6"),
    ("data-bg", "#00ff00"),
    ("data-bg-rx", "5"),
    ("data-anchor", "end"),
    ("data-frame-text", "{frame}"),
    ("data-speed", "2"),
    ("data-in", "0.2"),
    ("data-loop", "true"),
    ("data-curve-circle", "50 50 30"),
    ("data-anything", "1"),
    ("aria-label", "word"),
    ("onclick", "f()"),
    ("tabindex", "3"),
    ("vector-effect", "non-scaling-stroke"),
    ("font-size", "30"),
    ("font-weight", "bold"),
    ("font-style", "italic"),
    ("text-anchor", "middle"),
    ("letter-spacing", "4"),
    ("xml:space", "preserve"),
    ("paint-order", "stroke"),
    ("preserveAspectRatio", "none"),
    ("mix-blend-mode", "multiply"),
    ("clip-path", "url(#nowhere)"),
    ("mask", "url(#nowhere)"),
    ("filter", "url(#nowhere)"),
]


@doc_kind("attribute added")
def _added(rng, document):
    tag = pick(rng, drawn_tags(document))
    if tag is None:
        return False
    free = [(n, v) for n, v in _ADDED if tag.get(n) is None]
    name = rng.choice(sorted({n for n, _ in free}))
    tag.put(name, rng.choice([v for n, v in free if n == name]))
    return True


@doc_kind("attribute removed")
def _removed(rng, document):
    tag = pick(rng, [tag for tag in drawn_tags(document) if tag.attributes])
    if tag is None:
        return False
    tag.drop(rng.choice([n for n, _, _ in tag.attributes]))
    return True


@doc_kind("attribute swallowed")
def _swallowed(rng, document):
    """Put the next attribute's name and value at the end of a value, as joined fields would."""
    tag = pick(rng, [tag for tag in drawn_tags(document) if len(tag.attributes) > 1])
    if tag is None:
        return False
    names = sorted(n for n, _, _ in tag.attributes)
    at = rng.randrange(len(names) - 1)
    first, second = names[at], names[at + 1]
    if "xmlns" in first + second:
        return False
    tag.put(first, f"{tag.get(first)}{second}{tag.get(second)}")
    tag.drop(second)
    return True


def _text_tokens(document, *, tails):
    found = []
    for index, token in enumerate(document.tokens):
        if token[0] != "text" or not document.inside(index, "text"):
            continue
        previous = document.tokens[index - 1]
        is_tail = previous[0] == "close" or (previous[0] == "open" and previous[1].empty)
        if tails == is_tail and token[1].strip():
            found.append(token)
    return found


def _other_words(rng, text):
    at = rng.randrange(len(text) + 1)
    way = rng.randrange(5)
    if way == 0:
        return text[:at] + rng.choice("xQ9#.,é Ж") + text[at:]
    if way == 1:
        return text[:at] + text[at + 1 :]
    if way == 2:
        return text.swapcase()
    if way == 3:
        return text[:at] + rng.choice([" ", "  ", "\n", "\t"]) + text[at:]
    return text[::-1].replace(";", "")


@doc_kind("text")
def _text(rng, document):
    token = pick(rng, _text_tokens(document, tails=False))
    if token is None or "&" in token[1]:
        return False
    before = token[1]
    token[1] = _other_words(rng, before)
    return token[1] != before


@doc_kind("tail")
def _tail(rng, document):
    token = pick(rng, _text_tokens(document, tails=True))
    if token is None or "&" in token[1]:
        return False
    before = token[1]
    token[1] = _other_words(rng, before)
    return token[1] != before


@doc_kind("tail added")
def _tail_added(rng, document):
    ends = [
        index
        for index, (k, value) in enumerate(document.tokens)
        if k == "close" and value == "</tspan>"
    ]
    index = pick(rng, ends)
    if index is None:
        return False
    document.tokens.insert(index + 1, ["text", rng.choice([" more", "x", " . ", "Wide"])])
    return True


@doc_kind("blanks of text")
def _text_blanks(rng, document):
    token = pick(rng, _text_tokens(document, tails=False) + _text_tokens(document, tails=True))
    if token is None:
        return False
    before = token[1]
    token[1] = rng.choice(
        [f" {before}", f"{before} ", before.replace(" ", "  "), f"\n{before}\n", before.strip()]
    )
    return token[1] != before


@doc_kind("text boundary")
def _boundary(rng, document):
    """Move a character across a tspan's border: the words stay, their places do not."""
    for index in range(1, len(document.tokens) - 1):
        middle = document.tokens[index]
        before, after = document.tokens[index - 1], document.tokens[index + 1]
        if before[0] == "text" and after[0] == "text" and document.inside(index, "text"):
            if middle[0] == "close" and before[1] and rng.random() < 0.7:
                after[1] = before[1][-1] + after[1]
                before[1] = before[1][:-1]
                return True
            if middle[0] == "open" and len(before[1]) > 1:
                after[1] = before[1][-1] + after[1]
                before[1] = before[1][:-1]
                return True
    return False


def _movable(document):
    return [
        (first, last, parents)
        for first, last, parents in document.elements()
        if parents
        and document.tokens[first][1].name not in ("script", "style", "tspan", "stop", "defs")
        and not document.inside(first, "text", "defs", "clipPath", "mask", "filter")
    ]


@doc_kind("element deleted")
def _deleted(rng, document):
    chosen = pick(rng, _movable(document))
    if chosen is None:
        return False
    del document.tokens[chosen[0] : chosen[1] + 1]
    return True


@doc_kind("element doubled")
def _doubled(rng, document):
    chosen = pick(rng, _movable(document))
    if chosen is None:
        return False
    first, last, _ = chosen
    copy = "".join(str(value) for _, value in document.tokens[first : last + 1])
    where = rng.choice([last + 1, first])
    document.tokens.insert(where, ["raw", re.sub(r'\sid="[^"]*"', "", copy, count=1)])
    return True


@doc_kind("sibling order")
def _siblings(rng, document):
    by_parent = {}
    for first, last, parents in _movable(document):
        by_parent.setdefault(parents, []).append((first, last))
    pairs = [(one, two) for found in by_parent.values() for one, two in itertools.pairwise(found)]
    chosen = pick(rng, pairs)
    if chosen is None:
        return False
    (a, b), (c, d) = chosen
    tokens = document.tokens
    document.tokens = (
        tokens[:a] + tokens[c : d + 1] + tokens[b + 1 : c] + tokens[a : b + 1] + tokens[d + 1 :]
    )
    return True


@doc_kind("nesting")
def _nesting(rng, document):
    chosen = pick(rng, _movable(document))
    if chosen is None:
        return False
    first, last, _ = chosen
    around = rng.choice(
        ["<g>", '<g opacity="0.5">', '<g transform="translate(2,3)">', '<g fill="red">', "<a>"]
    )
    end = "</a>" if around == "<a>" else "</g>"
    document.tokens.insert(last + 1, ["raw", end])
    document.tokens.insert(first, ["raw", around])
    return True


@doc_kind("unwrapped")
def _unwrapped(rng, document):
    groups = [
        (first, last)
        for first, last, _ in _movable(document)
        if document.tokens[first][1].name == "g" and first != last
    ]
    chosen = pick(rng, groups)
    if chosen is None:
        return False
    del document.tokens[chosen[1]]
    del document.tokens[chosen[0]]
    return True


@doc_kind("namespace")
def _namespace(rng, document):
    chosen = pick(rng, [c for c in _movable(document) if c[0] == c[1]])
    if chosen is None:
        return False
    document.tokens[chosen[0]][1].put("xmlns", rng.choice(["urn:foreign", ""]))
    return True


@doc_kind("tag name")
def _tag_name(rng, document):
    found = [
        tag
        for tag in drawn_tags(document)
        if tag.empty and tag.name in ("rect", "circle", "ellipse")
    ]
    tag = pick(rng, found)
    if tag is None:
        return False
    tag.name = rng.choice(
        [n for n in ("rect", "circle", "ellipse", "line", "blob") if n != tag.name]
    )
    return True


@doc_kind("definition in use")
def _definition(rng, document):
    found = [
        (tag, one)
        for index, (k, tag) in enumerate(document.tokens)
        if k == "open" and document.inside(index, "defs")
        for one in tag.attributes
        if one[0] != "id" and not one[0].startswith("xlink") and one[0] != "href"
    ]
    chosen = pick(rng, found)
    if chosen is None:
        return False
    before = chosen[1][1]
    chosen[1][1] = edit_value(rng, chosen[1][0], before)
    return chosen[1][1] != before


@doc_kind("reference")
def _reference(rng, document):
    names = [tag.get("id") for tag in document.tags() if tag.get("id")]
    found = [
        one
        for tag in document.tags()
        for one in tag.attributes
        if "url(#" in one[1] or (one[0].endswith("href") and one[1].startswith("#"))
    ]
    one = pick(rng, found)
    if one is None:
        return False
    name = rng.choice([*names, "nowhere"])
    before = one[1]
    one[1] = f"#{name}" if one[0].endswith("href") else f"url(#{name})"
    return one[1] != before


@doc_kind("id")
def _id(rng, document):
    tag = pick(rng, [tag for tag in document.tags()[1:] if tag.get("id")])
    if tag is None:
        return False
    others = [t.get("id") for t in document.tags()[1:] if t.get("id") and t is not tag]
    tag.put("id", rng.choice([tag.get("id") + "x", *others]))
    return True


@doc_kind("style sheet")
def _style(rng, document):
    rule = rng.choice(
        [
            "rect{{fill:{c}}}",
            ".marked{{fill:{c}}}",
            "circle{{stroke:{c};stroke-width:2}}",
            "text{{fill:{c}}}",
            ".other{{opacity:.5}}",
            "g.marked{{opacity:.5}}",
        ]
    ).format(c=rng.choice(COLOURS))
    for index, token in enumerate(document.tokens):
        if token[0] == "open" and token[1].name == "style" and not token[1].empty:
            following = document.tokens[index + 1]
            if following[0] == "text":
                following[1] = rng.choice([following[1] + rule, rule, rule + following[1]])
                return True
    tag = pick(rng, drawn_tags(document))
    if tag is not None and rng.random() < 0.5:
        tag.put("class", "marked")
    return insert_child(rng, document, f"<style>{rule}</style>")


@doc_kind("canvas and rate")
def _canvas(rng, document):
    root = document.root()
    name = rng.choice(
        ["data-width", "data-height", "data-fps", "data-duration", "viewBox", "fill", "opacity"]
    )
    value = root.get(name)
    if name in ("data-width", "data-height") and value is not None:
        new = str(max(1, int(float(value)) + rng.choice([-30, -1, 1, 17])))
    elif name == "data-fps":
        new = rng.choice(["5", "10", "12", "20", "25"])
    elif name == "data-duration":
        new = rng.choice(["0.5", "0.8", "1", "1.2", "0.95"])
    elif name == "viewBox":
        new = rng.choice(["0 0 200 100", "10 0 200 100", "0 0 100 50", "0 0 300 100"])
    else:
        new = rng.choice(["red", "blue"]) if name == "fill" else "0.5"
    root.put(name, new)
    return new != value


@doc_kind("timeline number")
def _timeline_number(rng, document):
    text, put = document.json()
    if text is None:
        return False
    found = [m for m in _JSON_TOKEN.finditer(text) if not m[0].startswith('"')]
    match = pick(rng, found)
    if match is None:
        return False
    put(text[: match.start()] + another_number(rng, match[0]) + text[match.end() :])
    return True


_EASES = ("linear", "ease-in", "ease-out", "ease-in-out", "standard", "accelerate", "nonsense")


@doc_kind("timeline name")
def _timeline_name(rng, document):
    text, put = document.json()
    if text is None:
        return False
    found = [m for m in _JSON_TOKEN.finditer(text) if m[0].startswith('"')]
    match = pick(rng, found)
    if match is None:
        return False
    ids = [f"#{t.get('id')}" for t in document.tags()[1:] if t.get("id")]
    word = match[0][1:-1]
    if word in _EASES:
        new = rng.choice(_EASES)
    elif word.startswith("#") and ids and word in ids:
        new = rng.choice([*ids, "rect", "#nowhere", ".marked"])
    elif word.startswith("#"):
        new = rng.choice(["#ff0000", "#00f", "blue"])
    elif word in ("opacity", "fill", "stroke", "transform"):
        new = rng.choice(["opacity", "fill", "stroke", "transform", "other"])
    elif word in ("translate", "scale", "rotate", "center"):
        new = rng.choice(["translate", "scale", "rotate", "other"])
    else:
        new = word + "x"
    put(text[: match.start()] + f'"{new}"' + text[match.end() :])
    return new != word


@doc_kind("timeline shape")
def _timeline_shape(rng, document):
    text, put = document.json()
    if text is None:
        return False
    data = json.loads(text)
    animations = data.get("animations")
    if not animations:
        return False
    one = rng.choice(animations)
    frames = one.get("keyframes", [])
    way = rng.randrange(7)
    if way == 0:
        animations.remove(one)
    elif way == 1:
        animations.append(json.loads(json.dumps(one)))
    elif way == 2:
        animations.reverse()
    elif way == 3 and len(frames) > 1:
        frames.remove(rng.choice(frames))
    elif way == 4 and frames:
        copy = dict(rng.choice(frames))
        copy["t"] = round(float(copy["t"]) + 0.17, 3)
        frames.append(copy)
        frames.sort(key=lambda k: k["t"])
    elif way == 5 and frames:
        rng.choice(frames)["ease"] = rng.choice(_EASES)
    elif frames:
        rng.choice(frames)["opacity"] = rng.choice([0, 0.3, 1])
    put(json.dumps(data))
    return True


# --- Lottie scenes ------------------------------------------------------------------------------


def _scene_token(rng, case, wanted, change):
    if not case.lottie:
        return None
    text = case.files[case.main].decode()
    match = pick(rng, [m for m in _JSON_TOKEN.finditer(text) if wanted(m[0])])
    if match is None:
        return None
    new = change(match[0])
    return case.with_file(case.main, (text[: match.start()] + new + text[match.end() :]).encode())


@kind("scene number")
def _scene_number(rng, case):
    return _scene_token(
        rng, case, lambda t: not t.startswith('"'), lambda t: another_number(rng, t)
    )


@kind("scene name")
def _scene_name(rng, case):
    return _scene_token(
        rng, case, lambda t: t.startswith('"'), lambda t: t[:-1] + rng.choice("xqz") + '"'
    )


@kind("scene order")
def _scene_order(rng, case):
    if not case.lottie:
        return None
    scene = json.loads(case.files[case.main])
    way = rng.randrange(3)
    if way == 0:
        scene["layers"].reverse()
    elif way == 1:
        scene["layers"].pop(rng.randrange(len(scene["layers"])))
    else:
        rng.choice(scene["layers"])["shapes"][0]["it"].reverse()
    return case.with_file(case.main, json.dumps(scene, indent=1).encode())


@kind("scene blanks")
def _scene_blanks(rng, case):
    if not case.lottie:
        return None
    scene = json.loads(case.files[case.main])
    written = json.dumps(_reordered(rng, scene) if rng.random() < 0.3 else scene)
    return case.with_file(case.main, written.encode())


@kind("child composition")
def _child(rng, case):
    if case.lottie:
        return None
    folder = case.main.rpartition("/")[0]
    paths = [p for p in case.files if p.endswith(".nf.svg") and p != case.main]
    shown = [
        p
        for p in paths
        if p.startswith(folder) and p[len(folder) + 1 :].encode() in case.files[case.main]
    ]
    path = pick(rng, shown)
    if path is None:
        return None
    name = rng.choice(
        [
            "attribute value",
            "attribute added",
            "timeline number",
            "element deleted",
            "text",
            "metadata",
        ]
    )
    inner = KINDS[name].edit(rng, replace(case, main=path))
    return None if inner is None else replace(inner, main=case.main)


def _media_of(rng, case):
    used = [
        p
        for p in case.files
        if p.endswith((".png", ".jpg"))
        and any(
            p.rpartition("/")[2].encode() in data
            for name, data in case.files.items()
            if name.endswith(".svg")
        )
    ]
    return pick(rng, used)


@kind("media content")
def _media(rng, case):
    import mutation_pictures

    path = _media_of(rng, case)
    if path is None or not path.endswith(".png"):
        return None
    return case.with_file(path, mutation_pictures.repainted(rng, case.files[path]))


@kind("media bytes")
def _media_bytes(rng, case):
    """Bytes that no decoder looks at: a chunk of text, something after the end."""
    import mutation_pictures

    path = _media_of(rng, case)
    if path is None:
        return None
    data = case.files[path]
    if path.endswith(".png") and rng.random() < 0.6:
        return case.with_file(path, mutation_pictures.annotated(rng, data))
    return case.with_file(path, data + bytes(rng.randrange(256) for _ in range(3)))


@kind("media exchanged")
def _exchanged(rng, case):
    paths = sorted(p for p in case.files if p.endswith(".png"))
    if len(paths) < 2:
        return None
    one, two = rng.sample(paths, 2)
    return case.with_file(one, case.files[two]).with_file(two, case.files[one])


@doc_kind("family")
def _family(rng, document):
    tag = pick(rng, [tag for tag in document.tags() if tag.name == "text"])
    if tag is None:
        return False
    before = tag.get("font-family")
    new = rng.choice(["Body", "Strong", "Fallback", "Nobody", None])
    if new is None:
        tag.drop("font-family")
    else:
        tag.put("font-family", new)
    return new != before


@kind("face content")
def _face(rng, case):
    return replace(case, faces=rng.choice(["exchanged", "cut"]))


@kind("face bytes")
def _face_bytes(rng, case):
    return replace(case, faces="padded")


@kind("configured faces")
def _configured(rng, case):
    fonts = rng.choice(
        [
            ("Fallback", "Strong", "Body"),
            ("Fallback", "Body"),
            ("Body", "Fallback", "Strong"),
            ("Body", "Fallback", "Strong"),
            ("Body", "Fallback", "Strong"),
            ("Strong", "Fallback", "Body"),
            ("Fallback", "Body", "Strong", "Spare"),
        ]
    )
    return replace(case, fonts=fonts)


@kind("configuration", tight=True)
def _configuration(rng, case):
    extra = rng.choice(
        [
            '[cache]\nmax_size = "3 GB"\n',
            '[cache]\nmax_age = "9 d"\n',
            '[[export]]\ncomposition = "*"\nformat = "png"\nto = "out/{name}/{number:05d}.png"\n',
            "[limits]\nframes = 5000\n",
            "# nothing but a comment\n",
        ]
    )
    return replace(case, extra=extra)


@kind("library bytes", declared=True)
def _library(rng, case):
    return replace(case, toolchain="library")


@kind("core bytes", declared=True)
def _core(rng, case):
    return replace(case, toolchain=rng.choice(["core", "binding", "c library"]))
