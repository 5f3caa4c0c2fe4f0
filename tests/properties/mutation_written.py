"""Kinds that write other values, elements and words, so that something else may be drawn."""

from __future__ import annotations

from mutation_kinds import COLOURS, attribute_of, doc_kind, drawn_tags, edit_value, pick


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
