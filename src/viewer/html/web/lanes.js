/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps, phases, calls, waits, kernels and copies in lanes on the same time axis as the other views. What is
 * narrower than a pixel is merged and says how many it stands for; while a gesture runs the latest runs
 * are drawn at their times. */
import {tipNode} from './surface.js';
import {ChartView} from './view.js';
import {bindTimeAxis, instantText, showTime, visibleTime} from './viewport.js';
import {AXIS_HEIGHT, drawTimeGrid, plotOf, timeScale} from './timegrid.js';
import {firstRow, isOpenAtEnd, isWork, laneKey, laneText, lanesOf, linksOf, runsOfLane} from './lanedata.js';
import {ACTIVITY_TYPES} from './data.js';
import {cutEnd} from './describe.js';
import {inkFor, neutralColor, paletteFor} from './colors.js';
import {formatBytes, formatCount, formatNumber, formatPercent, formatTime, shorten} from './format.js';

const LANE_HEIGHT = 17;
const LANE_GAP = 2;
const HEADING_HEIGHT = 18;
const LANES_LEAST = 60;
const LANE_ROWS_MAX = 200000;
const COLORED_NAMES = 20;
const OPEN_PART = 0; // a step or range that was open at the program's end is drawn lightly

/** Kernel and copy names by total time, the longest first. */
function namesByTime(trace) {
    const {activity} = trace.loaded;
    const time = new Float64Array(trace.head.names.length);
    for (let i = 0; activity && i < activity.count; i++)
        time[activity.name[i]] += activity.duration[i];
    return [...time.keys()].filter((n) => time[n] > 0).sort((a, b) => time[b] - time[a]);
}

class LanesView extends ChartView {
    constructor(element, context) {
        super(element, context, {label: 'Steps, phases, kernels and copies over time', height: LANES_LEAST});
        const {trace, state} = context;
        this.lanes = [];
        this.shown = null; // {from, to, runs: [per lane]}
        this.palette = null;
        this.pointed = this.picked = null; // rows of activity: under the pointer, and clicked on
        this.axis = bindTimeAxis(trace, state, {
            frame: this.surface.frame, plot: () => this.plot(),
            hover: (event) => {
                const found = event && event.buttons === 0 ? this.rowAt(event) : null;
                this.pointed = found && found.lane.what === 'activity' ? found.row : null;
                if (found)
                    this.surface.tip.show(event.clientX, event.clientY, tipNode(this.describe(found)));
                else
                    this.surface.tip.hide();
            },
            click: (event) => {
                const found = this.rowAt(event);
                this.picked = found && found.lane.what === 'activity' ? found.row : null;
                this.setCursor(event);
            },
        });
        this.surface.frame.addEventListener('dblclick', (event) => {
            const found = this.rowAt(event);
            if (!found)
                return;
            const {table} = found.lane;
            const margin = table.duration[found.row] * 0.1 + 1;
            const start = table.start[found.row];
            showTime(trace, state, start - margin, start + table.duration[found.row] + margin);
        });
        this.state.subscribe(['from', 'to'], () => this.redrawAll());
        this.state.subscribe(['cursor', 'cursor2', 'hover'], this.surface.redrawOver);
        this.state.subscribe(['cursor'], () => this.sayLanes());
        for (const name of ['steps', 'ranges', 'activity'])
            trace[name].then(() => this.rebuild(), () => this.rebuild());
    }

    plot() {
        return plotOf(this.surface, 2, AXIS_HEIGHT);
    }

    layOut() {
        let top = 4;
        let group = '';
        for (const lane of this.lanes) {
            if (lane.headed && lane.group !== group) {
                lane.heading = top;
                top += HEADING_HEIGHT;
            }
            group = lane.group;
            lane.top = top;
            top += LANE_HEIGHT + LANE_GAP;
        }
        this.surface.setHeight(Math.max(LANES_LEAST, top + AXIS_HEIGHT + 4));
    }

    rebuild() {
        this.lanes = lanesOf(this.trace, this.state.get('device'));
        this.shown = this.palette = this.pointed = this.picked = null;
        this.layOut();
        this.redrawAll();
    }

    *lanesJob(from, to, columns, of) {
        const runs = [];
        for (const lane of of)
            runs.push(yield* runsOfLane(lane, from, to, columns));
        return {from, to, runs, of};
    }

    refresh() {
        const {trace, surface} = this;
        if (!this.lanes.length || !surface.width)
            return;
        const range = visibleTime(trace, this.state);
        const margin = (range.to - range.from) / 2;
        const from = Math.max(0, range.from - margin);
        const to = Math.min(trace.head.duration, range.to + margin);
        const columns = this.plot().width * (to - from) / (range.to - range.from);
        const of = this.lanes;
        this.painter.next(() => this.lanesJob(from, to, columns, of), (result) => {
            if (result.of !== this.lanes)
                return;
            this.shown = result;
            surface.redraw();
        });
    }

    colorsNow() {
        const {trace, surface} = this;
        if (!this.palette) {
            const names = namesByTime(trace);
            const distinct = names.slice(0, COLORED_NAMES);
            const colors = paletteFor(distinct.map((n) => trace.head.names[n]), surface.theme);
            this.palette = {names: trace.head.names.map(() => neutralColor(surface.theme)), phases: paletteFor(
                trace.head.phases.map((phase) => phase.name), surface.theme)};
            distinct.forEach((n, rank) => (this.palette.names[n] = colors[rank]));
        }
        return this.palette;
    }

    colorOf(lane, row) {
        const {surface} = this;
        if (lane.what === 'step')
            return row % 2 ? neutralColor(surface.theme) : surface.colors[this.trace.head.steps_found ? 'series-host' : 'series-reserved'];
        if (lane.what === 'phase')
            return this.colorsNow().phases[lane.table.phase[row] - 1] || neutralColor(surface.theme);
        if (lane.what === 'gap')
            return surface.colors.muted;
        return lane.table.type[row] === 3 ? surface.colors.warning : this.colorsNow().names[lane.table.name[row]];
    }

    drawRuns(pen, area, lane, runs, x, range) {
        const {surface} = this;
        const right = area.left + area.width;
        for (let i = 0; i < runs.row.length; i++) {
            if (runs.end[i] < range.from || runs.start[i] > range.to)
                continue;
            const left = Math.max(area.left, x(runs.start[i]));
            const width = Math.max(1, Math.min(right, x(runs.end[i])) - left);
            const color = this.colorOf(lane, runs.row[i]);
            const whole = isOpenAtEnd(this.trace, lane, runs.row[i]) ? OPEN_PART : 1;
            const part = runs.count[i] > 1 ? runs.busy[i] / (runs.end[i] - runs.start[i]) : whole;
            const gap = width > 4 ? 1 : 0;
            pen.rect(left, lane.top, width - gap, LANE_HEIGHT, color, 0.35 + 0.65 * Math.min(1, part));
            if (width > 20) {
                const text = cutEnd(laneText(this.trace, lane, runs.row[i]), Math.floor((width - 8) / 6));
                const cut = lane.what === 'step' && text.endsWith('…') ? formatCount(lane.table.number[runs.row[i]]) : text;
                if (cut.length > 3 || lane.what === 'step')
                    pen.text(left + 4, lane.top + LANE_HEIGHT - 5, cut, whole < 1 ? surface.colors.ink : inkFor(color), {size: 10.5});
            }
        }
    }

    draw(pen) {
        const {surface} = this;
        const area = this.plot();
        const range = visibleTime(this.trace, this.state);
        const x = timeScale(range, area);
        const {colors} = surface;
        drawTimeGrid(pen, surface, area, range, this.trace.ticks);
        const size = surface.gutter < 60 ? 9 : 11;
        const letters = Math.floor((surface.gutter - 8) / size / 0.53);
        for (const lane of this.lanes) {
            if (lane.heading !== undefined)
                pen.text(area.left + 2, lane.heading + 13, lane.group, colors.ink, {weight: '600', size: 11});
            pen.text(area.left - 6, lane.top + LANE_HEIGHT - 5, cutEnd(lane.name, letters), colors.muted,
                {align: 'right', size});
        }
        pen.clip(area.left, 0, area.width, surface.height);
        this.lanes.forEach((lane, i) => {
            if (this.shown && this.shown.of === this.lanes)
                this.drawRuns(pen, area, lane, this.shown.runs[i], x, range);
        });
        pen.unclip();
        const note = this.noteText();
        if (note)
            pen.text(area.left + 8, 20, note, colors.muted, {size: 12});
    }

    noteText() {
        const {trace} = this;
        if (this.lanes.length)
            return '';
        if (trace.loaded.error)
            return `The lanes cannot be shown: ${trace.loaded.error.message}`;
        return trace.loaded.activity === undefined ? 'Reading steps, phases and kernels…'
            : 'The trace has no steps, no phases and no kernels.';
    }

    drawOver(pen) {
        this.drawTimes(pen);
        for (const row of new Set([this.picked, this.pointed])) {
            if (row !== null)
                this.drawArrow(pen, row);
        }
    }

    /** The row that a call began, or the call that began a row; null: it is not in the trace. */
    partnerOf(row) {
        const {activity} = this.trace.loaded;
        const {calls, work} = linksOf(activity);
        return (isWork(activity, row) ? calls : work).get(activity.link[row]) ?? null;
    }

    /** From the call to its work, whichever of both *row* is. */
    drawArrow(pen, row) {
        const {activity} = this.trace.loaded;
        const partner = this.partnerOf(row);
        const [call, work] = partner !== null && isWork(activity, row) ? [partner, row] : [row, partner];
        const laneOf = (of) => this.lanes.find((lane) => lane.key === laneKey(activity, of));
        if (partner === null || !laneOf(call) || !laneOf(work))
            return;
        const area = this.plot();
        const x = timeScale(visibleTime(this.trace, this.state), area);
        const color = this.surface.colors.accent;
        const [left, top] = [x(activity.start[call]), laneOf(call).top + LANE_HEIGHT];
        const [right, bottom] = [x(activity.start[work]), laneOf(work).top];
        const turn = Math.atan2(bottom - top, right - left);
        pen.clip(area.left, 0, area.width, this.surface.height);
        pen.line(left, top, right, bottom, color, 1.5);
        for (const side of [-0.4, 0.4])
            pen.line(right, bottom, right - 8 * Math.cos(turn + side), bottom - 8 * Math.sin(turn + side), color, 1.5);
        pen.unclip();
    }

    /** The lane at a point, the row of it there, and how many rows its pixel stands for. */
    rowAt(event) {
        const {surface} = this;
        const box = surface.frame.getBoundingClientRect();
        const y = event.clientY - box.top;
        const at = this.lanes.findIndex((lane) => y >= lane.top && y < lane.top + LANE_HEIGHT + LANE_GAP);
        if (at < 0 || event.clientX - box.left < surface.gutter)
            return null;
        const lane = this.lanes[at];
        const t = this.axis.timeAt(event.clientX);
        const {table, rows} = lane;
        const {from, to} = visibleTime(this.trace, this.state);
        const pixel = (to - from) / this.plot().width;
        for (let i = firstRow(lane, t); i < rows.length && table.start[rows[i]] <= t; i++) {
            if (table.duration[rows[i]] >= pixel && table.start[rows[i]] + table.duration[rows[i]] > t)
                return {lane, row: rows[i], count: 1};
        }
        const runs = this.shown && this.shown.of === this.lanes ? this.shown.runs[at] : {row: []};
        const run = runs.row.findIndex((_, i) => runs.start[i] <= t && runs.end[i] > t);
        return run < 0 ? null : {lane, row: runs.row[run], count: runs.count[run], busy: runs.busy[run],
            span: runs.end[run] - runs.start[run]};
    }

    /** When a row began, and how long it took: ns, whatever the axis. */
    spanOf({start, duration}, row) {
        const [from, to] = [start[row], start[row] + duration[row]].map((at) => Math.round(this.trace.toTime(at)));
        return {start: from, duration: to - from};
    }

    describe({lane, row, count, busy, span}) {
        const {table} = lane;
        const {start, duration} = this.spanOf(table, row);
        const facts = [['start', instantText(start, Math.max(1, duration / 10))], ['duration', formatTime(duration)]];
        const nameOf = (of) => shorten(this.trace.head.names[this.trace.loaded.activity.name[of]] || 'unknown', 100);
        if (lane.what === 'activity') {
            const partner = this.partnerOf(row);
            facts.unshift(['type', ACTIVITY_TYPES[table.type[row]]],
                isWork(table, row) ? ['stream', lane.group] : ['thread', String(table.thread[row])]);
            if (table.place[row])
                facts.push(['call site', shorten(this.trace.head.names[table.place[row] - 1], 300)]);
            if (partner !== null)
                facts.push(isWork(table, row)
                    ? ['called by', `${nameOf(partner)}, ${formatTime(start - this.spanOf(table, partner).start)} before its start`]
                    : ['began', `${nameOf(partner)}, ${formatTime(this.spanOf(table, partner).start - start)} later`]);
            if (table.bytes[row])
                facts.push(['bytes', `${formatBytes(table.bytes[row])}, ${formatBytes(table.bytes[row] / duration * 1e9)}/s`]);
        }
        if (lane.what === 'gap')
            facts.push(['after', nameOf(table.before[row])], ['before', nameOf(table.after[row])]);
        if (lane.what === 'phase')
            facts.push(['thread', String(table.thread ? table.thread[row] : 'unknown')]);
        if (lane.what === 'step' && this.trace.head.steps_found)
            facts.push(['found', 'from requests that repeat; the program marks no steps'],
                ...row === table.count - 1 ? [['end', 'not known: no later step follows']] : []);
        else if (isOpenAtEnd(this.trace, lane, row))
            facts.push(['end', 'not reached: the trace ends before']);
        const noun = lane.what === 'activity' ? 'event' : lane.what;
        const note = count > 1 ? `${formatNumber(count, noun)} are merged here, busy ` +
            `${formatPercent(busy, span)} of the time; this one is the longest. Zoom in to see each.` : '';
        return {title: shorten(laneText(this.trace, lane, row), 300), facts, note};
    }

    laneWords(lane, row) {
        const text = laneText(this.trace, lane, row);
        return lane.what === 'step' ? text : lane.what === 'phase' ? `phase ${text}` : `${lane.group}, ${text}`;
    }

    sayLanes() {
        const t = this.trace.cursorAt(this.state);
        const at = this.lanes.flatMap((lane) => {
            const i = firstRow(lane, t);
            const row = lane.rows[i];
            return i < lane.rows.length && lane.table.start[row] <= t ? [this.laneWords(lane, row)] : [];
        });
        this.surface.say(`At ${this.trace.textAt(t, this.pixelTime())}: ${at.slice(0, 8).join(', ') || 'nothing runs'}`);
    }

    rows() {
        const {trace} = this;
        const {from, to} = visibleTime(trace, this.state);
        const out = [['lane', 'stream or thread', 'name', 'start_ns', 'duration_ns', 'bytes']];
        for (const lane of this.lanes) {
            const {table, rows} = lane;
            for (let i = firstRow(lane, from); i < rows.length && table.start[rows[i]] < to; i++) {
                const row = rows[i];
                const {start, duration} = this.spanOf(table, row);
                if (out.length < LANE_ROWS_MAX)
                    out.push([lane.what, lane.group, laneText(trace, lane, row), start, duration,
                        table.bytes ? table.bytes[row] : '']);
            }
        }
        return out;
    }
}

export const mountLanes = (element, context) => new LanesView(element, context);
