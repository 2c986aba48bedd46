/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of a view: a legend, two canvases (the picture, and above it crosshair and marks, so that
 * moving the pointer never repaints the picture), a box of details at the pointer, and a line of text
 * for screen readers. Redraws once a frame; follows size and pixel density. */
import {canvasPen, svgPen} from './pen.js';
import {themeOf} from './colors.js';
import {make} from './dom.js';
import {formatBytes, formatCount, shorten} from './format.js';

const SURFACE_COLORS = ['background', 'panel', 'ink', 'muted', 'grid', 'accent', 'danger', 'warning', 'focus',
    'series-allocated', 'series-reserved', 'series-tensors', 'series-used', 'series-host', 'series-limit'];
const TIP_GAP = 14;
const SAID_CHARACTERS = 1200;
const TIP_CHARACTERS = 300; // of a name
const LEGEND_VALUE = 110; // pixels of an entry beside its name

/** The custom properties of page.css, which have other values in each theme. */
function readColors() {
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(SURFACE_COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** The box at the pointer: {show(x, y, node), hide()}; x and y in the coordinates of the window. */
function createTip(frame) {
    const tip = make('div.v-tip', {hidden: true});
    frame.append(tip);
    return {
        show(x, y, node) {
            tip.replaceChildren(node);
            tip.hidden = false;
            const {width, height} = tip.getBoundingClientRect();
            const right = x + TIP_GAP + width < innerWidth;
            const left = right ? x + TIP_GAP : Math.max(4, x - TIP_GAP - width);
            const top = Math.max(4, Math.min(y + TIP_GAP, innerHeight - height - 4));
            Object.assign(tip.style, {left: `${left}px`, top: `${top}px`});
        },
        hide() {
            tip.hidden = true;
        },
    };
}

/** What describeBlock and its like return, as a node for the tip.
 * @param {{title: string, facts: string[][], note?: string}} what */
export function tipNode({title, facts, note}) {
    return make('div', {}, make('strong.v-tip-title', {}, shorten(title, TIP_CHARACTERS)),
        make('dl.v-facts', {}, facts.map(([label, text]) =>
            [make('dt', {}, label), make('dd', {}, shorten(text, TIP_CHARACTERS))])),
        note ? make('p.v-note', {}, note) : null);
}

/** @param {HTMLElement} element @param {Object} state
 * @param {{label: string, height: number, legend?: boolean, draw: function(Object, Object): void,
 *          drawOver?: function(Object, Object): void, onSize?: function(): void}} options draw(pen,
 *   surface) paints the picture, drawOver the marks; height: where CSS gives none
 * @returns {Object} surface: frame (the focusable element), legend, tip, width, height, gutter, colors,
 *   theme, density; redraw(), redrawOver(), say(text), setHeight(px), point(find, describe), toSvg(title) */
export function createSurface(element, state, options) {
    const surface = {width: 0, height: 0, gutter: 72, density: 1, colors: {}, theme: 'light'};
    const legend = make('div.v-legend', {role: 'group', 'aria-label': `Legend: ${options.label}`});
    const base = make('canvas.v-base', {'aria-hidden': 'true'});
    const over = make('canvas.v-over', {'aria-hidden': 'true'});
    const frame = make('div.v-frame', {tabindex: 0, role: 'application', 'aria-roledescription': 'chart',
        'aria-label': options.label}, base, over);
    const said = make('p.v-hidden', {'aria-live': 'polite'});
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
            surface.colors = readColors();
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
    new ResizeObserver(onSize).observe(frame);
    return Object.assign(surface, {
        frame, legend, tip: createTip(frame), base,
        redraw: () => schedule('base'),
        redrawOver: () => schedule('over'),
        say: (text) => (said.textContent = shorten(text, SAID_CHARACTERS)),
        setHeight: (height) => element.style.setProperty('--v-height', `${Math.round(height)}px`),
        /** Follows the pointer: the tip shows describe(what *find* returns for its event), nothing where that is null. */
        point(find, describe) {
            frame.addEventListener('pointermove', (event) => {
                const found = find(event);
                frame.style.cursor = found ? 'pointer' : 'default';
                if (found)
                    surface.tip.show(event.clientX, event.clientY, tipNode(describe(found)));
                else
                    surface.tip.hide();
            });
            frame.addEventListener('pointerleave', () => surface.tip.hide());
        },
        toSvg(title) {
            const pen = svgPen(surface.width, surface.height, surface.colors.panel);
            options.draw(pen, surface);
            return pen.finish(title);
        },
    });
}

/** Fills *legend* with [{color, text, value?, line?, title?, pressed?, toggles?, follows?, choose?}…]; follows: the value is that
 * at the pointer.
 * @param {HTMLElement} legend @param {Array} entries */
export function fillLegend(legend, entries) {
    legend.replaceChildren(...entries.map(({color, text, value, line, title, pressed, toggles, follows, choose}) => {
        const swatch = make(line ? 'span.v-swatch.v-swatch-line' : 'span.v-swatch', {style: {background: color}});
        const attributes = choose ? {type: 'button', 'aria-pressed': String(Boolean(pressed)), on: {click: choose}} : {};
        const item = make(choose ? 'button.v-key' : 'span.v-key', {...attributes, title: title || null}, swatch,
            make('span.v-key-name', {}, text), value === undefined ? null : make('span.v-key-value', {}, value));
        item.classList.toggle('v-key-follows', Boolean(follows));
        item.classList.toggle('v-key-off', Boolean(choose && pressed === false && toggles !== false));
        return item;
    }));
}

/** Fills a legend of groups, the largest first, after *status*, which also says how many of them are below its
 * edge, and their bytes. It may scroll, so it must be reachable by keyboard.
 * @param {HTMLElement} legend @param {string} key what it depends on
 * @param {{bytes?: number, groups?: number}[]} entries as for fillLegend @param {string[]} names of the entries that there
 * are at any time: its height is the same at every one @param {string} status */
export function fillGroupLegend(legend, key, entries, names, status) {
    const wide = names.reduce((sum, name) => sum + LEGEND_VALUE + 6.5 * name.length, 6.5 * status.length);
    legend.dataset.key = key;
    legend.classList.add('v-legend-groups');
    legend.style.setProperty('--rows', String(Math.ceil(wide / Math.max(100, legend.clientWidth - 90))));
    legend.setAttribute('tabindex', '0');
    fillLegend(legend, entries);
    const more = make('span.v-more', {}, '…');
    const items = [...legend.children];
    legend.prepend(make('span.v-status', {}, status), more);
    const bottom = legend.offsetTop + legend.clientHeight;
    const below = entries.filter((_, i) => items[i].offsetTop + items[i].offsetHeight / 2 > bottom);
    const count = below.reduce((sum, entry) => sum + (entry.groups || 1), 0);
    const bytes = below.reduce((sum, entry) => sum + (entry.bytes || 0), 0);
    if (count)
        more.textContent = `${formatCount(count)} smaller${bytes ? `: ${formatBytes(bytes)}` : ''}`;
    else
        more.remove();
}
