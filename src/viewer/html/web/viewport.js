/* SPDX-License-Identifier: Apache-2.0
 *
 * The time axis that all views share: what is visible (state keys from, to), its ticks, and the
 * gestures: wheel and pinch zoom around the pointer, dragging pans, Shift and dragging chooses a
 * span, keys do all of it. A view may add an address axis (vertical). */
import {formatCount, formatTime, toDecimals} from './format.js';
import {upperBound} from './liveindex.js';

const CLICK_PIXELS = 4;
const WHEEL_SPEED = 0.0016;
const SCROLL_PAUSE_MS = 350;
const viewportScroll = {last: -Infinity, listening: false, element: null};

/** What is visible, in ns. @returns {{from: number, to: number}} */
export function visibleTime(trace, state) {
    const duration = Math.max(1, trace.head.duration);
    const from = Math.max(0, state.get('from') ?? 0);
    const to = Math.min(duration, state.get('to') ?? duration); // a link may go past the end
    return to > from ? {from, to} : {from: 0, to: duration};
}

/** Shows from..to, kept inside the trace. */
export function showTime(trace, state, from, to) {
    const duration = Math.max(1, trace.head.duration);
    const span = Math.min(duration, Math.max(trace.spanLeast, to - from));
    const start = Math.max(0, Math.min(duration - span, from + (to - from - span) / 2));
    if (span >= duration)
        state.set({from: null, to: null});
    else
        state.set({from: start, to: start + span});
}

/** The part of the trace from the first step to the end of the last, with a little around; null: it has none, or
 * they are all of it. @returns {{from: number, to: number}|null} */
export function stepsSpan({head}) {
    const {duration, steps_span: span} = head;
    const margin = span ? (span.to - span.from) * 0.02 : 0;
    return span && span.to - span.from < duration * 0.95
        ? {from: Math.max(0, span.from - margin), to: Math.min(duration, span.to + margin)} : null;
}

/** Zooms by *factor* (< 1: closer) around the time *t*. */
export function zoomTime(trace, state, factor, t) {
    const {from, to} = visibleTime(trace, state);
    const span = Math.max(trace.spanLeast, (to - from) * factor);
    const part = (t - from) / (to - from);
    const start = t - span * part;
    showTime(trace, state, start, start + span);
}

/** Moves what is visible by a part of its span. */
export function panTime(trace, state, part) {
    const {from, to} = visibleTime(trace, state);
    const by = (to - from) * part;
    showTime(trace, state, from + by, to + by);
}

function nextStep(trace, t, direction) {
    const {start = [], count = 0} = trace.loaded.steps || {};
    let i = upperBound(start, t, count);
    if (direction < 0)
        do
            i--;
        while (i >= 0 && start[i] >= t);
    return i >= 0 && i < count ? start[i] : null;
}

/** Sets the cursor and brings it into view. */
export function moveCursor(trace, state, t) {
    const {from, to} = visibleTime(trace, state);
    const time = Math.max(0, Math.min(trace.head.duration, t));
    state.set({cursor: time});
    if (time < from || time > to)
        showTime(trace, state, time - (to - from) / 2, time + (to - from) / 2);
}

/** What a key does to the time axis. @param {KeyboardEvent} event
 * @param {number} width of the axis in pixels @returns {boolean} whether it was one of its keys */
export function timeKey(trace, state, event, width = 1000) {
    if (event.ctrlKey || event.metaKey || event.altKey)
        return false;
    const {from, to} = visibleTime(trace, state);
    const cursor = state.get('cursor') ?? (from + to) / 2;
    const center = cursor >= from && cursor <= to ? cursor : (from + to) / 2;
    const pixel = (to - from) / width;
    const step = (direction) => {
        const t = nextStep(trace, trace.cursorAt(state), direction);
        if (t !== null)
            moveCursor(trace, state, t);
    };
    const keys = {
        ArrowLeft: () => event.shiftKey ? moveCursor(trace, state, center - pixel) : panTime(trace, state, -0.1),
        ArrowRight: () => event.shiftKey ? moveCursor(trace, state, center + pixel) : panTime(trace, state, 0.1),
        '+': () => zoomTime(trace, state, 1 / 1.5, center),
        '=': () => zoomTime(trace, state, 1 / 1.5, center),
        '-': () => zoomTime(trace, state, 1.5, center),
        '0': () => state.set({from: null, to: null, placeFrom: null, placeTo: null, bytesFrom: null, bytesTo: null}),
        s: () => state.source.set(stepsSpan(trace.source) || {}),
        Home: () => showTime(trace, state, 0, to - from),
        End: () => showTime(trace, state, trace.head.duration - (to - from), trace.head.duration),
        '[': () => step(-1),
        ']': () => step(1),
    };
    if (!Object.hasOwn(keys, event.key))
        return false;
    keys[event.key]();
    return true;
}

function niceStep(span, count, base) {
    const rough = span / Math.max(1, count);
    const unit = base ** Math.floor(Math.log(rough) / Math.log(base));
    const steps = base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
    return unit * steps.find((s) => unit * s >= rough * 0.999);
}

/* ns in the unit of formatTime, its name, and the decimals of formatTime. */
function timeUnit(ns) {
    return ns < 1e3 ? [1, 'ns', 0] : ns < 1e6 ? [1e3, 'µs', 1] : ns < 1e9 ? [1e6, 'ms', 2] : [1e9, 's', ns < 120e9 ? 3 : 0];
}

function decimalsFor(unit, step) {
    return Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
}

/** Ticks of the time axis: {at, text}; where they are closer than 0.1 ms, the texts are offsets from
 * *origin*, which is then not null.
 * @returns {{ticks: {at: number, text: string}[], origin: number|null}} */
export function timeTicks(from, to, width) {
    const step = Math.max(1, niceStep(to - from, width / (width < 500 ? 70 : 105), 10)); // whole ns
    const origin = step < 1e5 && from > 0 ? Math.floor(from / 1e6) * 1e6 : null;
    const [unit, name] = timeUnit(to);
    const decimals = decimalsFor(unit, step);
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        const text = origin === null ? `${toDecimals(at / unit, decimals)} ${name}` : `+${formatTime(at - origin)}`;
        ticks.push({at, text});
    }
    return {ticks, origin};
}

/** Ticks of an axis of events, as timeTicks. */
export function eventTicks(from, to, width) {
    const step = Math.max(1, niceStep(to - from, width / (width < 500 ? 70 : 105), 10));
    const first = Math.ceil(from / step);
    return {ticks: Array.from({length: Math.floor(to / step) + 1 - first}, (_, i) =>
        ({at: (first + i) * step, text: formatCount((first + i) * step)})), origin: null};
}

/** Ticks of an axis of bytes from 0 or *from* to *to*. @returns {{at: number, text: string}[]} */
export function byteTicks(from, to, height) {
    const step = niceStep(Math.max(1, to - from), Math.max(2, height / 44), 1024);
    const scales = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let scale = Math.min(5, Math.floor(Math.log2(Math.max(1, to)) / 10));
    let decimals = 0;
    while (decimals < 3 && !Number.isInteger(step / 1024 ** scale * 10 ** decimals))
        decimals++;
    if (!Number.isInteger(step / 1024 ** scale * 10 ** decimals)) {
        scale = Math.max(0, Math.floor(Math.log2(step) / 10));
        decimals = 0;
    }
    const number = (value) => decimals ? toDecimals(value, decimals) : formatCount(value);
    const text = (at) => at === 0 ? '0 B' : `${number(at / 1024 ** scale)} ${scales[scale]}`;
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step)
        ticks.push({at, text: text(at)});
    return ticks;
}

/** An instant as formatTime writes it, with more digits where they tell it from its neighbours *apart*
 * ns away: "50.48 ms", "50.4823 ms", "673.912 s".
 * @param {number} t ns @param {number} apart ns @returns {string} */
export function instantText(t, apart) {
    const [unit, name, usual] = timeUnit(t);
    const decimals = decimalsFor(unit, Math.max(1, apart));
    return decimals > usual ? `${toDecimals(t / unit, decimals)} ${name}` : formatTime(t);
}

function watchScrolling() {
    if (viewportScroll.listening)
        return;
    viewportScroll.listening = true;
    addEventListener('scroll', ({target}) => Object.assign(viewportScroll, {last: performance.now(), element: target}),
        {passive: true, capture: true});
}

/** Zooms or pans for a wheel event over a view; false: the page scrolls. */
function wheelOf(trace, state, axes, event) {
    if (!event.ctrlKey && performance.now() - viewportScroll.last < SCROLL_PAUSE_MS && viewportScroll.element.contains(axes.frame))
        return false;
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const x = event.deltaX * unit;
    const y = event.deltaY * unit;
    const {left, width, top, height} = axes.plot();
    const box = axes.frame.getBoundingClientRect();
    if (event.shiftKey || Math.abs(x) > Math.abs(y)) {
        panTime(trace, state, (x || y) / width);
        return true;
    }
    const factor = Math.exp(Math.max(-0.7, Math.min(0.7, y * WHEEL_SPEED * (event.ctrlKey ? 4 : 1))));
    if (axes.vertical && (event.altKey || event.clientX - box.left < left)) {
        axes.vertical.zoom(factor, (event.clientY - box.top - top) / height);
        return true;
    }
    const {from, to} = visibleTime(trace, state);
    const part = Math.max(0, Math.min(1, (event.clientX - box.left - left) / width));
    zoomTime(trace, state, factor, from + (to - from) * part);
    return true;
}

/** One finger or button: pans, or with Shift chooses the span cursor..cursor2. */
function dragTo(trace, state, axes, drag, event) {
    const {width, height} = axes.plot();
    if (drag.span) {
        state.set({cursor: axes.timeAt(drag.x), cursor2: axes.timeAt(event.clientX)});
        return;
    }
    const by = (drag.x - event.clientX) / width * (drag.to - drag.from);
    showTime(trace, state, drag.from + by, drag.to + by);
    if (axes.vertical && event.pointerType !== 'touch')
        axes.vertical.pan((event.clientY - drag.lastY) / height);
    drag.lastY = event.clientY;
}

function pinchTo(trace, state, axes, pinch, points) {
    const box = axes.frame.getBoundingClientRect();
    const {left, width} = axes.plot();
    const [a, b] = points.map((point) => (point.clientX - box.left - left) / width);
    const distance = Math.max(0.02, Math.abs(b - a));
    const span = pinch.span * pinch.distance / distance;
    const from = pinch.center - span * (a + b) / 2;
    showTime(trace, state, from, from + span);
}

/** Connects the gestures of a view.
 * @param {Object} trace @param {Object} state
 * @param {{frame: HTMLElement, plot: function(): {left: number, top: number, width: number, height: number},
 *   hover: function(PointerEvent|null): void (null: outside of the plot, or panning), click: function(PointerEvent): void,
 *   key?: function(KeyboardEvent): boolean, vertical?: {zoom: function, pan: function},
 *   grab?: function(PointerEvent): (function(PointerEvent): void)|null}} axes grab: takes a drag over
 *   (a minimap) by returning what to call for its moves
 * @returns {{timeAt: function(number): number, busy: function(): boolean}} timeAt: of clientX */
export function bindTimeAxis(trace, state, axes) {
    const {frame} = axes;
    const points = new Map();
    let drag = null;
    let pinch = null;
    let lastWheel = -Infinity;
    let calm = null; // where a click or the wheel hid the tip: until the pointer leaves the place
    watchScrolling();
    axes.timeAt = (clientX) => {
        const {left, width} = axes.plot();
        const {from, to} = visibleTime(trace, state);
        return from + (to - from) * (clientX - frame.getBoundingClientRect().left - left) / width;
    };
    const hover = (event) => {
        const inside = event && event.clientX - frame.getBoundingClientRect().left >= axes.plot().left;
        state.set({hover: inside ? axes.timeAt(event.clientX) : null});
        calm = calm && event && Math.hypot(event.clientX - calm.clientX, event.clientY - calm.clientY) <= CLICK_PIXELS ? calm : null;
        axes.hover(inside && !calm ? event : null);
    };
    const hideTip = (event) => {
        calm = event;
        axes.hover(null);
    };
    const startPinch = () => {
        const box = frame.getBoundingClientRect();
        const {left, width} = axes.plot();
        const [a, b] = [...points.values()].map((point) => (point.clientX - box.left - left) / width);
        const {from, to} = visibleTime(trace, state);
        pinch = {span: to - from, distance: Math.max(0.02, Math.abs(b - a)),
            center: from + (to - from) * (a + b) / 2};
        drag = null;
    };
    frame.addEventListener('pointerdown', (event) => {
        if (event.button !== 0)
            return;
        frame.setPointerCapture(event.pointerId);
        points.set(event.pointerId, event);
        if (points.size === 2)
            startPinch();
        else
            drag = {x: event.clientX, y: event.clientY, lastY: event.clientY, moved: false, span: event.shiftKey,
                taken: axes.grab ? axes.grab(event) : null, ...visibleTime(trace, state)};
    });
    frame.addEventListener('pointermove', (event) => {
        if (points.has(event.pointerId))
            points.set(event.pointerId, event);
        if (pinch && points.size === 2) {
            pinchTo(trace, state, axes, pinch, [...points.values()]);
        } else if (drag) {
            const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > CLICK_PIXELS;
            drag.moved = drag.moved || far;
            if (drag.taken)
                drag.taken(event);
            else if (drag.moved)
                dragTo(trace, state, axes, drag, event);
        }
        hover(drag && drag.moved && !drag.span ? null : event);
    });
    const release = (event) => {
        points.delete(event.pointerId);
        if (drag && !drag.moved && !drag.taken && event.type === 'pointerup')
            axes.click(event);
        if (event.type === 'pointerup')
            hideTip(event);
        drag = null;
        pinch = points.size === 2 ? pinch : null;
    };
    frame.addEventListener('pointerup', release);
    frame.addEventListener('pointercancel', release);
    frame.addEventListener('pointerleave', () => hover(null));
    frame.addEventListener('wheel', (event) => {
        if (wheelOf(trace, state, axes, event)) {
            lastWheel = performance.now();
            hideTip(event);
            event.preventDefault();
        }
    }, {passive: false});
    frame.addEventListener('keydown', (event) => {
        if (!(axes.key && axes.key(event)) && !timeKey(trace, state, event, axes.plot().width))
            return;
        axes.hover(null);
        event.preventDefault();
    });
    return {timeAt: axes.timeAt, busy: () => drag?.moved || pinch || performance.now() - lastWheel < 120};
}

/* The vertical axis of a view: the block map's places, offsets on the axis of a device from 0 to the end of
 * what it ever held, or the bytes of the stack. What is visible are two keys of the state. */

const PLACE_MIN = 512;
const MARGIN = 1.01; // free space above the highest address

/** End of the address axis of a device, with a little room; kept. @returns {number} bytes */
export function extentOf(trace, device) {
    const {blocks, segments} = trace.loaded;
    trace.extents = trace.extents || {};
    if (trace.extents[device] === undefined) {
        let end = 0;
        for (const table of [blocks, segments]) {
            for (let i = 0; table && i < table.count; i++) {
                if (table.device[i] === device)
                    end = Math.max(end, table.place[i] + table.bytes[i]);
            }
        }
        trace.extents[device] = Math.max(end, 1024);
    }
    return trace.extents[device] * MARGIN;
}

/** The axis of the keys *fromKey* and *toKey* of the state; *endNow*: where it ends without them.
 * @returns {{now: function(): {placeFrom: number, placeTo: number, end: number},
 *   show: function(number, number): void, zoom: function(number, number): void, pan: function(number): void,
 *   scale: function({top: number, height: number}): function(number): number}} zoom(factor, part): around
 *   a part of the height from the top; pan(part): up by a part of what is visible */
export function createByteAxis(state, fromKey, toKey, endNow) {
    const axis = {
        now() {
            const end = endNow();
            const from = state.get(fromKey) ?? 0;
            const to = state.get(toKey) ?? end;
            return to > from ? {placeFrom: from, placeTo: to, end} : {placeFrom: 0, placeTo: end, end};
        },
        show(from, to) {
            const {end} = axis.now();
            const span = Math.min(end, Math.max(PLACE_MIN, to - from));
            const start = Math.max(0, Math.min(end - span, from));
            state.set(span >= end ? {[fromKey]: null, [toKey]: null} : {[fromKey]: start, [toKey]: start + span});
        },
        zoom(factor, part) {
            const {placeFrom, placeTo} = axis.now();
            const at = placeTo - (placeTo - placeFrom) * Math.max(0, Math.min(1, part));
            const span = Math.max(PLACE_MIN, (placeTo - placeFrom) * factor);
            const below = (at - placeFrom) / (placeTo - placeFrom);
            axis.show(at - span * below, at + span * (1 - below));
        },
        pan(part) {
            const {placeFrom, placeTo} = axis.now();
            const by = (placeTo - placeFrom) * part;
            axis.show(placeFrom + by, placeTo + by);
        },
        scale(area) {
            const {placeFrom, placeTo} = axis.now();
            return (place) => area.top + area.height * (placeTo - place) / (placeTo - placeFrom);
        },
    };
    return axis;
}
