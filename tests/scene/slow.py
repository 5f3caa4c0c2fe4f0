"""A second bake, as plain as can be: copy the tree, write the frame's values into it, print it.

It compiles nothing, keeps nothing and shares with the product only the reading of files and the
spelling of single values. Definitions keep their authors' names, so documents are compared after
their ids are numbered by appearance (`numbered`). Images, nested files and layout are not here.
"""

import re

from nfbuild.scene.attributes import drawn_attributes
from nfbuild.scene.box import center
from nfbuild.scene.colour import hex_rgb, normal_colour
from nfbuild.scene.ease import find, linear
from nfbuild.scene.lone import COMPANY, has_company, is_lone, is_translucent
from nfbuild.scene.normal import normal_text
from nfbuild.scene.sheet import DRAWN, SHAPES
from nfbuild.scene.transform import motion_between, motion_of
from nfbuild.scene.write import (
    MOVING,
    attribute_text,
    character_text,
    leading_text,
    resting_text,
)

PAINTED = {*SHAPES, "g", "text", "tspan", "use"}
DEFINING = {"clipPath", "defs", "filter", "linearGradient", "mask", "radialGradient", "symbol"}


class Slow:
    """One frame of one sheet."""

    def __init__(self, sheet, number):
        self.sheet = sheet
        canvas = sheet.canvas
        self.seconds = float(number / canvas.rate)
        self.clock = {
            "frame": number,
            "second": self.seconds,
            "time": self.seconds,
            "fps": int(canvas.rate) if canvas.rate.denominator == 1 else float(canvas.rate),
            "duration": float(canvas.duration),
            "frames": canvas.frames,
        }

    def document(self):
        sheet = self.sheet
        root = sheet.root
        canvas = sheet.canvas
        shown, moving = self.state(root, kept=False)
        rest = {
            name: value
            for name, value in self.drawn(root).items()
            if name not in (*MOVING, "version", "baseProfile", "width", "height")
        }
        rest.setdefault("viewBox", f"0 0 {canvas.width} {canvas.height}")
        rest.update(
            xmlns="http://www.w3.org/2000/svg", width=str(canvas.width), height=str(canvas.height)
        )
        body = head = ""
        preserved = root.get("xml:space") == "preserve"
        for child in root.children if shown else ():
            style = "".join(
                f"<style>{character_text(sheet.styles[each])}</style>"
                for each in child.walk()
                if each in sheet.styles
            )
            head, body = (head, body + style) if body else (head + style, body)
            if child.tag not in ("defs", "style"):
                body += self.element(child, preserved, kept=False)
        defs = self.definitions(body + head, preserved)
        if has_company(root) and is_lone(body) and is_translucent(moving + resting_text(rest)):
            body += COMPANY
        return f"<svg{moving}{resting_text(rest)}>{defs}{head}{body}</svg>"

    def definitions(self, text, preserved):
        """Return what the text needs of the definitions, and what these need."""
        written = {}
        for holder in self.sheet.root.children:
            for child in holder.children if holder.tag == "defs" else ():
                if child.tag != "style":
                    written[child] = self.element(child, preserved, kept=True)
        needed = set()
        while True:
            used = set(re.findall(r'(?:url\(#|href="#)b-([^)"]+)', text))
            new = [
                child
                for child in written
                if child not in needed and used & {inner.get("id") for inner in child.walk()}
            ]
            if not new:
                break
            needed.update(new)
            text += "".join(written[child] for child in new)
        inside = "".join(written[child] for child in written if child in needed)
        return f"<defs>{inside}</defs>" if inside else ""

    def drawn(self, element):
        return drawn_attributes(
            element,
            rename=lambda name: f"b-{name}",
            referenced=self.sheet.referenced,
            styled=bool(self.sheet.styles),
            animated=bool(self.values(element)),
        )

    def pinned(self, element):
        return any(inner.get("id") in self.sheet.referenced for inner in element.walk())

    def values(self, element):
        """Return the timeline's values for an element: later animations win, part by part."""
        found = {}
        for animation in self.sheet.animations:
            target = animation.target
            if target[:1] == "#":
                hit = element.get("id") == target[1:] != ""
            elif target[:1] == ".":
                hit = target[1:] in (element.get("class") or "").split()
            else:
                hit = element.tag == target
            if hit:
                found.update(self.at(animation.keyframes))
        return found

    def at(self, keyframes):
        t = self.seconds
        if t <= keyframes[0].seconds:
            low = high = keyframes[0]
        elif t >= keyframes[-1].seconds:
            low = high = keyframes[-1]
        else:
            index = next(i for i, k in enumerate(keyframes[1:]) if t <= k.seconds)
            low, high = keyframes[index : index + 2]
        position = 0.0
        if low is not high:
            ease = find(high.ease) if high.ease else linear
            position = ease((t - low.seconds) / (high.seconds - low.seconds))
        out = {}
        for name in {**low.properties, **high.properties}:
            before, after = low.properties.get(name), high.properties.get(name)
            before, after = (after, after) if before is None else (before, after)
            if name == "transform":
                moved = (
                    motion_of(before) if after is None else motion_between(before, after)(position)
                )
                out[name] = moved
            elif name == "opacity":
                both = all(type(value) in (int, float) for value in (before, after))
                out[name] = before + (after - before) * position if both else float(before)
            elif hex_rgb(before) and hex_rgb(after) and low is not high and name in low.properties:
                channels = [
                    min(255, max(0, round(a + (b - a) * position)))
                    for a, b in zip(hex_rgb(before), hex_rgb(after), strict=True)
                ]
                out[name] = "#" + "".join(f"{channel:02x}" for channel in channels)
            else:
                out[name] = before
        return out

    def state(self, element, *, kept):
        """Return whether the element shows and the attributes that move."""
        drawn = self.drawn(element)
        parts = {name: drawn[name] for name in MOVING if name in drawn}
        start = float(element.get("data-start") or 0)
        length = element.get("data-duration")
        end = start + float(self.sheet.canvas.duration if length is None else length)
        fade = float(element.get("data-fade") or 0)
        t = self.seconds
        if not start <= t <= end:
            return False, ""
        presence = 1.0
        if fade > 0:
            presence = max(0.0, min(1.0, (t - start) / fade, (end - t) / fade))
        values = self.values(element)
        for name in ("fill", "stroke"):
            if name in values and element.tag in PAINTED:
                parts[name] = normal_colour(re.sub(r"url\(#", "url(#b-", values[name]))
        self.opacity = None
        if "opacity" in values or presence < 1:
            share = max(0.0, values.get("opacity", 1.0) * presence)
            text = f"{min(share, 1.0):.4f}".rstrip("0").rstrip(".")
            parts["opacity"] = self.opacity = text
            if text == "1":
                del parts["opacity"]
                self.opacity = None
            elif text == "0" and not kept:
                return False, ""
        elif parts.get("opacity") == "0" and not kept and element is not self.sheet.root:
            return False, ""
        motion = values.get("transform")
        if motion is not None:
            auto = center(element, self.sheet.path, lambda _text: None)
            both = [parts.get("transform"), motion.text(auto)]
            parts["transform"] = " ".join(text for text in both if text)
            if not parts["transform"]:
                del parts["transform"]
        return True, "".join(attribute_text(n, parts[n]) for n in MOVING if n in parts)

    def element(self, element, preserved, *, kept):
        pinned = self.pinned(element)
        space = element.get("xml:space")
        preserved = {"preserve": True, "default": False}.get(space, preserved)
        tag = element.tag
        if tag not in DRAWN:
            return self.unknown(element, preserved, kept=kept, pinned=pinned)
        kept = kept or pinned
        if tag == "style" or (element.get("display") == "none" and not kept):
            return ""
        shown, moving = self.state(element, kept=kept)
        if not shown and not kept:
            return ""
        rest = {name: value for name, value in self.drawn(element).items() if name not in MOVING}
        if tag == "text":
            return self.text(element, preserved, (shown, moving), rest)
        if not shown:
            rest["display"] = "none"
        inside = ""
        if tag not in SHAPES or pinned:
            inner = kept or tag in DEFINING
            inside = "".join(
                self.element(child, preserved, kept=inner) for child in element.children
            )
        if not inside:
            if tag in ("g", "svg") and not kept:
                return ""
            if element.children and (tag not in SHAPES or pinned):
                return f"<{tag}{moving}{resting_text(rest)}></{tag}>"
            return f"<{tag}{leading_text(rest)}{moving}{resting_text(rest)}/>"
        start = f"<{tag}{leading_text(rest)}{moving}{resting_text(rest)}>"
        if has_company(element) and is_lone(inside) and is_translucent(start):
            inside += COMPANY
        return f"{start}{inside}</{tag}>"

    def unknown(self, element, preserved, *, kept, pinned):
        drawable = any(inner.tag in DRAWN for inner in element.walk())
        if not drawable and not pinned:
            return ""
        inside = "".join(self.element(c, preserved, kept=kept) for c in element.children)
        if not inside and not pinned:
            return ""
        tag = "x" if "{" in element.tag else element.tag
        drawn = {} if tag == "x" else self.drawn(element)
        first = "".join(attribute_text(name, drawn[name]) for name in MOVING if name in drawn)
        return f"<{tag}{first}{resting_text(drawn)}>{inside}</{tag}>"

    def text(self, element, preserved, state, rest):
        shown, moving = state
        opacity = self.opacity if shown else None
        moving = re.sub(r' opacity="[^"]*"', "", moving)
        template = element.get("data-frame-text")
        words = element.all_text() if template is None else template.format(**self.clock)
        if not preserved or (template is None and normal_text(words) == words):
            words = normal_text(words)
            preserved = False
        if preserved:
            rest["xml:space"] = "preserve"
        rest["font-family"] = self.sheet.faces.face_of(element).digest
        if not words:
            return ""
        text = f"<text{moving}{resting_text(rest)}>{character_text(words)}</text>"
        if not shown:
            return f'<g display="none">{text}</g>'
        return text if opacity is None else f'<g opacity="{opacity}">{text}</g>'


def numbered(document):
    """Return a document with its ids numbered by first appearance, definitions in that order."""
    found = re.match(r"(<svg[^>]*>)(?:<defs>(.*)</defs>)?(.*)$", document, re.DOTALL)
    head, defs, tail = found.groups()
    order = {}

    def number(match):
        return f"{match[1]}{order.setdefault(match[2], len(order))}{match[3]}"

    pattern = r'(url\(#| id="|href="#)([^)"]+)([)"])'
    tail = re.sub(pattern, number, tail)
    texts = _split(defs or "")
    done = []
    while texts:
        for name in list(order):
            found = [text for text in texts if f' id="{name}"' in text]
            for text in found:
                texts.remove(text)
                done.append(re.sub(pattern, number, text))
        if texts and not any(f' id="{name}"' in text for name in order for text in texts):
            raise AssertionError(f"nothing uses {texts}")
    return head + "".join(done) + tail


def _split(defs):
    """Return the outermost elements of a piece of XML."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"<(/?)[^>]*?(/?)>", defs):
        depth += 0 if match[2] else -1 if match[1] else 1
        if depth == 0:
            parts.append(defs[start : match.end()])
            start = match.end()
    return parts
