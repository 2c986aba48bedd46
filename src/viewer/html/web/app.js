/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the page: waits for the first element of the data, shows the first screen from it, and
 * mounts the views of the tab that is open. Views share nothing but the state. */
import {themeOf} from './colors.js';
import {elementRead} from './columns.js';
import {countedTrace} from './eventlist.js';
import {openTrace} from './data.js';
import {mountDetail} from './panels/detail.js';
import {button, choice, fill, make} from './dom.js';
import {exportView} from './panels/exports.js';
import {fileNames, formatPercent, printable, programTitle, shorten, shortenApart} from './format.js';
import {groupingOf, groupingsOf} from './grouping.js';
import {mountFind} from './panels/find.js';
import {makeHelp} from './panels/help.js';
import {followLink, readLink, writeLink} from './link.js';
import {followProgram} from './live.js';
import {createState, scopeOf} from './state.js';
import {followWindow} from './serve.js';
import {mountSummary} from './panels/summary.js';
import {STACK, TABS} from './tabs.js';
import {stepsSpan, timeKey} from './viewport.js';

const COMMAND_CHARACTERS = 90;
const NOTICE_MS = 2500;

const STEPS_FEW = 0.5; // of the run: such a page opens on the steps

/** Values of the state that fit this trace: the fullest device, kinds where tensors have them, the part
 * with blocks where the page does not have all, the steps where most of the run is outside of them and
 * what the page is about is not. */
function firstValues(head) {
    const devices = head.report.devices;
    const heaviest = devices.reduce((best, row, i) =>
        (row.peak_allocated.bytes > devices[best].peak_allocated.bytes ? i : best), 0);
    const failed = head.oom && head.oom.failure
        ? devices.findIndex((row) => row.device === head.oom.failure.device) : -1;
    const part = head.window;
    const device = failed >= 0 ? failed : heaviest;
    const span = stepsSpan({head});
    const {live, peak_allocated: peak} = devices[device] || {};
    const about = failed >= 0 ? head.oom.failure.time_ns : (live || peak || {}).time_ns;
    const onSteps = span && span.to - span.from < head.duration * STEPS_FEW && about >= span.from && about <= span.to;
    return {device, color: head.levels.framework ? 'kind' : 'site',
        ...part ? part.to > part.from ? {from: part.from, to: part.to} : {}
            : onSteps ? span : {}};
}

/** A small message at the bottom of the page, read by screen readers. */
function makeNotice() {
    const element = make('div.notice', {role: 'status', 'aria-live': 'polite'});
    let timer = 0;
    element.show = (text) => {
        fill(element, text);
        element.classList.add('shown');
        clearTimeout(timer);
        timer = setTimeout(() => element.classList.remove('shown'), NOTICE_MS);
    };
    return element;
}

/** The page of one trace, or two. */
class Page {
    constructor(root, trace) {
        this.root = root;
        this.traces = [trace, null];
        this.first = firstValues(trace.head);
        this.state = createState({...this.first, ...readLink(location.hash)});
        this.mounted = [];
        this.scopes = [];
        this.notice = makeNotice();
        this.help = makeHelp();
        this.build(trace.head);
        followLink(this.state, this.first);
        this.state.subscribe(['tab'], () => {
            this.state.set({playing: false});
            this.show();
        });
        const refresh = () => this.refresh();
        this.state.subscribe(['axis', 'device', 'trace', 'theme'], refresh);
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.state.get('theme') === 'auto' && refresh());
        document.addEventListener('keydown', (event) => event.key === 'Escape' && this.closeFirst(event), {capture: true});
        document.addEventListener('keydown', (event) => this.key(event));
        this.paint();
        this.show();
        if (this.state.get('axis') === 'events')
            refresh();
        // for those who measure: blocks are decoded, and drawn by the view that is open
        trace.blocks.then(() => requestAnimationFrame(() => requestAnimationFrame(() => {
            document.documentElement.dataset.blocks = 'ready';
        })), () => {});
        const loaded = () => (document.documentElement.dataset.sections = 'ready');
        trace.activity.then(loaded, loaded); // the last one
        this.state.subscribe(['color', 'trace'], () => this.readModules());
        this.readModules();
    }

    /** Reads the modules of blocks when something is grouped by them. */
    readModules() {
        const [trace] = this.shown();
        const {lives} = trace;
        if (this.state.get('color') === 'module' && !trace.loaded.lives)
            lives().then((table) => {
                if (trace.lives !== lives || trace.loaded.lives)
                    return; // of blocks that are no longer those of the page, or read meanwhile
                trace.loaded.lives = table;
                this.show();
            }, () => {});
    }

    /** The trace that the views show, and the other one. */
    shown() {
        const [a, b] = this.traces;
        return this.state.get('trace') === 'b' && b ? [b, a] : [a, b];
    }

    build(head) {
        this.tabs = make('div.tabs', {role: 'tablist', 'aria-label': 'Views'});
        this.menu = make('div.menu-items');
        const menu = this.exportMenu = make('details.menu', {}, make('summary', {}, 'Export'), this.menu);
        document.addEventListener('click', (event) => {
            if (!menu.contains(event.target) || event.target.closest('.menu-items button'))
                menu.open = false;
        });
        this.which = make('span.which');
        this.live = make('div.live', {role: 'region', 'aria-label': 'Running program', hidden: true});
        this.theme = button('Theme', () => this.nextTheme(), {class: 'quiet'});
        this.panel = make('div.panel', {id: 'panel', role: 'tabpanel', tabindex: -1});
        this.detail = make('aside.detail', {'aria-label': 'Selected', hidden: true});
        this.panel.addEventListener('pointerdown', (event) => { // it opens where the pointer is not
            if (this.detail.hidden)
                this.detail.classList.toggle('detail-left', event.clientX > innerWidth - 540);
        });
        const command = head.command || head.program;
        fill(this.root, make('header.topbar', {},
            make('span.brand', {}, 'vramscope'),
            make('span.program', {title: command}, make('strong', {}, shorten(head.title, 60)), ' ',
                make('span.muted', {}, command === head.title ? '' : shorten(command, COMMAND_CHARACTERS))),
            this.which,
            make('span.bar-tools', {}, button('Copy link', () => this.copyLink(), {class: 'quiet'}), menu, this.theme,
                button('Keys', () => this.help.showModal(), {class: 'quiet', 'aria-keyshortcuts': '?'}))),
        this.live, make('nav', {'aria-label': 'Views'}, this.tabs),
        make('div.body', {}, make('main', {}, this.panel), this.detail), this.notice, this.help);
        this.fillWhich();
        document.title = `${printable(head.title)} - vramscope`;
    }

    /** Tells the page that a second trace is there. */
    addOther(trace) {
        this.traces[1] = trace;
        const heads = this.traces.map((t) => t.head);
        if (heads[0].title === heads[1].title) { // two runs of one program: their files tell them apart
            const names = fileNames(heads.map((head) => head.report.trace.path));
            heads.forEach((head, i) => (head.title = names[i]));
        }
        this.fillWhich();
        if (readLink(location.hash).tab)
            this.show();
        else
            this.state.set({tab: 'compare'});
    }

    /** Choice of the device where there are several, and of the trace where there are two. */
    fillWhich() {
        const {devices} = this.traces[0].head;
        const titles = shortenApart(this.traces.filter(Boolean).map((t) => t.head.title), 24);
        const names = titles.map((title, i) => [i ? 'b' : 'a', `${i ? 'B' : 'A'}: ${title}`]);
        fill(this.which, devices.length > 1 ? choice('Device', devices.map((d, i) =>
            [String(i), `${d.device}: ${shorten(d.name, 32)}`]), String(this.state.get('device')),
        (value) => this.state.set({device: Number(value)})) : null,
        this.traces[1] ? choice('Trace', names, this.state.get('trace'), (value) => this.state.set({trace: value, selected: null})) : null);
    }

    visibleTabs() {
        return TABS.filter((tab) => (!tab.both || this.traces[1]) && (!tab.when || tab.when(this.shown()[0])));
    }

    show() {
        const tabs = this.visibleTabs();
        const tab = tabs.find(({id}) => id === this.state.get('tab')) || tabs[0];
        const focused = this.tabs.contains(document.activeElement);
        fill(this.tabs, tabs.map(({id, label}, i) => make('button', {type: 'button', role: 'tab', id: `tab-${id}`,
            'aria-selected': String(id === tab.id), 'aria-controls': 'panel', tabindex: id === tab.id ? 0 : -1,
            'aria-keyshortcuts': String(i + 1), on: {click: () => this.state.set({tab: id})}}, label)));
        this.tabs.querySelector('[aria-selected=true]').scrollIntoView({block: 'nearest', inline: 'nearest'});
        this.panel.setAttribute('aria-labelledby', `tab-${tab.id}`);
        if (focused)
            this.tabs.querySelector('[aria-selected=true]').focus();
        this.close();
        this.state.set({hover: null}); // no event says that the pointer left a view that is gone
        const [trace, other] = tab.both ? this.traces : this.shown();
        this.panel.className = `panel panel-${tab.id}`;
        this.panel.scrollTop = 0;
        if (tab.id === 'overview')
            this.openOverview(trace, other);
        else
            this.openTab(tab, trace, other);
        mountDetail(this.detail, {trace: this.shown()[0], state: this.scope()});
        this.fillMenu();
    }

    /** What views over time are given: with the axis of events, once they are counted, a trace and a state in their numbers. */
    timed() {
        const [trace] = this.shown();
        const {state} = this;
        return state.get('axis') === 'events' && trace.counted?.device === state.get('device') ? trace.counted : {trace, state};
    }

    /** There are other data, or another trace, device, axis or theme: the views are made anew, for these, scrolled as before,
     * with the same element in focus. */
    async refresh() {
        const [trace] = this.shown();
        const {blocks} = trace;
        const device = this.state.get('device');
        this.paint();
        if (this.state.get('axis') === 'events' && trace.counted?.device !== device) {
            const counted = await countedTrace(trace, this.state, device).catch(() => null); // views say what is damaged
            if (trace.blocks !== blocks || this.state.get('device') !== device)
                return; // who changed them has called this again
            trace.counted = counted;
        }
        const named = (e) => [e.tagName, e.className, e.id, e.getAttribute('aria-label')].join(' ');
        const all = () => [this.panel, ...this.panel.querySelectorAll('*')];
        const before = all().filter((e) => e.scrollTop || e.scrollLeft || e.open || e === document.activeElement)
            .map((e) => ({name: named(e), top: e.scrollTop, left: e.scrollLeft, open: e.open, focused: e === document.activeElement}));
        const odd = this.panel.querySelector('.odd-step:not([hidden])'); // stays until the new steps are judged
        this.fillWhich();
        this.show();
        if (odd)
            this.panel.querySelector('.odd-step')?.replaceWith(odd);
        const now = before.length ? all() : [];
        for (const {name, top, left, open, focused} of before) {
            const element = now.find((e) => named(e) === name);
            if (!element)
                continue;
            if (open)
                element.open = true;
            if (focused)
                element.focus({preventScroll: true});
            element.scrollTo(left, top);
        }
    }

    /** The state for a view, until the views are closed. */
    scope(state = this.state) {
        const scope = scopeOf(state);
        this.scopes.push(scope);
        return scope;
    }

    close() {
        this.scopes.forEach((scope) => scope.end());
        this.mounted = [];
        this.scopes = [];
        this.panel.replaceChildren();
    }

    mount(part, element, trace, other) {
        const given = part.timed ? this.timed() : {trace, state: this.state};
        const api = part.mount(element, {trace: given.trace, other, state: this.scope(given.state)});
        this.mounted.push({name: part.name, title: part.title || part.name, api});
    }

    openOverview(trace, other) {
        const summary = make('div.summary');
        const curve = make('div.curve-area');
        this.panel.append(summary);
        const api = mountSummary(summary, {trace, state: this.scope(), curve});
        curve.append(this.makeGrouping(make('h2', {}, STACK.title)));
        this.mount(STACK, curve, trace, other);
        this.mounted.push({name: 'summary', title: 'Figures', api});
    }

    openTab(tab, trace, other) {
        this.panel.append(make('h1.unseen', {}, `${trace.head.title}: ${tab.label}`));
        for (const part of tab.parts) {
            const area = make(`div.view-area.view-${part.size}.view-is-${part.name}`);
            this.panel.append(make(`section.view${part.size === 'fill' ? '.view-grows' : ''}`, {'aria-label': part.title || tab.label}, area));
            if (part.grouped)
                area.append(this.makeGrouping());
            if (part.found)
                area.append(this.makeFind(trace));
            this.mount(part, area, trace, other);
        }
    }

    /** The choice by what blocks are grouped and coloured, and that of the steps or the whole run. */
    makeGrouping(heading = null) {
        const state = this.scope();
        const {head} = this.shown()[0];
        const grouping = choice('Colour', [], '', (value) => state.set({color: value}));
        const segments = head.sections.segments?.columns[0]?.count;
        const bands = choice('Bands', [['blocks', 'allocations'], ['segments', 'segments']], '', (value) => state.set({bands: value}));
        const axis = choice('Axis', [['time', 'time'], ['events', 'events']], state.get('axis'), (value) => state.set({axis: value}));
        bands.hidden = !segments;
        const span = stepsSpan({head});
        const steps = make('span');
        const part = span && formatPercent(head.steps_span.to - head.steps_span.from, head.duration);
        const draw = () => {
            if (!segments)
                state.set({bands: 'blocks'}); // a link or another trace had segments
            bands.show(state.get('bands'));
            grouping.show(groupingOf(state.get('color'), state.get('bands')), groupingsOf(head, state.get('bands')));
            const fits = span && state.get('from') === span.from && state.get('to') === span.to;
            fill(steps, span && (fits
                ? button('Whole run', () => state.set({from: null, to: null}), {'aria-keyshortcuts': '0', title: 'key 0'})
                : button('Fit the steps', () => state.set(span), {'aria-keyshortcuts': 's', title: `key s; ${part} of the run`})));
        };
        draw();
        state.subscribe(['color', 'bands', 'from', 'to'], draw);
        return make('div.toolbar.view-toolbar', {}, heading, grouping, bands, axis, steps);
    }

    makeFind(trace) {
        const find = make('div.toolbar.view-toolbar');
        this.mounted.push({api: mountFind(find, {trace, state: this.scope()})});
        return find;
    }

    fillMenu() {
        const [trace] = this.shown();
        const views = this.mounted.filter(({api}) => api.rows);
        fill(this.menu, views.map(({name, title, api}) => make('div.menu-row', {}, make('span', {}, title),
            [['svg', api.svg], ['png', api.svg], ['csv', api.rows]].filter(([, able]) => able).map(([format]) =>
                button(format.toUpperCase(), () => this.save(api, `${trace.head.title}-${name}`, format),
                    {'aria-label': `${title} as ${format.toUpperCase()}`})))));
    }

    async save(api, name, format) {
        try {
            await exportView(api, name, format);
        } catch (error) {
            this.notice.show(`The file was not saved: ${error.message}`);
        }
    }

    async copyLink() {
        const link = location.href.replace(/#.*$/, '') + writeLink(this.state, this.first);
        try {
            await navigator.clipboard.writeText(link);
            this.notice.show('Link copied: it opens this view');
        } catch {
            history.replaceState(null, '', writeLink(this.state, this.first));
            this.notice.show('The browser does not allow copying: take the link from the address bar');
        }
    }

    nextTheme() {
        const themes = ['auto', 'light', 'dark'];
        this.state.set({theme: themes[(themes.indexOf(this.state.get('theme')) + 1) % themes.length]});
    }

    paint() {
        document.documentElement.dataset.theme = themeOf(this.state);
        const names = {auto: 'system', light: 'light', dark: 'dark'};
        fill(this.theme, `Theme: ${names[this.state.get('theme')]}`);
    }

    /** Escape closes what lies on top: the dialog, which the browser does, then the menu, then the box at the
     * pointer. Only then do the views and the panel hear of it. */
    closeFirst(event) {
        const tips = event.target.closest('input') ? [] // it clears the text
            : this.panel.querySelectorAll('.v-tip:not([hidden])');
        if (!this.help.open) {
            if (!this.exportMenu.open && !tips.length)
                return;
            if (this.exportMenu.open)
                this.exportMenu.querySelector('summary').focus();
            else
                tips.forEach((tip) => (tip.hidden = true));
            this.exportMenu.open = false;
            event.preventDefault();
        }
        event.stopPropagation();
    }

    key(event) {
        const typing = event.target.closest('input, select, textarea, dialog');
        if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== 'Escape'))
            return;
        const tabs = this.visibleTabs();
        const inTabs = this.tabs.contains(event.target);
        const now = tabs.findIndex(({id}) => id === (this.state.get('tab')));
        if (/^[1-9]$/.test(event.key) && tabs[event.key - 1])
            this.state.set({tab: tabs[event.key - 1].id});
        else if (inTabs && (event.key === 'ArrowLeft' || event.key === 'ArrowRight'))
            this.state.set({tab: tabs[(now + (event.key === 'ArrowLeft' ? tabs.length - 1 : 1)) % tabs.length].id});
        else if (event.key === '?')
            this.help.showModal();
        else if (event.key === 't')
            this.nextTheme();
        else if (event.key === '/')
            this.search();
        else if (event.key.toLowerCase() === 'n' && this.mounted.some(({api}) => api.findNext))
            this.mounted.find(({api}) => api.findNext).api.findNext(event.shiftKey ? -1 : 1);
        else if (event.key === 'Escape' && this.state.get('selected'))
            this.state.set({selected: null});
        else if (inTabs || event.defaultPrevented || !timeKey(this.timed().trace, this.timed().state, event))
            return;
        event.preventDefault();
    }

    /** The search of this tab, or that of the flame graph. */
    search() {
        const field = this.panel.querySelector('[data-search]');
        if (field) {
            field.focus();
        } else {
            this.state.set({tab: 'flame'});
            setTimeout(() => this.panel.querySelector('[data-search]')?.focus(), 0);
        }
    }
}

function fail(error) {
    fill(document.getElementById('app'), make('p.broken', {},
        `The page cannot be shown: ${error.message}. Make it again with: vramscope view TRACE`));
    throw error;
}

/** Opens a trace of this page and names it. */
function openNamed(prefix) {
    const trace = openTrace(document, prefix);
    trace.head.title = programTitle(trace.head);
    return trace;
}

async function start() {
    await elementRead(document, 'head');
    const trace = openNamed('');
    const page = new Page(document.getElementById('app'), trace);
    if (trace.head.serve)
        followWindow(trace, page.state, () => page.refresh(), (text) => page.notice.show(text));
    if (trace.head.live)
        followProgram(page.live, trace, page.state, () => page.refresh());
    if (await elementRead(document, 'compared'))
        page.addOther(openNamed('b.'));
}

start().catch(fail);
