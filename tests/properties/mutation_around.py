"""Kinds that edit a Lottie scene, or what stands around a composition: media, faces, settings."""

from __future__ import annotations

import json

from mutation_kinds import JSON_TOKEN, KINDS, another_number, doc_kind, kind, pick
from mutation_same import reordered

from nfbuild.dataclasses import replace


def _scene_token(rng, case, wanted, change):
    if not case.lottie:
        return None
    text = case.files[case.main].decode()
    match = pick(rng, [m for m in JSON_TOKEN.finditer(text) if wanted(m[0])])
    if match is None:
        return None
    new = change(match[0])
    return case.with_file(case.main, (text[: match.start()] + new + text[match.end() :]).encode())


@kind("scene number")
def _scene_number(rng, case):
    return _scene_token(
        rng, case, lambda t: not t.startswith('"'), lambda t: another_number(rng, t)
    )


@kind("scene name")
def _scene_name(rng, case):
    return _scene_token(
        rng, case, lambda t: t.startswith('"'), lambda t: t[:-1] + rng.choice("xqz") + '"'
    )


@kind("scene order")
def _scene_order(rng, case):
    if not case.lottie:
        return None
    scene = json.loads(case.files[case.main])
    way = rng.randrange(3)
    if way == 0:
        scene["layers"].reverse()
    elif way == 1:
        scene["layers"].pop(rng.randrange(len(scene["layers"])))
    else:
        rng.choice(scene["layers"])["shapes"][0]["it"].reverse()
    return case.with_file(case.main, json.dumps(scene, indent=1).encode())


@kind("scene blanks")
def _scene_blanks(rng, case):
    if not case.lottie:
        return None
    scene = json.loads(case.files[case.main])
    written = json.dumps(reordered(rng, scene) if rng.random() < 0.3 else scene)
    return case.with_file(case.main, written.encode())


@kind("child composition")
def _child(rng, case):
    if case.lottie:
        return None
    folder = case.main.rpartition("/")[0]
    paths = [p for p in case.files if p.endswith(".nf.svg") and p != case.main]
    shown = [
        p
        for p in paths
        if p.startswith(folder) and p[len(folder) + 1 :].encode() in case.files[case.main]
    ]
    path = pick(rng, shown)
    if path is None:
        return None
    name = rng.choice(
        [
            "attribute value",
            "attribute added",
            "timeline number",
            "element deleted",
            "text",
            "metadata",
        ]
    )
    inner = KINDS[name].edit(rng, replace(case, main=path))
    return None if inner is None else replace(inner, main=case.main)


def _media_of(rng, case):
    used = [
        p
        for p in case.files
        if p.endswith((".png", ".jpg"))
        and any(
            p.rpartition("/")[2].encode() in data
            for name, data in case.files.items()
            if name.endswith(".svg")
        )
    ]
    return pick(rng, used)


@kind("media content")
def _media(rng, case):
    import mutation_pictures

    path = _media_of(rng, case)
    if path is None or not path.endswith(".png"):
        return None
    return case.with_file(path, mutation_pictures.repainted(rng, case.files[path]))


@kind("media bytes")
def _media_bytes(rng, case):
    """Bytes that no decoder looks at: a chunk of text, something after the end."""
    import mutation_pictures

    path = _media_of(rng, case)
    if path is None:
        return None
    data = case.files[path]
    if path.endswith(".png") and rng.random() < 0.6:
        return case.with_file(path, mutation_pictures.annotated(rng, data))
    return case.with_file(path, data + bytes(rng.randrange(256) for _ in range(3)))


@kind("media exchanged")
def _exchanged(rng, case):
    paths = sorted(p for p in case.files if p.endswith(".png"))
    if len(paths) < 2:
        return None
    one, two = rng.sample(paths, 2)
    return case.with_file(one, case.files[two]).with_file(two, case.files[one])


@doc_kind("family")
def _family(rng, document):
    tag = pick(rng, [tag for tag in document.tags() if tag.name == "text"])
    if tag is None:
        return False
    before = tag.get("font-family")
    new = rng.choice(["Body", "Strong", "Fallback", "Nobody", None])
    if new is None:
        tag.drop("font-family")
    else:
        tag.put("font-family", new)
    return new != before


@kind("face content")
def _face(rng, case):
    return replace(case, faces=rng.choice(["exchanged", "cut"]))


@kind("face bytes")
def _face_bytes(rng, case):
    return replace(case, faces="padded")


@kind("configured faces")
def _configured(rng, case):
    fonts = rng.choice(
        [
            ("Fallback", "Strong", "Body"),
            ("Fallback", "Body"),
            ("Body", "Fallback", "Strong"),
            ("Body", "Fallback", "Strong"),
            ("Body", "Fallback", "Strong"),
            ("Strong", "Fallback", "Body"),
            ("Fallback", "Body", "Strong", "Spare"),
        ]
    )
    return replace(case, fonts=fonts)


@kind("configuration", tight=True)
def _configuration(rng, case):
    extra = rng.choice(
        [
            '[cache]\nmax_size = "3 GB"\n',
            '[cache]\nmax_age = "9 d"\n',
            '[[export]]\ncomposition = "*"\nformat = "png"\nto = "out/{name}/{number:05d}.png"\n',
            "[limits]\nframes = 5000\n",
            "# nothing but a comment\n",
        ]
    )
    return replace(case, extra=extra)


@kind("library bytes", declared=True)
def _library(rng, case):
    return replace(case, toolchain="library")


@kind("core bytes", declared=True)
def _core(rng, case):
    return replace(case, toolchain=rng.choice(["core", "binding", "c library"]))
