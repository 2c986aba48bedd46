/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the block map that are drawn around its painted picture: segments, labels, and for
 * export the blocks themselves. A *plane* has trace, state, what is visible and both scales. */
import {GROUPINGS, groupBlocks, matchSites} from './grouping.js';
import {cutEnd, shortSite} from './describe.js';
import {inkFor, neutralColor} from './colors.js';
import {fillGroupLegend} from './surface.js';
import {instantText} from './viewport.js';
import {hasBlocks} from './series.js';
import {formatBytes, formatCount, shorten} from './format.js';

const LABELS_MAX = 200;
const VECTORS_MAX = 20000;

/** The rows that search and a selected call site leave out; null: none. */
export function dimmedRows(trace, state) {
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

/** Size and call site in the blocks with room for them.
 * @param {Object} picture the raster on the screen, or null */
export function drawBlockLabels(pen, surface, area, {trace, state, x, y}, picture) {
    if (!picture || picture.device !== state.get('device'))
        return;
    const grouping = groupBlocks(trace, state.get('color'));
    const colors = grouping.colors(surface.theme);
    const {blocks} = trace.loaded;
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

/* The legend of the block map and the segment map: the groups with the bytes that each holds at an
 * instant. By call site, a click on an entry selects it. */

const LEGEND_MAX = 20;

/** Fills the legend of *surface* with what each group holds at *t*.
 * @param {Object} surface @param {Object} trace with loaded blocks @param {Object} state
 * @param {number} t ns @param {number} apart ns of a pixel */
export function showHeld(surface, trace, state, t, apart) {
    const key = `${state.get('color')} ${state.get('device')} ${t} ${surface.theme} ${surface.width}`;
    if (surface.legend.dataset.key === key)
        return;
    const grouping = groupBlocks(trace, state.get('color'));
    const colors = grouping.colors(surface.theme);
    const {blocks} = trace.loaded;
    const held = new Map();
    const known = hasBlocks(trace, t, t);
    for (const row of known ? trace.liveAt(t, state.get('device')) : [])
        held.set(grouping.of[row], (held.get(grouping.of[row]) || 0) + blocks.bytes[row]);
    const shown = grouping.order.slice(0, LEGEND_MAX);
    const entries = shown.map((g) => ({color: colors[g], text: cutEnd(shortSite(grouping.names[g]), 46),
        title: shorten(grouping.names[g], 400), ...heldValue(held.get(g)), ...siteChoice(state, g)}));
    const rest = grouping.order.slice(LEGEND_MAX);
    if (rest.length)
        entries.push({color: neutralColor(surface.theme), groups: rest.length,
            text: `${formatCount(rest.length)} other ${GROUPINGS[grouping.key]}s`,
            ...heldValue(rest.reduce((sum, g) => sum + (held.get(g) || 0), 0))});
    fillGroupLegend(surface.legend, key, entries,
        `${known ? 'live' : 'unknown'} at ${instantText(t, apart)} by ${GROUPINGS[grouping.key]}:`);
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
