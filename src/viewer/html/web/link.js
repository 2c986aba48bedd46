/* SPDX-License-Identifier: Apache-2.0
 *
 * The state in the address: a link restores the view exactly. The fragment holds only what differs
 * from a page just opened; numbers are written with all their digits. What a link has that this
 * page does not know, or that is not of its type, is left out. */
import {STATE_DEFAULTS} from './state.js';

const LINK_WHOLE = 'all';
const LINK_WRITE_MS = 200; // browsers limit how often an address may change
const isNumber = (value) => Number.isFinite(value);
const oneOf = (...values) => ({read: (text) => values.includes(text) ? text : undefined, write: String});
const LINK_NUMBER = {
    read: (text) => text !== '' && isNumber(Number(text)) ? Number(text) : undefined,
    write: String,
};
/** An end of what is visible: a page of a part opens on it, so that the whole trace has a word. */
const LINK_END = {
    read: (text) => text === LINK_WHOLE ? null : LINK_NUMBER.read(text),
    write: (value) => value === null ? LINK_WHOLE : String(value),
};
const LINK_SWITCH = {read: (text) => text === 'true' ? true : undefined, write: String};
const LINK_KEYS = {
    tab: {read: (text) => /^[a-z]{1,20}$/.test(text) ? text : undefined, write: String},
    trace: oneOf('a', 'b', 'both'),
    device: {read: (text) => /^\d{1,4}$/.test(text) ? Number(text) : undefined, write: String},
    from: LINK_END, to: LINK_END, cursor: LINK_NUMBER, cursor2: LINK_NUMBER,
    placeFrom: LINK_NUMBER, placeTo: LINK_NUMBER, bytesFrom: LINK_NUMBER, bytesTo: LINK_NUMBER,
    compareBy: oneOf('site', 'phase', 'kind', 'step', 'library', 'size', 'age', 'stream'),
    color: oneOf('site', 'phase', 'kind', 'step', 'module', 'library', 'size', 'age', 'stream'),
    bands: oneOf('blocks', 'segments'), axis: oneOf('time', 'events'),
    metric: oneOf('bytes', 'count'),
    inverted: LINK_SWITCH, libraries: LINK_SWITCH,
    zoom: {read: (text) => /^\d+(\.\d+){0,200}$/.test(text) ? text : undefined, write: String},
    module: {read: (text) => text.slice(0, 1000), write: String},
    curves: {read: (text) => /^[a-z]{1,16}:[01](,[a-z]{1,16}:[01]){0,9}$/.test(text) ? text : undefined, write: String},
    align: oneOf('steps', 'phases', 'length', 'clock'),
    step: LINK_NUMBER,
    stepAxis: oneOf('part', 'time'),
    change: {read: (text) => /^\d{1,3}$/.test(text) ? Number(text) : undefined, write: String},
    rows: oneOf('groups', 'blocks'),
    sort: {read: (text) => /^[a-z]{1,20}[+-]$/.test(text) ? text : undefined, write: String},
    search: {read: (text) => text.slice(0, 1000), write: String},
    selected: {
        read(text) {
            const match = /^(block|segment|site):(\d{1,10})$/.exec(text);
            return match ? {[match[1]]: Number(match[2])} : undefined;
        },
        write: (value) => Object.entries(value).map(([what, index]) => `${what}:${index}`)[0],
    },
    theme: oneOf('light', 'dark'),
};

/** The values in a fragment, such as location.hash. @param {string} fragment @returns {Object} */
export function readLink(fragment) {
    const values = {};
    for (const [key, text] of new URLSearchParams(fragment.replace(/^#/, ''))) {
        const value = Object.hasOwn(LINK_KEYS, key) ? LINK_KEYS[key].read(text) : undefined;
        if (value !== undefined)
            values[key] = value;
    }
    return values;
}

/** The fragment for the state, with its '#'; "#" alone for that of a page just opened.
 * @param {{get: function(string): any}} state @param {Object} first the values at the start
 * @returns {string} */
export function writeLink(state, first) {
    const parameters = new URLSearchParams();
    for (const [key, {write}] of Object.entries(LINK_KEYS)) {
        const value = state.get(key);
        const given = value !== null || (write === LINK_END.write && (first[key] ?? null) !== null);
        if (given && value !== first[key])
            parameters.append(key, write(value));
    }
    return `#${parameters}`;
}

/** Keeps the address and the state equal, in both directions.
 * @param {ReturnType<import('./state.js').createState>} state
 * @param {Object} first the values of a page opened without a fragment */
export function followLink(state, first) {
    const start = {...STATE_DEFAULTS, ...first};
    let timer = 0;
    const write = () => {
        timer = 0;
        const written = writeLink(state, start);
        if ((location.hash || '#') !== written)
            history.replaceState(null, '', written);
    };
    state.subscribe(Object.keys(LINK_KEYS), () => {
        timer = timer || setTimeout(write, LINK_WRITE_MS);
    });
    // Only others' changes of the address are told: what replaceState writes raises no event. The event has the
    // address that was given; location may have been written again since.
    addEventListener('hashchange', (event) => {
        const values = readLink(new URL(event.newURL).hash);
        const changes = {};
        for (const key of Object.keys(LINK_KEYS))
            changes[key] = key in values ? values[key] : start[key];
        state.set(changes);
    });
}
