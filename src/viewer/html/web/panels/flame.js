/* SPDX-License-Identifier: Apache-2.0
 *
 * Flame graph of the blocks in view: width is bytes or blocks, the root is on top. A click or Enter
 * zooms, Escape goes back, arrow keys move between functions, a search marks what it finds.
 * Functions narrower than a pixel are counted in a line below, never left out in silence. */
import {changeColor, flameColor, inkFor, themeOf} from '../colors.js';
import {add, button, fill, make, toggles} from '../dom.js';
import {formatBytes, formatBytesApart, formatBytesChange, formatCount, formatNumber, formatPercent, shorten} from '../format.js';
import {buildFrames, frameAt, frameLabel, hasLibraries, pathOf, searchFrames, sumBySite} from './frames.js';
import {blocksInView, showMoment} from './moment.js';
import {createSurface, tipNode} from '../surface.js';

const FLAME_ROW = 22;
const FLAME_KEYS = 4; // libraries of a colour that are named
const FLAME_TEXT = {size: 12};
const FLAME_ALL = {light: '#cfd4de', dark: '#3a4150'}; // the root
const FLAME_DIM = 0.35; // of functions that a search does not find
const FLAME_MARK = {light: '#b3128f', dark: '#ff8ce0'};
const flameValue = (node, metric) => (metric === 'count' ? node.blocks : node.bytes);

const ZOOMED = new WeakMap(); // by state: its zoom, and the functions on the way there

/** The functions from below the root to *node*. */
function namesOf(node) {
    const names = [];
    for (; node.parent; node = node.parent)
        names.unshift(`${node.name} ${node.file} ${node.line}`);
    return names;
}

/** Rectangles of the functions below *zoomed*, and its ancestors across the whole width.
 * @returns {{boxes: {node, x, width}[], narrow: number, depth: number}} x and width from 0 to 1 */
function layOut(zoomed, metric, least) {
    const boxes = [];
    let narrow = 0;
    let depth = 0;
    for (let node = zoomed.parent; node; node = node.parent)
        boxes.unshift({node, x: 0, width: 1});
    const pending = [{node: zoomed, x: 0, width: 1}];
    while (pending.length) {
        const box = pending.pop();
        boxes.push(box);
        depth = Math.max(depth, box.node.depth + 1);
        const whole = flameValue(box.node, metric);
        let {x} = box;
        const list = metric === 'count' ? [...box.node.children].sort((a, b) => b.blocks - a.blocks) : box.node.children;
        for (const node of list) {
            const width = whole ? box.width * flameValue(node, metric) / whole : 0;
            if (width < least)
                narrow++;
            else
                pending.push({node, x, width});
            x += width;
        }
    }
    return {boxes, narrow, depth};
}

const flameWidths = new Map();
const FLAME_CHARACTERS = 300; // of a name

const boxLabel = (node) => shorten(frameLabel(node), FLAME_CHARACTERS);

/** *text* without what does not fit into *width* pixels. */
function fitted(pen, text, width) {
    const room = width - 8;
    if (room < 20)
        return '';
    if (!flameWidths.has(text))
        flameWidths.set(text, pen.measure(text, FLAME_TEXT));
    const whole = flameWidths.get(text);
    if (whole <= room)
        return text;
    const characters = Math.floor(text.length * (room - 10) / whole * 0.96);
    return characters < 2 ? '' : `${text.slice(0, characters)}…`;
}

/** Of two traces by the change, else by the function. */
const boxColor = (node, theme) => (node.pair ? changeColor(...node.pair)
    : node.library === null || !node.parent ? FLAME_ALL[theme] : flameColor(node.name, node.library, theme));

/** "1.2 MiB in A, 3.4 MiB in B, +2.2 MiB". */
function pairWords([a, b]) {
    const [before, after] = formatBytesApart(a, b);
    return `${before} in A, ${after} in B${a === b ? '' : `, ${formatBytesChange(b - a)}`}`;
}

function flameDescription(node, root, metric) {
    if (node.pair)
        return pairWords(node.pair);
    const share = formatPercent(flameValue(node, metric), flameValue(root, metric));
    return `${formatBytes(node.bytes)} in ${formatNumber(node.blocks, 'block')}, ${share} of the ` +
        (metric === 'count' ? 'blocks' : 'bytes');
}

function matchWords(hits, root, metric) {
    if (!hits)
        return '';
    const share = formatPercent(flameValue(hits, metric), flameValue(root, metric));
    return hits.found.size ? `${share} matched, ${formatBytes(hits.bytes)}` : 'nothing matches';
}

const colorKey = (background, text) => make('span.legend-line', {}, make('span.key', {'aria-hidden': 'true', style: {background}}), text);

/** What the colours mean: the user's code, and the libraries of the boxes with the hue that each has. */
function colorKeys(boxes, theme) {
    const libraries = new Set(boxes.map(({node}) => node.library).filter((library) => library !== null));
    const names = new Map(); // by colour: libraries may share one
    for (const library of [...libraries].sort()) { // the user's code, '', is the first
        const color = flameColor('', library, theme);
        names.set(color, [...(names.get(color) || []), library || 'your code']);
    }
    return libraries.size > 1 ? [...names].map(([color, list]) => colorKey(color, list.slice(0, FLAME_KEYS).join(', ') +
        (list.length > FLAME_KEYS ? ` and ${formatCount(list.length - FLAME_KEYS)} more` : ''))) : [];
}

function drawFlame(pen, surface, {boxes, found}) {
    for (const {node, x, width: part} of boxes) {
        const left = x * surface.width;
        const wide = Math.max(1, part * surface.width - 1);
        const top = node.depth * FLAME_ROW;
        const marked = found && found.has(node);
        const color = marked ? FLAME_MARK[surface.theme] : boxColor(node, surface.theme);
        pen.rect(left, top, wide, FLAME_ROW - 1, color, found && !marked ? FLAME_DIM : 1,
            `${frameLabel(node)}: ${node.pair ? pairWords(node.pair) : formatBytes(node.bytes)}`);
        const text = fitted(pen, boxLabel(node), wide);
        if (text)
            pen.text(left + 4, top + 15, text, found && !marked ? surface.colors.ink : inkFor(color), FLAME_TEXT);
    }
}

function drawFocus(pen, surface, {boxes, focus}) {
    const box = boxes.find(({node}) => node === focus);
    if (box)
        pen.frame(box.x * surface.width + 1, focus.depth * FLAME_ROW + 1, Math.max(2, box.width * surface.width - 3), FLAME_ROW - 3,
            surface.colors.ink, 2);
}

function moveFocus(view, key) {
    const {focus, boxes} = view;
    const drawn = (node) => node && boxes.some((box) => box.node === node);
    const siblings = focus.parent ? focus.parent.children.filter(drawn) : [focus];
    const at = siblings.indexOf(focus);
    const next = {
        ArrowUp: focus.parent, ArrowDown: focus.children.find(drawn),
        ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1],
    }[key];
    return drawn(next) ? next : focus;
}

/** The blocks of a trace that are in view, as what the graph shows. */
const blocksOf = (trace, state) => ({
    follows: ['cursor', 'cursor2'],
    heads: [trace.head],
    loaded: trace.blocks,
    build(options, words) {
        if (!trace.loaded.blocks)
            return null;
        const moment = blocksInView(trace, state);
        showMoment(words, moment, state);
        return {root: buildFrames(trace.head, sumBySite(trace.loaded.blocks, moment.rows), options), words: moment.words};
    },
});

/** @param {Element} element @param {{trace: Object, state: Object}} page
 * @param {Object} [content] follows: keys of the state; heads of the traces; loaded: a promise; build(options, words):
 * {root, words} as of buildFrames or buildDifference, null: not yet; it may fill the element *words*
 * @returns {{svg: function(): string, rows: function(): Array[]}} */
export function mountFlame(element, {trace, state}, content = blocksOf(trace, state)) {
    const words = make('p.view-words.moment', {'aria-live': 'polite'}, 'Reading the blocks…');
    const metric = toggles('Width', [['bytes', 'Bytes'], ['count', 'Blocks']], state.get('metric'),
        (value) => state.set({metric: value}));
    const inverted = button('Inverted', () => state.set({inverted: !state.get('inverted'), zoom: ''}),
        {'aria-pressed': 'false', title: 'Start from the functions that allocate'});
    const libraries = button('Libraries', () => state.set({libraries: !state.get('libraries'), zoom: ''}),
        {'aria-pressed': 'false', title: 'Show the functions of libraries as well'});
    const two = content.heads.length > 1;
    libraries.hidden = !content.heads.some(hasLibraries);
    metric.hidden = two; // the changes are of bytes
    const search = make('input', {type: 'search', placeholder: 'Search functions and files', 'aria-label': 'Search functions and files',
        'data-search': true, on: {input: () => state.set({search: search.value})}});
    const matched = make('span.view-words', {'aria-live': 'polite'});
    const reset = button('Zoom out', () => state.set({zoom: ''}), {class: 'quiet'});
    const area = make('div.flame-area');
    const note = make('p.muted.small');
    const keys = make('p.flame-keys.small');
    fill(element, make('div.toolbar', {}, metric, inverted, libraries, search, matched, reset), words, keys, area, note);

    const view = {root: null, boxes: [], found: null, focus: null};
    let title = '';
    const surface = createSurface(area, state, {height: FLAME_ROW, onSize: draw, draw: (pen) => drawFlame(pen, surface, view),
        drawOver: (pen) => drawFocus(pen, surface, view), label: 'Flame graph. Arrow keys move between functions, Enter zooms, ' +
            'Escape zooms out. The table has the same values.'});
    const {frame, tip} = surface;

    const shownMetric = () => (two ? 'bytes' : state.get('metric'));
    function draw() {
        if (!view.root)
            return;
        const zoomed = frameAt(view.root, state.get('zoom'));
        ZOOMED.set(state.source, {zoom: state.get('zoom'), names: namesOf(zoomed)});
        Object.assign(view, layOut(zoomed, shownMetric(), 0.7 / Math.max(120, surface.width)));
        const hits = state.get('search') ? searchFrames(view.root, state.get('search')) : null;
        view.found = hits && hits.found;
        fill(matched, matchWords(hits, view.root, shownMetric()));
        fill(note, view.narrow ? `${formatNumber(view.narrow, 'function')} narrower than a pixel ` +
            `${view.narrow === 1 ? 'is' : 'are'} not drawn: zoom in to see them.` : '');
        reset.hidden = zoomed === view.root;
        fill(keys, two ? [[0, 1, 'more in B'], [1, 1, 'equal'], [1, 0, 'less in B']].map(([a, b, text]) => colorKey(changeColor(a, b), text))
            : colorKeys(view.boxes.filter(({node}) => node.parent), themeOf(state)));
        metric.show(state.get('metric'));
        inverted.setAttribute('aria-pressed', String(state.get('inverted')));
        libraries.setAttribute('aria-pressed', String(state.get('libraries')));
        if (search.value !== state.get('search'))
            search.value = state.get('search');
        surface.setHeight(view.depth * FLAME_ROW);
        surface.redraw();
        surface.redrawOver();
    }
    function rebuild() {
        const built = state.over ? null : content.build({inverted: state.get('inverted'), libraries: state.get('libraries')}, words);
        if (!built)
            return;
        ({root: view.root, words: title} = built);
        view.focus = null;
        const before = ZOOMED.get(state.source);
        if (before && before.zoom && before.zoom === state.get('zoom')) // the same function, which may be another row now
            state.set({zoom: pathOf(before.names.reduce((node, name) => node && node.children.find((child) =>
                namesOf(child).at(-1) === name), view.root) || view.root)});
        draw();
    }
    function boxAt(event) {
        const {left, top} = frame.getBoundingClientRect();
        const x = (event.clientX - left) / surface.width;
        const depth = Math.floor((event.clientY - top) / FLAME_ROW);
        return view.boxes.find((box) => box.node.depth === depth && x >= box.x && x < box.x + box.width);
    }
    const describe = (node) => ({title: node.name, facts: [...node.file ? [['line', `${node.file}:${node.line}`]] : [],
        ['memory', flameDescription(node, view.root, shownMetric())]]});
    function zoomTo(node) {
        view.focus = node;
        state.set({zoom: pathOf(node), selected: two || node.children.length || !node.sites.length ? state.get('selected')
            : {site: node.sites[0]}});
    }
    surface.point(boxAt, ({node}) => describe(node));
    frame.addEventListener('click', (event) => {
        const box = boxAt(event);
        if (box)
            zoomTo(box.node);
    });
    frame.addEventListener('keydown', (event) => {
        if (!view.root)
            return;
        if (event.key.startsWith('Arrow')) {
            view.focus = view.focus ? moveFocus(view, event.key) : frameAt(view.root, state.get('zoom'));
        } else if (event.key === 'Enter' || event.key === ' ') {
            zoomTo(view.focus || view.root);
        } else if ((event.key === 'Escape' || event.key === 'Backspace') && state.get('zoom')) {
            view.focus = frameAt(view.root, state.get('zoom'));
            state.set({zoom: pathOf(view.focus.parent || view.root)});
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
        draw();
        const box = view.boxes.find(({node}) => node === view.focus);
        const {left, top} = frame.getBoundingClientRect();
        if (box)
            tip.show(left + box.x * surface.width, top + view.focus.depth * FLAME_ROW + 8, tipNode(describe(view.focus)));
    });
    state.subscribe([...content.follows, 'inverted', 'libraries'], rebuild);
    state.subscribe(['metric', 'search', 'zoom'], draw);
    content.loaded.then(rebuild, (error) => add(fill(words), [error.message]));
    return {
        svg: () => surface.toSvg(title),
        rows() {
            const rows = [['depth', 'function', 'file', 'line', 'bytes', 'blocks', 'stack']];
            const zoomed = view.root && frameAt(view.root, state.get('zoom'));
            const pending = zoomed ? [[zoomed, '']] : [];
            while (pending.length) {
                const [node, above] = pending.pop();
                const stack = above ? `${above};${node.name}` : node.name;
                rows.push([node.depth, node.name, node.file, node.line, node.bytes, node.blocks, stack]);
                for (const child of [...node.children].reverse())
                    pending.push([child, stack]);
            }
            return rows;
        },
        rebuild,
    };
}
