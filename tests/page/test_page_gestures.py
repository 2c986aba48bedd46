#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The views over time in a browser, by pointer and by keys, on the page of a trace: zooming, panning,
the minimap, what the pointer shows, selecting, hiding a curve, playing, the themes. The link has the
state, so it tells what a gesture did.

    test_page_gestures.py VRAMSCOPE PROGRAM    PROGRAM is recorded on the simulated GPU"""
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

LINK_MS = 400  # the page writes its link a little after a change


def state_of(page):
    page.wait_for_timeout(LINK_MS)
    return dict(urllib.parse.parse_qsl(page.evaluate("location.hash").lstrip("#")))


def show(page, tab):
    page.get_by_role("tab", name=tab, exact=True).click()
    page.wait_for_timeout(300)


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


def span(state):
    return float(state["to"]) - float(state["from"])


def wheel_and_drag_move_the_time(page):
    show(page, "Timeline")
    frame = frame_of(page, "timeline")
    x, y = middle(frame)
    page.mouse.move(x, y)
    for _ in range(4):
        page.mouse.wheel(0, -200)
    first = state_of(page)
    assert float(first["from"]) > 0, first
    page.mouse.wheel(0, -300)
    closer = state_of(page)
    assert span(closer) < span(first)
    page.mouse.down()
    page.mouse.move(x - 80, y, steps=4)
    page.mouse.up()
    moved = state_of(page)
    assert float(moved["from"]) > float(closer["from"]) and abs(span(moved) / span(closer) - 1) < 1e-6, moved
    assert "cursor" not in moved, "a drag is not a click"
    box = frame.bounding_box()
    page.mouse.click(box["x"] + 90, box["y"] + box["height"] - 15)  # in the minimap, at its start
    assert float(state_of(page)["from"]) < float(moved["from"])
    page.keyboard.down("Shift")
    page.mouse.move(x - 100, y)
    page.mouse.down()
    page.mouse.move(x, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    chosen = state_of(page)
    assert float(chosen["cursor"]) < float(chosen["cursor2"]), chosen


def keys_do_the_same(page):
    frame_of(page, "timeline").focus()
    page.keyboard.press("0")
    assert "from" not in state_of(page)
    for key in ("+", "+", "Home"):
        page.keyboard.press(key)
    at_start = state_of(page)
    assert float(at_start["from"]) == 0
    page.keyboard.press("ArrowRight")
    assert abs(float(state_of(page)["from"]) / span(at_start) - 0.1) < 1e-6
    page.keyboard.press("-")
    assert span(state_of(page)) > span(at_start)
    page.mouse.click(*middle(frame_of(page, "timeline")))
    cursor = float(state_of(page)["cursor"])
    frame_of(page, "timeline").focus()
    page.keyboard.press("Shift+ArrowRight")
    assert float(state_of(page)["cursor"]) > cursor
    said = page.locator(".view-is-timeline .v-hidden").inner_text()
    assert said.startswith("At ") and "reserved" in said, said
    page.keyboard.press("0")


def a_curve_can_be_hidden(page):
    page.mouse.move(5, 5)
    entry = page.locator(".view-is-timeline .v-legend button").first
    before = page.evaluate("document.querySelector('.view-is-timeline .v-base').toDataURL()")
    assert entry.get_attribute("aria-pressed") == "true"
    entry.click()
    page.wait_for_timeout(200)
    entry = page.locator(".view-is-timeline .v-legend button").first
    assert entry.get_attribute("aria-pressed") == "false"
    assert page.evaluate("document.querySelector('.view-is-timeline .v-base').toDataURL()") != before
    entry.click()


def blocks_answer_the_pointer(page):
    show(page, "Blocks")
    page.keyboard.press("0")
    assert painted(page, "blockmap") > 8
    frame = frame_of(page, "blockmap")
    frame.focus()
    page.keyboard.press(".")
    first = state_of(page)["selected"]
    page.keyboard.press(".")
    selected = state_of(page)["selected"]
    assert first.startswith("block:") and selected.startswith("block:") and first != selected
    page.keyboard.press("z")
    zoomed = state_of(page)
    assert "placeFrom" in zoomed, zoomed
    box = frame.bounding_box()
    tip = page.locator(".view-is-blockmap .v-tip")
    for part in range(20, 85, 5):  # somewhere in this column is a block
        page.mouse.move(box["x"] + (box["width"] + 60) / 2, box["y"] + box["height"] * part / 100)
        page.wait_for_timeout(50)
        if tip.is_visible():
            break
    text = tip.inner_text()
    for fact in ("size", "lifetime", "kind", "phase", "step", "stream"):
        assert fact in text, text
    page.keyboard.press("Shift+ArrowDown")
    assert float(state_of(page)["placeTo"]) > float(zoomed["placeTo"])
    page.keyboard.press("Escape")
    assert "selected" not in state_of(page)
    page.keyboard.press("0")


def lanes_and_stacks_are_drawn(page):
    show(page, "Timeline")
    page.keyboard.press("0")
    page.locator(".view-is-stackchart").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    assert painted(page, "stackchart") > 4
    assert page.locator(".view-is-stackchart .v-legend .v-key").count() > 0
    frame_of(page, "stackchart").focus()
    page.keyboard.press("]")
    assert painted(page, "lanes") > 2


def segments_play_through_time(page):
    show(page, "Segments")
    assert painted(page, "segmentmap") > 3
    status = page.locator(".view-is-segmentmap .v-status")
    assert " held, " in status.inner_text()
    start = state_of(page).get("cursor")
    frame_of(page, "segmentmap").focus()
    page.keyboard.press(".")
    stepped = state_of(page)["cursor"]
    assert stepped != start
    page.get_by_role("button", name="play through time").click()
    page.wait_for_timeout(500)
    page.get_by_role("button", name="pause").click()
    played = float(state_of(page)["cursor"])
    assert played != float(stepped)
    page.wait_for_timeout(200)
    assert float(state_of(page)["cursor"]) == played


def main():
    browser.require()
    vramscope, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        trace, path = pathlib.Path(folder) / "lm.vst", pathlib.Path(folder) / "page.html"
        subprocess.run([vramscope, "run", "--simulate", "h100-80g", "-o", trace, "--", program, "--steps", "6"],
                       check=True, capture_output=True, timeout=120)
        subprocess.run([vramscope, "view", trace, "-o", path], check=True, capture_output=True, timeout=60)
        for width, height, scheme in ((1280, 900, "light"), (1280, 720, "dark")):
            with browser.opened(path, width, height, scheme) as (page, faults):
                page.wait_for_selector("html[data-blocks=ready]")
                for test in (wheel_and_drag_move_the_time, keys_do_the_same, a_curve_can_be_hidden,
                             blocks_answer_the_pointer, lanes_and_stacks_are_drawn, segments_play_through_time):
                    test(page)
                    print("ok", scheme, test.__name__)
                assert not faults, json.dumps(faults)
    return 0


if __name__ == "__main__":
    sys.exit(main())
