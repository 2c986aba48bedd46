#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of 64 KiB with markup, in a browser: of ranges from the program to the page, and in every table
of names of a page. They stay text, and the page keeps its layout.

    test_page_hostile.py VRAMSCOPE TRAIN_LM SCENARIO"""
import json
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import pages as made  # noqa: E402
from test_page_views import SIZES, TABS, download, go, settle  # noqa: E402

BYTES = 65536
BEGIN = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>\"'&"
HEAD = re.compile(r'(<script type="application/json" id="head">)(.*?)(</script>)')
TABLES = ("frames", "files", "libraries", "names", "pools", "frees")
NAMED = ("sites", "streams", "phases", "devices", "modules", "tensors")
KEYS = ("label", "text", "function", "file", "module", "phase", "site", "name")
ALONE = ("title", "program", "command")


def hostile(kind):
    """Of one word, of many, from right to left, with combining marks, and with control characters."""
    parts = ("T", "vector<a, b> ", "\u202e\u05d0\u05d1 ", "a\u0301\u0302", "\x1b[31m\u2028")
    text = f"{kind}{BEGIN}" + parts[kind % len(parts)] * BYTES
    return text[:BYTES]


def rename(value, key=""):
    """Every name of the report and the post-mortem."""
    if isinstance(value, dict):
        return {k: rename(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [rename(v, key) for v in value]
    return hostile(len(value)) if isinstance(value, str) and key in KEYS[:-1] else value


def taken_over(page):
    """A page like that of *page* whose names are all hostile."""
    text = page.read_text(encoding="utf-8")
    head = json.loads(HEAD.search(text).group(2))
    for table in TABLES:
        head[table] = [hostile(i) for i in range(len(head[table]))]
    for table in NAMED:
        for i, row in enumerate(head[table]):
            row.update({key: hostile(i) for key in KEYS if isinstance(row.get(key), str)})
    head.update({key: hostile(i) for i, key in enumerate(ALONE)})
    head.update({key: rename(head[key]) for key in ("report", "oom")})
    data = json.dumps(head).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    out = page.with_name(f"hostile-{page.name}")
    out.write_text(HEAD.sub(lambda m: m.group(1) + data + m.group(3), text, count=1), encoding="utf-8")
    return out


def keeps_its_layout(page, where):
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, (*where, f"{wide} pixels wider than the screen")
    assert page.query_selector_all("#app img, #app script") == [], where
    assert not page.title().startswith("taken"), where
    high = page.evaluate("document.querySelector('header.topbar').getBoundingClientRect().height")
    assert high < 200, (*where, f"the bar at the top is {high} pixels high")


def every_table_of_names_stays_text(pages):
    for name in ("oom", "tensors"):
        path = taken_over(pages.page(name))
        for width, height, scheme in SIZES:
            with browser.opened(path, width, height, scheme) as (page, faults):
                settle(page)
                for tab in TABS:
                    go(page, tab)
                    keeps_its_layout(page, (name, width, tab))
                    frame = page.query_selector(".v-frame, canvas")
                    if frame:
                        frame.hover()
                        keeps_its_layout(page, (name, width, tab, "pointed at"))
                browser.follow(page, "#tab=table&selected=block:6")
                page.wait_for_selector("aside.detail .facts")
                keeps_its_layout(page, (name, width, "a block"))
                assert not faults, (name, width, faults)


def exports_of_hostile_names_are_well_formed(pages):
    with browser.opened(taken_over(pages.page("tensors")), fragment="#tab=timeline&color=site") as (page, faults):
        settle(page)
        for label in ("Memory over time as SVG", "Steps, phases, kernels and copies as SVG"):
            ElementTree.fromstring(download(page, label))
        assert not faults, faults


def a_long_range_is_one_phase(pages):
    """A range that was open before CUDA was used had the begin of its name only, and a phase of its own."""
    name = hostile(0)[:65000]
    lines = f"early {name};a stage_batch tensor 4000000 -1;pop;" + f"push {name};a stage_batch tensor 4000000 -1;pop;" * 4
    pages.record("long", made.DEVICE, [pages.scenario, pages.script("long", lines.replace(";", "\n"))], "--allocator=observe")
    phases = pages.report("long")["phases"]
    assert [(phase["name"], phase["times"]) for phase in phases] == [(name, 5)], [(p["name"][:90], p["times"]) for p in phases]
    text = pages.run("report", pages.trace("long")).decode()
    assert re.search(r"\n  0</script>[^\n]*T\n\s+5 ", text), text  # whole, for --phase
    with browser.opened(pages.page("long"), fragment="#tab=table&color=phase") as (page, faults):
        settle(page)
        rows = page.locator(".grid-row").all_inner_texts()
        assert len([row for row in rows if "</script>" in row]) == 1, [row[:90] for row in rows]
        keeps_its_layout(page, ("long",))
        assert not faults, faults
    for width, height, scheme in SIZES:
        with browser.opened(pages.page("long"), width, height, scheme) as (page, _faults):
            settle(page)
            wide = page.evaluate("""() => [...document.querySelectorAll('.summary .card, .summary .card *')]
                .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'visible'
                    && getComputedStyle(e).display !== 'inline').map((e) => e.className)""")
            assert not wide, (width, wide)
            past = page.evaluate("""() => Math.max(...[...document.querySelectorAll('.summary .card')]
                .map((e) => e.getBoundingClientRect().right)) - innerWidth""")
            assert past <= 0, (width, f"a card ends {past} pixels past the screen")


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        pages = made.Pages(*sys.argv[1:4], folder)
        browser.run((every_table_of_names_stays_text, exports_of_hostile_names_are_well_formed, a_long_range_is_one_phase), pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
