/* SPDX-License-Identifier: Apache-2.0
 *
 * What other settings of the allocator, and other treatment of the call sites that hold most, would have done.
 * The figures are those of `vramscope replay` with the options beside them (head.whatif); the chosen change
 * draws its curve over that of the recorded setting, replayed likewise. */
import {readSection} from '../columns.js';
import {button, fill, make, tableSvg} from '../dom.js';
import {formatBytes, formatBytesApart, formatNumber, formatPercent} from '../format.js';
import {fillLegend} from '../surface.js';
import {LIMIT_NEAR, drawByteGrid, drawLimit, drawTimeGrid, limitOf, timeScale} from '../timegrid.js';
import {ChartView} from '../view.js';
import {bindTimeAxis, byteTicks, instantText, visibleTime} from '../viewport.js';

const WHATIF_HEIGHT = 190;
const WHATIF_BUCKETS = 1024; // of the trace's time
const WHATIF_SAME = 0.0005; // difference that is none, as in replay_text.c

const WHATIF_WORDS = {
    setting: (text, framework) => `${framework ? 'PYTORCH_ALLOC_CONF=' : '--allocator=caching --alloc-conf='}${text}`,
    policy: (text) => (text === 'observe' ? 'without a caching allocator' : `vramscope's cache, policy ${text}`),
    empty_cache: () => 'release the cache at the end of each step',
    no_limit: () => 'without the limit', no_other_processes: () => 'without other processes',
    trim_pools: () => 'stream-ordered pools keep no unused memory',
    free_at_step_end: (text) => `${text}: freed at the end of the step`,
    without: (text) => `${text}: without its blocks (upper bound)`,
    together: (text) => text,
};

/** A change in words. @param {{what: string, text: string}} row of head.whatif @param {Object} whatif */
export function whatifWords({what, text}, whatif) {
    return WHATIF_WORDS[what](text, whatif.recorded.framework);
}

function outcomeWords(row) {
    if (row.survives)
        return 'gets through';
    const {requested, short, other_memory: other} = row.failure;
    return `fails: ${other ? 'other memory' : 'a request'} of ${formatBytes(requested)}` +
        (short ? `, short by ${formatBytes(short)}` : '');
}

/** The changes, the largest reduction of the peak first; of a run that failed those that get through first. What is
 * only a bound of others comes after all. */
export function rankChanges(whatif) {
    const [{reserved_peak: before}, ...changes] = whatif.rows;
    const rows = changes.map((row, i) => ({...row, index: i + 1, saved: before - row.reserved_peak, words: whatifWords(row, whatif)}));
    const order = (a, b) => (a.what === 'without') - (b.what === 'without') || b.survives - a.survives || b.saved - a.saved || a.index - b.index;
    return rows.sort(order);
}

/** For the answer of the first screen: how many changes would have fitted, and the first of them; null where
 * the recorded run did not fail. */
export function whatifLine({whatif}) {
    if (!whatif || !whatif.rows.length || whatif.rows[0].survives)
        return null;
    const rows = rankChanges(whatif);
    const fit = rows.filter((row) => row.survives);
    return `${fit.length} of ${formatNumber(whatif.tried, 'change')} that ${whatif.tried === 1 ? 'was' : 'were'} replayed would have fitted` +
        (!fit.length ? '' : fit[0].what === 'without' ? `, only without all blocks of a call site: ${fit[0].text}` : `: ${fit[0].words}`);
}

/** How far the replay of the recorded setting is from the recording, in words; '' where it is not. */
function agreementWords({recorded, rows}) {
    const off = recorded.reserved_peak ? (rows[0].reserved_peak - recorded.reserved_peak) / recorded.reserved_peak : 0;
    const [replayed, was] = formatBytesApart(rows[0].reserved_peak, recorded.reserved_peak);
    return [Math.abs(off) < WHATIF_SAME ? '' : `The replay of the recorded setting reserves ${replayed}, ${was} were recorded ` +
        `(${off > 0 ? '+' : ''}${(100 * off).toFixed(1)} %): expect the other figures to be off by as much.`,
    recorded.failed && rows[0].survives ? 'The recorded run ended with a failure that the replay does not repeat: ' +
        'take every "gets through" as an estimate.' : '',
    recorded.failed ? 'What the program would have needed after its failure is unknown: the peaks are lower bounds.' : '',
    ].filter(Boolean).join(' ');
}

function summaryWords({whatif, devices}) {
    const [recorded, ...changes] = whatif.rows;
    const other = whatif.tried - changes.length;
    const through = changes.filter((row) => row.survives).length;
    return `${formatNumber(whatif.tried, 'change')} replayed` +
        (devices.length > 1 ? ` for device ${devices[whatif.device].device} (another one: vramscope replay --device N)` : '') +
        (recorded.survives ? '' : `: with ${through === 1 ? '1' : through || 'none'} of them the program gets through`) +
        (other ? `; ${other} of them change${other === 1 ? 's' : ''} less than 0.1 % and ${other === 1 ? 'is' : 'are'} not listed` : '') +
        (whatif.left_out ? `; ${formatNumber(whatif.left_out, 'more change')} not tried in so long a trace: ` +
            'vramscope view --what-if 70, or vramscope replay --sweep' : '') + '. ' +
        (whatif.recorded.steps ? '' : 'The trace has no completed step, so no block is freed at the end of its step. ') +
        'Uses of a block are not recorded, so none is freed at its last use. ' +
        (whatif.recorded.framework ? 'vramscope advise runs the program with checkpointing and other changes of its code. ' : '') +
        agreementWords(whatif);
}

class WhatifChart extends ChartView {
    constructor(element, context) {
        super(element, context, {label: 'Memory with the chosen change, and as recorded', height: WHATIF_HEIGHT, legend: true});
        this.rows = context.trace.head.whatif.rows;
        this.curves = null;
        this.chosen = 0;
        this.axis = bindTimeAxis(context.trace, context.state, {frame: this.surface.frame, plot: () => this.plot(),
            hover: () => {}, click: (event) => this.setCursor(event)});
        this.state.subscribe(['from', 'to'], () => this.redrawAll());
        this.state.subscribe(['cursor', 'cursor2', 'hover'], () => {
            this.surface.redrawOver();
            this.fillLegend();
        });
    }

    show(chosen) {
        this.chosen = chosen;
        this.fillLegend();
        this.redrawAll();
    }

    /** The curves that are drawn: of the recorded setting, then of the change. */
    drawn() {
        const {colors} = this.surface;
        const parts = [['reserved', 'series-reserved'], ['allocated', 'series-allocated']];
        return [0, this.chosen].slice(0, this.chosen ? 2 : 1).flatMap((row) => parts.map(([key, color]) => ({
            name: `${key}, ${row ? 'with the change' : 'as recorded'}`, color: colors[color], values: this.curves[`${row}.${key}`],
            dash: this.chosen && !row ? [4, 3] : []})));
    }

    bucketNs() {
        return Math.floor(this.trace.head.duration / WHATIF_BUCKETS) + 1;
    }

    fillLegend() {
        if (!this.curves)
            return;
        const t = this.state.get('hover') ?? this.state.get('cursor');
        const bucket = t === null ? -1 : Math.min(WHATIF_BUCKETS - 1, Math.floor(t / this.bucketNs()));
        fillLegend(this.surface.legend, this.drawn().map(({name, color, values, dash}) => ({color, line: true, text: name + (dash.length ? ' (dashed)' : ''),
            follows: true, value: bucket < 0 ? formatBytes(values.reduce((a, b) => Math.max(a, b), 0))
                : bucket < values.length ? `≤ ${formatBytes(values[bucket])}` : 'ended'})));
        this.surface.legend.append(make('span.v-at', {}, t === null ? 'peaks' : `at ${instantText(t, this.bucketNs())}`));
    }

    draw(pen) {
        const {surface, trace, state} = this;
        const area = this.plot();
        if (!this.curves) {
            pen.text(area.left + 8, area.top + 20, 'Reading the curves…', surface.colors.muted, {size: 13});
            return;
        }
        const range = visibleTime(trace, state);
        const drawn = this.drawn();
        let top = 1024;
        for (const {values} of drawn)
            top = values.reduce((a, b) => Math.max(a, b), top);
        const limit = limitOf(trace, trace.head.whatif.device);
        const near = limit && limit.bytes <= top * LIMIT_NEAR;
        top = Math.max(top, near ? limit.bytes : 0) * 1.06;
        const y = (bytes) => area.top + area.height * (1 - bytes / top);
        const x = timeScale(range, area);
        drawByteGrid(pen, surface, area, byteTicks(0, top, area.height), y);
        drawTimeGrid(pen, surface, area, range);
        pen.clip(area.left, area.top - 8, area.width, area.height + 8);
        for (const {values, color, dash} of drawn) {
            const xs = [...values].flatMap((_, i) => [x(i * this.bucketNs()), x(Math.min(trace.head.duration, (i + 1) * this.bucketNs()))]);
            pen.path(xs, [...values].flatMap((bytes) => [y(bytes), y(bytes)]), xs.length, color, dash.length ? 1 : 1.5, dash);
        }
        if (near)
            drawLimit(pen, surface, area, limit, y);
        pen.unclip();
    }

    drawOver(pen) {
        this.drawTimes(pen);
    }
}

const WHATIF_COLUMNS = [
    {title: 'Change', value: (row) => row.words, text: (row) => row.words, wide: true},
    {title: 'Peak reserved', value: (row) => row.reserved_peak, text: (row) => formatBytes(row.reserved_peak)},
    {title: 'Saved', value: (row) => row.saved, text: (row) => (row.saved ? formatBytes(row.saved) : '0 B')},
    {title: 'Peak allocated', value: (row) => row.allocated_peak, text: (row) => formatBytes(row.allocated_peak)},
    {title: 'Retries', value: (row) => row.retries, text: (row) => String(row.retries)},
    {title: 'Outcome', value: outcomeWords, text: outcomeWords},
];

/** @param {Element} element @param {{trace: Object, state: Object}} page
 * @returns {{svg: function(): string, rows: function(): Array[]}} */
export function mountWhatif(element, context) {
    const {trace, state} = context;
    const {whatif} = trace.head;
    if (!whatif.rows.length) {
        fill(element, make('p.view-words', {}, `Nothing was replayed: ${whatif.why}.`));
        return {};
    }
    const list = rankChanges(whatif);
    const [recorded] = whatif.rows;
    const words = make('p.view-words', {}, summaryWords(trace.head));
    const area = make('div.view-area.whatif-chart');
    const chosenWords = make('p.view-words.moment', {'aria-live': 'polite'});
    const command = make('code.site');
    const copied = make('span.muted', {'aria-live': 'polite'});
    const copy = button('Copy', async () => {
        try {
            await navigator.clipboard.writeText(command.textContent);
            fill(copied, 'copied');
        } catch {
            getSelection().selectAllChildren(command);
            fill(copied, 'selected: the browser does not allow copying');
        }
    }, {'aria-label': 'Copy the command'});
    const head = make('div.grid-head', {role: 'row'}, WHATIF_COLUMNS.map((column) =>
        make(`div.cell${column.wide ? '.wide' : ''}`, {role: 'columnheader'}, column.title)));
    const body = make('div.grid-body', {role: 'rowgroup', tabindex: 0, 'aria-label': 'Changes'});
    const grid = make('div.grid.grid-whatif', {role: 'table', 'aria-label': 'Changes, the largest reduction first',
        'aria-rowcount': list.length + 1}, make('div', {role: 'rowgroup'}, head), body);
    fill(element, words, area, chosenWords, make('p.whatif-command', {}, command, copy, copied), grid);
    const chart = new WhatifChart(area, context);
    const lines = list.map((row, i) => make('div.grid-row', {role: 'row', 'aria-rowindex': i + 2, on: {click: () => choose(i)}},
        WHATIF_COLUMNS.map((column) => make(`div.cell${column.wide ? '.wide' : ''}`, {role: 'cell', title: column.text(row)},
            column.text(row)))));
    fill(body, lines);

    const chosen = () => Math.max(0, list.findIndex((row) => row.index === state.get('change')));
    function draw() {
        const at = chosen();
        const row = list[at];
        lines.forEach((line, i) => {
            const on = i === at;
            line.removeAttribute('aria-current');
            if (on) {
                line.setAttribute('aria-current', 'true');
                if (state.get('change'))
                    line.scrollIntoView({block: 'nearest'});
            }
        });
        const [before, after] = formatBytesApart(recorded.reserved_peak, row ? row.reserved_peak : recorded.reserved_peak);
        const [first, second] = row ? [outcomeWords(recorded), outcomeWords(row)] : [];
        fill(chosenWords, row ? make('span', {}, make('strong', {}, row.words), `: peak reserved ${before} → ${after}` +
            (row.saved ? ` (${formatBytes(Math.abs(row.saved))} ${row.saved > 0 ? 'less' : 'more'}` +
                `, ${formatPercent(Math.abs(row.saved), recorded.reserved_peak)})` : '') +
            `; ${first === second ? `${first}, as recorded` : `${first} → ${second}`}` +
            (row.what === 'without' && whatif.recorded.failed && row.survives
                ? ' (the request that failed is not made either, if it is of this call site)' : ''))
            : 'No change that was tried has another outcome than the recorded run.');
        fill(command, row ? row.command : recorded.command);
        fill(copied, '');
        chart.show(row ? row.index : 0);
    }
    function choose(i) {
        state.set({change: list[Math.max(0, Math.min(list.length - 1, i))].index});
    }
    body.addEventListener('keydown', (event) => {
        const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity, Enter: 0}[event.key];
        if (step === undefined || !list.length)
            return;
        choose(chosen() + step);
        event.preventDefault();
        event.stopPropagation();
    });
    state.subscribe(['change'], draw);
    trace.whatif = trace.whatif || readSection(document, trace.prefix, 'whatif', trace.head);
    trace.whatif.then((table) => {
        chart.curves = table;
        draw(); // the legend takes room: the chosen row may have left the screen
    }, (error) => fill(words, error.message));
    draw();
    const texts = () => [WHATIF_COLUMNS.map((c) => c.title), ...list.map((row) => WHATIF_COLUMNS.map((c) => c.text(row)))];
    return {
        svg: () => tableSvg('What if', texts()),
        rows: () => [['what', ...WHATIF_COLUMNS.map((c) => c.title), 'command'],
            ...list.map((row) => [row.what, ...WHATIF_COLUMNS.map((c) => c.value(row)), row.command])],
    };
}
