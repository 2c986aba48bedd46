/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a trace laid over each other: of each its curve by position, its peak, what it needs above
 * the level at its begin, what it leaves and allocates, and its duration; the step that is typical, and
 * those that are odd. Needs and leftovers are judged, not levels: after a step that leaves memory the next ones are higher,
 * but not odd. Memory that steps leave again and again is growth. */
import {upperBound} from '../liveindex.js';
import {inSlices} from '../slices.js';
import {formatBytes, toDecimals} from '../format.js';

const POSITIONS = 160; // of a curve
const CURVE_VALUES = 4e6; // of all curves: with more steps each has fewer positions
const ODD = 5; // times the usual deviation from the median
const LONGER_MIN_NS = 2e5; // the least deviation of durations that counts as usual: the clock is noisy
const WARM_UP_PART = 4; // at most a quarter of the steps, the first one always
/** Steps that a trace must have. */
export const STEPS_LEAST = 3;

/** Whether a step is one of those that the others are compared with. */
export const isUsual = (step) => step.finished && !step.odd && !step.warmUp;

/** The rows of trace.loaded.steps of which the page has all blocks. */
function wholeSteps({head, loaded: {steps}}) {
    const part = head.window || {from: 0, to: Infinity};
    const rows = [];
    for (let i = 0; i < steps.count; i++) {
        const start = steps.start[i];
        const end = Math.min(start + steps.duration[i], i + 1 < steps.count ? steps.start[i + 1] : Infinity);
        if (start >= part.from && end <= part.to)
            rows.push({number: steps.number[i], start, end, duration: end - start, begin: 0, peak: 0, peakAt: start, finish: 0,
                allocated: 0});
    }
    return rows;
}

/** Fills in the levels of *steps* and their curves: the most that was live in each position. */
async function sweepSteps(blocks, device, steps, curves, positions) {
    const {born, died, bytes, device: devices, count} = blocks;
    const order = await blocks.live.deaths();
    let [level, i, j, at, column] = [0, 0, 0, 0, -1]; // column -1: step *at* has not begun

    /** The level did not change until *t*. */
    function hold(t) {
        for (; at < steps.length && t >= steps[at].start; at++) {
            const step = steps[at];
            if (column < 0) {
                column = 0;
                step.begin = step.peak = level;
            }
            const over = t >= step.end;
            const last = over ? positions - 1
                : Math.min(positions - 1, Math.floor((t - step.start) / step.duration * positions));
            for (let c = column; c <= last; c++)
                curves[at * positions + c] = Math.max(curves[at * positions + c], level);
            column = last;
            if (!over)
                return;
            step.finish = level;
            column = -1;
        }
    }
    await inSlices(count + order.length, 1 << 14, (from, to) => {
        for (let k = from; k < to; k++) {
            const birth = i < count ? born[i] : Infinity;
            const death = j < order.length ? died[order[j]] : Infinity;
            const row = death <= birth ? order[j++] : i++;
            if (devices[row] !== device)
                continue;
            const t = Math.min(birth, death);
            hold(t);
            level += death <= birth ? -bytes[row] : bytes[row];
            if (column < 0)
                continue;
            const step = steps[at];
            if (level > step.peak)
                Object.assign(step, {peak: level, peakAt: t});
            if (birth < death && died[row] > birth)
                step.allocated += bytes[row];
        }
    });
    hold(Infinity);
}

const middleOf = (sorted) => sorted[sorted.length >> 1];

/** The median, and the usual deviation from it: of a normal distribution its standard deviation. */
function spreadOf(values, least) {
    const middle = middleOf(Float64Array.from(values).sort());
    const away = Float64Array.from(values, (value) => Math.abs(value - middle)).sort();
    return {middle, usual: Math.max(least, 1.4826 * middleOf(away))};
}

/** Bytes that the level at the end of a step grows by, in the mean: the median over spans of a quarter of the
 * steps, so that neither one step nor one lasting change counts. 0: it does not grow. */
function growthOf(steps, least) {
    const span = Math.max(1, Math.floor(steps.length / 4));
    const grown = Float64Array.from({length: steps.length - span}, (_, i) => steps[i + span].finish - steps[i].finish).sort();
    return grown.length && middleOf(grown) > least ? middleOf(grown) / span : 0;
}

/** Sets *why* of the steps (words for each way in which they are odd), *odd* (how far, 0: not) and *warmUp*. */
function judge(fold) {
    const judged = fold.steps.filter((step) => step.finished);
    if (judged.length < STEPS_LEAST)
        return;
    const least = Math.max(512, middleOf(Float64Array.from(judged, ({peak}) => peak).sort()) / 1000);
    const needs = spreadOf(judged.map((step) => step.needs), least);
    const allocated = spreadOf(judged.map((step) => step.allocated), least);
    const lasting = spreadOf(judged.map(({duration}) => duration), 0).middle;
    const durations = spreadOf(judged.map(({duration}) => duration), Math.max(LONGER_MIN_NS, lasting / 5));
    fold.growth = growthOf(judged, least);
    const growing = fold.growth ? judged.filter(({left}) => left > least) : judged;
    const left = spreadOf((growing.length ? growing : judged).map((step) => step.left), least);
    for (const step of judged) {
        const far = {needs: (step.needs - needs.middle) / needs.usual, left: (step.left - left.middle) / left.usual,
            duration: (step.duration - durations.middle) / durations.usual,
            allocated: (step.allocated - allocated.middle) / allocated.usual};
        if (fold.growth && Math.abs(step.left) <= least)
            far.left = 0; // memory that grows in some of the steps
        step.leaves = Math.abs(far.left) > ODD && Math.abs(far.needs) <= ODD;
        step.allocates = Math.abs(far.allocated) > ODD && Math.max(Math.abs(far.needs), Math.abs(far.left)) <= ODD; // below the peak
        step.memory = step.allocates || Math.max(Math.abs(far.needs), Math.abs(far.left)) > ODD;
        if (Math.abs(far.needs) > ODD)
            step.why.push(`needs ${formatBytes(Math.abs(step.needs - needs.middle))} ${far.needs > 0 ? 'more' : 'less'}`);
        if (Math.abs(far.left) > ODD)
            step.why.push(`${step.left < 0 ? 'frees' : 'leaves'} ${formatBytes(Math.abs(step.left))}`);
        if (step.allocates)
            step.why.push(`allocates ${formatBytes(Math.abs(step.allocated - allocated.middle))} ${far.allocated > 0 ? 'more' : 'less'} below its peak`);
        if (far.duration > ODD)
            step.why.push(`${toDecimals(step.duration / durations.middle, 1)} times as long`);
        step.odd = step.why.length ? Math.max(...Object.values(far).map(Math.abs)) : 0;
    }
    const first = judged.findIndex((step) => !step.odd);
    fold.warmUp = first > 0 && first <= Math.max(1, judged.length / WARM_UP_PART) ? first : 0;
    judged.slice(0, fold.warmUp).forEach((step) => Object.assign(step, {odd: 0, warmUp: true}));
}

/** The median and the 10th and 90th percentile of each position over the steps that are not odd, and the
 * step whose curve is nearest to the median. */
async function findTypical(fold) {
    const {curves, positions} = fold;
    const usual = fold.steps.filter(isUsual);
    const rows = usual.length ? usual : fold.steps;
    const values = new Float64Array(rows.length);
    const away = new Float64Array(rows.length);
    fold.band = {low: new Float64Array(positions), middle: new Float64Array(positions), high: new Float64Array(positions)};
    await inSlices(positions, 4, (from, to) => {
        for (let c = from; c < to; c++) {
            rows.forEach((step, i) => (values[i] = curves[step.row * positions + c]));
            const sorted = values.slice().sort();
            fold.band.low[c] = sorted[Math.floor(0.1 * (rows.length - 1))];
            fold.band.middle[c] = middleOf(sorted);
            fold.band.high[c] = sorted[Math.ceil(0.9 * (rows.length - 1))];
            values.forEach((value, i) => (away[i] += Math.abs(value - fold.band.middle[c])));
        }
    });
    fold.typical = rows[away.reduce((best, value, i) => (value < away[best] ? i : best), 0)];
}

async function foldOf(trace, device) {
    const [blocks, table] = await Promise.all([trace.blocks, trace.steps]);
    const steps = blocks && table ? wholeSteps(trace) : [];
    if (!steps.length)
        return {steps, growth: 0, warmUp: 0};
    const positions = Math.max(16, Math.min(POSITIONS, Math.floor(CURVE_VALUES / steps.length)));
    const fold = {steps, positions, curves: new Float64Array(steps.length * positions), growth: 0, warmUp: 0};
    await sweepSteps(blocks, device, steps, fold.curves, positions);
    const {steps_found: found, window: part, report: {steps: {done}}} = trace.head;
    steps.forEach((step, row) => Object.assign(step, {row, needs: step.peak - step.begin, left: step.finish - step.begin,
        finished: found ? row < steps.length - 1 : part ? step.end < part.to : row < done, why: [], odd: 0, warmUp: false}));
    judge(fold);
    await findTypical(fold);
    return fold;
}

/** The steps of *device*, folded; kept. trace.steps and trace.blocks need not be loaded.
 * @returns {Promise<{steps: Object[], curves: Float64Array, positions: number, typical: Object, band: Object,
 *   growth: number, warmUp: number}>} of a step: number, start, end, duration, begin (bytes), peak, peakAt, finish,
 *   needs (peak - begin), left (finish - begin), finished, odd (how far; 0: not), why (words), warmUp, row: that
 *   of its curve, which has *positions* values; typical: the step nearest to the median; band: low, middle,
 *   high by position; growth: bytes per step; warmUp: how many of the first steps differ */
export function foldSteps(trace, device) {
    trace.folds = trace.folds || {};
    return (trace.folds[device] = trace.folds[device] || foldOf(trace, device));
}

/** The step that *step* is compared with: the typical one, or where the level has changed in between, the usual
 * step nearest to it. */
export function likeStep(fold, step) {
    const near = Math.max(512, fold.typical.peak / 1000);
    if (Math.abs(fold.typical.begin - step.begin) <= near)
        return fold.typical;
    const usual = fold.steps.filter((other) => other !== step && isUsual(other));
    return usual.reduce((best, other) =>
        (Math.abs(other.row - step.row) < Math.abs(best.row - step.row) ? other : best), usual[0] || fold.typical);
}

/** The blocks of *device* that were born in *step*, as rows. */
export function bornIn({born, died, device: devices}, step, device) {
    const rows = [];
    for (let i = upperBound(born, step.start - 1); i < born.length && born[i] < step.end; i++) {
        if (devices[i] === device && died[i] > born[i])
            rows.push(i);
    }
    return rows;
}
