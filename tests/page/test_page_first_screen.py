#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of the first screen, the flame graph and the table equal those of `report --json` and
`oom --json`.

    test_page_first_screen.py VRAMSCOPE TRAIN_LM SCENARIO TRACE...   recorded traces, and those given"""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
from pages import Pages, c_bytes, c_percent, c_time  # noqa: E402


def figure(page, key):
    found = page.query_selector(f"[data-figure={key}]")
    return found.inner_text() if found else None


def check_answer(page, report, oom, device):
    answer = page.inner_text("#answer")
    if oom["verdict"]:
        assert oom["verdict_text"].split(": ", 1)[1][1:] in answer, answer
        assert oom["guilty"]["sites"][0]["text"] in answer, answer
        assert c_bytes(oom["failure"]["requested_bytes"]) in answer, answer
        assert c_time(oom["failure"]["time_ns"]) in answer, answer
        for remedy in oom["remedies"][:2]:
            assert remedy["text"] in answer, (remedy, answer)
    elif device and device["sites_growing"]["sites"]:
        site = device["sites_growing"]["sites"][0]
        assert c_bytes(site["growth_bytes"]) in answer and site["text"] in answer, answer
    elif device and device["peak_allocated"]["event"]:
        assert "No allocation failed" in answer, answer
        if device["live"] and "recording" not in report:  # the peak of the headline is the one whose holders follow
            peak = f"{c_bytes(device['live']['bytes'])}"
            line = page.inner_text("#answer .request")
            assert peak in line and c_time(device["live"]["time_ns"]) in line, (line, peak)
            assert ("PyTorch" in line or "in use" in line) == ("framework" in device), line
    if report["trace"]["condition"] != "complete":
        assert report["trace"]["condition_text"] in page.inner_text(".warnings")


def check_figures(page, report, device):
    peak = device["peak_allocated"]
    assert figure(page, "peak") == c_bytes(peak["bytes"])
    label = page.inner_text(".figure:has([data-figure=peak]) .figure-label")
    assert label == ("Device peak" if "framework" in device else "Peak allocated"), label
    whole = min(device["total_bytes"], device.get("limit_bytes", device["total_bytes"]))
    detail = page.inner_text(".figure:has([data-figure=peak]) .figure-detail")
    if peak["event"]:
        assert not whole or c_percent(peak["bytes"], whole) in detail, detail
        assert c_time(peak["time_ns"]) in detail, detail
    assert figure(page, "failures") == f"{report['failure_count']:,}"
    if "framework" in device:
        assert figure(page, "tensors") == c_bytes(device["framework"]["peak_allocated_bytes"])
    fullest = device["device_memory"]["highest_use"]
    assert figure(page, "free") == (c_bytes(fullest["free_bytes"]) if fullest else None)
    assert figure(page, "steps") == (f"{report['steps']['done']:,}" if report["steps"]["done"] else None)


def check_held(page, device):
    """The lists of holders have the rows of the report: name, bytes and share."""
    live = device["live"]
    text = page.inner_text(".summary")
    for site in (live["by_site"]["sites"] if live else [])[:1]:
        assert site["text"].split(" < ")[0] in text and c_bytes(site["bytes"]) in text, text
    for row in (live["by"]["kind"] if live else [])[:4]:
        assert f"{c_bytes(row['bytes'])}\n{c_percent(row['bytes'], live['bytes'])}" in text, (row, text)


def check_blocks(page, device):
    """What the blocks of the page add up to at the peak is what the report says."""
    live = device["live"]
    if not live:
        return
    expected = f"{c_bytes(live['bytes'])} in {live['blocks']:,} block{'' if live['blocks'] == 1 else 's'}"
    for tab in ("flame", "table"):
        browser.follow(page, f"#tab={tab}&cursor={live['time_ns']}")
        page.wait_for_selector(f"#tab-{tab}[aria-selected=true]")
        page.wait_for_selector(".moment:has-text('Live at')")
        words = page.inner_text(".moment")
        assert expected in words, (tab, words, expected)


def check(pages, name):
    report, oom = pages.report(name), pages.oom(name)
    with browser.opened(pages.page(name)) as (page, faults):
        page.wait_for_selector("#answer")
        page.wait_for_selector("html[data-blocks=ready]")
        heaviest = max(report["devices"], key=lambda d: d["peak_allocated"]["bytes"], default=None)
        failed = [d for d in report["devices"] if oom["verdict"] and d["device"] == oom["failure"]["device"]]
        device = failed[0] if failed else heaviest
        check_answer(page, report, oom, device)
        if device:
            check_figures(page, report, device)
            if "recording" not in report:
                check_held(page, device)
                check_blocks(page, device)
        wrong = re.search(r".{0,60}(undefined|NaN|\[object).{0,60}", page.inner_text("#app"))
        assert not wrong, wrong.group(0)
        assert not faults, faults


def check_unreadable(pages):
    """A trace whose first frame is cut: the page says so, and draws no axes of nothing."""
    path = pages.folder / "cut.vst"
    path.write_bytes(pathlib.Path(pages.trace("training")).read_bytes()[:3000])
    out = pages.folder / "cut.html"
    pages.run("view", "--partial", str(path), "-o", str(out))
    with browser.opened(out) as (page, faults):
        page.wait_for_selector("#answer")
        answer = page.inner_text("#answer")
        assert "Nothing of the trace is readable" in answer and "No GPU memory" not in answer, answer
        assert not faults, faults


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        pages = Pages(*sys.argv[1:4], folder)
        for trace in sys.argv[4:]:
            pages.traces[pathlib.Path(trace).stem] = trace
        for name in (*pages.recorded, *pages.traces):
            if name != "hostile":
                check(pages, name)
                print("ok", name)
        check_unreadable(pages)
        print("ok cut")
    return 0


if __name__ == "__main__":
    sys.exit(main())
