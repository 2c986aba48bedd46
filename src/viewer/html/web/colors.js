/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours of groups: ten hues that remain apart with the usual colour vision deficiencies, and a
 * second shade of each, for the light and the dark theme. A name prefers the same colour in every
 * view and every trace; the kinds of tensors always have theirs. All other colours of the page are
 * custom properties of page.css. */

const PALETTES = {
    light: ['#3d6fd6', '#dd8a1d', '#17998a', '#c4457f', '#7a5cd0', '#ab9712', '#3ea3db', '#cc5138', '#4b943c',
        '#8c6b50', '#9fb9ee', '#f0c48c', '#8dd0c6', '#e6a6c6', '#c1b3ec', '#d9cf80', '#a8d6f0', '#eaa897',
        '#aed19f', '#c9b4a2'],
    dark: ['#6b9af4', '#eda34a', '#3dbfae', '#e370a6', '#a18cf0', '#cfbe48', '#79c6f0', '#ec7a61', '#7ac168',
        '#b8967c', '#41609c', '#986a2e', '#257d73', '#93466b', '#665b9a', '#857b30', '#4a7d9a', '#974e3f',
        '#4f7d44', '#736152'],
};
const HUES = 10;
const NEUTRAL = {light: '#a3a9b5', dark: '#6b7382'};
const KIND_SLOTS = Object.assign(Object.create(null), {
    'parameters': 0, 'gradients': 1, 'activations': 2, 'temporaries': 3, 'optimizer state': 4,
    'workspaces': 5, 'inputs': 6,
});
const NEUTRAL_NAMES = new Set(['other', 'unknown', 'no tensors', 'not a tensor', 'other call sites', 'the rest', 'in no module']);

function colorHash(name) {
    let hash = 2166136261;
    for (let i = 0; i < name.length; i++)
        hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
    return (hash ^ hash >>> 15) >>> 0;
}

/** Colours of *names*, in order of weight: the first 20 differ where that is possible.
 * @param {string[]} names @param {string} theme 'light' or 'dark' @returns {string[]} */
export function paletteFor(names, theme) {
    const palette = PALETTES[theme] || PALETTES.light;
    const used = new Set(names.map((name) => KIND_SLOTS[name]).filter((slot) => slot !== undefined));
    return names.map((name, rank) => {
        if (NEUTRAL_NAMES.has(name))
            return neutralColor(theme);
        if (name in KIND_SLOTS)
            return palette[KIND_SLOTS[name]];
        const first = used.size < HUES ? 0 : HUES;
        let slot = first + colorHash(name) % HUES;
        for (let i = 0; i < HUES && used.has(slot) && rank < 2 * HUES; i++)
            slot = first + (slot - first + 3) % HUES;
        used.add(slot);
        return palette[slot];
    });
}

/** The colour of a number: neighbours differ, 0 is neutral. @param {number} number @param {string} theme */
export function cycleColor(number, theme) {
    return number ? PALETTES[theme][number % HUES] : neutralColor(theme);
}

/** The colour of what has no group, or of the rest. @param {string} theme @returns {string} */
export function neutralColor(theme) {
    return NEUTRAL[theme] || NEUTRAL.light;
}

const FLAME_USER = 28; // hues, as those of `export -f flamegraph` (flame_graph.c)
const FLAME_LIBRARIES = [210, 172, 241, 116];

/** The colour of a function in the flame graph: warm for the user's code, cold for a library's, by the library;
 * shades tell names apart. Its ink is the theme's.
 * @param {string} name @param {string} library '': the user's code @param {string} theme @returns {string} */
export function flameColor(name, library, theme) {
    const shade = colorHash(name) % 8;
    const hue = library ? FLAME_LIBRARIES[colorHash(library) % FLAME_LIBRARIES.length] : FLAME_USER;
    return theme === 'dark' ? hslToHex(hue, library ? 30 : 52, 27 + shade) : hslToHex(hue, library ? 55 : 88, 72 + shade * 1.5);
}

/* As src/viewer/flame/diff_graph.c: equal, then more and more grown, then more and more shrunk. */
const CHANGE_COLORS = ['#e3e4e6', '#f9ddd6', '#f7c1b4', '#f4a593', '#f18a74', '#ee6f58', '#dbe6f5', '#bdd3ef', '#9fc0e8', '#81aee2',
    '#659cdc'];
const CHANGE_SHADES = 5;

/** Red for what has grown from *a* to *b*, blue for what has shrunk, by the share of the larger one. */
export function changeColor(a, b) {
    const shade = a === b ? 0 : Math.min(CHANGE_SHADES, Math.ceil(CHANGE_SHADES * Math.abs(b - a) / Math.max(a, b)));
    return CHANGE_COLORS[b < a ? CHANGE_SHADES + shade : shade];
}

function hslToHex(hue, saturation, lightness) {
    const l = lightness / 100;
    const a = saturation / 100 * Math.min(l, 1 - l);
    const channel = (n) => {
        const k = (n + hue / 30) % 12;
        const value = l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
        return Math.round(255 * value).toString(16).padStart(2, '0');
    };
    return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** Black or white, whichever is easier to read on *color*. @param {string} color @returns {string} */
export function inkFor(color) {
    const part = (at) => {
        const value = parseInt(color.slice(at, at + 2), 16) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    const luminance = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
    return luminance > 0.179 ? '#000' : '#fff';
}

/** 'light' or 'dark': the theme chosen, or else that of the system.
 * @param {{get: function(string): any}} state @returns {string} */
export function themeOf(state) {
    const chosen = state.get('theme');
    if (chosen === 'light' || chosen === 'dark')
        return chosen;
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
