/* SPDX-License-Identifier: Apache-2.0
 *
 * What differs between two traces, as data: the figures of their reports, the groups of blocks live
 * at their peaks, their phases. Groups and phases are matched by name. */
import {formatBytes, formatBytesApart} from '../format.js';
import {wholeOf} from './verdict.js';
import {groupBlocks} from '../grouping.js';

/** [{label, a, b}]: bytes, or counts where *count*; null where a trace does not have the figure. */
export function comparedFigures(a, b, device) {
    const of = (trace) => trace.head.report.devices[device];
    const [x, y] = [of(a), of(b)];
    if (!x || !y)
        return [];
    const free = (d) => (d.device_memory.highest_use ? d.device_memory.highest_use.free_bytes : null);
    const tensors = (d) => (d.framework ? d.framework.peak_allocated_bytes : null);
    const steps = ({head}) => (head.report.steps.done ? head.report.steps.total_ns / head.report.steps.done : null);
    const named = x.framework || y.framework || {};
    const rows = [
        {label: x.framework || y.framework ? 'Device peak' : 'Peak allocated', a: x.peak_allocated.bytes, b: y.peak_allocated.bytes},
        {label: 'Peak reserved', a: x.peak_reserved.bytes, b: y.peak_reserved.bytes},
        {label: `${named.name} ${named.contents}, peak`, a: tensors(x), b: tensors(y)},
        {label: 'Lowest free memory seen', a: free(x), b: free(y), moreIsBetter: true},
        {label: 'Device memory', a: wholeOf(x), b: wholeOf(y), moreIsBetter: true},
        {label: 'Allocations failed', a: a.head.report.failure_count, b: b.head.report.failure_count, unit: 'count'},
        {label: 'Mean step', a: steps(a), b: steps(b), unit: 'time'},
    ];
    return rows.filter((row) => row.a !== null || row.b !== null);
}

/** What `vramscope diff` finds to be one call site in both traces: {devices: [{names, a, b}], renamed: [{was, is}]};
 * a and b: of each call site its number, from 1; null without a second trace. */
export function comparedSites(trace) {
    const element = document.getElementById('compared');
    trace.compared = trace.compared || (element ? JSON.parse(element.textContent) : null);
    return trace.compared;
}

function groupsAt({trace, at, rows}, device, key, numbers, names) {
    const grouping = groupBlocks(trace, key);
    const {blocks} = trace.loaded;
    const sums = new Map();
    for (const row of rows || trace.liveAt(at, device)) {
        const group = grouping.of[row];
        const number = numbers && numbers[blocks.site[row]];
        const name = number ? names[number - 1] : grouping.names[group];
        const sum = sums.get(number || name) || {name, group, bytes: 0, blocks: 0};
        sum.bytes += blocks.bytes[row];
        sum.blocks++;
        sums.set(number || name, sum);
    }
    return sums;
}

/** Groups live at two times, of one trace or of two, the largest change first: {name, a, b, blocksA, blocksB,
 * status, group}. Call sites of two traces are one where `vramscope diff` says so.
 * @param {{trace: Object, at: number}[]} moments two, in ns; or with *rows* of blocks instead of those live then @param {string} key of GROUPINGS */
export function comparedGroups(moments, device, key) {
    const two = moments[0].trace !== moments[1].trace && key === 'site' ? comparedSites(moments[1].trace) : null;
    const {a, b, names} = (two && two.devices[device]) || {};
    const [before, after] = moments.map((moment, i) => groupsAt(moment, device, key, i ? b : a, names));
    const none = {bytes: 0, blocks: 0};
    const rows = [...new Set([...before.keys(), ...after.keys()])].map((one) => {
        const [x, y] = [before.get(one) || none, after.get(one) || none];
        const status = !before.has(one) ? 'new' : !after.has(one) ? 'gone'
            : y.bytes > x.bytes ? 'grown' : y.bytes < x.bytes ? 'shrunk' : 'same';
        const {name, group} = before.get(one) || y;
        return {name, a: x.bytes, b: y.bytes, blocksA: x.blocks, blocksB: y.blocks, status, group};
    });
    return rows.sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a) || y.b - x.b || (x.name < y.name ? -1 : 1));
}

/** Phases by path: {path, depth, timeA, timeB, peakA, peakB}; null where a trace lacks one. */
export function comparedPhases(a, b, device) {
    const of = (trace) => new Map(trace.head.report.phases.map((phase) => {
        const peak = phase.peak_allocated.find((row) => row.device === trace.head.report.devices[device].device);
        return [phase.path, {depth: phase.depth, time: phase.time_ns, peak: peak ? peak.bytes : null}];
    }));
    const [x, y] = [of(a), of(b)];
    return [...new Set([...x.keys(), ...y.keys()])].map((path) => {
        const [p, q] = [x.get(path), y.get(path)];
        return {path, depth: (p || q).depth, timeA: p ? p.time : null, timeB: q ? q.time : null,
            peakA: p ? p.peak : null, peakB: q ? q.peak : null};
    });
}

/** "B peaks 3.5 GiB lower than A: 90.0 MiB instead of 3.6 GiB". */
export function differenceSentence(a, b, device) {
    const [x, y] = [a, b].map((trace) => trace.head.report.devices[device]);
    if (!x || !y)
        return 'The traces have no device in common';
    const [from, to] = [x.peak_allocated.bytes, y.peak_allocated.bytes];
    if (from === to)
        return `Both peak at ${formatBytes(from)}`;
    const [before, after] = formatBytesApart(from, to);
    return `B peaks ${formatBytes(Math.abs(to - from))} ${to > from ? 'higher' : 'lower'} than A: ${after} instead of ${before}`;
}
