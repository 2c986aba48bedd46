/* SPDX-License-Identifier: Apache-2.0
 *
 * Two traces side by side: which peaks higher, their curves on one axis by step, phase or time, their figures, what
 * is new, gone, grown and shrunk at the peaks or at that of a step, as a table and as a flame graph, and their
 * phases. A is the first trace of the page. */
import {alignments, positionOf} from './alignment.js';
import {button, choice, fill, make, makeSvg, serializeSvg, toggles} from '../dom.js';
import {formatBytes, formatBytesChange, formatCount, formatTime, shorten, shortenApart} from '../format.js';
import {groupingsOf} from '../grouping.js';
import {STEPS_LEAST, bornIn, foldSteps} from './stepfold.js';
import {byteTicks} from '../viewport.js';
import {changesTable, plainTable} from './changes.js';
import {comparedFigures, comparedGroups, comparedPhases, comparedSites, differenceSentence} from './difference.js';
import {mountFlame} from './flame.js';
import {buildDifference, sumBySite} from './frames.js';
import {peakTime} from './moment.js';

const COMPARE_LEFT = 72;
const COMPARE_BOTTOM = 24;
const COMPARE_STEP_LEAST = 4; // pixels of a step whose curve is drawn as well

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

/** A curve as an SVG path: the highest value of each bucket, where the bucket is on the axis. */
function curvePath(curve, values, xOf, yOf) {
    const points = [];
    let first = null;
    for (let i = 0; i < curve.count; i++) {
        const x = xOf(curve.time[i]);
        if (x === null)
            continue;
        points.push(`${first === null ? 'M' : 'L'}${x.toFixed(1)} ${yOf(values[i]).toFixed(1)}`);
        first = first ?? x;
    }
    return {line: points.join(''), first};
}

/** The peaks of the steps as an SVG path of level pieces. */
function stepPath(steps, {at}, xOf, yOf) {
    return steps.map(({peak}, i) => `${i ? 'V' : `M${xOf(at[i]).toFixed(1)} `}${yOf(peak).toFixed(1)}H${xOf(at[i + 1]).toFixed(1)}`).join('');
}

/** Both curves on one axis, which *axis* of alignments() has; by steps, the peak of each step over them. */
function curvesSvg([a, b], state, axis, folds, width, height) {
    const device = state.get('device');
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const curves = [a, b].map((trace) => trace.loaded.curves && trace.loaded.curves[device]);
    const [name, memory] = [...(axis.count ? [['live', 'Live blocks']] : []), ['tensors', `${a.head.levels.framework} tensors`], ['allocated', 'Allocated memory']]
        .find(([key]) => key === 'allocated' || curves.every((curve) => curve && curve[`${key}_max`]));
    const what = `${memory} of both traces; ${axis.what}`;
    const svg = makeSvg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'font-size': 11,
        'font-family': 'system-ui, sans-serif', 'aria-label': what});
    const most = Math.max(1, ...curves.map((curve) => (curve ? curve[`${name}_max`].reduce((x, y) => Math.max(x, y), 0) : 0)));
    const bottom = height - COMPARE_BOTTOM;
    const yOf = (bytes) => bottom - (bottom - 10) * bytes / most;
    const xOf = (at) => COMPARE_LEFT + (width - COMPARE_LEFT) * at;
    for (const {at, text} of byteTicks(0, most, bottom))
        svg.append(makeSvg('line', {x1: COMPARE_LEFT, x2: width, y1: yOf(at), y2: yOf(at), stroke: color('--grid')}),
            makeSvg('text', {x: COMPARE_LEFT - 8, y: yOf(at) + 4, 'text-anchor': 'end', fill: color('--muted')}, text));
    const number = axis.count ? state.get('step') : null;
    if (number !== null && number >= axis.first && number < axis.first + axis.count)
        svg.append(makeSvg('rect', {x: xOf((number - axis.first) / axis.count), y: 10, height: bottom - 10, fill: color('--accent'),
            'fill-opacity': 0.14, width: Math.max(2, (width - COMPARE_LEFT) / axis.count)}));
    curves.forEach((curve, i) => {
        if (!curve)
            return;
        const stroke = color(i ? '--series-b' : '--series-allocated');
        const {line, first} = curvePath(curve, curve[`${name}_max`], (time) => {
            const at = positionOf(axis.sides[i], time);
            return at === null ? null : xOf(at);
        }, yOf);
        if (line && !(axis.count > width / COMPARE_STEP_LEAST))
            svg.append(makeSvg('path', {d: `${line}V${bottom}H${first}Z`, fill: stroke, 'fill-opacity': 0.1}),
                makeSvg('path', {d: line, fill: 'none', stroke, 'stroke-width': axis.count ? 1 : 1.5, 'stroke-linejoin': 'round',
                    'stroke-opacity': axis.count ? 0.5 : 0.9}));
        if (axis.count)
            svg.append(makeSvg('path', {d: stepPath(folds[i].steps, axis.sides[i], xOf, yOf), fill: 'none', stroke, 'stroke-width': 2.5}));
    });
    let free = -Infinity;
    for (const {at, text} of axis.ticks) {
        const shown = shorten(text, 24);
        const half = shown.length * 3.2;
        const x = Math.max(COMPARE_LEFT + (at ? half : 0), Math.min(width - half, xOf(at)));
        if (x - half < free)
            continue;
        free = x + half + 8;
        svg.append(makeSvg('text', {x, y: height - 6, fill: color('--muted'), 'text-anchor': at ? 'middle' : 'start'}, shown));
    }
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
    return phases.length ? make('section.card', {}, make('h2', {}, 'Phases'), make('div.scrolls', {tabindex: 0, role: 'group', 'aria-label': 'Phases'},
        plainTable('Peaks and times of phases', ['Phase', 'Peak A', 'Peak B', 'Change', 'Time A', 'Time B'], phases.map((row) => [row.path,
            figureText(row.peakA), figureText(row.peakB), changeCell({a: row.peakA, b: row.peakB}), figureText(row.timeA, 'time'),
            figureText(row.timeB, 'time')])))) : null;
}

/** @param {Element} element @param {{trace: Object, other: Object, state: Object}} page */
export function mountCompare(element, {trace, other, state}) {
    const traces = [trace, other];
    const [a, b] = traces;
    const chart = make('div.compare-chart');
    const title = make('h2.compare-title');
    const command = make('p.muted');
    const what = make('h2');
    const back = button('At the peaks of the runs', () => state.set({step: null}));
    const number = make('input', {type: 'number', on: {change: () => state.set({step: number.value ? Number(number.value) : null})}});
    const field = make('label.choice', {}, make('span', {}, 'in step'), number);
    const reading = make('p.muted.small', {'aria-live': 'polite'});
    const figures = make('div');
    const phases = make('div');
    const changes = make('div.scrolls', {tabindex: 0, role: 'group', 'aria-label': 'Changes'}, make('p.view-words', {}, 'Reading the blocks of both traces…'));
    const graph = make('div.compare-flame');
    const align = make('span');
    const grouping = choice('by', groupingsOf({}), state.get('compareBy'), (compareBy) => state.set({compareBy}));
    const titles = shortenApart([a.head.title, b.head.title], 40);
    const name = (which, of) => make('span.legend-line', {title: of.head.command}, make(`span.key.key-${which}`, {'aria-hidden': 'true'}),
        `${which.toUpperCase()}: ${titles[of === a ? 0 : 1]}`);
    fill(element, make('div.hero.compare-hero', {}, make('section.card.curve', {}, title, command,
        make('div.toolbar', {}, name('a', a), name('b', b), align), chart, reading), figures),
    make('section.card', {}, make('div.toolbar', {}, what, grouping, field, back), changes),
    make('section.card', {}, make('h2', {}, 'Flame graph of the difference'), graph), phases);
    let rows = [];
    let folds = [null, null];
    let byNumber = [new Map(), new Map()];
    let apart = ''; // where the steps differ most
    const size = () => [Math.max(280, chart.clientWidth), Math.max(200, chart.clientHeight)];

    const axisNow = () => {
        const all = alignments(traces, folds);
        return all.find(({key}) => key === state.get('align')) || all[0];
    };
    const stepsNow = (which) => byNumber.map((steps) => steps.get(which));

    /** What is compared: the chosen step at its peak in both, or where those are equal what was allocated in it; else
     * the peaks of the runs. */
    function momentsNow() {
        const [chosen, device] = [state.get('step'), state.get('device')];
        const steps = stepsNow(chosen);
        const both = steps.every(Boolean);
        const inside = both && steps[0].peak === steps[1].peak && steps[0].allocated !== steps[1].allocated;
        const peaks = traces.map(({head}) => peakTime(head, device));
        const missing = chosen !== null && folds[0] && !both ? `, for ${steps[0] ? 'B' : 'A'} has no step ${formatCount(chosen)}` : '';
        return {moments: traces.map((of, i) => ({trace: of, at: both ? steps[i].peakAt : peaks[i],
            rows: inside ? bornIn(of.loaded.blocks, steps[i], device) : null})), chosen,
        words: both ? `${inside ? 'Allocated in' : 'Live at the peak of'} step ${formatCount(chosen)}` : `Live at the peaks${missing}`};
    }
    /** The words of the commands that differ. */
    function commandWords() {
        const words = traces.map(({head}) => (head.command || '').split(' '));
        const [[x, y], least] = [words, Math.min(words[0].length, words[1].length)];
        let [begin, end] = [0, 0]; // how many words are equal there
        while (begin < least && x[begin] === y[begin])
            begin++;
        while (end < least - begin && x.at(-1 - end) === y.at(-1 - end))
            end++;
        const only = words.map((own) => own.slice(begin, own.length - end).join(' ') || 'nothing');
        return words[0].join(' ') === words[1].join(' ') ? '' : `The commands differ: ${shorten(only[0], 120)} in A, ${shorten(only[1], 120)} in B.`;
    }
    function drawFigures() {
        fill(command, commandWords());
        fill(title, differenceSentence(a, b, state.get('device')));
        fill(figures, figuresCard(a, b, state.get('device')));
        fill(phases, phasesCard(a, b, state.get('device')));
    }
    /** Where the peaks of the steps differ most, or if they do not what they allocate. */
    function mostWords() {
        const pairs = [...byNumber[0].keys()].map(stepsNow).filter(([, other]) => other);
        for (const [key, what] of [['peak', 'The peaks differ'], ['allocated', 'The peaks are equal; what is allocated differs']]) {
            const change = ([step, other]) => other[key] - step[key];
            const most = pairs.reduce((best, pair) => (Math.abs(change(pair)) > Math.abs(change(best)) ? pair : best), pairs[0]);
            if (most && change(most))
                return `${what} most in step ${formatCount(most[0].number)}: ${formatBytesChange(change(most))}.`;
        }
        return pairs.length ? 'The steps that both have are equal.' : '';
    }
    function say(which) {
        const steps = stepsNow(which);
        const parts = steps.map((step, i) => `${'AB'[i]} ${step ? formatBytes(step.peak) : 'has none'}`);
        const change = steps.every(Boolean) ? `: ${formatBytesChange(steps[1].peak - steps[0].peak)}; allocated in it ` +
            formatBytesChange(steps[1].allocated - steps[0].allocated) : '';
        fill(reading, which === null ? `${apart} Click a step to compare it in both.`
            : `Step ${formatCount(which)}: peak of ${parts.join(', ')}${change}`);
    }
    function drawCurves() {
        if (!a.loaded.curves || !b.loaded.curves)
            return;
        const axis = axisNow();
        fill(chart, curvesSvg(traces, state, axis, folds, ...size()));
        fill(align, toggles('Aligned by', alignments(traces, folds).map(({key, name: text}) => [key, text]), axis.key,
            (value) => state.set({align: value})));
        reading.hidden = !axis.count;
        say(state.get('step'));
    }
    function drawChanges() {
        if (!a.loaded.blocks || !b.loaded.blocks)
            return;
        const {moments, words, chosen} = momentsNow();
        fill(what, words);
        back.hidden = chosen === null;
        field.hidden = !folds[0];
        number.value = state.get('step') ?? '';
        grouping.show(state.get('compareBy'));
        rows = comparedGroups(moments, state.get('device'), state.get('compareBy'));
        fill(changes, changesTable(rows));
    }
    const flame = mountFlame(graph, {trace: a, state}, {
        follows: ['step'], heads: traces.map(({head}) => head), loaded: Promise.all([a.blocks, b.blocks]),
        build(options, words) {
            const {moments, words: when} = momentsNow();
            const sides = moments.map(({trace: of, at, rows: inside}) => ({head: of.head,
                sums: sumBySite(of.loaded.blocks, inside || of.liveAt(at, state.get('device')))}));
            const root = buildDifference(sides, comparedSites(b).renamed, options);
            fill(words, make('span', {}, `${when}; the width is the larger of both.`));
            return {root, words: `${a.head.title} and ${b.head.title}: ${when.toLowerCase()}`};
        },
    });
    async function readSteps() {
        await Promise.all([a.ranges, b.ranges]);
        const made = await Promise.all(traces.map((of) => foldSteps(of, state.get('device'))));
        folds = made.every(({steps}) => steps.length >= STEPS_LEAST) ? made : [null, null];
        byNumber = folds.map((fold) => new Map((fold ? fold.steps : []).map((step) => [step.number, step])));
        apart = mostWords();
        drawCurves();
        drawChanges();
        if (state.get('step') !== null)
            flame.rebuild();
    }
    /** The number of the step at the pointer; null: there is none. */
    function numberAt(event) {
        const {first, count} = axisNow();
        const part = (event.clientX - chart.getBoundingClientRect().left - COMPARE_LEFT) / (size()[0] - COMPARE_LEFT);
        return count && part >= 0 && part < 1 ? first + Math.floor(part * count) : null;
    }
    chart.addEventListener('pointermove', (event) => say(numberAt(event) ?? state.get('step')));
    chart.addEventListener('pointerleave', () => say(state.get('step')));
    chart.addEventListener('click', (event) => {
        const which = numberAt(event);
        if (which !== null && stepsNow(which).every(Boolean))
            state.set({step: which});
    });
    drawFigures();
    drawCurves();
    drawChanges();
    new ResizeObserver(drawCurves).observe(chart);
    Promise.all([a.curves, b.curves]).then(drawCurves, () => {});
    Promise.all([a.blocks, b.blocks]).then(drawChanges, (error) => fill(changes, make('p', {}, error.message)));
    readSteps().catch(() => {}); // the blocks have told why
    state.subscribe(['align', 'step'], drawCurves);
    state.subscribe(['compareBy', 'step'], drawChanges);
    return {
        svg: () => serializeSvg(curvesSvg(traces, state, axisNow(), folds, ...size())),
        rows: () => [['name', 'status', 'bytes A', 'bytes B', 'change', 'blocks A', 'blocks B'],
            ...rows.map((row) => [row.name, row.status, row.a, row.b, row.b - row.a, row.blocksA, row.blocksB])],
    };
}
