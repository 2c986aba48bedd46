#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The views over time in a browser, by pointer and by keys, on the page of a trace: zooming, panning,
the minimap, what the pointer shows, selecting, hiding a curve, playing, the themes. The link has the
state, so it tells what a gesture did.

    test_page_gestures.py VRAMSCOPE PROGRAM    PROGRAM is recorded on the simulated GPU"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
from test_page_views import download  # noqa: E402


def until(page, read, holds):
    """What *read* returns as soon as *holds* is true for it."""
    for _ in range(browser.WAIT_MS // 50):
        value = read()
        if holds(value):
            return value
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true, at last: {value}")


def link_of(page):
    return dict(urllib.parse.parse_qsl(page.evaluate("location.hash").lstrip("#")))


def state(page, holds):
    """The state in the link as soon as *holds* is true for it; the page writes it a little later."""
    return until(page, lambda: link_of(page), holds)


def show(page, tab):
    page.get_by_role("tab", name=tab, exact=True).click()
    page.locator(".panel .v-frame").first.wait_for()


def frame_of(page, view):
    return page.locator(f".view-is-{view} .v-frame")


def middle(frame, part=0.6):
    box = frame.bounding_box()
    return box["x"] + box["width"] * part, box["y"] + 60


def painted(page, view):
    """How many different colours the picture of a view has."""
    return page.evaluate("""(view) => {
        const canvas = document.querySelector(`.view-is-${view} .v-base`);
        const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
    }""", view)


def drawn(page, view, least):
    """Waits until the picture of a view has at least so many colours."""
    until(page, lambda: painted(page, view), lambda colours: colours >= least)


def span(values):
    return float(values["to"]) - float(values["from"])


def duration_of(page):
    return page.evaluate("JSON.parse(document.getElementById('head').textContent).duration")


def number(values, key):
    return float(values.get(key, "nan").replace("all", "nan"))


def whole(values):
    """The whole trace is visible; a page may open on its steps."""
    return values.get("from", "all") == "all"


def wheel_and_drag_move_the_time(page):
    frame = frame_of(page, "timeline")
    x, y = middle(frame)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    first = state(page, lambda s: number(s, "from") > 0)
    page.mouse.wheel(0, -400)
    closer = state(page, lambda s: span(s) < span(first) * 0.9)
    page.mouse.down()
    page.mouse.move(x - 80, y, steps=4)
    page.mouse.up()
    moved = state(page, lambda s: number(s, "from") > number(closer, "from"))
    assert abs(span(moved) / span(closer) - 1) < 1e-6, (moved, closer)
    assert "cursor" not in moved, "a drag is not a click"
    box = frame.bounding_box()
    page.mouse.click(box["x"] + 90, box["y"] + box["height"] - 15)  # in the minimap, at its start
    state(page, lambda s: number(s, "from") < number(moved, "from"))
    page.keyboard.down("Shift")
    page.mouse.move(x - 100, y)
    page.mouse.down()
    page.mouse.move(x, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    state(page, lambda s: number(s, "cursor") < number(s, "cursor2"))


def the_chart_stays_under_the_pointer(page):
    """Whatever values the legend shows: a press would hit another place than the one that was aimed at."""
    frame, at = frame_of(page, "timeline"), page.locator(".view-is-timeline .v-legend-held .v-status")
    box = frame.bounding_box()
    shown = at.inner_text()
    for part in range(8, 100, 7):
        page.mouse.move(*middle(frame, part / 100))
        shown = until(page, at.inner_text, lambda text: text != shown)
        assert frame.bounding_box() == box, (shown, frame.bounding_box(), box)


def keys_do_the_same(page):
    frame = frame_of(page, "timeline")
    frame.focus()
    page.keyboard.press("0")
    state(page, whole)
    page.keyboard.press("+")
    page.keyboard.press("Home")
    at_start = state(page, lambda s: number(s, "from") == 0)
    page.keyboard.press("ArrowRight")
    state(page, lambda s: abs(number(s, "from") / span(at_start) - 0.1) < 1e-6)
    page.keyboard.press("-")
    state(page, lambda s: whole(s) or span(s) > span(at_start))
    page.mouse.click(*middle(frame))
    cursor = number(state(page, lambda s: "cursor" in s and "cursor2" not in s), "cursor")
    frame.focus()
    page.keyboard.press("Shift+ArrowRight")
    state(page, lambda s: number(s, "cursor") > cursor)
    said = until(page, lambda: page.locator(".view-is-timeline .v-hidden").inner_text(), bool)
    assert said.startswith("At ") and "reserved" in said, said
    page.keyboard.press("0")


def a_curve_can_be_hidden(page):
    page.mouse.move(5, 5)
    state(page, whole)
    entry = page.locator(".view-is-timeline .v-legend button").first
    shown = painted(page, "timeline")
    assert entry.get_attribute("aria-pressed") == "true"
    entry.click()
    until(page, lambda: entry.get_attribute("aria-pressed"), lambda pressed: pressed == "false")
    until(page, lambda: painted(page, "timeline"), lambda colours: colours != shown)
    state(page, lambda s: s.get("curves", "").endswith(":0"))
    page.reload()  # the link restores it
    until(page, lambda: entry.count() and entry.get_attribute("aria-pressed"), lambda pressed: pressed == "false")
    entry.click()
    until(page, lambda: entry.get_attribute("aria-pressed"), lambda pressed: pressed == "true")


def a_band_stays_under_the_pointer(page):
    """A click selects the allocation that is live there and moves no chart; the box at the pointer is small, and goes
    with the click and with the wheel; the axis zooms bytes, and a double click fits the band that the click selected."""
    browser.follow(page, "#tab=timeline")
    ready = ".view-is-timeline .v-frame[data-colors]"
    page.wait_for_selector(ready)
    frame, tip = frame_of(page, "timeline"), page.locator(".view-is-timeline .v-tip")
    box = frame.bounding_box()

    def highest_band():
        for y in range(int(box["y"]) + 12, int(box["y"] + box["height"]) - 70, 3):
            page.mouse.move(box["x"] + box["width"] * 0.4, y)
            if tip.is_visible():
                return y + 1
        return 0

    x, y = box["x"] + box["width"] * 0.4, until(page, highest_band, bool)
    page.mouse.move(x, y)
    size = tip.bounding_box()
    assert size["width"] <= 320 and size["height"] <= 160, size
    page.mouse.click(x, y)
    assert not tip.is_visible()
    chosen = state(page, lambda s: "selected" in s)
    page.wait_for_selector("aside.detail:not([hidden])")
    assert frame.bounding_box() == box
    lived = page.inner_text("aside.detail .facts")
    page.mouse.dblclick(x, y)
    fitted = state(page, lambda s: "bytesFrom" in s)
    assert fitted["selected"] == chosen["selected"] and frame.bounding_box() == box, (chosen, fitted, lived)
    page.wait_for_selector(ready)
    page.mouse.move(x, y + 20)
    page.mouse.wheel(0, -100)
    state(page, lambda s: number(s, "from") != number(fitted, "from"))
    assert not tip.is_visible()
    page.mouse.move(box["x"] + 20, y)

    def wheel_on_the_axis():
        page.mouse.wheel(0, 300)
        page.wait_for_timeout(600)  # the page scrolls for a while after it scrolled
        return link_of(page)

    until(page, wheel_on_the_axis, lambda s: number(s, "bytesFrom") != number(fitted, "bytesFrom"))
    frame.focus()
    page.keyboard.press("0")
    state(page, lambda s: "bytesFrom" not in s and whole(s))
    page.keyboard.press("Escape")
    state(page, lambda s: "selected" not in s)
    browser.follow(page, f"#tab=blocks&cursor={chosen['cursor']}")
    rows = csv.DictReader(io.StringIO(download(page, "Blocks over time and address as CSV").decode("utf-8-sig")))
    row = next(row for row in rows if f"block:{row['block']}" == chosen["selected"])
    at, pixel = float(chosen["cursor"]), duration_of(page) / box["width"] * 1.2
    assert float(row["born_ns"]) <= at + pixel and float(row["freed_ns"] or at) >= at - pixel, (row, at)


def the_steps_can_be_fitted(page):
    """By key and by button, where they are not nearly all of the run."""
    show(page, "Timeline")
    span = page.evaluate("JSON.parse(document.getElementById('head').textContent).steps_span")
    fit, back = (page.get_by_role("button", name=name) for name in ("Fit the steps", "Whole run"))
    if span["to"] - span["from"] >= duration_of(page) * 0.95:
        assert not fit.count() and not back.count()
        return
    frame_of(page, "timeline").focus()
    page.keyboard.press("s")
    back.click()
    fit.click()
    back.click()
    state(page, whole)


def blocks_answer_the_pointer(page):
    browser.follow(page, "#tab=blocks")  # without a cursor: at the peak
    drawn(page, "blockmap", 8)
    frame = frame_of(page, "blockmap")
    frame.focus()
    page.keyboard.press(".")
    first = state(page, lambda s: s.get("selected", "").startswith("block:"))["selected"]
    page.keyboard.press(".")
    state(page, lambda s: s["selected"] != first)
    page.keyboard.press("z")
    zoomed = state(page, lambda s: "placeFrom" in s)
    box = frame.bounding_box()
    tip = page.locator(".view-is-blockmap .v-tip")

    def over_a_block():
        for part in range(20, 85, 5):  # somewhere in this column is a block
            page.mouse.move(box["x"] + (box["width"] + 60) / 2, box["y"] + box["height"] * part / 100)
            if tip.is_visible():
                return tip.inner_text()
        return ""

    text = until(page, over_a_block, bool)
    for fact in ("kind", "lived", "phase"):
        assert fact in text, text
    page.keyboard.press("Shift+ArrowDown")
    state(page, lambda s: number(s, "placeTo") > number(zoomed, "placeTo") or "placeTo" not in s)
    page.keyboard.press("Escape")
    state(page, lambda s: "selected" not in s)
    page.keyboard.press("0")
    state(page, lambda s: "placeFrom" not in s)


def lanes_and_the_stack_are_drawn(page):
    show(page, "Timeline")
    page.wait_for_selector(".view-is-timeline .v-frame[data-colors]")
    drawn(page, "timeline", 8)
    assert page.locator(".view-is-timeline .v-legend-held .v-key").count() > 0
    drawn(page, "lanes", 4)


def segments_play_through_time(page):
    show(page, "Segments")
    browser.follow(page, "#tab=segments&cursor=0")
    drawn(page, "segmentmap", 4)
    status = page.locator(".view-is-segmentmap .v-status").first
    until(page, status.inner_text, lambda text: " held, " in text)
    before = link_of(page).get("cursor")
    frame_of(page, "segmentmap").focus()
    page.keyboard.press(".")
    stepped = state(page, lambda s: "cursor" in s and s["cursor"] != before)["cursor"]
    page.get_by_role("button", name="play through time").click()
    state(page, lambda s: s["cursor"] != stepped)
    page.get_by_role("button", name="pause").click()
    page.get_by_role("button", name="play through time").wait_for()


def a_page_that_was_stopped_plays_on(page):
    """From where it was: the time in which it did not run is not played."""
    before = number(link_of(page), "cursor")
    duration = duration_of(page)
    page.evaluate("""async () => {
        const frame = () => new Promise(requestAnimationFrame);
        const click = (label) => document.querySelector(`button[aria-label='${label}']`).click();
        click('play through time');
        await frame();
        const until = performance.now() + 3000; // a fifth of what the whole trace takes
        while (performance.now() < until);
        await frame();
        await frame();
        click('pause');
        await new Promise((done) => setTimeout(done, 500)); // after the timer that writes the link
    }""")
    after = number(link_of(page), "cursor")
    assert 0 < after - before < duration / 10, (before, after, duration)


def main():
    browser.require()
    vramscope, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        trace, path = pathlib.Path(folder) / "lm.vst", pathlib.Path(folder) / "page.html"
        subprocess.run([vramscope, "run", "--simulate", "h100-80g", "-o", trace, "--", program, "--steps", "6"],
                       check=True, capture_output=True, timeout=600)
        subprocess.run([vramscope, "view", trace, "-o", path], check=True, capture_output=True, timeout=600)
        for width, height, scheme in ((1280, 900, "light"), (1280, 720, "dark")):
            with browser.opened(path, width, height, scheme) as (page, faults):
                page.wait_for_selector("html[data-blocks=ready]")
                show(page, "Timeline")
                drawn(page, "timeline", 4)
                browser.run((the_chart_stays_under_the_pointer, wheel_and_drag_move_the_time, keys_do_the_same,
                             a_curve_can_be_hidden, a_band_stays_under_the_pointer, the_steps_can_be_fitted, blocks_answer_the_pointer, lanes_and_the_stack_are_drawn,
                             segments_play_through_time, a_page_that_was_stopped_plays_on), page, about=scheme)
                assert not faults, json.dumps(faults)
    return 0


if __name__ == "__main__":
    sys.exit(main())
