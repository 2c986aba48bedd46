/* SPDX-License-Identifier: Apache-2.0
 *
 * The panel beside the views: everything known about the block or the call site that is selected,
 * with names in full. Escape or the button closes it. */
import {button, fill, make} from '../dom.js';
import {describeBlock, describeSegment, frameText, stackOf} from '../describe.js';
import {formatBytes, formatNumber, formatTime} from '../format.js';
import {groupBlocks} from '../grouping.js';
import {neighboursOf} from '../life.js';
import {blocksInView} from './moment.js';
import {frameToShow, hasLines, sourceLines} from './source.js';

function describeSite(trace, site, state) {
    const {head, loaded: {blocks}} = trace;
    const row = head.sites[site];
    const {of, names} = groupBlocks(trace, 'site');
    const group = row ? names.indexOf(row.label) : -1; // of all call sites that read the same
    const rows = blocksInView(trace, state).rows.filter((block) => of[block] === group);
    const bytes = rows.reduce((sum, block) => sum + blocks.bytes[block], 0);
    return {
        title: row ? row.label : 'unknown call site',
        facts: [
            ['live here', rows.length ? `${formatBytes(bytes)} in ${formatNumber(rows.length, 'block')}` : 'nothing'],
            ['library', (row && head.libraries[row.library]) || 'unknown'],
        ],
        site,
    };
}

/** Who had the addresses before and after, as links to these blocks. */
function neighbourList(trace, state, row, lives) {
    const {head, loaded: {blocks}} = trace;
    const {before, after} = neighboursOf(trace, lives, row);
    const link = (other, words) => other >= 0 && make('li', {}, button(
        `${formatBytes(blocks.bytes[other])} of ${head.sites[blocks.site[other]].label}`,
        () => state.set({selected: {block: other}}), {class: 'quiet link'}), make('span.muted', {}, ` ${words}`));
    const list = [link(before, `before, freed ${formatTime(blocks.born[row] - blocks.died[before])} earlier`),
        link(after, `after, ${formatTime(blocks.born[after] - blocks.died[row])} later`)].filter(Boolean);
    return list.length ? [make('h3', {}, 'At this address'), make('ul.neighbours', {}, list)] : null;
}

/** Says that the source of a stack with user code was not there when the page was made. */
function missingNote({head}, frames) {
    return head.sources_missing && frames.some((frame) => frame.user)
        ? make('p.muted', {}, `No source lines: not readable where this page was made: ${head.sources_missing}`) : null;
}

/** The frames, those of libraries on demand: the user's own lines are what can be changed. Those whose lines the
 * page has are buttons that show them. */
function stackList(frames, state, {sources, shown: inSource, show}) {
    if (!frames.length)
        return make('p.muted', {}, 'no stack was recorded');
    const own = frames.filter((frame) => frame.user);
    const folded = own.length > 0 && own.length < frames.length && !state.get('libraries');
    const shown = folded ? own : frames;
    const hidden = frames.length - own.length;
    const entry = (frame) => (frame.user && hasLines(sources, frame) ? button(frameText(frame), () => show(frame), {class: 'quiet link',
        'aria-pressed': String(inSource === frame)}) : frameText(frame));
    return [make('h3', {}, 'Call stack, innermost first'),
        own.length && hidden ? button(folded ? `Show ${formatNumber(hidden, 'function')} of libraries` : 'Hide functions of libraries',
            () => state.set({libraries: folded}), {class: 'quiet in-panel'}) : null,
        make('ol.stack', {tabindex: 0, 'aria-label': 'Call stack'}, shown.map((frame) =>
            make(`li${frame.user ? '.user' : '.of-library'}`, {}, entry(frame))))];
}

/** @param {Element} element @param {{trace: Object, state: Object}} page */
export function mountDetail(element, {trace, state}) {
    let picked = null; // the frame whose lines are shown: {selected, index}
    async function draw() {
        const selected = state.get('selected');
        element.hidden = !selected;
        if (!selected)
            return;
        const [, lives, sources] = await Promise.all([trace.blocks, selected.block === undefined ? null : trace.lives(),
            trace.sources(), trace.segments, trace.steps]);
        if (state.over || state.get('selected') !== selected || !trace.loaded.blocks)
            return;
        const [[what, row]] = Object.entries(selected);
        const isBlock = what === 'block';
        if (what !== 'site' && !(row < (trace.loaded[`${what}s`] || {}).count)) {
            fill(element, make('p', {}, `The link names a ${what} that this page does not have.`));
            return;
        }
        const {title, facts, site, older} = isBlock ? describeBlock(trace, row, lives) : what === 'segment' ? describeSegment(trace, row)
            : describeSite(trace, row, state);
        const frames = stackOf(trace, site);
        const shown = picked && picked.selected === selected ? frames[picked.index] : frameToShow(trace, sources, site, frames);
        const show = (frame) => {
            picked = {selected, index: frames.indexOf(frame)};
            draw();
        };
        fill(element, make('div.detail-head', {}, make('h2', {}, {block: 'Block', segment: 'Segment', site: 'Call site'}[what]),
            button('Close', () => state.set({selected: null}), {class: 'quiet'})),
        make('p.site', {}, title),
        make('dl.facts', {}, facts.map(([label, text]) => [make('dt', {}, label), make('dd', {}, text)])),
        isBlock ? neighbourList(trace, state, row, lives) : null,
        shown ? sourceLines(trace, sources, shown, blocksInView(trace, state)) : missingNote(trace, frames),
        older ? null : stackList(frames, state, {sources, shown, show}));
    }
    state.subscribe(['selected', 'cursor', 'cursor2', 'libraries'], draw);
    draw();
}
