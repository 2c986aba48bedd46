/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory by module of PyTorch at the peak, as the report has it (report --by module): a treemap, in which area
 * is bytes and a module contains the modules in it, beside a tree with the same rows. Colour is the kind of
 * tensor, or the pass in which it was allocated. A click fills both with one module, the path above and Escape go back. */
import {inkFor, neutralColor, paletteFor, themeOf} from '../colors.js';
import {button, fill, make, makeSvg, serializeSvg, toggles} from '../dom.js';
import {formatBytes, formatNumber, formatPercent, formatTime} from '../format.js';

const MAP_FONT = 12;
const MAP_HEADING = 18; // pixels above the modules in a module
const MAP_LEAST = 2; // pixels: smaller tiles are counted, not drawn
const TREE_OPEN = 0.1; // share of the modules that are open at first
const PASSES = ['forward', 'backward', 'recomputed', 'no pass'];

/** The rows of a device; undefined where the trace has no modules.
 * @returns {{model: ?string, module: string, kind: string, pass: ?string, bytes: number, blocks: number}[]|undefined} */
export function moduleRows(head, device) {
    const row = head.report.devices[device];
    return row && row.live ? row.live.by.module : undefined;
}

function makeNode(name, parent) {
    return {name, parent, path: parent && parent.parent ? `${parent.path}.${name}` : name, bytes: 0, blocks: 0,
        parts: new Map(), own: new Map(), children: new Map()};
}

/** The tree of *rows*. parts: bytes of a module by what *key* gives, own: without those in it.
 * @param {Object[]} rows of moduleRows @param {function(Object): string} key */
export function buildModules(rows, key) {
    const root = makeNode('all tensors', null);
    for (const row of rows) {
        const names = [row.model || 'in no module', ...row.module ? row.module.split('.') : []];
        let node = root;
        const count = (at) => {
            at.bytes += row.bytes;
            at.blocks += row.blocks;
            at.parts.set(key(row), (at.parts.get(key(row)) || 0) + row.bytes);
        };
        count(root);
        for (const name of names) {
            if (!node.children.has(name))
                node.children.set(name, makeNode(name, node));
            node = node.children.get(name);
            count(node);
        }
        node.own.set(key(row), (node.own.get(key(row)) || 0) + row.bytes);
    }
    return root;
}

/** The module with this path, or the root. */
export function moduleAt(root, path) {
    let node = root;
    while (node && node.path !== path)
        node = [...node.children.values()].find((child) => path === child.path || path.startsWith(`${child.path}.`));
    return node || root;
}

/** Places *items* {bytes}, the largest first, in a rectangle by Bruls, Huizing and van Wijk ("squarified"): rows
 * along its shorter side, each with as many items as make its worst proportions better. */
function squarify(items, {x, y, width, height}) {
    const placed = [];
    let left = items.reduce((sum, item) => sum + item.bytes, 0);
    let from = 0;
    while (from < items.length && left > 0) {
        const side = Math.min(width, height);
        const unit = width * height / left;
        const worst = (sum, first, last) => Math.max(side * side * first / (sum * sum * unit), sum * sum * unit / (side * side * last));
        let sum = items[from].bytes;
        let to = from + 1;
        while (to < items.length && worst(sum + items[to].bytes, items[from].bytes, items[to].bytes) <=
                worst(sum, items[from].bytes, items[to - 1].bytes))
            sum += items[to++].bytes;
        const thick = sum * unit / side;
        let at = 0;
        for (const item of items.slice(from, to)) {
            const length = side * item.bytes / sum;
            placed.push({...item, ...width >= height ? {x, y: y + at, width: thick, height: length}
                : {x: x + at, y, width: length, height: thick}});
            at += length;
        }
        if (width >= height) {
            x += thick;
            width -= thick;
        } else {
            y += thick;
            height -= thick;
        }
        left -= sum;
        from = to;
    }
    return placed;
}

/** Rectangles of *node* and what is in it, outer ones first: {node, part, x, y, width, height}; part: the kind or
 * pass of a tile, null for a module around others, which has *heading* pixels above them. */
export function layOutModules(node, width, height) {
    const boxes = [];
    let small = 0;
    const pending = [{node, part: null, x: 0, y: 0, width, height}];
    while (pending.length) {
        const box = pending.shift();
        if (box.width < MAP_LEAST || box.height < MAP_LEAST) {
            small++;
            continue;
        }
        boxes.push(box);
        if (box.part)
            continue;
        const heading = box.heading = box.height > 2 * MAP_HEADING && box.width > 60 ? MAP_HEADING : 0;
        const items = [...box.node.children.values()].map((child) => ({node: child, part: null, bytes: child.bytes}));
        for (const [part, bytes] of box.node.own)
            items.push({node: box.node, part, bytes});
        items.sort((a, b) => b.bytes - a.bytes);
        const edge = heading ? 2 : 0;
        pending.push(...squarify(items.filter(({bytes}) => bytes), {x: box.x + edge, y: box.y + heading,
            width: box.width - 2 * edge, height: box.height - heading - edge}));
    }
    return {boxes, small};
}

function mapText(text, room) {
    const most = Math.floor((room - 6) / (MAP_FONT * 0.58));
    return most < 3 ? '' : text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** @param {Element} element @param {{trace: Object, state: Object}} page
 * @returns {{svg: function(): string, rows: function(): Array[]}} */
export function mountModules(element, {trace, state}) {
    const keys = {kind: (row) => row.kind.replace('_', ' '), pass: (row) => row.pass || PASSES[3]};
    const colorBy = toggles('Colour by', [['kind', 'Kind'], ['pass', 'Pass']], state.get('modulesBy'),
        (modulesBy) => state.set({modulesBy}));
    const crumbs = make('span.crumbs');
    const legend = make('span.module-keys');
    const words = make('p.view-words.moment', {'aria-live': 'polite'});
    const map = make('div.module-map', {tabindex: 0, role: 'application', 'aria-roledescription': 'treemap',
        'aria-label': 'Treemap of modules. Escape goes to the module around. The tree has the same values.'});
    const tree = make('div.module-tree', {'aria-label': 'Modules'});
    const note = make('p.muted.small');
    fill(element, make('div.toolbar', {}, colorBy, legend), words, crumbs, make('div.module-area', {}, map, tree), note);
    let picture = null;
    let colors = new Map();

    function describe(node, part) {
        const bytes = part ? node.own.get(part) : node.bytes;
        return `${node.path || node.name}${part ? `: ${part}` : ''}\n${formatBytes(bytes)}` +
            (part ? '' : ` in ${formatNumber(node.blocks, 'block')}\n` +
            [...node.parts].sort((a, b) => b[1] - a[1]).map(([name, sum]) => `${name} ${formatBytes(sum)}`).join('\n'));
    }
    function drawMap(shown, whole, width, height) {
        const style = getComputedStyle(document.documentElement);
        const ink = style.getPropertyValue('--ink').trim();
        const {boxes, small} = layOutModules(shown, width, height);
        const svg = makeSvg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': 'system-ui, sans-serif',
            'font-size': MAP_FONT});
        for (const box of boxes) {
            const color = box.part ? colors.get(box.part) : style.getPropertyValue('--raised').trim();
            const group = makeSvg('g', {class: box.part ? 'tile' : 'module'}, makeSvg('title', {}, describe(box.node, box.part)),
                makeSvg('rect', {x: box.x.toFixed(1), y: box.y.toFixed(1), width: Math.max(0, box.width - 1).toFixed(1),
                    height: Math.max(0, box.height - 1).toFixed(1), fill: color, stroke: box.part ? 'none' : style.getPropertyValue('--line').trim()}));
            const room = box.part ? box.height : box.heading;
            const only = box.part && box.node.children.size === 0 && box.node.own.size === 1;
            const size = ` · ${formatBytes(box.node.bytes)}`; // left out where it does not fit whole
            const text = room < 14 ? '' : mapText(box.part ? only ? `${box.node.name}: ${box.part}` : box.part
                : box.node.name + (mapText(box.node.name + size, box.width).endsWith('…') ? '' : size), box.width);
            if (text)
                group.append(makeSvg('text', {x: (box.x + 4).toFixed(1), y: (box.y + 13).toFixed(1),
                    fill: box.part ? inkFor(color) : ink}, text));
            group.addEventListener('click', () => state.set({module: box.node.parent ? box.node.path : ''}));
            svg.append(group);
        }
        fill(note, small ? `${formatNumber(small, 'tile')} of less than ${MAP_LEAST} pixels ${small === 1 ? 'is' : 'are'} not drawn.` : '');
        return svg;
    }
    function bar(node, whole) {
        const parts = [...node.parts].sort((a, b) => b[1] - a[1]);
        return make('span.module-bar', {'aria-hidden': 'true'}, parts.map(([part, bytes]) => make('span',
            {title: `${part} ${formatBytes(bytes)}`, style: {width: `${100 * bytes / whole}%`, background: colors.get(part)}})));
    }
    /** One module of the tree; those in it are made when it is opened. */
    function branch(node, whole, depth) {
        const cells = [make('span.module-name', {}, node.name), make('span.number', {}, formatBytes(node.bytes)),
            make('span.number.muted', {}, formatPercent(node.bytes, whole)), bar(node, whole)];
        cells[0].style.paddingLeft = `${14 * depth}px`;
        const children = [...node.children.values()].sort((a, b) => b.bytes - a.bytes);
        if (!children.length)
            return make('div.module-leaf', {title: describe(node)}, cells);
        const details = make('details', {}, make('summary', {title: describe(node)}, cells));
        const open = () => {
            if (details.open && details.childElementCount === 1)
                details.append(...children.map((child) => branch(child, whole, depth + 1)));
        };
        details.addEventListener('toggle', open);
        details.open = depth < 1 || (depth < 3 && node.bytes >= TREE_OPEN * whole);
        open();
        return details;
    }
    function draw() {
        const rows = moduleRows(trace.head, state.get('device'));
        if (!rows) {
            fill(words, 'No modules are recorded for this device.');
            fill(map);
            fill(tree);
            return;
        }
        const theme = themeOf(state);
        const by = state.get('modulesBy');
        colorBy.show(by);
        const root = buildModules(rows, keys[by]);
        const shown = moduleAt(root, state.get('module'));
        const names = by === 'kind' ? [...root.parts.keys()] : PASSES;
        const palette = paletteFor(names, theme);
        colors = new Map(names.map((name, i) => [name, name === PASSES[3] ? neutralColor(theme) : palette[i]]));
        const {live} = trace.head.report.devices[state.get('device')];
        fill(words, `Tensors live at ${formatTime(live.time_ns)} (the peak): ${formatBytes(root.bytes)} in ` +
            `${formatNumber(root.blocks, 'block')}.`);
        const path = [];
        for (let node = shown; node; node = node.parent)
            path.unshift(node);
        fill(crumbs, path.map((node) => [node.parent ? ' › ' : '', button(node.name, () =>
            state.set({module: node.parent ? node.path : ''}), {class: 'link'})]));
        fill(legend, [...shown.parts.keys()].sort((a, b) => shown.parts.get(b) - shown.parts.get(a)).map((name) => make('span', {},
            make('i', {'aria-hidden': 'true', style: {background: colors.get(name)}}), `${name} ${formatBytes(shown.parts.get(name))}`)));
        picture = (width, height) => drawMap(shown, root, width, height);
        fill(map, picture(Math.max(120, map.clientWidth), Math.max(120, map.clientHeight)));
        fill(tree, branch(shown, shown.bytes, 0));
    }
    map.addEventListener('keydown', (event) => {
        if (event.key !== 'Escape' || !state.get('module'))
            return;
        const dot = state.get('module').lastIndexOf('.');
        state.set({module: dot < 0 ? '' : state.get('module').slice(0, dot)});
        event.stopPropagation();
    });
    new ResizeObserver(() => picture && fill(map, picture(Math.max(120, map.clientWidth), Math.max(120, map.clientHeight)))).observe(map);
    state.subscribe(['module', 'modulesBy'], draw);
    draw();
    return {
        svg: () => serializeSvg(picture(1200, 800)),
        rows: () => [['model', 'module', 'kind', 'pass', 'bytes', 'blocks'],
            ...(moduleRows(trace.head, state.get('device')) || []).map((row) =>
                [row.model, row.module, row.kind, row.pass, row.bytes, row.blocks])],
    };
}
