#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of the first screen, the flame graph and the table equal those of `report --json` and
`oom --json`, for every trace given.

    test_page_first_screen.py VRAMSCOPE TRACE..."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402


def c_bytes(n):
    """vs_size_format."""
    if n < 1024:
        return f"{n} B"
    value, unit = float(n), 0
    while value >= 1023.95 and unit < 6:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {'B KiB MiB GiB TiB PiB EiB'.split()[unit]}"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def figure(page, key):
    found = page.query_selector(f"[data-figure={key}]")
    return found.inner_text() if found else None


def check_answer(page, report, oom, device):
    answer = page.inner_text("#answer")
    if oom["verdict"]:
        assert oom["verdict_text"].split(": ", 1)[1][1:] in answer, answer
        assert oom["guilty"]["sites"][0]["text"] in answer, answer
        for remedy in oom["remedies"][:2]:
            assert remedy["text"] in answer, (remedy, answer)
    elif device and device["sites_growing"]["sites"]:
        site = device["sites_growing"]["sites"][0]
        assert c_bytes(site["growth_bytes"]) in answer and site["text"] in answer, answer
    elif device:
        assert "No allocation failed" in answer, answer
    if report["trace"]["condition"] != "complete":
        assert report["trace"]["condition_text"] in page.inner_text(".warnings")


def check_figures(page, report, device):
    assert figure(page, "peak") == c_bytes(device["peak_allocated"]["bytes"])
    assert figure(page, "failures") == f"{report['failure_count']:,}"
    if "framework" in device:
        assert figure(page, "tensors") == c_bytes(device["framework"]["peak_allocated_bytes"])
    fullest = device["device_memory"]["highest_use"]
    assert figure(page, "free") == (c_bytes(fullest["free_bytes"]) if fullest else None)
    live = device["live"]
    if live and live["by_site"]["sites"]:
        first = live["by_site"]["sites"][0]
        text = page.inner_text(".summary")
        assert first["text"].split(" < ")[0] in text and c_bytes(first["bytes"]) in text, text


def check_blocks(page, device):
    """What the blocks of the page add up to at the peak is what the report says."""
    live = device["live"]
    if not live or "recording" in device:
        return
    expected = f"{c_bytes(live['bytes'])} in {live['blocks']:,} block{'' if live['blocks'] == 1 else 's'}"
    for tab in ("flame", "table"):
        page.evaluate("([tab, at]) => { location.hash = `#tab=${tab}&cursor=${at}`; }", [tab, live["time_ns"]])
        page.wait_for_function("(t) => document.querySelector('.moment')?.textContent.startsWith('Live at') && "
                               "document.querySelector(`#tab-${t}[aria-selected=true]`)", arg=tab)
        words = page.inner_text(".moment")
        assert expected in words, (tab, words, expected)


def check(vramscope, trace, folder):
    out = pathlib.Path(folder) / (pathlib.Path(trace).stem + ".html")
    run(vramscope, "view", trace, "-o", out)
    report = json.loads(run(vramscope, "report", "--json", trace))
    oom = json.loads(run(vramscope, "oom", "--json", trace))
    with browser.opened(out) as (page, faults):
        page.wait_for_selector("#answer")
        page.wait_for_selector("html[data-blocks=ready]")
        shown = page.evaluate("() => JSON.parse(document.getElementById('head').textContent).report.devices.length")
        assert shown == len(report["devices"])
        heaviest = max(report["devices"], key=lambda d: d["peak_allocated"]["bytes"], default=None)
        failed = [d for d in report["devices"] if oom["verdict"] and d["device"] == oom["failure"]["device"]]
        device = failed[0] if failed else heaviest
        check_answer(page, report, oom, device)
        if device:
            check_figures(page, report, device)
            if "recording" not in report:
                check_blocks(page, device)
        assert not faults, faults
        wrong = re.search(r".{0,60}(undefined|NaN|\[object).{0,60}", page.inner_text("#app"))
        assert not wrong, wrong.group(0)


def main():
    browser.require()
    vramscope, traces = sys.argv[1], sys.argv[2:]
    assert traces, "no trace given"
    with tempfile.TemporaryDirectory() as folder:
        for trace in traces:
            check(vramscope, trace, folder)
            print("ok", pathlib.Path(trace).name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
