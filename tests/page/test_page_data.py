#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page computes from its columns, in a browser, against the obvious way to compute it: live
blocks, exact curves, stacks, the picture of the blocks with its counts, lanes and segments.

    test_page_data.py ROOT"""
import base64
import json
import pathlib
import random
import struct
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

NAMES = ("decodeSection createLiveIndex sweepColumns stackRows rasterizeStack bandOf rasterize segmentsAt layOutSegments layOutRequest "
         "listEvents runsOfLane timeTicks byteTicks instantText svgPen canvasPen columnsOf shortSite cutEnd findBlocks shortenApart fileNames "
         "flameColor").split()

# Blocks in places that live ones never share, from a fixed sequence; done() ends a generator.
SETUP = """
window.done = (generator) => {
    let next = generator.next();
    while (!next.done)
        next = generator.next();
    return next.value;
};
window.makeBlocks = async (count, end) => {
    let seed = 12345;
    const random = (n) => {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        return Math.floor(seed / 4294967296 * n);
    };
    const table = {count, born: new Float64Array(count), died: new Float64Array(count), bytes: new Float64Array(count),
        place: new Float64Array(count), device: new Uint8Array(count), group: new Uint8Array(count)};
    const slots = new Float64Array(64);
    for (let i = 0; i < count; i++) {
        const slot = random(64);
        const born = Math.max(slots[slot], Math.floor(end * i / count));
        table.born[i] = born;
        table.died[i] = random(40) === 0 ? Infinity : born + 1 + random(random(8) ? 200 : 20000);
        slots[slot] = table.died[i];
        table.bytes[i] = 1 + random(random(4) ? 40 : 1000);
        table.place[i] = slot * 1000;
        table.device[i] = random(10) === 0 ? 1 : 0;
        table.group[i] = random(6);
    }
    const order = [...table.born.keys()].filter((i) => table.born[i] !== Infinity).sort((a, b) => table.born[a] - table.born[b]);
    table.count = order.length;
    for (const name of ['born', 'died', 'bytes', 'place', 'device', 'group'])
        table[name] = table[name].constructor.from(order, (i) => table[name][i]);
    table.site = table.group;
    table.live = await createLiveIndex(table);
    await table.live.deaths();
    return table;
};
window.liveSlowly = (b, t, device) => [...Array(b.count).keys()].filter((i) =>
    b.born[i] <= t && b.died[i] > t && b.device[i] === device);
"""


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def equal(page, script):
    """Fails with what *script* found to differ."""
    found = page.evaluate(script)
    assert found == "equal", found


def columns_are_decoded(page):
    rng = random.Random(1)
    plain = [0, 1, 127, 128, 2**14, 2**21 - 1, 2**21, 2**28, 2**35 + 5, 2**53 - 1] + [rng.getrandbits(rng.randrange(53)) for _ in range(70000)]
    signed = [0, -1, 5, 2**40, 3, -(2**45)] + [rng.randrange(-2**30, 2**30) for _ in range(70000)]
    deltas, last = b"", 0
    parts = []
    for value in signed:
        step, last = value - last, value
        parts.append(varint(step << 1 if step >= 0 else -step * 2 - 1))
    deltas = b"".join(parts)
    first = b"".join(map(varint, plain))
    doubles = struct.pack("<3d", 0.5, -1e300, 3.0)
    raw = first + deltas + doubles + b"\x00\xff\x07"
    columns = [{"name": "bytes", "type": "varint", "count": len(plain), "bytes": len(first)},
               {"name": "born", "type": "delta", "count": len(signed), "bytes": len(deltas)},
               {"name": "x", "type": "f64", "count": 3, "bytes": 24}, {"name": "kind", "type": "u8", "count": 3, "bytes": 3}]
    packed = []
    for part in (raw[:100001], raw[100001:]):  # a column may span two elements
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed.append(base64.b64encode(deflate.compress(part) + deflate.flush()).decode())
    got = page.evaluate("""async ([columns, packed]) => {
        const table = await decodeSection({columns}, packed.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))));
        return [Array.from(table.bytes), Array.from(table.born), Array.from(table.x), Array.from(table.kind), table.count];
    }""", [columns, packed])
    assert got == [plain, signed, [0.5, -1e300, 3.0], [0, 255, 7], len(plain)]
    # planes; row 1 is freed before row 2 is born, and says where that is
    rows = {"born": ("planes_delta", [10, 0, 2]), "kept": ("planes", [3, 1, 0]), "after": ("planes_signed", [4, 2, 0]),
            "place": ("planes_freed", [2000, 6, 0]), "segment": ("planes_freed", [0, 4, 0])}
    columns, raw = [], b""
    for name, (kind, values) in rows.items():
        planes = [bytes(v >> shift & 255 for v in values) for shift in (0, 8)]
        planes = [plane.rstrip(b"\0") for plane in planes if any(plane)]
        columns.append({"name": name, "type": kind, "count": 3, "bytes": len(b"".join(planes)), "planes": [len(p) for p in planes]})
        raw += b"".join(planes)
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    text = base64.b64encode(deflate.compress(raw) + deflate.flush()).decode()
    assert page.evaluate("""async ([columns, text]) => {
        const {born, died, place, segment} = await decodeSection({columns}, [Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
        return [born, died, place, segment].map((column) => [...column].map((v) => (v === Infinity ? 'never' : v)));
    }""", [columns, text]) == [[5, 5, 6], [8, 6, "never"], [1000, 3, 3], [0, 2, 2]]
    damaged = page.evaluate("""async ([columns, packed]) => {
        columns[0].bytes -= 1;
        try {
            await decodeSection({columns}, packed.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))));
        } catch (error) {
            return error.message;
        }
    }""", [columns, packed])
    assert "damaged" in damaged, damaged


def the_live_index_finds_every_block(page):
    equal(page, """async () => {
        const b = await makeBlocks(6000, 100000);
        for (let t = -1; t < 110000; t += 977) {
            const found = [...b.live.collect(t, t, (i) => b.device[i] === 0)];
            if (found.join() !== liveSlowly(b, t, 0).join())
                return `live at ${t}`;
            const to = t + 3000;
            const span = [...Array(b.count).keys()].filter((i) => b.born[i] <= to && b.died[i] > t);
            if ([...b.live.collect(t, to)].join() !== span.join())
                return `in ${t}..${to}`;
        }
        const order = b.live.deathsNow();
        const wanted = [...Array(b.count).keys()].filter((i) => b.died[i] !== Infinity).sort((x, y) => b.died[x] - b.died[y] || x - y);
        return [...order].join() === wanted.join() ? 'equal' : 'order of deaths';
    }""")


def events_of_one_instant_have_an_order(page):
    """Memory is freed before other memory is allocated, but never before its own allocation."""
    got = page.evaluate("""async () => {
        const table = async (rows) => {
            const t = {count: rows.length, phase: Uint8Array.from(rows, (r) => r[3] || 0), born: Float64Array.from(rows, (r) => r[0]), died: Float64Array.from(rows, (r) => r[1]),
                bytes: Float64Array.from(rows, (r) => r[2]), device: new Uint8Array(rows.length),
                kind: new Uint8Array(rows.length), segment: new Uint32Array(rows.length)};
            return Object.assign(t, {live: await createLiveIndex(t)});
        };
        const trace = {head: {failures: [{time: 5, device: 0, bytes: 9}], devices: [{}], kinds: ['other'],
            phases: [{name: 'step'}, {name: 'before the recording'}]},
            loaded: {blocks: await table([[1, 5, 10], [5, 5, 20], [5, 5, 30], [5, 7, 40]]), segments: await table([[1, 5, 99], [5, Infinity, 99]])}};
        const list = await listEvents(trace, 0);
        trace.loaded = {blocks: await table([...Array(3000).fill([0, Infinity, 1, 2]), [0, 9, 10, 1]])};
        const {begun, count} = await listEvents(trace, 0);
        if (list.begun !== 0 || begun !== 3000 || count !== 3003)
            return [list.begun, begun, count];
        return [...Array(list.count).keys()].map((i) => [list.timeOf(i), list.what(i), list.row(i), list.inUse(i)]);
    }""")
    free, refused, segment_free, segment_alloc, alloc = range(5)
    assert got == [[1, segment_alloc, 0, 0], [1, alloc, 0, 10], [5, free, 0, 0], [5, refused, 0, 0], [5, segment_free, 0, 0],
                   [5, segment_alloc, 1, 0], [5, alloc, 1, 20], [5, free, 1, 0], [5, alloc, 2, 30], [5, free, 2, 0],
                   [5, alloc, 3, 40], [7, free, 3, 0]], got


def curves_are_exact_and_bands_add_up_to_them(page):
    equal(page, """async () => {
        const b = await makeBlocks(3000, 40000);
        const at = (t) => liveSlowly(b, t, 0).reduce((sum, i) => sum + b.bytes[i], 0);
        for (const [from, to, columns] of [[0, 60000, 37], [12000.5, 13000.5, 100], [39990.5, 40100.5, 11]]) {
            const sweep = done(sweepColumns(b, {from, to, columns, device: 0}));
            const stack = done(stackRows(b, sweep, 0));
            const lived = (i) => b.died[i] - b.born[i];
            if (stack.rows.some((row, i) => i && (lived(stack.rows[i - 1]) < lived(row) ||
                (lived(stack.rows[i - 1]) === lived(row) && stack.rows[i - 1] > row))))
                return 'order: the longest at the bottom, then by birth';
            const within = [...Array(b.count).keys()].filter((i) => b.born[i] <= to && b.died[i] > from && b.device[i] === 0);
            if (stack.rows.length + stack.unseen !== within.length)
                return `${stack.rows.length} seen, ${stack.unseen} not, of ${within.length}`;
            const height = 300;
            const top = Math.max(...sweep.max);
            const scale = height / top;
            const picture = done(rasterizeStack(b, stack, {placeFrom: 0, placeTo: top, width: columns, height, density: 1}, null));
            const [row, band] = [stack.rows[stack.rows.length >> 1], bandOf(b, stack, stack.rows[stack.rows.length >> 1])];
            for (let c = 0; c < columns; c++) {
                const start = from + c * (to - from) / columns;
                const end = from + (c + 1) * (to - from) / columns;
                const times = [start, ...b.born, ...b.died].filter((t) => t >= start && t < end);
                const born = (t) => [...Array(b.count).keys()].filter((i) => b.born[i] === t && b.device[i] === 0)
                    .reduce((sum, i) => sum + b.bytes[i], 0);
                const values = times.flatMap((t) => t === start ? [at(t)] : [at(t), at(t) - born(t)]); // frees come first
                if (sweep.max[c] !== Math.max(...values) || sweep.min[c] !== Math.min(...values))
                    return `column ${c} of ${from}..${to}: ${sweep.min[c]}..${sweep.max[c]}, not ${Math.min(...values)}..${Math.max(...values)}`;
                if (at(sweep.at[c]) !== sweep.max[c])
                    return `instant of column ${c}`;
                const live = liveSlowly(b, sweep.at[c], 0);
                const bands = [...stack.rows].filter((_, i) => stack.first[i] <= c && c < stack.last[i]);
                if ([...bands].sort((x, y) => x - y).join() !== live.join())
                    return `bands of column ${c}: ${bands}, not ${live}`;
                const owners = Array.from({length: height}, (_, y) => picture.owner[y * columns + c] - 1);
                if (owners.filter((owner) => owner >= 0).length !== height - Math.round((top - sweep.max[c]) * scale))
                    return `height of column ${c}`;
                const wrong = live.find((i) => Math.abs(owners.filter((owner) => owner === i).length - b.bytes[i] * scale) > 1);
                if (wrong !== undefined || owners.some((owner) => owner >= 0 && !live.includes(owner)))
                    return `owners in column ${c}`;
                const below = bands.slice(0, bands.indexOf(row)).reduce((sum, i) => sum + b.bytes[i], 0);
                if (bands.includes(row) && band.low[c - band.first] !== below)
                    return `band of ${row} in column ${c}`;
            }
        }
        return 'equal';
    }""")


def every_block_is_in_the_picture(page):
    equal(page, """async () => {
        const b = await makeBlocks(2000, 40000);
        for (const view of [{from: 0, to: 60000, placeFrom: 0, placeTo: 64000}, {from: 9000, to: 9100, placeFrom: 5000, placeTo: 7300}]) {
            const [width, height] = [53, 31];
            const spare = done(rasterize(b, {...view, device: 1, width, height}, null));
            const picture = done(rasterize(b, {...view, device: 0, width, height}, spare));
            const x = (t) => (t - view.from) / (view.to - view.from) * width;
            const y = (place) => (view.placeTo - place) / (view.placeTo - view.placeFrom) * height;
            for (let p = 0; p < width * height; p++) {
                const [left, top] = [p % width, Math.floor(p / width)];
                let [hits, most, filled] = [0, 0, 0];
                for (let i = 0; i < b.count; i++) {
                    if (b.device[i] !== 0 || b.born[i] > view.to || b.died[i] <= view.from)
                        continue;
                    const w = Math.min(left + 1, x(b.died[i])) - Math.max(left, x(b.born[i]));
                    const h = Math.min(top + 1, y(b.place[i])) - Math.max(top, y(b.place[i] + b.bytes[i]));
                    if (w > 1e-9 && h > 1e-9) {
                        hits++;
                        filled += w * h;
                        most = Math.max(most, w * h);
                    }
                }
                if (picture.hits[p] !== hits || Math.abs(picture.filled[p] - filled) > 1e-4 || Math.abs(picture.share[p] - most) > 1e-4)
                    return `pixel ${left},${top}: ${picture.hits[p]} blocks, ${picture.filled[p]}, ${picture.share[p]}, not ${hits}, ${filled}, ${most}`;
                if ((picture.owner[p] > 0) !== (hits > 0))
                    return `owner of pixel ${left},${top}`;
            }
        }
        return 'equal';
    }""")


def lanes_count_what_they_merge(page):
    assert page.evaluate("""() => {
        const count = 5000;
        const table = {start: Float64Array.from({length: count}, (_, i) => i * 20 + i % 7),
            duration: Float64Array.from({length: count}, (_, i) => i % 100 === 0 ? 1900 : 3 + i % 5)};
        const rows = Uint32Array.from({length: count}, (_, i) => i);
        let latest = -1;
        const reach = Float64Array.from(rows, (i) => (latest = Math.max(latest, table.start[i] + table.duration[i])));
        return [[0, 100000, 200], [5000, 7000, 400], [99990, 99999, 10]].map(([from, to, columns]) => {
            const runs = done(runsOfLane({table, rows, reach}, from, to, columns));
            const seen = [...rows].filter((i) => table.start[i] <= to && table.start[i] + table.duration[i] >= from).length;
            const longest = runs.row.every((row, i) => runs.count[i] > 1 || runs.busy[i] === table.duration[row]);
            return runs.count.reduce((a, b) => a + b, 0) === seen && longest;
        });
    }""") == [True, True, True]


def segments_are_drawn_to_scale(page):
    assert page.evaluate("""async () => {
        const make = async (rows) => {
            const table = {count: rows.length};
            for (const name of Object.keys(rows[0]))
                table[name] = Float64Array.from(rows, (row) => row[name]);
            table.live = await createLiveIndex(table);
            return table;
        };
        const segments = await make([{born: 0, died: Infinity, bytes: 1000, place: 0, device: 0, stream: 1, pool: 0},
            {born: 1, died: Infinity, bytes: 4000, place: 1000, device: 0, stream: 1, pool: 0},
            {born: 2, died: 50, bytes: 500, place: 5000, device: 0, stream: 2, pool: 3}]);
        const blocks = await make([{born: 1, died: Infinity, bytes: 300, place: 200, segment: 1, device: 0, stream: 1},
            {born: 2, died: Infinity, bytes: 4000, place: 1000, segment: 2, device: 0, stream: 1},
            {born: 3, died: Infinity, bytes: 70, place: 9000, segment: 0, device: 0, stream: 1},
            {born: 4, died: 5, bytes: 100, place: 0, segment: 1, device: 0, stream: 1}]);
        const groups = segmentsAt({loaded: {blocks, segments}}, 0, 10);
        const told = groups.map((g) => [g.stream, g.pool, g.loose, g.segments.length, g.bytes, g.used, g.holes, g.free, g.largest]);
        const later = segmentsAt({loaded: {blocks, segments}}, 0, 60).length;
        const {pieces, leftOut} = layOutSegments(groups, 2, 500, 0);
        const widths = groups.map((g) => pieces.filter((p) => p.group === g).reduce((sum, p) => sum + p.width, 0));
        const apart = pieces.every((a, i) => pieces.every((b, j) => i === j || a.y !== b.y ||
            a.x + a.width <= b.x || b.x + b.width <= a.x));
        const inside = pieces.every((p) => p.x >= 0 && p.x + p.width <= 500.001);
        const request = layOutRequest(10000, 2, 500, 0, 2);
        return [told, later, widths, apart, inside, leftOut, request.cut, request.pieces.length];
    }""") == [[[1, 0, False, 2, 5000, 4300, 2, 700, 500], [2, 3, False, 1, 500, 0, 1, 500, 500],
               [1, 0, True, 1, 70, 70, 0, 0, 0]], 2, [2500, 250, 35], True, True, 0, True, 2]


def blocks_are_found(page):
    """By words of site, stack, kind and phase, by size, by address; of several words all must hold."""
    assert page.evaluate("""() => {
        const blocks = {count: 4, site: [0, 1, 0, 1], bytes: [1024, 2 ** 20, 3 * 2 ** 20, 2 ** 20 + 1], kind: [0, 1, 0, 1], phase: [0, 1, 2, 0],
            device: [0, 0, 0, 1], born: [0, 0, 0, 0], died: [9, 9, 9, 9], place: [0, 2 ** 20, 2 ** 21, 0], segment: [1, 1, 0, 0]};
        const head = {kinds: ['parameters', 'activations'], phases: [{name: 'step', parent: 0}, {name: 'Forward', parent: 1}], frames: ['build', 'main'],
            files: ['Net.py'], stacks: [[0, 1, 1, 3, 1], [1, 0, 0, 0, 1]], sites: [{label: 'a (x.c:1)', stack: 2}, {label: 'b', stack: 0}]};
        const trace = {head, loaded: {blocks, segments: {count: 1, address: [0x7f0000000000], place: [0]}}};
        return ['', 'net.py', '>1M', '>= 1M', '<=1k', '1M..3MiB', '=3M', 'forward a', 'ACTIV >2k', '0x7f0000100005', 'a zz', '>x'].map((text) =>
            [...findBlocks(trace, text, 0).rows].join());
    }""") == ["", "0,2", "2", "1,2", "0", "1,2", "2", "2", "1", "1", "", ""]


def names_tell_apart(page):
    assert page.evaluate("""() => [shortenApart(['a'.repeat(40) + '1' + 'z'.repeat(40), 'a'.repeat(40) + '2' + 'z'.repeat(40)], 12),
        shortenApart(['short', 'other'], 24), fileNames(['/x/a/lm.vst', '/x/b/lm.vst']), fileNames(['/x/a.vst', '/y/b.vst'])]""") == \
        [["…aaaaaa1zzz…", "…aaaaaa2zzz…"], ["short", "other"], ["a/lm.vst", "b/lm.vst"], ["a.vst", "b.vst"]]
    hues = page.evaluate("""['', 'torch', 'cuBLAS'].map((library) => ['light', 'dark'].map((theme) => {
        const [r, g, b] = [1, 3, 5].map((at) => parseInt(flameColor('forward', library, theme).slice(at, at + 2), 16));
        return r === Math.max(r, g, b); // warm
    }))""")
    assert hues == [[True, True], [False, False], [False, False]], hues


def ticks_differ(page):
    texts = page.evaluate("""() => [[0, 1e3], [0, 3e9], [5e9, 5e9 + 4000], [123456789, 123999999], [0, 4e14]].map(([from, to]) =>
        timeTicks(from, to, 1000).ticks.map((t) => t.text)).concat([[0, 1], [0, 3000], [0, 5 * 2 ** 28], [2 ** 40, 2 ** 40 + 9000],
        [0, 3 * 2 ** 50]].map(([from, to]) => byteTicks(from, to, 400).map((t) => t.text)))""")
    for row in texts:
        assert len(row) >= 2 and len(set(row)) == len(row), row
    for strip in page.evaluate("[2 ** 30, 1.06 * 2 ** 30, 1500, 7 * 2 ** 20].map((to) => byteTicks(0, to, 60).map((t) => t.text))"):
        assert len(strip) >= 2, strip
    assert page.evaluate("[instantText(1234567890123, 1e6), instantText(1500, 1)]") == ["1234.568 s", "1.500 µs"]


def exported_pictures_are_well_formed(page):
    import xml.dom.minidom
    text = page.evaluate(r"""() => {
        const pen = svgPen(100, 50, '#ffffff');
        const evil = '</text><script>alert(1)</script>"\'&\u0001\u202e' + 'x'.repeat(70000);
        pen.clip(0, 0, 10, 10);
        pen.rect(0, 0, -5, 5, '#123456', 0.5);
        pen.polygon([0, 1, 2], [3, 4, 5], 3, evil);
        pen.unclip();
        pen.text(1, 2, evil, '#000000', {align: 'right', weight: '600', halo: '#ffffff'});
        pen.note('a picture, ' + evil);
        return pen.finish(evil);
    }""")
    document = xml.dom.minidom.parseString(text)
    assert not document.getElementsByTagName("script") and len(text) < 10000
    notes = document.getElementsByTagName("desc")
    assert len(notes) == 1 and notes[0].firstChild.data.startswith("a picture, "), text[:500]
    assert page.evaluate("[shortSite('f (a.c:12) < g:30'), cutEnd('abcdef', 4), cutEnd('abc', 4)]") == \
        ["f:12 < g:30", "abc…", "abc"]


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        path = browser.page_of_modules(pathlib.Path(sys.argv[1]), folder, NAMES, SETUP)
        with browser.opened(path) as (page, faults):
            browser.run((columns_are_decoded, the_live_index_finds_every_block, events_of_one_instant_have_an_order, curves_are_exact_and_bands_add_up_to_them,
                         every_block_is_in_the_picture, lanes_count_what_they_merge, segments_are_drawn_to_scale,
                         blocks_are_found, names_tell_apart, ticks_differ,
                         exported_pictures_are_well_formed), page)
            assert not faults, json.dumps(faults)
    return 0


if __name__ == "__main__":
    sys.exit(main())
