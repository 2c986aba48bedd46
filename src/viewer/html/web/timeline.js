/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory over time: allocated, reserved, tensors and the device in use as curves, the limit, failed
 * requests to scale above what was allocated, crosshair with values, and below a minimap of the whole
 * trace. At first the overview of the page is drawn; where its buckets are wider than a pixel, exact
 * values are computed from the blocks. */
import {make} from './dom.js';
import {fillLegend, tipNode} from './surface.js';
import {ChartView} from './view.js';
import {bindTimeAxis, byteTicks, instantText, visibleTime} from './viewport.js';
import {AXIS_HEIGHT, drawByteGrid, drawMissing, drawTimeGrid, missingText, plotOf, timeScale} from './timegrid.js';
import {hasBlocks, partWithBlocks, seriesOf, sweepSeries, valueAt} from './series.js';
import {formatBytes, formatTime, shorten} from './format.js';
import {columnsOf, drawCurve, drawMinimap, grabMinimap} from './minimap.js';

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

class TimelineView extends ChartView {
    constructor(element, context) {
        super(element, context, {label: 'Memory over time', height: TIMELINE_HEIGHT, legend: true});
        const {trace, state} = context;
        this.minimapPicture = {canvas: document.createElement('canvas'), key: ''};
        this.exact = null; // the latest sweepSeries
        this.wholeScale = false; // the limit is drawn to scale although it is far above the curves
        this.axis = bindTimeAxis(trace, state, {
            frame: this.surface.frame, plot: () => this.plot(),
            grab: (event) => grabMinimap(event, this.surface, this.minimap(), trace, state),
            hover: (event) => {
                if (event)
                    this.hoverFailure(event);
                else
                    this.surface.tip.hide();
            },
            click: (event) => this.setCursor(event),
        });
        this.zoomOnDoubleClick();
        this.follow(['from', 'to', 'device', 'curves'], () => this.redrawAll());
        this.follow(['cursor', 'cursor2', 'hover'], this.surface.redrawOver);
        this.follow(['cursor'], () => this.sayCursor());
        this.followTrace('curves', 'blocks', 'segments');
    }

    device() {
        return this.state.get('device');
    }

    plot() {
        return plotOf(this.surface, 10, AXIS_HEIGHT + MINIMAP_HEIGHT + 6);
    }

    minimap() {
        const {surface} = this;
        return {left: surface.gutter, top: surface.height - MINIMAP_HEIGHT - 2,
            width: this.plot().width, height: MINIMAP_HEIGHT};
    }

    /** The curves that the legend shows or hides: key and which of both. */
    chosenCurves() {
        return new Map(this.state.get('curves').split(',').filter(Boolean)
            .map((entry) => [entry.slice(0, -2), entry.endsWith('1')]));
    }

    /** Whether a curve is drawn: as chosen, else all but those that would flatten the others. */
    isShown(series) {
        return this.chosenCurves().get(series.key) ?? !this.isFar(series);
    }

    /** Whether a curve of other memory is so far above that of the program's that it would flatten it. */
    isFar(series) {
        const held = this.heldSeries();
        const most = (values) => values.reduce((a, b) => Math.max(a, b), 0);
        if (!series.apart || !held)
            return false;
        const limit = limitOf(this.trace, this.device());
        const full = series.key === 'used' && limit && most(series.max) > limit.bytes / 2;
        return !full && most(series.max) > USED_FAR * most(held.max);
    }

    /** The entry of a curve in the legend. */
    legendEntry({series: s, text}) {
        const shown = this.isShown(s);
        const why = this.isFar(s) ? 'it is so much larger that it would flatten the others' : '';
        const title = shown ? 'hide this curve' : `show this curve${why && `: hidden because ${why}`}`;
        return {color: this.surface.colors[s.color], text: shown ? s.name : `${s.name} (hidden${why && ', off the scale'})`,
            value: text, follows: true, line: s.apart, pressed: shown, title, choose: () => this.toggleCurve(s)};
    }

    /** The columns that are drawn of a curve: exact ones if they cover what is visible. */
    drawnColumns(series, range, area) {
        const sweep = this.exact && this.exact.device === this.device() ? this.exact.curves[series.key] : null;
        const fresh = sweep && sweep.from <= range.from && sweep.to >= range.to;
        return columnsOf(series, fresh ? sweep : null, range, area);
    }

    scaleOf(drawn, range, area) {
        const {trace} = this;
        let top = 0;
        for (const {columns} of drawn)
            top = columns.max.reduce((a, b) => Math.max(a, b), top);
        const held = this.heldSeries();
        const curves = top;
        for (const failure of held ? failuresIn(trace, this.device(), range) : []) {
            const needed = failure.bytes + valueAt(trace, held, this.device(), failure.time).value;
            top = Math.max(top, needed > curves * FAILURE_FAR ? curves * 1.5 : needed);
        }
        const limit = limitOf(trace, this.device());
        const near = limit && (this.wholeScale || limit.bytes <= top * LIMIT_NEAR);
        top = Math.max(1024, near ? Math.max(top, limit.bytes) : top) * 1.06;
        return {top, limit, near, y: (bytes) => area.top + area.height * (1 - bytes / top)};
    }

    /** What a failed request is drawn on top of: all that is held from the device. */
    heldSeries() {
        const series = seriesOf(this.trace, this.device());
        return series.find((s) => s.key === 'reserved') || series.find((s) => !s.apart);
    }

    drawLimit(pen, area, {limit, near, y}) {
        const {surface} = this;
        if (!limit)
            return;
        const color = surface.colors['series-limit'];
        if (near) {
            pen.line(area.left, y(limit.bytes), area.left + area.width, y(limit.bytes), color, 1.5, [6, 4]);
            pen.text(area.left + 6, y(limit.bytes) - 4, `${limit.name} ${formatBytes(limit.bytes)}`, color,
                {weight: '600', halo: surface.colors.panel});
        }
    }

    drawFailures(pen, area, range, y) {
        const {trace, surface} = this;
        const color = surface.colors.danger;
        const x = timeScale(range, area);
        for (const failure of failuresIn(trace, this.device(), range)) {
            const at = x(failure.time);
            const {value} = valueAt(trace, this.heldSeries(), this.device(), failure.time);
            const top = Math.max(area.top - 8, y(value + failure.bytes));
            const cut = y(value + failure.bytes) < area.top - 8;
            pen.line(at, area.top, at, area.top + area.height, color, 1);
            pen.rect(at - 4, top, 8, Math.max(2, y(value) - top), color, 0.35);
            pen.frame(at - 4, top, 8, Math.max(2, y(value) - top), color);
            const left = at > area.left + area.width / 2;
            const size = formatBytes(failure.bytes);
            const text = `${failure.recovered ? 'failed, recovered' : 'out of memory'}: ${size}${cut ? ', more than fits here' : ''}`;
            const room = left ? at - area.left - 12 : area.left + area.width - at - 12;
            const fits = pen.measure(text, {weight: '600'}) < room;
            this.drawFailureLabel(pen, at + (left ? -8 : 8), Math.max(area.top + 12, top - 5),
                fits ? text : `failed: ${size}`, left);
        }
    }

    /** On a ground of its own: the curves would run through the gaps between its words. */
    drawFailureLabel(pen, x, y, text, left) {
        const {colors} = this.surface;
        const width = pen.measure(text, {weight: '600'});
        pen.rect(x - (left ? width : 0) - 3, y - 12, width + 6, 16, colors.panel, 0.9);
        pen.text(x, y, text, colors.danger, {align: left ? 'right' : 'left', weight: '600', halo: colors.panel});
    }

    draw(pen) {
        const {trace, state, surface} = this;
        const range = visibleTime(trace, state);
        const area = this.plot();
        const series = seriesOf(trace, this.device());
        const drawn = series.filter((s) => this.isShown(s))
            .map((s) => ({series: s, columns: this.drawnColumns(s, range, area)}));
        const scale = this.scaleOf(drawn, range, area);
        this.limitDrawn = scale.near;
        if (series.length) {
            drawByteGrid(pen, surface, area, byteTicks(0, scale.top, area.height), scale.y);
            drawTimeGrid(pen, surface, area, range);
        }
        pen.clip(area.left, area.top - 8, area.width, area.height + 8);
        for (const {series: s, columns} of drawn)
            drawCurve(pen, surface, area, columns, scale.y, s);
        this.drawLimit(pen, area, scale);
        if (this.heldSeries())
            this.drawFailures(pen, area, range, scale.y);
        pen.unclip();
        if (!series.length)
            pen.text(area.left + 8, area.top + 20, trace.loaded.curves
                ? 'The trace has no memory of this device.' : 'Reading the curves…', surface.colors.muted, {size: 13});
        drawMinimap(pen, surface, this.minimap(), trace, state, series.filter((s) => this.isShown(s)), this.minimapPicture);
        drawMissing(pen, surface, {...area, top: area.top + area.height + 1, height: 4}, trace, range);
    }

    drawOver(pen) {
        this.drawTimes(pen);
        this.showValues();
    }

    valuesAt(t) {
        const {trace} = this;
        return seriesOf(trace, this.device()).map((s) => {
            const {value, exact: isExact} = valueAt(trace, s, this.device(), t);
            const bound = isExact || s.key === 'used' ? '' : '≤ ';
            return {series: s, value, text: value === null ? 'unknown' : `${bound}${formatBytes(value)}`};
        });
    }

    showValues() {
        const {trace, state, surface} = this;
        const t = state.get('hover') ?? trace.cursorAt(state);
        const values = this.valuesAt(t);
        const entries = values.reverse().map((value) => this.legendEntry(value));
        const limit = limitOf(trace, this.device());
        if (limit)
            entries.push({
                color: surface.colors['series-limit'], line: true, off: !this.limitDrawn,
                text: this.limitDrawn ? limit.name : `${limit.name} (off the scale)`, value: formatBytes(limit.bytes),
                title: 'draw the whole scale up to it', pressed: this.wholeScale, toggles: false,
                choose: () => this.toggleScale(),
            });
        const key = JSON.stringify([entries, t]);
        if (surface.legend.dataset.key === key)
            return;
        surface.legend.dataset.key = key;
        fillLegend(surface.legend, entries);
        surface.legend.append(make('span.v-at', {}, `at ${instantText(t, this.pixelTime())}`));
    }

    toggleCurve(series) {
        const chosen = this.chosenCurves().set(series.key, !this.isShown(series));
        this.state.set({curves: [...chosen].map(([key, shown]) => `${key}:${shown ? 1 : 0}`).join(',')});
    }

    toggleScale() {
        const {surface} = this;
        this.wholeScale = !this.wholeScale;
        surface.redraw();
        surface.redrawOver();
    }

    sayCursor() {
        const t = this.state.get('cursor');
        if (t === null)
            return;
        const values = this.valuesAt(t).map(({series: s, text}) => `${s.name} ${text}`).join(', ');
        this.surface.say(`At ${instantText(t, this.pixelTime())}: ${values}. ${missingText(this.trace)}`);
    }

    /** Computes exact columns for what is visible if the overview is too coarse for it. */
    refresh() {
        const {trace, surface} = this;
        const {blocks, segments, curves} = trace.loaded;
        const range = visibleTime(trace, this.state);
        const columns = Math.round(this.plot().width);
        const curve = curves && curves[this.device()];
        if (!blocks || !curve || !hasBlocks(trace, range.from, range.to) || !surface.width)
            return;
        if (curve.count * (range.to - range.from) / trace.head.duration >= columns * 0.7)
            return; // the overview has a bucket for every pixel
        const known = [blocks, segments].filter(Boolean);
        if (!known.every((table) => table.live.deathsNow())) {
            Promise.all(known.map((table) => table.live.deaths())).then(() => this.refresh());
            return;
        }
        const margin = (range.to - range.from) / 2;
        const {from, to} = partWithBlocks(trace,
            {from: Math.max(0, range.from - margin), to: Math.min(trace.head.duration, range.to + margin)});
        const wide = Math.round(columns * (to - from) / (range.to - range.from));
        this.painter.next(() => sweepSeries(trace, this.device(), from, to, wide), (result) => {
            this.exact = result;
            surface.redraw();
        });
    }

    hoverFailure(event) {
        const {trace, surface} = this;
        const {width} = this.plot();
        const range = visibleTime(trace, this.state);
        const t = this.axis.timeAt(event.clientX);
        const near = (range.to - range.from) / width * 6;
        const failure = failuresIn(trace, this.device(), range).find((f) => Math.abs(f.time - t) < near);
        if (!failure)
            return surface.tip.hide();
        surface.tip.show(event.clientX, event.clientY, tipNode({
            title: `a request of ${formatBytes(failure.bytes)} failed`,
            facts: [['time', formatTime(failure.time)], ['call site', shorten(failure.label || 'unknown', 300)],
                ['afterwards', failure.recovered ? 'the program recovered' : 'the program did not recover']],
        }));
    }

    rows() {
        const {trace} = this;
        const range = visibleTime(trace, this.state);
        const series = seriesOf(trace, this.device());
        const drawn = series.map((s) => this.drawnColumns(s, range, this.plot()));
        const header = ['time_ns', ...series.flatMap((s) => [`${s.key}_min`, `${s.key}_max`])];
        return [header, ...Array.from({length: drawn.length ? drawn[0].min.length : 0}, (_, i) =>
            [Math.round(drawn[0].time(i)), ...drawn.flatMap((c) => [c.min[i], c.max[i]])])];
    }
}

export const mountTimeline = (element, context) => new TimelineView(element, context);
