#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The steps of a trace laid over each other: one step of many that needs more, or leaves something, is named
with its line; equal steps are not odd; steps that all leave memory are growth; what the page says of the
steps is what the report says.

    test_page_steps.py VRAMSCOPE TRAIN_LM SCENARIO"""
import csv
import io
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import pages as made  # noqa: E402
from test_page_views import check_axe, axe_source, download, settle, wait_until  # noqa: E402

STEP = "push step;a make_activation tensor 9000000 1;a stage_batch tensor 400000 2;f 1;f 2;pop;"
MORE = STEP.replace("f 1;", "a build_index tensor 30000000 3;f 1;f 3;")
LEAVES = STEP.replace("f 1;", "a append_history tensor 6000000 -1;f 1;")
BELOW = STEP.replace("push step;", "push step;a build_index tensor 4000000 3;f 3;")
DEVICE_STEP = f"push step;push forward;a make_activation device {8 << 20} 1;pop;f 1;pop;"
LAST = DEVICE_STEP.replace("f 1;", "%s;f 1;")
BEFORE = LAST % f"a build_index device {4 << 20} 2;a append_history device {6 << 20} 3"
AFTER = (LAST % f"a stage_batch device {5 << 20} 2;a append_history device {2 << 20} 3").replace(str(8 << 20), str(16 << 20))
FIXED = f"a load_weights device {30 << 20} -1;"
TRACES = {"odd": STEP * 37 + MORE + STEP * 21, "below": STEP * 30 + BELOW + STEP * 9, "left": STEP * 20 + LEAVES + STEP * 30,
          "equal": STEP * 40, "growth": LEAVES * 40, "few": STEP * 2}


def steps_of(page):
    page.wait_for_selector(".fold-steps table")
    return list(csv.DictReader(io.StringIO(download(page, "Steps as CSV").decode("utf-8-sig"))))


def odd_memory(rows):
    return {int(row["step"]) for row in rows if "MiB" in row["verdict"] and "warm-up" not in row["verdict"]}


def the_odd_step_is_named_with_its_line(pages):
    with browser.opened(pages.page("odd"), fragment="#tab=steps") as (page, faults):
        settle(page)
        rows = steps_of(page)
        assert len(rows) == 59 and odd_memory(rows) == {38}, rows
        assert "Step 38 of 59 is odd: needs 28.6 MiB more" in page.inner_text(".view-is-steps h2"), page.inner_text("h2")
        changes = page.inner_text(".fold-below > :first-child")
        assert "What made step 38 odd" in changes and "build_index" in changes and "+28.6 MiB" in changes, changes
        assert "make_activation" not in changes, changes
        check_axe(page, axe_source(), "steps") if axe_source() else None
        page.click(".fold-below button:has-text('build_index')")
        page.wait_for_selector("aside.detail:has-text('build_index') dd:has-text(' in 1 block')")
        page.keyboard.press("Escape")
        page.click(".fold-steps button:text-is('7')")
        wait_until(page, "/step=7(&|$)/.test(location.hash)")
        assert "No difference" in page.inner_text(".fold-below > :first-child")
        page.click(".fold-steps button:text-is('38')")
        page.click("button:has-text('Show it on the Timeline')")
        page.wait_for_selector("#tab-timeline[aria-selected=true]")
        wait_until(page, "location.hash.includes('from=') && location.hash.includes('cursor=')")
        assert not faults, faults


def the_step_that_a_part_cuts_off_is_not_judged(pages):
    """Its memory is still held where the part ends."""
    events = map(json.loads, pages.run("export", "-f", "json", pages.trace("odd")).splitlines())
    big = [event["event"] for event in events if event.get("kind") == "framework_alloc" and event["fields"]["size"] == 9000448]
    part = pages.folder / "part-of-odd.html"
    pages.run("view", "--from", f"@{big[9]}", "--to", f"@{big[49]}", pages.trace("odd"), "-o", str(part))
    with browser.opened(part, fragment="#tab=steps") as (page, faults):
        settle(page)
        rows = steps_of(page)
        assert [row["step"] for row in rows if row["verdict"] == "not finished"] == ["50"] and odd_memory(rows) == {38}, rows
        sentence = f"Step 38 is odd, of the {len(rows)} in this part: needs 28.6 MiB more"
        assert sentence in page.inner_text(".view-is-steps h2"), page.inner_text("h2")
        page.click("#tab-overview")
        page.wait_for_selector(f".odd-step:has-text('{sentence}')")
        browser.follow(page, "#selected=segment:0")
        page.wait_for_selector("aside.detail:has-text('since before ')")
        panel = page.inner_text("aside.detail")
        assert "allocated before this part" in panel and "no stack" not in panel, panel
        assert not faults, faults


def what_a_step_leaves_is_odd_once(pages):
    with browser.opened(pages.page("left"), fragment="#tab=steps") as (page, _faults):
        settle(page)
        rows = steps_of(page)
        assert odd_memory(rows) == {21}, rows  # not those after it, which are higher
        assert [int(row["left at its end"]) for row in rows if row["left at its end"] != "0"] == [6000128], rows
        assert "append_history" in page.inner_text(".fold-below > :first-child")


def what_a_step_allocates_below_its_peak_is_odd(pages):
    with browser.opened(pages.page("below"), fragment="#tab=steps") as (page, _faults):
        settle(page)
        assert odd_memory(steps_of(page)) == {31}
        assert "Step 31 of 40 is odd: allocates 3.8 MiB more below its peak" in page.inner_text(".view-is-steps h2")
        assert "build_index" in page.inner_text(".fold-below > :first-child")


def equal_steps_are_not_odd_and_growth_is_growth(pages):
    for name in ("equal", "growth"):
        report = pages.report(name)["steps"]
        with browser.opened(pages.page(name), fragment="#tab=steps") as (page, _faults):
            settle(page)
            rows = steps_of(page)
            assert odd_memory(rows) == set(), rows
            assert len(rows) == report["done"] == 40, (rows, report)
            peaks = [int(row["peak"]) for row in rows]
            assert min(peaks) == report["lowest_peak_bytes"], (peaks, report)
            grows = "leave 5.7 MiB each" in page.inner_text(".view-is-steps h2"), "append_history" in page.inner_text(".fold-below")
            assert grows == ((True, True) if name == "growth" else (False, False)), grows


def two_steps_have_no_tab(pages):
    with browser.opened(pages.page("few")) as (page, _faults):
        settle(page)
        assert not page.query_selector("#tab-steps")


def compare_has_the_figures_of_diff(pages):
    """Call sites that are new, gone, grown and the same, at the peaks, and at the peak of a step."""
    diff = json.loads(pages.run("diff", "--json", pages.trace("before"), pages.trace("after")))
    [sites] = [sites for sites in diff["sites"] if sites["metric"] == "allocated"]
    bytes_of = {True: lambda site: site["bytes"], False: lambda _: 0}
    wanted = {((c["b"] or c["a"])["text"], c["change"], *(bytes_of[c[run] is not None](c[run]) for run in "ab"))
              for c in sites["changes"]}
    assert {change for _, change, _, _ in wanted} == {"new", "gone", "grown", "shrunk"}, wanted
    with browser.opened(pages.page("before", "after")) as (page, faults):
        settle(page)
        rows = list(csv.DictReader(io.StringIO(download(page, "Compare as CSV").decode("utf-8-sig"))))
        found = {(row["name"], row["status"], int(row["bytes A"]), int(row["bytes B"])) for row in rows}
        assert {row for row in found if row[1] != "same"} == wanted, (found, wanted)
        assert sum(row["status"] == "same" for row in rows) == sites["same"], (rows, sites)
        sums = [sum(row[2 + run] for row in found) for run in (0, 1)]
        page.focus(".flame-area .v-frame")
        page.keyboard.press("ArrowDown")
        words = page.inner_text(".flame-area .v-tip")
        assert f"{made.c_bytes(sums[0])} in A, {made.c_bytes(sums[1])} in B" in words, (words, sums)
        chart = page.locator(".compare-chart")
        chart.click(position={"x": 72 + (chart.bounding_box()["width"] - 72) * 1.5 / 8, "y": 60})  # the second of 8 steps
        page.wait_for_selector("h2:text-is('Live at the peak of step 2')")
        rows = list(csv.DictReader(io.StringIO(download(page, "Compare as CSV").decode("utf-8-sig"))))
        assert {row["name"].split()[0]: (int(row["bytes A"]), int(row["bytes B"])) for row in rows} == {
            "load_weights": (30 << 20, 30 << 20), "make_activation": (8 << 20, 16 << 20)}, rows
        check_axe(page, axe_source(), "compare") if axe_source() else None
        page.click("text=At the peaks of the runs")
        wait_until(page, "!location.hash.includes('step=')")
        for kind in ("Phases", "Part of the run", "Clock"):
            page.click(f".compare-hero button:has-text('{kind}')")
            page.wait_for_selector(f".compare-hero button[aria-pressed=true]:has-text('{kind}')")
        assert not faults, faults


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        pages = made.Pages(*sys.argv[1:4], folder)
        for name, steps in (("before", DEVICE_STEP * 6 + BEFORE),
                            ("after", DEVICE_STEP.replace(str(8 << 20), str(16 << 20)) * 7 + AFTER)):
            pages.record(name, made.DEVICE, [pages.scenario, pages.script(name, FIXED + steps)], "--allocator=observe")
        for name, steps in TRACES.items():
            pages.record(name, made.DEVICE, [pages.scenario, pages.script(name, made.WEIGHTS + steps)],
                         "--allocator=observe")
        browser.run((the_odd_step_is_named_with_its_line, the_step_that_a_part_cuts_off_is_not_judged, what_a_step_leaves_is_odd_once,
                     what_a_step_allocates_below_its_peak_is_odd,
                     equal_steps_are_not_odd_and_growth_is_growth, two_steps_have_no_tab, compare_has_the_figures_of_diff), pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
