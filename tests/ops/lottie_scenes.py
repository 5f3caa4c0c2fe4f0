"""Lottie scenes for whole builds: one box each, moved by key frames or by a script."""

from __future__ import annotations

import json

_REST = {
    "o": {"a": 0, "k": 100},
    "r": {"a": 0, "k": 0},
    "a": {"a": 0, "k": [0, 0, 0]},
    "s": {"a": 0, "k": [100, 100, 100]},
}
_STILL = {"ty": "tr", **_REST, "p": {"a": 0, "k": [0, 0]}}


def scene(place, *, colour=(1, 0.5, 0), opacity=100, frames=6, **changes):
    """Return a scene of 64 x 48 px whose box stands where the property `place` says."""
    box = {
        "ty": "gr",
        "it": [
            {"ty": "rc", "p": {"a": 0, "k": [6, 6]}, "s": {"a": 0, "k": [12, 12]}, "r": _zero()},
            {"ty": "fl", "c": {"a": 0, "k": list(colour)}, "o": {"a": 0, "k": opacity}},
            _STILL,
        ],
    }
    layer = {"ty": 4, "ind": 1, "ip": 0, "op": frames, "st": 0, "shapes": [box]}
    layer["ks"] = {**_REST, "p": place}
    plan = {"v": "5.7.0", "fr": 10, "ip": 0, "op": frames, "w": 64, "h": 48, "assets": []}
    plan["layers"] = [layer]
    plan.update(changes)
    return json.dumps(plan).encode()


def _zero():
    return {"a": 0, "k": 0}


def scripted(code, **changes):
    """A scene whose box is moved by an expression."""
    return scene({"a": 0, "k": [10, 10, 0], "x": code}, **changes)


def moving(**changes):
    """A scene whose box goes from left to right."""
    ease = {"x": [0.5], "y": [0.5]}
    keys = [
        {"t": 0, "s": [0, 0, 0], "e": [40, 30, 0], "i": ease, "o": ease},
        {"t": 5, "s": [40, 30, 0]},
    ]
    return scene({"a": 1, "k": keys}, **changes)


COUNTER = (
    "if (typeof counter === 'undefined') {{ counter = {start}; }}"
    " counter = counter + {step}; var $bm_rt = [counter * 4, 12];"
)

SCRIPTED = {
    "counter": scripted(COUNTER.format(start=0, step=1)),
    "same-counter": scripted(COUNTER.format(start=3, step=2)),
    "chance": scripted("var $bm_rt = [Math.random() * 50, Math.random() * 36];"),
    "more-chance": scripted("var $bm_rt = [Math.random() * 50, time * 36];"),
}
