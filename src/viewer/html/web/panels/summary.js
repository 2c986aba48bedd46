/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen: the verdict with the line to look at and the first remedies, the figures, what
 * held the memory. Made from head alone, so that it stands before any block is decoded. */
import {formatBytes, formatNumber, formatPercent, splitSite} from '../format.js';
import {button, fill, make, tableSvg} from '../dom.js';
import {whatifLine} from './whatif.js';
import {figuresOf, notesOf, partsOf, timeAndPhase, verdictOf, warningsOf} from './verdict.js';
import {showSource} from './source.js';
import {STEPS_LEAST, foldSteps} from './stepfold.js';
import {foldSentence, oddSteps} from './steps.js';
import {paletteFor, themeOf} from '../colors.js';

const REMEDIES_SHOWN = 2;
const ROWS_SHOWN = 6;
const HOLDERS_SHOWN = 4; // in the answer
const ROW_LEAST = 0.01; // share of a row that is shown by itself, as in the report

/** Rows for a list: the large ones, and the rest as one. @param {{name, bytes, blocks}[]} rows */
export function largeRows(rows, total, most) {
    let shown = 0;
    while (shown < rows.length && shown < most && (shown === 0 || rows[shown].bytes >= total * ROW_LEAST))
        shown++;
    if (shown + 1 === rows.length)
        shown++;
    const list = rows.slice(0, shown);
    return {list, rest: rows.slice(shown)};
}

function barItems(rows, total, colors, onPick) {
    const items = rows.map((row, i) => {
        const width = `${total ? 100 * row.bytes / total : 0}%`; // of the whole, as the share beside it
        const [first, callers] = row.site ? splitSite(row.name) : [row.name, ''];
        const name = onPick && !row.rest
            ? button(first, () => onPick(row), {class: 'bar-name link', title: row.name})
            : make(row.rest ? 'span.bar-name.muted' : 'span.bar-name', {title: row.name}, first);
        return make('li', {}, make('div.bar-line', {}, name,
            make('span.bar-count', {}, row.blocks ? `${formatNumber(row.blocks, 'block')}` : ''),
            make('span.bar-bytes', {}, formatBytes(row.bytes)),
            make('span.bar-share', {}, formatPercent(row.bytes, total))),
        callers ? make('div.callers', {title: row.name}, `from ${callers}`) : null,
        make('span.bar', {'aria-hidden': 'true'}, make('span.bar-fill', {style: {width, background: colors?.[i]}})));
    });
    return make('ol.bars', {}, items);
}

function barCard(title, rows, total, colors, onPick, wide = '') {
    return make(`section.card.held${wide}`, {}, make('h2', {}, title), barItems(rows, total, colors, onPick));
}

function siteRows(sites, most = ROWS_SHOWN) {
    const {list, rest} = largeRows(sites.sites.map((site) => ({name: site.text, bytes: site.bytes, blocks: site.count, site: true})),
        sites.total_bytes, most);
    const more = rest.length + sites.omitted_count;
    const bytes = rest.reduce((sum, row) => sum + row.bytes, 0) + sites.omitted_bytes;
    if (more)
        list.push({name: `at ${formatNumber(more, 'more call site')}`, bytes, blocks: 0, rest: true});
    return list;
}

function tableRows(rows, total, most = ROWS_SHOWN) {
    const {list, rest} = largeRows(rows, total, most);
    if (rest.length)
        list.push({name: `${rest.length} more`, rest: true,
            bytes: rest.reduce((sum, row) => sum + row.bytes, 0),
            blocks: rest.reduce((sum, row) => sum + row.blocks, 0)});
    return list;
}

const pickSite = (live, state) => (row) => state.set({tab: 'flame', cursor: live.time_ns, cursor2: null,
    search: row.name.split(/ \(| </)[0]});

/** The largest holders of the peak, where no failure needs the room. */
function holders(live, state) {
    const {kind} = live.by;
    const rows = kind.length ? tableRows(kind, live.bytes, HOLDERS_SHOWN) : siteRows(live.by_site, HOLDERS_SHOWN);
    return rows.length ? [make('h2', {}, 'What held the peak'), barItems(rows, live.bytes,
        kind.length ? paletteFor(rows.map((row) => (row.rest ? 'other' : row.name)), themeOf(state)) : null,
        kind.length ? null : pickSite(live, state))] : null;
}

function answerCard(verdict, device, state, whatif) {
    const remedies = verdict.remedies.slice(0, REMEDIES_SHOWN);
    const later = verdict.remedies.slice(REMEDIES_SHOWN);
    const remedyItem = (remedy) => make('li', {}, remedy.text, ' ',
        remedy.grounds ? make(`span.tag${remedy.grounds === 'replayed' ? '.tag-good' : ''}`, {}, remedy.grounds) : null);
    const because = [...verdict.reasons, ...(verdict.short ? [verdict.short] : [])];
    return make(`section.card.answer.tone-${verdict.tone}`, {id: 'answer', 'aria-labelledby': 'verdict'},
        make('p.status', {}, make('span.dot', {'aria-hidden': 'true'}), verdict.status,
            verdict.cause ? make('span.tag', {}, verdict.cause) : null),
        make('h1', {id: 'verdict'}, verdict.sentence, verdict.and ? make('span.and', {}, ` ${verdict.and}`) : null),
        verdict.request ? make('p.request', {}, verdict.request, verdict.where
            ? [', in ', make('span.site', {}, verdict.where)] : null) : null,
        verdict.site ? make('div.look', {}, make('h2', {}, 'Look at'), make('code.site', {}, verdict.site)) : null,
        verdict.more ? make('p.muted', {}, verdict.more) : null,
        remedies.length ? make('h2', {}, verdict.failed ? 'What would have helped' : 'What to do') : null,
        remedies.length ? make('ol.remedies', {}, remedies.map(remedyItem)) : null,
        whatif ? make('p.muted', {}, `${whatif}. `, button('What if …', () => state.set({tab: 'whatif'}))) : null,
        make('p.muted.odd-step', {hidden: true}),
        later.length ? make('details', {}, make('summary', {}, `${formatNumber(later.length, 'more remed')}`
            .replace(/remeds?$/, later.length === 1 ? 'remedy' : 'remedies')),
        make('ol.remedies', {start: REMEDIES_SHOWN + 1}, later.map(remedyItem))) : null,
        verdict.tone === 'good' && device && device.live ? holders(device.live, state) : null,
        because.length || verdict.doubts.length ? make('details', {}, make('summary', {}, 'Why'),
            make('ul.reasons', {}, because.map((text) => make('li', {}, text)),
                verdict.doubts.map((text) => make('li', {}, `but ${text}`)))) : null,
        verdict.time !== null ? make('p.actions', {}, button('Show the memory at the failure', () =>
            state.set({cursor: verdict.time, tab: 'segments'}), {class: 'primary'})) : null);
}

function figureTiles(figures, state) {
    return make('ul.figures', {'aria-label': 'Figures'}, figures.map((figure) => {
        const inside = [make('span.figure-label', {}, figure.label),
            make(`span.figure-value${figure.bad ? '.bad' : ''}`, {'data-figure': figure.key}, figure.value),
            make('span.figure-detail', {}, figure.detail)];
        return make('li.card', {}, figure.time === null ? make('div.figure', {}, inside)
            : make('button.figure', {type: 'button', title: 'Show the blocks at this time',
                on: {click: () => state.set({cursor: figure.time, tab: 'blocks'})}}, inside));
    }));
}

function balanceCard(balance, theme) {
    const parts = partsOf(balance);
    const colors = paletteFor(parts.map((part) => part.name), theme);
    const rows = [...parts.map((part, i) => ({...part, color: colors[i]})), {name: 'free', bytes: balance.free_bytes}];
    const strip = make('div.strip', {role: 'img', 'aria-label': 'Parts of the memory of the device, as in the list below'},
        rows.filter(({bytes}) => bytes > 0).map(({name, bytes, color: background}) => make('span',
            {title: `${name}: ${formatBytes(bytes)}`, style: {flexGrow: String(bytes / balance.total_bytes), background}})));
    return make('section.card.held', {}, make('h2', {}, 'Device memory at its highest use'),
        make('p.muted', {}, `${formatBytes(balance.used_bytes)} of ${formatBytes(balance.total_bytes)} in use at ` +
            timeAndPhase(balance.time_ns, balance.phase)),
        strip, make('ul.legend-list', {}, rows.map(({name, bytes, color: background}) => make('li', {}, make('span.key',
            {'aria-hidden': 'true', style: {background}}), make('span', {}, name), make('span.bar-bytes', {}, formatBytes(bytes))))));
}

/** Lists of what was live at the peak; the one that the answer shows (*answered*) is left out. */
function heldCards(device, state, theme, answered) {
    const live = device.live;
    if (!live || !live.by_site.sites.length)
        return [];
    const cards = answered && !live.by.kind.length ? [] : [barCard('Held at the peak, by call site', siteRows(live.by_site), live.bytes, null, pickSite(live, state), '.held-wide')];
    const {kind, phase, library} = live.by;
    const pickColor = (color) => () => state.set({tab: 'blocks', color, cursor: live.time_ns});
    if (kind.length && !answered) {
        const rows = tableRows(kind, live.bytes);
        cards.push(barCard('By kind', rows, live.bytes, paletteFor(rows.map((row) => row.rest ? 'other' : row.name), theme),
            pickColor('kind')));
    }
    const says = (rows) => rows.length > 1 && rows[0].bytes < live.bytes * 0.97;
    if (says(phase))
        cards.push(barCard('By phase that allocated it', tableRows(phase, live.bytes), live.bytes, null, pickColor('phase')));
    else if (says(library))
        cards.push(barCard('By library', tableRows(library, live.bytes), live.bytes, null, pickColor('library')));
    return cards;
}

/** With what the program was recorded, and its allocator: what has a value. */
function settingsCard(options) {
    const rows = Object.entries(options).filter(([key, value]) => value && !['RUN', 'manifest'].includes(key));
    return rows.length ? make('details.card.messages', {}, make('summary', {}, 'Settings of the recording and the allocator'),
        make('dl.facts', {}, rows.map(([key, value]) => [make('dt', {}, key), make('dd', {}, value)]))) : null;
}

/** The figures, and the call sites at the peak with their bytes. */
function summaryRows(head, index) {
    const device = head.report.devices[index];
    const rows = [['figure', 'value', 'detail']];
    for (const figure of figuresOf(head, index))
        rows.push([figure.label, figure.value, figure.detail]);
    for (const site of device && device.live ? device.live.by_site.sites : [])
        rows.push(['live at the peak', site.bytes, site.text]);
    return rows;
}

/** Fills *element* with the first screen; *curve* is the element for the curve beside the answer. */
export function mountSummary(element, {trace, state, curve}) {
    const {head} = trace;
    const theme = themeOf(state);
    const device = head.report.devices[state.get('device')];
    const warnings = warningsOf(head);
    const notes = notesOf(head);
    const balance = device && device.device_memory.highest_use;
    const live = device && device.live;
    const verdict = verdictOf(head, state.get('device'));
    fill(element, warnings.length ? make('section.card.messages.warnings', {'aria-label': 'Warnings'},
        make('ul', {}, warnings.map((text) => make('li', {}, text)))) : null,
    make('div.hero', {}, answerCard(verdict, device, state, whatifLine(head)),
        make('section.card.curve', {'aria-label': 'Memory over time'}, curve)),
    figureTiles(figuresOf(head, state.get('device')), state),
    make('div.columns', {}, live ? heldCards(device, state, theme, verdict.tone === 'good') : [], balance ? balanceCard(balance, theme) : null),
    notes.length ? make('section.card.messages', {}, make('h2', {}, 'About this recording'),
        make('ul', {}, notes.map((text) => make('li', {}, text)))) : null,
    settingsCard(head.report.options));
    const lines = () => {
        const look = element.querySelector('.look');
        if (look)
            showSource(look, trace, state, look.querySelector('.site').textContent).catch(() => {}); // others say what is damaged
    };
    /** Whether a step is odd is known when the blocks are. */
    const odd = async () => {
        const fold = await foldSteps(trace, state.get('device'));
        const line = element.querySelector('.odd-step');
        line.hidden = fold.steps.length < STEPS_LEAST || !oddSteps(fold).length;
        if (!line.hidden)
            fill(line, `${foldSentence(fold, head)}. `, button('Steps', () => state.set({tab: 'steps'})));
    };
    lines();
    odd().catch(() => {});
    state.subscribe(['cursor', 'cursor2'], lines);
    const rows = () => summaryRows(head, state.get('device'));
    return {
        svg: () => tableSvg(verdict.sentence,
            rows().map((row) => row.map((cell) => (typeof cell === 'number' ? formatBytes(cell) : cell)))),
        rows,
    };
}
