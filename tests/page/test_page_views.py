#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every view of the page in a browser: no fault, no request, no serious finding of axe-core, nothing
wider than the screen, in both themes and at both sizes; names of a hostile program stay text;
exports are read back; a link restores the view; the keyboard reaches everything.

    test_page_views.py VRAMSCOPE TRAIN_LM SCENARIO"""
import csv
import io
import json
import pathlib
import struct
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import pages as made  # noqa: E402

TABS = ("overview", "timeline", "blocks", "segments", "flame", "table", "events")
SIZES = ((1280, 720, "light"), (390, 844, "dark"))


def axe_source():
    """The text of axe-core; None where the package is not installed."""
    try:
        import axe_playwright_python
    except ImportError:
        return None
    return (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def settle(page):
    """Until the data is decoded and two frames are drawn."""
    page.wait_for_selector("html[data-blocks=ready][data-sections=ready]")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_until(page, condition):
    """As page.wait_for_function, which evaluates text in the page: the page's policy forbids that."""
    for _ in range(browser.WAIT_MS // 50):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {condition}; the address is {page.url[-300:]}")


def go(page, tab):
    page.click(f"#tab-{tab}")
    page.wait_for_selector(f"#tab-{tab}[aria-selected=true]")
    settle(page)


def every_view_is_free_of_faults(pages, axe):
    for names in (("oom",), ("tensors",), ("leak", "oom")):
        for width, height, scheme in SIZES:
            with browser.opened(pages.page(*names), width, height, scheme) as (page, faults):
                settle(page)
                for tab in (*TABS, "whatif", *(["modules"] if "tensors" in names else []), *(["compare"] if len(names) > 1 else [])):
                    go(page, tab)
                    where = (names, width, scheme, tab)
                    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                    assert wide <= 0, (*where, f"{wide} pixels wider than the screen")
                    if axe and (len(names) == 1 or tab == "compare"):  # the others are views of one trace
                        check_axe(page, axe, where)
                assert not faults, (names, width, faults)


def check_axe(page, axe, where):
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(axe)  # by the debugger: the page's policy does not apply
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    serious = [(v["id"], v["nodes"][0]["target"], v["nodes"][0]["failureSummary"]) for v in found["violations"]
               if v["impact"] in ("serious", "critical")]
    assert not serious, (*where, serious)


def hostile_names_stay_text(pages, _axe):
    with browser.opened(pages.page("hostile")) as (page, faults):
        settle(page)
        for tab in (*TABS, "whatif"):
            go(page, tab)
            for color in ("phase", "site"):
                browser.follow(page, f"#tab={tab}&color={color}")
                settle(page)
            assert page.query_selector_all("#app img, #app script") == [], tab
        assert "taken" not in page.title() and "<img" in page.title(), page.title()
        assert "\x1b" not in page.inner_text("#app"), "control characters are shown as escapes"
        browser.follow(page, "#tab=table&color=phase")
        for name in (made.MARKUP, made.IMAGE, made.FORMULA):
            wait_until(page, f"document.querySelector('.grid')?.innerText.includes({json.dumps(name)})")
        rows = list(csv.reader(io.StringIO(download(page, "Table as CSV").decode("utf-8-sig"))))
        names = [row[0] for row in rows]
        assert "'" + made.FORMULA in names and made.MARKUP in names, names
        assert any(name.count("vector<") > 20 for name in names), names
        assert not faults, faults


def download(page, label):
    if not page.is_visible(f"button[aria-label='{label}']"):
        page.click(".menu > summary")
    with page.expect_download() as waiting:
        page.click(f"button[aria-label='{label}']")
    return pathlib.Path(waiting.value.path()).read_bytes()


def exports_can_be_read(pages, _axe):
    with browser.opened(pages.page("tensors")) as (page, faults):
        settle(page)
        for tab in (*TABS, "modules", "whatif"):
            go(page, tab)
            page.evaluate("document.querySelector('.menu').open = false")
            labels = page.evaluate("() => [...document.querySelectorAll('.menu-items button')].map((b) => "
                                   "b.getAttribute('aria-label'))")
            assert len(labels) >= 3 and len(labels) % 3 == 0, (tab, labels)
            for label in labels:
                check_export(label, download(page, label))
        assert not faults, faults


def check_export(label, data):
    if label.endswith("SVG"):
        root = ElementTree.fromstring(data)
        assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(list(root.iter())) > 3, label
    elif label.endswith("PNG"):
        width, height = struct.unpack(">II", data[16:24])
        assert data[:8] == b"\x89PNG\r\n\x1a\n" and width > 300 and height > 40, (label, width, height)
    else:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
        assert len(rows) > 1 and all(len(row) == len(rows[0]) for row in rows), (label, rows[:3])


def the_table_adds_up(pages, _axe):
    live = max(pages.report("tensors")["devices"], key=lambda d: d["peak_allocated"]["bytes"])["live"]
    with browser.opened(pages.page("tensors"), fragment="#tab=table&color=kind") as (page, _faults):
        settle(page)
        rows = list(csv.DictReader(io.StringIO(download(page, "Table as CSV").decode("utf-8-sig"))))
        assert sum(int(row["Bytes"]) for row in rows) == live["bytes"], rows
        kinds = {row["name"]: row["bytes"] for row in live["by"]["kind"]}
        found = {row["kind"]: int(row["Bytes"]) for row in rows}
        assert {name: found.get(name) for name in kinds} == kinds, (found, kinds)


def modules_add_up(pages, _axe):
    """The treemap's area is bytes, a click goes into a module, and the address has it."""
    rows = pages.report("tensors")["devices"][0]["live"]["by"]["module"]
    layer = sum(row["bytes"] for row in rows if row["module"] == "layers.0.mlp")
    assert layer and {row["model"] for row in rows} == {"Net", None}, rows
    with browser.opened(pages.page("tensors"), fragment="#tab=modules") as (page, faults):
        settle(page)
        names = page.inner_text(".module-tree")
        assert "layers" in names and made.c_bytes(layer) in names, names
        areas = page.evaluate("""() => [...document.querySelectorAll('.module-map g.tile')].map((tile) => {
            const {width, height} = tile.querySelector('rect').getBBox();
            return [tile.querySelector('title').textContent.split(':')[0], (width + 1) * (height + 1)];
        })""")
        whole, sizes = sum(area for _, area in areas), {}
        for name, area in areas:
            sizes[name] = sizes.get(name, 0) + area
        share = layer / sum(row["bytes"] for row in rows)
        assert abs(sizes["Net.layers.0.mlp"] / whole - share) < 0.15, (sizes, share)
        page.click(".module-map g.tile:has-text('mlp')")
        wait_until(page, "location.hash.includes('module=Net.layers.0.mlp')")
        assert made.c_bytes(layer) in page.inner_text(".module-keys"), page.inner_text(".module-keys")
        page.focus(".module-map")
        page.keyboard.press("Escape")
        wait_until(page, "/module=Net.layers.0(&|$)/.test(location.hash)")
        browser.follow(page, "#tab=timeline&color=module")
        wait_until(page, "document.querySelector('.view-is-timeline .v-legend-held')?.innerText.includes('layers.0.mlp')")
        assert not faults, faults


def a_link_restores_the_view(pages, _axe):
    path = pages.page("tensors")
    with browser.opened(path) as (page, _faults):
        settle(page)
        go(page, "flame")
        page.fill("[data-search]", "activation")
        page.click("text=Inverted")
        wait_until(page, "location.hash.includes('inverted=true') && location.hash.includes('search=')")
        link = page.evaluate("location.hash")
        before = page.inner_text(".view-area.view-is-flame"), download(page, "Flame graph as CSV")
    with browser.opened(path, fragment=link) as (page, _faults):
        settle(page)
        page.wait_for_selector(".moment:has-text('Live at')")
        settle(page)
        assert page.evaluate("location.hash") == link
        assert (page.inner_text(".view-area.view-is-flame"), download(page, "Flame graph as CSV")) == before


def the_keyboard_reaches_everything(pages, _axe):
    with browser.opened(pages.page("tensors")) as (page, faults):
        settle(page)
        for number, tab in enumerate(TABS, 1):
            page.keyboard.press(str(number))
            page.wait_for_selector(f"#tab-{tab}[aria-selected=true]")
        page.keyboard.press("5")
        page.wait_for_selector(".moment:has-text('Live at')")
        settle(page)
        page.focus(".flame-area .v-frame")
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        wait_until(page, "location.hash.includes('zoom=')")
        assert page.is_visible(".flame-area .v-tip")
        page.keyboard.press("Escape")  # the box
        page.keyboard.press("Escape")
        wait_until(page, "!location.hash.includes('zoom=0')")
        page.keyboard.press("/")
        page.keyboard.type("history")
        page.wait_for_selector("text=matched")
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        page.keyboard.press("6")
        page.wait_for_selector(".grid-row")
        page.focus(".grid-body")
        page.keyboard.press("Enter")
        if page.is_visible("aside.detail"):
            page.keyboard.press("Escape")
        page.keyboard.press("?")
        assert page.is_visible("dialog.help")
        page.keyboard.press("Escape")
        assert not page.is_visible("dialog.help")
        page.keyboard.press("t")
        page.wait_for_selector("text=Theme: light")
        assert not faults, faults


def blocks_are_found_and_stepped_through(pages, _axe):
    with browser.opened(pages.page("tensors"), fragment="#tab=blocks") as (page, faults):
        settle(page)
        page.keyboard.press("/")
        page.keyboard.type("history >15M")
        page.wait_for_selector(f"text=6 found, {made.c_bytes(6 * 20 << 20)} in all")  # 2 MiB pages
        page.keyboard.press("Enter")
        wait_until(page, "/selected=block%3A\\d/.test(location.hash)")
        page.wait_for_selector("text=1 of 6,")
        page.locator("aside.detail").wait_for()
        page.focus(".view-is-blockmap .v-frame")
        for key, at in (("n", 2), ("n", 3), ("Shift+N", 2)):
            page.keyboard.press(key)
            page.wait_for_selector(f"text={at} of 6,")
        assert page.is_visible("#tab-blocks[aria-selected=true]")
        browser.follow(page, "#tab=blocks&search=parameters+backward")
        page.wait_for_selector("text=no block found")
        assert not faults, faults


def escape_closes_what_is_on_top(pages, _axe):
    """The dialog, then the menu, then the box at the pointer, then the selection."""
    with browser.opened(pages.page("tensors"), fragment="#tab=table&rows=blocks") as (page, faults):
        settle(page)
        page.click(".grid-row >> nth=1")
        page.locator("aside.detail").wait_for()
        assert page.locator(".grid-row[aria-current]").count() == 1
        go(page, "blocks")
        page.click(".menu > summary")
        page.evaluate("document.querySelector('.view-is-blockmap .v-tip').hidden = false")
        page.keyboard.press("?")
        layers = ["dialog.help", ".menu-items", ".view-is-blockmap .v-tip", "aside.detail"]
        for closed in range(len(layers) + 1):
            assert [page.is_visible(layer) for layer in layers] == [i >= closed for i in range(len(layers))], closed
            page.keyboard.press("Escape")
            settle(page)
        assert not faults, faults


def the_pointer_of_one_tab_is_not_that_of_another(pages, _axe):
    at = ".view-is-timeline .v-legend-held .v-status"
    with browser.opened(pages.page("tensors"), fragment="#tab=blocks") as (page, _faults):
        settle(page)
        alone = page.inner_text(at)
        go(page, "timeline")
        box = page.locator(".view-is-timeline .v-frame").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
        wait_until(page, f"document.querySelector('{at}').innerText !== {json.dumps(alone)}")
        page.keyboard.press("3")
        page.wait_for_selector(".view-is-blockmap .v-frame")
        settle(page)
        assert page.inner_text(at) == alone


def no_number_is_cut(pages, _axe):
    """Beside the panel, on narrow screens: numbers keep their units, and bars are shares of the whole."""
    shares = "[...document.querySelectorAll('.bar-fill')].map((e) => [e.offsetWidth / e.parentElement.offsetWidth, " \
             "parseFloat(e.closest('li').querySelector('.bar-share').textContent)])"
    for width in (1280, 900, 390):
        with browser.opened(pages.page("tensors"), width, fragment="#tab=table&rows=groups&color=site&selected=site:0") as (page, _faults):
            settle(page)
            for rows in ("groups", "blocks"):
                browser.follow(page, f"#tab=table&color=site&selected=site:0&rows={rows}")
                wait_until(page, f"document.querySelector('.grid-{rows} .grid-row')")
                cut = page.evaluate("[...document.querySelectorAll('.cell')].filter((e) => !e.matches('.wide') && "
                                    "e.offsetWidth && /\\d/.test(e.textContent) && e.scrollWidth > e.clientWidth).map((e) => e.textContent)")
                assert not cut, (width, rows, cut)
            go(page, "overview")
            bars = page.evaluate(shares)
            assert bars and all(abs(100 * part - share) < 1.5 for part, share in bars if share == share), bars


def two_traces_are_compared(pages, _axe):
    first, second = pages.report("leak"), pages.report("oom")
    peaks = [report["devices"][0]["peak_allocated"]["bytes"] for report in (first, second)]
    with browser.opened(pages.page("leak", "oom")) as (page, faults):  # no tab in the address: Compare
        page.wait_for_selector(".view-is-compare .change")
        text = page.inner_text(".view-is-compare")
        change = peaks[1] - peaks[0]
        sentence = f"B peaks {made.c_bytes(abs(change))} {'higher' if change > 0 else 'lower'} than A"
        assert sentence in text, text
        for peak in peaks:
            assert made.c_bytes(peak) in text, text
        for report in (first, second):  # the same program: its files tell the traces apart
            assert report["trace"]["path"].split("/")[-1] in text, text
        rows = list(csv.DictReader(io.StringIO(download(page, "Compare as CSV").decode("utf-8-sig"))))
        sums = [sum(int(row[f"bytes {which}"]) for row in rows) for which in "AB"]
        assert sums == [report["devices"][0]["live"]["bytes"] for report in (first, second)], sums
        page.select_option("header select", "b")
        wait_until(page, "location.hash.includes('trace=b')")
        page.click("#tab-overview")
        page.wait_for_selector("#answer:has-text('Out of memory')")
        assert not faults, faults


def main():
    browser.require()
    axe = axe_source()
    if not axe:
        print("axe-core is not installed: not checked (tests/page/browser.py fetch)")
    with tempfile.TemporaryDirectory() as folder:
        pages = made.Pages(*sys.argv[1:4], folder)
        browser.run((every_view_is_free_of_faults, hostile_names_stay_text, exports_can_be_read, the_table_adds_up,
                     modules_add_up,
                     a_link_restores_the_view, blocks_are_found_and_stepped_through, escape_closes_what_is_on_top,
                     the_pointer_of_one_tab_is_not_that_of_another, no_number_is_cut, the_keyboard_reaches_everything, two_traces_are_compared), pages, axe)
    return 0


if __name__ == "__main__":
    sys.exit(main())
