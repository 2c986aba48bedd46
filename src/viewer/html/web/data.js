/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace in the page: its head at once, its sections as promises of columns (typed arrays, one row
 * per block, segment, kernel, range or step), and the queries that views need: what is live at a
 * time, what was allocated between two, where the peak is. Sections are decoded in the order in
 * which the page shows them, never two at once. */
import {readSection} from './columns.js';
import {createLiveIndex} from './liveindex.js';
import {instantText, timeTicks} from './viewport.js';

/** Types of head.sections.activity. */
export const ACTIVITY_TYPES = ['kernel', 'copy', 'memset', 'wait for the device', 'call', 'driver call'];

function withDeaths(table) {
    const {lived, born, count} = table;
    if (table.died)
        return table;
    for (let i = 0; i < count; i++)
        lived[i] = lived[i] ? born[i] + lived[i] - 1 : Infinity;
    table.died = lived;
    delete table.lived;
    return table;
}

/** The columns of curves by device: [{time, allocated_min, …}], null where there are none. Those of host
 * memory, which belongs to no device, are among those of each. */
function curvesByDevice(table, devices) {
    const curves = devices.map(() => null);
    for (const [name, values] of Object.entries(table || {})) {
        const dot = name.indexOf('.');
        if (dot < 0)
            continue;
        const device = Number(name.slice(0, dot));
        curves[device] = curves[device] || {count: values.length};
        curves[device][name.slice(dot + 1)] = values;
    }
    for (const curve of table && table.host_max ? curves.filter(Boolean) : [])
        Object.assign(curve, {host_min: table.host_min, host_max: table.host_max});
    return curves;
}

/** *table* with its rows in order of the column *key*, if head says that they are not. */
function inOrder(table, section, key) {
    if (!table || !section || section.ordered !== false)
        return table;
    const order = Uint32Array.from({length: table.count}, (_, i) => i);
    order.sort((a, b) => table[key][a] - table[key][b]);
    for (const [name, values] of Object.entries(table)) {
        if (name !== 'count')
            table[name] = values.map((_, i) => values[order[i]]);
    }
    table.order = order;
    return table;
}

/** The lines of source files that the page has. @param {Object|null} table the section
 * @returns {Map<number, {path: string, changed: boolean, lines: Map<number, string>}>} by index in head.files */
function readSources(table) {
    const files = table && table.json.length ? JSON.parse(new TextDecoder().decode(table.json)) : [];
    return new Map(files.map(({file, path, changed, spans}) => [file, {path, changed,
        lines: new Map(spans.flatMap(([first, text]) => text.split('\n').map((line, i) => [first + i, line])))}]));
}

/** Calls *read* once, when the result is first asked for. */
function onDemand(read) {
    let promise = null;
    return () => (promise = promise || read());
}

async function indexed(reading, section) {
    const table = inOrder(await reading, section, 'born');
    if (!table)
        return null;
    withDeaths(table);
    table.live = await createLiveIndex(table);
    return table;
}

/** When a device's blocks were most, between two times. */
function largestAt(curve, {from, to}) {
    const name = ['live', 'tensors', 'allocated', 'reserved'].find((n) => curve && curve[`${n}_max`]);
    if (!name)
        return to;
    const values = curve[`${name}_max`];
    let best = -1;
    for (let i = 0; i < curve.count; i++) {
        if (curve.time[i] >= from && curve.time[i] <= to && (best < 0 || values[i] > values[best]))
            best = i;
    }
    return best < 0 ? to : curve.time[best];
}

/** Where views look when no cursor is set: the last failure not recovered from, else the peak. */
function defaultCursor(head, curves, device) {
    const failure = (head.failures || []).filter((f) => f.device === device && !f.host && !f.recovered).pop();
    const part = head.window;
    const inside = (t) => !part || (t >= part.from && t <= part.to);
    if (failure && inside(failure.time))
        return failure.time;
    const row = head.report && head.report.devices && head.report.devices[device];
    const peak = row && (row.live || (row.level === 'framework' && row.peak_user) || row.peak_allocated);
    if (peak && peak.time_ns > 0 && inside(peak.time_ns))
        return peak.time_ns;
    return largestAt(curves && curves[device], part || {from: 0, to: head.duration});
}

function sectionPromises(page, prefix, head) {
    const read = (name) => readSection(page, prefix, name, head);
    const curves = read('curves').then((table) => curvesByDevice(table, head.devices));
    const segments = curves.then(() => indexed(read('segments'), head.sections.segments));
    const blocks = segments.then(() => indexed(read('blocks'), head.sections.blocks));
    const steps = blocks.then(() => read('steps'));
    const ranges = steps.then(() => read('ranges'));
    const activity = ranges.then(() => read('activity')).then((table) =>
        inOrder(table, head.sections.activity, 'start'));
    const lives = onDemand(async () => {
        const {order} = await blocks;
        const table = await read('lives') || {};
        for (const [name, values] of order ? Object.entries(table) : [])
            table[name] = values.length ? values.map((_, i) => values[order[i]]) : values;
        return table;
    });
    const sources = onDemand(async () => readSources(await blocks.then(() => read('sources'))));
    return {curves, segments, blocks, steps, ranges, activity, lives, sources};
}

/** The live-set queries over loaded blocks, each with an optional device. */
export function liveQueries(blocks) {
    const on = (device) => {
        const devices = blocks().device;
        return device === undefined ? null : (i) => devices[i] === device;
    };
    return {
        liveAt: (t, device) => blocks().live.collect(t, t, on(device)),
        overlapping: (t0, t1, device) => blocks().live.collect(t0, t1, on(device)),
        liveBetween(t0, t1, device) {
            const {born, device: devices} = blocks();
            return blocks().live.collect(t1, t1,
                (i) => born[i] > t0 && (device === undefined || devices[i] === device));
        },
    };
}

/* The axis of views over time: least span, ns of a position, its ticks, its text (countedTrace has another). */
const TIME_AXIS = {spanLeast: 100, toTime: (t) => t, ticks: timeTicks, textAt: instantText};

/** Opens the trace of the page whose head has been read.
 * @param {Document} page @param {string} [prefix] 'b.' for the second trace
 * @returns {Object} trace: head; curves (per device), segments, blocks, steps, ranges, activity:
 *   promises of columns, null where the page has none; loaded.NAME: the same once they are there;
 *   lives(): likewise, read when it is first called; sources(): likewise, a Map of files;
 *   liveAt(t, device), liveBetween(t0, t1, device), overlapping(t0, t1, device): rows of blocks;
 *   cursorAt(state): the cursor, or where to look without one; source: itself; counted: what countedTrace made of it */
export function openTrace(page, prefix = '') {
    const head = JSON.parse(page.getElementById(`${prefix}head`).textContent);
    for (const site of head.sites || []) {
        site.line = site.label;
        if (site.through) /* tells the calls of one line apart */
            site.label += ` [${site.through}]`;
    }
    head.failures = head.report.failures.map(({time_ns: time, requested_bytes: bytes, device, recovered, text, through}) => ({time, bytes, recovered,
        host: device === null, device: Math.max(0, head.devices.findIndex((d) => d.device === device)), label: through ? `${text} [${through}]` : text}));
    if (head.format !== 1)
        throw new Error(`the page has data of format ${head.format}; its script reads format 1`);
    const loaded = {};
    const trace = {head, prefix, loaded, ...sectionPromises(page, prefix, head), ...TIME_AXIS};
    trace.source = trace;
    for (const name of ['curves', 'segments', 'blocks', 'steps', 'ranges', 'activity']) {
        trace[name].then((table) => (loaded[name] = table), (error) => {
            loaded.error = loaded.error || error;
        });
    }
    const {liveAt, overlapping, liveBetween} = liveQueries(() => loaded.blocks);
    Object.assign(trace, {liveAt, overlapping, liveBetween});
    trace.cursorAt = (state) => state.get('cursor') ??
        defaultCursor(head, loaded.curves, state.get('device'));
    return trace;
}
