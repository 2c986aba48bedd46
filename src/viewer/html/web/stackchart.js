/* SPDX-License-Identifier: Apache-2.0
 *
 * What held the memory over time: the live bytes of each group as stacked areas, the 20 largest of what
 * is visible and the rest as one. Each column shows the instant of its column at which the most was
 * live, so the top of the stack is the exact curve at any zoom. While a gesture runs the latest stack is
 * drawn at its times. */
import {ChartView} from './view.js';
import {fillGroupLegend, tipNode} from './surface.js';
import {bindTimeAxis, byteTicks, instantText, visibleTime} from './viewport.js';
import {drawByteGrid, drawMissing, drawTimeGrid, missingText, timeScale} from './timegrid.js';
import {GROUPINGS} from './grouping.js';
import {cutEnd, shortSite} from './describe.js';
import {partWithBlocks} from './series.js';
import {stackColumns, sweepColumns} from './sweep.js';
import {inkFor, neutralColor, packPixel} from './colors.js';
import {formatBytes, formatCount, formatPercent, formatTime, shorten} from './format.js';

const STACK_HEIGHT = 320;
const STACK_GROUPS = 20;
const LABEL_HEIGHT = 16;

class StackView extends ChartView {
    constructor(element, context) {
        super(element, context, {label: 'Live bytes by group over time', height: STACK_HEIGHT, legend: true});
        const {trace, state} = context;
        this.stack = null; // the latest {groups, rows, rest, sweep, key, device}
        this.whole = null; // the same for the whole trace
        this.wanted = '';
        this.pointed = -1; // row of the stack under the pointer
        this.canvas = document.createElement('canvas');
        this.image = null; // the pixels of *this.canvas*
        this.axis = bindTimeAxis(trace, state, {
            frame: this.surface.frame, plot: () => this.plot(),
            hover: (event) => this.hoverStack(event),
            click: (event) => {
                const found = this.rowAt(event);
                const group = found ? found.s.groups[found.row] : -1;
                this.setCursor(event, state.get('color') === 'site' ? {selected: group >= 0 ? {site: group} : null} : {});
            },
        });
        this.zoomOnDoubleClick();
        this.follow(['from', 'to', 'device', 'color'], () => this.redrawAll());
        this.follow(['cursor', 'cursor2', 'hover'], this.surface.redrawOver);
        this.follow(['cursor'], () => this.sayStack());
        this.followTrace('blocks');
    }

    /** The stack for what is visible: the latest one, or that of the whole trace where it does not reach. */
    stackNow() {
        const {state} = this;
        if (!this.trace.loaded.blocks)
            return null;
        const fits = (s) => s && s.key === state.get('color') && s.device === state.get('device');
        const range = partWithBlocks(this.trace, visibleTime(this.trace, state)) || {from: 0, to: 0};
        if (fits(this.stack) && this.stack.sweep.from <= range.from && this.stack.sweep.to >= range.to)
            return this.stack;
        return [this.whole, this.stack].find(fits) || null;
    }

    *stackJob(job) {
        const {blocks} = this.trace.loaded;
        const sweep = yield* sweepColumns(blocks, job);
        return {...yield* stackColumns(blocks, sweep, this.grouping(), job.device, STACK_GROUPS), ...job};
    }

    refresh() {
        const {trace, state, surface} = this;
        const {blocks} = trace.loaded;
        if (!blocks || !surface.width)
            return;
        if (!blocks.live.deathsNow()) {
            blocks.live.deaths().then(() => this.refresh());
            return;
        }
        const range = visibleTime(trace, state);
        const margin = (range.to - range.from) * 0.1;
        const all = {from: 0, to: trace.head.duration};
        const part = partWithBlocks(trace, {from: Math.max(0, range.from - margin), to: Math.min(all.to, range.to + margin)});
        if (!part)
            return;
        const {from, to} = part;
        const columns = Math.max(8, Math.round(this.plot().width * (to - from) / (range.to - range.from)));
        const job = {from, to, columns, device: state.get('device'), key: state.get('color')};
        if (JSON.stringify(job) === this.wanted)
            return;
        this.wanted = JSON.stringify(job);
        this.painter.next(() => this.stackJob(job), (result) => {
            this.stack = result;
            const most = partWithBlocks(trace, all);
            this.whole = from === most.from && to === most.to ? result : this.whole;
            surface.redraw();
            surface.redrawOver();
        });
    }

    /** First and last column of *s* that are visible. */
    columnsSeen({sweep}) {
        const range = visibleTime(this.trace, this.state);
        const unit = (sweep.to - sweep.from) / sweep.columns;
        return {unit, first: Math.max(0, Math.floor((range.from - sweep.from) / unit)),
            last: Math.min(sweep.columns - 1, Math.ceil((range.to - sweep.from) / unit))};
    }

    topOf(s) {
        const {first, last} = this.columnsSeen(s);
        let top = 1024;
        for (let c = first; c <= last; c++)
            top = Math.max(top, s.sweep.max[c]);
        return top * 1.05;
    }

    colorOf(s, row) {
        const {surface} = this;
        const group = s.groups[row];
        return group < 0 ? neutralColor(surface.theme) : this.grouping().colors(surface.theme)[group];
    }

    nameOf(s, row) {
        const group = s.groups[row];
        return group < 0 ? `${formatCount(s.rest)} other ${GROUPINGS[s.key]}s` : this.grouping().names[group];
    }

    draw(pen) {
        const {trace, surface} = this;
        const area = this.plot();
        const range = visibleTime(trace, this.state);
        const s = this.stackNow();
        if (!s)
            return this.sayWaiting(pen, area.left + 8, area.top + 22);
        const top = this.topOf(s);
        const y = (bytes) => area.top + area.height * (1 - bytes / top);
        drawByteGrid(pen, surface, area, byteTicks(0, top, area.height), y);
        drawTimeGrid(pen, surface, area, range);
        pen.clip(area.left, area.top, area.width, area.height);
        if (pen.finish)
            this.drawAreas(pen, area, s, timeScale(range, area), y);
        else
            pen.image(this.paintAreas(area, s, range, top), area.left, area.top, area.width, area.height);
        this.labelAreas(pen, area, s, timeScale(range, area), y);
        pen.unclip();
        drawMissing(pen, surface, area, trace, range);
    }

    /** The areas as pixels: far less work than polygons of thousands of points. */
    paintAreas(area, s, range, top) {
        const {surface} = this;
        const width = Math.max(1, Math.round(area.width * surface.density));
        const height = Math.max(1, Math.round(area.height * surface.density));
        if (!this.image || this.image.width !== width || this.image.height !== height) {
            this.image = new ImageData(width, height);
            Object.assign(this.canvas, {width, height});
        }
        const pixels = new Uint32Array(this.image.data.buffer);
        pixels.fill(0);
        const {unit} = this.columnsSeen(s);
        const faint = (r) => this.pointed >= 0 && this.pointed !== r;
        const fills = s.rows.map((_, r) => packPixel(this.colorOf(s, r), faint(r) ? 115 : 255));
        for (let x = 0; x < width; x++) {
            const column = Math.floor((range.from + (x + 0.5) * (range.to - range.from) / width - s.sweep.from) / unit);
            if (column < 0 || column >= s.sweep.columns)
                continue;
            let sum = 0;
            let below = height;
            for (let r = 0; r < s.rows.length; r++) {
                sum += s.rows[r][column];
                const line = Math.max(0, Math.round(height * (1 - sum / top)));
                for (let y = line; y < below; y++)
                    pixels[y * width + x] = fills[r];
                below = line;
            }
        }
        this.canvas.getContext('2d').putImageData(this.image, 0, 0);
        return this.canvas;
    }

    /** For export: the areas as polygons. */
    drawAreas(pen, area, s, x, y) {
        const {first, last, unit} = this.columnsSeen(s);
        const count = Math.max(0, last - first + 1);
        const below = new Float64Array(count);
        const xs = new Float64Array(4 * count);
        const ys = new Float64Array(4 * count);
        for (let c = 0; c < count; c++) {
            xs[2 * c] = xs[4 * count - 1 - 2 * c] = x(s.sweep.from + (first + c) * unit);
            xs[2 * c + 1] = xs[4 * count - 2 - 2 * c] = x(s.sweep.from + (first + c + 1) * unit) + 0.3;
        }
        s.rows.forEach((row, r) => {
            for (let c = 0; c < count; c++) {
                ys[4 * count - 1 - 2 * c] = ys[4 * count - 2 - 2 * c] = y(below[c]);
                below[c] += row[first + c];
                ys[2 * c] = ys[2 * c + 1] = y(below[c]);
            }
            pen.polygon(xs, ys, 4 * count, this.colorOf(s, r));
        });
    }

    labelAreas(pen, area, s, x, y) {
        const {first, last, unit} = this.columnsSeen(s);
        const count = Math.max(0, last - first + 1);
        const below = new Float64Array(count);
        s.rows.forEach((row, r) => {
            let tallest = 0;
            for (let c = 0; c < count; c++) {
                below[c] += row[first + c];
                tallest = Math.max(tallest, row[first + c]);
            }
            if (y(0) - y(tallest) >= LABEL_HEIGHT)
                this.labelArea(pen, area, s, r, {row, first, count, x, y, below, color: this.colorOf(s, r), unit});
        });
    }

    /** The name of an area where it is at least as high as its text for long enough. */
    labelArea(pen, area, s, r, {row, first, count, x, y, below, color, unit}) {
        const most = row.subarray(first, first + count).reduce((a, b) => Math.max(a, b), 0);
        const least = Math.max((LABEL_HEIGHT - 2) / (y(0) - y(1)), most / 2);
        let best = null;
        for (let c = 0, start = -1, low = 0, high = Infinity; c <= count; c++) {
            const bottom = c < count ? below[c] - row[first + c] : 0;
            const fits = c < count && row[first + c] >= least && Math.min(high, below[c]) - Math.max(low, bottom) >= least;
            if (fits) {
                start = start < 0 ? c : start;
                low = Math.max(low, bottom);
                high = Math.min(high, below[c]);
                continue;
            }
            if (start >= 0 && (!best || c - start > best.length))
                best = {start, length: c - start, low, high};
            start = -1;
            low = 0;
            high = Infinity;
        }
        if (!best)
            return;
        const left = Math.max(area.left, x(s.sweep.from + (first + best.start) * unit));
        const right = Math.min(area.left + area.width, x(s.sweep.from + (first + best.start + best.length) * unit));
        const letters = Math.floor((right - left - 12) / 6.2);
        if (letters >= 8)
            pen.text(left + 6, y((best.low + best.high) / 2) + 4, cutEnd(shortSite(this.nameOf(s, r)), letters),
                inkFor(color), {size: 11});
    }

    /** Bytes of each row of the stack in the column of *t*: {values, at}; null where it has none. */
    valuesAt(t) {
        const s = this.stackNow();
        if (!s || t < s.sweep.from || t > s.sweep.to)
            return null;
        const column = Math.min(s.sweep.columns - 1, Math.floor((t - s.sweep.from) / this.columnsSeen(s).unit));
        return {s, at: s.sweep.at[column], values: s.rows.map((row) => row[column]), total: s.sweep.max[column]};
    }

    /** Bytes of each row of the stack at *t* itself, as the other views count them: {s, at, values, total}. */
    exactAt(t) {
        const {trace} = this;
        const s = this.stackNow();
        if (!s || t < s.sweep.from || t > s.sweep.to)
            return null;
        const {of} = this.grouping();
        const rowOf = new Map(s.groups.map((group, r) => [group, r]));
        const values = s.groups.map(() => 0);
        let total = 0;
        for (const block of trace.liveAt(t, s.device)) {
            const bytes = trace.loaded.blocks.bytes[block];
            const row = rowOf.get(of[block]) ?? rowOf.get(-1);
            total += bytes;
            if (row !== undefined)
                values[row] += bytes;
        }
        return {s, at: t, values, total};
    }

    /** The time of the legend's values: the pointer's, the cursor's, or that of the most that is visible. */
    legendTime() {
        const {trace, state} = this;
        const {from, to} = visibleTime(trace, state);
        const t = state.get('hover') ?? trace.cursorAt(state);
        const s = this.stackNow();
        if (!s || (t >= from && t <= to))
            return t;
        const {first, last} = this.columnsSeen(s);
        let best = first;
        for (let c = first; c <= last; c++)
            best = s.sweep.max[c] > s.sweep.max[best] ? c : best;
        return s.sweep.at[best];
    }

    drawOver(pen) {
        const {surface} = this;
        this.drawTimes(pen);
        const t = this.legendTime();
        const key = `${t} ${surface.theme} ${this.wanted} ${surface.width}`;
        if (surface.legend.dataset.key === key)
            return;
        const found = this.exactAt(t);
        if (!found)
            return;
        const {s, values, at, total} = found;
        const entries = s.groups.map((_, r) => ({
            color: this.colorOf(s, r), text: cutEnd(shortSite(this.nameOf(s, r)), 46),
            title: shorten(this.nameOf(s, r), 400), ...values[r] ? {bytes: values[r], value: formatBytes(values[r])} : {}}));
        fillGroupLegend(surface.legend, key, entries,
            `${formatBytes(total)} live at ${instantText(at, this.columnsSeen(s).unit)} by ${GROUPINGS[s.key]}:`);
    }

    rowAt(event) {
        const {height} = this.plot();
        const found = this.valuesAt(this.axis.timeAt(event.clientX));
        const {x, y} = this.inPlot(event.clientX, event.clientY);
        if (!found || x < 0 || y < 0 || y > height)
            return null;
        const bytes = this.topOf(found.s) * (1 - y / height);
        let sum = 0;
        const row = found.values.findIndex((value) => (sum += value) > bytes);
        return row < 0 ? null : {...found, row};
    }

    hoverStack(event) {
        const {surface} = this;
        const found = event && event.buttons === 0 ? this.rowAt(event) : null;
        const row = found ? found.row : -1;
        if (row !== this.pointed) {
            this.pointed = row;
            surface.redraw();
        }
        if (!found)
            return surface.tip.hide();
        const {s, values, total, at} = found;
        surface.tip.show(event.clientX, event.clientY, tipNode({
            title: shorten(this.nameOf(s, row), 200),
            facts: [['live', `${formatBytes(values[row])}, ${formatPercent(values[row], total)} of ${formatBytes(total)}`],
                ['at', `${instantText(at, this.columnsSeen(s).unit)}, when this pixel has the most`]],
            note: s.groups[row] < 0 ? 'Zoom in, or colour by something else, to see these apart.' : '',
        }));
    }

    sayStack() {
        const {trace} = this;
        const found = this.exactAt(trace.cursorAt(this.state));
        if (!found)
            return;
        const ranked = found.s.groups.map((_, r) => r).filter((r) => found.values[r] > 0)
            .sort((a, b) => found.values[b] - found.values[a]).slice(0, 5);
        const groups = ranked.map((r) => `${this.nameOf(found.s, r)} ${formatBytes(found.values[r])}`).join(', ');
        this.surface.say(`${formatBytes(found.total)} live at ${formatTime(found.at)}: ${groups}. ${missingText(trace)}`);
    }

    /** Resolves when what is visible has been added up. */
    async ready() {
        const {blocks} = this.trace.loaded;
        if (blocks)
            await blocks.live.deaths();
        await this.painter.idle();
    }

    svg() {
        return this.surface.toSvg(`Live bytes by ${GROUPINGS[this.state.get('color')]} over time`);
    }

    rows() {
        const s = this.stackNow();
        if (!s)
            return [['time_ns', 'live']];
        const {first, last} = this.columnsSeen(s);
        return [['time_ns', 'live', ...s.groups.map((_, r) => this.nameOf(s, r))],
            ...Array.from({length: last - first + 1}, (_, i) => [Math.round(s.sweep.at[first + i]),
                s.sweep.max[first + i], ...s.rows.map((row) => row[first + i])])];
    }
}

export const mountStackchart = (element, context) => new StackView(element, context);
