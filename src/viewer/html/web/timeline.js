/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory over time: allocated, reserved, tensors and the device in use as curves, the limit, failed
 * requests to scale above what was allocated, crosshair with values, and below a minimap of the whole
 * trace. At first the overview of the page is drawn; where its buckets are wider than a pixel, exact
 * values are computed from the blocks. */
import {createPainter} from './slices.js';
import {createNode, createSurface, fillLegend, tipNode} from './surface.js';
import {bindTimeAxis, byteTicks, instantText, showTime, visibleTime} from './viewport.js';
import {AXIS_HEIGHT, drawByteGrid, drawCursors, drawMissing, drawTimeGrid, drawTimeMark, missingText, plotOf,
    timeScale} from './timegrid.js';
import {hasBlocks, seriesOf, sweepSeries, valueAt} from './series.js';
import {formatBytes, shorten} from './format.js';
import {drawMinimap, grabMinimap} from './minimap.js';
import {columnsOf, drawCurve} from './curve.js';

const TIMELINE_HEIGHT = 300;
const MINIMAP_HEIGHT = 34;
const USED_FAR = 4; // times the reserved bytes: such a curve of the device flattens the others
const FAILURE_FAR = 3; // times the curves: such a request is cut at the top of the picture
const LIMIT_NEAR = 1.35; // a limit up to this many times the curves is drawn to scale

function limitOf(trace, device) {
    const row = trace.head.devices[device] || {};
    if (row.limit)
        return {bytes: row.limit, name: 'limit'};
    return row.total ? {bytes: row.total, name: 'device memory'} : null;
}

function failuresOf(trace, device) {
    return (trace.head.failures || []).filter((f) => f.device === device && !f.host);
}

function failuresIn(trace, device, range) {
    return failuresOf(trace, device).filter((f) => f.time >= range.from && f.time <= range.to);
}

/** @param {HTMLElement} element @param {{trace: Object, other: Object, state: Object}} context
 * @returns {{svg: function(): string, rows: function(): Array[], destroy: function(): void}} */
export function mountTimeline(element, {trace, state}) {
    const painter = createPainter();
    const minimapPicture = {canvas: document.createElement('canvas'), key: ''};
    let exact = null; // the latest sweepSeries
    let wholeScale = false; // the limit is drawn to scale although it is far above the curves
    const chosen = {}; // key of a curve: whether the legend shows it
    const surface = createSurface(element, state, {label: 'Memory over time', height: TIMELINE_HEIGHT, legend: true,
        draw: drawTimeline, drawOver: drawTimelineMarks, onSize: refine});
    const device = () => state.get('device');
    const pixelTime = () => (visibleTime(trace, state).to - visibleTime(trace, state).from) / plot().width;
    const plot = () => plotOf(surface, 10, AXIS_HEIGHT + MINIMAP_HEIGHT + 6);
    const minimap = () => ({left: surface.gutter, top: surface.height - MINIMAP_HEIGHT - 2,
        width: plot().width, height: MINIMAP_HEIGHT});

    /** Whether a curve is drawn: as chosen, else all but a device in use that would flatten the others. */
    function isShown(series) {
        if (chosen[series.key] !== undefined)
            return chosen[series.key];
        const held = heldSeries();
        const most = (values) => values.reduce((a, b) => Math.max(a, b), 0);
        if (series.key !== 'used' || !held)
            return true;
        const limit = limitOf(trace, device());
        const full = limit && most(series.max) > limit.bytes / 2;
        return full || most(series.max) <= USED_FAR * most(held.max);
    }
    /** The columns that are drawn of a curve: exact ones if they cover what is visible. */
    function drawnColumns(series, range, area) {
        const sweep = exact && exact.device === device() ? exact.curves[series.key] : null;
        const fresh = sweep && sweep.from <= range.from && sweep.to >= range.to;
        return columnsOf(series, fresh ? sweep : null, range, area);
    }
    function scaleOf(drawn, range, area) {
        let top = 0;
        for (const {columns} of drawn)
            top = columns.max.reduce((a, b) => Math.max(a, b), top);
        const held = heldSeries();
        const curves = top;
        for (const failure of held ? failuresIn(trace, device(), range) : []) {
            const needed = failure.bytes + valueAt(trace, held, device(), failure.time).value;
            top = Math.max(top, needed > curves * FAILURE_FAR ? curves * 1.5 : needed);
        }
        const limit = limitOf(trace, device());
        const near = limit && (wholeScale || limit.bytes <= top * LIMIT_NEAR);
        top = Math.max(1024, near ? Math.max(top, limit.bytes) : top) * 1.06;
        return {top, limit, near, y: (bytes) => area.top + area.height * (1 - bytes / top)};
    }
    /** What a failed request is drawn on top of: all that is held from the device. */
    function heldSeries() {
        const series = seriesOf(trace, device());
        return series.find((s) => s.key === 'reserved') || series.find((s) => s.key !== 'used');
    }
    function drawLimit(pen, area, {limit, near, y}) {
        if (!limit)
            return;
        const color = surface.colors['series-limit'];
        if (near) {
            pen.line(area.left, y(limit.bytes), area.left + area.width, y(limit.bytes), color, 1.5, [6, 4]);
            pen.text(area.left + 6, y(limit.bytes) - 4, `${limit.name} ${formatBytes(limit.bytes)}`, color, {weight: '600', halo: surface.colors.panel});
        }
    }
    function drawFailures(pen, area, range, y) {
        const color = surface.colors.danger;
        const x = timeScale(range, area);
        for (const failure of failuresIn(trace, device(), range)) {
            const at = x(failure.time);
            const {value} = valueAt(trace, heldSeries(), device(), failure.time);
            const top = Math.max(area.top - 8, y(value + failure.bytes));
            const cut = y(value + failure.bytes) < area.top - 8;
            pen.line(at, area.top, at, area.top + area.height, color, 1);
            pen.rect(at - 4, top, 8, Math.max(2, y(value) - top), color, 0.35);
            pen.frame(at - 4, top, 8, Math.max(2, y(value) - top), color);
            const left = at > area.left + area.width / 2;
            const text = `${failure.recovered ? 'failed, recovered' : 'out of memory'}: ${formatBytes(failure.bytes)}${cut ? ', more than fits here' : ''}`;
            const room = left ? at - area.left - 12 : area.left + area.width - at - 12;
            const fits = pen.measure(text, {weight: '600'}) < room;
            pen.text(at + (left ? -8 : 8), Math.max(area.top + 12, top + 4), fits ? text : `failed: ${formatBytes(failure.bytes)}`, color,
                {align: left ? 'right' : 'left', weight: '600', halo: surface.colors.panel});
        }
    }
    function drawTimeline(pen) {
        const range = visibleTime(trace, state);
        const area = plot();
        const series = seriesOf(trace, device());
        const drawn = series.filter(isShown).map((s) => ({series: s, columns: drawnColumns(s, range, area)}));
        const scale = scaleOf(drawn, range, area);
        drawByteGrid(pen, surface, area, byteTicks(0, scale.top, area.height), scale.y);
        drawTimeGrid(pen, surface, area, range);
        pen.clip(area.left, area.top - 8, area.width, area.height + 8);
        for (const {series: s, columns} of drawn)
            drawCurve(pen, surface, area, columns, scale.y, s);
        drawLimit(pen, area, scale);
        if (heldSeries())
            drawFailures(pen, area, range, scale.y);
        pen.unclip();
        if (!series.length)
            pen.text(area.left + 8, area.top + 20, trace.loaded.curves
                ? 'The trace has no memory of this device.' : 'Reading the curves…', surface.colors.muted, {size: 13});
        drawMinimap(pen, surface, minimap(), trace, state, series.filter(isShown), minimapPicture);
        drawMissing(pen, surface, {...area, top: area.top + area.height - 6, height: 6}, trace, range);
    }
    function drawTimelineMarks(pen) {
        const area = plot();
        drawCursors(pen, surface, area, trace, state);
        drawTimeMark(pen, surface, area, trace, state);
        showValues();
    }
    function valuesAt(t) {
        return seriesOf(trace, device()).map((s) => {
            const {value, exact: isExact} = valueAt(trace, s, device(), t);
            return {series: s, value, text: value === null ? 'unknown' : `${isExact || s.key === 'used' ? '' : '≤ '}${formatBytes(value)}`};
        });
    }
    function showValues() {
        const t = state.get('hover') ?? trace.cursorAt(state);
        const values = valuesAt(t);
        const entries = values.reverse().map(({series: s, text}) => ({color: surface.colors[s.color], text: s.name, value: text,
            line: s.key === 'used', pressed: isShown(s), title: isShown(s) ? 'hide this curve' : 'show this curve',
            choose: () => toggleCurve(s)}));
        const limit = limitOf(trace, device());
        if (limit)
            entries.push({color: surface.colors['series-limit'], line: true, text: limit.name, value: formatBytes(limit.bytes),
                title: 'draw the whole scale up to it', pressed: wholeScale, choose: toggleScale, toggles: false});
        const key = JSON.stringify([entries, t]);
        if (surface.legend.dataset.key === key)
            return;
        surface.legend.dataset.key = key;
        fillLegend(surface.legend, entries);
        surface.legend.append(createNode('span', 'v-at', `at ${instantText(t, pixelTime())}`));
    }
    function toggleCurve(series) {
        chosen[series.key] = !isShown(series);
        surface.redraw();
        surface.redrawOver();
    }
    function toggleScale() {
        wholeScale = !wholeScale;
        surface.redraw();
        surface.redrawOver();
    }
    function sayCursor() {
        const t = state.get('cursor');
        if (t !== null)
            surface.say(`At ${instantText(t, pixelTime())}: ${valuesAt(t).map(({series: s, text}) => `${s.name} ${text}`).join(', ')}. ` +
                missingText(trace));
    }
    /** Computes exact columns for what is visible if the overview is too coarse for it. */
    function refine() {
        const {blocks, segments, curves} = trace.loaded;
        const range = visibleTime(trace, state);
        const columns = Math.round(plot().width);
        const curve = curves && curves[device()];
        if (!blocks || !curve || !hasBlocks(trace, range.from, range.to) || !surface.width)
            return;
        if (curve.count * (range.to - range.from) / trace.head.duration >= columns * 0.7)
            return; // the overview has a bucket for every pixel
        const known = [blocks, segments].filter(Boolean);
        if (!known.every((table) => table.live.deathsNow())) {
            Promise.all(known.map((table) => table.live.deaths())).then(refine);
            return;
        }
        const margin = (range.to - range.from) / 2;
        const from = Math.max(0, range.from - margin);
        const to = Math.min(trace.head.duration, range.to + margin);
        const wide = Math.round(columns * (to - from) / (range.to - range.from));
        painter.next(() => sweepSeries(trace, device(), from, to, wide), (result) => {
            exact = result;
            surface.redraw();
        });
    }
    function hoverFailure(event) {
        const {left, width} = plot();
        const range = visibleTime(trace, state);
        const t = axis.timeAt(event.clientX);
        const near = (range.to - range.from) / width * 6;
        const failure = failuresIn(trace, device(), range).find((f) => Math.abs(f.time - t) < near);
        if (!failure || event.clientX < left)
            return surface.tip.hide();
        surface.tip.show(event.clientX, event.clientY, tipNode({
            title: `a request of ${formatBytes(failure.bytes)} failed`,
            facts: [['time', instantText(failure.time, 1e6)], ['call site', shorten(failure.label || 'unknown', 300)],
                ['afterwards', failure.recovered ? 'the program recovered' : 'the program did not recover']],
        }));
    }
    const axis = bindTimeAxis(trace, state, {
        frame: surface.frame, plot,
        grab: (event) => grabMinimap(event, surface, minimap(), trace, state),
        hover(event) {
            const inside = event && event.clientX - surface.frame.getBoundingClientRect().left >= surface.gutter;
            state.set({hover: inside ? axis.timeAt(event.clientX) : null});
            if (inside)
                hoverFailure(event);
            else
                surface.tip.hide();
        },
        click: (event) => state.set({cursor: axis.timeAt(event.clientX), cursor2: null}),
    });
    surface.frame.addEventListener('dblclick', (event) => {
        const {from, to} = visibleTime(trace, state);
        const t = axis.timeAt(event.clientX);
        showTime(trace, state, t - (to - from) / 8, t + (to - from) / 8);
    });
    const redrawAll = () => {
        surface.redraw();
        surface.redrawOver();
        refine();
    };
    const unsubscribe = [
        state.subscribe(['from', 'to', 'device'], redrawAll),
        state.subscribe(['cursor', 'cursor2', 'hover'], surface.redrawOver),
        state.subscribe(['cursor'], sayCursor),
    ];
    for (const name of ['curves', 'blocks', 'segments'])
        trace[name].then(redrawAll, redrawAll);
    return {
        svg: () => surface.toSvg('Memory over time'),
        rows() {
            const range = visibleTime(trace, state);
            const series = seriesOf(trace, device());
            const drawn = series.map((s) => drawnColumns(s, range, plot()));
            const header = ['time_ns', ...series.flatMap((s) => [`${s.key}_min`, `${s.key}_max`])];
            return [header, ...Array.from({length: drawn.length ? drawn[0].min.length : 0}, (_, i) =>
                [Math.round(drawn[0].time(i)), ...drawn.flatMap((c) => [c.min[i], c.max[i]])])];
        },
        destroy() {
            painter.stop();
            unsubscribe.forEach((call) => call());
            surface.destroy();
        },
    };
}
