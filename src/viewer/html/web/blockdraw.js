/* SPDX-License-Identifier: Apache-2.0
 *
 * What is drawn around the painted pictures of blocks: segments, labels, for export the blocks themselves,
 * the tip and the legend. A *plane* has trace, state, what is visible and both scales. */
import {matchBlocks} from './blockfind.js';
import {groupBlocks, phaseName} from './grouping.js';
import {cutEnd, shortSite, stepOf} from './describe.js';
import {inkFor, neutralColor} from './colors.js';
import {fillGroupLegend} from './surface.js';
import {instantText, visibleTime} from './viewport.js';
import {hasBlocks} from './series.js';
import {formatBytes, formatCount, formatNumber, formatTime, shorten} from './format.js';

const LABELS_MAX = 200;
const VECTORS_MAX = 20000;

/** The rows that search and a selected call site leave out; null: none. */
export function dimmedRows({source: trace}, state) {
    const found = matchBlocks(trace, state.get('search'));
    const selected = state.get('selected');
    const {of, names} = groupBlocks(trace, 'site');
    const only = selected && selected.site !== undefined && trace.head.sites[selected.site]
        ? names.indexOf(trace.head.sites[selected.site].label) : -1;
    if (!found && only < 0)
        return null;
    return (row) => (found && !found(row)) || (only >= 0 && of[row] !== only);
}

/** Segments behind the blocks: what is held but not in use shows them. */
export function drawHeld(pen, surface, area, {trace, state, range, x, y}) {
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

/** Size and call site in the blocks, or segments, with room for them.
 * @param {Object} picture the raster on the screen, or null @param {Object} grouping @param {function(number): boolean} dim */
export function drawBlockLabels(pen, surface, area, {trace, x, y}, picture, grouping, dim) {
    if (!picture)
        return;
    const colors = grouping.colors(surface.theme);
    const {site, bytes} = grouping.table;
    const size = ({from, to, low, high}) => (to - from) * (high - low);
    const largest = picture.large.sort((a, b) => size(b) - size(a)).slice(0, LABELS_MAX);
    for (const {row, from, to, low, high} of largest) {
        const left = Math.max(area.left, x(from));
        const width = Math.min(area.left + area.width, x(to)) - left;
        const top = Math.max(area.top, y(high));
        const height = Math.min(area.top + area.height, y(low)) - top;
        if (width < 70 || height < 13 || (dim && dim(row)))
            continue;
        const {label = ''} = trace.head.sites[site[row]] || {};
        const size = formatBytes(bytes[row]);
        const letters = Math.floor((width - 8) / 6);
        const text = letters < size.length + 5 ? size.length > letters ? '' : size // never a number without its unit
            : cutEnd(`${size}  ${shortSite(label)}`, letters);
        pen.text(left + 5, Math.min(top + height / 2 + 4, top + height - 3), text,
            inkFor(colors[grouping.of[row]]), {size: 10.5});
    }
}

/** For export: the blocks as rectangles. @returns {boolean} false: they are too many */
export function drawBlockVectors(pen, surface, area, {trace, state, range, x, y}) {
    const rows = trace.overlapping(range.from, range.to, state.get('device'));
    if (rows.length > VECTORS_MAX) {
        pen.note(`The ${formatCount(rows.length)} blocks are an image of the pixels on the screen, because there are ` +
            `more than ${formatCount(VECTORS_MAX)}; zoom in to export shapes.`);
        return false;
    }
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

/** The few facts of a block that fit at the pointer; a click tells the rest. */
export function briefBlock(trace, row) {
    const {head, loaded: {blocks}} = trace;
    const step = stepOf(trace, row);
    const {born, died} = blocks;
    const label = (head.sites[blocks.site[row]] || {label: 'unknown call site'}).label;
    return {title: `${formatBytes(blocks.bytes[row])}  ${cutEnd(shortSite(label), 80)}`, facts: [
        ['kind', head.kinds[blocks.kind[row]] || 'unknown'],
        ['lived', died[row] === Infinity ? `since ${formatTime(born[row])}, to the end` : `${formatTime(died[row] - born[row])}, from ${formatTime(born[row])}`],
        ['phase', `${cutEnd(phaseName(head, blocks.phase[row]), 60)}${step === null ? '' : `, step ${formatCount(step)}`}`]]};
}

/* The legend of the views of blocks: the groups with the bytes that each holds at an instant, those that
 * hold next to nothing as one. By call site, a click on an entry selects it. */

const LEGEND_MAX = 20;
const LEGEND_LEAST = 0.005; // of what is live, or of all bytes times their time

/** Bytes of each group at *t*. */
function heldAt({of, table}, device, t) {
    const held = new Map();
    table.live.visit(t, t, (row) => {
        if (table.device[row] === device)
            held.set(of[row], (held.get(of[row]) || 0) + table.bytes[row]);
    });
    return held;
}

/** Fills *legend* with what each group holds at the pointer, or at the cursor. The order is that at the cursor, so
 * that nothing moves while the pointer does. @param {Object} surface @param {HTMLElement} legend @param {Object} trace with
 * loaded blocks @param {Object} state @param {string} [bands] as of groupBlocks @param {boolean} [points] false: at the cursor */
export function showHeld(surface, legend, {source: trace}, {source: state}, bands = 'blocks', points = true) {
    const color = state.get('color');
    const device = state.get('device');
    const cursor = trace.cursorAt(state);
    const t = (points ? state.get('hover') : null) ?? cursor;
    const {from, to} = visibleTime(trace, state);
    const selected = state.get('selected');
    const key = [bands, color, t, cursor, surface.width, selected && selected.site,
        Boolean(trace.loaded.steps), Boolean(trace.loaded.lives)].join(' ');
    if (legend.dataset.key === key)
        return;
    const grouping = groupBlocks(trace, color, bands);
    const {order, names, area, name} = grouping;
    const colors = grouping.colors(surface.theme);
    const known = hasBlocks(trace, t, t);
    const held = known ? heldAt(grouping, device, t) : new Map();
    const first = cursor === t ? held : hasBlocks(trace, cursor, cursor) ? heldAt(grouping, device, cursor) : held;
    const sum = (values) => [...values].reduce((a, b) => a + b, 0);
    const [now, then, all] = [sum(held.values()), sum(first.values()), sum(area)];
    const tells = (g) => Math.max((held.get(g) || 0) / (now || 1), (first.get(g) || 0) / (then || 1),
        area[g] / (all || 1)) >= LEGEND_LEAST;
    const sorted = order.filter(tells).sort((a, b) => (first.get(b) || 0) - (first.get(a) || 0));
    const rest = [...sorted.slice(LEGEND_MAX), ...order.filter((g) => !tells(g))];
    const nameOf = (g) => cutEnd(shortSite(names[g]), 46);
    const entries = sorted.slice(0, LEGEND_MAX).map((g) => ({color: colors[g], text: nameOf(g),
        title: shorten(names[g], 400), ...heldValue(held.get(g)), ...siteChoice(state, g)}));
    if (rest.length)
        entries.push({color: neutralColor(surface.theme), groups: rest.length,
            text: `${formatNumber(rest.length, `other ${name}`)}`,
            ...heldValue(rest.reduce((bytes, g) => bytes + (held.get(g) || 0), 0))});
    fillGroupLegend(legend, key, entries, order.slice(0, LEGEND_MAX).map(nameOf),
        `${!known ? 'unknown' : `${formatBytes(now)} ${bands === 'segments' ? 'in segments' : 'live'}`} at ${instantText(t, (to - from) / surface.width)} by ${name}:`);
}

function heldValue(bytes) {
    return bytes ? {bytes, value: formatBytes(bytes)} : {};
}

function siteChoice(state, group) {
    if (state.get('color') !== 'site')
        return {};
    const selected = state.get('selected');
    const pressed = Boolean(selected && selected.site === group);
    return {pressed, toggles: false, choose: () => state.set({selected: pressed ? null : {site: group}})};
}
