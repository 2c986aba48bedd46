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
const ALL_SECTIONS = ['curves', ...SERVED_SECTIONS];

/** Whether the page lacks blocks of what is visible, and that is short enough for another part. */
function lacksBlocks(trace, range) {
    const part = trace.head.window;
    if (!part || !trace.loaded.blocks || range.to - range.from > FAR_SPANS * (part.to - part.from))
        return false;
    return range.from < part.from || range.to > part.to;
}

/** What the server of this page has at *name*, with the page's token. */
export function servedAddress(name, range = null) {
    const address = new URL(name, location.href);
    address.search = location.search;
    address.hash = '';
    if (range) {
        address.searchParams.set('from', String(Math.floor(range.from)));
        address.searchParams.set('to', String(Math.ceil(range.to)));
    }
    return address;
}

/** The trace of the elements that the server answers with; without *range* as it is now. @returns {Promise<Object>} */
async function fetchPart(range) {
    const answer = await fetch(servedAddress('data', range), {cache: 'no-store'});
    const text = await answer.text();
    if (!answer.ok)
        throw new Error(`the server answered ${answer.status}: ${text.trim().slice(0, 200)}`);
    const part = openTrace(new DOMParser().parseFromString(text, 'text/html'));
    await Promise.all(ALL_SECTIONS.map((name) => part[name]));
    return part;
}

function takeOver(trace, part, sections) {
    Object.assign(trace.head, part.head, {title: trace.head.title}); // the page named the trace
    for (const name of sections) {
        trace[name] = part[name];
        trace.loaded[name] = part.loaded[name];
    }
    Object.assign(trace, {lives: part.lives, sources: part.sources});
    delete trace.loaded.lives; // of the blocks before
    for (const kept of Object.keys(trace)) {
        if (!(kept in part)) // what views computed from the data
            delete trace[kept];
    }
    const {from, to} = part.head.window || {from: 0, to: part.head.duration};
    document.documentElement.dataset.part = `${from} ${to}`;
}

/** The selected block, segment or call site of *trace* in other data of it: a block by its birth, size and site. */
function findAgain(trace, part, selected) {
    if (!selected)
        return null;
    const labels = [trace, part].map(({head}) => (row) => head.sites[row] && head.sites[row].label);
    const rows = (count, good) => Array.from({length: count}, (_, i) => i).find(good);
    if (selected.site !== undefined) {
        const row = rows(part.head.sites.length, (i) => labels[1](i) === labels[0](selected.site));
        return row === undefined ? null : {site: row};
    }
    const [[what, old]] = Object.entries(selected);
    const [a, b] = [trace, part].map(({loaded}) => loaded[`${what}s`]);
    const row = a && b && old < a.count ? rows(b.count, (i) => b.born[i] === a.born[old] && b.bytes[i] === a.bytes[old] &&
        labels[1](b.site[i]) === labels[0](a.site[old])) : undefined;
    return row === undefined ? null : {[what]: row};
}

/** Replaces all data of the trace of a running program by those of now. What is selected stays so, and the
 * view stays where it is, unless it shows the latest part, which then is another one.
 * @returns {function(boolean): Promise<void>} with whether the program has ended */
export function createRefresh(trace, state) {
    let latest = trace.head.window;
    const isLatest = () => (latest ? state.get('from') === latest.from && state.get('to') === latest.to
        : state.get('from') === null && state.get('to') === null);
    return async (ended) => {
        const range = visibleTime(trace, state);
        const elsewhere = !ended && latest && state.get('from') !== null && !isLatest() && range.from < latest.from;
        const part = await fetchPart(elsewhere ? range : null);
        const follows = isLatest();
        const selected = findAgain(trace, part, state.get('selected'));
        takeOver(trace, part, ALL_SECTIONS);
        if (!elsewhere)
            latest = part.head.window;
        state.set({selected, ...(follows ? {from: latest ? latest.from : null, to: latest ? latest.to : null} : {})});
    };
}

/** Asks for the part that is visible whenever the page lacks it.
 * @param {Object} trace @param {Object} state @param {function(): void} changed called when the trace has
 *   other data
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
            const part = await fetchPart(range);
            const selected = findAgain(trace, part, state.get('selected'));
            takeOver(trace, part, SERVED_SECTIONS);
            refused = lacksBlocks(trace, range) ? key : ''; // it has what fits: do not ask for the same again
            state.set({selected});
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
