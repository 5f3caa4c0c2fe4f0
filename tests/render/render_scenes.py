"""Lottie scenes, one matter each, built by hand."""

import itertools
import json

KS = {
    "o": {"a": 0, "k": 100},
    "r": {"a": 0, "k": 0},
    "p": {"a": 0, "k": [10, 10, 0]},
    "a": {"a": 0, "k": [0, 0, 0]},
    "s": {"a": 0, "k": [100, 100, 100]},
}


def constant(value):
    return {"a": 0, "k": value}


def moving(*stops):
    """A property with linear key frames: (frame, value) pairs."""
    keys = []
    for (frame, value), (_, following) in itertools.pairwise(stops):
        ease = {"x": [0.5], "y": [0.5]}
        keys.append({"t": frame, "s": value, "e": following, "i": ease, "o": ease})
    keys.append({"t": stops[-1][0], "s": stops[-1][1]})
    return {"a": 1, "k": keys}


def box(left, top, width, height, color=(1, 0, 0), *, opacity=100):
    center = constant([left + width / 2, top + height / 2])
    return {
        "ty": "gr",
        "it": [
            {"ty": "rc", "p": center, "s": constant([width, height]), "r": constant(0)},
            {"ty": "fl", "c": constant(list(color)), "o": constant(opacity)},
            {"ty": "tr", **KS, "p": constant([0, 0]), "a": constant([0, 0])},
        ],
    }


def shapes(*items, **changes):
    layer = {"ty": 4, "ind": 1, "ip": 0, "op": 10, "st": 0, "ks": dict(KS), "shapes": list(items)}
    layer["ks"].update(changes.pop("ks", {}))
    layer.update(changes)
    return layer


def scene(*layers, **changes):
    plan = {"v": "5.7.0", "fr": 10, "ip": 0, "op": 10, "w": 64, "h": 48, "assets": []}
    plan["layers"] = list(layers)
    plan.update(changes)
    return json.dumps(plan).encode()


MOVING = scene(shapes(box(0, 0, 12, 9), ks={"p": moving((0, [0, 0, 0]), (9, [40, 30, 0]))}))
TURNING = scene(
    shapes(box(0, 0, 12, 9, (0, 0.5, 1), opacity=60), ks={"r": moving((0, [0]), (9, [180]))}),
    shapes(box(0, 0, 64, 48, (0.2, 0.9, 0.1), opacity=40), ks={"p": constant([0, 0, 0])}),
)
TRIMMED = scene(
    shapes(
        {
            "ty": "gr",
            "it": [
                {"ty": "el", "p": constant([20, 20]), "s": constant([30, 30])},
                {"ty": "st", "c": constant([1, 1, 0]), "o": constant(80), "w": constant(3)},
                {
                    "ty": "tm",
                    "s": constant(0),
                    "e": moving((0, [5]), (9, [95])),
                    "o": constant(0),
                    "m": 1,
                },
                {"ty": "tr", **KS, "p": constant([0, 0]), "a": constant([0, 0])},
            ],
        }
    )
)
NESTED = scene(
    {
        "ty": 0,
        "refId": "inner",
        "ip": 0,
        "op": 10,
        "st": 2,
        "w": 64,
        "h": 48,
        "ks": KS,
    },
    assets=[{"id": "inner", "layers": [json.loads(MOVING)["layers"][0]]}],
)

_INNER = {"ty": 0, "refId": "x", "ip": 0, "op": 10, "st": 0, "w": 9, "h": 9, "ks": KS}
HOLDING_ITSELF = scene(_INNER, assets=[{"id": "x", "layers": [_INNER]}])

ALPHAS = scene(
    shapes(
        *(
            box(
                i % 16 * 4,
                i // 16 * 3,
                4,
                3,
                (i * 7 % 256 / 255, i * 31 % 256 / 255, i * 101 % 256 / 255),
                opacity=i * 100 / 255,
            )
            for i in range(256)
        ),
        ks={"p": constant([0, 0, 0])},
    ),
    op=2,
)


def expression(code):
    """A box whose place is decided by a script."""
    return scene(shapes(box(0, 0, 8, 8), ks={"p": {"a": 0, "k": [10, 10, 0], "x": code}}))


RANDOM = expression("var $bm_rt; $bm_rt = [Math.random() * 50, Math.random() * 36];")
COUNTING = expression(
    "var $bm_rt; if (typeof n === 'undefined') { n = 0; } n += 5; $bm_rt = [n, 9];"
)
BY_TIME = expression("var $bm_rt; $bm_rt = [time * 30, 20];")


def pictured(name):
    layer = {"ty": 2, "refId": "i", "ip": 0, "op": 10, "st": 0, "ks": KS}
    return scene(layer, assets=[{"id": "i", "w": 4, "h": 3, "u": "", "p": name, "e": 0}])


def written(family):
    """A text layer; the scene names its face by `family`."""
    text = {"s": 20, "f": family, "t": "Nfg", "j": 0, "tr": 0, "lh": 24, "ls": 0, "fc": [0, 0, 0]}
    layer = {"ty": 5, "ip": 0, "op": 10, "st": 0, "ks": {**KS, "p": constant([2, 30, 0])}}
    layer["t"] = {"d": {"k": [{"s": text, "t": 0}]}, "p": {}, "m": {"g": 1}, "a": []}
    fonts = {"list": [{"fName": family, "fFamily": family, "fStyle": "Regular", "ascent": 70}]}
    return scene(layer, fonts=fonts)
