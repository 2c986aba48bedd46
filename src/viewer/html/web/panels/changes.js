/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a few rows, and of what has changed between two times or two traces, largest first. */
import {button, make} from '../dom.js';
import {formatBytes, formatBytesChange, formatCount, formatNumber, splitSite} from '../format.js';

const CHANGE_ROWS = 200; // that are elements; the CSV has all

/** @param {string} caption for screen readers @param {(string|Node)[]} headings
 * @param {Array[]} rows of texts or nodes @param {number} [active] the row that is marked */
export function plainTable(caption, headings, rows, active = -1) {
    return make('table.plain', {}, make('caption', {}, caption),
        make('thead', {}, make('tr', {}, headings.map((text) => (text ? make('th', {scope: 'col'}, text) : make('td'))))),
        make('tbody', {}, rows.map((cells, at) => make(at === active ? 'tr.active' : 'tr', {}, cells.map((cell, i) =>
            (i === 0 ? make('th', {scope: 'row'}, cell) : make('td', {}, cell)))))));
}

function changeRow(row, most, pick) {
    const change = row.b - row.a;
    const [first, callers] = splitSite(row.name);
    const name = [first, callers ? make('span.muted', {}, ` < ${callers}`) : null];
    return [make('span', {}, make(`span.tag.tag-${row.status}`, {}, row.status), ' ',
        pick ? button(name, () => pick(row), {class: 'link'}) : name),
    formatBytes(row.a), formatBytes(row.b), make(`span${change > 0 ? '.worse' : '.better'}`, {}, formatBytesChange(change)),
    make('span.change', {'aria-hidden': 'true'}, make(`span.change-fill${change > 0 ? '.up' : '.down'}`,
        {style: {width: `${50 * Math.abs(change) / most}%`}}))];
}

/** @param {{name, status, a, b}[]} rows as of comparedGroups @param {string[]} [names] of a and b
 * @param {function(Object): void} [pick] called with the row whose name is clicked */
export function changesTable(rows, names = ['A', 'B'], pick = null) {
    const changed = rows.filter((row) => row.status !== 'same');
    const most = changed.reduce((largest, row) => Math.max(largest, Math.abs(row.b - row.a)), 1);
    const count = (status) => changed.filter((row) => row.status === status).length;
    const words = ['new', 'gone', 'grown', 'shrunk'].filter(count).map((status) => `${formatCount(count(status))} ${status}, `).join('');
    const hidden = changed.length - CHANGE_ROWS;
    return [make('p.muted', {}, `${words}${formatCount(rows.length - changed.length)} the same`),
        changed.length ? plainTable('Changes, the largest first', ['Name', ...names, 'Change', ''],
            changed.slice(0, CHANGE_ROWS).map((row) => changeRow(row, most, pick))) : make('p', {}, 'No difference.'),
        hidden > 0 ? make('p.muted', {}, `${formatNumber(hidden, 'smaller change')} not listed; the CSV has all.`) : null];
}
