#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The modules of the HTML page that need no trace, in a browser: figures round as printf does, CSV
is safe to open, a link restores the state, equal functions become one frame.

    test_page_modules.py ROOT"""
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
from pages import c_bytes, c_percent, c_time  # noqa: E402

NAMES = ("formatBytes formatTime formatCount formatPercent printable programTitle shorten splitSite csvField csvText readLink "
         "writeLink followLink createState buildFrames searchFrames pathOf frameAt paletteFor arrangeRows nestParts verdictOf "
         "growthWords createPainter exportView lanesOf linksOf").split()


def figures_round_as_in_c(page):
    sizes = [0, 1, 1023, 1024, 1048524, 1048525, 1048576, 2**53, 3 * 2**60]
    sizes += [1024 + 64 * i for i in range(300)]  # every tie of one decimal in KiB
    sizes += [int(1.37 ** i) for i in range(1, 115)] + [2**k * 5 // 4 for k in range(4, 52)]
    times = [0, 999, 1000, 1250, 1350, 999949, 999950, 999999, 10**6, 10**9 - 1, 119999999999, 12 * 10**10, 36 * 10**11]
    times += [int(1.29 ** i) for i in range(1, 125)] + [5000 * i + 125 for i in range(200)]
    parts = [(a, b) for b in (0, 1, 7, 8, 800, 1600, 2000, 2001, 3 * 2**30) for a in range(0, 2000, 13)]
    got = page.evaluate("([s, t, p]) => [s.map((x) => formatBytes(x)), t.map(formatTime), p.map(([a, b]) => "
                        "formatPercent(a, b))]", [sizes, times, parts])
    for values, texts, expected in ((sizes, got[0], c_bytes), (times, got[1], c_time)):
        for value, text in zip(values, texts):
            assert text == expected(value), (value, text, expected(value))
    for (part, whole), text in zip(parts, got[2]):
        assert text == c_percent(part, whole), (part, whole, text)
    assert page.evaluate("[formatCount(0), formatCount(999), formatCount(1204), formatCount(12345678)]") == \
        ["0", "999", "1,204", "12,345,678"]


def names_are_shown_as_text(page):
    assert page.evaluate(r"printable('a\x00\x1b[31m\u202e\n\u2028b')") == r"a\x00\x1b[31m\u202e\x0a\u2028b"
    long = page.evaluate("shorten('x'.repeat(65536), 40)")
    assert len(long) == 40 and "…" in long
    assert page.evaluate("splitSite('f (a.c:12) < g:30 < main')") == ["f (a.c:12)", "g:30 < main"]


def a_python_program_is_called_by_its_script(page):
    for program, command, title in (
            ("python3.11", "/usr/bin/python3.11 -u src/train.py --file x.py", "train.py"), ("train_lm", "train_lm a.py", "train_lm"),
            ("python3", "python3 -m pkg.run", "python3"), ("pythonic", "pythonic a.py", "pythonic")):
        found = page.evaluate("([program, command]) => programTitle({program, command})", [program, command])
        assert found == title, (command, found)


def csv_is_safe_to_open(page):
    fields = ["plain", "a,b", 'say "x"', "=1+2", "+1", "-1", "@x", "\tx", " x ", "two\nlines", "", "=a,\"b"]
    assert page.evaluate("(f) => f.map(csvField)", fields) == [
        "plain", '"a,b"', '"say ""x"""', "'=1+2", "'+1", "'-1", "'@x", '"\'\tx"', '" x "', '"two\nlines"', "",
        '"\'=a,""b"']
    assert page.evaluate("csvText([['a', 'b'], [-1.5, Infinity], [null, undefined]])") == "a,b\r\n-1.5,\r\n,\r\n"


def a_link_restores_the_state(page):
    values = {"tab": "flame", "trace": "b", "device": 3, "from": 123456789.0625, "to": 9007199254740991, "cursor": 0,
              "cursor2": 0.1, "placeFrom": 1e-7, "placeTo": 4e15, "color": "kind", "bands": "segments", "axis": "events", "compareBy": "phase", "metric": "count", "inverted": True,
              "libraries": True, "zoom": "0.12.3", "module": "Net.layers.0", "curves": "used:0,reserved:1",
              "align": "length", "step": 37, "stepAxis": "time", "change": 12, "rows": "blocks", "sort": "age+",
              "search": "a&b=c #%20 ü \" <script>", "selected": {"block": 77}, "theme": "dark"}
    link = page.evaluate("(v) => writeLink(createState(v), createState())", values)
    assert page.evaluate("(l) => readLink(l)", link) == values, link
    assert page.evaluate("() => { const s = createState({color: 'kind'}); return writeLink(s, {...{color: 'kind'}, "
                         "tab: 'overview', trace: 'a', device: 0, bands: 'blocks', axis: 'time', metric: 'bytes', inverted: false, libraries: false, "
                         "zoom: '', module: '', curves: '', align: '', compareBy: 'site', step: null, stepAxis: 'part', change: 0, rows: 'groups', sort: 'bytes-', search: '', theme: 'auto'}); }") == "#"
    hostile = "#tab=<b>&device=1e9&from=x&to=&metric=z&zoom=0..1&selected=block:-1&__proto__=x&constructor=y&from=NaN"
    assert page.evaluate("(l) => Object.keys(readLink(l))", hostile) == []


def work_has_its_call_and_the_device_its_gaps(page):
    # a call and its driver's on thread 7, a kernel and a copy, a wait of thread 8; one row of another device
    rows = [(0, 9, 4, 0, 7, 5), (1, 7, 5, 0, 7, 5), (10, 20, 0, 1, 0, 5), (15, 10, 1, 2, 0, 6), (50, 5, 0, 1, 0, 0),
            (51, 9, 3, 0, 8, 0), (52, 1, 0, 1, 0, 0)]
    activity = dict(zip(("start", "duration", "type", "stream", "thread", "link"), map(list, zip(*rows))),
                    count=len(rows), device=[0] * (len(rows) - 1) + [1])
    lanes, links = page.evaluate("""(activity) => [
        lanesOf({loaded: {activity}, head: {streams: []}}, 0).map((l) => [l.name, [...l.rows], [...l.table.start].slice(0, 1)]),
        (({calls, work}) => [[...calls], [...work]])(linksOf(activity))]""", activity)
    assert [(name, found) for name, found, _ in lanes] == [
        ("calls", [0]), ("driver", [1]), ("host waits", [5]), ("idle", [0]), ("kernels", [2, 4]), ("copies", [3])], lanes
    assert lanes[3][2] == [30], "after the kernel that ends last"
    assert links == [[[5, 0]], [[6, 3], [5, 2]]], links


def the_last_link_is_followed(page):
    """Also one that was the address until the state changed, before the address follows the change."""
    assert page.evaluate("""async () => {
        const state = createState();
        followLink(state, {});
        state.set({color: 'phase'});
        while (location.hash !== '#color=phase')
            await new Promise((done) => setTimeout(done, 10));
        const told = new Promise((done) => addEventListener('hashchange', done));
        location.hash = '#color=size';
        await told;
        const before = state.get('color');
        const again = new Promise((done) => addEventListener('hashchange', done));
        location.hash = '#color=phase';
        await again;
        return [before, state.get('color')];
    }""") == ["size", "phase"]


def the_state_tells_of_changes_once(page):
    assert page.evaluate("""async () => {
        const state = createState();
        const calls = [];
        const stop = state.subscribe(['from', 'to'], (keys) => calls.push([...keys].sort().join()));
        state.set({from: 1, to: 2});
        state.set({cursor: 5});
        await null;
        state.set({from: 1});
        await null;
        stop();
        state.set({from: 9});
        await null;
        let unknown = false;
        try { state.set({nothing: 1}); } catch { unknown = true; }
        return [calls, unknown];
    }""") == [["cursor,from,to"], True]


HEAD = {
    "frames": ["main", "train", "forward", "empty"], "files": ["/x/a.py", "libtorch.so"], "libraries": [],
    # parent, function, file, line, whether it is the user's
    "stacks": [[0, 0, 1, 1, 1], [1, 1, 1, 5, 1], [2, 2, 1, 9, 1], [3, 3, 2, 0, 0], [2, 3, 2, 0, 0]],
    "sites": [{"stack": 4, "label": "forward (a.py:9) < train:5 [torch: empty]"}, {"stack": 5, "label": "train (a.py:5)"},
              {"stack": 0, "label": "cudaMalloc (no stack recorded)"}],
}


def frames_are_one_tree(page):
    shape = """([head, options, search]) => {
        const sums = new Map([[0, {bytes: 60, blocks: 1}], [1, {bytes: 30, blocks: 3}], [2, {bytes: 10, blocks: 1}]]);
        const root = buildFrames(head, sums, options);
        const text = (n) => [n.name, n.bytes, n.children.map(text)];
        const hits = searchFrames(root, search);
        return [text(root), [hits.found.size, hits.bytes], frameAt(root, '0.0.0').name, frameAt(root, '5.5').name];
    }"""
    none = ["cudaMalloc (no stack recorded)", 10, []]
    tree, hits, deep, missing = page.evaluate(shape, [HEAD, {"inverted": False, "libraries": True}, "EMPTY"])
    assert tree == ["all", 100, [["main", 90, [["train", 90, [["forward", 60, [["empty", 60, []]]], ["empty", 30, []]]]]],
                                 none]], tree
    assert hits == [2, 90] and deep == "forward" and missing == "all", (hits, deep, missing)
    tree = page.evaluate(shape, [HEAD, {"inverted": False, "libraries": False}, "a.py"])
    assert tree[0] == ["all", 100, [["main", 90, [["train", 90, [["forward", 60, [["[torch: empty]", 60, []]]]]]]], none]]
    assert tree[1] == [3, 90], tree[1]  # frames inside of a match are not counted again
    tree = page.evaluate(shape, [HEAD, {"inverted": True, "libraries": True}, "x"])[0]
    assert tree[2][0][:2] == ["empty", 90] and [c[:2] for c in tree[2][0][2]] == [["forward", 60], ["train", 30]], tree


def colours_are_stable_and_apart(page):
    first, second, kinds = page.evaluate("""() => [paletteFor(Array.from({length: 20}, (_, i) => `site ${i}`), 'light'),
        paletteFor(Array.from({length: 20}, (_, i) => `site ${i}`), 'light'),
        [paletteFor(['parameters', 'activations'], 'dark'), paletteFor(['activations', 'parameters'], 'dark')]]""")
    taken = page.evaluate("() => paletteFor(['constructor', 'toString', '__proto__'], 'light')")
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in taken), taken
    assert first == second and len(set(first)) == 20, first
    assert kinds[0] == kinds[1][::-1]


def an_export_waits_for_the_view(page):
    assert page.evaluate("""async () => {
        const painter = createPainter();
        let rows = [];
        const asked = [];
        function* job() {
            for (let i = 0; i < 4; i++) {
                const until = performance.now() + 20; // longer than a frame gives it
                while (performance.now() < until);
                yield;
            }
            return [['a'], [1]];
        }
        painter.next(job, (value) => (rows = value));
        painter.next(job, (value) => (rows = value.concat([[2]])));
        await exportView({ready: () => painter.idle(), rows() {
            asked.push(rows);
            return rows;
        }}, 'x', 'csv');
        await painter.idle();
        painter.start(job(), () => null);
        const idle = painter.idle();
        painter.stop();
        await idle;
        return asked;
    }""") == [[["a"], [1], [2]]]


def rows_are_sorted_and_filtered(page):
    assert page.evaluate("""() => {
        const columns = [{key: 'name', value: (r) => r.name}, {key: 'bytes', value: (r) => r.bytes}];
        const rows = [{name: 'b', bytes: 1}, {name: 'ab', bytes: 3}, {name: 'c', bytes: 2}];
        const names = (search, sort) => arrangeRows(rows, columns, search, sort).map((r) => r.name).join();
        return [names('', 'bytes-'), names('', 'name+'), names('B', 'bytes+'), names('z', 'bytes-'), names('', 'other-')];
    }""") == ["ab,c,b", "ab,b,c", "b,ab", "", "ab,c,b"]


def what_a_package_did_stands_below_the_line(page):
    assert page.evaluate("""() => {
        const columns = [{key: 'name', value: (r) => r.name}, {key: 'bytes', value: (r) => r.bytes}];
        const sites = [['train()', 'net: Mlp.forward'], ['load()', 'net: read'], ['train()', 'net: Norm.forward']]
            .map(([line, through]) => ({line, through}));
        const groups = sites.map(({line, through}, index) => ({index, name: `${line} [${through}]`, bytes: 4 + index,
            blocks: 1, ages: 2, largest: 4 + index}));
        const rows = nestParts(sites, groups);
        const shown = (search) => arrangeRows(rows, columns, search, 'bytes-').map((row) =>
            `${row.nested ? row.part : row.name} ${row.bytes} ${row.blocks}`);
        return [shown(''), shown('mlp')];
    }""") == [["train() 10 2", "net: Norm.forward 6 1", "net: Mlp.forward 4 1", "load() [net: read] 5 1"],
              ["train() [net: Mlp.forward] 4 1"]]


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        path = browser.page_of_modules(pathlib.Path(sys.argv[1]), folder, NAMES)
        with browser.opened(path) as (page, faults):
            browser.run((figures_round_as_in_c, names_are_shown_as_text, a_python_program_is_called_by_its_script,
                         csv_is_safe_to_open, a_link_restores_the_state, work_has_its_call_and_the_device_its_gaps, the_last_link_is_followed,
                         the_state_tells_of_changes_once, frames_are_one_tree, colours_are_stable_and_apart,
                         an_export_waits_for_the_view, rows_are_sorted_and_filtered,
                         what_a_package_did_stands_below_the_line), page)
            assert not faults, json.dumps(faults)
    return 0


if __name__ == "__main__":
    sys.exit(main())
