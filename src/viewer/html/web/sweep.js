/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact sums of live bytes over a window of time, one column per pixel: least and most bytes with the
 * instant of the most, and the stack of the blocks that are live at these instants, as rows and as pixels.
 * No peak is lost at any zoom: the top of the stack is the exact curve. All are generators that pause
 * often (slices.js). */
import {firstDeathAfter, upperBound} from './liveindex.js';

const EVENTS_PER_PAUSE = 2048;

function baseOf(table, from, device, accept) {
    const {bytes, device: devices} = table;
    let base = 0;
    table.live.visit(from, from, (i) => {
        if (devices[i] === device && (!accept || accept(i)))
            base += bytes[i];
    });
    return base;
}

/** Live bytes of *device* in *columns* equal parts of from..to, of the rows that *accept* returns true
 * for. table.live.deaths() must be done.
 * @returns {Generator<void, {from: number, to: number, columns: number, min: Float64Array,
 *   max: Float64Array, at: Float64Array, events: number}>} at: when the most was live */
export function* sweepColumns(table, {from, to, columns, device, accept = null}) {
    const {born, died, bytes, device: devices, count} = table;
    const order = table.live.deathsNow();
    const min = new Float64Array(columns);
    const max = new Float64Array(columns);
    const at = new Float64Array(columns);
    const scale = columns / (to - from);
    let value = baseOf(table, from, device, accept);
    let i = upperBound(born, from, count);
    let j = firstDeathAfter(order, died, from);
    let column = 0;
    let events = 0;
    min[0] = max[0] = value;
    at[0] = from;
    for (;;) {
        const birth = i < count ? born[i] : Infinity;
        const death = j < order.length ? died[order[j]] : Infinity;
        const t = death <= birth ? death : birth;
        const target = t > to ? columns - 1 : Math.min(columns - 1, Math.floor((t - from) * scale));
        for (; column < target; ) {
            column++;
            min[column] = max[column] = value;
            at[column] = from + column / scale;
        }
        if (t > to || t === Infinity)
            break;
        const row = death <= birth ? order[j++] : i++;
        if (devices[row] !== device || (accept && !accept(row)))
            continue;
        value += death <= birth ? -bytes[row] : bytes[row];
        if (value > max[column]) {
            max[column] = value;
            at[column] = t;
        } else if (value < min[column]) {
            min[column] = value;
        }
        if (++events % EVENTS_PER_PAUSE === 0)
            yield;
    }
    return {from, to, columns, min, max, at, events};
}

/** First column whose instant is >= t. */
function columnFrom(sweep, t) {
    let column = Math.floor((t - sweep.from) * sweep.columns / (sweep.to - sweep.from));
    column = Math.max(0, Math.min(sweep.columns, column));
    while (column > 0 && sweep.at[column - 1] >= t)
        column--;
    while (column < sweep.columns && sweep.at[column] < t)
        column++;
    return column;
}

const SORTED_MOST = 2 ** 22;
const RUN_PIXELS = 3; // of neighbours that are thinner than a pixel: within these they are put in order of call site
const EDGE_HIGH = 3; // pixels: from this height on a band has an edge
const LABEL_WIDE = 72;
const LABEL_HIGH = 13;

/** The rows that are live at an instant of *sweep*, from the bottom of the stack to its top: in order of
 * lifetime, the longest first, to a millionth, then of birth. The order is that of the trace, not of what is
 * visible, and a block never moves one that lives longer.
 * @param {Object} table @param {Object} sweep from sweepColumns @param {number} device
 * @returns {Generator<void, {rows: Uint32Array, first: Uint32Array, last: Uint32Array, unseen: number, sweep: Object}>}
 *   first, last: columns in which the row is live, without the last; unseen: rows that lived between the instants */
export function* stackRows(table, sweep, device) {
    const {born, died, device: devices, source: lived = table} = table;
    const found = {rows: [], first: [], last: []};
    let column = 0;
    let unseen = 0;
    yield* table.live.steps(sweep.from, sweep.to, (row) => {
        if (devices[row] !== device)
            return;
        while (column < sweep.columns && sweep.at[column] < born[row])
            column++; // rows come in order of birth
        const last = died[row] === Infinity ? sweep.columns : columnFrom(sweep, died[row]);
        if (column >= last) {
            unseen++;
            return;
        }
        found.rows.push(row);
        found.first.push(column);
        found.last.push(last);
    });
    const lifetime = new Float64Array(1);
    const words = new Uint32Array(lifetime.buffer);
    const shift = found.rows.length > SORTED_MOST ? 8 : 0;
    const keys = Float64Array.from(found.rows, (row, i) => {
        lifetime[0] = lived.died[row] - lived.born[row];
        return (0x7ff00000 - words[1] >>> shift) * SORTED_MOST * 2 ** shift + i; // sign, exponent and 20 bits of the number
    });
    yield;
    keys.sort();
    yield;
    const order = Uint32Array.from(keys, (key) => key % (SORTED_MOST * 2 ** shift));
    const sorted = (values) => Uint32Array.from(order, (i) => values[i]);
    return {rows: sorted(found.rows), first: sorted(found.first), last: sorted(found.last), unseen, sweep};
}

/** The picture of a stack, a column of pixels for each of its sweep. Each pixel belongs to the band at its
 * middle. Neighbours thinner than a pixel are put in order of call site, so that they merge by it.
 * @param {Object} table @param {Object} stack from stackRows
 * @param {{placeFrom: number, placeTo: number, width: number, height: number, density: number}} view bytes and pixels
 * @param {Object|null} spare a raster that is not needed any more
 * @returns {Generator<void, Object>} view with owner and edge as rasterize has them (edge 2: the paler of two tones),
 *   merged: bands thinner than a pixel, and large: the places for labels {row, from, to, low, high} */
export function* rasterizeStack(table, stack, view, spare) {
    const {width, height, placeFrom, placeTo, density} = view;
    const {rows, first, last, sweep} = stack;
    const {bytes, site} = table;
    const reused = spare && spare.owner.length === width * height;
    const owner = reused ? spare.owner.fill(0) : new Uint32Array(width * height);
    const edge = reused ? spare.edge.fill(0) : new Uint8Array(width * height);
    const scale = height / (placeTo - placeFrom);
    const unit = (sweep.to - sweep.from) / sweep.columns;
    const sums = new Float64Array(width);
    const large = [];
    let run = [];
    let runBytes = 0;
    let merged = 0;
    let work = 0;

    function paint(i) {
        const row = rows[i];
        const size = bytes[row];
        const high = size * scale;
        const tone = high >= 1.5 && Math.imul(row, 0x9e3779b1) < 0 ? 2 : 0;
        const roomy = high >= LABEL_HIGH * density && last[i] - first[i] >= LABEL_WIDE * density;
        const least = Math.max(LABEL_HIGH * density / scale, size / 2);
        const label = {row, from: first[i], to: first[i], low: -Infinity, high: Infinity};
        let best = null;
        let below = -1;
        let y0 = 0;
        let y1 = 0;
        for (let c = first[i]; c < last[i]; c++) {
            const low = sums[c];
            const top = sums[c] = low + size;
            if (low !== below) {
                below = low;
                y0 = Math.max(0, Math.round((placeTo - top) * scale));
                y1 = Math.min(height, Math.round((placeTo - low) * scale));
                if (roomy && Math.min(label.high, top) - Math.max(label.low, low) < least) {
                    best = best && best.to - best.from > label.to - label.from ? best : {...label};
                    Object.assign(label, {from: c, low, high: top});
                }
                label.low = Math.max(label.low, low);
                label.high = Math.min(label.high, top);
            }
            label.to = c + 1;
            for (let pixel = y0 * width + c, end = y1 * width; pixel < end; pixel += width) {
                owner[pixel] = row + 1;
                edge[pixel] = tone;
            }
            if (high >= EDGE_HIGH && y1 > y0)
                edge[y0 * width + c] = 1;
        }
        work += last[i] - first[i];
        if (!roomy)
            return;
        best = best && best.to - best.from > label.to - label.from ? best : label;
        if (best.to - best.from >= LABEL_WIDE * density && best.high > placeFrom && best.low < placeTo)
            large.push({...best, from: sweep.from + best.from * unit, to: sweep.from + best.to * unit});
    }
    function paintRun() {
        run.sort((a, b) => site[rows[a]] - site[rows[b]] || a - b).forEach(paint);
        run = [];
        runBytes = 0;
    }
    for (let i = 0; i < rows.length; i++) {
        const thin = bytes[rows[i]] * scale < 1;
        if (!thin || runBytes * scale >= RUN_PIXELS)
            paintRun();
        if (thin) {
            merged++;
            runBytes += bytes[rows[i]];
            run.push(i);
        } else {
            paint(i);
        }
        if (work > 20000) {
            work = 0;
            yield;
        }
    }
    paintRun();
    return {...view, owner, edge, large, merged, stack};
}

/** Where the band of *row* lies in a stack: its first column, and the bytes below it in each; null: it is not in it. */
export function bandOf(table, {rows, first, last}, row) {
    const at = rows.indexOf(row);
    if (at < 0)
        return null;
    const low = new Float64Array(last[at] - first[at]);
    for (let i = 0; i < at; i++) {
        const end = Math.min(last[i], last[at]);
        for (let c = Math.max(first[i], first[at]); c < end; c++)
            low[c - first[at]] += table.bytes[rows[i]];
    }
    return {first: first[at], low};
}
