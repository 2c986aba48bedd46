/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole trace in a strip below the timeline, with a window over what is visible: drag the window
 * to pan, its edges to zoom, anywhere else to go there. */
import {upperBound} from './liveindex.js';
import {canvasPen} from './pen.js';
import {showTime, visibleTime} from './viewport.js';

const EDGE_PIXELS = 6;

/** The curves of the whole trace and the failures. */
function drawWhole(pen, surface, box, trace, series) {
    const whole = {from: 0, to: Math.max(1, trace.head.duration)};
    const drawn = series.filter((s) => !s.apart).slice(-2).map((s) => ({s, columns: columnsOf(s, null, whole, box)}));
    const top = drawn.reduce((most, {columns}) => columns.max.reduce((a, b) => Math.max(a, b), most), 1);
    pen.rect(box.left, box.top, box.width, box.height, surface.colors.background);
    pen.clip(box.left, box.top, box.width, box.height);
    for (const {s, columns} of drawn)
        drawCurve(pen, surface, box, columns, (bytes) => box.top + box.height * (1 - bytes / top / 1.05), s);
    for (const failure of trace.head.failures || []) {
        const at = box.left + box.width * failure.time / whole.to;
        pen.line(at, box.top, at, box.top + box.height, surface.colors.danger, 1.5);
    }
    pen.unclip();
}

/** Draws the curves from *picture*, which is painted anew when something else is to be on it.
 * @param {Object[]} series curves of the device, the widest first
 * @param {{canvas: HTMLCanvasElement, key: string}} picture */
export function drawMinimap(pen, surface, box, trace, state, series, picture) {
    const {colors, density} = surface;
    if (pen.finish) {
        drawWhole(pen, surface, box, trace, series);
    } else {
        const key = [box.width, box.height, density, surface.theme, state.get('device'), ...series.map((s) => s.key)].join();
        if (picture.key !== key) {
            picture.key = key;
            Object.assign(picture.canvas, {width: Math.round(box.width * density), height: Math.round(box.height * density)});
            const context = picture.canvas.getContext('2d');
            context.scale(density, density);
            drawWhole(canvasPen(context), surface, {...box, left: 0, top: 0}, trace, series);
        }
        pen.image(picture.canvas, box.left, box.top, box.width, box.height);
    }
    const duration = Math.max(1, trace.head.duration);
    const {from, to} = visibleTime(trace, state);
    const left = box.left + box.width * from / duration;
    const right = Math.max(left + 2, box.left + box.width * to / duration);
    pen.rect(box.left, box.top, left - box.left, box.height, colors.background, 0.65);
    pen.rect(right, box.top, Math.max(0, box.left + box.width - right), box.height, colors.background, 0.65);
    pen.frame(box.left + 0.5, box.top + 0.5, box.width - 1, box.height - 1, colors.grid);
    if (from > 0 || to < duration) {
        pen.frame(left, box.top + 1, right - left, box.height - 2, colors.accent, 1.5);
        for (const edge of [left, right])
            pen.rect(edge - 2, box.top + box.height / 2 - 7, 4, 14, colors.accent);
    }
}

/** Takes over a drag that starts in the minimap; null where it starts elsewhere.
 * @returns {(function(PointerEvent): void)|null} */
export function grabMinimap(event, surface, box, trace, state) {
    const frame = surface.frame.getBoundingClientRect();
    const y = event.clientY - frame.top;
    const x = event.clientX - frame.left;
    if (y < box.top || y > box.top + box.height || x < box.left - EDGE_PIXELS)
        return null;
    const duration = Math.max(1, trace.head.duration);
    const timeOf = (clientX) => (clientX - frame.left - box.left) / box.width * duration;
    let {from, to} = visibleTime(trace, state);
    const near = (t) => Math.abs(box.left + box.width * t / duration - x) <= EDGE_PIXELS;
    if (near(from) && !(near(to) && timeOf(event.clientX) > to) && from > 0)
        return (move) => showTime(trace, state, Math.min(timeOf(move.clientX), to), to);
    if (near(to) && to < duration)
        return (move) => showTime(trace, state, from, Math.max(timeOf(move.clientX), from));
    const start = timeOf(event.clientX);
    if (start < from || start > to) {
        [from, to] = [start - (to - from) / 2, start + (to - from) / 2];
        showTime(trace, state, from, to);
    }
    return (move) => {
        const by = timeOf(move.clientX) - start;
        showTime(trace, state, from + by, to + by);
    };
}

/* A curve as columns of at least one pixel, each with the least and the most bytes in it, and how it is
 * drawn: an area up to the most, a line on top, and the range between least and most. */

/** The columns of what is visible, at most one per pixel.
 * @param {{time: ArrayLike<number>, min: ArrayLike<number>, max: ArrayLike<number>}} series overview
 * @param {Object|null} sweep exact columns (sweep.js) that cover the range, instead of the overview
 * @param {{from: number, to: number}} range @param {{width: number}} plot
 * @returns {{min: Float64Array, max: Float64Array, time: function(number): number, from: number, to: number}} */
export function columnsOf(series, sweep, range, plot) {
    const count = Math.max(1, Math.round(plot.width));
    const min = new Float64Array(count).fill(Infinity);
    const max = new Float64Array(count).fill(-1);
    const width = (range.to - range.from) / count;
    const source = sweep || series;
    const at = sweep ? (i) => sweep.from + i * (sweep.to - sweep.from) / sweep.columns : (i) => series.time[i];
    const first = sweep ? Math.floor((range.from - sweep.from) * sweep.columns / (sweep.to - sweep.from))
        : Math.max(0, upperBound(series.time, range.from) - 1);
    for (let i = Math.max(0, first); i < source.max.length && at(i) < range.to; i++) {
        const left = Math.floor((at(i) - range.from) / width + 1e-6);
        const next = i + 1 < source.max.length ? at(i + 1) : range.to;
        const right = Math.max(left, Math.ceil((next - range.from) / width - 1e-6) - 1);
        for (let c = Math.max(0, left); c <= right && c < count; c++) {
            max[c] = Math.max(max[c], source.max[i]);
            min[c] = Math.min(min[c], source.min[i]);
        }
    }
    for (let c = 0; c < count; c++) {
        if (max[c] < 0)
            min[c] = max[c] = c ? max[c - 1] : 0;
    }
    return {min, max, from: range.from, to: range.to, time: (c) => range.from + (c + 0.5) * width};
}

/** Runs of columns with values; *gaps*: 0 means unknown. */
function runsOf(columns, gaps) {
    const runs = [];
    const {max} = columns;
    for (let c = 0; c < max.length; c++) {
        if (gaps && max[c] === 0)
            continue;
        const start = c;
        while (c + 1 < max.length && !(gaps && max[c + 1] === 0))
            c++;
        runs.push([start, c]);
    }
    return runs;
}

/** Draws the columns of a curve as steps: its area, its line, or both. @param {Object} pen @param {Object} surface
 * @param {{left: number, top: number, width: number, height: number}} plot
 * @param {{min: Float64Array, max: Float64Array}} columns @param {function(number): number} y
 * @param {{key: string, color: string}} series @param {string} [part] area, line */
export function drawCurve(pen, surface, plot, columns, y, series, part) {
    const color = surface.colors[series.color];
    const unit = plot.width / columns.max.length;
    const bottom = y(0);
    for (const [first, last] of runsOf(columns, series.key === 'used')) {
        const xs = [];
        const tops = [];
        const lows = [];
        for (let c = first; c <= last; c++) {
            const same = c > first && c < last && columns.max[c] === columns.max[c - 1] &&
                columns.min[c] === columns.min[c - 1];
            if (same && columns.max[c] === columns.max[c + 1] && columns.min[c] === columns.min[c + 1])
                continue;
            xs.push(plot.left + c * unit, plot.left + (c + 1) * unit);
            tops.push(y(columns.max[c]), y(columns.max[c]));
            lows.push(y(columns.min[c]), y(columns.min[c]));
        }
        const count = xs.length;
        if (part !== 'line' && !series.apart) {
            pen.polygon([...xs, xs[count - 1], xs[0]], [...tops, bottom, bottom], count + 2, color, 0.16);
            pen.polygon([...xs, ...xs.slice().reverse()], [...tops, ...lows.reverse()], 2 * count, color, 0.3);
        }
        if (part !== 'area' && series.apart)
            pen.path(xs, tops, count, color, 1.5, [5, 3]);
        for (let c = first, end; part !== 'area' && !series.apart && c <= last; c = end) {
            for (end = c + 1; end <= last && columns.max[end] === columns.max[c]; end++);
            pen.rect(plot.left + c * unit, y(columns.max[c]) - 0.6, (end - c) * unit, 1.25, color); // no risers: many would hide the bands
        }
    }
}
