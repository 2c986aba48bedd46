/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes elements. Text only ever goes in as text nodes, with control characters as escapes: a name
 * from a trace can never become markup. Of a text that is too long for any screen the middle is left
 * out, because browsers take seconds to lay out some of 64 KiB; exports have all of it. */
import {printable, shorten} from './format.js';

const TEXT_MOST = 2000; // characters
const HINT_MOST = 1000; // of a title
const HINTS = ['title', 'aria-label'];

/** @param {string} tag may have classes: "p.note.small"
 * @param {Object} [attributes] "on" has listeners, "style" properties, null and false leave an attribute out
 * @param {...(Node|string|null|Array)} children
 * @returns {HTMLElement} */
export function make(tag, attributes = {}, ...children) {
    const [name, ...classes] = tag.split('.');
    const element = document.createElement(name);
    if (classes.length)
        element.className = classes.join(' ');
    for (const [key, value] of Object.entries(attributes)) {
        if (key === 'on') {
            for (const [event, listener] of Object.entries(value))
                element.addEventListener(event, listener);
        } else if (key === 'style') {
            Object.assign(element.style, value);
        } else if (value !== null && value !== false && value !== undefined) {
            element.setAttribute(key, value === true ? '' : HINTS.includes(key) ? shorten(String(value), HINT_MOST) : printable(value));
        }
    }
    add(element, children);
    return element;
}

/** Adds children, texts as text nodes; null is left out. @param {Node} element @param {Array} children */
export function add(element, children) {
    for (const child of children.flat(3)) {
        if (child !== null && child !== undefined && child !== false)
            element.append(typeof child === 'object' ? child : shorten(String(child), TEXT_MOST));
    }
    return element;
}

/** Replaces all children. @param {Element} element @param {...any} children */
export function fill(element, ...children) {
    element.replaceChildren();
    return add(element, children);
}

/** A button. @param {string} text @param {function(Event): void} call @param {Object} [attributes] */
export function button(text, call, attributes = {}) {
    return make('button', {type: 'button', ...attributes, on: {click: call}}, text);
}

/** A labelled select. @param {string} label @param {[string, string][]} choices value and text
 * @param {string} value @param {function(string): void} call
 * @returns {HTMLElement & {show: function(string, [string, string][]=): void}} */
export function choice(label, choices, value, call) {
    const select = make('select', {'aria-label': label, on: {change: (event) => call(event.target.value)}});
    const element = make('label.choice', {}, make('span', {}, label), select);
    element.show = (now, list = choices) => fill(select, list.map(([key, text]) => make('option', {value: key, selected: key === now}, text)));
    element.show(value);
    return element;
}

/** A group of buttons of which one is pressed.
 * @returns {HTMLElement & {show: function(string): void}} */
export function toggles(label, choices, value, call) {
    const buttons = choices.map(([key, text]) => button(text, () => call(key), {'data-key': key}));
    const group = make('div.toggles', {role: 'group', 'aria-label': label}, buttons);
    group.show = (now) => buttons.forEach((b) => b.setAttribute('aria-pressed', String(b.dataset.key === now)));
    group.show(value);
    return group;
}

const SVG_SPACE = 'http://www.w3.org/2000/svg';

/** An SVG element. @param {string} tag @param {Object} attributes @param {...(Node|string)} children */
export function makeSvg(tag, attributes, ...children) {
    const element = document.createElementNS(SVG_SPACE, tag);
    for (const [key, value] of Object.entries(attributes))
        element.setAttribute(key, printable(value));
    return add(element, children);
}

/** The text of an SVG document. @param {SVGElement} svg @returns {string} */
export function serializeSvg(svg) {
    svg.setAttribute('xmlns', SVG_SPACE);
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

/** Rows of texts as an SVG document; the first row is the header, the first column is on the left.
 * @param {string} title @param {string[][]} rows @returns {string} */
export function tableSvg(title, rows) {
    const columns = rows[0].map((_, i) => Math.min(90, Math.max(...rows.map((row) => String(row[i]).length))) * 7 + 24);
    const width = columns.reduce((sum, w) => sum + w, 16);
    const ink = getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();
    const svg = makeSvg('svg', {width, height: rows.length * 22 + 44, 'font-family': 'system-ui, sans-serif', 'font-size': 12, fill: ink},
        makeSvg('text', {x: 12, y: 22, 'font-weight': 600}, title));
    rows.forEach((row, line) => {
        let x = 12;
        row.forEach((text, i) => {
            svg.append(makeSvg('text', {x: i ? x + columns[i] - 12 : x, y: 48 + line * 22, 'text-anchor': i ? 'end' : 'start',
                'font-weight': line ? 400 : 600}, shorten(String(text), 90)));
            x += columns[i];
        });
    });
    return serializeSvg(svg);
}
