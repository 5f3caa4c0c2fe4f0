"""Every key of `nfbuild.toml`, by table, and what it has an effect on.

The list is what unknown keys are judged by, what suggestions are made from and what
`docs/configuration.md` documents (a test compares them). A key that draws enters identities; a new
key must say here that it does or does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

Effect: TypeAlias = Literal["draws", "fonts", "refuses", "places", "exports", "judges"]
"""`draws`: moves pixels. `fonts`: moves pixels through the fonts part, by content. `refuses`:
decides whether a composition is built at all. `places`: says where things are. `exports`: films
only. `judges`: verdicts only."""

PROJECT: Mapping[str, Effect] = {
    "compositions": "places",
    "ledger": "places",
    "outside": "refuses",
}
FONTS: Mapping[str, Effect] = {"faces": "fonts"}
LOTTIE: Mapping[str, Effect] = {"background": "draws"}
CACHE: Mapping[str, Effect] = {
    "dir": "places",
    "max_size": "places",
    "max_age": "places",
    "shared": "places",
}
SHARED: Mapping[str, Effect] = {"url": "places", "mode": "places"}
EXPORT: Mapping[str, Effect] = {
    "composition": "exports",
    "format": "exports",
    "to": "exports",
    "range": "exports",
    "marker": "exports",
    "scale": "exports",
    "background": "exports",
    "rate": "exports",
    "quality": "exports",
    "loop": "exports",
    "palette": "exports",
    "audio": "exports",
}
VERIFY: Mapping[str, Effect] = {"excused": "judges"}
EXCUSE: Mapping[str, Effect] = {
    "lanes": "judges",
    "reason": "judges",
    "until": "judges",
    "max_pixels": "judges",
    "max_step": "judges",
}
LIMITS: Mapping[str, Effect] = {
    "canvas_pixels": "refuses",
    "canvas_side": "refuses",
    "frames": "refuses",
    "elements": "refuses",
    "depth": "refuses",
    "nesting": "refuses",
    "document_size": "refuses",
    "worker_memory": "refuses",
    "frame_deadline": "refuses",
}

TABLES: Mapping[str, Mapping[str, Effect]] = {
    "project": PROJECT,
    "fonts": FONTS,
    "lottie": LOTTIE,
    "cache": CACHE,
    "cache.shared": SHARED,
    "export": EXPORT,
    "verify": VERIFY,
    "verify.excused": EXCUSE,
    "limits": LIMITS,
}

TOP = ("project", "fonts", "lottie", "cache", "export", "verify", "limits")

# Which formats know which option; `composition`, `format` and `to` stand in all.
_FILMS = ("mp4", "webm", "mov", "apng", "webp", "gif")
FORMATS = ("png", *_FILMS)
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "range": FORMATS,
    "marker": FORMATS,
    "scale": FORMATS,
    "background": FORMATS,
    "rate": FORMATS,
    "quality": ("mp4", "webm", "mov", "webp"),
    "loop": ("apng", "webp", "gif"),
    "palette": ("gif",),
    "audio": ("mp4", "webm", "mov"),
}


def drawing_keys() -> list[str]:
    """Return the dotted names of all keys that draw, sorted."""
    return sorted(
        f"{table}.{key}"
        for table, keys in TABLES.items()
        for key, effect in keys.items()
        if effect == "draws"
    )
