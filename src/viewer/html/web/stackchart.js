/* SPDX-License-Identifier: Apache-2.0
 *
 * What held the memory over time: the live bytes of each group as stacked areas, the 20 largest of what
 * is visible and the rest as one. Each column shows the instant of its column at which the most was
 * live, so the top of the stack is the exact curve at any zoom. While a gesture runs the latest stack is
 * drawn at its times. */
import {createPainter} from './slices.js';
import {createNode, createSurface, fillLegend, tipNode} from './surface.js';
import {bindTimeAxis, byteTicks, instantText, showTime, visibleTime} from './viewport.js';
import {AXIS_HEIGHT, drawByteGrid, drawCursors, drawMissing, drawTimeGrid, drawTimeMark, missingText, plotOf,
    timeScale} from './timegrid.js';
import {GROUPINGS, groupBlocks} from './grouping.js';
import {cutEnd, shortSite} from './describe.js';
import {stackColumns, sweepColumns} from './sweep.js';
import {inkFor, neutralColor, packPixel} from './colors.js';
import {formatBytes, formatCount, formatPercent, shorten} from './format.js';

const STACK_HEIGHT = 320;
const STACK_GROUPS = 20;
const STACK_LEGEND_SHORT = 8; // entries that need no fixed height
const LABEL_HEIGHT = 16;

/** @param {HTMLElement} element @param {{trace: Object, other: Object, state: Object}} context
 * @returns {{svg: function(): string, rows: function(): Array[], destroy: function(): void}} */
export function mountStackchart(element, {trace, state}) {
    const painter = createPainter();
    let stack = null; // the latest {groups, rows, rest, sweep, key, device}
    let whole = null; // the same for the whole trace
    let wanted = '';
    let pointed = -1; // row of the stack under the pointer
    const canvas = document.createElement('canvas');
    let image = null; // the pixels of *canvas*
    const surface = createSurface(element, state, {label: 'Live bytes by group over time', height: STACK_HEIGHT,
        legend: true, draw: drawStack, drawOver: drawStackMarks, onSize: refreshStack});
    const plot = () => plotOf(surface, 8, AXIS_HEIGHT);
    const grouping = () => groupBlocks(trace, state.get('color'));

    /** The stack for what is visible: the latest one, or that of the whole trace where it does not reach. */
    function stackNow() {
        const fits = (s) => s && s.key === state.get('color') && s.device === state.get('device');
        const range = visibleTime(trace, state);
        if (fits(stack) && stack.sweep.from <= range.from && stack.sweep.to >= range.to)
            return stack;
        return fits(whole) ? whole : fits(stack) ? stack : null;
    }
    function* stackJob(job) {
        const {blocks} = trace.loaded;
        const sweep = yield* sweepColumns(blocks, job);
        return {...yield* stackColumns(blocks, sweep, grouping(), job.device, STACK_GROUPS), ...job};
    }
    function refreshStack() {
        const {blocks} = trace.loaded;
        if (!blocks || !surface.width)
            return;
        if (!blocks.live.deathsNow()) {
            blocks.live.deaths().then(refreshStack);
            return;
        }
        const range = visibleTime(trace, state);
        const margin = (range.to - range.from) * 0.1;
        const from = Math.max(0, range.from - margin);
        const to = Math.min(trace.head.duration, range.to + margin);
        const columns = Math.max(8, Math.round(plot().width * (to - from) / (range.to - range.from)));
        const job = {from, to, columns, device: state.get('device'), key: state.get('color')};
        if (JSON.stringify(job) === wanted)
            return;
        wanted = JSON.stringify(job);
        painter.next(() => stackJob(job), (result) => {
            stack = result;
            whole = from === 0 && to === trace.head.duration ? result : whole;
            surface.redraw();
            surface.redrawOver();
        });
    }
    /** First and last column of *s* that are visible. */
    function columnsSeen({sweep}) {
        const range = visibleTime(trace, state);
        const unit = (sweep.to - sweep.from) / sweep.columns;
        return {unit, first: Math.max(0, Math.floor((range.from - sweep.from) / unit)),
            last: Math.min(sweep.columns - 1, Math.ceil((range.to - sweep.from) / unit))};
    }
    function topOf(s) {
        const {first, last} = columnsSeen(s);
        let top = 1024;
        for (let c = first; c <= last; c++)
            top = Math.max(top, s.sweep.max[c]);
        return top * 1.05;
    }
    function colorOf(s, row) {
        const group = s.groups[row];
        return group < 0 ? neutralColor(surface.theme) : grouping().colors(surface.theme)[group];
    }
    function nameOf(s, row) {
        const group = s.groups[row];
        return group < 0 ? `${formatCount(s.rest)} other ${GROUPINGS[s.key]}s` : grouping().names[group];
    }
    function drawStack(pen) {
        const area = plot();
        const range = visibleTime(trace, state);
        const {colors} = surface;
        const s = trace.loaded.blocks ? stackNow() : null;
        if (!s) {
            const {error} = trace.loaded;
            pen.text(area.left + 8, area.top + 22, error ? `The blocks cannot be shown: ${error.message}`
                : trace.loaded.blocks ? 'Adding up the blocks…' : 'Reading the blocks…', error ? colors.danger : colors.muted, {size: 13});
            return;
        }
        const top = topOf(s);
        const y = (bytes) => area.top + area.height * (1 - bytes / top);
        drawByteGrid(pen, surface, area, byteTicks(0, top, area.height), y);
        drawTimeGrid(pen, surface, area, range);
        pen.clip(area.left, area.top, area.width, area.height);
        if (pen.finish)
            drawAreas(pen, area, s, timeScale(range, area), y);
        else
            pen.image(paintAreas(area, s, range, top), area.left, area.top, area.width, area.height);
        labelAreas(pen, area, s, timeScale(range, area), y);
        pen.unclip();
        drawMissing(pen, surface, area, trace, range);
    }
    /** The areas as pixels: far less work than polygons of thousands of points. */
    function paintAreas(area, s, range, top) {
        const width = Math.max(1, Math.round(area.width * surface.density));
        const height = Math.max(1, Math.round(area.height * surface.density));
        if (!image || image.width !== width || image.height !== height) {
            image = new ImageData(width, height);
            Object.assign(canvas, {width, height});
        }
        const pixels = new Uint32Array(image.data.buffer);
        pixels.fill(0);
        const {unit} = columnsSeen(s);
        const fills = s.rows.map((_, r) => packPixel(colorOf(s, r), pointed >= 0 && pointed !== r ? 115 : 255));
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
        canvas.getContext('2d').putImageData(image, 0, 0);
        return canvas;
    }
    /** For export: the areas as polygons. */
    function drawAreas(pen, area, s, x, y) {
        const {first, last, unit} = columnsSeen(s);
        const count = last - first + 1;
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
            pen.polygon(xs, ys, 4 * count, colorOf(s, r));
        });
    }
    function labelAreas(pen, area, s, x, y) {
        const {first, last, unit} = columnsSeen(s);
        const count = last - first + 1;
        const below = new Float64Array(count);
        s.rows.forEach((row, r) => {
            let tallest = 0;
            for (let c = 0; c < count; c++) {
                below[c] += row[first + c];
                tallest = Math.max(tallest, row[first + c]);
            }
            if (y(0) - y(tallest) >= LABEL_HEIGHT)
                labelArea(pen, area, s, r, {row, first, count, x, y, below, color: colorOf(s, r), unit});
        });
    }
    /** The name of an area where it is at least as high as its text for long enough. */
    function labelArea(pen, area, s, r, {row, first, count, x, y, below, color, unit}) {
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
            pen.text(left + 6, y((best.low + best.high) / 2) + 4, cutEnd(shortSite(nameOf(s, r)), letters), inkFor(color), {size: 11});
    }
    /** Bytes of each row of the stack in the column of *t*: {values, at}; null where it has none. */
    function valuesAt(t) {
        const s = trace.loaded.blocks ? stackNow() : null;
        if (!s || t < s.sweep.from || t > s.sweep.to)
            return null;
        const column = Math.min(s.sweep.columns - 1, Math.floor((t - s.sweep.from) / columnsSeen(s).unit));
        return {s, at: s.sweep.at[column], values: s.rows.map((row) => row[column]), total: s.sweep.max[column]};
    }
    /** The time of the legend's values: the pointer's, the cursor's, or that of the most that is visible. */
    function legendTime() {
        const {from, to} = visibleTime(trace, state);
        const t = state.get('hover') ?? trace.cursorAt(state);
        const s = trace.loaded.blocks ? stackNow() : null;
        if (!s || (t >= from && t <= to))
            return t;
        const {first, last, unit} = columnsSeen(s);
        let best = first;
        for (let c = first; c <= last; c++)
            best = s.sweep.max[c] > s.sweep.max[best] ? c : best;
        return s.sweep.from + (best + 0.5) * unit;
    }
    function drawStackMarks(pen) {
        const area = plot();
        drawCursors(pen, surface, area, trace, state);
        drawTimeMark(pen, surface, area, trace, state);
        const t = legendTime();
        const found = valuesAt(t);
        if (!found)
            return;
        const key = `${t} ${surface.theme} ${wanted}`;
        if (surface.legend.dataset.key === key)
            return;
        surface.legend.dataset.key = key;
        const {s, values, at, total} = found;
        surface.legend.classList.toggle('v-legend-tall', s.groups.length > STACK_LEGEND_SHORT);
        fillLegend(surface.legend, s.groups.map((_, r) => ({color: colorOf(s, r), text: cutEnd(shortSite(nameOf(s, r)), 46),
            title: shorten(nameOf(s, r), 400), ...values[r] ? {value: formatBytes(values[r])} : {}})));
        surface.legend.prepend(createNode('span', 'v-status',
            `${formatBytes(total)} live at ${instantText(at, columnsSeen(s).unit)} by ${GROUPINGS[s.key]}:`));
    }
    function rowAt(event) {
        const box = surface.frame.getBoundingClientRect();
        const area = plot();
        const found = valuesAt(axis.timeAt(event.clientX));
        const py = event.clientY - box.top - area.top;
        if (!found || event.clientX - box.left < area.left || py < 0 || py > area.height)
            return null;
        const bytes = topOf(found.s) * (1 - py / area.height);
        let sum = 0;
        const row = found.values.findIndex((value) => (sum += value) > bytes);
        return row < 0 ? null : {...found, row};
    }
    function hoverStack(event) {
        const found = event && event.buttons === 0 ? rowAt(event) : null;
        const row = found ? found.row : -1;
        if (row !== pointed) {
            pointed = row;
            surface.redraw();
        }
        if (!found)
            return surface.tip.hide();
        const {s, values, total, at} = found;
        surface.tip.show(event.clientX, event.clientY, tipNode({
            title: shorten(nameOf(s, row), 200),
            facts: [['live', `${formatBytes(values[row])}, ${formatPercent(values[row], total)} of ${formatBytes(total)}`],
                ['at', instantText(at, columnsSeen(s).unit)]],
            note: s.groups[row] < 0 ? 'Zoom in, or colour by something else, to see these apart.' : '',
        }));
    }
    const axis = bindTimeAxis(trace, state, {
        frame: surface.frame, plot,
        hover(event) {
            const inside = event && event.clientX - surface.frame.getBoundingClientRect().left >= surface.gutter;
            state.set({hover: inside ? axis.timeAt(event.clientX) : null});
            hoverStack(event);
        },
        click(event) {
            const found = rowAt(event);
            const group = found ? found.s.groups[found.row] : -1;
            state.set({cursor: axis.timeAt(event.clientX), cursor2: null,
                ...state.get('color') === 'site' ? {selected: group >= 0 ? {site: group} : null} : {}});
        },
    });
    surface.frame.addEventListener('dblclick', (event) => {
        const {from, to} = visibleTime(trace, state);
        const t = axis.timeAt(event.clientX);
        showTime(trace, state, t - (to - from) / 8, t + (to - from) / 8);
    });
    function sayStack() {
        const found = valuesAt(trace.cursorAt(state));
        if (!found)
            return;
        const ranked = found.s.groups.map((_, r) => r).filter((r) => found.values[r] > 0)
            .sort((a, b) => found.values[b] - found.values[a]).slice(0, 5);
        const groups = ranked.map((r) => `${nameOf(found.s, r)} ${formatBytes(found.values[r])}`).join(', ');
        surface.say(`${formatBytes(found.total)} live at ${instantText(found.at, 1e6)}: ${groups}. ${missingText(trace)}`);
    }
    const redrawAll = () => {
        surface.redraw();
        surface.redrawOver();
        refreshStack();
    };
    const unsubscribe = [
        state.subscribe(['from', 'to', 'device', 'color'], redrawAll),
        state.subscribe(['cursor', 'cursor2', 'hover'], surface.redrawOver),
        state.subscribe(['cursor'], sayStack),
    ];
    trace.blocks.then(redrawAll, redrawAll);
    return {
        svg: () => surface.toSvg(`Live bytes by ${GROUPINGS[state.get('color')]} over time`),
        rows() {
            const s = trace.loaded.blocks ? stackNow() : null;
            if (!s)
                return [['time_ns', 'live']];
            const {first, last} = columnsSeen(s);
            return [['time_ns', 'live', ...s.groups.map((_, r) => nameOf(s, r))],
                ...Array.from({length: last - first + 1}, (_, i) => [Math.round(s.sweep.at[first + i]),
                    s.sweep.max[first + i], ...s.rows.map((row) => row[first + i])])];
        },
        destroy() {
            painter.stop();
            unsubscribe.forEach((call) => call());
            surface.destroy();
        },
    };
}
