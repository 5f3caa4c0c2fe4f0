"""What the page says is not drawn: for each row a scene, and the one that it draws as.

The keys are the first cells of the table. Both scenes must give the same pixels, so a row that has
become untrue fails. `found` is whether `check` speaks of it, the last cell.
"""

from __future__ import annotations

from dataclasses import dataclass

BLACK = '<rect x="8" y="8" width="40" height="20"/>'
BLUE = '<rect width="96" height="48" fill="#0000ff"/>'
RED = '<rect x="8" y="8" width="40" height="20" fill="#ff0000"/>'
TEXT = '<text x="40" y="30" font-size="12">ab</text>'
SMALL = '<text x="10" y="30">ab</text>'
PICTURE = '<image width="60" height="40" href="assets/mark.png"/>'
CIRCLE = '<circle cx="70" cy="30" r="9" fill="#00ff00"/>'
PARAGRAPH = '<text x="4" y="10" font-size="10" data-wrap="40">ab ab ab cd</text>'
PARAGRAPH_LINES = (
    '<text x="6" y="15" font-size="15">ab ab ab</text><text x="6" y="33" font-size="15">cd</text>'
)
LINE = '<path id="line" d="M8 8 L80 30" stroke="#0000ff" stroke-width="3" fill="none"/>'


@dataclass(frozen=True)
class Gap:
    """Two scenes that draw the same, and whether the first one is found."""

    written: str
    instead: str
    found: bool


GAPS = {
    "`text-anchor`, `letter-spacing`": Gap(
        TEXT.replace("font", 'text-anchor="end" letter-spacing="4" font'), TEXT, found=True
    ),
    "`dx`, `dy`, `rotate`, `dominant-baseline`, `textLength`, `word-spacing`,"
    " `text-decoration`, `writing-mode`": Gap(
        TEXT.replace(
            "font",
            'dx="9" dy="9" rotate="20" dominant-baseline="middle" textLength="50" word-spacing="9"'
            ' text-decoration="underline" writing-mode="tb" font',
        ),
        TEXT,
        found=True,
    ),
    "attributes of `<tspan>`": Gap(
        TEXT.replace("b<", '<tspan fill="#ff0000" dy="9" font-size="30">b</tspan><'),
        TEXT,
        found=True,
    ),
    "`opacity` on `<text>` and `<image>` in the markup": Gap(
        PICTURE.replace("width", 'opacity="0.3" width', 1)
        + TEXT.replace("font", 'opacity="0" font'),
        PICTURE + TEXT,
        found=True,
    ),
    "`display` of texts and images, fonts, `visibility` in a `style`": Gap(
        TEXT.replace("font", 'style="display:none;font-size:30px;font-weight:bold" font')
        + PICTURE.replace("width", 'style="display:none" width', 1)
        + RED.replace("/", ' style="visibility:hidden"/'),
        TEXT + PICTURE + RED,
        found=True,
    ),
    "units in a `transform` (`9px`, `9deg`)": Gap(
        RED.replace("/", ' transform="translate(9, 9) rotate(9deg)"/')
        + LINE.replace("/", ' style="transform:translate(9px,9px)"/'),
        RED + LINE,
        found=True,
    ),
    "`stroke` on `<text>`": Gap(
        TEXT.replace("font", 'stroke="#ff0000" stroke-width="2" font'), TEXT, found=True
    ),
    "`font-size`, `font-family`, `font-weight` on a group": Gap(
        f'<g font-size="20" font-family="Source Sans Pro" font-weight="bold">{SMALL}</g>',
        SMALL,
        found=True,
    ),
    "`<textPath>`": Gap(
        '<defs><path id="c" d="M8 40 C30 8 60 8 90 40"/></defs>'
        '<text x="8" y="30" font-size="12"><textPath href="#c">abc</textPath></text>',
        '<text x="8" y="30" font-size="12">abc</text>',
        found=True,
    ),
    "`visibility`": Gap(RED.replace("/", ' visibility="hidden"/'), RED, found=True),
    "`preserveAspectRatio` on `<image>`": Gap(
        PICTURE.replace("width", 'preserveAspectRatio="xMidYMid meet" width', 1),
        PICTURE,
        found=True,
    ),
    "rules for an id in `<style>`": Gap(
        "<style>#a { fill: #00ff00 }</style>" + RED.replace("<rect", '<rect id="a"'),
        RED,
        found=True,
    ),
    "`<marker>`": Gap(
        '<defs><marker id="m" markerWidth="9" markerHeight="9"><circle r="9"/></marker></defs>'
        + LINE.replace("/>", ' marker-end="url(#m)"/>'),
        LINE,
        found=True,
    ),
    "`<pattern>`": Gap(
        '<defs><pattern id="p" width="4" height="4"><circle r="3"/></pattern></defs>'
        + LINE
        + RED.replace("#ff0000", "url(#p)"),
        LINE,
        found=True,
    ),
    "alpha in a colour": Gap(
        RED.replace("#ff0000", "rgba(255,0,0,0.5)")
        + RED.replace("#ff0000", "#00ff0080").replace("8", "50", 1),
        BLACK + BLACK.replace("8", "50", 1),
        found=True,
    ),
    "`transparent`, `inherit`, unknown colours": Gap(
        "".join(
            RED.replace("#ff0000", colour).replace("8", place, 1) + LINE.replace("#0000ff", colour)
            for colour, place in (
                ("transparent", "8"),
                ("inherit", "20"),
                ("oklch(0.6 0.2 9)", "50"),
            )
        ),
        "".join(BLACK.replace("8", place, 1) for place in ("8", "20", "50")),
        found=True,
    ),
    "`rgb()` without commas or with a number over 255": Gap(
        RED.replace("#ff0000", "rgb(255 0 0)")
        + LINE.replace("#0000ff", "rgb(300, 0, 0)").replace("M8 8", "M50 8"),
        BLACK + LINE.replace("#0000ff", "#000000").replace("M8 8", "M50 8"),
        found=True,
    ),
    "filters but `feGaussianBlur`, functions in `filter`": Gap(
        '<defs><filter id="f"><feOffset dx="9" dy="9"/></filter></defs>'
        + RED.replace("/", ' filter="url(#f)"/')
        + LINE.replace("/", ' style="filter:blur(3px)"/'),
        RED + LINE,
        found=True,
    ),
    "`<switch>`, an unknown element": Gap(
        f"<switch>{RED}{LINE}</switch><glow>{TEXT}</glow>", RED + LINE + TEXT, found=True
    ),
    "`<title>` or `<desc>` in a text": Gap(
        TEXT.replace("b<", "<title>b</title><"), TEXT, found=True
    ),
    "CSS animations, SMIL (`<animate>`, `<set>`)": Gap(
        RED.replace("/>", '><animate attributeName="x" from="0" to="90" dur="1s"/></rect>')
        + "<style>@keyframes k { to { opacity: 0 } } circle { animation: k 1s }</style>"
        + CIRCLE.replace("/>", '><set attributeName="r" to="20"/></circle>'),
        RED + CIRCLE,
        found=True,
    ),
}

# Sentences of the page, each with two scenes that draw the same if it is true.
TRUTHS = {
    "`rgb(255, 90, 54)`, `hsl(12, 100%, 61%)` and the names of CSS": (
        RED.replace("#ff0000", "rgb(255, 0, 0)")
        + RED.replace("#ff0000", "hsl(0, 100%, 50%)").replace("8", "20", 1)
        + RED.replace("#ff0000", "red").replace("8", "32", 1),
        RED + RED.replace("8", "20", 1) + RED.replace("8", "32", 1),
    ),
    "`rebeccapurple`, which is black": (RED.replace("#ff0000", "rebeccapurple"), BLACK),
    "without one a text is drawn at 10 px": (SMALL, SMALL.replace("y=", 'font-size="10" y=')),
    "`fill` is inherited": (
        f'<g fill="#ff0000">{TEXT}</g>',
        TEXT.replace("font", 'fill="#ff0000" font'),
    ),
    "`font-weight` alone chooses nothing": (TEXT.replace("font", 'font-weight="bold" font'), TEXT),
    'write `font-size="10"`, and scale a group around it for another size': (
        f'<g transform="scale(1.5)">{PARAGRAPH}</g>',
        PARAGRAPH_LINES,
    ),
    "but for wrapped and bent text and nested compositions": (
        '<text x="4" y="20" font-size="10" data-wrap="90" opacity="0.3">ab</text>',
        '<g opacity="0.3"><text x="4" y="20" font-size="10">ab</text></g>',
    ),
    "`mix-blend-mode` is drawn, but not of a text": (
        BLUE
        + RED.replace("/", ' style="mix-blend-mode:multiply"/')
        + TEXT.replace("font", 'fill="#ff0000" style="mix-blend-mode:multiply" font'),
        BLUE + BLACK + TEXT.replace("font", 'fill="#ff0000" font'),
    ),
    "*replaces* one that stands in the markup": (
        RED.replace("/", ' opacity="0.5" data-fade="0.2"/'),
        RED.replace("/", ' data-fade="0.2"/'),
    ),
}


def document(scene: str) -> str:
    """Return a composition of two frames."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" data-width="96" data-height="48" data-fps="10"'
        f' data-duration="0.2"><rect width="96" height="48" fill="#ffffff"/>{scene}</svg>'
    )
