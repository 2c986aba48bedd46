/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes, times, counts and names as text, digit for digit as the command prints them
 * (src/base/vs_size.c, vs_text_percent), so that the page and the report can be compared. */

const SIZE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** printf's %.*f: a tie is rounded to the even digit, where toFixed rounds it up.
 * @param {number} value @param {number} decimals @returns {string} */
export function toDecimals(value, decimals) {
    const ties = value * 2 ** (decimals + 1);
    if (Number.isInteger(ties) && ties % 2 !== 0) {
        const below = Math.floor(value * 10 ** decimals);
        return ((below % 2 ? below + 1 : below) / 10 ** decimals).toFixed(decimals);
    }
    return value.toFixed(decimals);
}

/** "1.2 MiB", "1.23 GiB": as vs_size_format, with *more* decimals.
 * @param {number} bytes @param {number} [more] @returns {string} */
export function formatBytes(bytes, more = 0) {
    if (bytes < 0)
        return `-${formatBytes(-bytes, more)}`;
    if (bytes < 1024)
        return `${Math.round(bytes)} B`;
    let value = bytes;
    let unit = 0;
    while (value >= 1023.95 && unit < 6) {
        value /= 1024;
        unit++;
    }
    return `${toDecimals(value, (unit < 3 ? 1 : 2) + more)} ${SIZE_UNITS[unit]}`;
}

/** Two sizes with enough digits to differ where they differ (vs_sizes_apart).
 * @param {number} a @param {number} b @returns {string[]} */
export function formatBytesApart(a, b) {
    for (let more = 0; more <= 2; more++) {
        const pair = [formatBytes(a, more), formatBytes(b, more)];
        if (a === b || pair[0] !== pair[1])
            return pair;
    }
    return [`${formatCount(a)} B`, `${formatCount(b)} B`];
}

/** "+1.2 MiB", "-3 B", "0 B". @param {number} bytes @returns {string} */
export function formatBytesChange(bytes) {
    return bytes > 0 ? `+${formatBytes(bytes)}` : formatBytes(bytes);
}

/** "1.271 s". @param {number} ns @returns {string} */
export function formatTime(ns) {
    const time = Math.floor(ns);
    if (time < 0)
        return `-${formatTime(-ns)}`;
    if (time < 1e3)
        return `${time} ns`;
    if (time < 1e6)
        return `${toDecimals(time / 1e3, 1)} µs`;
    if (time < 1e9)
        return `${toDecimals(time / 1e6, 2)} ms`;
    if (time < 120e9)
        return `${toDecimals(time / 1e9, 3)} s`;
    return `${Math.floor(time / 60e9)} min ${String(Math.floor(time / 1e9) % 60).padStart(2, '0')} s`;
}

/** "1,204". @param {number} count @returns {string} */
export function formatCount(count) {
    return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** "23.3 %"; "-" when *whole* is 0. @param {number} part @param {number} whole @returns {string} */
export function formatPercent(part, whole) {
    if (!whole)
        return '-';
    if (part > 0 && part / whole < 0.0005)
        return '<0.1 %';
    return `${toDecimals(100 * part / whole, 1)} %`;
}

/** "1 block", "2 blocks". @param {number} count @param {string} noun @returns {string} */
export function formatNumber(count, noun) {
    return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Control characters, and those that change the direction of text, as escapes.
 * @param {string} text @returns {string} */
export function printable(text) {
    const hidden = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
    return String(text).replace(hidden, (c) => {
        const code = c.charCodeAt(0);
        return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
    });
}

/** *text*, printable, with at most *characters* of it: the middle of a longer one is left out.
 * @param {string} text @param {number} characters @returns {string} */
export function shorten(text, characters) {
    const shown = printable(text.length > 4 * characters + 64
        ? text.slice(0, 2 * characters) + text.slice(-2 * characters) : text);
    if (shown.length <= characters)
        return shown;
    const head = Math.ceil((characters - 1) * 0.6);
    return `${shown.slice(0, head)}…${shown.slice(shown.length - (characters - 1 - head))}`;
}

/** Names as shorten() cuts them; those that would read the same have what is around the first letter that differs.
 * @param {string[]} names @param {number} characters @returns {string[]} */
export function shortenApart(names, characters) {
    const cut = names.map((name) => shorten(name, characters));
    if (names.length < 2 || cut.some((text) => text !== cut[0]) || names.every((name) => name === names[0]))
        return cut;
    let same = 0;
    while (names.every((name) => name[same] === names[0][same]))
        same++;
    const from = Math.max(1, same - Math.floor(characters / 2));
    return names.map((name) => `…${printable(name.slice(from, from + characters - 2))}…`);
}

/** What tells two files apart: their names, or as many of their folders as it takes: "a/lm.vst", "b/lm.vst".
 * @param {string[]} paths @returns {string[]} */
export function fileNames(paths) {
    const parts = paths.map((path) => path.split('/'));
    let count = 1;
    while (count < parts[0].length && parts.every((of) => of.slice(-count).join('/') === parts[0].slice(-count).join('/')))
        count++;
    return parts.map((of) => of.slice(-count).join('/'));
}

/** A call site's text as the function that allocated and its callers: ["f (a.c:12)", "g:30 < main"].
 * @param {string} label @returns {string[]} */
export function splitSite(label) {
    const at = label.indexOf(' < ');
    return at < 0 ? [label, ''] : [label.slice(0, at), label.slice(at + 3)];
}

/** What to call the run: the script of a Python interpreter, else the program.
 * @param {{program: string, command: string}} head @returns {string} */
export function programTitle({program, command}) {
    const script = /^python[\d.]*$/.test(program) && (command || '').split(' ').slice(1).find((word) => word.endsWith('.py'));
    return script ? script.slice(script.lastIndexOf('/') + 1) : program;
}
