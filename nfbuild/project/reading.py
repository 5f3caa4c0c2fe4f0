"""From the parsed tables of `nfbuild.toml` to values, or to the first error with its line.

Strict: an unknown key, a value of another type and a value without sense are errors, each with a
hint. What can only be judged with the compositions at hand (does an excuse's name exist, do two
exports write one file) is judged later.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from nfbuild.errors import Place, ProjectError
from nfbuild.project import schema
from nfbuild.project.suggest import did_you_mean
from nfbuild.project.table import SourceText, Table
from nfbuild.project.targets import check_template
from nfbuild.project.values import (
    CONFIG_NAME,
    CacheSettings,
    Excuse,
    Export,
    Format,
    Limits,
    Lottie,
    Mode,
    Project,
    SharedTier,
)

DEFAULT_PATTERNS = (
    "compositions/**/*.nf.svg",
    "compositions/**/*.lottie",
    "compositions/**/*.lottie.json",
)
DEFAULT_FACE = "package:font_source_sans_pro/files/SourceSansPro-Regular.ttf"

_SCHEMES = ("file", "https", "http", "s3", "gs", "az")
_MODES = ("read-write", "read-only")


def read_project(
    root: str,
    main: tuple[SourceText, Mapping[str, Any]] | None,
    local: tuple[SourceText, Mapping[str, Any]] | None,
    environment: Mapping[str, str],
    sources: tuple[str, ...],
) -> Project:
    """Return the project at the absolute path `root`.

    `main` and `local` are the texts and tables of the two files that exist.
    """
    source, raw = main or (SourceText(CONFIG_NAME, ""), {})
    top = Table(source, (), raw, "")
    top.only(schema.TOP)
    if main is not None:
        _refuse_moved_keys(top)
    patterns, ledger, outside = _project(top.table("project", "project"), root)
    project = Project(
        root=root,
        config=source.name if main is not None else None,
        patterns=patterns,
        ledger=ledger,
        outside=outside,
        faces=_faces(top.table("fonts", "fonts")),
        cache=_cache(top, local, root, environment),
        exports=tuple(_export(table) for table in top.tables("export", "export")),
        excused=_excused(top.table("verify", "verify")),
        limits=_limits(top.table("limits", "limits")),
        lottie=_lottie(top.table("lottie", "lottie")),
        sources=sources,
    )
    _keep_apart(project, top)
    return project


def _refuse_moved_keys(top: Table) -> None:
    # A key above the first table belongs to no table: the commonest slip in a TOML file.
    for key, value in top.raw.items():
        if not isinstance(value, (dict, list)):
            raise top.error(f"`{key}` must be a table", key, hint=f"write `[{key}]` above its keys")


def _project(
    table: Table | None, root: str
) -> tuple[tuple[tuple[str, Place], ...], str, tuple[str, ...]]:
    patterns = tuple((pattern, Place(CONFIG_NAME)) for pattern in DEFAULT_PATTERNS)
    if table is None:
        return patterns, "ledger", ()
    table.only(schema.PROJECT)
    written = table.texts("compositions")
    if written is not None:
        if not written:
            raise table.error(
                "`compositions` names no pattern",
                "compositions",
                hint=f'write a pattern such as `["{DEFAULT_PATTERNS[0]}"]`',
            )
        patterns = tuple(
            (_inside(table, text, "compositions", i), place)
            for i, (text, place) in enumerate(written)
        )
    ledger = _inside(table, table.path("ledger") or "ledger", "ledger")
    outside = tuple(
        os.path.realpath(os.path.join(root, os.path.expanduser(text)))
        for text, _ in table.texts("outside") or ()
    )
    return patterns, ledger, outside


def _inside(table: Table, text: str, *key: str | int) -> str:
    """Return a project-relative path or pattern in its shortest form."""
    segments = [segment for segment in text.split("/") if segment not in ("", ".")]
    if text.startswith("/") or ".." in segments or os.path.isabs(text):
        raise table.error(
            f"`{text}` leads out of the project",
            *key,
            hint="write a path below the folder of nfbuild.toml",
        )
    if not segments:
        raise table.error(f"`{text}` is the project itself", *key, hint="name a folder in it")
    return "/".join(segments)


def _faces(table: Table | None) -> tuple[tuple[str, Place], ...]:
    if table is not None:
        table.only(schema.FONTS)
        faces = table.texts("faces")
        if faces is not None:
            if not faces:
                raise table.error(
                    "`faces` names no face",
                    "faces",
                    hint="leave the key out for the default face, or name a `.ttf` file",
                )
            _refuse_twice(table, faces)
            return tuple(faces)
    return ((DEFAULT_FACE, Place(CONFIG_NAME)),)


def _refuse_twice(table: Table, faces: list[tuple[str, Place]]) -> None:
    seen: set[str] = set()
    for i, (label, _) in enumerate(faces):
        if label in seen:
            raise table.error(
                f"the face `{label}` is listed twice", "faces", i, hint="list it once"
            )
        seen.add(label)


def _cache(
    top: Table,
    local: tuple[SourceText, Mapping[str, Any]] | None,
    root: str,
    environment: Mapping[str, str],
) -> CacheSettings:
    folder, size, age, shared = "cache", CacheSettings.max_size, CacheSettings.max_age, ()
    tiers: tuple[SharedTier, ...] = shared
    tables = [top.table("cache", "cache")]
    if local is not None:
        below = Table(local[0], (), local[1], "")
        for key in below.raw:
            if key != "cache":
                hint = (
                    f"move it to {CONFIG_NAME}" if key in schema.TOP else "only `[cache]` is known"
                )
                raise below.error(
                    f"`{key}` has no place here: this file is not shared", key, hint=hint
                )
        tables.append(below.table("cache", "cache"))
    for table in tables:
        if table is None:
            continue
        table.only(schema.CACHE)
        folder = table.path("dir") or folder
        size = table.size("max_size") or size
        age = table.age("max_age") or age
        if "shared" in table.raw:
            tiers = tuple(_tier(one) for one in table.tables("shared", "cache.shared"))
    folder = environment.get("NFBUILD_CACHE_DIR") or folder
    return CacheSettings(
        folder=os.path.normpath(os.path.join(root, os.path.expanduser(folder))),
        max_size=size,
        max_age=age,
        shared=_overridden(tiers, environment.get("NFBUILD_SHARED") or None),
    )


def _overridden(tiers: tuple[SharedTier, ...], override: str | None) -> tuple[SharedTier, ...]:
    if override is None:
        return tiers
    known = ("off", *_MODES)
    if override not in known:
        raise ProjectError(
            f"`{override}` is none of `off`, `read-only`, `read-write`",
            place=Place("NFBUILD_SHARED"),
            hint=did_you_mean(override, known) or "unset the variable to use nfbuild.toml alone",
            code="project.config",
        )
    if override == "off":
        return ()
    return tuple(SharedTier(tier.url, cast("Mode", override), tier.place) for tier in tiers)


def _tier(table: Table) -> SharedTier:
    table.only(schema.SHARED)
    table.required("url", 'write `url = "file:///srv/nfbuild-cache"`')
    url = cast("str", table.text("url"))
    scheme, found, rest = url.partition("://")
    if not found or scheme not in _SCHEMES or not rest:
        near = did_you_mean(scheme, _SCHEMES) if found else None
        raise table.error(
            f"`{url}` is not an address of a shared cache",
            "url",
            hint=near or "write `file:///FOLDER`, `https://HOST/PATH` or `s3://BUCKET/PREFIX`",
        )
    if "@" in rest.split("/", 1)[0]:
        raise table.error(
            "the address of a shared cache holds a name or password",
            "url",
            hint="credentials come from the environment; this file is committed",
        )
    mode = table.choice("mode", _MODES) or "read-only"
    return SharedTier(url.rstrip("/"), cast("Mode", mode), table.place("url"))


def _export(table: Table) -> Export:
    table.only(schema.EXPORT)
    table.required("format", f"write one of {', '.join(schema.FORMATS)}")
    kind = cast("str", table.choice("format", schema.FORMATS))
    table.required("to", 'write for example `to = "out/{name}.mp4"`')
    for option, formats in schema.OPTIONS.items():
        if option in table.raw and kind not in formats:
            raise table.error(
                f"`{option}` means nothing for `{kind}`",
                option,
                hint=f"it is for {', '.join(formats)}",
            )
    to = cast("str", table.text("to"))
    try:
        check_template(to, kind)
    except ValueError as fault:
        hint = "write `{name}` for the composition and `{number:05d}` for the frame"
        raise table.error(f"`to` {fault}", "to", hint=hint) from None
    span = table.span("range")
    marker = table.text("marker")
    if span is not None and marker is not None:
        raise table.error("`range` and `marker` both choose frames", "marker", hint="keep one")
    return Export(
        composition=table.text("composition") or "*",
        format=cast("Format", kind),
        to=to,
        place=table.place("to"),
        frames=span,
        marker=marker,
        scale=table.ratio("scale"),
        background=_colour(table, "background"),
        rate=table.ratio("rate"),
        quality=table.count("quality", 1, 100),
        loop=table.count("loop", 0, 65_535),
        palette=table.count("palette", 2, 256),
        audio=table.path("audio"),
    )


def _colour(table: Table, key: str) -> str | None:
    """Return an opaque colour as six hexadecimal digits after `#`."""
    text = table.text(key)
    if text is None:
        return None
    digits = text[1:].lower()
    if text[0] != "#" or len(digits) not in (3, 6) or digits.strip("0123456789abcdef"):
        raise table.error(f"`{key}` is `{text}`, which is no colour", key, hint="write `#rrggbb`")
    return "#" + ("".join(c + c for c in digits) if len(digits) == 3 else digits)


def _excused(table: Table | None) -> dict[str, Excuse]:
    if table is None:
        return {}
    table.only(schema.VERIFY)
    group = table.table("excused", 'verify.excused."NAME"')
    if group is None:
        return {}
    excuses: dict[str, Excuse] = {}
    for name in group.raw:
        one = group.table(name, f'verify.excused."{name}"')
        assert one is not None
        excuses[name] = _excuse(one, name)
    return excuses


def _excuse(table: Table, name: str) -> Excuse:
    table.only(schema.EXCUSE)
    for key, example in (
        ("lanes", 'write `lanes = ["macos-arm64"]`, the platforms that differ'),
        ("reason", "say why the difference is accepted"),
        ("until", "write the last day it holds, such as `until = 2027-06-30`"),
        ("max_pixels", "bound the pixels that may differ in one frame"),
        ("max_step", "bound the difference of one channel, 1 to 255"),
    ):
        table.required(key, example)
    lanes = table.texts("lanes") or []
    if not lanes:
        raise table.error("`lanes` names no lane", "lanes", hint="name the platforms that differ")
    until = table.date("until")
    pixels = table.count("max_pixels", 1)
    step = table.count("max_step", 1, 255)
    assert until is not None
    assert pixels is not None
    assert step is not None
    return Excuse(
        name=name,
        lanes=tuple(sorted({lane for lane, _ in lanes})),
        reason=cast("str", table.text("reason")),
        until=until,
        max_pixels=pixels,
        max_step=step,
        place=table.place(),
    )


def _limits(table: Table | None) -> Limits:
    if table is None:
        return Limits()
    table.only(schema.LIMITS)
    values: dict[str, int] = {}
    for key in schema.LIMITS:
        if key in ("document_size", "worker_memory"):
            value = table.size(key)
        elif key == "frame_deadline":
            value = table.age(key)
        else:
            value = table.count(key, 1)
        if value is not None:
            values[key] = value
    return Limits(**values)


def _lottie(table: Table | None) -> Lottie:
    if table is None:
        return Lottie()
    table.only(schema.LOTTIE)
    text = table.text("background")
    if text is None:
        return Lottie()
    # One spelling for one colour: it is an input, and two spellings would draw everything again.
    color = {"white": "#ffffff", "black": "#000000"}.get(text, text.lower())
    if color != "none" and not _is_hex_colour(color):
        raise table.error(
            f"`background` is `{text}`, which is no colour",
            "background",
            hint="write `none`, `white`, `black` or `#rrggbb`",
        )
    return Lottie(color)


def _is_hex_colour(text: str) -> bool:
    return len(text) == 7 and text[0] == "#" and all(c in "0123456789abcdef" for c in text[1:])


def _keep_apart(project: Project, top: Table) -> None:
    """Refuse a cache or an export in a place where it would delete what is not its own."""
    cache = os.path.realpath(project.cache.folder)
    root = os.path.realpath(project.root)
    ledger = os.path.realpath(project.ledger_folder)
    place = top.place("cache", "dir")
    if _around(cache, root) or _around(cache, ledger) or _around(ledger, cache):
        raise ProjectError(
            f"the cache folder `{project.relative(cache)}` holds the project or its ledger",
            place=place,
            hint="give the cache a folder of its own: it is deleted at will",
            code="project.config",
        )
    for export in project.exports:
        target = os.path.realpath(os.path.join(project.root, export.to.split("{", 1)[0]))
        for folder, what in ((cache, "cache"), (ledger, "ledger")):
            if _around(folder, target):
                raise ProjectError(
                    f"`to` leads into the {what}",
                    place=export.place,
                    hint='write for example `to = "out/{name}/{number:05d}.png"`',
                    code="project.config",
                )


def _around(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
