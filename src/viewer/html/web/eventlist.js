/* SPDX-License-Identifier: Apache-2.0
 *
 * Every change of a device's memory in the order of time: blocks and segments that are allocated and
 * freed, and refused requests. Merged from the rows of the page, which have the times but not the
 * order of what happened in the same ns: memory is freed before other memory is allocated. */
import {isPlaceholder} from './life.js';
import {inSlices} from './slices.js';

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
    const keep = [(row) => blocks.device[row] === device && !isPlaceholder(trace, row), (row) => head.failures[row].device === device,
        (row) => table.device[row] === device, (row) => table.device[row] === device];
    keep.push(keep[EVENT_FREE]);
    return {time, keep, rows: [freed, refused, released, null, null],
        counts: [freed.length, refused.length, released.length, table.count, blocks.count]};
}

/** @returns {Promise<Object>} count; what(i): index in EVENT_NAMES; kind(i): blocks, segments or refused;
 *   row(i): of these (head.failures); timeOf(i); inUse(i): bytes of the blocks that are live after it; firstAt(t): the
 *   first event at or after *t*; of(row): the one in which block *row* was allocated */
export async function listEvents(trace, device) {
    const {time, keep, rows, counts} = await sourcesOf(trace, device);
    const {bytes, born, died} = trace.loaded.blocks;
    const all = counts.reduce((sum, n) => sum + n, 0);
    const what = new Uint8Array(all);
    const row = new Uint32Array(all);
    const sums = new Float64Array(Math.ceil(all / SUM_EVERY) + 1); // before every SUM_EVERY events
    const at = counts.map(() => 0);
    const head = (w) => (at[w] < counts[w] ? (rows[w] ? rows[w][at[w]] : at[w]) : -1);
    const next = counts.map((_, w) => (head(w) < 0 ? Infinity : time[w](head(w))));
    const change = (w, r) => (w === EVENT_ALLOC ? bytes[r] : w === EVENT_FREE ? -bytes[r] : 0);
    let count = 0;
    let sum = 0;
    await inSlices(all, 1 << 14, (from, to) => {
        for (let i = from; i < to; i++) {
            let w = EVENT_ALLOC;
            for (let other = EVENT_ALLOC - 1; other >= 0; other--) {
                if (next[other] <= next[w] && !(other === EVENT_FREE && died[head(EVENT_FREE)] === born[head(EVENT_FREE)] && head(EVENT_FREE) >= at[EVENT_ALLOC]))
                    w = other;
            }
            const r = head(w);
            at[w]++;
            next[w] = head(w) < 0 ? Infinity : time[w](head(w));
            if (!keep[w](r))
                continue;
            if (count % SUM_EVERY === 0)
                sums[count / SUM_EVERY] = sum;
            what[count] = w;
            row[count++] = r;
            sum += change(w, r);
        }
    });
    const list = {
        count,
        what: (i) => what[i],
        row: (i) => row[i],
        kind: (i) => EVENT_KINDS[what[i]],
        timeOf: (i) => time[what[i]](row[i]),
        inUse(i) {
            let bytesNow = sums[Math.floor(i / SUM_EVERY)];
            for (let k = i - i % SUM_EVERY; k <= i; k++)
                bytesNow += change(what[k], row[k]);
            return bytesNow;
        },
        firstAt(t) {
            let low = 0;
            for (let high = count; low < high;) {
                const middle = (low + high) >>> 1;
                if (list.timeOf(middle) < t)
                    low = middle + 1;
                else
                    high = middle;
            }
            return low;
        },
        of(block) {
            let i = list.firstAt(born[block]);
            while (i < count && !(what[i] === EVENT_ALLOC && row[i] === block))
                i++;
            return i;
        },
    };
    return list;
}
