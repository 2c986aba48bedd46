#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTML page beside PyTorch's MemoryViz.js, on the same history.

    bench_page.py BUILD [--events N…] [--memoryviz FILE --d3 FILE [--memoryviz-events N]] [--runs N]

BUILD: a release build. Writes traces of N events (100,000, 1,000,000 and 10,000,000) with
make_view_trace, makes the page, opens it in Chromium RUNS times and prints medians:

  size          of the file that a user opens
  first paint   from opening the file until the answer (MemoryViz: the plot) is on the screen
  interactive   until from then on five frames follow each other within 50 ms each
  zoom          milliseconds a frame while the wheel zooms in and out over the plot: median and the
                slowest of 20

MemoryViz.js is torch/utils/viz/MemoryViz.js of PyTorch's repository (the wheels lack it), d3 the
file dist/d3.js of the npm package d3@5. The history becomes a snapshot as
torch.cuda.memory._snapshot() gives it: the tensors or allocations with their frames. torch's own
HTML template embeds it, as torch.cuda._memory_viz.trace_plot does. A page that is not ready after
LIMIT seconds is printed as such; one whose zoom takes longer than ZOOM_LIMIT seconds is zoomed no
further, and "+" stands behind its frames: those that did not come would be slower. Histories longer than --memoryviz-events are not converted: that
takes about 1 KiB of memory for each event.
"""
import argparse
import base64
import json
import pathlib
import pickle
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/page"), str(ROOT / "tests/decoder")]
import browser  # noqa: E402

LIMIT = 120
ZOOM_LIMIT = 60
# Seen by both pages: when the selector is there, when frames follow quickly, time of each frame.
WATCH = """
window.bench = {frames: []};
{
    let last = 0, quick = 0;
    const frame = now => {
        const b = window.bench;
        if (b.painted === undefined && document.querySelector(SELECTOR)) b.found = true;
        if (b.found && b.painted === undefined) {
            if (b.waited) b.painted = now; else b.waited = true;
        } else if (b.painted !== undefined && b.interactive === undefined) {
            quick = now - last < 50 ? quick + 1 : 0;
            if (quick >= 5 && (!READY || document.querySelector(READY))) b.interactive = now;
        }
        if (b.zooming) b.frames.push(now - last);
        last = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}
"""


def snapshot_of(path):
    """The trace as a snapshot of PyTorch's memory history."""
    import vst
    history, frames_of, live = [], {}, {}

    def frames(stack):
        if stack not in frames_of:
            frames_of[stack] = [{"filename": str(f.module.path) if f.module else "??",
                                 "name": (f.module.function if f.module else "") or hex(f.offset),
                                 "line": 0} for f in stack]
        return frames_of[stack]

    with vst.open(str(path)) as trace:
        for event in trace:
            if event.kind == "alloc":
                at = {"addr": event["addr"], "size": event["size"], "stream": 0,
                      "time_us": event.time_ns // 1000, "frames": frames(event["stack"])}
                live[event["addr"]] = at
                history.append({"action": "alloc", **at})
            elif event.kind == "free" and event["addr"] in live:
                at = live.pop(event["addr"])
                for action in ("free_requested", "free_completed"):
                    history.append({**at, "action": action, "time_us": event.time_ns // 1000})
    segments = [{"device": 0, "address": b["addr"], "total_size": b["size"], "allocated_size": b["size"],
                 "active_size": b["size"], "requested_size": b["size"], "stream": 0, "frames": [],
                 "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
                 "blocks": [{"address": b["addr"], "size": b["size"], "requested_size": b["size"],
                             "state": "active_allocated", "frames": b["frames"]}]}
                for b in live.values()]
    return {"segments": segments, "device_traces": [history], "allocator_settings": {}}


def memoryviz_page(path, out, script, d3):
    """torch's page with its modules embedded, because there is no network."""
    data = pickle.dumps(snapshot_of(path))
    data += b"\0" * (3 - len(data) % 3)
    text = pathlib.Path(script).read_text(encoding="utf-8")
    text = re.sub(r'import \* as (\w+) from "[^"]*";', r"const \1 = window.d3;", text)
    text = re.sub(r'import (\{[^}]*\}) from "[^"]*";', r"const \1 = window.d3;", text)
    text = re.sub(r"export \{[^}]*\};", "", text)
    files = json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(data).decode()}])
    out.write_text("<!DOCTYPE html><html><head></head><body><script>"
                   + pathlib.Path(d3).read_text(encoding="utf-8").replace("</script", "<\\/script")
                   + "</script><script type=module>" + text.replace("</script", "<\\/script")
                   + f"\nadd_local_files({files}, 'Active Memory Timeline');</script></body></html>",
                   encoding="utf-8")


def opening(path, paint, ready, plot):
    """One opening of a page: (first paint, interactive, median frame, slowest of 20) in ms, and whether
    all steps of the zoom were done. None: not ready after LIMIT seconds."""
    script = "const SELECTOR = %s, READY = %s;" % (json.dumps(paint), json.dumps(ready)) + WATCH
    with browser.opened(path, init_script="{" + script + "}", limit=LIMIT) as (page, _):
        deadline = time.monotonic() + LIMIT  # wait_for_function needs eval, which our page forbids
        while page.evaluate("window.bench.interactive === undefined"):
            if time.monotonic() > deadline:
                return None
            page.wait_for_timeout(100)
        box = page.locator(plot).first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.evaluate("window.bench.zooming = true")
        deadline, steps = time.monotonic() + ZOOM_LIMIT, [-100] * 30 + [100] * 30
        while steps and time.monotonic() < deadline:
            page.mouse.wheel(0, steps.pop(0))
            page.wait_for_timeout(16)
        got = page.evaluate("({p: bench.painted, i: bench.interactive, f: bench.frames})")
    frames = sorted(got["f"][1:])
    return got["p"], got["i"], statistics.median(frames), frames[int(len(frames) * 0.95)], not steps


def row(name, events, path, runs, paint, ready, plot):
    from playwright.sync_api import TimeoutError as TooLate
    results, size = [], path.stat().st_size / 2**20
    while len(results) < runs and None not in results:
        try:
            results.append(opening(path, paint, ready, plot))
        except TooLate:
            results.append(None)
    if None in results:
        print(f"{name:<10} {events:>11,} {size:9.1f} MiB   not ready after {LIMIT} s", flush=True)
        return
    p, i, f, slow, _ = (statistics.median(column) for column in zip(*results))
    whole = all(result[-1] for result in results)
    print(f"{name:<10} {events:>11,} {size:9.1f} MiB {p:9.0f} ms {i:9.0f} ms {f:8.1f} {slow:6.1f} ms"
          f"{'' if whole else ' +'}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--events", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    p.add_argument("--memoryviz")
    p.add_argument("--d3")
    p.add_argument("--memoryviz-events", type=int, default=1_000_000)
    p.add_argument("--runs", type=int, default=3)
    a = p.parse_args()
    browser.require()
    print(f"{'page':<10} {'events':>11} {'size':>13} {'first paint':>12} {'interactive':>12} "
          f"{'zoom: a frame':>18}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for events in a.events:
            trace, page = folder / f"{events}.vst", folder / "page.html"
            subprocess.run([a.build / "tests/make_view_trace", trace, str(events)], check=True,
                           stdout=subprocess.DEVNULL)
            began = time.monotonic()
            subprocess.run([a.build / "bin/vramscope", "view", trace, "-o", page], check=True,
                           stdout=subprocess.DEVNULL)
            made = time.monotonic() - began
            row("vramscope", events, page, a.runs, "#answer", "[data-blocks=ready]", "canvas")
            print(f"{'':<10} page made in {made:.1f} s from {trace.stat().st_size / 2**20:.1f} MiB")
            if a.memoryviz and a.d3 and events <= a.memoryviz_events:
                memoryviz_page(trace, page, a.memoryviz, a.d3)
                row("MemoryViz", events, page, a.runs, "svg polygon", None, "svg")
            trace.unlink()


if __name__ == "__main__":
    main()
