"""Kinds that write the same picture differently: a key that moves with them costs a drawing."""

from __future__ import annotations

import json
import re

from mutation_kinds import (
    COLOURS,
    NUMBER,
    attribute_of,
    doc_kind,
    drawn_tags,
    insert_child,
    kind,
    pick,
)
from mutation_text import Document


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
    found = attribute_of(rng, document, lambda v: NUMBER.fullmatch(v) and len(v) < 5, names=_PLAIN)
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


def reordered(rng, value):
    if isinstance(value, dict):
        names = list(value)
        rng.shuffle(names)
        return {name: reordered(rng, value[name]) for name in names}
    if isinstance(value, list):
        return [reordered(rng, item) for item in value]
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
        put(json.dumps(reordered(rng, json.loads(text))))
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
