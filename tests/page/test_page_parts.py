#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps that the program does not mark, pages of a part of a trace, and memory of streams and pools,
in a browser.

    test_page_parts.py VRAMSCOPE TRAIN_LM SCENARIO"""
import csv
import io
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import pages as made  # noqa: E402
from test_page_gestures import link_of, number, state, until  # noqa: E402
from test_page_views import download, settle  # noqa: E402

UNMARKED = ("a make_activation device 9000000 1;a stage_batch device 400000 2;a build_index device 5000000 3;"
            "f 3;f 2;f 1;")
STEPS = 20
HOST = "a stage_batch host 3000000 -1;"


def head_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="head">(.*?)</script>', text).group(1))


def lanes(page, what):
    rows = csv.DictReader(io.StringIO(download(page, "Steps, phases, kernels and copies as CSV").decode("utf-8-sig")))
    return [(row["name"], float(row["start_ns"])) for row in rows if row["lane"] == what]


def found_steps_are_drawn(pages):
    pages.record("unmarked", made.DEVICE, [pages.scenario, pages.script("unmarked", made.WEIGHTS + HOST + UNMARKED * STEPS)],
                 "--allocator=observe")
    steps = pages.report("unmarked")["steps"]
    assert steps["found"] and steps["begun"] > STEPS / 2, steps
    with browser.opened(pages.page("unmarked"), fragment="#tab=timeline") as (page, faults):
        settle(page)
        rows = until(page, lambda: lanes(page, "step"), len)
        assert len(rows) == steps["begun"], (rows, steps)
        assert rows[0][0] == "step 1 (found)" and rows[-1][0].endswith("(found), not complete"), rows
        browser.follow(page, f"#tab=timeline&cursor={rows[3][1] + 1}")
        page.focus(".view-is-lanes .v-frame")
        page.keyboard.press("]")
        state(page, lambda link: number(link, "cursor") == rows[4][1])
        page.keyboard.press("[")
        state(page, lambda link: number(link, "cursor") == rows[3][1])
        legend = page.inner_text(".view-is-timeline .v-legend")
        assert "pinned host memory" in legend, legend
        assert not faults, faults


def a_part_is_shown_first(pages):
    duration = head_of(pages.page("training"))["duration"]
    part = pages.folder / "part.html"
    pages.run("view", "--from", f"{duration // 2}ns", "--to", f"{duration * 3 // 4}ns", pages.trace("training"), "-o", str(part))
    window = head_of(part)["window"]
    with browser.opened(part, fragment="#tab=timeline") as (page, faults):
        settle(page)
        assert "from" not in link_of(page), "the part is what a page without a link shows"
        page.focus(".view-is-timeline .v-frame")
        page.keyboard.press("+")
        shown = state(page, lambda link: "from" in link)
        assert window["from"] <= number(shown, "from") < number(shown, "to") <= window["to"], (shown, window)
        page.keyboard.press("0")
        state(page, lambda link: link.get("from") == link.get("to") == "all")
        link = page.evaluate("location.hash")
        assert not faults, faults
    with browser.opened(part, fragment=link) as (page, _faults):
        settle(page)
        page.focus(".view-is-timeline .v-frame")
        page.keyboard.press("+")
        shown = state(page, lambda link: link.get("from", "all") != "all")
        assert number(shown, "from") < window["from"] or number(shown, "to") > window["to"], "the link shows the whole trace"


def segments_have_streams_and_pools(pages):
    head = head_of(pages.page("training"))
    assert head["pools"] == ["small", "large"], head["pools"]
    with browser.opened(pages.page("training"), fragment="#tab=segments") as (page, faults):
        settle(page)
        rows = until(page, lambda: download(page, "Segments at the cursor as CSV").decode("utf-8-sig"), lambda text: "\n" in text)
        assert re.search(r"stream \d+, (small|large) pool", rows), rows[:300]
        assert not faults, faults


def picture_of(page, color):
    """The pixels of the blocks in these colours, as one number: once a few frames leave the picture as it is. A
    new legend may change its size."""
    return page.evaluate("""async (color) => {
        for (let same = 0; same < 4;) {
            await new Promise(requestAnimationFrame);
            const drawn = document.querySelector('.view-is-blockmap .v-frame')?.dataset.colors === color;
            same = drawn ? same + 1 : 0;
        }
        const canvas = document.querySelector('.view-is-blockmap .v-base');
        const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Uint32Array(data.buffer).reduce((sum, pixel) => (Math.imul(sum, 31) + pixel) >>> 0, 7);
    }""", color)


def blocks_take_other_colors(pages):
    """Colouring goes on in several frames; the picture at the end is that of a page opened with the colour."""
    path = pages.page("training")
    with browser.opened(path, fragment="#tab=blocks&color=phase") as (page, _faults):
        settle(page)
        phases = picture_of(page, "phase")
        page.select_option(".panel .toolbar select", "size")
        sizes = picture_of(page, "size")
    with browser.opened(path, fragment="#tab=blocks&color=size") as (page, faults):
        settle(page)
        assert picture_of(page, "size") == sizes != phases
        page.select_option(".panel .toolbar select", "phase")
        assert picture_of(page, "phase") == phases
        assert not faults, faults


def a_cut_legend_says_how_much_is_below(pages):
    """The status of a legend counts the entries that do not fit, with their bytes."""
    for tab in ("timeline", "blocks"):
        with browser.opened(pages.page("training"), 390, 700, fragment=f"#tab={tab}&color=site") as (page, faults):
            settle(page)
            legend = ".view-is-timeline .v-legend-held" if tab == "timeline" else ".view-is-blockmap .v-legend"
            page.wait_for_selector(f"{legend} .v-more")
            said, below = page.evaluate("""(name) => {
                const legend = document.querySelector(name);
                const bottom = legend.offsetTop + legend.clientHeight;
                return [legend.querySelector('.v-more').textContent,
                    [...legend.querySelectorAll('.v-key')].filter((e) => e.offsetTop >= bottom - 12).length];
            }""", legend)
            count = int(re.match(r"([\d,]+) smaller", said).group(1).replace(",", ""))
            assert count >= below > 0, (tab, said, below)
            assert not faults, faults


def a_limit_that_is_not_drawn_is_marked(pages):
    pages.record("small", "h100-80g", [pages.scenario, pages.script("small", made.WEIGHTS)], "--allocator=observe")
    with browser.opened(pages.page("small"), fragment="#tab=timeline") as (page, faults):
        settle(page)
        button = ".view-is-timeline .v-legend button:has-text('device memory')"
        page.wait_for_selector(f"{button}.v-key-off:has-text('(off the scale)')")
        page.click(button)
        page.wait_for_selector(f"{button}:not(.v-key-off)")
        assert "off the scale" not in page.inner_text(button)
        assert not faults, faults


def a_trace_without_segments_shows_its_allocations(pages):
    """Whatever a link, or another trace of the page, asks for."""
    with browser.opened(pages.page("small"), fragment="#tab=timeline&bands=segments") as (page, faults):
        settle(page)
        page.wait_for_selector(".view-is-timeline .v-legend-held:has-text('load_weights')")
        state(page, lambda link: "bands" not in link)
        assert not faults, faults


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        pages = made.Pages(*sys.argv[1:4], folder)
        browser.run((found_steps_are_drawn, a_part_is_shown_first, segments_have_streams_and_pools, blocks_take_other_colors,
                     a_cut_legend_says_how_much_is_below, a_limit_that_is_not_drawn_is_marked,
                     a_trace_without_segments_shows_its_allocations), pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
