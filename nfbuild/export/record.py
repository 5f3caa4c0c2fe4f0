"""What is remembered of a product that is one file: its settings, its frames, its stamp.

Kept below the cache by the caller and safe to lose: then the product is made again. Frames are
compared one by one as they become available and only up to the first difference, so that a changed
film is encoded while the rest of it is still being drawn.
Not here: PNG sequences, which remember every file (`pngs`).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from typing import Any

from nfbuild.dataclasses import dataclass
from nfbuild.export.scan import Stamp, stamp_of

SCHEMA = "nfbuild.export-state/1"


class Runs:
    """Frame digests in order, equal neighbours folded: what a product shows."""

    def __init__(self, rows: Iterable[tuple[int, str]] = ()) -> None:
        self.rows = list(rows)

    def add(self, digest: str, count: int = 1) -> bool:
        """Add frames; tell whether they continue the last run."""
        if self.rows and self.rows[-1][1] == digest:
            self.rows[-1] = (self.rows[-1][0] + count, digest)
            return True
        self.rows.append((count, digest))
        return False

    def equal(self, digests: Iterable[str]) -> bool:
        """Tell whether these are the frames; asks for none after the first that differs."""
        rows = iter(self.rows)
        left, expected = 0, ""
        for digest in digests:
            while left == 0:
                row = next(rows, None)
                if row is None:
                    return False
                left, expected = row
            if digest != expected:
                return False
            left -= 1
        return left == 0 and next(rows, None) is None


@dataclass(frozen=True)
class Record:
    """A product as it was left: the digest of its settings, its file's stamp, its frames."""

    settings: str
    stamp: Stamp
    runs: Runs


def stamp(path: str) -> Stamp | None:
    """Return the stamp of the file at `path`, links followed; None when there is none."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def read_record(path: str) -> Record | None:
    """Return what is remembered at `path`; None when nothing is, or nothing that can be read."""
    try:
        with open(path, "rb") as file:
            raw: Any = json.loads(file.read())
        if raw["schema"] != SCHEMA:
            return None
        size, mtime_ns, inode = (int(value) for value in raw["stamp"])
        runs = Runs((int(count), str(digest)) for count, digest in raw["runs"])
        return Record(str(raw["settings"]), Stamp(size, mtime_ns, inode), runs)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_record(path: str, record: Record) -> None:
    """Remember a product."""
    seen = record.stamp
    write_json(
        path,
        {
            "schema": SCHEMA,
            "settings": record.settings,
            "stamp": [seen.size, seen.mtime_ns, seen.inode],
            "runs": record.runs.rows,
        },
    )


def write_json(path: str, document: object) -> None:
    """Write a state file: beside, then renamed."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Two builds of one project may write it at once: each beside under a name of its own.
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(document, file, separators=(",", ":"))
        os.replace(beside, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
