/* SPDX-License-Identifier: Apache-2.0
 *
 * A curve as columns of at least one pixel, each with the least and the most bytes in it, and how it
 * is drawn: an area up to the most, a line on top, and the range between least and most. */
import {upperBound} from './liveindex.js';

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

/** Draws the columns of a curve as steps. @param {Object} pen @param {Object} surface
 * @param {{left: number, top: number, width: number, height: number}} plot
 * @param {{min: Float64Array, max: Float64Array}} columns @param {function(number): number} y
 * @param {{key: string, color: string}} series */
export function drawCurve(pen, surface, plot, columns, y, series) {
    const color = surface.colors[series.color];
    const unit = plot.width / columns.max.length;
    const bottom = plot.top + plot.height;
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
        if (series.apart) {
            pen.path(xs, tops, count, color, 1.5, [5, 3]);
            continue;
        }
        pen.polygon([...xs, xs[count - 1], xs[0]], [...tops, bottom, bottom], count + 2, color, 0.16);
        pen.polygon([...xs, ...xs.slice().reverse()], [...tops, ...lows.reverse()], 2 * count, color, 0.3);
        pen.path(xs, tops, count, color, 1.25);
    }
}
