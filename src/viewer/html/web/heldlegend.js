/* SPDX-License-Identifier: Apache-2.0
 *
 * The legend of the block map and the segment map: the groups with the bytes that each holds at an
 * instant. By call site, a click on an entry selects it. */
import {make} from './dom.js';
import {fillLegend, sayMore, setTallLegend} from './surface.js';
import {instantText} from './viewport.js';
import {hasBlocks} from './series.js';
import {GROUPINGS, groupBlocks} from './grouping.js';
import {cutEnd, shortSite} from './describe.js';
import {neutralColor} from './colors.js';
import {formatBytes, formatCount, shorten} from './format.js';

const LEGEND_MAX = 20;
const LEGEND_SHORT = 8; // entries that need no fixed height

/** Fills the legend of *surface* with what each group holds at *t*.
 * @param {Object} surface @param {Object} trace with loaded blocks @param {Object} state
 * @param {number} t ns @param {number} apart ns of a pixel */
export function showHeld(surface, trace, state, t, apart) {
    const key = `${state.get('color')} ${state.get('device')} ${t} ${surface.theme} ${surface.width}`;
    if (surface.legend.dataset.key === key)
        return;
    surface.legend.dataset.key = key;
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
    setTallLegend(surface.legend, entries.length > LEGEND_SHORT);
    fillLegend(surface.legend, entries);
    surface.legend.prepend(make('span.v-status', {},
        `${known ? 'live' : 'unknown'} at ${instantText(t, apart)} by ${GROUPINGS[grouping.key]}:`));
    sayMore(surface.legend, entries);
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
