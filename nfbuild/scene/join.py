"""Join a program's constants and set its jumps: the last step of compiling."""

from __future__ import annotations

from nfbuild.scene.program import Constant, End, Item, Moving, Start


def merged(items: list[Item]) -> list[Item]:
    """Return the program with neighbouring constants joined and every jump set."""
    merged: list[Item] = []
    open_ends: list[Moving | None] = []
    texts: list[str] = []
    mask = 0

    def flush() -> None:
        nonlocal mask
        if texts:
            merged.append(Constant("".join(texts), mask))
            texts.clear()
            mask = 0

    for item in items:
        if isinstance(item, Constant):
            texts.append(item.text)
            mask |= item.mask
            continue
        flush()
        merged.append(item)
        if isinstance(item, Start):
            open_ends.append(None)
        elif isinstance(item, Moving) and item.end is not None:
            open_ends.append(item)
        elif isinstance(item, End):
            owner = open_ends.pop()
            if owner is not None:
                owner.end = len(merged)
    flush()
    return merged
