/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory over time: every allocation as a band of a compact stack, what lives long at the bottom, in an
 * order that no zoom changes (sweep.js). Over it allocated, reserved, tensors and the device in use as
 * curves, the limit, failed requests to scale above what was allocated, crosshair with values; below it
 * a minimap of the whole trace. The curves of the overview are drawn at first; exact ones and the bands
 * follow. */
import {make} from './dom.js';
import {fillLegend, tipNode} from './surface.js';
import {PaintedView} from './painted.js';
import {byteTicks, createByteAxis, visibleTime} from './viewport.js';
import {AXIS_HEIGHT, LIMIT_NEAR, drawByteGrid, drawLimit, drawMissing, drawTimeGrid, limitOf, missingText, plotOf, timeScale}
    from './timegrid.js';
import {hasBlocks, partWithBlocks, seriesOf, sweepSeries, valueAt} from './series.js';
import {bandOf, rasterizeStack, stackRows, sweepColumns} from './sweep.js';
import {groupBlocks} from './grouping.js';
import {describeSegment} from './describe.js';
import {drawBlockLabels, showHeld} from './blockdraw.js';
import {formatBytes, formatNumber, formatTime, shorten} from './format.js';
import {columnsOf, drawCurve, drawMinimap, grabMinimap} from './minimap.js';

const TIMELINE_HEIGHT = 300;
const MINIMAP_HEIGHT = 34;
const LOW_HEIGHT = 200; // a view that is lower has no minimap
const CURVE_FAR = 2.5; // times the stack: such a curve flattens it
const FAILURE_FAR = 3; // times the curves: such a request is cut at the top of the picture
const SCALE_STEPS = 32; // of the scale in a power of two: it stays while what is visible changes little
const BESIDE = 0.25; // painted on each side of what is visible, as a part of it

function failuresOf(trace, device) {
    return (trace.head.failures || []).filter((f) => f.device === device && !f.host);
}

function failuresIn(trace, device, range) {
    return failuresOf(trace, device).filter((f) => f.time >= range.from && f.time <= range.to);
}

class TimelineView extends PaintedView {
    constructor(element, context) {
        super(element, context, {label: 'Memory over time', height: TIMELINE_HEIGHT, legend: true});
        const {trace, state} = context;
        this.minimapPicture = {canvas: document.createElement('canvas'), key: ''};
        this.exact = null; // the latest sweepSeries
        this.summer = this.makePainter(); // of the exact curves
        this.margin = BESIDE;
        this.stack = null; // the latest rows of stackRows
        this.held = make('div.v-legend.v-legend-held.v-legend-chosen', {role: 'group', 'aria-label': 'Legend: groups of allocations'});
        this.surface.legend.after(this.held);
        this.status = make('div.v-bar.v-status');
        element.append(this.status);
        this.vertical = createByteAxis(state, 'bytesFrom', 'bytesTo', () => this.measure().scale.top);
        this.bind({grab: (event) => this.minimap() && grabMinimap(event, this.surface, this.minimap(), trace, state)});
        this.state.subscribe(['from', 'to', 'curves', 'bytesFrom', 'bytesTo'], () => this.redrawAll());
        this.state.subscribe(['cursor'], () => this.sayCursor());
        this.state.subscribe(['bands'], () => this.restart());
        this.followTrace('curves', 'blocks', 'segments', 'steps');
    }

    device() {
        return this.state.get('device');
    }

    what() {
        return this.state.get('bands').slice(0, -1);
    }

    blocksNow() {
        return this.trace.loaded[this.state.get('bands')];
    }

    grouping() {
        return groupBlocks(this.trace, this.state.get('color'), this.state.get('bands'));
    }

    dim() {
        return this.what() === 'block' ? super.dim() : null;
    }

    brief(row) {
        return this.what() === 'block' ? super.brief(row) : describeSegment(this.trace.source, row);
    }

    describe(row) {
        return this.what() === 'block' ? super.describe(row) : describeSegment(this.trace.source, row);
    }

    plot() {
        return plotOf(this.surface, 10, AXIS_HEIGHT + (this.minimap() ? MINIMAP_HEIGHT + 6 : 0));
    }

    /** Where the minimap lies; null: a low view has none. */
    minimap() {
        const {surface} = this;
        return surface.height < LOW_HEIGHT ? null : {...plotOf(surface, 0, 0), top: surface.height - MINIMAP_HEIGHT - 2,
            height: MINIMAP_HEIGHT};
    }

    /** The curves, and the limit, that the legend shows or hides: key and which of both. */
    chosenCurves() {
        return new Map(this.state.get('curves').split(',').filter(Boolean)
            .map((entry) => [entry.slice(0, -2), entry.endsWith('1')]));
    }

    /** Whether a curve is drawn: as chosen, else all but those that would flatten the others. */
    isShown(series) {
        return this.chosenCurves().get(series.key) ?? !this.isFar(series);
    }

    /** Whether a curve is so far above the stack that it would flatten it, and the device is not near its limit. */
    isFar(series) {
        if (series.key === 'limit')
            return this.measure().scale.far;
        const stack = seriesOf(this.trace, this.device()).filter((s) => !s.apart).pop();
        if (!stack || series === stack)
            return false;
        const limit = limitOf(this.trace, this.device());
        return !(limit && series.most > limit.bytes / 2) && series.most > CURVE_FAR * stack.most;
    }

    /** The entry of a curve in the legend. */
    legendEntry({series: s, text}) {
        const shown = this.isShown(s);
        const why = this.isFar(s) ? 'it is so much larger that it would flatten the others' : '';
        const title = shown ? 'hide this curve' : `show this curve${why && `: hidden because ${why}`}`;
        return {color: this.surface.colors[s.color], text: shown ? s.name : `${s.name} (${why ? 'off the scale' : 'hidden'})`,
            value: text, follows: true, line: true, pressed: shown, title, choose: () => this.toggleCurve(s)};
    }

    /** The columns that are drawn of a curve: exact ones if they cover what is visible. */
    drawnColumns(series, range, area) {
        const sweep = this.exact && this.exact.curves[series.key];
        const fresh = sweep && sweep.from <= range.from && sweep.to >= range.to;
        return columnsOf(series, fresh ? sweep : null, range, area);
    }

    /** The bytes at the top of the plot, from the curves, the failed requests and a limit that is near. */
    scaleOf(drawn, range) {
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
        const far = limit && limit.bytes > top * LIMIT_NEAR;
        const near = limit && (this.chosenCurves().get('limit') ?? !far);
        top = Math.max(1024, near ? Math.max(top, limit.bytes) : top) * 1.03;
        const step = 2 ** Math.floor(Math.log2(top)) / SCALE_STEPS;
        return {top: Math.ceil(top / step) * step, limit, near, far};
    }

    /** What is drawn of the curves, and the scale that follows from it; kept while nothing of it changes. */
    measure() {
        const {trace, state, exact} = this;
        const area = this.plot();
        const range = visibleTime(trace, state);
        const inputs = [range.from, range.to, area.width, state.get('curves'), exact,
            trace.loaded.curves, trace.loaded.blocks, trace.loaded.segments, this.what()];
        if (this.measured && inputs.every((value, i) => value === this.measured.inputs[i]))
            return this.measured;
        const curve = (trace.loaded.curves || [])[this.device()];
        const series = seriesOf(trace, this.device());
        const drawn = series.filter((s) => this.isShown(s))
            .map((s) => ({series: s, columns: this.drawnColumns(s, range, area)}));
        const of = this.what() === 'block' ? 'live' : 'reserved';
        const stack = curve && curve[`${of}_max`]
            ? [{columns: columnsOf({time: curve.time, min: curve[`${of}_min`], max: curve[`${of}_max`]}, null, range, area)}] : [];
        return (this.measured = {inputs, series, drawn, scale: this.scaleOf([...drawn, ...stack], range)});
    }

    /** What a failed request is drawn on top of: all that is held from the device. */
    heldSeries() {
        const series = seriesOf(this.trace, this.device());
        return series.find((s) => s.key === 'reserved') || series.find((s) => !s.apart);
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
        const {series, drawn, scale} = this.measure();
        const {placeFrom, placeTo} = this.vertical.now();
        const y = this.vertical.scale(area);
        if (series.length) {
            drawByteGrid(pen, surface, area, byteTicks(placeFrom, placeTo, area.height), y);
            drawTimeGrid(pen, surface, area, range, trace.ticks);
        }
        pen.clip(area.left, area.top - 8, area.width, area.height + 8);
        for (const {series: s, columns} of drawn)
            drawCurve(pen, surface, area, columns, y, s, 'area');
        if (this.blocksNow()) {
            pen.clip(area.left, area.top, area.width, area.height);
            this.drawPictures(pen, area);
            if (pen.finish)
                pen.note('The bands are an image of the pixels on the screen.');
            drawBlockLabels(pen, surface, area, {trace, state, range, x: timeScale(range, area), y}, this.pictures.now, this.grouping(), this.dim());
            pen.unclip();
        }
        for (const {series: s, columns} of drawn)
            drawCurve(pen, surface, area, columns, y, s, 'line');
        if (scale.near)
            drawLimit(pen, surface, area, scale.limit, y);
        if (this.heldSeries())
            this.drawFailures(pen, area, range, y);
        pen.unclip();
        if (!series.length)
            pen.text(area.left + 8, area.top + 20, trace.loaded.curves
                ? 'The trace has no memory of this device.' : 'Reading the curves…', surface.colors.muted, {size: 13});
        if (this.minimap())
            drawMinimap(pen, surface, this.minimap(), trace, state, series.filter((s) => this.isShown(s)), this.minimapPicture);
        drawMissing(pen, surface, {...area, top: area.top + area.height + 1, height: 4}, trace, range);
    }

    drawOver(pen) {
        const {trace, state, surface} = this;
        if (this.blocksNow())
            this.drawOutlines(pen, this.plot());
        this.drawTimes(pen);
        this.showValues();
        if (this.blocksNow())
            showHeld(surface, this.held, trace, state, state.get('bands'));
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
        const limit = limitOf(trace, this.device());
        if (limit)
            values.unshift({series: {key: 'limit', name: limit.name, color: 'series-limit'}, text: formatBytes(limit.bytes)});
        const entries = values.reverse().map((value) => this.legendEntry(value));
        const key = JSON.stringify(entries);
        if (surface.legend.dataset.key === key)
            return;
        surface.legend.dataset.key = key;
        fillLegend(surface.legend, entries);
    }

    toggleCurve(series) {
        const chosen = this.chosenCurves().set(series.key, !this.isShown(series));
        this.state.set({curves: [...chosen].map(([key, shown]) => `${key}:${shown ? 1 : 0}`).join(',')});
    }

    sayCursor() {
        const t = this.state.get('cursor');
        if (t === null)
            return;
        const values = this.valuesAt(t).map(({series: s, text}) => `${s.name} ${text}`).join(', ');
        this.surface.say(`At ${this.trace.textAt(t, this.pixelTime())}: ${values}. ${missingText(this.trace)}`);
    }

    refresh() {
        const {blocks, segments} = this.trace.loaded;
        const known = [blocks, segments].filter(Boolean);
        if (!blocks || !this.surface.width)
            return;
        if (known.every((table) => table.live.deathsNow())) {
            this.refreshCurves();
            super.refresh();
        } else {
            Promise.all(known.map((table) => table.live.deaths())).then(() => this.refresh());
        }
    }

    /** Computes exact columns of the curves for what is visible if the overview is too coarse for it. */
    refreshCurves() {
        const {trace, surface} = this;
        const curve = trace.loaded.curves && trace.loaded.curves[this.device()];
        const range = visibleTime(trace, this.state);
        const columns = Math.round(this.plot().width);
        if (!curve || !hasBlocks(trace, range.from, range.to))
            return;
        if (!curve.coarse && curve.count * (range.to - range.from) / trace.head.duration >= columns * 0.7)
            return; // the overview has a bucket for every pixel
        const margin = (range.to - range.from) / 2;
        const {from, to} = partWithBlocks(trace,
            {from: Math.max(0, range.from - margin), to: Math.min(trace.head.duration, range.to + margin)});
        const wide = Math.round(columns * (to - from) / (range.to - range.from));
        this.summer.next(() => sweepSeries(trace, this.device(), from, to, wide), (result) => {
            this.exact = result;
            surface.redraw();
            super.refresh();
        });
    }

    blockRange(range) {
        return partWithBlocks(this.trace, range);
    }

    *rasterJob(view, spare) {
        const {stack} = this;
        const table = this.blocksNow();
        const {from, to, width, device} = view;
        const same = stack && stack.table === table && stack.view.width === width &&
            ['from', 'to'].every((key) => stack.view[key] === view[key]);
        if (!same) {
            const sweep = yield* sweepColumns(table, {from, to, columns: width, device});
            this.stack = {...yield* stackRows(table, sweep, device), view, table};
        }
        return yield* rasterizeStack(table, this.stack, view, spare);
    }

    /** The block at a point of the window, with its band's part that is there. */
    bandAt(clientX, clientY) {
        const {surface} = this;
        const area = this.plot();
        const {x, y} = this.inPlot(clientX, clientY);
        const picture = this.pictures.now;
        if (x < 0 || y < 0 || x >= area.width || y >= area.height || !this.fits(picture, this.viewNow()))
            return {row: -1};
        const column = Math.floor((visibleTime(this.trace, this.state).from + x * this.pixelTime() - picture.from) / picture.unit);
        if (column < 0 || column >= picture.width)
            return {row: -1};
        const row = picture.owner[Math.floor(y * surface.density) * picture.width + column] - 1;
        const thin = row >= 0 && this.blocksNow().bytes[row] * picture.height < picture.placeTo - picture.placeFrom;
        return {row, note: thin ? 'Thinner than a pixel, merged with its neighbours: zoom in.' : ''};
    }

    /** Columns, pixels and bytes of the band of a row in the present picture; null: it has none. Kept. */
    bandNow(row) {
        const picture = this.pictures.now;
        if (!picture)
            return null;
        if (!this.band || this.band.row !== row || this.band.stack !== picture.stack)
            this.band = {row, stack: picture.stack, found: bandOf(this.blocksNow(), picture.stack, row)};
        return this.band.found;
    }

    bandOf(row) {
        const band = this.bandNow(row);
        const {bytes} = this.blocksNow();
        return band ? {low: band.low.reduce((a, b) => Math.min(a, b), Infinity),
            high: band.low.reduce((a, b) => Math.max(a, b), 0) + bytes[row]} : {low: 0, high: this.vertical.now().end};
    }

    /** The order of the stack. */
    order(rows) {
        const {born, died} = this.blocksNow();
        return rows.sort((a, b) => (died[b] === died[a] ? 0 : died[b] - born[b] - (died[a] - born[a])) || a - b);
    }

    outline(pen, area, row, color, thick) {
        const band = this.bandNow(row);
        if (!band)
            return;
        const {sweep} = this.pictures.now.stack;
        const x = timeScale(visibleTime(this.trace, this.state), area);
        const y = this.vertical.scale(area);
        const unit = (sweep.to - sweep.from) / sweep.columns;
        const size = this.blocksNow().bytes[row];
        const xs = [];
        const ys = [];
        for (let c = 0; c < band.low.length; c++) {
            const [left, right] = [x(sweep.from + (band.first + c) * unit), x(sweep.from + (band.first + c + 1) * unit)];
            if (c && c + 1 < band.low.length && band.low[c] === band.low[c - 1] && band.low[c] === band.low[c + 1])
                continue;
            xs.push(left, right);
            ys.push(y(band.low[c] + size), y(band.low[c] + size));
        }
        const high = y(0) - y(size);
        pen.path([...xs, ...xs.toReversed(), xs[0]], [...ys, ...ys.map((at) => at + high).reverse(), ys[0]], 2 * xs.length + 1, color, thick);
    }

    hoverBlock(event) {
        const failure = event && this.failureAt(event);
        if (!failure)
            return super.hoverBlock(event);
        this.surface.tip.show(event.clientX, event.clientY, tipNode({
            title: `a request of ${formatBytes(failure.bytes)} failed`,
            facts: [['time', formatTime(this.trace.toTime(failure.time))], ['call site', shorten(failure.label || 'unknown', 120)],
                ['afterwards', failure.recovered ? 'the program recovered' : 'the program did not recover']],
        }));
    }

    /** The failed request near the pointer. */
    failureAt(event) {
        const range = visibleTime(this.trace, this.state);
        const t = this.axis.timeAt(event.clientX);
        return failuresIn(this.trace, this.device(), range).find((f) => Math.abs(f.time - t) < 6 * this.pixelTime());
    }

    /** What is merged or left out of the picture. */
    showStatus() {
        const {merged, stack: {unseen}} = this.pictures.now;
        const noun = this.what() === 'block' ? 'allocation' : 'segment';
        this.status.textContent = [
            merged ? `${formatNumber(merged, noun)} thinner than a pixel ${merged === 1 ? 'is' : 'are'} merged by call site.` : '',
            unseen ? `${formatNumber(unseen, noun)} shorter than a pixel ${unseen === 1 ? 'is' : 'are'} not drawn.` : '',
            merged || unseen ? 'Zoom in to see each.' : `Every ${noun} in this part is drawn.`, missingText(this.trace),
        ].filter(Boolean).join(' ');
    }

    /** For each column of pixels the curves, and at the instant of its most the bytes of each group. */
    rows() {
        const {trace} = this;
        const area = this.plot();
        const range = visibleTime(trace, this.state);
        const series = seriesOf(trace, this.device());
        const drawn = series.map((s) => this.drawnColumns(s, range, area));
        const {stack} = this.pictures.now || {};
        const {of, names, order} = stack ? this.grouping() : {order: []};
        const sums = new Map(order.map((group) => [group, new Float64Array(stack.sweep.columns)]));
        for (let i = 0; stack && i < stack.rows.length; i++) {
            const sum = sums.get(of[stack.rows[i]]);
            for (let c = stack.first[i]; c < stack.last[i]; c++)
                sum[c] += this.blocksNow().bytes[stack.rows[i]];
        }
        const groups = order.filter((group) => sums.get(group).some((value) => value > 0));
        const header = ['time_ns', ...series.flatMap((s) => [`${s.key}_min`, `${s.key}_max`]),
            ...stack ? ['at_ns', 'live', ...groups.map((group) => names[group])] : []];
        const stackAt = (t) => {
            const {from, to, columns, at, max} = stack.sweep;
            const c = Math.floor((t - from) * columns / (to - from));
            return c < 0 || c >= columns ? Array(groups.length + 2).fill('')
                : [Math.round(trace.toTime(at[c])), max[c], ...groups.map((group) => sums.get(group)[c])];
        };
        return [header, ...Array.from({length: drawn.length ? drawn[0].min.length : 0}, (_, i) =>
            [Math.round(trace.toTime(drawn[0].time(i))), ...drawn.flatMap((c) => [c.min[i], c.max[i]]), ...stack ? stackAt(drawn[0].time(i)) : []])];
    }
}

export const mountTimeline = (element, context) => new TimelineView(element, context);
