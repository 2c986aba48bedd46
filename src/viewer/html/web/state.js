/* SPDX-License-Identifier: Apache-2.0
 *
 * What the page shows: one object of named values, and who wants to know when one changes. Views
 * read it, set it, and never call each other. Subscribers are called once per change of several
 * keys, in a microtask; a value set to what it is already calls nobody. */

const entry = (first, read, write = String) => ({first, read, write});
const choiceOf = (...values) => entry(values[0], (text) => values.includes(text) ? text : undefined);
const matching = (first, pattern, convert = String) => entry(first, (text) => pattern.test(text) ? convert(text) : undefined);
const freeText = entry('', (text) => text.slice(0, 1000));
const onOff = entry(false, (text) => text === 'true' ? true : undefined);
const anyNumber = entry(null, (text) => text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined);
/** An end of what is visible: a page of a part opens on it, so that the whole trace has a word. */
const anEnd = entry(null, (text) => text === 'all' ? null : anyNumber.read(text), (value) => value ?? 'all');
const unlinked = (first) => ({first});

/** What the state has, each with its value in a page that has just been opened (null: nothing chosen), and how a link has
 * it: read(text), undefined where the text is none; write(value). In the order of links. */
export const STATE_KEYS = {
    tab: matching('overview', /^[a-z]{1,20}$/),
    trace: choiceOf('a', 'b', 'both'),
    device: matching(0, /^\d{1,4}$/, Number), // index in head.devices
    from: anEnd, to: anEnd, // ns that are visible; null: the whole trace
    cursor: anyNumber, cursor2: anyNumber, // ns
    hover: unlinked(null), // ns under the pointer
    placeFrom: anyNumber, placeTo: anyNumber, // bytes of the address axis
    bytesFrom: anyNumber, bytesTo: anyNumber, // bytes of the stack; null: all
    compareBy: choiceOf('site', 'phase', 'kind', 'step', 'library', 'size', 'age', 'stream'), // of the changes between two traces
    color: choiceOf('site', 'phase', 'kind', 'step', 'module', 'library', 'size', 'age', 'stream'),
    bands: choiceOf('blocks', 'segments'), // of the stack
    axis: choiceOf('time', 'events'), // of the views over time
    metric: choiceOf('bytes', 'count'),
    inverted: onOff,
    libraries: onOff, // functions of libraries in the flame graph
    zoom: matching('', /^\d+(\.\d+){0,200}$/), // the function that fills the flame graph, as row numbers from the root: '0.2.1'
    module: freeText, // that fills the treemap of modules: 'GPT.layers.0'
    curves: matching('', /^[a-z]{1,16}:[01](,[a-z]{1,16}:[01]){0,9}$/), // shown (1) or hidden (0) by the legend
    align: matching('', /^(steps|phases|length|clock)$/), // of the curves of two traces; '': the first that they have
    step: anyNumber, // that is looked at
    stepAxis: choiceOf('part', 'time'), // of the steps laid over each other: part of each step, or time
    change: matching(0, /^\d{1,3}$/, Number), // of head.whatif.rows
    rows: choiceOf('groups', 'blocks'), // of the table
    sort: matching('bytes-', /^[a-z]{1,20}[+-]$/), // of the table: a column and its direction
    search: freeText,
    selected: entry(null, (text) => {
        const match = /^(block|segment|site):(\d{1,10})$/.exec(text);
        return match ? {[match[1]]: Number(match[2])} : undefined;
    }, (value) => Object.entries(value).map(([what, index]) => `${what}:${index}`)[0]),
    playing: unlinked(false),
    eventsShown: unlinked('all'), eventsLeast: unlinked('0'), segmentZoom: unlinked(1), modulesBy: unlinked('kind'), stepsSort: unlinked('odd-'),
    theme: choiceOf('auto', 'light', 'dark'),
};

function sameValue(a, b) {
    return Object.is(a, b) || (a !== null && b !== null && typeof a === 'object' &&
        JSON.stringify(a) === JSON.stringify(b));
}

/** The values of a page that has just been opened. */
export const firstState = () => Object.fromEntries(Object.entries(STATE_KEYS).map(([key, {first}]) => [key, first]));

/** @param {Object} [first] values other than the defaults
 * @returns {{get: function(string): any, set: function(Object): void,
 *            subscribe: function(string[], function(Set<string>): void): function(): void}} */
export function createState(first = {}) {
    const values = {...firstState(), ...first};
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
                if (!(key in STATE_KEYS))
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

/** *state* for a view: what it subscribes to, and what it gives to *ended*, is over with end(). */
export function scopeOf(state) {
    const ends = [];
    const scope = {...state, over: false, subscribe: (keys, call) => ends.push(state.subscribe(keys, call)), ended: (call) => ends.push(call),
        end() {
            scope.over = true;
            ends.forEach((call) => call());
        }};
    return scope;
}
