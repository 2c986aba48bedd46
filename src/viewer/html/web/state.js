/* SPDX-License-Identifier: Apache-2.0
 *
 * What the page shows: one object of named values, and who wants to know when one changes. Views
 * read it, set it, and never call each other. Subscribers are called once per change of several
 * keys, in a microtask; a value set to what it is already calls nobody. */

/** The values of a page that has just been opened. null: nothing chosen. */
export const STATE_DEFAULTS = Object.freeze({
    from: null, to: null, // ns that are visible; null: the whole trace
    cursor: null, cursor2: null, // ns
    hover: null, // ns under the pointer
    axis: 'time', // of the views over time: time, events
    device: 0, // index in head.devices
    color: 'site', // a key of GROUPINGS
    bands: 'blocks', // of the stack: blocks, segments
    tab: 'overview',
    search: '',
    placeFrom: null, placeTo: null, // bytes of the address axis
    bytesFrom: null, bytesTo: null, // bytes of the stack; null: all
    trace: 'a', // a, b, both
    metric: 'bytes', // bytes, count
    inverted: false,
    libraries: false, // functions of libraries in the flame graph
    zoom: '', // the function that fills the flame graph, as row numbers from the root: '0.2.1'
    module: '', // that fills the treemap of modules: 'GPT.layers.0'
    rows: 'groups', // of the table: groups, blocks
    sort: 'bytes-', // of the table: a column and its direction
    curves: '', // shown (1) or hidden (0) by the legend: 'used:0,reserved:1'
    align: '', // of the curves of two traces: steps, phases, length, clock; '': the first that they have
    compareBy: 'site', // a key of GROUPINGS, of the changes between two traces
    step: null, // the number of a step that is looked at
    stepAxis: 'part', // of the steps laid over each other: part (of each step), time
    change: 0, // of head.whatif.rows
    selected: null, // {block: index}, {segment: index}, {site: index}
    playing: false,
    theme: 'auto', // auto, light, dark
});

function sameValue(a, b) {
    return Object.is(a, b) || (a !== null && b !== null && typeof a === 'object' &&
        JSON.stringify(a) === JSON.stringify(b));
}

/** @param {Object} [first] values other than the defaults
 * @returns {{get: function(string): any, set: function(Object): void,
 *            subscribe: function(string[], function(Set<string>): void): function(): void}} */
export function createState(first = {}) {
    const values = {...STATE_DEFAULTS, ...first};
    const subscribers = new Set();
    let changed = new Set();

    function announce() {
        const keys = changed;
        changed = new Set();
        for (const subscriber of [...subscribers]) {
            if (subscriber.keys.some((key) => keys.has(key)) && subscribers.has(subscriber))
                subscriber.call(keys);
        }
    }
    const state = {
        get(key) {
            return values[key];
        },
        set(changes) {
            const scheduled = changed.size > 0;
            for (const [key, value] of Object.entries(changes)) {
                if (!(key in STATE_DEFAULTS))
                    throw new Error(`state has no key ${key}`);
                if (sameValue(values[key], value))
                    continue;
                values[key] = value;
                changed.add(key);
            }
            if (!scheduled && changed.size)
                queueMicrotask(announce);
        },
        subscribe(keys, call) {
            const subscriber = {keys, call};
            subscribers.add(subscriber);
            return () => subscribers.delete(subscriber);
        },
    };
    return Object.assign(state, {source: state});
}
