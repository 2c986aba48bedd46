/* SPDX-License-Identifier: Apache-2.0
 *
 * All steps laid over each other on one axis, with the median and the band of the usual ones; a table of
 * the steps, the odd ones first; and of the step that is chosen, the call sites that hold more or less than
 * in a typical step. */
import {button, fill, make, toggles} from '../dom.js';
import {formatBytes, formatBytesChange, formatCount, formatNumber, formatTime} from '../format.js';
import {fillLegend} from '../surface.js';
import {AXIS_HEIGHT, drawByteGrid, drawTimeGrid, plotOf} from '../timegrid.js';
import {ChartView} from '../view.js';
import {byteTicks, showTime} from '../viewport.js';
import {changesTable, plainTable} from './changes.js';
import {comparedGroups} from './difference.js';
import {bornIn, foldSteps, isUsual, likeStep} from './stepfold.js';
import {arrangeRows} from './table.js';

const FOLD_LINES = 250; // of steps that are not odd
const FOLD_ODD_LINES = 100;
const FOLD_ODD_NAMES = 8; // written beside their lines, and in the sentence
const FOLD_ROWS = 200; // of the table; the CSV has all
const FOLD_LONG = 3; // times the median: longer steps are cut where the axis is time
const FOLD_NEAR = 12; // pixels from the pointer to a line

function stepWords(step, fold) {
    const words = step.why.join(', ');
    return !step.finished ? 'not finished' : step.warmUp ? `warm-up: ${words}` : words || (step === fold.typical ? 'typical' : '');
}

const FOLD_COLUMNS = [
    {key: 'step', title: 'Step', value: (step) => step.number, text: (step) => formatCount(step.number)},
    {key: 'peak', title: 'Peak', value: (step) => step.peak, text: (step) => formatBytes(step.peak)},
    {key: 'needs', title: 'Above its start', value: (step) => step.needs, text: (step) => formatBytes(step.needs)},
    {key: 'left', title: 'Left at its end', value: (step) => step.left, text: (step) => formatBytesChange(step.left)},
    {key: 'duration', title: 'Duration', value: (step) => step.duration, text: (step) => formatTime(step.duration)},
    {key: 'odd', title: 'Verdict', value: (step) => step.odd, text: stepWords},
];

/** The odd steps, those of memory first. */
export const oddSteps = (fold) => fold.steps.filter((step) => step.odd).sort((a, b) => (b.memory - a.memory) || b.odd - a.odd);

/** "Step 37 of 60 is odd: needs 48.0 MiB more"; in a part of a trace the number is not of as many. */
export function foldSentence(fold, head) {
    const all = oddSteps(fold);
    const memory = all.filter((step) => step.memory);
    const odd = memory.length ? memory : all;
    const count = `${formatNumber(fold.steps.length, 'step')}${head.window ? ' in this part' : ''}`;
    const steps = formatCount(fold.steps.length);
    if (odd.length === 1)
        return `Step ${formatCount(odd[0].number)} ${head.window ? `is odd, of the ${steps} in this part` : `of ${steps} is odd`}: ` +
            odd[0].why.join(', ');
    if (!memory.length && fold.growth)
        return `Memory grows: ${count} leave ${formatBytes(fold.growth)} each, in the mean`;
    if (!odd.length)
        return `None of ${count} is odd`;
    const names = odd.slice(0, FOLD_ODD_NAMES).map((step) => formatCount(step.number)).join(', ');
    return `${formatCount(odd.length)} of ${count} ${memory.length ? 'are odd' : 'took longer than usual'}: ` +
        `${names}${odd.length > FOLD_ODD_NAMES ? ', …' : ''}`;
}

/** The lines below the sentence: the typical step, and what is known of all of them. */
function foldNotes(fold, head) {
    const {typical, growth, warmUp, steps} = fold;
    const [first, many] = warmUp === 1 ? ['step differs', 'is'] : [`${formatCount(warmUp)} steps differ`, 'are'];
    return [
        `Typical is step ${formatCount(typical.number)}: it peaks at ${formatBytes(typical.peak)}, ${formatBytes(typical.needs)} ` +
            `above its start, and takes ${formatTime(typical.duration)}.`,
        growth && steps.some((step) => step.odd && step.memory) ? `Memory grows by ${formatBytes(growth)} a step, in the mean: that is not odd.` : '',
        warmUp ? `The first ${first} from the later ones and ${many} taken for warm-up.` : '',
        steps.every((step) => step.finished) ? '' : 'The last step is not judged: its end is not known.',
        head.steps_found ? 'The program marks no steps: these were found from requests that repeat.' : '',
        head.steps_found > 1 ? `Each row is ${formatCount(head.steps_found)} steps.` : '',
        head.window ? 'Only steps of the part with blocks are here.' : '',
    ].filter(Boolean).join(' ');
}

class FoldView extends ChartView {
    constructor(element, context) {
        super(element, context, {label: 'Steps laid over each other', height: 300, legend: true});
        this.fold = null;
        const {frame} = this.surface;
        this.surface.point((event) => this.stepAt(event), (step) => ({title: `step ${formatCount(step.number)}`,
            facts: FOLD_COLUMNS.slice(1).map(({title, text}) => [title.toLowerCase(), text(step, this.fold) || 'as usual'])}));
        frame.addEventListener('click', (event) => {
            const step = this.stepAt(event);
            if (step)
                this.state.set({step: step.number});
        });
        frame.addEventListener('keydown', (event) => this.move(event));
        this.state.subscribe(['step', 'stepAxis'], () => this.redrawAll());
    }

    plot() {
        return plotOf(this.surface, 12, AXIS_HEIGHT);
    }

    show(fold) {
        this.fold = fold;
        const odd = oddSteps(fold).slice(0, FOLD_ODD_LINES);
        const plain = fold.steps.filter((step) => !step.odd);
        const every = Math.max(1, plain.length / FOLD_LINES);
        const sample = Array.from({length: Math.floor(plain.length / every)}, (_, i) => plain[Math.floor(i * every)]);
        this.lines = [...sample, ...odd.reverse()];
        this.longest = Math.min(fold.typical.duration * FOLD_LONG, fold.steps.reduce((most, step) => Math.max(most, step.duration), 1));
        this.redrawAll();
    }

    isTime() {
        return this.state.get('stepAxis') === 'time';
    }

    /** What a step of *duration* has on the axis: its width in pixels. */
    widthOf(duration) {
        return this.plot().width * (this.isTime() ? duration / this.longest : 1);
    }

    scale() {
        const {curves, positions} = this.fold;
        let [low, high] = [Infinity, 1024];
        for (const {row} of this.lines) {
            for (let c = row * positions; c < (row + 1) * positions; c++) {
                low = Math.min(low, curves[c]);
                high = Math.max(high, curves[c]);
            }
        }
        const margin = (high - low) * 0.08 || high * 0.08;
        const [from, to] = [low > high / 2 ? low - margin : 0, high + margin];
        const {top, height} = this.plot();
        return {from, to, y: (bytes) => top + height * (to - bytes) / (to - from)};
    }

    /** A curve as points: of the *positions* values from *first* on. */
    points(values, first, duration, y) {
        const {positions} = this.fold;
        const {left} = this.plot();
        const wide = this.widthOf(duration) / positions;
        const xs = new Float64Array(2 * positions);
        const ys = new Float64Array(2 * positions);
        for (let c = 0; c < positions; c++) {
            xs[2 * c] = left + wide * c;
            xs[2 * c + 1] = left + wide * (c + 1);
            ys[2 * c] = ys[2 * c + 1] = y(values[first + c]);
        }
        return [xs, ys];
    }

    draw(pen) {
        const {surface, fold} = this;
        const {colors} = surface;
        const area = this.plot();
        if (!fold) {
            this.sayWaiting(pen, area.left + 8, area.top + 20);
            return;
        }
        const {from, to, y} = this.scale();
        const count = 2 * fold.positions;
        fillLegend(surface.legend, [
            {color: colors['series-allocated'], text: 'median'},
            {color: `${colors['series-allocated']}40`, text: '10th to 90th percentile'},
            ...(fold.steps.some((step) => step.odd) ? [{color: colors.danger, line: true, text: 'odd'}] : []),
            ...(fold.warmUp ? [{color: colors.warning, line: true, text: 'warm-up'}] : []),
        ]);
        drawByteGrid(pen, surface, area, byteTicks(from, to, area.height), y);
        if (this.isTime())
            drawTimeGrid(pen, surface, area, {from: 0, to: this.longest});
        else
            for (const part of [0, 25, 50, 75, 100])
                pen.text(area.left + area.width * part / 100, area.top + area.height + 14, `${part} %`, colors.muted,
                    {align: part === 100 ? 'right' : part ? 'center' : 'left'});
        pen.clip(area.left, area.top - 8, area.width, area.height + 8);
        const {low, middle, high} = fold.band;
        const usual = fold.typical.duration;
        const [xs, top] = this.points(high, 0, usual, y);
        const [, bottom] = this.points(low, 0, usual, y);
        pen.polygon([...xs, ...[...xs].reverse()], [...top, ...[...bottom].reverse()], 2 * count, colors['series-allocated'], 0.22);
        const chosen = fold.steps.find((step) => step.number === this.state.get('step'));
        for (const step of [...this.lines, ...(chosen ? [chosen] : [])]) {
            const color = step === chosen ? colors.ink : step.odd ? colors.danger : step.warmUp ? colors.warning
                : `${colors['series-allocated']}38`;
            pen.path(...this.points(fold.curves, step.row * fold.positions, step.duration, y), count, color, step === chosen ? 2 : 1.2);
        }
        pen.path(xs, this.points(middle, 0, usual, y)[1], count, colors['series-allocated'], 2.5);
        for (const step of oddSteps(fold).slice(0, FOLD_ODD_NAMES)) {
            const part = step.duration ? (step.peakAt - step.start) / step.duration : 0;
            const x = this.widthOf(step.duration) * part;
            if (x <= area.width)
                pen.text(area.left + Math.min(area.width - 40, x + 4), y(step.peak) - 4, formatCount(step.number), colors.danger,
                    {weight: '600', halo: colors.panel});
        }
        pen.unclip();
    }

    drawOver() {}

    /** The drawn step whose line is nearest to the pointer, or null. */
    stepAt(event) {
        if (!this.fold)
            return null;
        const {fold} = this;
        const {x, y} = this.inPlot(event.clientX, event.clientY);
        const scale = this.scale();
        const {top} = this.plot();
        let [best, least] = [null, FOLD_NEAR];
        for (const step of this.lines) {
            const position = Math.floor(x / this.widthOf(step.duration) * fold.positions);
            const away = Math.abs(scale.y(fold.curves[step.row * fold.positions + position]) - top - y);
            if (position >= 0 && position < fold.positions && (away < least || (step.odd && away <= least)))
                [best, least] = [step, away];
        }
        return best;
    }

    /** The arrow keys choose the step before or after. */
    move(event) {
        const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (!by || !this.fold)
            return;
        const {steps, typical} = this.fold;
        const at = steps.findIndex((step) => step.number === (this.state.get('step') ?? typical.number));
        this.state.set({step: steps[Math.max(0, Math.min(steps.length - 1, at + by))].number});
        event.preventDefault();
        event.stopPropagation();
    }
}

/** @param {Element} element @param {{trace: Object, state: Object}} page */
export function mountSteps(element, {trace, state}) {
    const title = make('h2.compare-title', {}, 'Reading the blocks…');
    const notes = make('p.muted');
    const axis = toggles('Axis', [['part', 'Part of each step'], ['time', 'Time since its begin']], state.get('stepAxis'),
        (stepAxis) => state.set({stepAxis}));
    const chart = make('div.fold-chart');
    const drawn = make('p.muted.small');
    const table = make('div.fold-steps.scrolls', {tabindex: 0, role: 'group', 'aria-label': 'Steps'});
    const detail = make('section.card');
    fill(element, make('section.card', {}, title, notes, make('div.toolbar', {}, axis), chart, drawn),
    make('div.fold-below', {}, detail, make('section.card', {}, make('h2', {}, 'Steps'), table)));
    const view = new FoldView(chart, {trace, state});
    let fold = null;

    function drawTable() {
        const sort = state.get('stepsSort');
        const heading = ({key, title: text}) => button(text, () => state.set({stepsSort: key + (sort === `${key}-` ? '+' : '-')}), {class: 'link', 'aria-pressed': String(sort.startsWith(key))});
        const rows = arrangeRows(fold.steps, FOLD_COLUMNS, '', sort).slice(0, FOLD_ROWS);
        const hidden = fold.steps.length - rows.length;
        fill(table, plainTable('Steps', FOLD_COLUMNS.map(heading), rows.map((step) => FOLD_COLUMNS.map(({key, text}) =>
            (key === 'step' ? button(text(step), () => state.set({step: step.number}), {class: 'link'})
                : make(`span${key === 'odd' && step.odd ? '.worse' : ''}`, {}, text(step, fold))))),
        rows.findIndex((step) => step.number === state.get('step'))),
        hidden ? make('p.muted', {}, `${formatNumber(hidden, 'more step')} not listed; the CSV has all.`) : null);
    }

    /** The call sites of the chosen step beside those of one like it, at their peaks or, of what it leaves, at their
     * ends; where none is chosen those of the oddest, or of a growth. */
    function drawDetail() {
        const chosen = fold.steps.find((one) => one.number === state.get('step')) || oddSteps(fold).find(({memory}) => memory);
        const usual = fold.steps.filter(isUsual);
        const step = chosen || (fold.growth && usual[usual.length - 1]);
        if (!step) {
            fill(detail, make('p.muted', {}, 'Choose a step in the picture or in the table: its call sites beside those of a typical step.'));
            return;
        }
        const like = chosen ? likeStep(fold, step) : usual[0];
        const end = !chosen || step.leaves;
        const [then, now] = [like, step].map((one) => ({trace, at: end ? Math.max(one.start, one.end - 1) : one.peakAt,
            rows: chosen && step.allocates ? bornIn(trace.loaded.blocks, one, state.get('device')) : null}));
        const what = now.rows ? 'Allocated in' : `Live at the ${end ? 'end' : 'peak'} of`;
        const [before, name] = [like, step].map(({number}) => `step ${formatCount(number)}`);
        const title = !chosen ? `What grew from ${before} to ${name}` : step.odd || step.warmUp ? `What made ${name} odd` : `S${name.slice(1)}`;
        const beside = !chosen ? '' : like === fold.typical ? ', which is typical' : ', a usual one near it';
        fill(detail, make('div.toolbar', {}, make('h2', {}, title), button('Show it on the Timeline', () => {
            showTime(trace, state, step.start - step.duration / 10, step.end + step.duration / 10);
            state.set({tab: 'timeline', cursor: now.at});
        })), make('p', {}, `${step.odd && !step.memory ? 'Its memory is as usual, it only took longer. ' : ''}${what} ${name}, beside ${before}${beside}.`),
        changesTable(comparedGroups([then, now], state.get('device'), 'site'), [before, name],
            (row) => state.set({selected: {site: row.group}, cursor: now.at})));
    }

    async function draw() {
        try {
            fold = await foldSteps(trace, state.get('device'));
        } catch (error) {
            fill(title, error.message);
            return;
        }
        if (!fold.steps.length) {
            fill(title, 'The page has the blocks of no whole step');
            return;
        }
        fill(title, foldSentence(fold, trace.head));
        fill(notes, foldNotes(fold, trace.head));
        view.show(fold);
        again();
    }
    function again() {
        axis.show(state.get('stepAxis'));
        if (!fold || !fold.steps.length)
            return;
        const left = fold.steps.length - view.lines.length;
        fill(drawn, [left ? `${formatCount(view.lines.length)} of ${formatNumber(fold.steps.length, 'step')} are drawn: every one ` +
            'that is odd, up to 100, and a sample of the others.' : '', view.isTime() && fold.steps.some((step) => step.duration > view.longest)
            ? `Longer steps are cut after ${formatTime(view.longest)}.` : ''].join(' '));
        drawTable();
        drawDetail();
    }
    state.subscribe(['step', 'stepAxis'], again);
    state.subscribe(['stepsSort'], drawTable);
    draw();
    return {
        svg: () => view.svg(),
        rows: () => [['step', 'start_ns', 'duration_ns', 'peak', 'above its start', 'left at its end', 'verdict'],
            ...(fold ? fold.steps : []).map((step) => [step.number, step.start, step.duration, step.peak, step.needs, step.left,
                stepWords(step, fold)])],
    };
}
