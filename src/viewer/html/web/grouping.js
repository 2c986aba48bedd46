/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks by call site, phase, step, module, kind, library, size, age or stream: the group of each block, the names
 * of the groups, and their colours, which are the same in every view. Groups that fill the largest
 * areas (bytes times time) get the distinct colours. */
import {cycleColor, neutralColor, paletteFor} from './colors.js';
import {upperBound} from './liveindex.js';
import {formatBytes, formatCount} from './format.js';
import {streamText} from './segmentlayout.js';

const DISTINCT = 20;
const KIB = 1024;
const SIZE_EDGES = [4 * KIB, 64 * KIB, KIB * KIB, 10 * KIB * KIB, 100 * KIB * KIB, KIB ** 3];
const AGE_EDGES = [1e6, 1e7, 1e8, 1e9, 1e10, Infinity];
const AGE_NAMES = ['lived less than 1 ms', '1 to 10 ms', '10 to 100 ms', '0.1 to 1 s', '1 to 10 s',
    'more than 10 s', 'live at the end'];

/** What blocks can be coloured by, with the name on the page. */
export const GROUPINGS = {site: 'call site', phase: 'phase', step: 'step', module: 'module', kind: 'kind', library: 'library', size: 'size',
    age: 'lifetime', stream: 'stream'};
const OF_SEGMENTS = ['site', 'library', 'size', 'age', 'stream']; // the other groupings have no meaning for segments

function sizeNames() {
    const text = SIZE_EDGES.map((edge) => formatBytes(edge));
    return [`below ${text[0]}`, ...text.slice(1).map((t, i) => `${text[i]} to ${t}`),
        `${text[text.length - 1]} and more`];
}

function classify(values, edges) {
    const of = new Uint8Array(values.length);
    for (let i = 0; i < values.length; i++) {
        let group = 0;
        while (group < edges.length && values[i] >= edges[group])
            group++;
        of[i] = group;
    }
    return of;
}

/** "step / forward". @param {Object} head @param {number} phase index + 1; 0 none @returns {string} */
export function phaseName(head, phase) {
    const names = [];
    for (let p = phase; p > 0 && head.phases[p - 1] && names.length < 64; p = head.phases[p - 1].parent)
        names.unshift(head.phases[p - 1].name);
    return names.join(' / ') || 'outside of any range';
}

/** Call sites that read the same are one group, that of the first of them, as in the report. */
function sitesByLabel(head, table) {
    const first = new Map();
    const group = Uint32Array.from(head.sites, ({label}, site) => {
        if (!first.has(label))
            first.set(label, site);
        return first.get(label);
    });
    return {of: table.site.map((site) => group[site]), names: head.sites.map((site) => site.label)};
}

/** The stream and pool of each segment. */
function poolsOfSegments(trace, {stream, pool}) {
    const groups = new Map();
    const names = [];
    const of = stream.map((number, i) => {
        const key = `${number} ${pool[i]}`;
        if (!groups.has(key))
            groups.set(key, names.push(streamText(trace, {stream: number, pool: pool[i]})) - 1);
        return groups.get(key);
    });
    return {of, names};
}

function groupsBy(trace, key, table) {
    const {head, loaded: {blocks}} = trace;
    switch (key) {
    case 'phase':
        return {of: blocks.phase, names: [phaseName(head, 0), ...head.phases.map((_, i) => phaseName(head, i + 1))]};
    case 'step':
        return stepsOfBlocks(trace);
    case 'module':
        return modulesOfBlocks(trace);
    case 'kind':
        return {of: blocks.kind, names: head.kinds};
    case 'library':
        return {of: table.site.map((site) => head.sites[site].library), names: head.libraries};
    case 'size':
        return {of: classify(table.bytes, SIZE_EDGES), names: sizeNames()};
    case 'age':
        return {of: classify(table.died.map((died, i) => died - table.born[i]), AGE_EDGES), names: AGE_NAMES};
    case 'stream':
        return table.pool ? poolsOfSegments(trace, table) : {of: blocks.stream, names: ['no stream', ...head.streams.map((stream) => stream.name)]};
    default:
        return sitesByLabel(head, table);
    }
}

/** The step in which each block was allocated; index + 1 in the steps section, whose numbers are its names. */
function stepsOfBlocks({head, loaded: {blocks, steps}}) {
    const found = head.steps_found === 1 && steps;
    const of = found ? Uint32Array.from(blocks.born, (t) => upperBound(steps.start, t)) : blocks.step || new Uint32Array(blocks.count);
    const most = of.reduce((a, b) => Math.max(a, b), 0);
    return {of, names: Array.from({length: most + 1}, (_, i) => i === 0 ? 'outside of any step'
        : steps && i <= steps.count ? `step ${formatCount(steps.number[i - 1])}` : 'after the last step'), early: steps === undefined};
}

/** The module in whose code each block was allocated, whatever the pass. */
function modulesOfBlocks({head, loaded: {blocks, lives}}) {
    const names = ['in no module', ...new Set(head.modules.map(({name}) => name))];
    const numbers = Uint32Array.from([0, ...head.modules.map(({name}) => names.indexOf(name))]);
    return {of: lives && lives.module ? Uint32Array.from(lives.module, (module) => numbers[module]) : new Uint32Array(blocks.count),
        names, early: !lives};
}

const nameOf = (key, bands) => (bands === 'segments' && key === 'stream' ? 'stream and pool' : GROUPINGS[key]);

/** The keys and names of the groupings that tell something about the blocks of a trace, or its segments, for a choice. */
export function groupingsOf({modules}, bands = 'blocks') {
    return Object.keys(GROUPINGS).filter((key) => (bands === 'blocks' ? key !== 'module' || (modules && modules.length) : OF_SEGMENTS.includes(key)))
        .map((key) => [key, nameOf(key, bands)]);
}

/** By what *bands* are grouped where *color* is chosen. */
export function groupingOf(color, bands) {
    return bands === 'blocks' || OF_SEGMENTS.includes(color) ? color : 'stream';
}

function areas({count, bytes, born, died}, of, groups, end) {
    const area = new Float64Array(groups);
    for (let i = 0; i < count; i++)
        area[of[i]] += bytes[i] * (Math.min(died[i], end) - born[i] + 1);
    return area;
}

/** The grouping of the trace's blocks, or segments, by *color* (a key of GROUPINGS); they must be loaded. Segments
 * that have no such groups are grouped by stream and pool. Kept: the second call is free.
 * @returns {{name: string, names: string[], of: ArrayLike<number>, order: number[], table: Object,
 *   colors: function(string): string[]}} of: group of each row of the table; order: largest area first;
 *   colors(theme): colour of each group */
export function groupBlocks({source: trace}, color, bands = 'blocks') {
    const key = groupingOf(color, bands);
    trace.groupings = trace.groupings || {};
    if (trace.groupings[bands + key])
        return trace.groupings[bands + key];
    const table = trace.loaded[bands];
    const {of, names, early} = groupsBy(trace, key, table);
    const area = areas(table, of, names.length, trace.head.duration);
    const order = names.map((_, g) => g).filter((g) => area[g] > 0).sort((a, b) => area[b] - area[a]);
    const themes = {};
    const colors = (theme) => {
        if (!themes[theme]) {
            const distinct = order.slice(0, DISTINCT);
            const palette = paletteFor(distinct.map((g) => names[g]), theme);
            themes[theme] = key === 'step' ? names.map((_, g) => cycleColor(g, theme)) : names.map(() => neutralColor(theme));
            if (key !== 'step')
                distinct.forEach((g, rank) => (themes[theme][g] = palette[rank]));
        }
        return themes[theme];
    };
    const grouping = {name: nameOf(key, bands), names, of, order, colors, area, table};
    if (!early) // else the section of the steps, or of the modules, is not there yet
        trace.groupings[bands + key] = grouping;
    return grouping;
}

/** Call sites whose label or stack contains *text*, in any case of letters: 1 for each, null for no text.
 * @param {Object} trace @param {string} text @returns {Uint8Array|null} */
export function matchSites(trace, text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted)
        return null;
    if (trace.matched && trace.matched.wanted === wanted)
        return trace.matched.sites;
    const {head} = trace;
    const frames = head.frames.map((name) => name.toLowerCase().includes(wanted));
    const files = head.files.map((name) => name.toLowerCase().includes(wanted));
    const rows = new Uint8Array(head.stacks.length + 1);
    head.stacks.forEach(([parent, frame, file], i) => {
        rows[i + 1] = rows[parent] || frames[frame] || (file && files[file - 1]) ? 1 : 0;
    });
    const sites = Uint8Array.from(head.sites, (site) =>
        site.label.toLowerCase().includes(wanted) || rows[site.stack] ? 1 : 0);
    trace.matched = {wanted, sites};
    return sites;
}
