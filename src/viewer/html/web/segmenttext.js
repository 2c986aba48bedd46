/* SPDX-License-Identifier: Apache-2.0
 *
 * What the segment map says: names of its groups, what they hold, the failure that is shown, and when
 * memory changes next. */
import {firstDeathAfter, upperBound} from './liveindex.js';
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
    const next = direction > 0 ? t : Math.ceil(t) - 1; // births and deaths are whole ns
    const before = direction > 0 ? 0 : 1;
    const birth = upperBound(born, next, count) - before;
    const death = firstDeathAfter(order, died, next) - before;
    const times = [birth >= 0 && birth < count ? born[birth] : NaN,
        death >= 0 && death < order.length ? died[order[death]] : NaN].filter((time) => !Number.isNaN(time));
    return times.length ? (direction > 0 ? Math.min(...times) : Math.max(...times)) : null;
}
