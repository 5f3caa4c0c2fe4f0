"""Ids in the drawn document: what two files call alike must never meet.

A definition that never changes is called after its own content, so that renaming it, or embedding
its file twice, draws the same bytes. Everything else that something refers to keeps the author's
id behind a prefix for the place where its file is nested.
"""

from __future__ import annotations

import re

from nfbuild.digests import derive

_SAFE = re.compile(r"[A-Za-z0-9_.:-]{1,64}", re.ASCII)
_CONTEXT = "nfbuild 2026 scene id v1"


def body_name(prefix: str, name: str) -> str:
    """Return the drawn id of an element that its author called `name`."""
    if _SAFE.fullmatch(name) is None:
        name = "x" + derive(_CONTEXT, "name", name)[:16]
    return f"b{prefix}-{name}"


def content_name(text: str) -> str:
    """Return the drawn id of a definition with this content."""
    return "d" + derive(_CONTEXT, "content", text)[:16]
