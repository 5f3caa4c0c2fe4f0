"""Lay out texts as bake would, and as the peer does; draw both with one rasterizer."""

import html
import importlib.util
import os
import re
import subprocess
import sys

from rasterizer import Rasterizer

from nfbuild.digests import file_digest
from nfbuild.scene.layout import apply, wants_layout
from nfbuild.scene.layout.ink import Ruler
from nfbuild.scene.protocols import (
    Face,
    Ink,
    LayoutContext,
    MeasureRequest,
    NeedsAnswers,
)
from nfbuild.scene.tree import Element
from nfbuild.scene.write import character_text, tag_text
from nfbuild.scene.xml import parse

FAMILY = "Sarasa Mono SC"


def sarasa():
    folder = importlib.util.find_spec("nanoframes").submodule_search_locations[0]
    with open(os.path.join(folder, "fonts", f"{FAMILY}.ttf"), "rb") as file:
        data = file.read()
    return Face(file_digest(data), FAMILY, FAMILY, "SarasaMonoSC", FAMILY, 400, False, data)


class Bench:
    """One child process that draws, the answers it has given, and the rounds they took."""

    def __init__(self, folder):
        self.face = sarasa()
        self.rasterizer = Rasterizer(folder, [(self.face.digest, self.face.data)])
        self.folder = folder
        self.answers = {}
        self.asked = 0

    def close(self):
        self.rasterizer.close()

    def draw(self, document, width, height):
        drawn = self.rasterizer.draw(document, width, height)
        assert isinstance(drawn, bytes), (drawn, document)
        return drawn

    def ink(self, document, width, height, faces):
        """Answer like the real measurer: only what was asked for before."""
        request = MeasureRequest(document, width, height, faces)
        if request not in self.answers:
            raise NeedsAnswers([request])
        return self.answers[request]

    def answer(self, requests):
        for request in requests:
            self.asked += 1
            rows = self.draw(request.document, request.width, request.height)
            self.answers[request] = box_of(rows, request.width)

    def laid_out(self, text):
        """Return what stands for a text element, and in how many rounds of questions."""
        for rounds in range(20):
            group = Element("g", children=[text.copy()])
            context = LayoutContext("test.svg", 640, 360, self, lambda element: self.face)
            try:
                apply(group, context)
            except NeedsAnswers as missing:
                self.answer(missing.requests)
                continue
            return group.children, rounds
        raise AssertionError("twenty rounds of questions")

    def document(self, body, width=640, height=360):
        """Return the drawn document of a body of elements, laid out by nfbuild."""
        root = parse(wrapped(body, width, height), "test.svg")
        self._expand(root)
        return _written(root, self.face.digest).encode()

    def _expand(self, parent):
        children = []
        for child in parent.children:
            self._expand(child)
            children += self.laid_out(child)[0] if wants_layout(child) else [child]
        parent.children[:] = children

    def settled(self, layout):
        """Return `layout(ruler)` once it needs no more answers."""
        for _ in range(20):
            ruler = Ruler(self, self.face)
            result = layout(ruler)
            try:
                ruler.settle()
            except NeedsAnswers as missing:
                self.answer(missing.requests)
                continue
            return result
        raise AssertionError("twenty rounds of questions")


def peer_documents(bench, bodies, width=640, height=360):
    """Return the documents that the peer draws for these bodies, made by one process."""
    jobs = []
    for index, body in enumerate(bodies):
        path = os.path.join(bench.folder, f"peer-{index}.nf.svg")
        with open(path, "wb") as file:
            file.write(wrapped(body, width, height))
        jobs.append(path)
    run = (
        "import sys; from nanoframes.cli import main\nfor p in sys.argv[1:]: main("
        "['svg', p, '--t', '0', '--with-measure', '-o', p + '.out'])"
    )
    subprocess.run([sys.executable, "-c", run, *jobs], check=True, stdout=subprocess.DEVNULL)
    documents = []
    for path in jobs:
        with open(f"{path}.out", encoding="utf-8") as file:
            document = file.read()
        family = f'font-family="{bench.face.digest}"'
        documents.append(re.sub(r'font-family="[^"]*"', family, document).encode())
    return documents


def wrapped(body, width, height):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" data-width="{width}" data-height="{height}"'
        f' data-fps="1" data-duration="1" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}">{body}</svg>'
    ).encode()


def _written(element, family):
    attributes = dict(element.attributes)
    if element.tag == "text":
        attributes["font-family"] = family
    if element.tag == "svg":
        attributes["xmlns"] = "http://www.w3.org/2000/svg"
    inside = character_text(element.text) + "".join(
        _written(child, family) + character_text(child.tail) for child in element.children
    )
    return tag_text(element.tag, attributes, inside)


def box_of(rows, width):
    """Return the box of everything that is not fully transparent."""
    alpha = rows[3::4]
    height = len(alpha) // width
    lines = [alpha[y * width : (y + 1) * width] for y in range(height)]
    inked = [y for y, line in enumerate(lines) if line.count(0) != width]
    if not inked:
        return Ink(True, 0, 0, 0, 0)
    band = lines[inked[0] : inked[-1] + 1]
    left = min(width - len(line.lstrip(b"\0")) for line in band)
    right = max(len(line.rstrip(b"\0")) for line in band)
    return Ink(False, left, inked[0], right, inked[-1] + 1)


def peer_lines(folder, texts, size=20):
    """Return the peer's lines of each (text, width)."""
    body = "".join(
        f'<text font-size="{size}" data-wrap="{width}">{html.escape(text)}</text>'
        for text, width in texts
    )
    path = os.path.join(folder, "lines.nf.svg")
    with open(path, "wb") as file:
        file.write(wrapped(body, 640, 360))
    command = [sys.executable, "-m", "nanoframes", "svg", path, "--with-measure"]
    document = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    groups = re.findall(r"<g>((?:<text[^>]*>[^<]*</text>|<text [^>]*/>)*)</g>", document)
    return [[html.unescape(x) for x in re.findall(r"<text[^>]*>([^<]*)</text>", g)] for g in groups]
