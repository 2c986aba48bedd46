/* SPDX-License-Identifier: Apache-2.0
 *
 * Which blocks the flame graph and the table are about: those live at the cursor (without one, at
 * the failure or the peak), or those allocated between the two cursors and still live at the second. */
import {button, fill, make} from '../dom.js';
import {formatBytes, formatNumber, formatTime} from '../format.js';

/** The time of the peak of a device, as the report has it. */
export function peakTime(head, device) {
    const row = head.report.devices[device];
    if (!row)
        return head.duration;
    return row.live ? row.live.time_ns : row.peak_allocated.time_ns;
}

/** @returns {{rows: Uint32Array, bytes: number, words: string, span: boolean}} words: "live at 1.2 s";
 *   trace.blocks must be loaded */
export function blocksInView(trace, state) {
    const device = state.get('device');
    const cursor = state.get('cursor');
    const second = state.get('cursor2');
    const span = cursor !== null && second !== null && cursor !== second;
    const at = trace.cursorAt(state);
    const [from, to] = span ? [Math.min(cursor, second), Math.max(cursor, second)] : [at, at];
    const rows = span ? trace.liveBetween(from, to, device) : trace.liveAt(at, device);
    const {bytes: sizes} = trace.loaded.blocks;
    let bytes = 0;
    for (const row of rows)
        bytes += sizes[row];
    const failed = trace.head.failures.some((failure) => failure.time === at);
    const mark = failed ? ' (the failure)' : at === peakTime(trace.head, device) ? ' (the peak)' : '';
    const words = span
        ? `Allocated between ${formatTime(from)} and ${formatTime(to)} and still live then`
        : `Live at ${formatTime(at)}${mark}`;
    const part = trace.head.window;
    const outside = part && (from < part.from || to > part.to)
        ? `; this page has the blocks from ${formatTime(part.from)} to ${formatTime(part.to)} only, ` +
            'vramscope view --from and --to choose others' : '';
    return {rows, bytes, span, at: to, words: `${words}: ${formatBytes(bytes)} in ${formatNumber(rows.length, 'block')}${outside}`};
}

/** Fills the line above a view: what it is about, and how to choose another time.
 * @param {Element} element @param {{words: string}} moment @param {Object} state @param {string} [more] */
export function showMoment(element, moment, state, more = '') {
    const chosen = state.get('cursor') !== null || state.get('cursor2') !== null;
    fill(element, make('span', {}, `${moment.words}.${more}`), chosen
        ? button('Clear the cursor', () => state.set({cursor: null, cursor2: null}), {class: 'quiet'})
        : make('span.muted', {}, 'Click the curve for another time; drag with Shift for what was allocated in a span.'));
}
