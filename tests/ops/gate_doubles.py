"""Rasterizers with planted faults: which documents are drawn wrong, and how, in the environment.

`NFBUILD_TEST_FAULT` holds one or more faults separated by `;`, each `mark|kind`: every document
that holds the text `mark` is drawn wrong. Kinds: `pixel` (one channel of one pixel by one step),
`pixels=N,S` (N pixels by S steps), `block` (a large square), `once=DIR` (the
first drawing of each such document is right, later ones are not), `flaky=DIR,N` (the first N
drawings of all are one pixel wrong, later ones two). DIR remembers.
"""

from __future__ import annotations

import os

from nfbuild.dataclasses import replace
from nfbuild.digests import blob_digest
from nfbuild.pixels import png
from nfbuild.pixels.digest import frame_digest, peer_digest
from nfbuild.render.tasks import DrawTask
from nfbuild.render.worker import Worker

FAULT = "NFBUILD_TEST_FAULT"
FAULTY = "gate_doubles:FaultyWorker"


class FaultyWorker(Worker):
    """Draws what the environment names otherwise than the rasterizer would."""

    def perform(self, task):
        drawn = super().perform(task)
        if not isinstance(task, DrawTask):
            return drawn
        for fault in os.environ.get(FAULT, "").split(";"):
            mark, _, kind = fault.partition("|")
            if mark and mark.encode() in task.document:
                return self._wrong(task, kind, drawn)
        return drawn

    def _wrong(self, task, kind, drawn):
        name, _, value = kind.partition("=")
        if name == "once" and not self._seen(value, task):
            return drawn
        pixels = bytearray(self._drawing().draw(task))
        if name == "flaky":
            folder, _, most = value.partition(",")
            value = f"{self._count(folder, int(most))},1"
            name = "pixels"
        count, step = (int(part) for part in value.split(",")) if name == "pixels" else (1, 1)
        if name == "block":
            self._block(pixels, task)
        for at in range(0, 4 * count, 4):
            pixels[at] = pixels[at] + step if pixels[at] + step < 256 else pixels[at] - step
        data = png.encode(bytes(pixels), task.width, task.height) if task.png else None
        if data is not None and self.setup.write is not None:
            self.setup.write(blob_digest(data), data)
        return replace(
            drawn,
            digest=frame_digest(bytes(pixels), task.width, task.height),
            blob=None if data is None else blob_digest(data),
            size=0 if data is None else len(data),
            sha256=peer_digest(bytes(pixels), task.width, task.height) if task.sha256 else None,
        )

    def _block(self, pixels, task):
        for row in range(task.height // 3, task.height // 2):
            start = 4 * (row * task.width + task.width // 4)
            for at in range(start, start + 4 * (task.width // 5), 4):
                pixels[at + 1] = 255 - pixels[at + 1]

    def _seen(self, folder, task):
        path = os.path.join(folder, blob_digest(task.document))
        if os.path.exists(path):
            return True
        with open(path, "wb"):
            return False

    def _count(self, folder, most):
        drawn = len(os.listdir(folder)) + 1
        with open(os.path.join(folder, str(drawn)), "wb"):
            return 1 if drawn <= most else 2
