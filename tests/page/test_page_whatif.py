#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The view "What if" in a browser: the order of the changes, the chosen one's curve, words and command, keys and
links, and the line of the first screen. test_whatif_figures.py compares the figures with those of `vramscope replay`.

    test_page_whatif.py VRAMSCOPE TRAIN_LM SCENARIO"""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import pages as made  # noqa: E402


def rows_of(page):
    return page.evaluate("JSON.parse(document.getElementById('head').textContent).whatif.rows")


def chosen_command(page):
    return page.inner_text(".whatif-command code")


def the_first_screen_says_how_many_would_have_fitted(pages):
    with browser.opened(pages.page("oom")) as (page, faults):
        page.wait_for_selector("#answer")
        fit = sum(row["survives"] for row in rows_of(page))
        assert re.search(fr"{fit} of \d+ changes that were replayed would have fitted: keep_for_debugging .*freed at the end",
                         page.inner_text("#answer")), page.inner_text("#answer")
        page.click("#answer button:has-text('What if')")
        page.wait_for_selector(".grid-whatif .grid-row")
        assert not faults, faults
    with browser.opened(pages.page("training")) as (page, _faults):
        page.wait_for_selector("#answer")
        assert "would have fitted" not in page.inner_text("#answer")


def the_chosen_change_has_its_curve_and_command(pages):
    with browser.opened(pages.page("oom"), fragment="#tab=whatif") as (page, faults):
        page.wait_for_selector(".whatif-chart .v-key-value")
        rows = rows_of(page)
        shown = [line.split("\n") for line in page.locator(".grid-whatif .grid-row").all_inner_texts()]
        ranked = sorted(rows[1:], key=lambda row: (row["what"] == "without", not row["survives"], row["reserved_peak"]))
        assert [line[1] for line in shown] == [made.c_bytes(row["reserved_peak"]) for row in ranked], shown
        assert [line[-1].startswith("gets through") for line in shown] == [row["survives"] for row in ranked], shown
        best = ranked[0]
        assert chosen_command(page) == best["command"]
        values = page.locator(".whatif-chart .v-key-value").all_inner_texts()
        assert values == [made.c_bytes(row[f"{key}_peak"]) for row in (rows[0], best) for key in ("reserved", "allocated")], values
        words = page.inner_text(".moment")
        assert f"{made.c_bytes(rows[0]['reserved_peak'])} → {made.c_bytes(best['reserved_peak'])}" in words, words
        assert "fails: a request of 16.0 MiB, short by" in words and words.endswith("gets through"), words
        drawn = page.evaluate("""() => {
            const canvas = document.querySelector('.whatif-chart canvas');
            return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.filter((v, i) => i % 4 === 3 && v).length;
        }""")
        assert drawn > 1000, drawn
        assert not faults, faults


def keys_choose_and_a_link_restores(pages):
    with browser.opened(pages.page("oom"), fragment="#tab=whatif") as (page, faults):
        page.wait_for_selector(".grid-whatif .grid-row")
        page.focus(".grid-whatif .grid-body")
        page.keyboard.press("End")
        last = page.locator(".grid-whatif .grid-row").count() - 1
        page.wait_for_selector(f".grid-whatif .grid-row:nth-child({last + 1})[aria-current=true]")
        page.keyboard.press("ArrowUp")
        page.wait_for_selector(f".grid-whatif .grid-row:nth-child({last})[aria-current=true]")
        command = chosen_command(page)
        number = [row["command"] for row in rows_of(page)].index(command)
        page.wait_for_url(lambda url: url.endswith(f"change={number}"))
        link = page.evaluate("location.hash")
        page.click("button[aria-label='Copy the command']")
        page.wait_for_selector(".whatif-command [aria-live]:not(:empty)")
        assert not faults, faults
    with browser.opened(pages.page("oom"), fragment=link) as (page, _faults):
        page.wait_for_selector(".grid-whatif .grid-row")
        assert chosen_command(page) == command


def a_trace_without_every_allocation_says_so(pages):
    pages.recorded["sampled"] = (made.DEVICE, pages.recorded["training"][1], "--sample=4")
    with browser.opened(pages.page("sampled"), fragment="#tab=whatif") as (page, faults):
        page.wait_for_selector(".view-is-whatif:has-text('a replay needs every allocation')")
        assert not faults, faults


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        browser.run((the_first_screen_says_how_many_would_have_fitted, the_chosen_change_has_its_curve_and_command,
                     keys_choose_and_a_link_restores, a_trace_without_every_allocation_says_so),
                    made.Pages(*sys.argv[1:4], folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
