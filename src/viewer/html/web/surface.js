/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of a view: a legend, two canvases (the picture, and above it crosshair and marks, so that
 * moving the pointer never repaints the picture), a box of details at the pointer, and a line of text
 * for screen readers. Redraws once a frame; follows size, theme and pixel density. */
import {canvasPen, svgPen} from './pen.js';
import {themeOf} from './colors.js';
import {formatBytes, formatCount, shorten} from './format.js';

const SURFACE_COLORS = {
    background: '#ffffff', panel: '#ffffff', ink: '#1c2330', muted: '#5b6472', grid: '#e3e6eb',
    accent: '#2f62c9', danger: '#c0271d', warning: '#a86400', focus: '#2f62c9',
    'series-allocated': '#3d6fd6', 'series-reserved': '#7d8797', 'series-tensors': '#17998a',
    'series-used': '#c4457f', 'series-host': '#7a6a5a', 'series-limit': '#c0271d',
};
const SURFACE_DARK = {
    background: '#14181f', panel: '#1a1f28', ink: '#e6e9ef', muted: '#9aa4b4', grid: '#2b323e',
    accent: '#6b9af4', danger: '#ff7a6e', warning: '#eda34a', focus: '#6b9af4',
    'series-allocated': '#6b9af4', 'series-reserved': '#8b96a8', 'series-tensors': '#3dbfae',
    'series-used': '#e370a6', 'series-host': '#b8a898', 'series-limit': '#ff7a6e',
};
const TIP_GAP = 14;
const SAID_CHARACTERS = 1200;
const TIP_CHARACTERS = 300; // of a name

/** A new element. @param {string} tag @param {string} [name] class @param {string} [text] */
export function createNode(tag, name = '', text = '') {
    const node = document.createElement(tag);
    if (name)
        node.className = name;
    if (text)
        node.textContent = text;
    return node;
}

function readColors(theme) {
    const style = getComputedStyle(document.documentElement);
    const defaults = theme === 'dark' ? SURFACE_DARK : SURFACE_COLORS;
    const colors = {};
    for (const name of Object.keys(SURFACE_COLORS))
        colors[name] = style.getPropertyValue(`--${name}`).trim() || defaults[name];
    return colors;
}

/** The box at the pointer: {show(x, y, node), hide()}; x and y in the coordinates of the window. */
function createTip(frame) {
    const tip = createNode('div', 'v-tip');
    tip.hidden = true;
    frame.append(tip);
    return {
        show(x, y, node) {
            tip.replaceChildren(node);
            tip.hidden = false;
            const {width, height} = tip.getBoundingClientRect();
            const right = x + TIP_GAP + width < innerWidth;
            const left = right ? x + TIP_GAP : Math.max(4, x - TIP_GAP - width);
            const top = Math.max(4, Math.min(y + TIP_GAP, innerHeight - height - 4));
            tip.style.left = `${left}px`;
            tip.style.top = `${top}px`;
        },
        hide() {
            tip.hidden = true;
        },
    };
}

/** What describeBlock and its like return, as a node for the tip.
 * @param {{title: string, facts: string[][], stack?: string[], note?: string}} what */
export function tipNode(what) {
    const node = createNode('div');
    node.append(createNode('strong', 'v-tip-title', shorten(what.title, TIP_CHARACTERS)));
    const list = createNode('dl', 'v-facts');
    for (const [label, text] of what.facts)
        list.append(createNode('dt', '', label), createNode('dd', '', shorten(text, TIP_CHARACTERS)));
    node.append(list);
    if (what.stack && what.stack.length) {
        const stack = createNode('ol', 'v-stack');
        for (const line of what.stack.slice(0, 8))
            stack.append(createNode('li', '', shorten(line, 90)));
        node.append(stack);
        if (what.stack.length > 8)
            node.append(createNode('p', 'v-note', `${what.stack.length - 8} more frames`));
    }
    if (what.note)
        node.append(createNode('p', 'v-note', what.note));
    return node;
}

function createCanvas(frame, name) {
    const canvas = createNode('canvas', name);
    canvas.setAttribute('aria-hidden', 'true');
    frame.append(canvas);
    return canvas;
}

/** @param {HTMLElement} element @param {Object} state
 * @param {{label: string, height: number, legend?: boolean, draw: function(Object, Object): void,
 *          drawOver?: function(Object, Object): void, onSize?: function(): void}} options draw(pen,
 *   surface) paints the picture, drawOver the marks; height: where CSS gives none
 * @returns {Object} surface: frame (the focusable element), legend, tip, width, height, gutter, colors,
 *   theme, density; redraw(), redrawOver(), say(text), setHeight(px), toSvg(title), destroy() */
export function createSurface(element, state, options) {
    const surface = {width: 0, height: 0, gutter: 72, density: 1, colors: {}, theme: 'light'};
    const legend = createNode('div', 'v-legend');
    legend.setAttribute('role', 'group');
    legend.setAttribute('aria-label', `Legend: ${options.label}`);
    const frame = createNode('div', 'v-frame');
    const said = createNode('p', 'v-hidden');
    said.setAttribute('aria-live', 'polite');
    frame.tabIndex = 0;
    frame.setAttribute('role', 'application');
    frame.setAttribute('aria-roledescription', 'chart');
    frame.setAttribute('aria-label', options.label);
    const base = createCanvas(frame, 'v-base');
    const over = createCanvas(frame, 'v-over');
    element.classList.add('v-view');
    element.style.setProperty('--v-height', `${options.height}px`);
    element.append(...(options.legend ? [legend] : []), frame, said);
    const contexts = [base, over].map((canvas) => canvas.getContext('2d'));
    const pens = contexts.map(canvasPen);
    const dirty = {base: false, over: false, colors: true, frame: 0};

    function paint(which, call) {
        contexts[which].setTransform(surface.density, 0, 0, surface.density, 0, 0);
        contexts[which].clearRect(0, 0, surface.width, surface.height);
        if (call && surface.width > 0)
            call(pens[which], surface);
    }
    function onFrame() {
        dirty.frame = 0;
        if (dirty.colors) {
            surface.theme = themeOf(state);
            surface.colors = readColors(surface.theme);
            surface.gutter = parseFloat(getComputedStyle(element).getPropertyValue('--gutter')) ||
                (innerWidth < 600 ? 44 : 72);
            dirty.colors = false;
        }
        if (dirty.base)
            paint(0, options.draw);
        if (dirty.over)
            paint(1, options.drawOver);
        dirty.base = dirty.over = false;
    }
    function schedule(what) {
        dirty[what] = true;
        dirty.frame = dirty.frame || requestAnimationFrame(onFrame);
    }
    function onSize() {
        const {clientWidth, clientHeight} = frame;
        const density = Math.min(devicePixelRatio || 1, 3);
        if (clientWidth === surface.width && clientHeight === surface.height && density === surface.density)
            return;
        Object.assign(surface, {width: clientWidth, height: clientHeight, density});
        for (const canvas of [base, over]) {
            canvas.width = Math.round(clientWidth * density);
            canvas.height = Math.round(clientHeight * density);
        }
        dirty.colors = dirty.base = dirty.over = true;
        cancelAnimationFrame(dirty.frame);
        onFrame(); // at once: a canvas whose size was set is empty
        if (options.onSize)
            options.onSize();
    }
    function onTheme() {
        schedule('colors');
        schedule('base');
        schedule('over');
        if (options.onTheme)
            requestAnimationFrame(options.onTheme);
    }
    const observer = new ResizeObserver(onSize);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const unsubscribe = state.subscribe(['theme'], onTheme);
    dark.addEventListener('change', onTheme);
    observer.observe(frame);
    return Object.assign(surface, {
        frame, legend, tip: createTip(frame), base,
        redraw: () => schedule('base'),
        redrawOver: () => schedule('over'),
        say: (text) => (said.textContent = shorten(text, SAID_CHARACTERS)),
        setHeight: (height) => element.style.setProperty('--v-height', `${Math.round(height)}px`),
        toSvg(title) {
            const pen = svgPen(surface.width, surface.height, surface.colors.panel);
            options.draw(pen, surface);
            return pen.finish(title);
        },
        destroy() {
            observer.disconnect();
            unsubscribe();
            dark.removeEventListener('change', onTheme);
            cancelAnimationFrame(dirty.frame);
            element.replaceChildren();
        },
    });
}

/** A legend of many entries scrolls, so it must be reachable by keyboard.
 * @param {HTMLElement} legend @param {boolean} tall */
export function setTallLegend(legend, tall) {
    legend.classList.toggle('v-legend-tall', tall);
    if (tall)
        legend.setAttribute('tabindex', '0');
    else
        legend.removeAttribute('tabindex');
}

/** Says behind the status of *legend* how many of *entries*, the largest first, are below its edge, and their bytes.
 * @param {HTMLElement} legend filled with *entries* @param {{bytes?: number, groups?: number}[]} entries */
export function sayMore(legend, entries) {
    const more = createNode('span', 'v-more', '…');
    legend.querySelector('.v-status').after(more);
    const bottom = legend.offsetTop + legend.clientHeight;
    const items = [...legend.querySelectorAll('.v-key')];
    const below = entries.filter((_, i) => items[i].offsetTop + items[i].offsetHeight / 2 > bottom);
    const count = below.reduce((sum, entry) => sum + (entry.groups || 1), 0);
    const bytes = below.reduce((sum, entry) => sum + (entry.bytes || 0), 0);
    if (count)
        more.textContent = `${formatCount(count)} smaller${bytes ? `: ${formatBytes(bytes)}` : ''}`;
    else
        more.remove();
}

/** Fills *legend* with [{color, text, value?, note?, off?, pressed?, choose?}…].
 * @param {HTMLElement} legend @param {Array} entries */
export function fillLegend(legend, entries) {
    legend.replaceChildren(...entries.map((entry) => {
        const item = createNode(entry.choose ? 'button' : 'span', 'v-key');
        const swatch = createNode('span', 'v-swatch');
        swatch.style.background = entry.color;
        if (entry.line)
            swatch.classList.add('v-swatch-line');
        item.append(swatch, createNode('span', 'v-key-name', entry.text));
        if (entry.value !== undefined)
            item.append(createNode('span', 'v-key-value', entry.value));
        if (entry.title)
            item.title = entry.title;
        if (entry.choose) {
            item.type = 'button';
            item.setAttribute('aria-pressed', String(Boolean(entry.pressed)));
            item.classList.toggle('v-key-off', entry.off || (entry.pressed === false && entry.toggles !== false));
            item.addEventListener('click', entry.choose);
        }
        return item;
    }));
}
