/* SPDX-License-Identifier: Apache-2.0
 *
 * The search of the blocks: a field, how many blocks it finds, and steps from one to the next, which is selected
 * and brought into view. Enter and n go forward, with Shift backward; the other blocks are dimmed. */
import {findBlocks} from '../blockfind.js';
import {button, fill, make} from '../dom.js';
import {formatBytes, formatCount} from '../format.js';
import {upperBound} from '../liveindex.js';
import {showTime, visibleTime} from '../viewport.js';

const FIND_WAIT_MS = 150; // after the last letter, where there are many blocks

/** @param {Element} element @param {{trace: Object, state: Object}} page
 * @returns {{findNext: function(number): void}} findNext: 1 to the next block, -1 to the one before */
export function mountFind(element, {trace, state}) {
    const field = make('input', {type: 'search', placeholder: 'Find: site, kind, >100M, 0x…', 'aria-label': 'Find blocks',
        title: 'Words of the call site, the kind or the phase; sizes such as >100M, <4k, 1M..2M; an address such as 0x7f12c0000000',
        'data-search': true, value: state.get('search')});
    const words = make('span.view-words', {'aria-live': 'polite'});
    const steps = make('span', {hidden: true}, button('‹', () => step(-1), {'aria-label': 'Previous block found', 'aria-keyshortcuts': 'Shift+N'}),
        button('›', () => step(1), {'aria-label': 'Next block found', 'aria-keyshortcuts': 'N'}));
    fill(element, field, words, steps);
    let hits = {rows: [], bytes: 0};
    let timer = 0;

    function show() {
        const {block} = state.get('selected') || {};
        const at = upperBound(hits.rows, block ?? -1) - 1;
        const count = formatCount(hits.rows.length);
        steps.hidden = !hits.rows.length;
        fill(words, !state.get('search').trim() || !trace.loaded.blocks ? '' : !hits.rows.length ? 'no block found'
            : `${at >= 0 && hits.rows[at] === block ? `${formatCount(at + 1)} of ${count}` : `${count} found`}, ${formatBytes(hits.bytes)} in all`);
    }
    async function search() {
        if (/0x/i.test(state.get('search')) && trace.loaded.blocks)
            trace.loaded.lives = await trace.lives(); // have the addresses outside of segments
        if (field.value !== state.get('search') && document.activeElement !== field)
            field.value = state.get('search');
        if (trace.loaded.blocks)
            hits = findBlocks(trace, state.get('search'), state.get('device'));
        show();
    }
    async function step(by) {
        clearTimeout(timer);
        if (field.value !== state.get('search'))
            state.set({search: field.value});
        await search();
        const {rows} = hits;
        if (!rows.length)
            return;
        const {blocks} = trace.loaded;
        const {from, to} = visibleTime(trace, state);
        const selected = (state.get('selected') || {}).block ?? upperBound(blocks.born, from - 1) - (by > 0 ? 1 : 0);
        const next = by > 0 ? upperBound(rows, selected) : upperBound(rows, selected - 1) - 1;
        const row = rows[(next + rows.length) % rows.length];
        const born = blocks.born[row];
        if (born > to || blocks.died[row] < from)
            showTime(trace, state, born - (to - from) / 3, born + (to - from) * 2 / 3);
        const place = state.get('placeTo') === null || (blocks.place[row] < state.get('placeTo') &&
            blocks.place[row] + blocks.bytes[row] > state.get('placeFrom'));
        state.set({selected: {block: row}, ...place ? {} : {placeFrom: null, placeTo: null}});
    }
    field.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => state.set({search: field.value}), FIND_WAIT_MS);
    });
    field.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter')
            return;
        step(event.shiftKey ? -1 : 1);
        event.preventDefault();
    });
    state.subscribe(['search'], search);
    state.subscribe(['selected'], show);
    state.ended(() => clearTimeout(timer));
    Promise.all([trace.blocks, trace.segments]).then(search, () => {});
    return {findNext: step};
}
