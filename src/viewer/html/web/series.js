/* SPDX-License-Identifier: Apache-2.0
 *
 * The curves of a device: the overview of the whole trace that the page brings, exact values for what
 * is visible where the page has the blocks, and the exact value at one instant. */
import {upperBound} from './liveindex.js';
import {sweepColumns} from './sweep.js';

const SERIES = [
    {key: 'host', name: 'pinned host memory', color: 'series-host', apart: true},
    {key: 'used', name: 'device in use', color: 'series-used', apart: true},
    {key: 'reserved', name: 'reserved', color: 'series-reserved'},
    {key: 'allocated', name: 'allocated', color: 'series-allocated'},
    {key: 'tensors', name: 'tensors', color: 'series-tensors'},
];
const SERIES_LEAST = 0.001; // of the largest: a smaller one is no curve beside it

function sameValues(a, b) {
    return a && b && a.length === b.length && a.every((value, i) => value === b[i]);
}

/** Curves of *device*, the widest first: {key, name, color, time, min, max, most}; kept. Where allocated equals
 * reserved at all times, one is left out: allocated under a framework, which reserves what the driver gives.
 * @param {Object} trace whose curves are loaded @param {number} device @returns {Object[]} */
export function seriesOf(trace, device) {
    const curve = trace.loaded.curves && trace.loaded.curves[device];
    if (!curve)
        return [];
    if (curve.series)
        return curve.series;
    const all = SERIES.flatMap((series) => {
        const max = curve[`${series.key}_max`] || curve[series.key];
        const min = curve[`${series.key}_min`] || curve[series.key];
        const most = max ? max.reduce((a, b) => Math.max(a, b), 0) : 0;
        return most ? [{...series, min, max, most, time: curve.time}] : [];
    });
    curve.series = all.filter((s) => !s.apart || s.most > SERIES_LEAST * Math.max(...all.map(({most}) => most)));
    const framework = trace.head.levels && trace.head.levels.framework;
    const reserved = curve.series.find((s) => s.key === 'reserved');
    const allocated = curve.series.find((s) => s.key === 'allocated');
    if (curve.series.length > 2 && reserved && allocated && sameValues(reserved.max, allocated.max)) {
        curve.series = curve.series.filter((s) => s !== (framework ? allocated : reserved));
        reserved.name = `reserved by ${framework}`;
    }
    const tensors = curve.series.find((s) => s.key === 'tensors');
    if (framework && tensors)
        tensors.name = `${framework} tensors`;
    return curve.series;
}

function hasLooseBlocks(blocks, device) {
    blocks.loose = blocks.loose || {};
    if (blocks.loose[device] === undefined) {
        let found = !blocks.segment;
        for (let i = 0; i < blocks.count && !found; i++)
            found = blocks.segment[i] === 0 && blocks.device[i] === device;
        blocks.loose[device] = found;
    }
    return blocks.loose[device];
}

/** The table whose live bytes are exactly the curve *key*, with the rows of it that count; null where
 * the page cannot know (its blocks are not loaded, or two tables would be needed). */
export function exactTable(trace, key, device) {
    const {blocks, segments} = trace.loaded;
    const {levels, kinds} = trace.head;
    if (!blocks || key === 'used' || key === 'host')
        return null;
    if (key === 'tensors')
        return {table: blocks, accept: (i) => blocks.kind[i] !== kinds.length - 1};
    if (key === 'allocated' && levels.segments === 'caching' && levels.framework)
        return null; // its tensors are blocks as well, in the place of what holds them
    if (levels.segments === 'none' || (key === 'allocated' && levels.segments === 'caching'))
        return {table: blocks, accept: null};
    return segments && !hasLooseBlocks(blocks, device) ? {table: segments, accept: null} : null;
}

/** Whether the page has all blocks of from..to. */
export function hasBlocks(trace, from, to) {
    const part = trace.head.window;
    return !part || (from >= part.from && to <= part.to);
}

/** The part of a range that the page has the blocks of; null: none.
 * @returns {{from: number, to: number}|null} */
export function partWithBlocks(trace, range) {
    const part = trace.head.window;
    if (!part)
        return range;
    const from = Math.max(range.from, part.from);
    const to = Math.min(range.to, part.to);
    return to > from ? {from, to} : null;
}

/** Bytes of a curve at the instant *t*: {value, exact}; value null: unknown. */
export function valueAt(trace, series, device, t) {
    const source = hasBlocks(trace, t, t) ? exactTable(trace, series.key, device) : null;
    if (!source) {
        const bucket = Math.max(0, upperBound(series.time, t) - 1);
        const value = series.max[bucket];
        return {value: series.key === 'used' && value === 0 ? null : value, exact: false};
    }
    const {table, accept} = source;
    let value = 0;
    table.live.visit(t, t, (i) => {
        if (table.device[i] === device && (!accept || accept(i)))
            value += table.bytes[i];
    });
    return {value, exact: true};
}

/** Exact curves for from..to in *columns* parts, as a job for a painter: {key: sweep}. The order of
 * deaths of both tables must be known. */
export function* sweepSeries(trace, device, from, to, columns) {
    const out = {};
    for (const {key} of seriesOf(trace, device)) {
        const source = exactTable(trace, key, device);
        if (source && source.table.live.deathsNow())
            out[key] = yield* sweepColumns(source.table, {from, to, columns, device, accept: source.accept});
    }
    return {from, to, columns, device, curves: out};
}
