/* SPDX-License-Identifier: Apache-2.0
 *
 * Two traces side by side: which peaks higher, their curves on one axis, their figures, what is new,
 * gone, grown and shrunk at the peaks, and their phases. A is the first trace of the page. */
import {choice, fill, make, makeSvg, serializeSvg, toggles} from '../dom.js';
import {formatBytes, formatBytesChange, formatCount, formatTime, shortenApart} from '../format.js';
import {GROUPINGS} from '../grouping.js';
import {changesTable, plainTable} from './changes.js';
import {comparedFigures, comparedGroups, comparedPhases, differenceSentence} from './difference.js';
import {peakTime} from './moment.js';

const COMPARE_LEFT = 72;
const COMPARE_BOTTOM = 24;

const figureText = (value, unit) => (value === null ? '-' : unit === 'count' ? formatCount(value)
    : unit === 'time' ? formatTime(value) : formatBytes(value));

function changeText(row) {
    if (row.a === null || row.b === null)
        return '';
    const change = row.b - row.a;
    if (change === 0)
        return 'same';
    if (row.unit === 'count')
        return (change > 0 ? '+' : '') + formatCount(change);
    return row.unit === 'time' ? (change > 0 ? '+' : '') + formatTime(change) : formatBytesChange(change);
}

function changeCell(row) {
    const text = changeText(row);
    const change = row.b - row.a;
    const worse = row.moreIsBetter ? change < 0 : change > 0;
    return make(`span${!text || text === 'same' ? '.muted' : worse ? '.worse' : '.better'}`, {}, text);
}

/** The curve of a trace as an SVG path: the highest value of each bucket. */
function curvePath(curve, name, xOf, yOf) {
    const values = curve[`${name}_max`];
    const points = [];
    for (let i = 0; i < curve.count; i++)
        points.push(`${i ? 'L' : 'M'}${xOf(curve.time[i]).toFixed(1)} ${yOf(values[i]).toFixed(1)}`);
    return points.join('');
}

/** A step between marks of a byte axis: 1, 2 or 5 times a power of two units. */
function byteStep(most) {
    const unit = 1024 ** Math.floor(Math.log2(Math.max(most, 1)) / 10);
    const least = most / unit / 4.5;
    const power = 10 ** Math.floor(Math.log10(least));
    return unit * power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}

function drawAxes(svg, most, yOf, width, color) {
    const step = byteStep(most);
    for (let bytes = 0; bytes <= most; bytes += step) {
        const y = yOf(bytes);
        svg.append(makeSvg('line', {x1: COMPARE_LEFT, x2: width, y1: y, y2: y, stroke: color('--grid')}),
            makeSvg('text', {x: COMPARE_LEFT - 8, y: y + 4, 'text-anchor': 'end', fill: color('--muted')}, formatBytes(bytes)));
    }
}

function curvesSvg(a, b, state, width, height) {
    const device = state.get('device');
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const curves = [a, b].map((trace) => trace.loaded.curves && trace.loaded.curves[device]);
    const name = curves.every((curve) => curve && curve.tensors_max) ? 'tensors' : 'allocated';
    const what = name === 'tensors' ? 'PyTorch tensors' : 'allocated memory';
    const svg = makeSvg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'font-size': 11,
        'font-family': 'system-ui, sans-serif', 'aria-label': `Curves of ${what} of both traces`});
    const most = Math.max(1, ...curves.map((curve) => (curve ? curve[`${name}_max`].reduce((x, y) => Math.max(x, y), 0) : 0)));
    const ends = [a, b].map((trace) => trace.head.duration || 1);
    const end = Math.max(...ends);
    const bottom = height - COMPARE_BOTTOM;
    const yOf = (bytes) => bottom - (bottom - 10) * bytes / most;
    drawAxes(svg, most, yOf, width, color);
    curves.forEach((curve, i) => {
        const whole = state.get('align') === 'length' ? ends[i] : end;
        const xOf = (time) => COMPARE_LEFT + (width - COMPARE_LEFT) * time / whole;
        if (!curve)
            return;
        const path = curvePath(curve, name, xOf, yOf);
        const stroke = color(i ? '--series-b' : '--series-allocated');
        svg.append(makeSvg('path', {d: `${path}V${bottom}H${COMPARE_LEFT}Z`, fill: stroke, 'fill-opacity': 0.1}),
            makeSvg('path', {d: path, fill: 'none', stroke, 'stroke-width': 1.5, 'stroke-linejoin': 'round', 'stroke-opacity': 0.9}));
    });
    const last = state.get('align') === 'length' ? 'end of each run' : formatTime(end);
    svg.append(makeSvg('text', {x: COMPARE_LEFT, y: height - 6, fill: color('--muted')}, '0 s'),
        makeSvg('text', {x: width, y: height - 6, fill: color('--muted'), 'text-anchor': 'end'}, last),
        makeSvg('text', {x: (COMPARE_LEFT + width) / 2, y: height - 6, fill: color('--muted'), 'text-anchor': 'middle'}, what));
    return svg;
}

function figuresCard(a, b, device) {
    return make('section.card', {}, make('h2', {}, 'Figures'), plainTable('Figures of both reports', ['Figure', 'A', 'B', 'Change'],
        comparedFigures(a, b, device).map((row) =>
            [row.label, figureText(row.a, row.unit), figureText(row.b, row.unit), changeCell(row)])));
}

function phasesCard(a, b, device) {
    const known = a.head.report.devices[device] && b.head.report.devices[device];
    const phases = known ? comparedPhases(a, b, device) : [];
    return phases.length ? make('section.card', {}, make('h2', {}, 'Phases'), plainTable('Peaks and times of phases',
        ['Phase', 'Peak A', 'Peak B', 'Change', 'Time A', 'Time B'], phases.map((row) => [row.path, figureText(row.peakA),
            figureText(row.peakB), changeCell({a: row.peakA, b: row.peakB}), figureText(row.timeA, 'time'),
            figureText(row.timeB, 'time')]))) : null;
}

/** @param {Element} element @param {{trace: Object, other: Object, state: Object}} page */
export function mountCompare(element, {trace, other, state}) {
    const [a, b] = [trace, other];
    const chart = make('div.compare-chart');
    const title = make('h2.compare-title');
    const figures = make('div');
    const phases = make('div');
    const changes = make('div', {}, make('p.view-words', {}, 'Reading the blocks of both traces…'));
    const align = toggles('Time axis', [['clock', 'Same clock'], ['length', 'Same length']], state.get('align'),
        (value) => state.set({align: value}));
    const grouping = choice('by', Object.entries(GROUPINGS), state.get('color'), (color) => state.set({color}));
    const titles = shortenApart([a.head.title, b.head.title], 40);
    const name = (which, of) => make('span.legend-line', {title: of.head.command}, make(`span.key.key-${which}`, {'aria-hidden': 'true'}),
        `${which.toUpperCase()}: ${titles[of === a ? 0 : 1]}`);
    fill(element, make('div.hero.compare-hero', {}, make('section.card.curve', {}, title,
        make('div.toolbar', {}, name('a', a), name('b', b), align), chart), figures),
    make('section.card', {}, make('div.toolbar', {}, make('h2', {}, 'Live at the peaks'), grouping), changes), phases);
    let stopped = false;
    let rows = [];
    const size = () => [Math.max(280, chart.clientWidth), Math.max(200, chart.clientHeight)];

    function drawFigures() {
        fill(title, differenceSentence(a, b, state.get('device')));
        fill(figures, figuresCard(a, b, state.get('device')));
        fill(phases, phasesCard(a, b, state.get('device')));
    }
    function drawCurves() {
        if (!stopped && a.loaded.curves && b.loaded.curves)
            fill(chart, curvesSvg(a, b, state, ...size()));
        align.show(state.get('align') || 'clock');
    }
    function drawChanges() {
        if (stopped || !a.loaded.blocks || !b.loaded.blocks)
            return;
        grouping.querySelector('select').value = state.get('color');
        const device = state.get('device');
        rows = comparedGroups([a, b].map((trace) => ({trace, at: peakTime(trace.head, device)})), device, state.get('color'));
        fill(changes, changesTable(rows));
    }
    const drawAll = () => {
        drawFigures();
        drawCurves();
        drawChanges();
    };
    drawAll();
    const resized = new ResizeObserver(drawCurves);
    resized.observe(chart);
    Promise.all([a.curves, b.curves]).then(drawCurves, () => {});
    Promise.all([a.blocks, b.blocks]).then(drawChanges, (error) => fill(changes, make('p', {}, error.message)));
    const stops = [state.subscribe(['device', 'theme'], drawAll), state.subscribe(['align'], drawCurves),
        state.subscribe(['color'], drawChanges)];
    return {
        svg: () => serializeSvg(curvesSvg(a, b, state, ...size())),
        rows: () => [['name', 'status', 'bytes A', 'bytes B', 'change', 'blocks A', 'blocks B'],
            ...rows.map((row) => [row.name, row.status, row.a, row.b, row.b - row.a, row.blocksA, row.blocksB])],
        destroy() {
            stopped = true;
            resized.disconnect();
            stops.forEach((stop) => stop());
            element.replaceChildren();
        },
    };
}
