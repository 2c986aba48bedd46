/* SPDX-License-Identifier: Apache-2.0
 *
 * Every block as a rectangle of time × address, coloured by call site, phase, kind and so on. While a
 * gesture runs, the latest picture is moved and scaled; the exact one follows in slices (raster.js).
 * Blocks smaller than a pixel are counted, said at the pointer, and unfold on zooming. */
import {createPainter} from './slices.js';
import {createNode, createSurface, fillLegend, tipNode} from './surface.js';
import {bindTimeAxis, byteTicks, instantText, showTime, visibleTime} from './viewport.js';
import {AXIS_HEIGHT, drawByteGrid, drawCursors, drawMissing, drawTimeGrid, drawTimeMark, missingText, plotOf,
    timeScale} from './timegrid.js';
import {createPlaceAxis} from './placeaxis.js';
import {GROUPINGS, groupBlocks, matchSites} from './grouping.js';
import {cutEnd, describeBlock, shortSite} from './describe.js';
import {colorRaster, rasterize} from './raster.js';
import {upperBound} from './liveindex.js';
import {inkFor, neutralColor} from './colors.js';
import {formatBytes, formatCount, formatNumber, shorten} from './format.js';

const BLOCKMAP_HEIGHT = 420;
const LONG_ROWS = 300000; // blocks of a picture that takes many frames
const LABELS_MAX = 200;
const VECTORS_MAX = 20000;
const ROWS_MAX = 200000;
const LEGEND_MAX = 20;
const LEGEND_SHORT = 8; // entries that need no fixed height

/** The rows that search and a selected call site leave out; null: none. */
function dimmedRows(trace, state) {
    const {blocks} = trace.loaded;
    const sites = matchSites(trace, state.get('search'));
    const selected = state.get('selected');
    const {of, names} = groupBlocks(trace, 'site');
    const only = selected && selected.site !== undefined && trace.head.sites[selected.site]
        ? names.indexOf(trace.head.sites[selected.site].label) : -1;
    if (!sites && only < 0)
        return null;
    return (row) => (sites && !sites[blocks.site[row]]) || (only >= 0 && of[row] !== only);
}

/** @param {HTMLElement} element @param {{trace: Object, other: Object, state: Object}} context
 * @returns {{svg: function(): string, rows: function(): Array[], destroy: function(): void}} */
export function mountBlockmap(element, {trace, state}) {
    const painter = createPainter();
    const canvases = {now: document.createElement('canvas'), whole: document.createElement('canvas')};
    const pictures = {now: null, whole: null, spare: null}; // rasters whose colours are in these canvases
    let job = null; // the view that is being painted
    let pointed = -1; // the block under the pointer
    const status = createNode('div', 'v-bar v-status');
    const surface = createSurface(element, state, {label: 'Blocks over time and address', height: BLOCKMAP_HEIGHT,
        legend: true, draw: drawMap, drawOver: drawMapMarks, onSize: refresh, onTheme: recolor});
    surface.legend.classList.add('v-legend-chosen');
    element.append(status);
    const pixelTime = () => (visibleTime(trace, state).to - visibleTime(trace, state).from) / plot().width;
    const plot = () => plotOf(surface, 8, AXIS_HEIGHT);
    const vertical = createPlaceAxis(trace, state);
    const places = vertical.now;
    const blocksNow = () => trace.loaded.blocks;

    function viewNow() {
        const {width, height} = plot();
        const {placeFrom, placeTo} = places();
        return {...visibleTime(trace, state), placeFrom, placeTo, device: state.get('device'),
            width: Math.max(1, Math.round(width * surface.density)),
            height: Math.max(1, Math.round(height * surface.density))};
    }
    const sameView = (a, b) => a && b && ['from', 'to', 'placeFrom', 'placeTo', 'device', 'width', 'height']
        .every((key) => a[key] === b[key]);

    function* paintJob(view) {
        const raster = yield* rasterize(blocksNow(), view, pictures.spare);
        pictures.spare = null;
        const image = yield* colorRaster(raster, groupBlocks(trace, state.get('color')),
            groupBlocks(trace, state.get('color')).colors(surface.theme), look());
        return {raster, image};
    }
    function look() {
        return {panel: hexOf(surface.colors.panel), ink: hexOf(surface.colors.ink), dim: dimmedRows(trace, state)};
    }
    function hexOf(color) {
        return /^#[0-9a-f]{6}$/i.test(color) ? color : surface.theme === 'dark' ? '#1a1f28' : '#ffffff';
    }
    function put(canvas, image) {
        canvas.width = image.width;
        canvas.height = image.height;
        canvas.getContext('2d').putImageData(image, 0, 0);
    }
    function onPainted({raster, image}) {
        job = null;
        const {end} = places();
        pictures.spare = pictures.now !== pictures.whole ? pictures.now : null;
        pictures.now = raster;
        put(canvases.now, image);
        if (raster.from === 0 && raster.to >= trace.head.duration && raster.placeTo - raster.placeFrom >= end * 0.999) {
            pictures.whole = raster;
            put(canvases.whole, image);
        }
        surface.redraw();
        showStatus();
        if (!sameView(raster, viewNow()))
            refresh();
    }
    /** Paints what is visible now. A job for another view is finished first, unless it is a long one: its
     * picture is nearer to what is visible than the one before. */
    function refresh() {
        if (!blocksNow() || !surface.width)
            return;
        const view = viewNow();
        if (sameView(job, view) || (!job && sameView(pictures.now, view)))
            return;
        const {born} = blocksNow();
        view.rows = upperBound(born, view.to) - upperBound(born, view.from);
        if (job && (job.rows < LONG_ROWS || view.rows > job.rows / 4))
            return;
        job = view;
        painter.start(paintJob(view), onPainted);
    }
    function recolor() {
        if (!pictures.now)
            return;
        const grouping = groupBlocks(trace, state.get('color'));
        for (const name of ['whole', 'now']) {
            const steps = pictures[name] ? colorRaster(pictures[name], grouping, grouping.colors(surface.theme), look()) : null;
            let next = steps ? steps.next() : {done: true};
            while (!next.done)
                next = steps.next();
            if (next.value)
                put(canvases[name], next.value);
        }
        surface.redraw();
        surface.redrawOver();
    }
    function drawPicture(pen, area, picture, canvas) {
        if (!picture || picture.device !== state.get('device'))
            return;
        const x = timeScale(visibleTime(trace, state), area);
        const y = vertical.scale(area);
        const left = x(picture.from);
        const top = y(picture.placeTo);
        pen.image(canvas, left, top, x(picture.to) - left, y(picture.placeFrom) - top);
    }
    function drawSegments(pen, area, range, x, y) {
        const {segments} = trace.loaded;
        if (!segments)
            return;
        const device = state.get('device');
        segments.live.visit(range.from, range.to, (i) => {
            if (segments.device[i] !== device)
                return;
            const left = Math.max(area.left, x(segments.born[i]));
            const right = Math.min(area.left + area.width, x(segments.died[i]));
            const top = y(segments.place[i] + segments.bytes[i]);
            const height = y(segments.place[i]) - top;
            if (height < 0.3 || top > area.top + area.height || top + height < area.top)
                return;
            pen.rect(left, top, Math.max(0.5, right - left), height, surface.colors.ink, 0.06);
            if (height > 6)
                pen.line(left, top, right, top, surface.colors.grid);
        });
    }
    function drawLabels(pen, area) {
        const picture = pictures.now;
        if (!picture || picture.device !== state.get('device'))
            return;
        const grouping = groupBlocks(trace, state.get('color'));
        const colors = grouping.colors(surface.theme);
        const {blocks} = trace.loaded;
        const x = timeScale(visibleTime(trace, state), area);
        const y = vertical.scale(area);
        const dim = dimmedRows(trace, state);
        const largest = picture.large.sort((a, b) => b.width * b.height - a.width * a.height).slice(0, LABELS_MAX);
        for (const {row} of largest) {
            const left = Math.max(area.left, x(blocks.born[row]));
            const width = Math.min(area.left + area.width, x(blocks.died[row])) - left;
            const top = Math.max(area.top, y(blocks.place[row] + blocks.bytes[row]));
            const height = Math.min(area.top + area.height, y(blocks.place[row])) - top;
            if (width < 70 || height < 13 || (dim && dim(row)))
                continue;
            const label = trace.head.sites[blocks.site[row]].label;
            const text = cutEnd(`${formatBytes(blocks.bytes[row])}  ${shortSite(label)}`, Math.floor((width - 8) / 6));
            pen.text(left + 5, Math.min(top + height / 2 + 4, top + height - 3), text, inkFor(colors[grouping.of[row]]), {size: 10.5});
        }
    }
    /** For export: rectangles where they are few enough, else the painted picture. */
    function drawVectors(pen, area, range, x, y) {
        const rows = trace.overlapping(range.from, range.to, state.get('device'));
        if (rows.length > VECTORS_MAX)
            return false;
        const {blocks} = trace.loaded;
        const grouping = groupBlocks(trace, state.get('color'));
        const colors = grouping.colors(surface.theme);
        for (const row of rows) {
            const left = Math.max(area.left, x(blocks.born[row]));
            const right = Math.min(area.left + area.width, x(blocks.died[row]));
            const top = Math.max(area.top, y(blocks.place[row] + blocks.bytes[row]));
            const bottom = Math.min(area.top + area.height, y(blocks.place[row]));
            if (bottom > top)
                pen.rect(left, top, Math.max(0.1, right - left), Math.max(0.1, bottom - top), colors[grouping.of[row]]);
        }
        return true;
    }
    function drawMap(pen) {
        const area = plot();
        const range = visibleTime(trace, state);
        const {colors} = surface;
        if (!blocksNow()) {
            const {error} = trace.loaded;
            pen.text(area.left + 8, area.top + 22, error ? `The blocks cannot be shown: ${error.message}`
                : 'Reading the blocks…', error ? colors.danger : colors.muted, {size: 13});
            return;
        }
        const {placeFrom, placeTo} = places();
        const y = vertical.scale(area);
        const x = timeScale(range, area);
        drawTimeGrid(pen, surface, area, range);
        drawByteGrid(pen, surface, area, byteTicks(placeFrom, placeTo, area.height), y);
        pen.clip(area.left, area.top, area.width, area.height);
        drawSegments(pen, area, range, x, y);
        if (!pen.finish || !drawVectors(pen, area, range, x, y)) {
            if (!sameView(pictures.now, viewNow()))
                drawPicture(pen, area, pictures.whole, canvases.whole);
            drawPicture(pen, area, pictures.now, canvases.now);
        }
        drawLabels(pen, area);
        pen.unclip();
        drawMissing(pen, surface, area, trace, range);
    }
    function outline(pen, area, row, color, thick) {
        const {blocks} = trace.loaded;
        const x = timeScale(visibleTime(trace, state), area);
        const y = vertical.scale(area);
        const left = Math.max(area.left - 4, x(blocks.born[row]));
        const right = Math.min(area.left + area.width + 4, x(blocks.died[row]));
        const top = y(blocks.place[row] + blocks.bytes[row]);
        pen.frame(left - 1, top - 1, Math.max(2, right - left + 2), Math.max(2, y(blocks.place[row]) - top + 2), color, thick);
    }
    function drawMapMarks(pen) {
        const area = plot();
        if (blocksNow()) {
            pen.clip(area.left, area.top, area.width, area.height);
            const selected = state.get('selected');
            if (pointed >= 0)
                outline(pen, area, pointed, surface.colors.ink, 1.5);
            if (selected && selected.block !== undefined && selected.block < blocksNow().count &&
                blocksNow().device[selected.block] === state.get('device'))
                outline(pen, area, selected.block, surface.colors.accent, 3);
            pen.unclip();
        }
        drawCursors(pen, surface, area, trace, state);
        drawTimeMark(pen, surface, area, trace, state);
        showLegend();
    }
    function showLegend() {
        if (!blocksNow())
            return;
        const t = state.get('hover') ?? trace.cursorAt(state);
        const key = `${state.get('color')} ${state.get('device')} ${t} ${surface.theme}`;
        if (surface.legend.dataset.key === key)
            return;
        surface.legend.dataset.key = key;
        const grouping = groupBlocks(trace, state.get('color'));
        const colors = grouping.colors(surface.theme);
        const {blocks} = trace.loaded;
        const held = new Map();
        for (const row of trace.liveAt(t, state.get('device')))
            held.set(grouping.of[row], (held.get(grouping.of[row]) || 0) + blocks.bytes[row]);
        const shown = grouping.order.slice(0, LEGEND_MAX);
        const entries = shown.map((g) => ({color: colors[g], text: cutEnd(shortSite(grouping.names[g]), 46),
            title: shorten(grouping.names[g], 400), ...valueOf(held.get(g)), ...choiceOf(g)}));
        const rest = grouping.order.slice(LEGEND_MAX);
        if (rest.length)
            entries.push({color: neutralColor(surface.theme), text: `${formatCount(rest.length)} other ${GROUPINGS[grouping.key]}s`,
                ...valueOf(rest.reduce((sum, g) => sum + (held.get(g) || 0), 0))});
        surface.legend.classList.toggle('v-legend-tall', entries.length > LEGEND_SHORT);
        fillLegend(surface.legend, entries);
        surface.legend.prepend(createNode('span', 'v-status', `live at ${instantText(t, pixelTime())} by ${GROUPINGS[grouping.key]}:`));
    }
    const valueOf = (bytes) => bytes ? {value: formatBytes(bytes)} : {};
    function choiceOf(group) {
        if (state.get('color') !== 'site')
            return {};
        const selected = state.get('selected');
        const pressed = Boolean(selected && selected.site === group);
        return {pressed, toggles: false, choose: () => state.set({selected: pressed ? null : {site: group}})};
    }
    function showStatus() {
        const {hits, width, height} = pictures.now;
        let merged = 0;
        for (let i = 0; i < hits.length; i++)
            merged += hits[i] > 1 ? 1 : 0;
        const part = merged / (width * height);
        status.textContent = [
            part > 0.001 ? `In ${Math.max(1, Math.round(part * 100))} % of the pixels several blocks are merged: zoom in to see each.`
                : 'Every block in this part is drawn by itself.',
            'Wheel: time. Wheel on the axis, or Alt: address. Double click: fit the block.', missingText(trace),
        ].filter(Boolean).join(' ');
    }
    /** The block at a point of the window, and how many blocks its pixel stands for. */
    function blockAt(clientX, clientY) {
        const {blocks} = trace.loaded;
        const area = plot();
        const box = surface.frame.getBoundingClientRect();
        const px = clientX - box.left - area.left;
        const py = clientY - box.top - area.top;
        if (!blocks || px < 0 || py < 0 || px >= area.width || py >= area.height)
            return {row: -1, hits: 0};
        const {from, to} = visibleTime(trace, state);
        const {placeFrom, placeTo} = places();
        const t = from + (to - from) * px / area.width;
        const place = placeTo - (placeTo - placeFrom) * py / area.height;
        let row = -1;
        blocks.live.visit(t, t, (i) => {
            if (blocks.device[i] === state.get('device') && blocks.place[i] <= place && place < blocks.place[i] + blocks.bytes[i])
                row = i;
        });
        const picture = pictures.now;
        let hits = row >= 0 ? 1 : 0;
        if (sameView(picture, viewNow())) {
            const pixel = Math.min(picture.height - 1, Math.floor(py * surface.density)) * picture.width +
                Math.min(picture.width - 1, Math.floor(px * surface.density));
            hits = Math.max(hits, picture.hits[pixel]);
            row = row >= 0 ? row : picture.owner[pixel] - 1;
        }
        return {row, hits, t};
    }
    function isSmall(row) {
        const {blocks} = trace.loaded;
        const {from, to} = visibleTime(trace, state);
        const {placeFrom, placeTo} = places();
        const area = plot();
        return (blocks.died[row] - blocks.born[row]) / (to - from) * area.width < 1.5 ||
            blocks.bytes[row] / (placeTo - placeFrom) * area.height < 1.5;
    }
    function hoverBlock(event) {
        const found = event && event.buttons === 0 ? blockAt(event.clientX, event.clientY) : {row: -1};
        if (found.row !== pointed) {
            pointed = found.row;
            surface.redrawOver();
        }
        if (found.row < 0)
            return surface.tip.hide();
        const what = describeBlock(trace, found.row);
        if (found.hits > 1 && isSmall(found.row))
            what.note = `${formatNumber(found.hits, 'block')} are merged in this pixel, this one is the largest: zoom in to see each.`;
        surface.tip.show(event.clientX, event.clientY, tipNode(what));
    }
    function fit(row) {
        const {blocks} = trace.loaded;
        const end = Math.min(blocks.died[row], trace.head.duration);
        const margin = (end - blocks.born[row]) * 0.3 + 1;
        const pad = blocks.bytes[row] * 1.5;
        showTime(trace, state, blocks.born[row] - margin, end + margin);
        vertical.show(blocks.place[row] - pad, blocks.place[row] + blocks.bytes[row] + pad);
    }
    /** Selects the next block live at the cursor, by address. */
    function step(direction) {
        const {blocks} = trace.loaded;
        const t = trace.cursorAt(state);
        const rows = [...trace.liveAt(t, state.get('device'))].sort((a, b) => blocks.place[a] - blocks.place[b]);
        if (!rows.length)
            return;
        const selected = state.get('selected');
        const at = rows.indexOf(selected ? selected.block : -1);
        const row = rows[(at + direction + (at < 0 && direction < 0 ? 1 : 0) + rows.length) % rows.length];
        state.set({selected: {block: row}});
        const what = describeBlock(trace, row);
        surface.say(`${what.title}. ${what.facts.map(([label, text]) => `${label} ${text}`).join(', ')}`);
    }
    function onMapKey(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || !blocksNow())
            return false;
        const selected = state.get('selected');
        const keys = {
            ArrowUp: () => event.shiftKey ? vertical.zoom(1 / 1.5, 0.5) : vertical.pan(0.1),
            ArrowDown: () => event.shiftKey ? vertical.zoom(1.5, 0.5) : vertical.pan(-0.1),
            '.': () => step(1),
            ',': () => step(-1),
            z: () => selected && selected.block !== undefined && fit(selected.block),
            Escape: () => state.set({selected: null}),
        };
        if (!Object.hasOwn(keys, event.key))
            return false;
        keys[event.key]();
        return true;
    }
    const axis = bindTimeAxis(trace, state, {
        frame: surface.frame, plot, vertical, key: onMapKey,
        hover(event) {
            const inside = event && event.clientX - surface.frame.getBoundingClientRect().left >= surface.gutter;
            state.set({hover: inside ? axis.timeAt(event.clientX) : null});
            hoverBlock(event);
        },
        click(event) {
            const {row} = blockAt(event.clientX, event.clientY);
            state.set({cursor: axis.timeAt(event.clientX), cursor2: null, selected: row >= 0 ? {block: row} : null});
        },
    });
    surface.frame.addEventListener('dblclick', (event) => {
        const {row} = blockAt(event.clientX, event.clientY);
        if (row >= 0)
            fit(row);
    });
    const redrawAll = () => {
        surface.redraw();
        surface.redrawOver();
        refresh();
    };
    const unsubscribe = [
        state.subscribe(['from', 'to', 'device', 'placeFrom', 'placeTo'], redrawAll),
        state.subscribe(['color', 'search', 'selected'], (keys) => {
            delete surface.legend.dataset.key;
            const site = state.get('selected') && state.get('selected').site;
            if (keys.has('color') || keys.has('search') || site !== lastSite)
                recolor();
            lastSite = site;
            surface.redrawOver();
        }),
        state.subscribe(['cursor', 'cursor2', 'hover'], surface.redrawOver),
    ];
    let lastSite;
    for (const name of ['blocks', 'segments'])
        trace[name].then(redrawAll, redrawAll);
    return {
        svg: () => surface.toSvg('Blocks over time and address'),
        rows() {
            const {from, to} = visibleTime(trace, state);
            const {placeFrom, placeTo} = places();
            const {blocks} = trace.loaded;
            const header = ['block', 'born_ns', 'freed_ns', 'bytes', 'place', 'call site', 'kind', 'phase'];
            const grouping = groupBlocks(trace, 'phase');
            const rows = blocks ? [...trace.overlapping(from, to, state.get('device'))].filter((i) =>
                blocks.place[i] < placeTo && blocks.place[i] + blocks.bytes[i] > placeFrom).slice(0, ROWS_MAX) : [];
            return [header, ...rows.map((i) => [i, blocks.born[i], blocks.died[i] === Infinity ? '' : blocks.died[i],
                blocks.bytes[i], blocks.place[i], trace.head.sites[blocks.site[i]].label,
                trace.head.kinds[blocks.kind[i]] || '', grouping.names[blocks.phase[i]]])];
        },
        destroy() {
            painter.stop();
            unsubscribe.forEach((call) => call());
            surface.destroy();
        },
    };
}
