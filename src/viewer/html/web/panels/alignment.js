/* SPDX-License-Identifier: Apache-2.0
 *
 * Two traces on one axis: marks in each (begins of steps, of phases, or of the run) that stand at the same
 * place; between two marks time runs evenly. */
import {phaseName} from '../grouping.js';
import {upperBound} from '../liveindex.js';
import {formatCount, formatTime} from '../format.js';

const STEP_TICKS = 8;

/** Where on the axis an instant of a side is, 0 to 1; null: before its first mark or after its last.
 * @param {{times: number[], at: number[]}} side @param {number} t ns */
export function positionOf({times, at}, t) {
    const i = upperBound(times, t) - 1;
    if (i < 0 || t > times[times.length - 1])
        return null;
    const span = times[i + 1] - times[i];
    return i + 1 < times.length ? at[i] + (at[i + 1] - at[i]) * (t - times[i]) / span : at[i];
}

function bySteps(traces, folds) {
    const numbers = folds.map(({steps}) => [steps[0].number, steps[steps.length - 1].number]);
    const each = Math.max(1, ...traces.map(({head}) => head.steps_found || 1));
    const first = Math.min(...numbers.map(([from]) => from));
    const count = Math.max(...numbers.map(([, to]) => to)) + each - first;
    const sides = folds.map(({steps}, i) => ({times: [...steps.map(({start}) => start), steps[steps.length - 1].end],
        at: [...steps.map(({number}) => (number - first) / count), (numbers[i][1] + each - first) / count]}));
    const every = Math.ceil(count / STEP_TICKS);
    const ticks = Array.from({length: Math.ceil(count / every)}, (_, i) => ({at: (i * every + 0.5) / count, text: formatCount(first + i * every)}));
    return {sides, ticks, first, count, what: 'peak by step'};
}

/** When each phase was first begun, by its path. */
function firstPhases({head, loaded: {ranges}}) {
    const first = new Map();
    for (let i = 0; ranges && i < ranges.count; i++) {
        const path = phaseName(head, ranges.phase[i]);
        if (!first.has(path))
            first.set(path, ranges.start[i]);
    }
    return first;
}

function byPhases(traces) {
    const [a, b] = traces.map(firstPhases);
    const ends = traces.map(({head}) => head.duration);
    const marks = [{path: '', times: [0, 0]}];
    for (const [path, time] of [...a].sort((x, y) => x[1] - y[1])) {
        const times = [time, b.get(path)];
        const last = marks[marks.length - 1];
        if (b.has(path) && times.every((t, i) => t > last.times[i] && t < ends[i]))
            marks.push({path, times});
    }
    if (marks.length < 2)
        return null;
    marks.push({path: '', times: ends});
    const at = marks.map(({times}) => (times[0] / ends[0] + times[1] / ends[1]) / 2);
    return {sides: [0, 1].map((i) => ({times: marks.map(({times}) => times[i]), at})), what: 'time between the begins of phases',
        ticks: marks.slice(1, -1).map(({path}, i) => ({at: at[i + 1], text: path.slice(path.lastIndexOf(' / ') < 0 ? 0 : path.lastIndexOf(' / ') + 3)}))};
}

function byTime(traces, sameLength) {
    const ends = traces.map(({head}) => head.duration || 1);
    const end = Math.max(...ends);
    return {sides: ends.map((last) => ({times: [0, last], at: [0, sameLength ? 1 : last / end]})), what: 'time',
        ticks: [{at: 0, text: '0 s'}, {at: 1, text: sameLength ? 'end of each run' : formatTime(end)}]};
}

/** The ways in which two traces can be laid on one axis, the best first: {key, name, sides, ticks: {at, text}[],
 * what}; by steps also first and count. @param {Object[]} traces two @param {Object[]} folds of foldSteps, or nulls */
export function alignments(traces, folds) {
    const steps = folds.every((fold) => fold && fold.steps.length) ? bySteps(traces, folds) : null;
    const phases = byPhases(traces);
    return [steps && {key: 'steps', name: 'Steps', ...steps}, phases && {key: 'phases', name: 'Phases', ...phases},
        {key: 'length', name: 'Part of the run', ...byTime(traces, true)}, {key: 'clock', name: 'Clock', ...byTime(traces, false)}].filter(Boolean);
}
