/* SPDX-License-Identifier: Apache-2.0
 *
 * A page from `vramscope view --live` follows its program: a strip above the views has the figures of
 * `vramscope top`, which are asked for about once a second while the page is visible; when there are new
 * events, the page's data are replaced (serve.js), and what is on the screen stays where it is. After the
 * end of the program the page is that of its whole trace. */
import {button, fill, make} from './dom.js';
import {formatBytes, formatCount, formatPercent, formatTime} from './format.js';
import {createRefresh, servedAddress} from './serve.js';

const ASK_MS = 1000; // between two questions about figures
const DATA_MS = 2000; // between two about data
const SHARE = 4; // the server works for this page a quarter of the time at most
const SILENT_MS = 30000; // between two questions to a server that does not answer
const NOTHING_MS = 5000; // from here on the strip says for how long there was nothing new
const SITES = 8;
const URGENT_SECONDS = 600; // as top
const URGENT_STEPS = 20;

const STATES = {running: 'Live', paused: 'Paused', ended: 'Ended', lost: 'No answer'};

function item(label, value, {tone = '', title = null} = {}) {
    return make('span.live-item', {title}, make('span.muted', {}, label), ' ', make(`strong${tone && `.${tone}`}`, {}, value));
}

/** The figures of *process* (schema vramscope.top/1) on the device with *ordinal*. */
function figures(process, ordinal) {
    const device = process.devices.find((d) => d.device === ordinal) || process.devices[0];
    const {steps} = process;
    if (!device)
        return [make('span.muted', {}, 'no memory was allocated yet')];
    const {growth, forecast} = device;
    const urgent = forecast && (forecast.seconds_left < URGENT_SECONDS || forecast.steps_left < URGENT_STEPS);
    return [
        process.state === 'running' && forecast && item('', forecast.text, {tone: urgent ? 'bad' : 'warn'}),
        process.failed_allocations > 0 && item('failed', formatCount(process.failed_allocations), {tone: 'bad'}),
        item('allocated', formatBytes(device.allocated_bytes)), item('peak', formatBytes(device.peak_bytes)),
        item('reserved', formatBytes(device.reserved_bytes)),
        device.busy_percent !== undefined && item('GPU busy', `${device.busy_percent} %`),
        process.state === 'running' && item('rate', `${formatBytes(device.allocated_bytes_per_second)}/s`),
        steps.number > 0 && item('step', formatCount(steps.number), {title: steps.seconds ? `${formatTime(steps.seconds * 1e9)} each` : null}),
        growth && item('growth', growth.bytes_per_step ? `+${formatBytes(growth.bytes_per_step)}/step` : `+${formatBytes(growth.bytes)}`,
            {tone: 'warn', title: growth.early ? 'seen for too short a time to tell a leak from a cache' : `${toPercent(growth.confidence)} sure`}),
    ];
}

function toPercent(share) {
    return `${Math.round(100 * share)} %`;
}

function largestSites(process, ordinal) {
    const device = process.devices.find((d) => d.device === ordinal) || process.devices[0];
    const sites = device ? device.sites.slice(0, SITES) : [];
    return sites.map((site) => make('li', {title: site.chain}, make('strong', {}, formatBytes(site.bytes)), ' ',
        make('span.muted', {}, formatPercent(site.bytes, device.allocated_bytes)), ' ',
        site.growing && make('span.warn', {}, site.growth_per_step ? `+${formatBytes(site.growth_per_step)}/step ` : 'grows '),
        make('span.site', {}, site.name || '…')));
}

/** Whether something is being done on the page that new views would disturb. */
function createBusy() {
    let pressed = false;
    addEventListener('pointerdown', () => (pressed = true), true);
    for (const end of ['pointerup', 'pointercancel', 'blur'])
        addEventListener(end, () => (pressed = false), true);
    return () => pressed || document.querySelector('dialog[open], .menu[open]') !== null ||
        document.activeElement.matches('input, select, textarea');
}

/** Follows the program in *element*. @param {HTMLElement} element @param {Object} trace @param {Object} state
 * @param {function(): void} changed called when the trace has other data */
export function followProgram(element, trace, state, changed) {
    const refresh = createRefresh(trace, state);
    const busy = createBusy();
    const tag = make('span.live-state', {role: 'status'});
    const shown = make('span.live-figures');
    const age = make('span.live-age.muted');
    const list = make('ol');
    const sites = make('details.menu', {}, make('summary', {}, 'Largest now'), make('div.menu-items', {}, list));
    const pause = button('Pause', () => {
        paused = !paused;
        fill(pause, paused ? 'Resume' : 'Pause');
        if (!paused)
            ask();
        show();
    });
    let paused = false;
    let failure = ''; // why the server did not answer
    let process = null; // of the latest answer
    let answered = 0; // when it came
    let events = -1, grown = 0; // in the trace, and since when
    let dataEvents = -1; // events that the page's data have
    let dataDue = 0;
    let timer = 0;
    let asking = false;

    function show() {
        const name = failure ? 'lost' : process && process.state === 'ended' ? 'ended' : paused ? 'paused' : 'running';
        const now = performance.now();
        document.documentElement.dataset.live = name;
        document.documentElement.dataset.events = String(dataEvents);
        fill(tag, make('span.dot'), STATES[name]);
        pause.hidden = name === 'ended';
        fill(age, failure || (name === 'ended' ? process.ending
            : process && process.read_share < 1 ? `reading the trace: ${toPercent(process.read_share)}`
                : process && answered - grown > NOTHING_MS ? `no new events for ${Math.round((now - grown) / 1000)} s`
                    : process ? `updated ${Math.round((now - answered) / 1000)} s ago` : 'reading the trace'));
    }

    async function askData() {
        const asked = process;
        const began = performance.now();
        await refresh(asked.state === 'ended');
        dataEvents = asked.events;
        await changed();
        dataDue = performance.now() + Math.max(DATA_MS, SHARE * (performance.now() - began));
    }

    async function askAll() {
        const answer = await fetch(servedAddress('live'), {cache: 'no-store'});
        if (!answer.ok)
            throw new Error((await answer.text()).trim().slice(0, 200));
        const now = (await answer.json()).processes[0];
        if (now.state === 'unreadable')
            throw new Error(`The trace cannot be read: ${now.error}`);
        process = now;
        answered = performance.now();
        if (process.events !== events) {
            events = process.events;
            grown = answered;
        }
        const device = trace.head.devices[state.get('device')];
        fill(shown, figures(process, device && device.device));
        fill(list, largestSites(process, device && device.device));
        const ended = process.state === 'ended';
        if (ended || (process.events !== dataEvents && answered >= dataDue && !busy()))
            await askData();
        return ended && dataEvents === process.events;
    }

    async function ask() {
        clearTimeout(timer);
        if (asking || paused || document.hidden)
            return; // asked again by what ends this
        asking = true;
        const began = performance.now();
        let wait = ASK_MS;
        let done = false;
        try {
            done = await askAll();
            failure = '';
            wait = Math.max(ASK_MS, SHARE * (performance.now() - began));
        } catch (error) {
            wait = Math.min(SILENT_MS, failure ? 2 * Math.max(ASK_MS, lastWait) : ASK_MS);
            failure = error instanceof TypeError ? 'Is vramscope view --live still running?' : error.message;
        }
        lastWait = wait;
        asking = false;
        show();
        if (!done)
            timer = setTimeout(ask, wait);
        else
            clearInterval(ticker);
    }
    let lastWait = ASK_MS;
    const ticker = setInterval(show, 1000); // the age
    document.addEventListener('visibilitychange', ask);
    fill(element, tag, shown, age, sites, pause);
    element.hidden = false;
    show();
    trace.activity.then(ask, ask); // when the page is complete
}
