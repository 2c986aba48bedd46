/* SPDX-License-Identifier: Apache-2.0
 *
 * A page from `vramscope view --serve` has the blocks of one part of a long trace. When another part
 * becomes visible, this asks the server for it (docs/internals/view-format.md) and puts its data in the place of
 * the data before. The curves, which are of the whole trace, stay. */
import {openTrace} from './data.js';
import {visibleTime} from './viewport.js';

const QUIET_MS = 300; // after the last change of what is visible
const FAR_SPANS = 4; // a part has about as many events as the one before
const SERVED_SECTIONS = ['segments', 'blocks', 'steps', 'ranges', 'activity'];

/** Whether the page lacks blocks of what is visible, and that is short enough for another part. */
function lacksBlocks(trace, range) {
    const part = trace.head.window;
    if (!part || !trace.loaded.blocks || range.to - range.from > FAR_SPANS * (part.to - part.from))
        return false;
    return range.from < part.from || range.to > part.to;
}

function addressOf(range) {
    const address = new URL('data', location.href);
    address.search = location.search;
    address.hash = '';
    address.searchParams.set('from', String(Math.floor(range.from)));
    address.searchParams.set('to', String(Math.ceil(range.to)));
    return address;
}

/** The trace of the elements that the server answers with. @returns {Promise<Object>} */
async function fetchPart(range) {
    const answer = await fetch(addressOf(range), {cache: 'no-store'});
    const text = await answer.text();
    if (!answer.ok)
        throw new Error(`the server answered ${answer.status}: ${text.trim().slice(0, 200)}`);
    const part = openTrace(new DOMParser().parseFromString(text, 'text/html'));
    await Promise.all(SERVED_SECTIONS.map((name) => part[name]));
    return part;
}

function takeOver(trace, part) {
    Object.assign(trace.head, part.head, {title: trace.head.title}); // the page named the trace
    for (const name of SERVED_SECTIONS) {
        trace[name] = part[name];
        trace.loaded[name] = part.loaded[name];
    }
    trace.lives = part.lives;
    for (const kept of ['groupings', 'extents', 'matched'])
        delete trace[kept];
    document.documentElement.dataset.part = `${part.head.window.from} ${part.head.window.to}`;
}

/** Asks for the part that is visible whenever the page lacks it.
 * @param {Object} trace @param {Object} state @param {function(): void} changed called when the trace has
 *   other data; selected rows are not valid any more
 * @param {function(string): void} failed called with a sentence when the server did not answer */
export function followWindow(trace, state, changed, failed) {
    let timer = 0;
    let asking = false;
    let refused = '';
    async function ask() {
        timer = 0;
        const range = visibleTime(trace, state);
        const key = `${range.from} ${range.to}`;
        if (asking || key === refused || !lacksBlocks(trace, range))
            return;
        asking = true;
        try {
            takeOver(trace, await fetchPart(range));
            refused = lacksBlocks(trace, range) ? key : ''; // it has what fits: do not ask for the same again
            state.set({selected: null});
            changed();
        } catch (error) {
            refused = key;
            failed(`This part of the trace could not be read: ${error.message}. Is vramscope view --serve still running?`);
        } finally {
            asking = false;
            later();
        }
    }
    function later() {
        clearTimeout(timer);
        timer = setTimeout(ask, QUIET_MS);
    }
    trace.blocks.then(later, () => {});
    return state.subscribe(['from', 'to'], later);
}
