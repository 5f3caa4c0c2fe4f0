"""`nfbuild.toml` is parsed, not trusted: every value of the design's example, every wrong shape."""

from __future__ import annotations

import datetime as dt
import os
from fractions import Fraction

import pytest

from nfbuild.errors import Place, ProjectError
from nfbuild.project.reading import DEFAULT_FACE, DEFAULT_PATTERNS

EXAMPLE = """\
[project]
compositions = ["compositions/**/*.nf.svg", "compositions/**/*.lottie"]
ledger = "ledger"
outside = []                      # folders outside the project

[fonts]
faces = ["fonts/Inter.ttf", "package:nanoframes/fonts/Sarasa Mono SC.ttf"]

[cache]
dir = "cache"
max_size = "10 GB"
max_age = "30 d"

[[cache.shared]]
url = "file:///srv/nfbuild-cache" # or others
mode = "read-write"               # or "read-only"

[[export]]
composition = "*"
format = "png"
to = "out/{name}/{number:05d}.png"

[verify.excused."master-demo"]
lanes = ["macos-arm64"]
reason = "glyph edge rounding of the arm64 build"
until = 2027-06-30
max_pixels = 5
max_step = 1
"""


def test_the_example_of_the_design_is_read_as_it_says(space):
    """Every key of the documented example has its value, type and place."""
    space.config(EXAMPLE)
    project = space.load()

    assert project.patterns == (
        ("compositions/**/*.nf.svg", Place("nfbuild.toml", 2)),
        ("compositions/**/*.lottie", Place("nfbuild.toml", 2)),
    )
    assert project.ledger == "ledger"
    assert project.outside == ()
    assert [label for label, _ in project.faces] == [
        "fonts/Inter.ttf",
        "package:nanoframes/fonts/Sarasa Mono SC.ttf",
    ]
    assert project.cache.folder == os.path.join(space.folder, "cache")
    assert project.cache.max_size == 10_000_000_000
    assert project.cache.max_age == 30 * 86_400
    (tier,) = project.cache.shared
    assert (tier.url, tier.mode, tier.place.line) == ("file:///srv/nfbuild-cache", "read-write", 15)
    (export,) = project.exports
    assert (export.composition, export.format) == ("*", "png")
    assert export.to == "out/{name}/{number:05d}.png"
    assert export.place == Place("nfbuild.toml", 21)
    excuse = project.excused["master-demo"]
    assert excuse.lanes == ("macos-arm64",)
    assert excuse.reason == "glyph edge rounding of the arm64 build"
    assert excuse.until == dt.date(2027, 6, 30)
    assert (excuse.max_pixels, excuse.max_step) == (5, 1)
    assert excuse.place == Place("nfbuild.toml", 23)


def test_an_empty_file_is_a_project_with_every_default(space):
    """Every key is optional."""
    space.config("")
    project = space.load()

    assert [pattern for pattern, _ in project.patterns] == list(DEFAULT_PATTERNS)
    assert [label for label, _ in project.faces] == [DEFAULT_FACE]
    assert project.config == "nfbuild.toml"
    assert project.exports == ()
    assert project.limits.canvas_side == 16_384


def test_every_export_option_has_its_value(space):
    """Options of films are exact values, never binary fractions."""
    space.config(
        """
[[export]]
composition = "intro/*"
format = "gif"
to = "out/{name}.gif"
range = [10, 40]
scale = 0.5
background = "#FfF"
rate = "30000/1001"
loop = 0
palette = 64

[[export]]
format = "mp4"
to = "out/{name}.mp4"
marker = "intro"
rate = 29.97
quality = 80
audio = "sound/theme.wav"

[[export]]
format = "png"
to = "stills/{name}-{number}.png"
range = "7:7"
"""
    )
    gif, mp4, png = space.load().exports

    assert (gif.frames, gif.scale, gif.background) == ((10, 40), Fraction(1, 2), "#ffffff")
    assert (gif.rate, gif.loop, gif.palette) == (Fraction(30000, 1001), 0, 64)
    assert (mp4.rate, mp4.quality) == (Fraction(2997, 100), 80)
    assert (mp4.marker, mp4.audio) == ("intro", "sound/theme.wav")
    assert (png.frames, png.composition) == ((7, 7), "*")


WRONG = [
    # text, line, what the fact says, what the hint says
    ("[projekt]\n", 1, "unknown key `projekt` at the top", "did you mean `project`?"),
    ("x = 1\n", 1, "unknown key `x` at the top", "known are `project`"),
    ("project = 1\n", 1, "`project` must be a table", "[project]"),
    ("[[project]]\n", 1, "must be a table, not a list", "single brackets"),
    ("[project]\n\ncompositons = []\n", 3, "unknown key `compositons`", "`compositions`"),
    ("[project]\ncompositions = 'a'\n", 2, "must be a list of texts", 'write `["a"]`'),
    ("[project]\ncompositions = [\n  'a',\n  3,\n]\n", 4, "member 2", "quotes"),
    ("[project]\ncompositions = []\n", 2, "names no pattern", "**/*.nf.svg"),
    ("[project]\ncompositions = ['']\n", 2, "`compositions` is empty", None),
    ("[project]\ncompositions = ['/etc/*']\n", 2, "leads out of the project", "below"),
    ("[project]\ncompositions = ['a', '../b']\n", 2, "leads out of the project", "below"),
    ("[project]\nledger = '.'\n", 2, "is the project itself", "folder in it"),
    ("[project]\nledger = ''\n", 2, "`ledger` is empty", None),
    ("[project]\nledger = 3.5\n", 2, "not a number with a point", "quotes"),
    ('[project]\nledger = "a\\u0000b"\n', 2, "null character", None),
    ("[fonts]\nfaces = []\n", 2, "names no face", "default face"),
    ("[fonts]\nfaces = [\n'a.ttf',\n'a.ttf']\n", 4, "listed twice", "once"),
    ("[cache]\nmax_size = 10\n", 2, "must be a number with its unit", "10 GB"),
    ("[cache]\nmax_size = '10 gb'\n", 2, "not a number with a unit", "`GB`"),
    ("[cache]\nmax_size = '-1 GB'\n", 2, "not a number with a unit", "10 GB"),
    ("[cache]\nmax_size = '0 GB'\n", 2, "out of range", None),
    ("[cache]\nmax_age = '30'\n", 2, "not a number with a unit", "30 d"),
    ("[cache]\nmax_age = '٣ d'\n", 2, "not a number with a unit", "30 d"),
    ("[cache]\ndir = '.'\n", 2, "holds the project or its ledger", "its own"),
    ("[cache]\ndir = '..'\n", 2, "holds the project or its ledger", "its own"),
    ("[cache]\ndir = 'ledger/cache'\n", 2, "holds the project or its ledger", "its own"),
    ("[cache]\nshared = 'x'\n", 2, "must be a list of tables", "[[cache.shared]]"),
    ("[[cache.shared]]\nmode = 'read-only'\n", 1, "has no `url`", "url ="),
    ("[[cache.shared]]\nurl = '/srv/x'\n", 2, "not an address", "file:///"),
    ("[[cache.shared]]\nurl = 'htps://x/y'\n", 2, "not an address", "`https`"),
    ("[[cache.shared]]\nurl = 'https://a:b@x/y'\n", 2, "name or password", "environment"),
    (
        "[[cache.shared]]\nurl = 's3://x'\n[[cache.shared]]\nurl = 's3://y'\nmode = 'readonly'\n",
        5,
        "`mode` is `readonly`",
        "did you mean `read-only`?",
    ),
    ("[[export]]\nto = 'x'\n", 1, "has no `format`", "png"),
    ("[[export]]\nformat = 'png'\n", 1, "has no `to`", "out/"),
    ("[[export]]\nformat = 'mpeg4'\nto = 'x'\n", 2, "`format` is `mpeg4`", None),
    ("[[export]]\nformat = 'webn'\nto = 'x'\n", 2, "`format` is `webn`", "`webm`"),
    ("[export]\nformat = 'png'\n", 1, "must be a list of tables", "[[export]]"),
    ("[[export]]\nformat = 'png'\nto = 'x'\nquality = 3\n", 4, "means nothing for `png`", "mp4"),
    ("[[export]]\nformat = 'mp4'\nto = 'x'\nloop = 3\n", 4, "means nothing for `mp4`", "gif"),
    ("[[export]]\nformat = 'mp4'\nto = '{number}.mp4'\n", 3, "is one file", "{name}"),
    ("[[export]]\nformat = 'png'\nto = '{nmae}.png'\n", 3, "unknown field `{nmae}`", "{name}"),
    ("[[export]]\nformat = 'png'\nto = '{number:5d}'\n", 3, "number form `5d`", "05d"),
    ("[[export]]\nformat = 'png'\nto = '{number'\n", 3, "without `}`", "{name}"),
    ("[[export]]\nformat = 'png'\nto = 'a}'\n", 3, "without `{`", "{name}"),
    ("[[export]]\nformat = 'png'\nto = 'out/'\n", 3, "names a folder", "{name}"),
    ("[[export]]\nformat = 'png'\nto = '{number}/a.png'\n", 3, "folder's name", "{name}"),
    ("[[export]]\nformat = 'png'\nto = 'cache/{number}.png'\n", 3, "into the cache", "out/"),
    ("[[export]]\nformat = 'png'\nto = 'ledger/{name}.png'\n", 3, "into the ledger", "out/"),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nrange = '9:3'\n", 4, "before it begins", None),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nrange = [1, 2.5]\n", 4, "not a range", "10:40"),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nrange = 5\n", 4, "must be a range of frames", "10:40"),
    (
        "[[export]]\nformat = 'gif'\nto = 'x'\nrange = '1:2'\nmarker = 'm'\n",
        5,
        "both choose frames",
        "keep one",
    ),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nrate = 0\n", 4, "not a number above 0", "29.97"),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nrate = '30/0'\n", 4, "not a number above 0", None),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nrate = true\n", 4, "must be a number", "29.97"),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nrate = inf\n", 4, "not a number above 0", None),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nrate = 1e300\n", 4, "not a number above 0", None),
    ("[[export]]\nformat = 'gif'\nto = 'x'\npalette = 257\n", 4, "from 2 to 256", None),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nloop = true\n", 4, "not true or false", None),
    ("[[export]]\nformat = 'gif'\nto = 'x'\nbackground = 'red'\n", 4, "no colour", "#rrggbb"),
    ("[verify]\nexcuses = 1\n", 2, "unknown key `excuses`", "`excused`"),
    ("[verify.excused.a]\nlanes = ['x']\n", 1, "has no `reason`", "why"),
    ("[verify]\nexcused = 3\n", 2, "must be a table", "verify.excused"),
    (
        (
            "[verify.excused.a]\nlanes = []\nreason = 'r'\nuntil = 2027-01-01\nmax_pixels = 1\n"
            "max_step = 1\n"
        ),
        2,
        "names no lane",
        "platforms",
    ),
    (
        (
            "[verify.excused.a]\nlanes = ['x']\nreason = 'r'\nuntil = '2027-01-01'\n"
            "max_pixels = 1\nmax_step = 1\n"
        ),
        4,
        "`until` must be a date",
        "without quotes",
    ),
    (
        (
            "[verify.excused.a]\nlanes = ['x']\nreason = 'r'\nuntil = 2027-01-01T10:00:00\n"
            "max_pixels = 1\nmax_step = 1\n"
        ),
        4,
        "`until` must be a date",
        "without quotes and time",
    ),
    (
        (
            "[verify.excused.a]\nlanes = ['x']\nreason = 'r'\nuntil = 2027-01-01\nmax_pixels = 1\n"
            "max_step = 256\n"
        ),
        6,
        "from 1 to 255",
        None,
    ),
    ("[limits]\nelements = 0\n", 2, "must be from 1 to", None),
    ("[limits]\nelemnts = 5\n", 2, "unknown key `elemnts`", "`elements`"),
    ("[limits]\nworker_memory = 5\n", 2, "number with its unit", "10 GB"),
    # Syntax, as `tomllib` sees it, with its line.
    ("[project\n", 1, "expected", "toml.io"),
    ("[project]\na = \n", 2, "invalid value", "toml.io"),
    ("[a]\n[a]\n", 2, "cannot declare", "toml.io"),
    ("[project]\nledger = 'a'\nledger = 'b'\n", 3, "cannot overwrite", "toml.io"),
    ("[verify.excused.a]\nuntil = 2027-02-30\n", 2, "date", "toml.io"),
]


@pytest.mark.parametrize(("text", "line", "fact", "hint"), WRONG, ids=[row[0] for row in WRONG])
def test_a_wrong_configuration_is_named_with_its_line(space, text, line, fact, hint):
    """Place, fact and hint; never a traceback."""
    space.config(text)

    with pytest.raises(ProjectError) as caught:
        space.load()

    assert caught.value.place == Place("nfbuild.toml", line)
    assert fact in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")
    assert caught.value.exit_code == 2


def test_text_that_is_not_utf8_is_named_with_its_line(space):
    """The line of the first bad byte."""
    space.config(b"[project]\nledger = '\xff'\n")

    with pytest.raises(ProjectError, match="is not UTF-8 text") as caught:
        space.load()

    assert caught.value.place == Place("nfbuild.toml", 2)


def test_a_byte_order_mark_and_foreign_line_ends_are_fine(space):
    """What editors of other systems write is read, and lines are counted right."""
    space.config(b"\xef\xbb\xbf[project]\r\nledger = 'promises'\r\n[fonts]\r\nface = []\r\n")

    with pytest.raises(ProjectError, match="unknown key `face`") as caught:
        space.load()

    assert caught.value.place == Place("nfbuild.toml", 4)


def test_depth_and_length_do_not_break_the_reader(space):
    """A file made to hurt is an error like any other."""
    for text in (
        "a = " + "[" * 100_000,
        "a = " + "9" * 100_000,
        "[" + "a." * 2_000 + "b]",
        "#" * 1_000_001,
    ):
        space.config(text)
        with pytest.raises(ProjectError):
            space.load()


def test_a_folder_or_a_broken_link_in_its_place_is_an_error(space, tmp_path):
    """The configuration that is there is used or refused, never passed over."""
    (tmp_path / "nfbuild.toml").mkdir()
    with pytest.raises(ProjectError, match="cannot be read") as caught:
        space.load()
    assert caught.value.place == Place("nfbuild.toml")

    (tmp_path / "nfbuild.toml").rmdir()
    (tmp_path / "nfbuild.toml").symlink_to("nowhere.toml")
    with pytest.raises(ProjectError, match="link to a file that is not there"):
        space.load()


def test_the_configuration_is_found_upwards(space, tmp_path):
    """From any folder below, and the nearest one counts."""
    space.config("[project]\nledger = 'outer'\n")
    space.write("a/b/file")

    assert space.load("a/b").root == space.folder
    assert space.load("a/b").ledger == "outer"

    space.write("a/nfbuild.toml", "")
    assert space.load("a/b").root == str(tmp_path / "a")


def test_a_folder_with_compositions_is_a_project_without_configuration(space):
    """Sensible defaults need no file."""
    space.write("compositions/loop.nf.svg")
    project = space.load()

    assert project.config is None
    assert project.root == space.folder
    assert space.names() == ["loop"]


def test_without_anything_the_hint_names_init(space):
    """The first thing a new user sees says what to do."""
    with pytest.raises(ProjectError, match=r"no `nfbuild\.toml` here") as caught:
        space.load()

    assert caught.value.hint == "`nfbuild init DIR` makes a project"


def test_the_local_file_overrides_the_cache_key_by_key(space):
    """A developer's own cache, without touching what is committed."""
    space.config(
        "[cache]\ndir = 'shared'\nmax_size = '1 GB'\n[[cache.shared]]\nurl = 's3://bucket/a'\n"
    )
    space.write("nfbuild.local.toml", "[cache]\ndir = 'mine'\n")
    cache = space.load().cache
    assert cache.folder == os.path.join(space.folder, "mine")
    assert cache.max_size == 1_000_000_000
    assert [tier.url for tier in cache.shared] == ["s3://bucket/a"]

    space.write("nfbuild.local.toml", "[cache]\nshared = []\n")
    assert space.load().cache.shared == ()


@pytest.mark.parametrize(
    ("text", "fact", "hint"),
    [
        ("[fonts]\nfaces = ['a.ttf']\n", "`fonts` has no place here", "nfbuild.toml"),
        ("[cache]\ndri = 'x'\n", "unknown key `dri`", "`dir`"),
        ("[cash]\n", "`cash` has no place here", "`[cache]`"),
    ],
)
def test_the_local_file_may_override_nothing_that_draws(space, text, fact, hint):
    """What decides pixels is committed."""
    space.config("")
    space.write("nfbuild.local.toml", text)

    with pytest.raises(ProjectError) as caught:
        space.load()

    assert caught.value.place is not None
    assert caught.value.place.file == "nfbuild.local.toml"
    assert fact in caught.value.message
    assert hint in (caught.value.hint or "")


def test_the_environment_overrides_both_files(space, tmp_path):
    """For CI: a cache elsewhere, and who may write."""
    space.config("[cache]\ndir = 'a'\n[[cache.shared]]\nurl = 's3://b'\nmode = 'read-only'\n")
    space.write("nfbuild.local.toml", "[cache]\ndir = 'b'\n")

    space.environment = {"NFBUILD_CACHE_DIR": str(tmp_path / "c"), "NFBUILD_SHARED": "read-write"}
    cache = space.load().cache
    assert cache.folder == str(tmp_path / "c")
    assert [tier.mode for tier in cache.shared] == ["read-write"]

    space.environment = {"NFBUILD_SHARED": "off", "NFBUILD_CACHE_DIR": ""}
    cache = space.load().cache
    assert cache.folder == str(tmp_path / "b")
    assert cache.shared == ()


def test_a_mistyped_mode_in_the_environment_is_named(space):
    """The variable is the place."""
    space.config("")
    space.environment = {"NFBUILD_SHARED": "readonly"}

    with pytest.raises(ProjectError, match="`readonly` is none of") as caught:
        space.load()

    assert caught.value.place == Place("NFBUILD_SHARED")
    assert caught.value.hint == "did you mean `read-only`?"


def test_inside_and_outside_are_judged_by_the_real_path(space, tmp_path):
    """Neither `..`, nor a link, nor a like-named neighbour leads out unseen."""
    inner = tmp_path / "project"
    (tmp_path / "project-else").mkdir()
    (tmp_path / "allowed").mkdir()
    space.write("project/nfbuild.toml", "[project]\noutside = ['../allowed']\n")
    (inner / "link").symlink_to(tmp_path / "project-else")
    project = space.load("project")

    assert project.allows(str(inner / "compositions/a.svg"))
    assert project.allows(str(tmp_path / "allowed/logo.png"))
    assert not project.allows(str(inner / "../project-else/a.svg"))
    assert not project.allows(str(inner / "link/a.svg"))
    assert not project.allows("/etc/passwd")


def test_a_project_reached_through_a_link_is_inside_itself(space, tmp_path):
    """The root's own real path is what counts."""
    space.write("real/nfbuild.toml")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    project = space.load("link")

    assert project.allows(str(tmp_path / "link/a.svg"))
    assert project.allows(str(tmp_path / "real/a.svg"))


def test_what_draws_and_what_guards_is_told():
    """Each key has said what it has an effect on, and what draws enters identities."""
    from nfbuild.project import schema
    from nfbuild.project.values import CacheSettings, Limits, Project

    project = Project("/p", None, (), "ledger", ("/o",), (), CacheSettings("/c"))

    assert project.drawing_configuration() == {"lottie.background": "none"}
    guards = project.guarding_configuration()
    refusing = {
        f"{table}.{key}"
        for table, keys in schema.TABLES.items()
        for key, effect in keys.items()
        if effect == "refuses"
    }
    assert set(guards) == refusing
    assert guards["limits.elements"] == Limits().elements


@pytest.mark.parametrize(
    ("written", "read"),
    [("none", "none"), ("white", "#ffffff"), ("black", "#000000"), ("#1E1E2e", "#1e1e2e")],
)
def test_a_background_has_one_spelling(space, written, read):
    """Two spellings of one colour are one input."""
    space.write("nfbuild.toml", f'[lottie]\nbackground = "{written}"\n')

    assert space.load().lottie.background == read


@pytest.mark.parametrize("written", ["red", "#fff", "#12345678", "1,2,3"])
def test_what_is_no_background_is_refused(space, written):
    """With the line, and what to write."""
    space.write("nfbuild.toml", f'[lottie]\nbackground = "{written}"\n')
    with pytest.raises(ProjectError, match="no colour") as caught:
        space.load()

    assert caught.value.place.line == 2
    assert "#rrggbb" in caught.value.hint
