/* SPDX-License-Identifier: Apache-2.0
 *
 * Which blocks are live: rows in order of birth, with the latest death of every 32 and 1024 rows, so
 * that a query skips the rows that were freed before it. A second index, the rows in order of their
 * deaths, is built when it is first needed. */
import {inSlices} from './slices.js';

const FINE = 5;
const COARSE = 10;

/** First index whose value is > *value*. @param {ArrayLike<number>} sorted @param {number} value
 * @param {number} [count] @returns {number} */
export function upperBound(sorted, value, count = sorted.length) {
    let low = 0;
    let high = count;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (sorted[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** First index in *order*, rows by death, whose row died after *t*. */
export function firstDeathAfter(order, died, t) {
    let low = 0;
    let high = order.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (died[order[middle]] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

async function deathsOfGroups(died, shift) {
    const latest = new Float64Array((died.length >> shift) + 1);
    await inSlices(died.length, 1 << 16, (from, to) => {
        for (let i = from; i < to; i++) {
            if (died[i] > latest[i >> shift])
                latest[i >> shift] = died[i];
        }
    });
    return latest;
}

/** Rows by death, those that are never freed left out: radix sort by 16 bits.
 * @param {Float64Array} died @returns {Promise<Uint32Array>} */
export async function sortByDeath(died) {
    let count = 0;
    let latest = 0;
    await inSlices(died.length, 1 << 16, (from, to) => {
        for (let i = from; i < to; i++) {
            if (died[i] !== Infinity) {
                count++;
                latest = Math.max(latest, died[i]);
            }
        }
    });
    let order = new Uint32Array(count);
    let at = 0;
    await inSlices(died.length, 1 << 16, (from, to) => {
        for (let i = from; i < to; i++) {
            if (died[i] !== Infinity)
                order[at++] = i;
        }
    });
    let other = new Uint32Array(count);
    const digits = new Uint16Array(count);
    for (let unit = 1; unit <= latest; unit *= 65536) {
        const starts = new Uint32Array(65537);
        await inSlices(count, 1 << 15, (from, to) => {
            for (let i = from; i < to; i++) {
                const digit = Math.floor(died[order[i]] / unit) % 65536;
                digits[i] = digit;
                starts[digit + 1]++;
            }
        });
        for (let i = 0; i < 65536; i++)
            starts[i + 1] += starts[i];
        await inSlices(count, 1 << 15, (from, to) => {
            for (let i = from; i < to; i++)
                other[starts[digits[i]]++] = order[i];
        });
        [order, other] = [other, order];
    }
    return order;
}

/** The index of a table with columns born (ascending) and died.
 * @param {{count: number, born: Float64Array, died: Float64Array}} table
 * @returns {Promise<Object>} visit(t0, t1, call): rows live at any time of t0..t1, in order of birth;
 *   steps(t0, t1, call): the same as a generator that pauses every 1024 rows; collect(t0, t1, keep);
 *   deaths(): promise of the rows by death; deathsNow(): these rows, or null if not built yet */
export async function createLiveIndex(table) {
    const {born, died, count} = table;
    const fine = await deathsOfGroups(died, FINE);
    const coarse = await deathsOfGroups(died, COARSE);
    let order = null;
    let building = null;

    function visitGroup(group, end, t0, call) {
        for (let i = group << COARSE; i < end; i++) {
            if ((i & 31) === 0 && fine[i >> FINE] <= t0)
                i += 31;
            else if (died[i] > t0)
                call(i);
        }
    }
    function* steps(t0, t1, call) {
        const end = upperBound(born, t1, count);
        for (let group = 0; group << COARSE < end; group++) {
            if (coarse[group] > t0) {
                visitGroup(group, Math.min(end, (group + 1) << COARSE), t0, call);
                yield group;
            }
        }
    }
    function visit(t0, t1, call) {
        const walk = steps(t0, t1, call);
        while (!walk.next().done);
    }
    function collect(t0, t1, keep) {
        const rows = [];
        visit(t0, t1, (i) => {
            if (!keep || keep(i))
                rows.push(i);
        });
        return Uint32Array.from(rows);
    }
    function deaths() {
        building = building || sortByDeath(died).then((rows) => (order = rows));
        return building;
    }
    return {visit, steps, collect, deaths, deathsNow: () => order};
}
