/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact sums of live bytes over a window of time, one column per pixel: least and most bytes with the
 * instant of the most, and what each group held at that instant. No peak is lost at any zoom. All
 * are generators that pause often (slices.js). */
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

/** Bytes of each group at the instants of *sweep*: the *most* largest groups, and the rest as one.
 * @param {Object} table @param {Object} sweep from sweepColumns
 * @param {{of: ArrayLike<number>, names: string[]}} grouping @param {number} device
 * @param {number} most
 * @returns {Generator<void, {groups: number[], rows: Float64Array[], rest: number}>} groups: largest
 *   first, -1 for the rest, which stands for *rest* groups */
export function* stackColumns(table, sweep, grouping, device, most) {
    const {born, died, bytes, device: devices} = table;
    const {of, names} = grouping;
    const weight = new Float64Array(names.length);
    const atPeak = new Float64Array(names.length);
    const peak = sweep.at[sweep.max.reduce((best, value, i) => value > sweep.max[best] ? i : best, 0)];
    const span = sweep.to - sweep.from;
    yield* table.live.steps(sweep.from, sweep.to, (i) => {
        if (devices[i] !== device)
            return;
        weight[of[i]] += bytes[i] * (Math.min(died[i], sweep.to) - Math.max(born[i], sweep.from)) / span;
        if (born[i] <= peak && died[i] > peak)
            atPeak[of[i]] += bytes[i];
    });
    const present = names.map((_, g) => g).filter((g) => weight[g] > 0 || atPeak[g] > 0);
    const rank = (g) => Math.max(weight[g], atPeak[g]);
    present.sort((a, b) => rank(b) - rank(a));
    const groups = present.slice(0, most);
    const rest = present.length - groups.length;
    const slot = new Int32Array(names.length).fill(groups.length);
    groups.forEach((g, s) => (slot[g] = s));
    const rows = [...groups, -1].map(() => new Float64Array(sweep.columns + 1));
    yield* table.live.steps(sweep.from, sweep.to, (i) => {
        if (devices[i] !== device)
            return;
        const first = columnFrom(sweep, born[i]);
        const last = died[i] === Infinity ? sweep.columns : columnFrom(sweep, died[i]);
        if (first < last) {
            rows[slot[of[i]]][first] += bytes[i];
            rows[slot[of[i]]][last] -= bytes[i];
        }
    });
    for (const row of rows) {
        for (let c = 1; c <= sweep.columns; c++)
            row[c] += row[c - 1];
    }
    if (!rest)
        rows.pop();
    return {groups: rest ? [...groups, -1] : groups, rows, rest, sweep};
}
