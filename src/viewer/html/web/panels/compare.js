/* SPDX-License-Identifier: Apache-2.0
 *
 * Two traces side by side: their figures, their curves on one axis, what is new, gone, grown and
 * shrunk at the peaks, and their phases. A is the first trace of the page, B the second. */
import {fill, make, makeSvg, serializeSvg, toggles} from '../dom.js';
import {comparedFigures, comparedGroups, comparedPhases, peakWords} from './difference.js';
import {formatBytes, formatBytesChange, formatCount, formatNumber, formatTime} from '../format.js';
import {GROUPINGS} from '../grouping.js';

const COMPARE_WIDTH = 1000;
const COMPARE_HEIGHT = 240;
const COMPARE_ROWS = 200; // rows of changes that are elements; the CSV has all

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

function plainTable(caption, headings, rows) {
    return make('table.plain', {}, make('caption', {}, caption),
        make('thead', {}, make('tr', {}, headings.map((text) => make('th', {scope: 'col'}, text)))),
        make('tbody', {}, rows.map((cells) => make('tr', {}, cells.map((cell, i) =>
            (i === 0 ? make('th', {scope: 'row'}, cell) : make('td', {}, cell)))))));
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

function curvesSvg(a, b, state) {
    const device = state.get('device');
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const curves = [a, b].map((trace) => trace.loaded.curves && trace.loaded.curves[device]);
    const name = curves.every((curve) => curve && curve.tensors_max) ? 'tensors' : 'allocated';
    const svg = makeSvg('svg', {viewBox: `0 0 ${COMPARE_WIDTH} ${COMPARE_HEIGHT + 24}`, role: 'img', 'font-size': 12,
        'font-family': 'system-ui, sans-serif', 'aria-label': `Curves of ${name === 'tensors' ? 'PyTorch tensors' : 'allocated memory'} of both traces`});
    const most = Math.max(1, ...curves.filter(Boolean).flatMap((curve) => [curve[`${name}_max`].reduce((x, y) => Math.max(x, y), 0)]));
    const ends = [a, b].map((trace) => trace.head.duration);
    const end = Math.max(...ends, 1);
    const left = 76;
    const width = COMPARE_WIDTH - left - 8;
    const yOf = (bytes) => 10 + (COMPARE_HEIGHT - 10) * (1 - bytes / most);
    for (let part = 0; part <= 4; part++) {
        const y = yOf(most * part / 4);
        svg.append(makeSvg('line', {x1: left, x2: COMPARE_WIDTH - 8, y1: y, y2: y, stroke: color('--grid')}),
            makeSvg('text', {x: left - 8, y: y + 4, 'text-anchor': 'end', fill: color('--muted')}, formatBytes(most * part / 4)));
    }
    curves.forEach((curve, i) => {
        const whole = state.get('align') === 'length' ? ends[i] || 1 : end;
        if (curve)
            svg.append(makeSvg('path', {d: curvePath(curve, name, (t) => left + width * t / whole, yOf), fill: 'none',
                stroke: color(i ? '--series-b' : '--series-allocated'), 'stroke-width': 1.8, 'stroke-linejoin': 'round'}));
    });
    const last = state.get('align') === 'length' ? '100 % of each run' : formatTime(end);
    svg.append(makeSvg('text', {x: left, y: COMPARE_HEIGHT + 18, fill: color('--muted')}, '0'),
        makeSvg('text', {x: COMPARE_WIDTH - 8, y: COMPARE_HEIGHT + 18, fill: color('--muted'), 'text-anchor': 'end'}, last));
    return svg;
}

function changeRow(row, most) {
    const change = row.b - row.a;
    const bar = make(`span.change-fill${change > 0 ? '.up' : '.down'}`);
    bar.style.width = `${50 * Math.abs(change) / most}%`;
    return [make('span', {}, make(`span.tag.tag-${row.status}`, {}, row.status), ' ', make('span.site', {}, row.name)),
        formatBytes(row.a), formatBytes(row.b), make(`span${change > 0 ? '.worse' : '.better'}`, {}, formatBytesChange(change)),
        make('span.change', {'aria-hidden': 'true'}, bar)];
}

function changesCard(rows, state) {
    const changed = rows.filter((row) => row.status !== 'same');
    const same = rows.length - changed.length;
    const most = Math.max(1, ...changed.map((row) => Math.abs(row.b - row.a)));
    const count = (status) => changed.filter((row) => row.status === status).length;
    const words = ['new', 'gone', 'grown', 'shrunk'].map((status) => `${formatCount(count(status))} ${status}`).join(', ');
    const hidden = changed.length - COMPARE_ROWS;
    return make('section.card', {}, make('h2', {}, `Live at the peaks, by ${GROUPINGS[state.get('color')]}`),
        make('p.muted', {}, `${words}, ${formatCount(same)} the same`),
        changed.length ? plainTable('Changes, the largest first', ['', 'A', 'B', 'Change', ''],
            changed.slice(0, COMPARE_ROWS).map((row) => changeRow(row, most))) : make('p', {}, 'No difference.'),
        hidden > 0 ? make('p.muted', {}, `${formatNumber(hidden, 'smaller change')} not listed; the CSV has all.`) : null);
}

/** @param {Element} element @param {{trace: Object, other: Object, state: Object}} page */
export function mountCompare(element, {trace, other, state}) {
    const [a, b] = [trace, other];
    const chart = make('div.compare-chart');
    const changes = make('div', {}, make('p.view-words', {}, 'Reading the blocks of both traces…'));
    const align = toggles('Time axis', [['clock', 'Same clock'], ['length', 'Same length']], state.get('align'),
        (value) => state.set({align: value}));
    const top = make('div.compare-top');
    fill(element, top, make('section.card', {}, make('div.toolbar', {}, make('h2', {}, 'Curves'), align,
        make('span.key.key-a', {'aria-hidden': 'true'}), 'A', make('span.key.key-b', {'aria-hidden': 'true'}), 'B'), chart), changes);
    let stopped = false;
    let rows = [];

    function drawFigures() {
        const device = state.get('device');
        fill(top, make('section.card', {}, make('h2', {}, 'A and B'),
            make('p.legend-line', {}, make('span.key.key-a', {'aria-hidden': 'true'}), ` A: ${a.head.title}, ${peakWords(a, device)}`),
            make('p.legend-line', {}, make('span.key.key-b', {'aria-hidden': 'true'}), ` B: ${b.head.title}, ${peakWords(b, device)}`),
            plainTable('Figures of both reports', ['', 'A', 'B', 'Change'], comparedFigures(a, b, device).map((row) =>
                [row.label, figureText(row.a, row.unit), figureText(row.b, row.unit), changeCell(row)]))),
        phasesCard(device));
    }
    function phasesCard(device) {
        const phases = a.head.report.devices[device] && b.head.report.devices[device] ? comparedPhases(a, b, device) : [];
        if (!phases.length)
            return null;
        return make('section.card', {}, make('h2', {}, 'Phases'), plainTable('Peaks and times of phases',
            ['', 'Peak A', 'Peak B', 'Time A', 'Time B'], phases.map((row) => [row.path, figureText(row.peakA), figureText(row.peakB),
                figureText(row.timeA, 'time'), figureText(row.timeB, 'time')])));
    }
    function drawCurves() {
        if (!stopped && a.loaded.curves && b.loaded.curves)
            fill(chart, curvesSvg(a, b, state));
        align.show(state.get('align'));
    }
    function drawChanges() {
        if (stopped || !a.loaded.blocks || !b.loaded.blocks)
            return;
        rows = comparedGroups(a, b, state.get('device'), state.get('color'));
        fill(changes, changesCard(rows, state));
    }
    const drawAll = () => {
        drawFigures();
        drawCurves();
        drawChanges();
    };
    drawAll();
    Promise.all([a.curves, b.curves]).then(drawCurves, () => {});
    Promise.all([a.blocks, b.blocks]).then(drawChanges, (error) => fill(changes, make('p', {}, error.message)));
    const stops = [state.subscribe(['device', 'theme'], drawAll), state.subscribe(['align'], drawCurves),
        state.subscribe(['color'], drawChanges)];
    return {
        svg: () => serializeSvg(curvesSvg(a, b, state)),
        rows: () => [['name', 'status', 'bytes A', 'bytes B', 'change', 'blocks A', 'blocks B'],
            ...rows.map((row) => [row.name, row.status, row.a, row.b, row.b - row.a, row.blocksA, row.blocksB])],
        destroy() {
            stopped = true;
            stops.forEach((stop) => stop());
            element.replaceChildren();
        },
    };
}
