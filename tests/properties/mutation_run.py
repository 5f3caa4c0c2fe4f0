"""Run seeded mutations and judge the identities: sound, tight, steady.

*Sound*: wherever a frame key or a composition id is equal, so is every pixel, in the program's own
drawing and in the oracle's. The oracle's answers are compared by key over the whole run, so that
two frames of two compositions count too. *Tight*: frames whose pixels stayed and whose key did not.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter, defaultdict

import mutation_cases
from mutation_edits import KINDS

from nfbuild.dataclasses import dataclass, field

MUTATIONS_PER_BASE = 12


def _has(pattern):
    wanted = re.compile(pattern.encode())
    return lambda case: any(
        wanted.search(data) for path, data in case.files.items() if path.endswith(".svg")
    )


def _odd_canvas(case):
    text = case.files[case.main].decode(errors="replace")
    sides = re.findall(r'data-(?:width|height)="([0-9.]+)"', text)
    return any(int(float(side)) % 2 for side in sides)


def _plain_with_more(case):
    data = case.files[case.main]
    return case.still and (b" data-" in data or data.count(b"xmlns") > 1 or b"<text" in data)


def _other_clock(case):
    data = case.files[case.main]
    rate = re.search(rb'data-fps="([^"]*)"', data)
    return b".nf.svg" in data and (rate is None or rate[1] != b"10")


def _foreign_and_measured(case):
    found = _has(r"<text\b[^>]*\bxmlns=\"(?!http://www.w3.org/2000/svg)")(case)
    return found or (_has(r"xmlns=\"(urn:foreign)?\"")(case) and _has(r"\"auto\"")(case))


def _fewer_faces(case):
    return not {"Body", "Strong"} <= set(case.fonts)


DEPARTURES = (
    ("a size below zero is no size of text; the peer measures with it", _has(r'font-size="-')),
    ("the time of a nested composition is not snapped to its frames", _other_clock),
    (
        "what stands in another namespace is nothing here; the peer lays it out and measures it",
        _foreign_and_measured,
    ),
    (
        "an image of another namespace shows nothing; the peer inlines a composition all the same",
        _has(r"<image\b[^>]*\bxmlns=\"(?!http://www.w3.org/2000/svg)"),
    ),
    ("a canvas with an odd side is drawn whole; the peer leaves a row or column out", _odd_canvas),
    (
        "bare ThorVG knows no namespaces, no faces and none of the format's attributes",
        _plain_with_more,
    ),
    (
        "the first face is not the peer's own, which it always falls back to",
        lambda case: case.fonts[0] != "Fallback",
    ),
    ("a face that is not configured is not used; the peer has it all the same", _fewer_faces),
    ("prefixed documents load here, and not in the rasterizer", _has(r"<[A-Za-z]+:svg")),
)
"""Why an oracle's drawing of a case says nothing: a reason, and whom it concerns."""


@dataclass
class Judged:
    """One mutation: what was known before and after."""

    kind: str
    seed: str
    before: object
    after: object
    case_before: object
    case_after: object
    ours_before: list
    ours_after: list
    theirs_before: object
    theirs_after: object


@dataclass
class Row:
    """The figures of one kind."""

    cases: int = 0
    refused: int = 0
    equal: int = 0
    needless: int = 0
    moved: int = 0
    rendered: int = 0
    rendered_frames: int = 0


@dataclass
class Report:
    """What a run found; `unsound` must stay empty."""

    rows: dict = field(default_factory=lambda: defaultdict(Row))
    unsound: list = field(default_factory=list)
    disagreements: list = field(default_factory=list)
    oracle_frames: int = 0
    oracle_agreed: int = 0
    silent: Counter = field(default_factory=Counter)
    mutations: int = 0
    seconds: float = 0.0
    drawings: int = 0

    def tightness(self):
        """Return the share of needless misses for each kind under Tightening, and their mean."""
        shares = {
            name: row.needless / row.equal
            for name, row in self.rows.items()
            if KINDS[name].tight and row.equal
        }
        return shares, sum(shares.values()) / max(1, len(shares))

    def cost(self):
        """Return rendered frames over moved frames, of all edits that moved a pixel."""
        moved = sum(row.moved for row in self.rows.values())
        rendered = sum(row.rendered for row in self.rows.values())
        frames = sum(row.rendered_frames for row in self.rows.values())
        return rendered / max(1, moved), frames / max(1, moved)

    def table(self):
        """Return the figures as text."""
        lines = [
            (
                f"{self.mutations} mutations in {self.seconds:.0f} s, {self.drawings} drawings, "
                f"{len(self.unsound)} unsound; oracle: {self.oracle_frames} frames, "
                f"{self.oracle_agreed} of them as drawn here"
            ),
            f"{'kind':32} cases refused  equal needless share  moved rendered",
        ]
        for tight in (True, False):
            for name in sorted(self.rows):
                row = self.rows[name]
                if KINDS[name].tight is tight:
                    share = f"{row.needless / row.equal:6.1%}" if row.equal else "     -"
                    lines.append(
                        f"{name + (' *' if tight else ''):32} {row.cases:5} {row.refused:7} "
                        f"{row.equal:6} {row.needless:8} {share} {row.moved:6} {row.rendered:6}"
                    )
        _, mean = self.tightness()
        cost, frames = self.cost()
        lines.append(f"needless over the kinds marked *, equal weight each: {mean:.1%}")
        lines.append(f"rendered over moved: {cost:.3f} (frames with a new key: {frames:.3f})")
        lines += [f"oracle silent: {count} x {why}" for why, count in self.silent.most_common(8)]
        return "\n".join(lines)


class Run:
    """A run over seeded bases; `controls` are broken identities that must be caught."""

    def __init__(self, bench, seed, controls=()):
        self.bench = bench
        self.seed = seed
        self.report = Report()
        self.controls = list(controls)
        self._oracle_of = {}
        self._ours_of = {}

    def run(self, mutations, *, first_base=0):
        """Judge that many mutations."""
        began = time.perf_counter()
        drawn = self.bench.drawings
        number = first_base
        names = sorted(KINDS)
        turn = 0
        while self.report.mutations < mutations:
            rng = random.Random(f"{self.seed} base {number}")
            case = mutation_cases.base(rng, number)
            number += 1
            before = self._look(case)
            if before[0].refused:
                self.report.unsound.append(f"base {number - 1} is refused: {before[0].refused}")
                continue
            # Once more, with everything to be measured anew: the first run and the second.
            self.bench.forget_answers()
            again = self.bench.again(case)
            if (again.id, again.keys) != (before[0].id, before[0].keys):
                self.report.unsound.append(f"base {number - 1} has two identities")
            tries = 0
            done = 0
            while done < MUTATIONS_PER_BASE and tries < 4 * MUTATIONS_PER_BASE:
                tries += 1
                name = names[turn % len(names)]
                turn += 1
                seed = f"{self.seed} {number - 1} {tries} {name}"
                edited = KINDS[name].edit(random.Random(seed), case)
                if edited is None or edited == case:
                    continue
                done += 1
                self.report.mutations += 1
                self._judge(name, seed, case, edited, before)
                if self.report.mutations >= mutations:
                    break
        self.report.seconds += time.perf_counter() - began
        self.report.drawings += self.bench.drawings - drawn
        return self.report

    def _look(self, case):
        """Return film, our digests, the oracle's digests or why there are none."""
        self.bench.put(case)
        frames = case.frames or range(10 if case.lottie else 24)
        asked = self.bench.ask_oracle(case, frames)
        film = self.bench.identify(case)
        ours = [] if film.refused else self.bench.draw(film)
        theirs = asked.take()
        if isinstance(theirs, list) and not film.refused:
            # Ask in frame numbers, compare by place; the peer may count other frames than we do.
            known = dict(zip(frames, theirs, strict=False))
            theirs = [known.get(number) for number in film.wanted]
        return film, ours, theirs

    def _judge(self, name, seed, case, edited, before):
        row = self.report.rows[name]
        row.cases += 1
        film, ours, theirs = self._look(edited)
        if film.refused:
            row.refused += 1
            return
        one = Judged(name, seed, before[0], film, case, edited, before[1], ours, before[2], theirs)
        self.report.unsound += self.unsound(one, before[0], film)
        self._by_key(one)
        self._count(row, one)
        for control in self.controls:
            control.look(self, one)

    def excused(self, *cases):
        """Return why the oracle says nothing of these cases, or None."""
        for reason, concerns in DEPARTURES:
            if any(concerns(case) for case in cases):
                return reason
        return None

    def unsound(self, one, before, after):
        """Return what is wrong if `before` and `after` are the identities of this mutation."""
        found = []
        silent = (
            not isinstance(one.theirs_before, list)
            or not isinstance(one.theirs_after, list)
            or self.excused(one.case_before, one.case_after) is not None
        )
        places = dict(zip(after.wanted, range(len(after.wanted)), strict=True))
        for at, number in enumerate(before.wanted):
            now = places.get(number)
            if now is None or before.keys[at] != after.keys[now]:
                continue
            if one.ours_before[at] != one.ours_after[now]:
                found.append(f"{one.seed}: frame {number} has one key and two drawings")
            theirs = [] if silent else [one.theirs_before[at], one.theirs_after[now]]
            if None not in theirs and len(set(theirs)) > 1:
                found.append(f"{one.seed}: frame {number} has one key, the oracle two drawings")
        if before.id == after.id:
            if before.wanted != after.wanted or one.ours_before != one.ours_after:
                found.append(f"{one.seed}: one composition id and two films")
            elif not silent and one.theirs_before != one.theirs_after:
                found.append(f"{one.seed}: one composition id, the oracle two films")
        if KINDS[one.kind].declared and (
            before.id == after.id or set(before.keys) & set(after.keys)
        ):
            found.append(f"{one.seed}: an input moved and a key did not")
        return found

    def _by_key(self, one):
        """Compare what frames with one key look like over the whole run."""
        for case, film, ours, theirs in (
            (one.case_before, one.before, one.ours_before, one.theirs_before),
            (one.case_after, one.after, one.ours_after, one.theirs_after),
        ):
            why = self.excused(case)
            listed = theirs if isinstance(theirs, list) and why is None else [None] * len(ours)
            if case is one.case_after and why is not None:
                self.report.silent[why] += 1
            elif case is one.case_after and not isinstance(theirs, list):
                self.report.silent[theirs[:70]] += 1
            for number, key, mine, other in zip(film.wanted, film.keys, ours, listed, strict=True):
                if self._ours_of.setdefault(key, mine) != mine:
                    self.report.unsound.append(f"{one.seed}: one key, two drawings, {number}")
                if other is None:
                    continue
                if self._oracle_of.setdefault(key, other) != other:
                    self.report.unsound.append(
                        f"{one.seed}: frame {number} of {case.name} has the key of a frame that "
                        "the oracle draws otherwise"
                    )
                self.report.oracle_frames += 1
                self.report.oracle_agreed += mine == other
                if mine != other:
                    self.report.disagreements.append((one.seed, number))
        if len(self._ours_of) > 300_000:
            self._ours_of.clear()
            self._oracle_of.clear()

    def _count(self, row, one):
        known = set(one.before.keys)
        places = dict(zip(one.before.wanted, range(len(one.before.wanted)), strict=True))
        equal = needless = moved = 0
        new = []
        for at, number in enumerate(one.after.wanted):
            was = places.get(number)
            key = one.after.keys[at]
            stays = was is not None and one.before.keys[was] == key
            if was is not None and one.ours_before[was] == one.ours_after[at]:
                equal += 1
                needless += not stays
            else:
                moved += 1
            if key not in known:
                new.append(key)
        row.equal += equal
        row.needless += needless
        if moved and not KINDS[one.kind].declared:
            row.moved += moved
            row.rendered += len(set(new))
            row.rendered_frames += len(new)
