"""Which file system a path lies on, where the system says so (Linux).

For `doctor`, and because a database must not lie on a network file system: locks and shared
memory are not to be trusted there.
"""

from __future__ import annotations

import os
from typing import Final

# fmt: off
_NETWORK: Final = frozenset((
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.glusterfs",
    "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "fuse.vmhgfs-fuse", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs",
))
# fmt: on


def filesystem_type(path: str, *, table: str = "/proc/self/mountinfo") -> str | None:
    """Return the type of the file system that holds `path`, or None where that is not known.

    Format of the table: proc(5), `/proc/pid/mountinfo`.
    """
    real = os.path.realpath(path)
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    best, kind = -1, None
    for line in lines:
        left, dash, right = line.partition(" - ")
        fields = left.split(" ")
        if not dash or len(fields) < 5 or not right:
            continue
        point = _unescape(fields[4])
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        # The last mount on one point is the one that is seen.
        if inside and len(point) >= best:
            best, kind = len(point), right.split(" ")[0]
    return kind


def is_network(kind: str | None) -> bool:
    """Tell whether file systems of this type are served by another machine."""
    return kind is not None and kind in _NETWORK


def _unescape(field: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field
