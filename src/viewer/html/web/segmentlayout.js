/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the segment map draws what: the segments that are live at an instant, by stream and pool, one
 * after another on lines of one scale, as text flows; a segment that does not fit on the rest of a line
 * goes on in the next. */
import {firstDeathAfter, upperBound} from './liveindex.js';
import {formatBytes, formatNumber, printable} from './format.js';

/** Height of a line and of a heading, in pixels. */
export const LINE_HEIGHT = 18;
export const LINE_STEP = 23;
export const HEADING_STEP = 24;
const SEGMENT_LEAST = 3;
const SEGMENT_GAP = 3;
const LINES_MAX = 600;

/** The state of a device's memory at *t*, by stream and pool.
 * @param {Object} trace with blocks and segments loaded @param {number} device @param {number} t
 * @returns {{stream: number, pool: number, loose: boolean, segments: Object[], bytes: number, used: number,
 *   blocks: number, holes: number, free: number, largest: number}[]} segments: {row, bytes, place, blocks}:
 *   their blocks by address; row -1 for a block that is no part of a segment (group loose) */
export function segmentsAt(trace, device, t) {
    const {blocks, segments} = trace.loaded;
    const groups = new Map();
    const byRow = new Map();
    const groupOf = (stream, pool, loose) => {
        const key = `${loose} ${stream} ${pool}`;
        if (!groups.has(key))
            groups.set(key, {stream, pool, loose, segments: [], bytes: 0, used: 0, blocks: 0, holes: 0, free: 0, largest: 0});
        return groups.get(key);
    };
    if (segments) {
        segments.live.visit(t, t, (row) => {
            if (segments.device[row] !== device)
                return;
            const segment = {row, bytes: segments.bytes[row], place: segments.place[row], blocks: []};
            byRow.set(row, segment);
            groupOf(segments.stream[row], segments.pool[row], false).segments.push(segment);
        });
    }
    blocks.live.visit(t, t, (i) => {
        if (blocks.device[i] !== device)
            return;
        const segment = blocks.segment[i] ? byRow.get(blocks.segment[i] - 1) : null;
        if (segment)
            segment.blocks.push(i);
        else
            groupOf(blocks.stream[i], 0, true).segments.push(
                {row: -1, bytes: blocks.bytes[i], place: blocks.place[i], blocks: [i]});
    });
    const sorted = [...groups.values()].sort((a, b) => a.loose - b.loose || a.stream - b.stream || a.pool - b.pool);
    for (const group of sorted)
        addUp(group, blocks);
    return sorted;
}

function addUp(group, blocks) {
    group.segments.sort((a, b) => a.place - b.place);
    for (const segment of group.segments) {
        segment.blocks.sort((a, b) => blocks.place[a] - blocks.place[b]);
        segment.holes = [];
        let at = segment.place;
        const end = segment.place + segment.bytes;
        for (const row of segment.blocks) {
            if (blocks.place[row] > at)
                segment.holes.push([at, blocks.place[row]]);
            at = Math.max(at, blocks.place[row] + blocks.bytes[row]);
            group.used += blocks.bytes[row];
        }
        if (at < end)
            segment.holes.push([at, end]);
        group.bytes += segment.bytes;
        group.blocks += segment.blocks.length;
        group.holes += segment.holes.length;
        for (const [from, to] of segment.holes) {
            group.free += to - from;
            group.largest = Math.max(group.largest, to - from);
        }
    }
}

/** Bytes per pixel at which *groups* fill *height* pixels of lines of *width*.
 * @param {number} bytes that must fit (the most that is ever held) */
export function scaleToFit(groups, bytes, width, height) {
    const lines = Math.max(2, Math.floor((height - groups.reduce((sum, group) => sum + (group.heading || HEADING_STEP), 0)) / LINE_STEP) - groups.length);
    return Math.max(1, bytes / (lines * width) * 1.05);
}

/** The pieces of one run of *bytes* from pixel *x* of line *line* on. */
function flow(position, bytes, unit, width, piece) {
    let left = 0;
    const least = SEGMENT_LEAST * unit;
    while (left < bytes) {
        const room = (width - position.x) * unit;
        if (room < least) {
            position.x = 0;
            position.line++;
            continue;
        }
        const take = Math.min(bytes - left, room);
        const pixels = Math.max(SEGMENT_LEAST, take / unit);
        piece(position.x, position.line, pixels, left, left + take);
        position.x += pixels;
        left += take;
    }
}

/** Lays the groups out, each below its heading (group.heading pixels). @param {number} unit bytes per pixel @param {number} top first pixel
 * @returns {{pieces: Object[], headings: Object[], height: number, leftOut: number}} pieces: {x, y, width,
 *   from, to (bytes of the segment), segment, group}; leftOut: segments beyond the last line */
export function layOutSegments(groups, unit, width, top) {
    const pieces = [];
    const headings = [];
    let y = top;
    let lines = 0;
    let leftOut = 0;
    for (const group of groups) {
        headings.push({group, y});
        y += group.heading || HEADING_STEP;
        const position = {x: 0, line: 0};
        for (const segment of group.segments) {
            if (lines + position.line > LINES_MAX) {
                leftOut++;
                continue;
            }
            flow(position, segment.bytes, unit, width, (x, line, pixels, from, to) =>
                pieces.push({x, y: y + line * LINE_STEP, width: pixels, from, to, segment, group}));
            position.x += SEGMENT_GAP;
        }
        lines += position.line + 1;
        y += (position.line + 1) * LINE_STEP + 4;
    }
    return {pieces, headings, height: y, leftOut};
}

/** The pieces of a failed request on lines of the same scale, at most *most* lines of it. */
export function layOutRequest(bytes, unit, width, top, most) {
    const pieces = [];
    const position = {x: 0, line: 0};
    flow(position, Math.min(bytes, unit * width * most), unit, width, (x, line, pixels) =>
        pieces.push({x, y: top + line * LINE_STEP, width: pixels}));
    return {pieces, lines: pieces.length ? pieces[pieces.length - 1].y : top, cut: bytes > unit * width * most};
}

/* What the segment map says: names of its groups, what they hold, the failure that is shown, and when
 * memory changes next. */

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
