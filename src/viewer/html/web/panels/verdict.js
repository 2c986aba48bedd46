/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of the first screen as sentences, from head.report and head.oom alone. The words are
 * those of `vramscope report` and `vramscope oom` (growth_text.c, oom_text.c, failure_text.c), and
 * every figure is a member of their JSON. */
import {formatBytes, formatBytesApart, formatCount, formatNumber, formatPercent, formatTime} from '../format.js';

const WEAK_BELOW = 0.75; // confidence, as in growth_text.c

/** "4.309 s, step 8 / backward". @param {number} ns @param {string} phase @returns {string} */
export function timeAndPhase(ns, phase) {
    return phase ? `${formatTime(ns)}, ${phase}` : formatTime(ns);
}

/** "grows by 4.0 MiB every step since step 1, 80.0 MiB so far". @param {Object} site */
export function growthWords(site, stepsFound) {
    const verb = site.growth_freed_at_end ? 'grew' : 'grows';
    const until = site.growth_freed_at_end ? 'until it was freed at the end' : 'so far';
    const weak = site.growth_confidence < WEAK_BELOW ? ' (weak evidence)' : '';
    const all = formatBytes(site.growth_bytes);
    if (site.growth_since_step === undefined)
        return `${verb} since ${formatTime(site.growth_since_ns)}, ${all} ${until}${weak}`;
    const every = Math.max(1, site.growth_every_steps || 1);
    const often = every === 1 ? 'every step' : `every ${every} steps`;
    const found = stepsFound ? ' (steps found from the repeating requests)' : '';
    return `${verb} by ${formatBytes(site.growth_bytes_per_step * every)} ${often} since step ` +
        `${site.growth_since_step}${found}, ${all} ${until}${weak}`;
}

/** The bytes of which a share is given: the device's, or of a limit below them. */
export function wholeOf(device) {
    return device.limit_bytes && device.limit_bytes < device.total_bytes
        ? device.limit_bytes : device.total_bytes;
}

/** "16.0 MiB by cudaMalloc on device 0 at 276.86 ms, step 12 / forward". */
export function failureWords(failure) {
    const who = failure.level === 'framework' ? ' by PyTorch' : failure.api ? ` by ${failure.api}` : '';
    const where = failure.device === null ? ' of host memory' : ` on device ${failure.device}`;
    return `${formatBytes(failure.requested_bytes)}${who}${where} at ` +
        timeAndPhase(failure.time_ns, failure.phase);
}

/** The cause without its name: "growth: the program ..." is ["growth", "The program ..."]. */
function splitCause(text) {
    const at = text.indexOf(': ');
    const sentence = text.slice(at + 2);
    return [text.slice(0, Math.max(0, at)), sentence.charAt(0).toUpperCase() + sentence.slice(1)];
}

function remedyOf(remedy, oom) {
    const decided = ['other_error', 'absurd_request', 'refused', 'host_memory']
        .includes(oom.refused_because || oom.verdict);
    return {
        text: remedy.text, fits: remedy.fits,
        grounds: remedy.replayed ? 'replayed' : decided ? '' : 'estimate',
    };
}

function shortBy(oom) {
    const {needed, missing, free} = oom.device_bytes;
    if (!missing)
        return null;
    const [need, available] = formatBytesApart(needed, Math.max(needed - missing, free));
    return `needs ${need}, ${available} available: short by ${formatBytes(missing)}`;
}

function ofFailure(head, oom) {
    const [cause, sentence] = splitCause(oom.verdict_text);
    const recovered = oom.failure.recovered || oom.verdict === 'recovered';
    const ofMemory = oom.verdict !== 'other_error';
    const site = oom.guilty.sites[0];
    return {
        failed: true, tone: recovered ? 'warn' : 'bad',
        status: recovered ? 'Recovered' : ofMemory ? 'Out of memory' : 'Allocation failed',
        cause, sentence,
        and: oom.second_text ? splitCause(oom.second_text)[1] : null,
        request: failureWords(oom.failure),
        site: site ? site.text : oom.failure.text,
        where: site && site.text === oom.failure.text ? null : oom.failure.text,
        reasons: oom.evidence, doubts: oom.evidence_against,
        short: oom.evidence.some((text) => text.startsWith('needs ')) ? null : shortBy(oom),
        remedies: oom.remedies.map((remedy) => remedyOf(remedy, oom)),
        time: oom.failure.time_ns,
    };
}

/** The peak whose holders the first screen lists, and its name: with a framework, that of its tensors. */
function peakOf(device) {
    if (!device.framework || !device.peak_user.event)
        return {...device.peak_allocated, name: 'Peak'};
    const {peak_user: peak, framework} = device;
    const alone = peak.bytes === framework.peak_allocated_bytes;
    return {...peak, name: alone ? `Peak of ${framework.name} ${framework.contents}` : 'Peak in use'};
}

function peakSentence(device) {
    const {bytes, time_ns: time, phase, event, name} = peakOf(device);
    if (!event)
        return null;
    const whole = wholeOf(device);
    const share = whole ? `, ${formatPercent(bytes, whole)} of ${formatBytes(whole)}` : '';
    return `${name} ${formatBytes(bytes)}${share}, at ${timeAndPhase(time, phase)}`;
}

function ofGrowth(head, device, site) {
    const words = growthWords(site, head.report.steps.found);
    const freed = site.growth_freed_at_end;
    const others = device.sites_growing.sites.length + device.sites_growing.omitted_count - 1;
    return {
        tone: 'warn',
        status: freed ? 'Growth' : 'Leak?',
        cause: '', sentence: `Memory of one call site ${words}`, and: null,
        request: peakSentence(device), site: site.text, line: null,
        reasons: [`${formatNumber(site.allocations, 'allocation')}, ${formatNumber(site.frees, 'free')}`],
        doubts: [], short: null,
        remedies: [{
            text: freed ? 'free these blocks earlier if they are not needed until the end'
                : 'free these blocks at the end of their step, or keep them on the host',
            grounds: '', fits: false,
        }],
        more: others > 0 ? `${formatNumber(others, 'more call site')} ${others === 1 ? 'grows' : 'grow'} as well` : null,
        time: null,
    };
}

/** The answer: tone (bad, warn, good), status, sentence, and what belongs to it.
 * @param {Object} head @param {number} index of the device in head.devices */
export function verdictOf(head, index) {
    const {report, oom} = head;
    if (oom && oom.verdict)
        return ofFailure(head, oom);
    const device = report.devices[index];
    const growing = device && device.sites_growing.sites;
    if (growing && growing.length)
        return ofGrowth(head, device, growing[0]);
    const complete = report.trace.condition === 'complete';
    const used = device && device.peak_allocated.event;
    const empty = !complete && !used; // nothing to judge by
    const unread = !complete && !report.trace.events;
    return {
        tone: empty ? 'warn' : 'good', status: empty ? 'Unknown' : 'Healthy', cause: '',
        sentence: unread ? 'Nothing of the trace is readable'
            : used ? 'No allocation failed, and no call site keeps growing' : 'No GPU memory was allocated',
        and: complete || unread ? null : head.live ? 'so far' : 'in the part of the run that was recorded',
        request: device ? peakSentence(device) : null,
        site: null, reasons: [], doubts: [], short: null, remedies: [], time: null,
    };
}

/** The figures beside the answer: [{label, value, detail, time}]. */
export function figuresOf(head, index) {
    const {report} = head;
    const device = report.devices[index];
    if (!device)
        return [];
    const whole = wholeOf(device);
    const peak = device.peak_allocated;
    const figures = [{
        key: 'peak', label: device.framework ? 'Device peak' : 'Peak allocated', value: formatBytes(peak.bytes), time: peak.time_ns,
        detail: peak.event ? `${whole ? `${formatPercent(peak.bytes, whole)} of ${formatBytes(whole)}, ` : ''}at ` +
            timeAndPhase(peak.time_ns, peak.phase) : 'nothing was allocated',
    }];
    if (device.framework) {
        const tensors = device.peak_user;
        figures.push({
            key: 'tensors', label: `${device.framework.name} ${device.framework.contents}, peak`,
            value: formatBytes(device.framework.peak_allocated_bytes), time: tensors.time_ns,
            detail: `${formatNumber(device.framework.allocations, 'allocation')}, at ` +
                timeAndPhase(tensors.time_ns, tensors.phase),
        });
    } else if (device.peak_reserved.bytes !== peak.bytes) {
        const reserved = device.peak_reserved;
        figures.push({
            key: 'reserved', label: 'Peak reserved', value: formatBytes(reserved.bytes),
            time: device.peak_reserved_first_ns,
            detail: `at ${timeAndPhase(device.peak_reserved_first_ns, device.peak_reserved_first_phase)}; ` +
                `up to ${formatPercent(reserved.allocated_bytes, reserved.bytes)} of it in use`,
        });
    }
    const fullest = device.device_memory.highest_use;
    if (fullest)
        figures.push({
            key: 'free', label: 'Lowest free memory seen', value: formatBytes(fullest.free_bytes),
            detail: `${formatPercent(fullest.free_bytes, fullest.total_bytes)} of ` +
                formatBytes(fullest.total_bytes), time: fullest.time_ns,
        });
    figures.push(failureFigure(report));
    const steps = report.steps;
    if (steps.done)
        figures.push({
            key: 'steps', label: 'Steps completed', value: formatCount(steps.done), time: null,
            detail: (steps.found ? 'from repeating requests, ' : '') + (steps.done === 1 ? `took ${formatTime(steps.longest_ns)}`
                : `mean ${formatTime(Math.floor(steps.total_ns / steps.done))}, longest ${formatTime(steps.longest_ns)} (step ${steps.longest_step})`),
        });
    return figures;
}

function failuresEnded(count, recovered) {
    if (count === 0)
        return 'in the whole recording';
    if (recovered === 0)
        return 'the program did not recover';
    return recovered === count ? 'the program went on after each' : `the program recovered from ${formatCount(recovered)}`;
}

function failureFigure(report) {
    const recovered = report.failure_groups.filter((group) => group.recovered)
        .reduce((sum, group) => sum + group.count, 0);
    const last = report.failures[report.failures.length - 1];
    return {
        key: 'failures', label: 'Allocations failed', value: formatCount(report.failure_count),
        bad: report.failure_count > recovered, time: last ? last.time_ns : null,
        detail: failuresEnded(report.failure_count, recovered),
    };
}

/** Parts of the device's memory at its highest use, largest first, with the names of the report.
 * @param {Object} balance @returns {{name: string, bytes: number}[]} */
export function partsOf(balance) {
    const {parts} = balance;
    const contexts = {
        measured: '', reported_by_nvml: ', size from NVML', not_all: ', not all sizes known',
    }[balance.contexts_known] ?? ', at most';
    const plural = balance.context_count === 1 ? '' : 's';
    const rows = [
        ...Object.entries(parts.live),
        ['cached but unused', parts.cached], ['cached by stream-ordered pools', parts.pools],
        ['reserved for CUDA graphs', parts.graphs], ["rounding to the driver's 2 MiB pages", parts.rounding],
        [`CUDA context${plural} (${balance.context_count}${contexts})`, parts.contexts],
        ['modules', parts.modules], ['stack, printf and heap limits', parts.limits],
        ['managed, at most (residency unknown)', parts.managed_at_most],
        [`other processes (${balance.processes.others})`, parts.other_processes],
        ['unexplained', parts.unexplained],
    ];
    return rows.filter(([, bytes]) => bytes !== 0).map(([name, bytes]) => ({name, bytes}));
}

/** What a reader must know before trusting the figures. @param {Object} head @returns {string[]} */
export function warningsOf(head) {
    const {trace} = head.report;
    const warnings = trace.condition === 'complete' || head.live ? [] : [trace.condition_text];
    if (trace.cut_short)
        warnings.push(trace.cut_short);
    const remarks = new Set(notesOf(head));
    return [...new Set([...warnings, ...head.messages])].filter((text) => !remarks.has(text));
}

/** Remarks on the recording that do not change the figures. @param {Object} head @returns {string[]} */
export function notesOf(head) {
    const {trace, notes} = head.report;
    return [...notes.map((note) => note.text), ...(trace.symbols_note ? [trace.symbols_note] : [])];
}
