/* SPDX-License-Identifier: Apache-2.0
 *
 * The lanes below the timeline as lists of rows by start: steps, ranges by thread and depth, waits and calls by
 * thread, gaps in the work of the device, kernels and copies by stream. For drawing, a lane becomes runs: one per row that is at least
 * a pixel wide, and one per pixel for those that are narrower, with their number. */
import {ACTIVITY_TYPES} from './data.js';
import {formatCount} from './format.js';
import {upperBound} from './liveindex.js';

const DEPTH_MAX = 8;
const ROWS_PER_PAUSE = 4096;
const HOST = 3; // types of activity from here on are of threads: waits, calls, calls of the driver

/** Ends so far, so that the first row that reaches into a window is found by bisection. */
function reachOf(rows, table) {
    const reach = new Float64Array(rows.length);
    let latest = -1;
    for (let i = 0; i < rows.length; i++) {
        latest = Math.max(latest, table.start[rows[i]] + table.duration[rows[i]]);
        reach[i] = latest;
    }
    return reach;
}

function addLane(lanes, key, group, name, what, table, order) {
    let lane = lanes.get(key);
    if (!lane) {
        lane = {key, group, name, what, table, order, list: []};
        lanes.set(key, lane);
    }
    return lane;
}

function finishLanes(lanes) {
    const done = [...lanes.values()].sort((a, b) => a.order - b.order);
    for (const lane of done) {
        lane.rows = Uint32Array.from(lane.list);
        delete lane.list;
        lane.reach = reachOf(lane.rows, lane.table);
    }
    return done;
}

/** The lanes of each thread's ranges by depth, below a heading where there are several threads. */
function addRanges(lanes, ranges) {
    const threads = [...new Set(ranges.thread || [0])];
    for (let i = 0; i < ranges.count; i++) {
        const thread = ranges.thread ? ranges.thread[i] : 0;
        const depth = Math.min(DEPTH_MAX, ranges.depth[i]);
        const rank = threads.indexOf(thread);
        const lane = addLane(lanes, `phase ${rank} ${depth}`, `phases, thread ${thread}`, depth ? '' : 'phases',
            'phase', ranges, 1 + rank * (DEPTH_MAX + 1) + depth);
        lane.headed = threads.length > 1;
        lane.list.push(i);
    }
}

/** Whether a row is work of the device, not a wait or a call of a thread. */
export const isWork = (activity, row) => activity.type[row] < HOST;

/** The key of the lane of a row. */
export function laneKey(activity, row) {
    const type = activity.type[row];
    return type < HOST ? `${type ? 1 : 0} ${activity.stream[row]}` : `host ${activity.thread[row]} ${type}`;
}

/** The times between two pieces of work in which the device had none: of the work before and after each, the rows. */
function gapsOf(activity, device) {
    const gaps = {start: [], duration: [], before: [], after: [], count: 0};
    let last = -1;
    let end = 0;
    for (let i = 0; i < activity.count; i++) {
        if (activity.device[i] !== device || !isWork(activity, i))
            continue;
        if (last >= 0 && activity.start[i] > end) {
            gaps.count = gaps.start.push(end);
            gaps.duration.push(activity.start[i] - end);
            gaps.before.push(last);
            gaps.after.push(i);
        }
        if (last < 0 || activity.start[i] + activity.duration[i] > end) {
            last = i;
            end = activity.start[i] + activity.duration[i];
        }
    }
    return gaps;
}

/** The rows of each call, and of the first work that it began, by their link. @param {Object} activity
 * @returns {{calls: Map<number, number>, work: Map<number, number>}} */
export function linksOf(activity) {
    if (!activity.links) {
        activity.links = {calls: new Map(), work: new Map()};
        for (let i = activity.count; i-- > 0;) {
            const {calls, work} = activity.links;
            const link = activity.link[i];
            if (link && (isWork(activity, i) || !calls.has(link) || activity.type[i] === HOST + 1))
                (isWork(activity, i) ? work : calls).set(link, i);
        }
    }
    return activity.links;
}

function addActivity(lanes, activity, head, device) {
    const base = 1e6;
    const threads = new Map(); // in the order in which they called
    const gaps = gapsOf(activity, device);
    for (let i = 0; i < activity.count; i++) {
        const type = activity.type[i];
        if (activity.device[i] !== device && type <= HOST)
            continue;
        if (type >= HOST) {
            const thread = activity.thread[i];
            if (!threads.has(thread))
                threads.set(thread, threads.size);
            addLane(lanes, laneKey(activity, i), `thread ${thread}`, ['host waits', 'calls', 'driver'][type - HOST],
                'activity', activity, base / 2 + threads.get(thread) * HOST + type).list.push(i);
            continue;
        }
        const stream = activity.stream[i];
        const group = stream && head.streams[stream - 1] ? head.streams[stream - 1].name : 'no stream';
        const row = type === 0 ? 0 : 1;
        const lane = addLane(lanes, laneKey(activity, i), group, ['kernels', 'copies'][row], 'activity', activity,
            base + stream * 2 + row);
        lane.headed = true;
        lane.list.push(i);
    }
    for (const lane of lanes.values())
        lane.headed = lane.headed || (lane.key.startsWith('host ') && threads.size > 1);
    if (gaps.count)
        addLane(lanes, 'idle', 'device', 'idle', 'gap', gaps, base - 1).list = [...gaps.start.keys()];
}

/** The lanes of *device*, top to bottom: {group, name, what, table, rows, reach}. What is not loaded yet
 * is left out. @param {Object} trace @param {number} device @returns {Object[]} */
export function lanesOf(trace, device) {
    const {steps, ranges, activity} = trace.loaded;
    const lanes = new Map();
    if (steps && steps.count) {
        const lane = addLane(lanes, 'steps', 'steps', 'steps', 'step', steps, 0);
        for (let i = 0; i < steps.count; i++)
            lane.list.push(i);
    }
    if (ranges)
        addRanges(lanes, ranges);
    if (activity)
        addActivity(lanes, activity, trace.head, device);
    return finishLanes(lanes);
}

/** First row of a lane that ends after *t*. */
export function firstRow(lane, t) {
    return upperBound(lane.reach, t);
}

/** "step 3", or of steps that the program did not mark "step 3 (found)"; a row may stand for several. */
function stepText(head, number) {
    const several = head.steps_found > 1;
    const last = several ? ` to ${formatCount(number + head.steps_found - 1)}` : '';
    return `step${several ? 's' : ''} ${formatCount(number)}${last}${head.steps_found ? ' (found)' : ''}`;
}

/** Whether a step or a phase is still open at the end of the trace: the program ended in it. */
export function isOpenAtEnd(trace, lane, row) {
    const {table} = lane;
    return lane.what !== 'activity' && lane.what !== 'gap' && table.duration[row] > 0 &&
        table.start[row] + table.duration[row] >= trace.head.duration;
}

/** The name of a row of a lane. @returns {string} */
export function laneText(trace, lane, row) {
    const {table} = lane;
    const open = isOpenAtEnd(trace, lane, row) ? ', not complete' : '';
    if (lane.what === 'step')
        return stepText(trace.head, table.number[row]) + open;
    if (lane.what === 'phase')
        return (trace.head.phases[table.phase[row] - 1] || {name: 'unknown'}).name + open;
    if (lane.what === 'gap')
        return 'idle';
    return trace.head.names[table.name[row]] || ACTIVITY_TYPES[table.type[row]];
}

/** Runs of a lane in from..to, *columns* pixels wide, as a job for a painter: start, end (ns), row (the
 * longest in it), count, busy (ns).
 * @returns {Generator<void, {start: number[], end: number[], row: number[], count: number[], busy: number[]}>} */
export function* runsOfLane(lane, from, to, columns) {
    const {table, rows} = lane;
    const runs = {start: [], end: [], row: [], count: [], busy: []};
    const pixel = (to - from) / columns;
    let merged = -1; // the pixel whose run is last
    let longest = 0;
    for (let i = firstRow(lane, from); i < rows.length; i++) {
        const row = rows[i];
        const start = table.start[row];
        const duration = table.duration[row];
        if (start > to)
            break;
        if (i % ROWS_PER_PAUSE === 0)
            yield;
        if (start + duration < from)
            continue;
        const last = runs.row.length - 1;
        const at = Math.floor((start - from) / pixel);
        if (duration < pixel && merged === at) {
            runs.count[last]++;
            runs.busy[last] += duration;
            if (duration > longest) {
                longest = duration;
                runs.row[last] = row;
            }
            continue;
        }
        const small = duration < pixel;
        merged = small ? at : -1;
        longest = duration;
        runs.start.push(small ? from + at * pixel : start);
        runs.end.push(small ? from + (at + 1) * pixel : start + duration);
        runs.row.push(row);
        runs.count.push(1);
        runs.busy.push(duration);
    }
    return runs;
}
