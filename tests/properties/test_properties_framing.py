"""Framing attacks: inputs built so that careless joining would make one name of two.

Different inputs, different keys: whatever a name holds, wherever a file moves, whatever changes
places.
"""

import itertools

from hypothesis import example, given, settings
from hypothesis import strategies as st

from nfbuild.digests import NONE, derive, encode, file_digest
from nfbuild.identity.keys import SceneKeys, frame_key
from nfbuild.identity.manifest import PARTS, Identity, Part, composition_id, diff, part_digest

A, B, C = (file_digest(bytes([n])) for n in range(3))

# Names as an attacker would choose them: they hold separators, digests, line ends, tags of the
# encoding itself, and each other.
HOSTILE = (
    "",
    "a",
    "a\n",
    "a\r\n",
    "a b",
    "a: b",
    "a=b",
    "a\0",
    "\0a",
    "a,b",
    'a","b',
    A,
    f"a{A}",
    f"a\n{A}",
    f"a={A}\nb",
    f"{A}\n{B}",
    "none",
    "t1a",
    "l2t1at1b",
    "\u00e9",
    "e\u0301",
    "\udce9",
    "child a: #b",
    "a" * 127,
    "a" * 128,
    "a/../b",
    "b",
)
NAMES = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=12))
FIELDS = st.recursive(
    st.one_of(NAMES, st.binary(max_size=8), st.integers(), st.none()),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
)
INPUTS = st.dictionaries(NAMES, st.sampled_from([A, B, C, NONE]), max_size=4)


def distinct(values):
    found = list(values)
    return len(set(found)) == len(found)


@settings(max_examples=400, deadline=None)
@given(FIELDS, FIELDS)
@example(["ab", "c"], ["a", "bc"])
@example(["a", []], [["a"]])
@example([b"1"], ["1"])
@example([1], ["1"])
@example([None], [[]])
@example([[], []], [[[]]])
def test_two_values_never_have_one_encoding(one, two):
    """Text, bytes, numbers, nothing and lists of them: equal bytes mean equal values."""
    assert (encode(one) == encode(two)) == (_typed(one) == _typed(two))


def _typed(value):
    if isinstance(value, list):
        return ("list", tuple(_typed(item) for item in value))
    return (type(value).__name__, value)


@settings(max_examples=300, deadline=None)
@given(INPUTS, INPUTS, st.sampled_from(PARTS), st.sampled_from(PARTS))
def test_a_part_is_its_name_and_its_inputs(one, two, first, second):
    """Two parts have one digest exactly when nothing in them differs, or both are empty."""
    same = (one == two and first == second) or not (one or two)

    assert (part_digest(first, one) == part_digest(second, two)) == same


def test_hostile_names_are_all_different():
    """One input under each of the names: a digest for each, in a part and in a key."""
    parts = [part_digest("media", {name: A}) for name in HOSTILE]
    swallowed = [part_digest("media", {name: A, "z": B}) for name in HOSTILE]
    fields = [derive("nfbuild 2026 test v1", name) for name in HOSTILE]

    assert distinct([*parts, *swallowed])
    assert distinct(fields)


def test_a_name_that_holds_a_digest_is_no_second_input():
    """`a -> A, b -> B` and one name that spells all of it are two things."""
    two = {"a": A, "b": B}
    spelled = [
        {f"a{A}b": B},
        {f"a\n{A}\nb": B},
        {f"a={A},b": B},
        {"a": f"{A}b{B}"},
        {"a": A, "b": B, "": ""},
        {"b": A, "a": B},
    ]

    assert distinct(part_digest("source", one) for one in [two, *spelled])


def test_a_file_that_moves_to_another_part_moves_the_id():
    """The same name and the same bytes as source, as media, as a face, as a tool."""
    base = {"source": {"s": A}, "media": {"m": B}, "fonts": {"f": C}, "toolchain": {"t": A}}
    seen = [_id(base)]
    for name in PARTS:
        moved = {part: dict(inputs) for part, inputs in base.items()}
        moved[name]["guest"] = B
        seen.append(_id(moved))

    assert distinct(seen)


def test_two_parts_that_change_places_move_the_id():
    """Every exchange of the inputs of two parts, and of their mere digests, is another id."""
    base = {"source": {"s": A}, "media": {"m": B}, "fonts": {"f": C}, "toolchain": {"t": B}}
    digests = {name: Part(name, base[name]).digest for name in PARTS}
    seen, bare = [_id(base)], [composition_id(digests)]
    for one, two in itertools.combinations(PARTS, 2):
        seen.append(_id({**base, one: base[two], two: base[one]}))
        bare.append(composition_id({**digests, one: digests[two], two: digests[one]}))

    assert distinct(seen)
    assert distinct(bare)


def test_an_empty_part_is_told_from_one_that_is_called_so():
    """`none` stands for an empty part; no digest of anything reads so."""
    empty = part_digest("media", {})

    assert empty == NONE
    assert distinct([empty, part_digest("media", {"": ""}), part_digest("media", {"none": "none"})])


def _id(parts):
    return composition_id(Identity.of(**parts).digests())


def test_what_differs_is_what_is_explained():
    """The difference of two identities is empty exactly when their ids are equal."""
    one = Identity.of(source={"a\nb": A}, media={}, fonts={}, toolchain={"t": A})
    two = Identity.of(source={"a": A, "b": A}, media={}, fonts={}, toolchain={"t": A})

    assert diff(one, one) == []
    assert [reason.what for reason in diff(one, two)] == ["a", "a\nb", "b"]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_scene_key_frames_what_it_is_taken_of(data):
    """Size, pictures, faces, instant and document: a byte that crosses a border is another key."""
    names = st.lists(st.sampled_from(["a.png", "a", "b", "a.pngb", ""]), max_size=3).map(tuple)
    scene = st.tuples(
        st.sampled_from([(1, 11), (11, 1), (111, 1), (1, 1)]),
        names,
        names,
        st.sampled_from([None, ("lottie", "0x1.0p+0", 0), ("lottie", "0x1.0p+0", 0, 1, 1, 1), ()]),
        st.sampled_from([b"", b"<svg/>", b"t1a<svg/>", b"\0", b"l0"]),
    )
    one, two = data.draw(scene), data.draw(scene)

    assert (_key(*one) == _key(*two)) == (one == two)


def _key(size, pictures, faces, moment, document):
    return SceneKeys(*size).key([document], pictures, faces, moment)


def test_pieces_of_a_document_are_its_bytes():
    """How a document is cut into pieces is no input; which bytes it has is."""
    keys = SceneKeys(20, 10)

    assert keys.key([b"ab", b"c"], (), ()) == keys.key([b"a", b"", b"bc"], (), ())
    assert keys.key([b"ab", b"c"], (), ()) != keys.key([b"ab", b"d"], (), ())


def test_a_remembered_head_is_the_right_one():
    """The heads that a composition's frames share are told apart by all that is in them."""
    keys = SceneKeys(20, 10)
    asked = [
        (pictures, faces, moment)
        for pictures in [(), ("a.png",)]
        for faces in [(), ("a.png",)]
        for moment in [None, ("lottie", "0x0p+0", 0), ("lottie", "0x0p+0", 1)]
    ]

    first = [keys.key([b"<svg/>"], *one) for one in asked]
    again = [SceneKeys(20, 10).key([b"<svg/>"], *one) for one in reversed(asked)]
    assert distinct(first)
    assert first == again[::-1]


def test_a_question_is_no_answer():
    """One text under the contexts of a scene key and of a frame key gives two digests."""
    scene = SceneKeys(20, 10).key([b"<svg/>"], (), ())

    assert frame_key(scene, A) != frame_key(scene, B)
    assert distinct([scene, frame_key(scene, A), frame_key(A, scene), file_digest(b"<svg/>")])
