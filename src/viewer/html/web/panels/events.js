/* SPDX-License-Identifier: Apache-2.0
 *
 * What happened, in order: every allocation and free, segments, refused requests. A row that is picked
 * moves the cursor and selects its block; the list follows both. */
import {choice, fill, make, tableSvg} from '../dom.js';
import {blockAddress} from '../life.js';
import {EVENT_NAMES, listEvents} from '../eventlist.js';
import {formatBytes, formatCount, formatNumber, formatTime, splitSite} from '../format.js';
import {matchSites} from '../grouping.js';
import {upperBound} from '../liveindex.js';
import {inSlices} from '../slices.js';
import {instantText} from '../viewport.js';
import {createRowList} from './rowlist.js';

const EVENT_ROW = 26;
const EVENT_CSV_ROWS = 100000;
const EVENT_SVG_ROWS = 200;
const EVENT_HEADS = ['No.', 'Time', 'Event', 'Bytes', 'In use after', 'Address', 'Call site'];
const SHOWN = {all: 'everything', blocks: 'blocks', segments: 'segments', refused: 'refused requests'};
const LEAST = [['0', 'any size'], ['1048576', '1 MiB'], ['16777216', '16 MiB'], ['268435456', '256 MiB'], ['1073741824', '1 GiB']];

/** @param {Element} element @param {{trace: Object, state: Object}} page */
export function mountEvents(element, {trace, state}) {
    const {head} = trace;
    const words = make('p.view-words', {'aria-live': 'polite'}, 'Reading the blocks…');
    const search = make('input', {type: 'search', placeholder: 'Call site', 'aria-label': 'Only call sites that contain',
        'data-search': true, on: {input: () => state.set({search: search.value})}});
    const body = make('div.grid-body', {role: 'rowgroup', tabindex: 0, 'aria-label': 'Events'});
    const grid = make('div.grid.grid-events', {role: 'table', 'aria-label': 'Events'}, make('div', {role: 'rowgroup'},
        make('div.grid-head', {role: 'row'}, EVENT_HEADS.map((title) =>
            make('div.cell', {role: 'columnheader'}, title)))), body);
    const filters = make('div.toolbar', {}, choice('Show', Object.entries(SHOWN), state.get('eventsShown'), (value) => state.set({eventsShown: value})),
        choice('of at least', LEAST, state.get('eventsLeast'), (value) => state.set({eventsLeast: value})), search);
    fill(element, filters, words, grid);

    let events = null;
    let lives = null;
    let kept = null; // numbers of the events that the filters leave; null: all
    let ours = false; // the state changes because a row was picked
    let building = 0;
    const count = () => (kept ? kept.length : events ? events.count : 0);
    const at = (i) => (kept ? kept[i] : i);

    /** The row of an event: of blocks, of segments, or a failure. */
    const value = (i, name) => (events.kind(i) === 'refused' ? head.failures[events.row(i)][name]
        : trace.loaded[events.kind(i)][name][events.row(i)]);
    const bytesOf = (i) => value(i, 'bytes');
    const siteOf = (i) => (events.kind(i) === 'refused' ? value(i, 'label') : (head.sites[value(i, 'site')] || {label: ''}).label);
    function addressAt(i) {
        const address = {blocks: () => lives && blockAddress(trace, lives, events.row(i)), segments: () => value(i, 'address'),
            refused: () => 0}[events.kind(i)]();
        return address ? `0x${address.toString(16)}` : '';
    }
    /** *apart*: ns between times that must differ. */
    function texts(i, apart = 1) {
        const name = EVENT_NAMES[events.what(i)];
        const again = name === 'refused' && head.failures[events.row(i)].recovered ? ', then met' : '';
        return [i < events.begun ? '' : formatCount(i + 1 - events.begun), instantText(events.timeOf(i), apart), name + again, formatBytes(bytesOf(i)), formatBytes(events.inUse(i)), addressAt(i), siteOf(i)];
    }
    function makeRow(i, active, first, last) {
        const apart = last > first ? (events.timeOf(at(last)) - events.timeOf(at(first))) / (last + 1 - first) / 4 : 1;
        const cells = texts(at(i), Math.max(1, apart));
        const [own, callers] = splitSite(cells.pop());
        return make(`div.grid-row.event-${EVENT_NAMES[events.what(at(i))].replace(' ', '-')}${active ? '.active' : ''}`,
            {role: 'row', 'aria-rowindex': i + 2, 'aria-selected': String(active)},
            cells.map((text) => make('div.cell', {role: 'cell'}, text)), make('div.cell.wide', {role: 'cell'}, own,
                callers ? make('span.muted', {}, ` < ${callers}`) : null));
    }
    const list = createRowList(body, EVENT_ROW, {count, make: makeRow, pick});
    function draw() {
        if (!events)
            return;
        list.draw();
        grid.setAttribute('aria-rowcount', String(count() + 1));
    }
    function pick(i) {
        if (!events || i >= count())
            return;
        const event = at(i);
        ours = true;
        state.set({cursor: events.times[event], cursor2: null,
            ...(events.kind(event) === 'refused' ? {} : {selected: {[events.kind(event).slice(0, -1)]: events.row(event)}})});
        queueMicrotask(() => (ours = false)); // where nothing changed, nobody was told
    }
    /** The row of event *i*, or of the next one that the filters leave. */
    const rowOf = (i) => (kept ? upperBound(kept, i - 1) : i);
    function follow(changed) {
        const mine = ours;
        ours = false;
        if (mine || !events)
            return;
        const selected = state.get('selected');
        const event = (!changed || changed.has('selected')) && selected && selected.block < trace.loaded.blocks.count
            ? events.of(selected.block) : events.count; // not there: of another device
        if (event < events.count)
            list.activate(rowOf(event));
        else if (!changed || changed.has('cursor'))
            list.activate(rowOf(Math.max(0, events.at(trace.cursorAt(state)))));
    }
    async function filter() {
        if (!events)
            return;
        const mine = ++building;
        const [shown, least] = [state.get('eventsShown'), Number(state.get('eventsLeast'))];
        const text = state.get('search').trim().toLowerCase();
        const sites = matchSites(trace, text);
        if (search.value !== state.get('search'))
            search.value = state.get('search');
        const fits = (i) => (shown === 'all' || shown === events.kind(i)) && bytesOf(i) >= least &&
            (!sites || (events.kind(i) === 'refused' ? siteOf(i).toLowerCase().includes(text) : sites[value(i, 'site')]));
        const found = [];
        const wanted = shown !== 'all' || least || sites;
        if (wanted)
            await inSlices(events.count, 1 << 14, (from, to) => {
                for (let i = from; i < to && mine === building && !state.over; i++) {
                    if (fits(i))
                        found.push(i);
                }
            });
        if (mine !== building)
            return;
        kept = wanted ? Uint32Array.from(found) : null;
        fill(words, kept ? `${formatNumber(count(), 'event')} of ${formatCount(events.count)}` : formatNumber(count(), 'event'),
            head.window ? ' of the part with blocks' : '', '. Click one to move the cursor there.');
        follow(null);
    }
    async function rebuild() {
        await Promise.all([trace.blocks, trace.segments]);
        events = await listEvents(trace, state.get('device'));
        await filter();
        lives = await trace.lives();
        draw();
    }
    state.subscribe(['cursor', 'selected'], follow);
    state.subscribe(['search', 'eventsShown', 'eventsLeast'], filter);
    rebuild().catch((error) => fill(words, `The events cannot be shown: ${error.message}`));
    const rows = (from, most) => Array.from({length: Math.max(0, Math.min(count() - from, most))}, (_, i) => at(from + i));
    return {
        svg: () => tableSvg(`Events from ${formatTime(events && count() ? events.timeOf(at(list.first())) : 0)} on`,
            [EVENT_HEADS, ...rows(list.first(), EVENT_SVG_ROWS).map((i) => texts(i))]),
        rows: () => [['number', 'time ns', 'event', 'bytes', 'in use after', 'address', 'call site'], ...rows(0, EVENT_CSV_ROWS).map((i) =>
            [Math.max(0, i + 1 - events.begun), events.timeOf(i), texts(i)[2], bytesOf(i), events.inUse(i), addressAt(i), siteOf(i)]),
        ...(count() > EVENT_CSV_ROWS ? [['', '', `${formatCount(count() - EVENT_CSV_ROWS)} more events: filter them`, '', '', '', '']] : [])],
    };
}
