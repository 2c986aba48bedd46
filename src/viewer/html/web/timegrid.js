/* SPDX-License-Identifier: Apache-2.0
 *
 * What all pictures over time have in common: where the plot lies, its grid and ticks, the part of the
 * trace that the page has no blocks of, the cursors and the crosshair under the pointer. */
import {instantText, timeTicks, visibleTime} from './viewport.js';
import {formatBytes, formatCount, formatTime} from './format.js';

/** Space right of every plot, so that views over time have the same axis. */
export const PLOT_RIGHT = 12;
/** Height of the labels of the time axis. */
export const AXIS_HEIGHT = 20;

/** The plot of a view: from its gutter to its right edge.
 * @returns {{left: number, top: number, width: number, height: number}} */
export function plotOf(surface, top, bottom) {
    return {left: surface.gutter, top, width: Math.max(1, surface.width - surface.gutter - PLOT_RIGHT),
        height: Math.max(1, surface.height - top - bottom)};
}

/** ns to pixels for what is visible. @returns {function(number): number} */
export function timeScale(range, plot) {
    const scale = plot.width / (range.to - range.from);
    return (t) => plot.left + (t - range.from) * scale;
}

/** Vertical grid lines and the times below the plot. */
export function drawTimeGrid(pen, surface, plot, range, ticksOf = timeTicks) {
    const {colors} = surface;
    const x = timeScale(range, plot);
    const {ticks, origin} = ticksOf(range.from, range.to, plot.width);
    for (const {at, text} of ticks) {
        const at_x = Math.round(x(at)) + 0.5;
        pen.line(at_x, plot.top, at_x, plot.top + plot.height, colors.grid);
        if (at_x > plot.left + 20 && at_x < plot.left + plot.width - 24)
            pen.text(at_x, plot.top + plot.height + 14, text, colors.muted, {align: 'center'});
    }
    if (origin !== null)
        pen.text(4, plot.top + plot.height + 14, instantText(origin, 1e6), colors.muted);
}

/** Horizontal grid lines with their sizes in the gutter.
 * @param {{at: number, text: string}[]} ticks @param {function(number): number} y */
export function drawByteGrid(pen, surface, plot, ticks, y) {
    const {colors} = surface;
    for (const {at, text} of ticks) {
        const at_y = Math.round(y(at)) + 0.5;
        pen.line(plot.left, at_y, plot.left + plot.width, at_y, colors.grid);
        pen.text(plot.left - 6, at_y + 4, text, colors.muted, {align: 'right', size: surface.gutter < 60 ? 9 : 11});
    }
}

export const LIMIT_NEAR = 1.35; // a limit up to this many times the curves is drawn to scale

/** The limit of a device, or its memory: {bytes, name}; null: not recorded. */
export function limitOf(trace, device) {
    const {limit, total} = trace.head.devices[device] || {};
    return limit || total ? {bytes: limit || total, name: limit ? 'limit' : 'device memory'} : null;
}

export function drawLimit(pen, {colors}, area, limit, y) {
    const at = y(limit.bytes);
    pen.line(area.left, at, area.left + area.width, at, colors['series-limit'], 1.5, [6, 4]);
    pen.text(area.left + 6, at < area.top + 5 ? at + 12 : at - 4, `${limit.name} ${formatBytes(limit.bytes)}`, colors['series-limit'],
        {weight: '600', halo: colors.panel});
}

/** Covers the parts of the plot outside of head.window with stripes: the page has no blocks of them. */
export function drawMissing(pen, surface, plot, trace, range) {
    const part = trace.head.window;
    if (!part)
        return;
    const x = timeScale(range, plot);
    const right = plot.left + plot.width;
    const gaps = [[plot.left, Math.min(right, x(part.from))], [Math.max(plot.left, x(part.to)), right]];
    pen.clip(plot.left, plot.top, plot.width, plot.height);
    for (const [from, to] of gaps) {
        if (to - from < 1)
            continue;
        pen.rect(from, plot.top, to - from, plot.height, surface.colors.panel);
        pen.rect(from, plot.top, to - from, plot.height, surface.colors.grid, 0.5);
        for (let at = from - plot.height; at < to; at += 9)
            pen.line(Math.max(from, at), at < from ? plot.top + plot.height - (from - at) : plot.top + plot.height,
                Math.min(to, at + plot.height), at + plot.height > to ? plot.top + (at + plot.height - to) : plot.top,
                surface.colors.grid);
        if (to - from > 190 && plot.height > 40)
            pen.text((from + to) / 2, plot.top + plot.height / 2, 'blocks of this time are not in the page',
                surface.colors.muted, {align: 'center', size: 12});
    }
    pen.unclip();
}

/** The sentence about head.window, or '' for a page with all blocks. */
export function missingText({source: trace}) {
    const part = trace.head.window;
    if (!part)
        return '';
    const left = part.blocks_left_out ? `, ${formatCount(part.blocks_left_out)} blocks outside of it are left out` : '';
    return `Blocks from ${formatTime(part.from)} to ${formatTime(part.to)} are in this page${left}. ` +
        (trace.head.serve ? 'Zoom in elsewhere to read another part.' : 'For another part: vramscope view --from T --to T');
}

/** Cursors, the span between them, and the crosshair under the pointer. */
export function drawCursors(pen, surface, plot, trace, state) {
    const range = visibleTime(trace, state);
    const x = timeScale(range, plot);
    const {colors} = surface;
    const bottom = plot.top + plot.height;
    const inside = (t) => t !== null && t >= range.from && t <= range.to;
    const cursor = state.get('cursor');
    const second = state.get('cursor2');
    if (cursor !== null && second !== null) {
        const [a, b] = [Math.min(cursor, second), Math.max(cursor, second)];
        const left = Math.max(plot.left, x(a));
        const right = Math.min(plot.left + plot.width, x(b));
        if (right > left)
            pen.rect(left, plot.top, right - left, plot.height, colors.accent, 0.12);
    }
    for (const t of [cursor, second]) {
        if (inside(t))
            pen.line(x(t), plot.top, x(t), bottom, colors.accent, 1.5);
    }
    const hover = state.get('hover');
    if (inside(hover))
        pen.line(x(hover), plot.top, x(hover), bottom, colors.muted, 1, [3, 3]);
}

/** The time under the crosshair (or at the cursor) in a box on the axis. */
export function drawTimeMark(pen, surface, plot, trace, state) {
    const range = visibleTime(trace, state);
    const t = state.get('hover') ?? state.get('cursor');
    if (t === null || t < range.from || t > range.to)
        return;
    const text = trace.textAt(t, (range.to - range.from) / plot.width);
    const width = pen.measure(text, {weight: '600'}) + 10;
    const x = timeScale(range, plot)(t);
    const left = Math.max(plot.left, Math.min(plot.left + plot.width - width, x - width / 2));
    const top = plot.top + plot.height + 2;
    pen.rect(left, top, width, 17, surface.colors.ink);
    pen.text(left + width / 2, top + 12.5, text, surface.colors.panel, {align: 'center', weight: '600'});
}
