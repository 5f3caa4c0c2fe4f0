"""References: ids inside a document, and files outside of it.

Ids are found wherever the format lets one stand: `href="#id"` and `url(#id)` in any attribute or
style. Files are named by paths relative to the referring file; `file:` and `data:` are read,
`http:` and `https:` are refused: nothing is ever fetched.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from urllib.parse import unquote, unquote_to_bytes

from nfbuild.digests import file_digest
from nfbuild.errors import MediaError, Place
from nfbuild.scene.protocols import Files, SourceFile
from nfbuild.scene.tree import Element, describe

_URL = re.compile(r"(url\(\s*['\"]?\s*#)([^)'\"]*?)(\s*['\"]?\s*\))", re.IGNORECASE | re.ASCII)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):", re.ASCII)
_BLANKS = " \t\r\n"

NESTED_SUFFIXES = (".svg",)
VIDEO_SUFFIXES = (".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".ogv", ".mpg", ".mpeg")


def hyperlink(element: Element) -> str | None:
    """Return the element's reference: `href`, and `xlink:href` only where there is no `href`."""
    plain = element.get("href")
    return element.get("xlink:href") if plain is None else plain


def ids_in(text: str) -> list[str]:
    """Return the ids that `url(#...)` names in an attribute's value or a style sheet."""
    if "url" not in text.lower():
        return []
    return [match[1].strip(_BLANKS) for match in _URL.findall(text)]


def ids_of(element: Element) -> list[str]:
    """Return every id that the element's attributes refer to."""
    found = []
    for name, value in element.attributes.items():
        if name in ("href", "xlink:href"):
            stripped = value.strip(_BLANKS)
            if stripped.startswith("#"):
                found.append(stripped[1:])
        elif "#" in value:
            found += ids_in(value)
    return found


def renamed(text: str, rename: Callable[[str], str]) -> str:
    """Return `text` with the ids inside `url(#...)` renamed and written without quotes."""
    if "#" not in text or "url" not in text.lower():
        return text
    return _URL.sub(lambda match: f"url(#{rename(match.group(2).strip(_BLANKS))})", text)


def path_of(reference: str) -> str:
    """Return the path of a reference without query and fragment: for telling kinds of file."""
    return reference.partition("#")[0].partition("?")[0].strip(_BLANKS)


def read_file(
    reference: str, element: Element, files: Files, *, base: str, place: Place
) -> SourceFile:
    """Return the file that `element` refers to; raises `MediaError` naming element and file.

    A path is tried as it is written and then, where that is another one, decoded and without
    query: a file may well be called `100%.png`.
    """
    reference = reference.strip(_BLANKS)
    where = describe(element)
    scheme = _SCHEME.match(reference)
    if scheme is not None:
        kind = scheme.group(1).lower()
        if kind == "data":
            return _inline(reference, where, base=base, place=place)
        if kind != "file":
            raise MediaError(
                f"`{where}` refers to `{reference[:80]}`, and nothing is fetched from a network",
                place=place,
                code="media.remote",
                hint="put the file into the project and refer to it by its path",
            )
        reference = reference[scheme.end() :]
        if reference.startswith("//"):
            host, slash, rest = reference[2:].partition("/")
            if host not in ("", "localhost"):
                raise MediaError(
                    f"`{where}` refers to a file of another machine, `{host}`",
                    place=place,
                    code="media.remote",
                    hint="put the file into the project and refer to it by its path",
                )
            reference = slash + rest
    if reference.startswith("//"):
        raise MediaError(
            f"`{where}` refers to `{reference[:80]}`, and nothing is fetched from a network",
            place=place,
            code="media.remote",
            hint="put the file into the project and refer to it by its path",
        )
    decoded = unquote(reference.partition("#")[0].partition("?")[0])
    candidates = [reference] if decoded in (reference, "") else [reference, decoded]
    for candidate in candidates:
        try:
            return files.read(candidate, base=base, place=place)
        except MediaError as error:
            if error.code == "media.missing" and candidate != candidates[-1]:
                continue
            raise MediaError(
                f"`{where}` refers to `{candidate}`: {error.message}",
                place=error.place or place,
                code=error.code,
                hint=error.hint or "paths are relative to the file that refers to them",
            ) from None
    raise AssertionError("a reference has at least one candidate")


def _inline(reference: str, where: str, *, base: str, place: Place) -> SourceFile:
    head, comma, payload = reference.partition(",")
    raw = unquote_to_bytes(payload)
    reason = "" if comma else "there is no comma before the data"
    if head.rstrip(_BLANKS).lower().endswith(";base64"):
        try:
            raw = b64decode(raw.translate(None, b" \t\r\n"), validate=True)
        except binascii.Error as error:
            reason = str(error)
    if reason:
        reason = reason[0].lower() + reason[1:]
        raise MediaError(
            f"the `data:` reference of `{where}` cannot be decoded: {reason}",
            place=place,
            code="media.inline",
            hint="write `data:image/png;base64,` and the file's bytes in base64",
        )
    digest = file_digest(raw)
    return SourceFile(f"{base}#data-{digest[:16]}", raw, digest)


def inline_type(reference: str) -> str | None:
    """Return the media type of a `data:` reference, None for any other reference."""
    stripped = reference.strip(_BLANKS)
    if stripped[:5].lower() != "data:":
        return None
    return stripped[5:].partition(",")[0].partition(";")[0].strip(_BLANKS).lower()
