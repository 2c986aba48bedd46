/* SPDX-License-Identifier: Apache-2.0
 *
 * What the segment map says: names of its groups, what they hold, the failure that is shown, and when
 * memory changes next. */
import {upperBound} from './liveindex.js';
import {formatBytes, formatNumber, printable} from './format.js';

/** "stream 2, small pool". */
export function streamText(trace, group) {
    const {streams} = trace.head;
    const stream = group.stream && streams[group.stream - 1] ? printable(streams[group.stream - 1].name) : '';
    if (group.loose)
        return [stream, 'memory allocated without a cache'].filter(Boolean).join(', ');
    const name = (trace.head.pools || [])[group.pool - 1];
    const pool = !group.pool ? '' : name ? `, ${printable(name)} pool` : `, pool ${group.pool}`;
    return `${stream || 'device memory, stream not recorded'}${pool}`;
}

/** What a group of segments holds, in a sentence. */
export function groupText(trace, group) {
    const noun = group.loose ? 'allocation' : 'segment';
    const first = `${formatNumber(group.segments.length, noun)}, ${formatBytes(group.bytes)}`;
    if (group.loose)
        return first;
    const holes = group.holes ? `, free ${formatBytes(group.free)} in ${formatNumber(group.holes, 'hole')}, the largest ` +
        formatBytes(group.largest) : ', no hole';
    return `${first}: in use ${formatBytes(group.used)} in ${formatNumber(group.blocks, 'block')}${holes}`;
}

/** The failure nearest to *t* on a device; null: none failed. */
export function failureNear(trace, device, t) {
    const failures = (trace.head.failures || []).filter((f) => f.device === device && !f.host);
    return failures.reduce((best, f) => !best || Math.abs(f.time - t) < Math.abs(best.time - t) ? f : best, null);
}

/** The first birth or death after (before) *t*; null: none. */
export function changeNear(blocks, t, direction) {
    const {born, died, count} = blocks;
    const order = blocks.live.deathsNow() || [];
    const birth = direction > 0 ? upperBound(born, t, count) : upperBound(born, t - 1, count) - 1;
    let low = 0;
    let high = order.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (direction > 0 ? died[order[middle]] <= t : died[order[middle]] < t)
            low = middle + 1;
        else
            high = middle;
    }
    const death = direction > 0 ? low : low - 1;
    const times = [birth >= 0 && birth < count ? born[birth] : NaN,
        death >= 0 && death < order.length ? died[order[death]] : NaN].filter((time) => !Number.isNaN(time));
    return times.length ? (direction > 0 ? Math.min(...times) : Math.max(...times)) : null;
}
