/* SPDX-License-Identifier: Apache-2.0
 *
 * Every change of a device's memory in the order of time: blocks and segments that are allocated and
 * freed, and refused requests. Merged from the rows of the page, which have the times but not the
 * order of what happened in the same ns: memory is freed before other memory is allocated. */
import {isPlaceholder} from './life.js';
import {createLiveIndex, upperBound} from './liveindex.js';
import {inSlices} from './slices.js';
import {liveQueries} from './data.js';
import {formatCount} from './format.js';
import {eventTicks} from './viewport.js';

export const EVENT_NAMES = ['free', 'refused', 'segment free', 'segment alloc', 'alloc'];
const EVENT_KINDS = ['blocks', 'refused', 'segments', 'segments', 'blocks'];
const EVENT_FREE = 0;
const EVENT_ALLOC = 4;
const SUM_EVERY = 1024;

/** The rows of a source in order of time, of one device. */
async function sourcesOf(trace, device) {
    const {head, loaded: {blocks, segments}} = trace;
    const [freed, released] = await Promise.all([blocks.live.deaths(), segments ? segments.live.deaths() : []]);
    const refused = head.failures.map((_, i) => i).filter((i) => !head.failures[i].host)
        .sort((a, b) => head.failures[a].time - head.failures[b].time);
    const none = {count: 0, born: [], died: [], device: []};
    const table = segments || none;
    const time = [(row) => blocks.died[row], (row) => head.failures[row].time, (row) => table.died[row],
        (row) => table.born[row], (row) => blocks.born[row]];
    const keep = [(row) => blocks.device[row] === device && !isPlaceholder({head, loaded: {blocks}}, row), (row) => head.failures[row].device === device,
        (row) => table.device[row] === device, (row) => table.device[row] === device];
    keep.push(keep[EVENT_FREE]);
    return {blocks, time, keep, rows: [freed, refused, released, null, null],
        counts: [freed.length, refused.length, released.length, table.count, blocks.count]};
}

/** @returns {Promise<Object>} count; begun: how many of them stand for what was there before the begin; what(i): index in EVENT_NAMES; kind(i): blocks, segments or refused;
 *   row(i): of these (head.failures); times: ns, of several events in one ns with fractions, so that all differ;
 *   timeOf(i): whole ns; inUse(i): bytes of the blocks that are live after it; at(t): the last event at or before *t*,
 *   -1: none; of(row): the one in which block *row* was allocated */
export async function listEvents(trace, device) {
    const {blocks, time, keep, rows, counts} = await sourcesOf(trace, device);
    const {bytes, born, died, phase} = blocks;
    const before = 1 + trace.head.phases.findIndex(({name}) => name === 'before the recording'); // of vramscope attach, and of snapshots
    const all = counts.reduce((sum, n) => sum + n, 0);
    const what = new Uint8Array(all);
    const row = new Uint32Array(all);
    const times = new Float64Array(all);
    const sums = new Float64Array(Math.ceil(all / SUM_EVERY) + 1); // before every SUM_EVERY events
    const at = counts.map(() => 0);
    const head = (w) => (at[w] < counts[w] ? (rows[w] ? rows[w][at[w]] : at[w]) : -1);
    const next = counts.map((_, w) => (head(w) < 0 ? Infinity : time[w](head(w))));
    const change = (w, r) => (w === EVENT_ALLOC ? bytes[r] : w === EVENT_FREE ? -bytes[r] : 0);
    let count = 0;
    let begun = 0;
    let sum = 0;
    await inSlices(all, 1 << 14, (from, to) => {
        for (let i = from; i < to; i++) {
            let w = EVENT_ALLOC;
            for (let other = EVENT_ALLOC - 1; other >= 0; other--) {
                if (next[other] <= next[w] && !(other === EVENT_FREE && died[head(EVENT_FREE)] === born[head(EVENT_FREE)] && head(EVENT_FREE) >= at[EVENT_ALLOC]))
                    w = other;
            }
            const [r, t] = [head(w), next[w]];
            at[w]++;
            next[w] = head(w) < 0 ? Infinity : time[w](head(w));
            if (!keep[w](r))
                continue;
            if (count % SUM_EVERY === 0)
                sums[count / SUM_EVERY] = sum;
            what[count] = w;
            times[count] = t;
            row[count++] = r;
            sum += change(w, r);
            if (before && w === EVENT_ALLOC && phase[r] === before)
                begun = count;
        }
    });
    for (let first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && times[next] === times[first]; next++);
        for (let i = first; i < next; i++)
            times[i] += (i - first) / (next - first);
    }
    const list = {
        count,
        begun,
        times,
        what: (i) => what[i],
        row: (i) => row[i],
        kind: (i) => EVENT_KINDS[what[i]],
        timeOf: (i) => Math.floor(times[i]),
        inUse(i) {
            let bytesNow = sums[Math.floor(i / SUM_EVERY)];
            for (let k = i - i % SUM_EVERY; k <= i; k++)
                bytesNow += change(what[k], row[k]);
            return bytesNow;
        },
        at: (t) => upperBound(times, t, count) - 1,
        of(block) {
            let i = Math.max(0, list.at(born[block]));
            while (i < count && !(what[i] === EVENT_ALLOC && row[i] === block))
                i++;
            return i;
        },
    };
    return list;
}

/** Rows that begin and last by the numbers of events. */
async function inEvents(table, numberAt) {
    if (!table)
        return table;
    const [start, duration] = [new Float64Array(table.count), new Float64Array(table.count)];
    await inSlices(table.count, 1 << 14, (from, to) => {
        for (let i = from; i < to; i++) {
            start[i] = numberAt(table.start[i]);
            duration[i] = numberAt(table.start[i] + table.duration[i]) - start[i];
        }
    });
    return {...table, start, duration};
}

/** What views over time are given so that their axis has a step for each event of *device* instead of one for each ns: the
 * trace with the numbers of events as its times, and a state that converts its own. source: what they are made from.
 * @returns {Promise<{trace: Object, state: Object, device: number}>} */
export async function countedTrace(trace, state, device) {
    await Promise.all([trace.activity, trace.blocks]); // the last sections
    const {head, loaded} = trace;
    const {blocks, segments} = loaded;
    const list = await listEvents(trace, device);
    const {begun} = list;
    const count = list.count - begun;
    const times = new Float64Array(count + 2); // of the numbers 0 (the begin) to count + 1 (the end)
    times.set(list.times.subarray(begun, list.count), 1);
    times[count + 1] = Math.max(head.duration, times[count] + 1);
    const toTime = (number) => {
        const n = Math.max(0, Math.min(count, Math.floor(number)));
        return times[n] + (times[n + 1] - times[n]) * (number - n);
    };
    const numberAt = (t) => {
        const n = Math.max(0, Math.min(count, upperBound(times, t) - 1));
        return Math.max(0, Math.min(count + 1, n + (t - times[n]) / (times[n + 1] - times[n])));
    };
    const numbers = EVENT_KINDS.map((kind) => new Float64Array((kind === 'refused' ? head.failures.length : (loaded[kind] || {count: 0}).count)));
    for (let i = begun; i < list.count; i++)
        numbers[list.what(i)][list.row(i)] = i + 1 - begun;
    const counted = async (table, born, died) => {
        for (let i = 1; i < table.count; i++)
            born[i] = born[i] || born[i - 1]; // of another device: births ascend
        const numbered = {...table, born, died: died.map((number, i) => (table.died[i] === Infinity ? Infinity : Math.max(number, born[i]))), source: table};
        return Object.assign(numbered, {live: await createLiveIndex(numbered)});
    };
    const [free, refused, released, reserved, alloc] = numbers;
    const spanAt = (span) => span && {...span, from: numberAt(span.from), to: numberAt(span.to)};
    const now = {...loaded, blocks: await counted(blocks, alloc, free), segments: segments && await counted(segments, reserved, released),
        curves: loaded.curves.map((curve) => curve && {...curve, time: curve.time.map(numberAt), series: null, coarse: true})};
    for (const name of ['steps', 'ranges', 'activity'])
        now[name] = await inEvents(loaded[name], numberAt);
    const axisKeys = ['from', 'to', 'cursor', 'cursor2', 'hover'];
    const converted = (key, value, convert) => (axisKeys.includes(key) && value !== null ? convert(value) : value);
    return {device, trace: {...trace, ...liveQueries(() => now.blocks), loaded: now, source: trace, toTime, ticks: eventTicks, spanLeast: 4,
        head: {...head, duration: count + 1, window: spanAt(head.window),
            failures: head.failures.map((failure, i) => ({...failure, time: refused[i]}))},
        textAt: (number) => `event ${formatCount(Math.floor(number))} of ${formatCount(count)}`,
        cursorAt: () => numberAt(trace.cursorAt(state))},
    state: {...state, source: state, get: (key) => converted(key, state.get(key), numberAt),
        set: (changes) => state.set(Object.fromEntries(Object.entries(changes).map(([key, value]) => [key, converted(key, value, toTime)])))}};
}
