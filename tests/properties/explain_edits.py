"""Single edits with the cause that `explain` must name: finely by the old source, else coarsely.

An edit replaces one text of one file. `fine` are the stable paths that must be named, no more
and no fewer; `line` is a text of the edited file whose line must be told (None where there is
none); `coarse` is what an entry alone can say.
"""

from __future__ import annotations

from nfbuild.dataclasses import dataclass, field

MAIN = "compositions/main.nf.svg"
CHILD = "compositions/child.nf.svg"
SCENE = "compositions/scene.lottie.json"
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" data-width="64" data-height="36" data-fps="10"'

MAIN_TEXT = f"""{HEAD} data-duration="0.4">
  <defs>
    <linearGradient id="fade">
      <stop offset="0" stop-color="#ff0000"/>
      <stop offset="1" stop-color="#0000ff"/>
    </linearGradient>
    <clipPath id="window"><rect width="40" height="30"/></clipPath>
  </defs>
  <style>.loud{{fill:#ffff00}}</style>
  <rect id="panel" width="64" height="36" fill="#102030"/>
  <rect x="1" y="1" width="5" height="5" fill="#00ff00"/>
  <circle class="loud" cx="9" cy="9" r="4"/>
  <g id="group" opacity="0.9">
    <path id="line" d="M0 0L9 9" stroke="#ffffff"/>
    <rect x="20" y="3" width="6" height="6" fill="url(#fade)"/>
  </g>
  <text id="title" x="4" y="24" font-size="8" font-family="Body">Title <tspan>in</tspan> tail</text>
  <text id="kept" x="4" y="33" font-size="6" font-family="Body" xml:space="preserve">a  b</text>
  <image id="dots" href="dots.png" x="40" y="4" width="9" height="9"/>
  <image id="small" href="child.nf.svg" x="44" y="18" width="18" height="12"/>
  <script type="application/nanoframes+json"><![CDATA[
  {{"animations": [
    {{"target": "#panel", "keyframes": [
      {{"t": 0, "opacity": 1}},
      {{"t": 0.3, "opacity": 0.5, "ease": "ease-in"}}
    ]}},
    {{"target": "#line", "keyframes": [
      {{"t": 0, "transform": {{"translate": [0, 0], "rotate": 0}}}},
      {{"t": 0.2, "transform": {{"translate": [9, 4], "rotate": 30}}}},
      {{"t": 0.4, "stroke": "#ff00ff"}}
    ]}}
  ]}}
  ]]></script>
</svg>
"""

CHILD_TEXT = f"""{HEAD} data-duration="0.4">
  <rect id="floor" width="64" height="36" fill="#223344"/>
  <circle id="ball" cx="9" cy="9" r="6" fill="#ff8800"/>
  <script type="application/nanoframes+json">{{"animations": [{{"target": "#ball", "keyframes": [
    {{"t": 0, "opacity": 1}},
    {{"t": 0.4, "opacity": 0.2}}]}}]}}</script>
</svg>
"""


@dataclass(frozen=True)
class Edit:
    """One edit; `path` and what is replaced there."""

    name: str
    before: str
    after: str
    fine: tuple
    coarse: tuple
    line: str | None = None
    path: str = MAIN
    composition: str = "main"
    parts: tuple = field(default=("source",))


def one(name, before, after, fine, coarse, line=None, **more):  # noqa: PLR0917  a table's columns
    as_tuple = [(what,) if isinstance(what, str) else tuple(what) for what in (fine, coarse)]
    return Edit(name, before, after, *as_tuple, line, **more)


EDITS = [
    one("fill", 'fill="#102030"', 'fill="#102031"', "#panel@fill", "#panel", 'id="panel"'),
    one("width", '"panel" width="64"', '"panel" width="63"', "#panel@width", "#panel", "63"),
    one("attribute added", 'id="panel"', 'id="panel" rx="3"', "#panel@rx", "#panel", 'rx="3"'),
    one("attribute gone", ' opacity="0.9"', "", "#group@opacity", "#group", 'id="group"'),
    one("unknown attribute", 'id="panel"', 'id="panel" glow="9"', "#panel@glow", "#panel", "glow"),
    one("without an id", 'x="1" y="1"', 'x="2" y="1"', "rect[2]@x", "rect[2]", 'x="2" y="1"'),
    one("class", 'class="loud"', 'class="calm"', "circle[1]@class", "circle[1]", '"calm"'),
    one("path", "M0 0L9 9", "M0 0L9 8", "#line@d", "#group", "M0 0L9 8"),
    one("nested element", 'x="20" y="3"', 'x="21" y="3"', "#group/rect[1]@x", "#group", 'x="21"'),
    one("gradient", '#0000ff"/>', '#0000fe"/>', "#fade/stop[2]@stop-color", "defs[1]", "#0000fe"),
    one("clip", 'width="40"', 'width="41"', "#window/rect[1]@width", "defs[1]", 'width="41"'),
    one("style sheet", "#ffff00", "#ffff01", "style[1] text", "style", "#ffff01"),
    one("text", ">Title <", ">Titel <", "#title text", "#title", ">Titel <"),
    one("tail", " tail</text>", " tale</text>", "#title text", "#title", " tale"),
    one("inner text", ">in<", ">out<", "#title/tspan[1] text", "#title", ">out<"),
    one("preserved blank", ">a  b<", ">a b<", "#kept text", "#kept", ">a b<"),
    one("family", 'y="24" font-size="8" font-family="Body"', 'y="24" font-size="8" '
        'font-family="Strong"', ("#title@font-family", "Strong"), ("#title", "Strong"), '"Strong"',
        parts=("source", "fonts")),
    one("font size", 'font-size="8"', 'font-size="9"', "#title@font-size", "#title", 'size="9"'),
    one("element added", "  <g id", '  <line id="new" x2="9"/>\n  <g id', "#new",
        ("#new", "order"), 'id="new"'),
    one("element gone", '  <circle class="loud" cx="9" cy="9" r="4"/>\n', "", "circle[1]",
        ("circle[1]", "order")),
    one("nested element gone", '    <path id="line" d="M0 0L9 9" stroke="#ffffff"/>\n', "",
        "#line", "#group"),
    one("tag", '<circle class="loud"', '<ellipse class="loud"', ("circle[1]", "ellipse[1]"),
        ("circle[1]", "ellipse[1]", "order")),
    one("id", 'id="kept"', 'id="other"', ("#kept", "#other"), ("#kept", "#other", "order")),
    one("canvas", 'data-width="64"', 'data-width="62"', "data-width", "canvas", "data-width"),
    one("rate", 'data-fps="10"', 'data-fps="20"', "data-fps", ("duration", "rate"),
        "data-fps"),
    one("duration", 'data-duration="0.4"', 'data-duration="0.6"', "data-duration",
        "duration", "data-duration"),
    one("box of the view", 'data-fps="10"', 'data-fps="10" viewBox="0 0 32 18"', "viewBox",
        "canvas", "viewBox"),
    one("keyframe value", '"opacity": 0.5', '"opacity": 0.4', "timeline #panel[2].opacity",
        "timeline #panel", '"opacity": 0.4'),
    one("keyframe time", '"t": 0.3', '"t": 0.25', "timeline #panel[2].t", "timeline #panel",
        '"t": 0.25'),
    one("ease", "ease-in", "ease-out", "timeline #panel[2].ease", "timeline #panel", "ease-out"),
    one("inside a transform", "[9, 4]", "[9, 5]", "timeline #line[2].transform.translate",
        "timeline #line", "[9, 5]"),
    one("rotation", '"rotate": 30', '"rotate": 31', "timeline #line[2].transform.rotate",
        "timeline #line", '"rotate": 31'),
    one("animated paint", '"#ff00ff"', '"#ff00fe"', "timeline #line[3].stroke", "timeline #line",
        "#ff00fe"),
    one("property added", '"opacity": 0.5,', '"opacity": 0.5, "fill": "#aa0000",',
        "timeline #panel[2].fill", "timeline #panel", "#aa0000"),
    one("keyframe gone", ',\n      {"t": 0.4, "stroke": "#ff00ff"}', "", "timeline #line keyframes",
        "timeline #line", '"target": "#line"'),
    one("target", '"target": "#line"', '"target": "#dots"', ("timeline #line", "timeline #dots"),
        ("timeline #line", "timeline #dots")),
    one("child attribute", "#223344", "#223345", "#floor@fill",
        f"child {CHILD}: #floor", "#223345", path=CHILD),
    one("child timeline", '"opacity": 0.2', '"opacity": 0.3', "timeline #ball[2].opacity",
        f"child {CHILD}: timeline #ball", '"opacity": 0.3', path=CHILD),
    one("child element gone", '  <circle id="ball" cx="9" cy="9" r="6" fill="#ff8800"/>\n', "",
        "#ball", (f"child {CHILD}: #ball", f"child {CHILD}: order"), path=CHILD),
    one("placing of the child", 'x="44" y="18"', 'x="43" y="18"', "#small@x", "#small", 'x="43"'),
    one("another picture", 'href="dots.png"', 'href="more.png"',
        ("#dots@href", "compositions/dots.png", "compositions/more.png"),
        ("#dots", "compositions/dots.png", "compositions/more.png"), "more.png",
        parts=("source", "media")),
    one("scene colour", '"k": 90', '"k": 91', "layer layer 0.shapes[0].it[1].o.k", "layer layer 0",
        path=SCENE, composition="scene.lottie"),
    one("scene rate", '"fr": 10', '"fr": 12', "scene.fr", "scene", path=SCENE,
        composition="scene.lottie"),
    one("scene layer's name", '"nm": "layer 1"', '"nm": "other"', ("layer layer 1", "layer other"),
        ("layer layer 1", "layer other"), path=SCENE, composition="scene.lottie"),
]  # fmt: skip
"""Edits of a source; those of media, faces and tools are made by the tests themselves."""
