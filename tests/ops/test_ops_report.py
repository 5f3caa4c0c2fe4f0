"""The report, looked at the way a person does: in a real Chromium, without a network."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from gate_space import build_with, verify_with
from opspace import MOVING, STILL, Space

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
browser_needed = pytest.mark.skipif(
    not os.path.exists(CHROMIUM), reason="there is no Chromium to open the report in"
)

LONG = """<svg xmlns="http://www.w3.org/2000/svg" data-width="1280" data-height="720" data-fps="30"
 data-duration="30">
  <defs>
    <linearGradient id="sky" x1="0" y1="0" x2="1" y2="1">
      <stop offset="0" stop-color="#12305a"/><stop offset="1" stop-color="#d98c4a"/>
    </linearGradient>
    <radialGradient id="ball" cx="0.4" cy="0.35" r="0.7">
      <stop offset="0" stop-color="#fff2c8"/><stop offset="1" stop-color="#c23a2a"/>
    </radialGradient>
  </defs>
  <rect id="ground" width="1280" height="720" fill="url(#sky)"/>
  <text id="title" x="120" y="150" font-size="80" fill="#ffffff">Nine hundred frames</text>
  <circle id="sun" cx="260" cy="430" r="190" fill="url(#ball)"
    data-start="13.4" data-duration="0.98"/>
  <script type="application/nanoframes+json">
  {"animations": [{"target": "#sun", "keyframes": [
    {"t": 13.4, "transform": {"translate": [0, 0]}},
    {"t": 14.4, "transform": {"translate": [720, -90]}}
  ]}]}
  </script>
</svg>
"""


@pytest.fixture(scope="module")
def long_report(tmp_path_factory):
    """A verification of 900 frames of which 30 moved, with its page."""
    space = Space(tmp_path_factory.mktemp("long") / "nine hundred <frames>")
    space.compose("film & more", LONG)
    assert space.build(jobs=2).exit == 0
    space.edit("compositions/film & more.nf.svg", "#c23a2a", "#2a6ac2")
    page = space.root / "out" / "report.html"
    ran = space.verify(report=str(page))
    return ran, page


@pytest.fixture(scope="module")
def mixed_report(tmp_path_factory):
    """A project with one composition of every verdict, with its page."""
    space = Space(tmp_path_factory.mktemp("mixed") / "project")
    for name, text in (("edited", MOVING), ("steady", STILL), ("broken", MOVING), ("gone", STILL)):
        space.compose(name, text)
    space.compose("hidden", MOVING.replace("#ff8800", "#22aa44"))
    space.compose("lone", MOVING.replace("#ff8800", "#2244aa"))
    assert space.build().exit == 0
    space.edit("compositions/edited.nf.svg", "#ff8800", "#00a0ff")
    space.edit("compositions/broken.nf.svg", "</svg>", "</svgg>")
    space.edit("compositions/hidden.nf.svg", '"translate": [40, 0]', '"translate": [40, 6]')
    (space.root / "compositions/gone.nf.svg").unlink()
    space.compose("fresh", STILL.replace("Still", "<![CDATA[</script><b>]]>"))
    page = space.root / "report.html"
    ran = verify_with(space, "#22aa44|pixels=30,40;#2244aa|pixel", report=str(page))
    return ran, page


class Opened:
    """A page in the browser, and everything that it said and asked for."""

    def __init__(self, browser, path, scheme="light", width=1280):
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.said = []
        self.asked = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"file://{path}")

    @property
    def network(self):
        """What was asked for and is not in the page itself."""
        return [url for url in self.asked if not url.startswith(("data:", "file:"))]


@pytest.fixture(scope="module")
def browser():
    """One Chromium for the module."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


def shot(opened, name):
    """Keep a picture of the page, where a person asked for one, to be looked at."""
    folder = os.environ.get("NFBUILD_TEST_SHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        opened.page.screenshot(path=os.path.join(folder, f"{name}.png"))


def data_of(page):
    """What the page shows, as it stands in the file."""
    text = Path(page).read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def test_a_long_film_makes_a_small_page_with_every_moved_frame(long_report):
    """900 frames, 30 of them moved: less than 5 MB, and each of the 30 can be looked at."""
    ran, page = long_report
    (view,) = data_of(page)["views"].values()

    assert ran.row("film & more").moved == [(402, 431)]
    assert page.stat().st_size < 5_000_000
    assert [move["frames"] for move in view["moves"]] == [[[n, n]] for n in range(402, 432)]
    assert all(move["before"] and move["after"] and move["heat"] for move in view["moves"])


def test_the_crops_are_the_pixels_themselves(long_report):
    """A crop is lossless: decoded, it is that part of the frame, and the difference is exact."""
    import base64
    import io

    from PIL import Image

    _, page = long_report
    (view,) = data_of(page)["views"].values()
    move = max(view["moves"], key=lambda one: one["pixels"])
    left, top, right, bottom = move["box"]
    pictures = {
        name: Image.open(io.BytesIO(base64.b64decode(move[name].partition(",")[2]))).convert("RGBA")
        for name in ("before", "after", "heat")
    }
    before, after, heat = (list(one.get_flattened_data()) for one in pictures.values())
    differ = sum(a != b for a, b in zip(before, after, strict=True))
    colored = sum(pixel[3] != 0 for pixel in heat)

    assert all(one.size == (right - left, bottom - top) for one in pictures.values())
    assert move["moved"][0] >= left
    assert move["moved"][2] <= right
    assert differ == colored == move["pixels"] > 10_000


@browser_needed
@pytest.mark.process
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_without_an_error_or_a_request(long_report, browser, scheme):
    """Self-contained: nothing is said on the console, nothing is asked of a network."""
    opened = Opened(browser, long_report[1], scheme)
    page = opened.page
    page.locator(".crop img.before").first.wait_for(state="attached")
    shot(opened, f"long-{scheme}")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = sum(int(part) for part in re.findall(r"\d+", back)[:3]) < 3 * 128
    loaded = page.evaluate("[...document.images].every(one => one.complete && one.naturalWidth)")

    assert opened.said == []
    assert opened.network == []
    assert dark == (scheme == "dark")
    assert loaded
    assert "film & more" in page.locator("h2").first.inner_text()
    page.close()


@browser_needed
@pytest.mark.process
def test_a_person_steps_slides_and_magnifies_by_keys_alone(long_report, browser):
    """Keyboard only: step through what moved, change what is shown, slide, magnify, go round."""
    opened = Opened(browser, long_report[1])
    page = opened.page
    where = page.locator(".where")
    where.wait_for()
    press = page.keyboard.press
    press("j")
    first = where.inner_text()
    for _ in range(40):
        press("ArrowLeft")
    start = where.inner_text()
    press("ArrowRight")
    second = where.inner_text()
    modes = []
    for key in "1234":
        press(key)
        modes.append(page.locator(".sheet").get_attribute("class"))
    press("4")
    shot(opened, "difference")
    heat = page.locator(".crop img.heat").is_visible()
    press("1")
    press("[")
    split = page.locator(".tools input[type=range]").input_value()
    before = page.locator(".tools .mono").inner_text()
    press("+")
    after = page.locator(".tools .mono").inner_text()
    press("0")
    whole = page.locator(".tools .mono").inner_text()
    press("f")
    flipped = page.locator(".sheet").get_attribute("class")
    press("?")
    helped = page.locator("#help").is_visible()
    press("Escape")
    press("t")
    theme = page.evaluate("document.documentElement.dataset.theme")

    assert start.startswith("frame 402")
    assert first != start
    assert second.startswith("frame 403")
    assert modes == ["sheet slide", "sheet before", "sheet after", "sheet difference"]
    assert heat
    assert split == "45"
    assert before != after
    assert whole.endswith("%")
    assert flipped == "sheet before"
    assert helped
    assert theme == "dark"
    assert opened.said == []
    assert opened.network == []
    page.close()


@browser_needed
@pytest.mark.process
def test_the_slider_is_dragged_and_the_strip_is_clicked(long_report, browser):
    """A mouse does what the keys do."""
    opened = Opened(browser, long_report[1])
    page = opened.page
    page.locator(".crop").wait_for()
    page.locator(".stage").scroll_into_view_if_needed()
    crop = page.locator(".crop").bounding_box()
    stage = page.locator(".stage").bounding_box()
    y = max(crop["y"], stage["y"]) + 20
    page.mouse.move(crop["x"] + crop["width"] * 0.3, y)
    page.mouse.down()
    page.mouse.move(crop["x"] + crop["width"] * 0.6, y, steps=4)
    page.mouse.up()
    split = float(page.locator(".tools input[type=range]").input_value())
    strip = page.locator(".strip svg").bounding_box()
    page.mouse.click(strip["x"] + 4, strip["y"] + 10)

    assert 55 < split < 65
    assert page.locator(".where").inner_text().startswith("frame 402")
    assert opened.said == []
    page.close()


def test_the_verdicts_stand_worst_first(mixed_report):
    """The list is by severity, and names every composition; a name is text, never markup."""
    ran, page = mixed_report
    text = page.read_text(encoding="utf-8")
    listed = re.findall(
        r'<tr><td><span class="badge (\w+)">\w+</span></td><td>(?:<a[^>]*>)?(\w+)', text
    )

    assert [kind for kind, _ in listed] == [
        "regression",
        "regression",
        "failed",
        "changed",
        "orphaned",
        "missing",
        "match",
    ]
    assert {name: kind for kind, name in listed} == {
        row.name: row.verdict for row in ran.report.rows
    }
    assert "the inputs of these frames did not move" in text


@browser_needed
@pytest.mark.process
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_mixed_page_opens_too(mixed_report, browser, scheme):
    """Every verdict at once, and a source that tries to end the page's script."""
    opened = Opened(browser, mixed_report[1], scheme)
    shot(opened, f"mixed-{scheme}")
    for index, key in enumerate("jjj"):
        opened.page.keyboard.press(key)
        opened.page.wait_for_timeout(50)
        shot(opened, f"mixed-{scheme}-{index}")
    current = opened.page.locator("section.current h2").inner_text()

    assert opened.said == []
    assert opened.network == []
    assert current == "broken"
    opened.page.close()


@browser_needed
@pytest.mark.process
def test_a_narrow_window_does_not_scroll_sideways(long_report, browser):
    """On a telephone's width the page is still one column."""
    opened = Opened(browser, long_report[1], width=420)
    opened.page.locator(".crop").wait_for()
    shot(opened, "narrow")
    over = opened.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert over <= 0
    opened.page.close()


def test_without_recorded_frames_the_page_says_so(tmp_path):
    """The frames before come from the cache; where there are none it is said, not hidden."""
    space = Space(tmp_path / "project")
    space.compose("film")
    space.build()
    shutil.rmtree(space.root / "cache")
    space.edit("compositions/film.nf.svg", "#ff8800", "#00ff00")
    page = tmp_path / "report.html"
    space.verify(report=str(page))
    (view,) = data_of(page)["views"].values()

    assert "in no cache and no shared tier" in page.read_text(encoding="utf-8")
    assert all("before" not in move and move["whole"] for move in view["moves"])


def test_frames_before_come_from_a_shared_tier(tmp_path):
    """On another machine the recorded frames are fetched from a tier that has them."""
    tier = tmp_path / "tier"
    tier.mkdir()
    shared = f'[[cache.shared]]\nurl = "file://{tier}"\nmode = "read-write"\n'
    space = Space(tmp_path / "project", shared)
    space.compose("film")
    space.build()
    shutil.rmtree(space.root / "cache")
    space.edit("compositions/film.nf.svg", "#ff8800", "#00ff00")
    page = tmp_path / "report.html"
    space.verify(report=str(page))
    (view,) = data_of(page)["views"].values()

    assert "in no cache" not in page.read_text(encoding="utf-8")
    assert all(move["before"] and move["after"] for move in view["moves"])


def test_a_regression_that_was_built_keeps_the_frames_before(tmp_path):
    """What `build` drew wrong does not take the place of what was recorded."""
    space = Space(tmp_path / "project")
    space.compose("film")
    space.build()
    wrong = build_with(space, "<svg|block", fresh=True)
    page = tmp_path / "report.html"
    verify_with(space, "<svg|block", report=str(page))
    (view,) = data_of(page)["views"].values()

    assert wrong.exit == 1
    assert all(move["before"] for move in view["moves"])


def test_a_page_that_cannot_be_written_is_a_usage_error(tmp_path):
    """Said by path; no half of a page is left."""
    from nfbuild.errors import UsageError

    space = Space(tmp_path / "project")
    space.compose("film")
    space.build()
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be written"):
        space.verify(report=str(tmp_path / "file" / "report.html"))
