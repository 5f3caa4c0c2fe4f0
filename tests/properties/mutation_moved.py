"""Kinds that move, nest, name and time what is there, so that something else may be drawn."""

from __future__ import annotations

import itertools
import json
import re

from mutation_kinds import (
    COLOURS,
    JSON_TOKEN,
    another_number,
    doc_kind,
    drawn_tags,
    edit_value,
    insert_child,
    pick,
)


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
    found = [m for m in JSON_TOKEN.finditer(text) if not m[0].startswith('"')]
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
    found = [m for m in JSON_TOKEN.finditer(text) if m[0].startswith('"')]
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
