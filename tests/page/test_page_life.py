#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A block's life and the list of events in a browser: the events add up to what the report says, in
their order, and lead to the block and back; who had an address before and after had it.

    test_page_life.py VRAMSCOPE TRAIN_LM SCENARIO"""
import csv
import io
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import pages as made  # noqa: E402
from test_page_views import download, settle, wait_until  # noqa: E402

ADDRESS = re.compile(r"0x[0-9a-f]+")


def events_of(page):
    page.wait_for_selector(".grid-events .grid-row")
    return list(csv.DictReader(io.StringIO(download(page, "Events as CSV").decode("utf-8-sig"))))


def columns_of(page, axis):
    page.wait_for_selector(f".view-is-timeline .v-frame[data-colors][data-axis={axis}]")
    return list(csv.DictReader(io.StringIO(download(page, "Memory over time as CSV").decode("utf-8-sig"))))


def events_add_up(pages):
    for name in ("oom", "tensors", "leak"):
        report = pages.report(name)
        device = report["devices"][0]
        with browser.opened(pages.page(name), fragment="#tab=events") as (page, faults):
            settle(page)
            rows = events_of(page)
            times = [int(row["time ns"]) for row in rows]
            assert times == sorted(times), name
            count = {kind: sum(row["event"].startswith(kind) for row in rows) for kind in ("alloc", "free", "refused", "segment alloc")}
            assert count["refused"] == report["failure_count"], (name, count)
            assert (count["segment alloc"] > 0) == (name != "leak"), (name, count)
            assert max(int(row["in use after"]) for row in rows) == device["live"]["bytes"], (name, device["live"])
            held, most = {}, 0
            for row in rows:  # no two live blocks share an address
                if row["event"] == "alloc":
                    assert row["address"] not in held, (name, row)
                    held[row["address"]] = int(row["bytes"])
                elif row["event"] == "free":
                    assert held.pop(row["address"]) == int(row["bytes"]), (name, row)
                most = max(most, sum(held.values()))
                assert sum(held.values()) == int(row["in use after"]), (name, row)
            browser.follow(page, "#tab=timeline&axis=events")
            assert max(int(column["live"]) for column in columns_of(page, "events")) == device["live"]["bytes"], name
            assert not faults, (name, faults)


def a_row_and_its_block_lead_to_each_other(pages):
    with browser.opened(pages.page("leak"), fragment="#tab=events") as (page, faults):
        settle(page)
        rows = events_of(page)
        alloc = next(row for i, row in enumerate(rows) if row["event"] == "alloc" and "attention_forward" in row["call site"]
                     and any(r["event"] == "free" and r["address"] == row["address"] for r in rows[:i]))
        browser.follow(page, f"#tab=events&cursor={alloc['time ns']}")
        page.select_option(".view-is-events select >> nth=0", "blocks")
        page.fill(".view-is-events [data-search]", "attention_forward")
        page.wait_for_selector(".view-is-events .view-words:has-text(' of ')")
        wait_until(page, "[...document.querySelectorAll('.grid-events .grid-row')].every((e) => e.innerText.includes('attention_forward'))")
        page.click(".grid-events .grid-row.active")
        page.wait_for_selector("aside.detail:has-text('At this address')")
        clicked = page.inner_text(".grid-events .grid-row.active")
        panel = page.inner_text("aside.detail")
        address = ADDRESS.search(clicked).group(0)
        assert address in panel and re.search(r"allocated\s+step \d+, forward", panel), (clicked, panel)
        assert re.search(r"freed\s+step \d+, (forward|backward), by cudaFree", panel), panel
        page.fill(".view-is-events [data-search]", "")
        wait_until(page, "location.hash.includes('selected=') && !location.hash.includes('search=')")
        before = page.evaluate("location.hash")
        cursor = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('cursor')")
        row = next(r for r in rows if r["address"] == address and r["time ns"] == cursor)
        page.click(".neighbours li:first-child button")  # who had it before
        wait_until(page, f"location.hash !== {before!r}")
        earlier = page.inner_text(".grid-events .grid-row.active")
        other = [r for r in rows if r["address"] == ADDRESS.search(earlier).group(0) and int(r["time ns"]) < int(row["time ns"])][-1]
        assert other["event"] == "free", other
        start, end = int(address, 16), int(address, 16) + int(row["bytes"])
        assert int(other["address"], 16) < end and int(other["address"], 16) + int(other["bytes"]) > start, (row, other)
        assert not faults, faults


def events_are_an_axis(pages):
    """A step for each event: the columns, the cursor, the list and the segments follow."""
    with browser.opened(pages.page("leak"), fragment="#tab=events") as (page, faults):
        settle(page)
        rows = {int(row["number"]): row for row in events_of(page)}
        first, count = 40, 100
        begin, end = (rows[n]["time ns"] for n in (first, first + count))
        browser.follow(page, f"#tab=timeline&axis=events&from={begin}&to={end}")
        frame = page.wait_for_selector(".view-is-timeline .v-frame[data-colors][data-axis=events]")
        drawn = columns_of(page, "events")
        for i, column in enumerate(drawn):
            n = first + int((i + 0.5) / len(drawn) * count)
            assert int(rows[n]["time ns"]) <= int(column["time_ns"]) <= int(rows[n + 1]["time ns"]), (i, n, column, rows[n])
            if column["live"] and column["at_ns"] == rows[n]["time ns"]:
                assert int(column["live"]) >= int(rows[n]["in use after"]), (column, rows[n])
        box, n = frame.bounding_box(), first + 77
        page.mouse.click(box["x"] + 72 + (box["width"] - 84) * (n + 0.5 - first) / count, box["y"] + 20)
        wait_until(page, "location.hash.includes('cursor=')")
        for axis in ("events", "time"):  # a link that goes past the end shows what there is
            browser.follow(page, f"#tab=timeline&axis={axis}&from={begin}&to=999999999999&cursor={rows[n]['time ns']}")
            page.wait_for_selector(f".view-is-timeline .v-frame[data-colors][data-axis={axis}]")
        page.get_by_role("tab", name="Events", exact=True).click()
        page.wait_for_selector(f".grid-events .grid-row.active .cell:first-child:text-is('{n}')")
        assert not faults, faults


def segments_are_bands_over_time(pages):
    device = pages.report("oom")["devices"][0]
    with browser.opened(pages.page("oom"), fragment="#tab=timeline&bands=segments") as (page, faults):
        settle(page)
        frame = page.wait_for_selector(".view-is-timeline .v-frame[data-colors]")
        choices = page.locator(".choice:has-text('Colour') option").all_inner_texts()
        assert choices == ["call site", "library", "size", "lifetime", "stream and pool"], choices
        rows = list(csv.reader(io.StringIO(download(page, "Memory over time as CSV").decode("utf-8-sig"))))
        live = rows[0].index("live")
        held = [[float(value) for value in row[live:]] for row in rows[1:] if row[live]]
        assert max(held)[0] == device["peak_reserved"]["bytes"] and len(rows[0]) > live + 1, (rows[0], max(held))
        assert all(total == sum(groups) for total, *groups in held), held
        frame.focus()
        page.keyboard.press(".")  # the next one at the cursor
        page.wait_for_selector(".detail:has-text('Segment') dt:has-text('pool')")
        wait_until(page, "location.hash.includes('selected=segment%3A')")
        browser.follow(page, "#tab=timeline&bands=blocks")
        page.wait_for_selector(".view-is-timeline .v-frame[data-colors]")
        assert "call site" in page.inner_text(".view-is-timeline .v-legend-held"), "the bands are allocations again"
        assert not faults, faults


def a_tensor_has_its_module(pages):
    """And the memory that turned out to be its segment did not have its address before."""
    with browser.opened(pages.page("tensors"), fragment="#tab=events&search=make_activation") as (page, faults):
        settle(page)
        events_of(page)
        page.focus(".grid-events .grid-body")
        page.keyboard.press("Home")
        while not page.inner_text(".grid-row.active").split("\n")[2].startswith("alloc"):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector("aside.detail .facts")
        panel = page.inner_text("aside.detail")
        assert "layers.0.mlp of Net, forward" in panel and "At this address" not in panel, panel
        assert not faults, faults


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        pages = made.Pages(*sys.argv[1:4], folder)
        browser.run((events_add_up, a_row_and_its_block_lead_to_each_other, events_are_an_axis,
                     segments_are_bands_over_time, a_tensor_has_its_module), pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
