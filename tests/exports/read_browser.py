# SPDX-License-Identifier: Apache-2.0
"""The flame graph in a browser: it zooms, searches, switches between bytes and blocks, follows keys,
restores a link, and shows the numbers of the report. No console error, no request."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "page"))
import browser

SIZES = ((1280, 720, "light"), (390, 844, "dark"))


def missing():
    browser.require()  # exits, or starts this script again with Playwright


def size_text(size):
    units = ["B", "KiB", "MiB", "GiB"]
    unit = 0
    while size >= 1024 and unit < 3:
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {units[unit]}" if unit else f"{size} B"


def widths(page):
    """{name: width} of the drawn frames whose name is there once."""
    drawn = page.evaluate("""() => [...document.querySelectorAll('.frame')].map((g) =>
        [g.getAttribute('aria-label').replace(/, [^,]+ in [^,]+.*$/, ''),
         g.querySelector('rect').width.baseVal.value])""")
    names = [name for name, _ in drawn]
    return {name: width for name, width in drawn if names.count(name) == 1}


def link_of(page):
    """The address as the page has it: page.url is that of the last event that the browser has sent."""
    return page.evaluate("location.href")


def check_zoom(problems, what, page):
    before = widths(page)
    full = before["all"]
    target = min((name for name in before if before[name] > full / 8), key=lambda name: before[name])
    page.locator(f'.frame[aria-label^="{target}, "]').first.click(position={"x": 4, "y": 8})
    problems.true(f"{what}: a clicked frame is as wide as the picture", abs(widths(page)[target] - full) < 0.6)
    problems.true(f"{what}: the link has the zoom", "#zoom=" in link_of(page))
    link = link_of(page).split("#")[1]
    page.get_by_role("button", name="Reset zoom").click()
    problems.same(f"{what}: reset", widths(page), before)
    return target, "#" + link


def check_search(problems, what, page, report):
    sites = report["devices"][0]["sites_at_peak_allocated"]["sites"]
    found = [s for s in sites if any("attention_forward" in f["function"] for f in s["frames"])]
    page.locator("input").fill("ATTENTION_forward")
    text = page.locator(".bar span").text_content()
    problems.true(f"{what}: matched bytes: {text}", text.startswith(size_text(sum(s["bytes"] for s in found))))
    problems.true(f"{what}: matches are marked", page.locator(".frame.match").count() > 0)
    page.get_by_role("button", name="Width by").click()
    text = page.locator(".bar span").text_content()
    problems.true(f"{what}: matched blocks: {text}", text.startswith(f"{sum(s['count'] for s in found)} blocks"))
    page.get_by_role("button", name="Width by").click()
    page.locator("input").fill("")
    problems.same(f"{what}: no search, no match", page.locator(".frame.match").count(), 0)


def check_keys(problems, what, page):
    page.keyboard.press("Escape")
    page.locator('.frame[tabindex="0"]').focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    problems.true(f"{what}: Enter zooms to the frame that has the focus", "#zoom=" in link_of(page))
    problems.same(f"{what}: the focus stays on a frame", page.evaluate(
        "document.activeElement.getAttribute('class').includes('frame')"), True)
    page.keyboard.press("Escape")
    problems.true(f"{what}: Escape resets", "zoom" not in link_of(page))
    page.keyboard.press("/")
    problems.same(f"{what}: / is the search", page.evaluate("document.activeElement.localName"), "input")


def check_tip(problems, what, page, total):
    page.locator(".frame").first.hover(position={"x": 60, "y": 8})
    text = page.locator(".tip").text_content()
    problems.true(f"{what}: details: {text}", f"({total:,} B)" in text and "100.0 %" in text)


def check_libraries(problems, path, total):
    """Without libraries: the same memory, fewer frames, and the user's code is what is left."""
    with browser.opened(path) as (page, faults):
        before = page.locator(".frame").count()
        page.get_by_role("button", name="Hide libraries").click()
        problems.true("libraries hidden: fewer frames", 1 < page.locator(".frame").count() < before)
        label = page.locator(".frame").first.get_attribute("aria-label")
        problems.true(f"libraries hidden: {label}", label.startswith(f"all, {size_text(total)} in "))
        names = page.evaluate("[...document.querySelectorAll('.frame')].map((g) => g.getAttribute('aria-label'))")
        problems.true("libraries hidden: the user's functions are there", any("append_history" in x for x in names))
        problems.true("libraries hidden: the function that the user's code called", any("run_line" in x for x in names))
        problems.true("libraries hidden: not what that called", not any("run_site" in x for x in names))
        problems.true("libraries hidden: the link has it", link_of(page).endswith("#libraries=0"))
        page.get_by_role("button", name="Show libraries").click()
        problems.same("libraries shown again", page.locator(".frame").count(), before)
    problems.same("libraries hidden: faults", list(faults), [])


def check_difference(recorded, problems):
    """The graph of two runs: both values, red where it has grown, the search and the zoom."""
    path = os.path.join(recorded.folder, "difference.svg")
    done = recorded.run("diff", "--flamegraph", path, recorded.traces["plain"], recorded.traces["observed"])
    problems.same("difference: exit status", done.returncode, 0)
    before, after = (recorded.report(name)["devices"][0]["peak_user"]["bytes"] for name in ("plain", "observed"))
    with browser.opened(path) as (page, faults):
        label = page.locator(".frame").first.get_attribute("aria-label")
        problems.true(f"difference: the root: {label}", label.startswith(
            f"all, {size_text(before)} in A, {size_text(after)} in B, +{size_text(after - before)}, +"))
        leak = page.locator('.frame[aria-label^="keep_for_debugging (lm_extras.c), 0 B in A, "]')
        problems.same("difference: the leak", leak.count(), 1)
        problems.same("difference: the leak's colour", leak.locator("rect").get_attribute("fill"), "#ee6f58")
        same = page.locator('.frame[aria-label^="forward_pass (lm_forward.c)"] rect').first
        problems.same("difference: an equal frame's colour", same.get_attribute("fill"), "#e3e4e6")
        problems.true("difference: no count of blocks", page.get_by_role("button", name="Width by").count() == 0)
        page.locator("input").fill("keep_for")
        text = page.locator(".bar span").text_content()
        problems.true(f"difference: matched bytes: {text}", text.startswith("0 B in A, ") and "in B matched" in text)
        problems.same("difference: matches are marked", page.locator(".frame.match").count(), 1)
        leak.hover(position={"x": 40, "y": 8})
        text = page.locator(".tip").text_content()
        problems.true(f"difference: details: {text}", "A: 0 B" in text and "B: 8.0 MiB (8,388,608 B)" in text)
        leak.click(position={"x": 4, "y": 8})
        problems.true("difference: the link has the zoom", "#zoom=" in link_of(page))
    problems.same("difference: faults", list(faults), [])


def check(recorded, problems, root):
    del root
    check_difference(recorded, problems)
    graph = recorded.export("tensors", "flamegraph").decode()
    for name in ("run_line", "run_site"):  # as if they were a library's: 0 is the user's, 1 a library's
        graph, count = re.subn(rf'(\["{name} \(scenario.c:\d+\)"),0,""', r'\1,1,"runner"', graph)
        problems.true(f"{name} is in the graph", count)
    with open(os.path.join(recorded.folder, "tensors.svg"), "w", encoding="utf-8") as file:
        file.write(graph)
    check_libraries(problems, file.name, recorded.report("tensors")["devices"][0]["peak_user"]["bytes"])
    report = recorded.report("plain")
    total = report["devices"][0]["peak_user"]["bytes"]
    path = os.path.join(recorded.folder, "plain.svg")
    with open(path, "wb") as file:
        file.write(recorded.export("plain", "flamegraph"))
    for width, height, scheme in SIZES:
        what = f"{width}x{height} {scheme}"
        with browser.opened(path, width, height, scheme) as (page, faults):
            label = page.locator(".frame").first.get_attribute("aria-label")
            problems.true(f"{what}: the root: {label}", label.startswith(f"all, {size_text(total)} in "))
            problems.true(f"{what}: nothing is wider than the window",
                          page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
            check_tip(problems, what, page, total)
            target, link = check_zoom(problems, what, page)
            check_search(problems, what, page, report)
            check_keys(problems, what, page)
        problems.same(f"{what}: faults", list(faults), [])
        with browser.opened(path, width, height, scheme, fragment=link) as (page, faults):
            shown = widths(page)
            problems.true(f"{what}: a link restores its zoom", abs(shown[target] - shown["all"]) < 0.6)
        problems.same(f"{what}: faults of the link", list(faults), [])
    script_off(problems, path)


def script_off(problems, path):
    """An image of the graph, as a document embeds it, has no script: the frames are there anyway."""
    page_path = path + ".html"
    with open(page_path, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><title>graph</title><img src="{os.path.basename(path)}">')
    with browser.opened(page_path) as (page, faults):
        size = page.evaluate("(() => { const i = document.images[0]; return [i.naturalWidth, i.naturalHeight]; })()")
        problems.true(f"the graph as an image: {size}", size[0] == 1200 and size[1] > 150)
    problems.same("the graph as an image: faults", list(faults), [])
