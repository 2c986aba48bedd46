/* SPDX-License-Identifier: Apache-2.0
 *
 * What the trace knows about a block, a segment or a call site, as pairs of label and text, for the
 * pointer, the detail panel and exports. What is unknown says so. */
import {phaseName} from './grouping.js';
import {blockAddress, lastWorkOf} from './life.js';
import {upperBound} from './liveindex.js';
import {instantText} from './viewport.js';
import {formatBytes, formatBytesApart, formatCount, formatTime, printable, shorten} from './format.js';

const STACK_MAX = 256;
const TENSOR_KINDS = ['parameter or buffer', 'gradient', 'state of an optimizer'];
/* How a tensor gets its kind, in short (docs/internals/kinds.md). */
const KIND_RULES = Object.assign(Object.create(null), {
    'parameters': 'made where modules are built, converted or loaded',
    'gradients': 'made by the autograd engine and live after its pass',
    'optimizer state': "made in an optimizer's step and live after it",
    'activations': 'made by forward code and live when backward began, or the KV cache',
    'inputs': 'made by a data loader, or by a call of your own code that makes or copies data',
    'temporaries': 'freed before the pass or the step that made it was over',
    'workspaces': 'asked for by cuBLAS, cuDNN or a similar library',
    'other': 'computed by your own code and kept beyond the next step',
});

/** The frames of a call site, innermost first.
 * @param {Object} trace @param {number} site @returns {{function: string, file: string, fileRow: number,
 *   line: number, user: boolean}[]} fileRow: its index + 1 in head.files; user: not a library's */
export function stackOf(trace, site) {
    const {sites, stacks, frames, files} = trace.head;
    const {label = '', at_file: ownFile = 0, at_line: ownLine = 0, stack = 0} = sites[site] || {};
    const out = [];
    let row = stack;
    while (row > 0 && stacks[row - 1] && out.length < STACK_MAX) {
        const [parent, frame, file, line, user] = stacks[row - 1];
        out.push({function: frames[frame], file: file ? files[file - 1] : '', fileRow: file, line, user: user !== 0});
        row = parent;
    }
    // a call site that is named by a line: that of the module, or of another thread, whose stack was not recorded
    const own = out.filter((frame) => ownFile && frame.fileRow === ownFile && frame.line === ownLine);
    own.forEach((frame) => (frame.user = true));
    if (ownFile && !own.length)
        out.unshift({function: label.replace(/ \([^()]*\)( \[.*)?$/, ''), file: files[ownFile - 1], fileRow: ownFile, line: ownLine, user: true});
    return out;
}

/** "forward (model.py:12)". @param {{function: string, file: string, line: number}} frame */
export function frameText(frame) {
    const name = printable(frame.function || '');
    if (!frame.file)
        return name;
    const base = frame.file.slice(frame.file.lastIndexOf('/') + 1);
    return `${name} (${printable(base)}${frame.line ? `:${frame.line}` : ''})`;
}

function lifetimeText(trace, born, died) {
    const part = trace.head.window;
    if (died === Infinity)
        return `since ${formatTime(born)}, still live at ${part ? formatTime(part.to) : 'the end'}`;
    const apart = Math.max(1, (died - born) / 10);
    return `${formatTime(died - born)}, from ${instantText(born, apart)} to ${instantText(died, apart)}`;
}

/** The step of a block, as the steps section numbers it; null if it is in none. */
export function stepOf(trace, row) {
    const {steps, blocks} = trace.loaded;
    const found = trace.head.steps_found === 1 && steps;
    const index = found ? upperBound(steps.start, blocks.born[row]) : blocks.step ? blocks.step[row] : 0;
    return index && steps && index <= steps.count ? steps.number[index - 1] : null;
}

function kindText(head, kind, lives, row) {
    const name = head.kinds[kind];
    if (!lives || !KIND_RULES[name])
        return name;
    return lives.assumed && lives.assumed[row] ? `${name} (assumed: most memory of this stack became that)`
        : `${name}: ${KIND_RULES[name]}`;
}

/* "layers.0.attn.weight of GPT, gradient". */
function tensorText(head, lives, row) {
    const tensor = lives.tensor && head.tensors[lives.tensor[row] - 1];
    return tensor && `${ofModel(tensor.name)}, ${TENSOR_KINDS[tensor.what - 1]}`;
}

function moduleText(head, lives, row) {
    const module = lives.module && head.modules[lives.module[row] - 1];
    return module && `${ofModel(module.name)}${module.pass ? `, ${module.pass}` : ''}`;
}

function ofModel(name) {
    const [model, path = ''] = printable(name).split(/:(.*)/);
    return path ? `${path} of ${model}` : model;
}

function addressText(trace, lives, row) {
    const address = blockAddress(trace, lives, row);
    return address && `0x${address.toString(16)}`;
}

/* "step 3, forward": a phase's outermost range is often the step itself. */
function placeText(step, head, phase) {
    const names = phaseName(head, phase).split(' / ');
    const root = phase && head.phases.findIndex(({parent, name}) => !parent && name === names[0]);
    const inside = names.slice(root >= 0 && phase && head.phases[root].step ? 1 : 0);
    return phase && inside.length ? `${step}, ${inside.join(' / ')}` : step;
}

function freedText(trace, lives, row) {
    const {head, loaded: {blocks, steps}} = trace;
    const died = blocks.died[row];
    if (died === Infinity)
        return null;
    const i = steps ? upperBound(steps.start, died, steps.count) - 1 : -1;
    const inside = i >= 0 && died <= steps.start[i] + steps.duration[i];
    const last = steps && !inside && i === steps.count - 1; // in no phase: a step was only prepared
    const by = lives.freed_by && head.frees[lives.freed_by[row] - 1];
    const place = placeText(inside ? `step ${formatCount(steps.number[i])}` : last ? 'after the last step'
        : 'outside of any step', head, lives.freed_phase && !last ? lives.freed_phase[row] : 0);
    return by ? `${place}, by ${printable(by)}` : place;
}

/* Work on other streams, and which memory work uses, are not recorded: only what is certain is said. */
function lastWorkText(trace, row) {
    const work = lastWorkOf(trace, row);
    if (!work)
        return null;
    const name = shorten(trace.head.names[work.name], 60);
    return work.idle > 0 ? `${name}; no work there in the block's last ${formatTime(work.idle)}`
        : `${name}, which ran when the block was freed`;
}

/* The page has no row for a step that was only prepared when the program ended. */
function outsideText({loaded: {steps, blocks}}, row) {
    return blocks.step && blocks.step[row] > (steps ? steps.count : 0) ? 'after the last step' : 'outside of any step';
}

/** What is known about a block; what is not recorded is left out.
 * @param {Object} trace @param {number} row of trace.blocks
 * @param {Object} [lives] of trace.lives(): with the facts of its birth and of its end
 * @returns {{title: string, facts: string[][], site: number}} */
export function describeBlock(trace, row, lives = null) {
    const {head, loaded: {blocks, segments}} = trace;
    const size = blocks.bytes[row];
    const waste = blocks.waste ? blocks.waste[row] : 0;
    const site = blocks.site[row];
    const step = stepOf(trace, row);
    const stream = blocks.stream[row];
    const segment = blocks.segment ? blocks.segment[row] : 0;
    const inSegment = segment && segments && segment <= segments.count;
    const stepText = step === null ? outsideText(trace, row) : formatCount(step);
    const facts = [
        ['size', `${formatBytes(size)}${size >= 1024 ? ` (${formatCount(size)} B)` : ''}`],
        ['requested', waste && `${formatBytesApart(size - waste, size)[0]}; rounding adds ${formatBytes(waste)}`],
        ['address', lives && addressText(trace, lives, row)],
        ['segment', inSegment && `of ${formatBytes(segments.bytes[segment - 1])}, at offset ` +
            formatBytes(blocks.place[row] - segments.place[segment - 1])],
        ['lifetime', lifetimeText(trace, blocks.born[row], blocks.died[row])],
        ...(lives ? [['allocated', placeText(step === null ? stepText : `step ${stepText}`, head, blocks.phase[row])],
            ['freed', freedText(trace, lives, row)], ['last on its stream', lastWorkText(trace, row)]]
            : [['phase', phaseName(head, blocks.phase[row])], ['step', stepText]]),
        ['tensor', lives && tensorText(head, lives, row)],
        ['module', lives && moduleText(head, lives, row)],
        ['kind', kindText(head, blocks.kind[row], lives, row)],
        ['stream', stream && head.streams[stream - 1].name],
        ['library', head.libraries[(head.sites[site] || {}).library]],
        ['type of memory', head.families[blocks.family[row]]],
    ].filter(([, text]) => text && text !== 'unknown' && text !== 'no tensors');
    const label = head.sites[site] ? head.sites[site].label : 'unknown call site';
    return {title: printable(label), facts, site};
}

/** @param {Object} trace @param {number} row of trace.segments
 * @returns {{title: string, facts: string[][], site: number, older: boolean}} older: than the part of the page */
export function describeSegment(trace, row) {
    const {head, loaded: {segments}} = trace;
    const stream = segments.stream[row];
    const pool = segments.pool[row];
    const [born, died, part] = [segments.born[row], segments.died[row], head.window];
    const older = Boolean(part) && born <= part.from; // what is known of it begins with the part
    return {
        title: `segment of ${formatBytes(segments.bytes[row])}`,
        facts: [
            ['address', `0x${segments.address[row].toString(16)}`],
            ['lifetime', !older ? lifetimeText(trace, born, died) : `since before ${formatTime(part.from)}, ` +
                (died === Infinity ? `still live at ${formatTime(part.to)}` : `until ${formatTime(died)}`)],
            ['pool', pool ? printable(head.pools[pool - 1]) : 'unknown'],
            ['stream', stream ? printable(head.streams[stream - 1].name) : 'unknown'],
            ['call site', older ? 'allocated before this part' : shorten((head.sites[segments.site[row]] || {label: 'unknown'}).label, 80)],
        ],
        site: segments.site[row],
        older,
    };
}

/** A call site's label without file names, for where there is little room: "forward:12 < main:40"; where a library's function
 * tells it apart without the callers: "forward:12 [torch: linear]". @param {string} label @returns {string} */
export function shortSite(label) {
    return label.replace(/ \([^()]*?:(\d+)\)/g, ':$1').replace(/ < .*( \[[^[\]]*\])$/, '$1');
}

/** The beginning of a text, printable, at most *characters* long.
 * @param {string} text @param {number} characters @returns {string} */
export function cutEnd(text, characters) {
    const shown = printable(text.slice(0, 2 * characters + 8));
    return shown.length > characters ? `${shown.slice(0, Math.max(1, characters - 1))}…` : shown;
}
