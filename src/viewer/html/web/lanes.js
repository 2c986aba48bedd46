/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps, phases, kernels, copies and waits in lanes on the same time axis as the other views. What is
 * narrower than a pixel is merged and says how many it stands for; while a gesture runs the latest runs
 * are drawn at their times. */
import {createPainter} from './slices.js';
import {createSurface, tipNode} from './surface.js';
import {bindTimeAxis, instantText, showTime, visibleTime} from './viewport.js';
import {AXIS_HEIGHT, drawCursors, drawTimeGrid, drawTimeMark, plotOf, timeScale} from './timegrid.js';
import {firstRow, laneText, lanesOf, runsOfLane} from './lanedata.js';
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

/** Kernel and copy names by total time, the longest first. */
function namesByTime(trace) {
    const {activity} = trace.loaded;
    const time = new Float64Array(trace.head.names.length);
    for (let i = 0; activity && i < activity.count; i++)
        time[activity.name[i]] += activity.duration[i];
    return [...time.keys()].filter((n) => time[n] > 0).sort((a, b) => time[b] - time[a]);
}

/** @param {HTMLElement} element @param {{trace: Object, other: Object, state: Object}} context
 * @returns {{svg: function(): string, rows: function(): Array[], destroy: function(): void}} */
export function mountLanes(element, {trace, state}) {
    const painter = createPainter();
    let lanes = [];
    let shown = null; // {from, to, runs: [per lane]}
    let palette = null;
    const surface = createSurface(element, state, {label: 'Steps, phases, kernels and copies over time',
        height: LANES_LEAST, draw: drawLanes, drawOver: drawLaneMarks, onSize: refreshLanes, onTheme: () => (palette = null)});
    const plot = () => plotOf(surface, 2, AXIS_HEIGHT);

    function layOut() {
        let top = 4;
        let group = '';
        for (const lane of lanes) {
            if (lane.what === 'activity' && lane.group !== group) {
                lane.heading = top;
                top += HEADING_HEIGHT;
            }
            group = lane.group;
            lane.top = top;
            top += LANE_HEIGHT + LANE_GAP;
        }
        surface.setHeight(Math.max(LANES_LEAST, top + AXIS_HEIGHT + 4));
    }
    function rebuild() {
        lanes = lanesOf(trace, state.get('device'));
        shown = palette = null;
        layOut();
        surface.redraw();
        surface.redrawOver();
        refreshLanes();
    }
    function* lanesJob(from, to, columns, of) {
        const runs = [];
        for (const lane of of)
            runs.push(yield* runsOfLane(lane, from, to, columns));
        return {from, to, runs, of};
    }
    function refreshLanes() {
        if (!lanes.length || !surface.width)
            return;
        const range = visibleTime(trace, state);
        const margin = (range.to - range.from) / 2;
        const from = Math.max(0, range.from - margin);
        const to = Math.min(trace.head.duration, range.to + margin);
        const columns = plot().width * (to - from) / (range.to - range.from);
        const of = lanes;
        painter.next(() => lanesJob(from, to, columns, of), (result) => {
            if (result.of !== lanes)
                return;
            shown = result;
            surface.redraw();
        });
    }
    function colorsNow() {
        if (!palette) {
            const names = namesByTime(trace);
            const distinct = names.slice(0, COLORED_NAMES);
            const colors = paletteFor(distinct.map((n) => trace.head.names[n]), surface.theme);
            palette = {names: trace.head.names.map(() => neutralColor(surface.theme)), phases: paletteFor(
                trace.head.phases.map((phase) => phase.name), surface.theme)};
            distinct.forEach((n, rank) => (palette.names[n] = colors[rank]));
        }
        return palette;
    }
    function colorOf(lane, row) {
        if (lane.what === 'step')
            return row % 2 ? neutralColor(surface.theme) : surface.colors['series-reserved'];
        if (lane.what === 'phase')
            return colorsNow().phases[lane.table.phase[row] - 1] || neutralColor(surface.theme);
        return lane.table.type[row] === 3 ? surface.colors.warning : colorsNow().names[lane.table.name[row]];
    }
    function drawRuns(pen, area, lane, runs, x, range) {
        const right = area.left + area.width;
        for (let i = 0; i < runs.row.length; i++) {
            if (runs.end[i] < range.from || runs.start[i] > range.to)
                continue;
            const left = Math.max(area.left, x(runs.start[i]));
            const width = Math.max(1, Math.min(right, x(runs.end[i])) - left);
            const color = colorOf(lane, runs.row[i]);
            const part = runs.count[i] > 1 ? runs.busy[i] / (runs.end[i] - runs.start[i]) : 1;
            const gap = width > 4 ? 1 : 0;
            pen.rect(left, lane.top, width - gap, LANE_HEIGHT, color, 0.35 + 0.65 * Math.min(1, part));
            if (width > 20) {
                const text = cutEnd(laneText(trace, lane, runs.row[i]), Math.floor((width - 8) / 6));
                const cut = lane.what === 'step' && text.endsWith('…') ? formatCount(lane.table.number[runs.row[i]]) : text;
                if (cut.length > 3 || lane.what === 'step')
                    pen.text(left + 4, lane.top + LANE_HEIGHT - 5, cut, inkFor(color), {size: 10.5});
            }
        }
    }
    function drawLanes(pen) {
        const area = plot();
        const range = visibleTime(trace, state);
        const x = timeScale(range, area);
        const {colors} = surface;
        drawTimeGrid(pen, surface, area, range);
        const size = surface.gutter < 60 ? 9 : 11;
        const letters = Math.floor((surface.gutter - 8) / size / 0.53);
        for (const lane of lanes) {
            if (lane.heading !== undefined)
                pen.text(area.left + 2, lane.heading + 13, lane.group, colors.ink, {weight: '600', size: 11});
            pen.text(area.left - 6, lane.top + LANE_HEIGHT - 5, cutEnd(lane.name, letters), colors.muted, {align: 'right', size});
        }
        pen.clip(area.left, 0, area.width, surface.height);
        lanes.forEach((lane, i) => {
            if (shown && shown.of === lanes)
                drawRuns(pen, area, lane, shown.runs[i], x, range);
        });
        pen.unclip();
        const note = noteText();
        if (note)
            pen.text(area.left + 8, 20, note, colors.muted, {size: 12});
    }
    function noteText() {
        if (lanes.length)
            return '';
        if (trace.loaded.error)
            return `The lanes cannot be shown: ${trace.loaded.error.message}`;
        return trace.loaded.activity === undefined ? 'Reading steps, phases and kernels…'
            : 'The trace has no steps, no phases and no kernels.';
    }
    function drawLaneMarks(pen) {
        const area = plot();
        drawCursors(pen, surface, area, trace, state);
        drawTimeMark(pen, surface, area, trace, state);
    }
    /** The lane at a point, the row of it there, and how many rows its pixel stands for. */
    function rowAt(event) {
        const box = surface.frame.getBoundingClientRect();
        const y = event.clientY - box.top;
        const at = lanes.findIndex((lane) => y >= lane.top && y < lane.top + LANE_HEIGHT + LANE_GAP);
        if (at < 0 || event.clientX - box.left < surface.gutter)
            return null;
        const lane = lanes[at];
        const t = axis.timeAt(event.clientX);
        const {table, rows} = lane;
        const {from, to} = visibleTime(trace, state);
        const pixel = (to - from) / plot().width;
        for (let i = firstRow(lane, t); i < rows.length && table.start[rows[i]] <= t; i++) {
            if (table.duration[rows[i]] >= pixel && table.start[rows[i]] + table.duration[rows[i]] > t)
                return {lane, row: rows[i], count: 1};
        }
        const runs = shown && shown.of === lanes ? shown.runs[at] : {row: []};
        const run = runs.row.findIndex((_, i) => runs.start[i] <= t && runs.end[i] > t);
        return run < 0 ? null : {lane, row: runs.row[run], count: runs.count[run], busy: runs.busy[run],
            span: runs.end[run] - runs.start[run]};
    }
    function describe({lane, row, count, busy, span}) {
        const {table} = lane;
        const duration = table.duration[row];
        const facts = [['start', instantText(table.start[row], Math.max(1, duration / 10))], ['duration', formatTime(duration)]];
        if (lane.what === 'activity') {
            facts.unshift(['type', ACTIVITY_TYPES[table.type[row]]], ['stream', lane.group]);
            if (table.bytes[row])
                facts.push(['bytes', `${formatBytes(table.bytes[row])}, ${formatBytes(table.bytes[row] / duration * 1e9)}/s`]);
        }
        if (lane.what === 'phase')
            facts.push(['thread', String(table.thread ? table.thread[row] : 'unknown')]);
        const note = count > 1 ? `${formatNumber(count, lane.what === 'activity' ? 'event' : lane.what)} are merged here, busy ` +
            `${formatPercent(busy, span)} of the time; this one is the longest. Zoom in to see each.` : '';
        return {title: shorten(laneText(trace, lane, row), 300), facts, note};
    }
    const axis = bindTimeAxis(trace, state, {
        frame: surface.frame, plot,
        hover(event) {
            const inside = event && event.clientX - surface.frame.getBoundingClientRect().left >= surface.gutter;
            state.set({hover: inside ? axis.timeAt(event.clientX) : null});
            const found = inside && event.buttons === 0 ? rowAt(event) : null;
            if (found)
                surface.tip.show(event.clientX, event.clientY, tipNode(describe(found)));
            else
                surface.tip.hide();
        },
        click: (event) => state.set({cursor: axis.timeAt(event.clientX), cursor2: null}),
    });
    surface.frame.addEventListener('dblclick', (event) => {
        const found = rowAt(event);
        if (!found)
            return;
        const {table} = found.lane;
        const margin = table.duration[found.row] * 0.1 + 1;
        showTime(trace, state, table.start[found.row] - margin, table.start[found.row] + table.duration[found.row] + margin);
    });
    function laneWords(lane, row) {
        const text = laneText(trace, lane, row);
        return lane.what === 'step' ? text : lane.what === 'phase' ? `phase ${text}` : `${lane.group}, ${text}`;
    }
    function sayLanes() {
        const t = trace.cursorAt(state);
        const at = lanes.flatMap((lane) => {
            const i = firstRow(lane, t);
            const row = lane.rows[i];
            return i < lane.rows.length && lane.table.start[row] <= t ? [laneWords(lane, row)] : [];
        });
        surface.say(`At ${instantText(t, 1e6)}: ${at.slice(0, 8).join(', ') || 'nothing runs'}`);
    }
    const onView = () => {
        surface.redraw();
        surface.redrawOver();
        refreshLanes();
    };
    const unsubscribe = [
        state.subscribe(['from', 'to'], onView),
        state.subscribe(['device'], rebuild),
        state.subscribe(['cursor', 'cursor2', 'hover'], surface.redrawOver),
        state.subscribe(['cursor'], sayLanes),
    ];
    for (const name of ['steps', 'ranges', 'activity'])
        trace[name].then(rebuild, rebuild);
    return {
        svg: () => surface.toSvg('Steps, phases, kernels and copies over time'),
        rows() {
            const {from, to} = visibleTime(trace, state);
            const out = [['lane', 'stream or thread', 'name', 'start_ns', 'duration_ns', 'bytes']];
            for (const lane of lanes) {
                const {table, rows} = lane;
                for (let i = firstRow(lane, from); i < rows.length && table.start[rows[i]] < to && out.length < LANE_ROWS_MAX; i++) {
                    out.push([lane.what, lane.group, laneText(trace, lane, rows[i]), table.start[rows[i]], table.duration[rows[i]],
                        table.bytes ? table.bytes[rows[i]] : '']);
                }
            }
            return out;
        },
        destroy() {
            painter.stop();
            unsubscribe.forEach((call) => call());
            surface.destroy();
        },
    };
}
