/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks in view as a table: one row per group (call site, phase, kind, ...) or per block;
 * sorted by any column, filtered by text. */
import {themeOf} from '../colors.js';
import {choice, fill, make, tableSvg, toggles} from '../dom.js';
import {formatBytes, formatCount, formatNumber, formatPercent, formatTime, splitSite} from '../format.js';
import {GROUPINGS, groupBlocks, groupingsOf, phaseName} from '../grouping.js';
import {blocksInView, showMoment} from './moment.js';
import {createRowList} from './rowlist.js';

const TABLE_ROW = 28;
const TABLE_SVG_ROWS = 200; // the CSV has all

/** Columns: key, heading, value of a row (for sorting and CSV), text of the value. */
const GROUP_COLUMNS = [
    {key: 'name', title: '', value: (row) => row.name, text: (row) => (row.nested ? row.part : row.name), wide: true},
    {key: 'bytes', title: 'Bytes', value: (row) => row.bytes, text: (row) => formatBytes(row.bytes)},
    {key: 'share', title: 'Share', value: (row) => row.bytes, text: (row, all) => formatPercent(row.bytes, all.bytes)},
    {key: 'blocks', title: 'Blocks', value: (row) => row.blocks, text: (row) => formatCount(row.blocks)},
    {key: 'largest', title: 'Largest', value: (row) => row.largest, text: (row) => formatBytes(row.largest)},
    {key: 'age', title: 'Mean age', value: (row) => row.ages / row.blocks,
        text: (row) => formatTime(row.ages / row.blocks)},
];
const BLOCK_COLUMNS = [
    {key: 'name', title: 'Call site', value: (row) => row.name, text: (row) => row.name, wide: true},
    {key: 'bytes', title: 'Bytes', value: (row) => row.bytes, text: (row) => formatBytes(row.bytes)},
    {key: 'born', title: 'Allocated', value: (row) => row.born, text: (row) => formatTime(row.born)},
    {key: 'lived', title: 'Lifetime', value: (row) => row.died - row.born,
        text: (row) => (row.died === Infinity ? 'live at the end' : formatTime(row.died - row.born))},
    {key: 'kind', title: 'Kind', value: (row) => row.kind, text: (row) => row.kind},
    {key: 'phase', title: 'Phase', value: (row) => row.phase, text: (row) => row.phase},
];

/** One row per group of *rows* of the blocks. */
function groupRows(trace, rows, key, at) {
    const {blocks} = trace.loaded;
    const grouping = groupBlocks(trace, key);
    const groups = new Map();
    for (const row of rows) {
        const index = grouping.of[row];
        let group = groups.get(index);
        if (!group)
            groups.set(index, group = {index, name: grouping.names[index], bytes: 0, blocks: 0, largest: 0, ages: 0});
        const bytes = blocks.bytes[row];
        group.bytes += bytes;
        group.blocks++;
        group.largest = Math.max(group.largest, bytes);
        group.ages += Math.max(0, at - blocks.born[row]);
    }
    return key === 'site' ? nestParts(trace.head.sites, [...groups.values()]) : [...groups.values()];
}

/** One row for each of the user's lines, with *parts*: the rows of the libraries' functions it called, if
 * they are several. */
export function nestParts(sites, groups) {
    const lines = new Map();
    for (const group of groups) {
        const {line, through} = sites[group.index];
        group.part = through || 'others';
        lines.set(line, [...(lines.get(line) || []), group]);
    }
    return [...lines].map(([name, parts]) => (parts.length < 2 ? parts[0] : parts.reduce((sum, part) => ({...sum,
        bytes: sum.bytes + part.bytes, blocks: sum.blocks + part.blocks, ages: sum.ages + part.ages,
        largest: Math.max(sum.largest, part.largest)}), {name, parts, bytes: 0, blocks: 0, ages: 0, largest: 0})));
}

function blockRows(trace, rows) {
    const {head, loaded: {blocks}} = trace;
    return Array.from(rows, (row) => ({
        block: row, name: head.sites[blocks.site[row]].label, bytes: blocks.bytes[row], born: blocks.born[row],
        died: blocks.died[row], kind: head.kinds[blocks.kind[row]], phase: phaseName(head, blocks.phase[row]),
    }));
}

/** Rows that contain *search*, ordered as *sort* says ("bytes-"), each followed by its parts. */
export function arrangeRows(rows, columns, search, sort) {
    const wanted = search.toLowerCase();
    const matches = (row) => columns.some((c) =>
        typeof c.value(row) === 'string' && c.value(row).toLowerCase().includes(wanted));
    const list = wanted ? rows.flatMap((row) => (matches(row) ? [row] : (row.parts || []).filter(matches))) : rows.slice();
    const column = columns.find((c) => c.key === sort.slice(0, -1)) || columns[1];
    const sign = sort.endsWith('+') ? 1 : -1;
    const order = (a, b) => {
        const x = column.value(a);
        const y = column.value(b);
        return (x < y ? -sign : x > y ? sign : 0) || b.bytes - a.bytes;
    };
    return list.sort(order).flatMap((row) => (row.parts
        ? [row, ...row.parts.sort(order).map((part) => ({...part, nested: true}))] : [row]));
}

/** @param {Element} element @param {{trace: Object, state: Object}} page */
export function mountTable(element, {trace, state}) {
    const words = make('p.view-words.moment', {'aria-live': 'polite'}, 'Reading the blocks…');
    const kinds = toggles('Rows', [['groups', 'Groups'], ['blocks', 'Single blocks']], state.get('rows'),
        (rows) => state.set({rows}));
    const grouping = choice('by', groupingsOf(trace.head), state.get('color'), (color) => state.set({color}));
    const search = make('input', {type: 'search', placeholder: 'Filter', 'aria-label': 'Filter rows', 'data-search': true,
        on: {input: () => state.set({search: search.value})}});
    const head = make('div.grid-head', {role: 'row'});
    const body = make('div.grid-body', {role: 'rowgroup', tabindex: 0, 'aria-label': 'Rows'});
    const grid = make('div.grid', {role: 'table', 'aria-label': 'Blocks in view'}, make('div', {role: 'rowgroup'}, head), body);
    fill(element, make('div.toolbar', {}, kinds, grouping, search), words, grid);

    let all = {rows: [], bytes: 0};
    let rows = [];
    let listed = [];
    let colors = null; // of the groups
    const columns = () => (state.get('rows') === 'blocks' ? BLOCK_COLUMNS : GROUP_COLUMNS);

    function drawHead() {
        const sort = state.get('sort');
        fill(head, columns().map((column) => {
            const on = sort.slice(0, -1) === column.key;
            const rising = sort.endsWith('+');
            const title = column.title || GROUPINGS[state.get('color')].replace(/^./, (c) => c.toUpperCase());
            const sorting = make('button', {type: 'button', on: {click: () =>
                state.set({sort: column.key + (on ? (rising ? '-' : '+') : column.wide ? '+' : '-')})}},
            title, make('span', {'aria-hidden': 'true'}, on ? (rising ? ' ▲' : ' ▼') : ''));
            return make(`div.cell${column.wide ? '.wide' : ''}`, {role: 'columnheader',
                'aria-sort': on ? (rising ? 'ascending' : 'descending') : 'none'}, sorting);
        }));
        grid.className = `grid grid-${state.get('rows')}`;
    }
    function isSelected(row) {
        const {block, site} = state.get('selected') || {};
        return row.block !== undefined ? row.block === block : site !== undefined && state.get('color') === 'site' && row.index === site;
    }
    function makeRow(index, active) {
        const row = listed[index];
        const cells = columns().map((column) => {
            const key = column.wide && colors && row.index !== undefined
                ? make('span.key', {'aria-hidden': 'true', style: {background: colors[row.index]}}) : null;
            const text = column.text(row, all);
            const [first, callers] = column.wide ? splitSite(text) : [text, ''];
            return make(`div.cell${column.wide ? '.wide' : ''}${column.wide && row.nested ? '.nested' : ''}`,
                {role: 'cell', title: column.wide ? text : null}, key, first,
                callers ? make('span.muted', {}, ` < ${callers}`) : null);
        });
        return make(`div.grid-row${active ? '.active' : ''}`, {role: 'row', 'aria-rowindex': index + 2,
            'aria-current': isSelected(row) ? 'true' : null}, cells);
    }
    const list = createRowList(body, TABLE_ROW, {count: () => listed.length, make: makeRow, pick});
    function drawRows() {
        colors = state.get('rows') === 'groups' && trace.loaded.blocks
            ? groupBlocks(trace, state.get('color')).colors(themeOf(state)) : null;
        list.draw();
        grid.setAttribute('aria-rowcount', String(listed.length + 1));
    }
    function arrange() {
        listed = arrangeRows(rows, columns(), state.get('search'), state.get('sort'));
        if (search.value !== state.get('search'))
            search.value = state.get('search');
        const top = listed.filter((row) => !row.nested);
        const shown = top.length === rows.length ? '' : ` ${formatNumber(top.length, 'row')} of ` +
            `${formatCount(rows.length)} match, ${formatBytes(top.reduce((sum, row) => sum + row.bytes, 0))}.`;
        showMoment(words, all, state, shown);
        kinds.show(state.get('rows'));
        grouping.hidden = state.get('rows') === 'blocks';
        grouping.show(state.get('color'));
        drawHead();
        drawRows();
    }
    function rebuild() {
        if (!trace.loaded.blocks)
            return;
        all = blocksInView(trace, state);
        rows = state.get('rows') === 'blocks' ? blockRows(trace, all.rows)
            : groupRows(trace, all.rows, state.get('color'), all.at);
        arrange();
    }
    function pick(index) {
        const row = listed[index];
        if (row && row.block !== undefined)
            state.set({selected: {block: row.block}});
        else if (row && row.index !== undefined && state.get('color') === 'site')
            state.set({selected: {site: row.index}});
    }
    state.subscribe(['cursor', 'cursor2', 'rows', 'color'], rebuild);
    state.subscribe(['search', 'sort'], arrange);
    state.subscribe(['selected'], drawRows);
    drawHead();
    trace.blocks.then(rebuild, (error) => fill(words, error.message));
    return {
        svg: () => tableSvg(all.words || '', [columns().map((c) => c.title || GROUPINGS[state.get('color')]),
            ...listed.slice(0, TABLE_SVG_ROWS).map((row) => columns().map((c) => c.text(row, all)))]),
        rows: () => [columns().map((c) => c.title || GROUPINGS[state.get('color')]),
            ...listed.filter((row) => !row.parts).map((row) => columns().map((c) => (c.key === 'share' ? row.bytes / all.bytes : c.value(row))))],
    };
}
