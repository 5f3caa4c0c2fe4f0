"""Texts to lay out, one matter each; the peer draws the same body.

What the peer refuses or draws as nothing is in `test_scene_layout_departures`.
"""
# ruff: noqa: E501, RUF001  one case a line; fullwidth marks are the matter

BASE = 'font-family="Sarasa Mono SC" font-size="20" fill="#204060"'

CASES = {
    "chip latin": f'<text x="40" y="60" {BASE} data-bg="#ffe0c0">Brake</text>',
    "chip cjk": f'<text x="40" y="60" {BASE} data-bg="#ffe0c0">行人入侵</text>',
    "chip mixed": f'<text x="40" y="60" {BASE} data-bg="#ffe0c0">ETA 五分 12s</text>',
    "chip padding and radius": f'<text x="40" y="60" {BASE} data-bg="red" data-bg-pad-x="3.5"'
    ' data-bg-pad-y="0" data-bg-rx="99">gap</text>',
    "chip negative padding": f'<text x="40" y="60" {BASE} data-bg="red" data-bg-pad-x="-3">gap</text>',
    "chip without words": f'<text x="40" y="60" {BASE} data-bg="red"></text>',
    "chip around blanks": f'<text x="40" y="60" {BASE} data-bg="red">   </text>',
    "chip preserved blanks": f'<text x="40" y="60" {BASE} xml:space="preserve" data-bg="red">'
    "  a   b </text>",
    "chip on several source lines": f'<text x="40" y="60" {BASE} data-bg="red">\n  one\n  two\n</text>',
    "chip default size": '<text x="40" y="60" data-bg="red">sixteen?</text>',
    "chip fractional size": '<text x="40.3" y="60.7" font-size="23.7" data-bg="red">half</text>',
    "chip wider than the measuring page": f'<text x="4" y="60" {BASE} data-bg="red">{"wide " * 30}</text>',
    "chip taller than the measuring page": '<text y="300" font-size="700" data-bg="red">H</text>',
    "chip does not follow a transform": f'<text x="40" y="60" {BASE} data-bg="red"'
    ' transform="rotate(10)">turned</text>',
    "wrap latin": f'<text x="40" y="60" {BASE} data-wrap="130">the quick brown fox jumps over</text>',
    "wrap cjk": f'<text x="40" y="60" {BASE} data-wrap="105">車両が右折、歩行者は優先です。</text>',
    "wrap closing mark": f'<text x="40" y="60" {BASE} data-wrap="85">車両右折、歩行者。「優」先</text>',
    "wrap opening mark": f'<text x="40" y="60" {BASE} data-wrap="62">車両「右」折（歩）</text>',
    "wrap mixed": f'<text x="40" y="60" {BASE} data-wrap="120">漢字 abc かな def混じりGHI文</text>',
    "wrap long word": f'<text x="40" y="60" {BASE} data-wrap="90">ok incomprehensibilities ok</text>',
    "wrap long word alone": f'<text x="40" y="60" {BASE} data-wrap="90">incomprehensibilities</text>',
    "wrap narrower than a character": f'<text x="40" y="60" {BASE} data-wrap="1">漢 ab</text>',
    "wrap with chip": f'<text x="40" y="60" {BASE} data-wrap="130" data-bg="#ffe0c0">'
    "the quick brown fox gulps</text>",
    "wrap chip last line without descender": f'<text x="40" y="60" {BASE} data-wrap="60"'
    ' data-bg="#ffe0c0">gap ace</text>',
    "wrap one line with chip": f'<text x="40" y="60" {BASE} data-wrap="600" data-bg="red">one</text>',
    "wrap nothing": f'<text x="40" y="60" {BASE} data-wrap="60"></text>',
    "wrap blanks with chip": f'<text x="40" y="60" {BASE} data-wrap="60" data-bg="red">  </text>',
    "wrap inside a transformed group": '<g transform="translate(30 20) scale(1.5)">'
    f'<text x="10" y="20" {BASE} data-wrap="90" data-bg="#eee">over and under</text></g>',
    "wrap carries transform and opacity": f'<text x="40" y="60" {BASE} data-wrap="90"'
    ' transform="rotate(5)" opacity="0.5" fill-opacity="0.5" stroke="red">over and under</text>',
    "fit shrinks": f'<text x="40" y="60" {BASE} data-fit="80">fits the lane</text>',
    "fit stops at the floor": f'<text x="40" y="60" {BASE} data-fit="20">fits the lane</text>',
    "fit with its own floor": f'<text x="40" y="60" {BASE} data-fit="20" data-fit-min="15">floor</text>',
    "fit leaves what fits": f'<text x="40" y="60" {BASE} data-fit="500">fits the lane</text>',
    "fit with chip": f'<text x="40" y="60" {BASE} data-fit="70" data-bg="#ffe0c0">車両が右折</text>',
    "fit gives way to wrap": f'<text x="40" y="60" {BASE} data-fit="30" data-wrap="70">a fit wrap</text>',
    "curve line": f'<text {BASE} data-curve-d="M 20 50 L 300 150">straight on</text>',
    "curve cubic": f'<text {BASE} data-curve-d="M 20 150 C 90 20, 250 20, 300 150">DRIVE SAFE 安全</text>',
    "curve relative": f'<text {BASE} data-curve-d="m20 150c70-130 230-130 280 0s60 90 90 0l40-40">'
    "relative commands all along</text>",
    "curve several moves": f'<text {BASE} data-curve-d="M20 50L90 50M20 90L300 90">over a gap here</text>',
    "curve smooth": f'<text {BASE} data-curve-d="M20 90C40 10 90 10 120 90S200 160 240 90">smooth</text>',
    "curve quadratic as the peer": f'<text {BASE} data-curve-d="M20 90Q120 10 220 90T300 90">qua</text>',
    "curve closed": f'<text {BASE} data-curve-d="M20 20L200 20L200 120Z">closed but open</text>',
    "curve shorter than the text": f'<text {BASE} data-curve-d="M20 50L60 50">heaped up</text>',
    "curve single point": f'<text {BASE} data-curve-d="M20 50">dot</text>',
    "curve with blanks": f'<text x="9" y="9" {BASE} data-curve-d="M20 50L300 50">  a  b </text>',
    "curve carries transform": f'<text {BASE} data-curve-d="M20 50L300 50" transform="rotate(8)"'
    ' opacity="0.4" font-weight="700">carried</text>',
    "circle": f'<text {BASE} data-curve-circle="200,150,80">ROUND AND ROUND 環</text>',
    "circle from an angle": f'<text {BASE} data-curve-circle="200 150 80 30">FROM 30</text>',
    "circle full": f'<text {BASE} data-curve-circle="200,150,15,-90">more than fits around</text>',
    "circle inside out": f'<text {BASE} data-curve-circle="200,150,-80">inside</text>',
    "circle beats path and chip": f'<text {BASE} data-curve-circle="200,150,80"'
    ' data-curve-d="M0 0L9 9" data-bg="red" data-wrap="20">wins</text>',
    "raster text without a handler": f'<text x="40" y="60" {BASE} data-raster="fancy"'
    ' data-anchor="center" data-bg="#eee">by font</text>',
}
