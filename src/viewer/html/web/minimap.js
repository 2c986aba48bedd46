/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole trace in a strip below the timeline, with a window over what is visible: drag the window
 * to pan, its edges to zoom, anywhere else to go there. */
import {columnsOf, drawCurve} from './curve.js';
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
