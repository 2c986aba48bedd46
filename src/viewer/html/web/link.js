/* SPDX-License-Identifier: Apache-2.0
 *
 * The state in the address: a link restores the view exactly. The fragment holds only what differs
 * from a page just opened; numbers are written with all their digits. What a link has that this
 * page does not know, or that is not of its type, is left out. */
import {STATE_KEYS, firstState} from './state.js';

const LINK_WRITE_MS = 200; // browsers limit how often an address may change
const linkKeys = Object.keys(STATE_KEYS).filter((key) => STATE_KEYS[key].read);

/** The values in a fragment, such as location.hash. @param {string} fragment @returns {Object} */
export function readLink(fragment) {
    const values = {};
    for (const [key, text] of new URLSearchParams(fragment.replace(/^#/, ''))) {
        const value = linkKeys.includes(key) ? STATE_KEYS[key].read(text) : undefined;
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
    for (const key of linkKeys) {
        const value = state.get(key);
        const given = value !== null || (['from', 'to'].includes(key) && (first[key] ?? null) !== null);
        if (given && value !== first[key])
            parameters.append(key, STATE_KEYS[key].write(value));
    }
    return `#${parameters}`;
}

/** Keeps the address and the state equal, in both directions.
 * @param {ReturnType<import('./state.js').createState>} state
 * @param {Object} first the values of a page opened without a fragment */
export function followLink(state, first) {
    const start = {...firstState(), ...first};
    let timer = 0;
    const write = () => {
        timer = 0;
        const written = writeLink(state, start);
        if ((location.hash || '#') !== written)
            history.replaceState(null, '', written);
    };
    state.subscribe(linkKeys, () => {
        timer = timer || setTimeout(write, LINK_WRITE_MS);
    });
    // Only others' changes of the address are told: what replaceState writes raises no event. The event has the
    // address that was given; location may have been written again since.
    addEventListener('hashchange', (event) => {
        const values = readLink(new URL(event.newURL).hash);
        const changes = {};
        for (const key of linkKeys)
            changes[key] = key in values ? values[key] : start[key];
        state.set(changes);
    });
}
