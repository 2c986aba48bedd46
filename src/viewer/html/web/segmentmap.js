/* SPDX-License-Identifier: Apache-2.0
 *
 * The segments at the cursor's instant: blocks in colours, holes hatched, by stream and pool, all on one
 * scale; above them the failed request on the same scale, beside the largest hole. Plays through time. */
import {breakLines} from './pen.js';
import {createNode, createSurface, tipNode} from './surface.js';
import {instantText, moveCursor, timeKey, visibleTime} from './viewport.js';
import {HEADING_STEP, LINE_HEIGHT, LINE_STEP, layOutRequest, layOutSegments, scaleToFit, segmentsAt} from './segmentlayout.js';
import {missingText} from './timegrid.js';
import {hasBlocks} from './series.js';
import {groupBlocks} from './grouping.js';
import {describeBlock, describeSegment} from './describe.js';
import {upperBound} from './liveindex.js';
import {formatBytes, formatNumber, printable} from './format.js';

const SEGMENTS_HEIGHT = 420;
const SEGMENTS_LEFT = 12;
const PLAY_SECONDS = 15;
const REQUEST_LINES = 2;
const MERGED_PIXELS = 1;
const HEADING_NAME = {weight: '600', size: 12};
const HEADING_TEXT = {size: 12};

function streamText(trace, group) {
    const {streams} = trace.head;
    const stream = group.stream && streams[group.stream - 1] ? printable(streams[group.stream - 1].name) : '';
    if (group.loose)
        return [stream, 'memory allocated without a cache'].filter(Boolean).join(', ');
    const pools = trace.head.pools;
    const pool = group.pool ? (pools && pools[group.pool - 1] ? `, pool ${printable(pools[group.pool - 1])}` : `, pool ${group.pool}`) : '';
    return `${stream || 'device memory, stream not recorded'}${pool}`;
}

function groupText(trace, group) {
    const first = `${formatNumber(group.segments.length, group.loose ? 'allocation' : 'segment')}, ${formatBytes(group.bytes)}`;
    if (group.loose)
        return first;
    const holes = group.holes ? `, free ${formatBytes(group.free)} in ${formatNumber(group.holes, 'hole')}, the largest ` +
        formatBytes(group.largest) : ', no hole';
    return `${first}: in use ${formatBytes(group.used)} in ${formatNumber(group.blocks, 'block')}${holes}`;
}

/** The failure nearest to *t* on a device; null: none failed. */
function failureNear(trace, device, t) {
    const failures = (trace.head.failures || []).filter((f) => f.device === device && !f.host);
    return failures.reduce((best, f) => !best || Math.abs(f.time - t) < Math.abs(best.time - t) ? f : best, null);
}

/** The first birth or death after (before) *t*; null: none. */
function changeNear(blocks, t, direction) {
    const {born, died, count} = blocks;
    const order = blocks.live.deathsNow() || [];
    const birth = direction > 0 ? upperBound(born, t, count) : upperBound(born, t - 1, count) - 1;
    let low = 0;
    let high = order.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (direction > 0 ? died[order[middle]] <= t : died[order[middle]] < t)
            low = middle + 1;
        else
            high = middle;
    }
    const death = direction > 0 ? low : low - 1;
    const times = [birth >= 0 && birth < count ? born[birth] : NaN,
        death >= 0 && death < order.length ? died[order[death]] : NaN].filter((time) => !Number.isNaN(time));
    return times.length ? (direction > 0 ? Math.min(...times) : Math.max(...times)) : null;
}

/** @param {HTMLElement} element @param {{trace: Object, other: Object, state: Object}} context
 * @returns {{svg: function(): string, rows: function(): Array[], destroy: function(): void}} */
export function mountSegmentmap(element, {trace, state}) {
    let zoom = 1;
    let layout = null; // what is drawn: {pieces, headings, groups, unit}
    let least = 0; // the height that the page gives
    let playing = 0;
    const bar = createNode('div', 'v-bar');
    element.append(bar);
    const surface = createSurface(element, state, {label: 'Segments at the cursor', height: SEGMENTS_HEIGHT,
        draw: drawSegments, drawOver: drawSegmentMarks});
    const button = (text, label, call) => {
        const node = createNode('button', '', text);
        node.type = 'button';
        node.setAttribute('aria-label', label);
        node.addEventListener('click', call);
        bar.append(node);
        return node;
    };
    button('◀', 'previous change', () => stepChange(-1));
    const play = button('Play', 'play through time', togglePlay);
    button('▶', 'next change', () => stepChange(1));
    button('−', 'smaller scale', () => setZoom(zoom / 1.5));
    button('+', 'larger scale', () => setZoom(zoom * 1.5));
    const status = createNode('span', 'v-status');
    bar.append(status);
    const width = () => Math.max(50, surface.width - 2 * SEGMENTS_LEFT);

    function setZoom(value) {
        zoom = Math.max(1, Math.min(4096, value));
        surface.redraw();
    }
    function mostHeld(groups) {
        const curve = trace.loaded.curves && trace.loaded.curves[state.get('device')];
        const now = groups.reduce((sum, group) => sum + group.bytes, 0);
        const most = curve && curve.reserved_max ? curve.reserved_max.reduce((a, b) => Math.max(a, b), 0) : 0;
        return Math.max(now, most, 1024);
    }
    /** Breaks the headings of the groups into lines. */
    function breakHeadings(pen, groups) {
        for (const group of groups) {
            group.lines = breakLines(pen, groupText(trace, group), width(), HEADING_TEXT);
            const name = pen.measure(streamText(trace, group), HEADING_NAME) + 10;
            group.beside = group.lines.length === 1 && name + pen.measure(group.lines[0], HEADING_TEXT) <= width() ? name : 0;
            group.heading = HEADING_STEP + (group.beside ? 0 : 16 * group.lines.length);
        }
    }
    function requestText({failure, largest, cut}, groups) {
        const held = groups.reduce((sum, group) => sum + group.free, 0);
        const verdict = largest >= failure.bytes ? `a hole of ${formatBytes(largest)} exists, in another stream or pool, or after the failure`
            : `no hole is large enough: the largest is ${formatBytes(largest)}, all holes together ${formatBytes(held)}`;
        return `The request of ${formatBytes(failure.bytes)} that failed at ${instantText(failure.time, 1e6)}, ` +
            `to scale${cut ? ' (cut: it is longer)' : ''}: ${verdict}`;
    }
    function compute(pen) {
        const device = state.get('device');
        const t = trace.cursorAt(state);
        const groups = segmentsAt(trace, device, t);
        const failure = failureNear(trace, device, t);
        least = least || surface.height;
        breakHeadings(pen, groups);
        const unit = scaleToFit(groups, mostHeld(groups), width(), least - (failure ? 3 * LINE_STEP + HEADING_STEP : 0)) / zoom;
        let top = 6;
        let request = null;
        if (failure) {
            const largest = groups.reduce((best, group) => Math.max(best, group.largest), 0);
            request = {failure, largest, y: top, cut: failure.bytes > unit * width() * REQUEST_LINES};
            request.text = breakLines(pen, requestText(request, groups), width(), HEADING_NAME);
            Object.assign(request, layOutRequest(failure.bytes, unit, width(), top + 8 + 16 * request.text.length, REQUEST_LINES));
            top = request.lines + LINE_STEP + 8;
        }
        layout = {...layOutSegments(groups, unit, width(), top), groups, unit, request, t};
        const wanted = Math.max(least, layout.height + 8);
        if (Math.abs(wanted - surface.height) > 1 && (wanted > surface.height || layout.height + 60 < surface.height))
            surface.setHeight(wanted);
    }
    function hatch(pen, x, y, w, h) {
        pen.rect(x, y, w, h, surface.colors.muted, 0.14);
        if (w < 5)
            return;
        for (let at = x - h + (6 - (x - h) % 6) % 6; at < x + w; at += 6) {
            const x0 = Math.max(x, at);
            const x1 = Math.min(x + w, at + h);
            pen.line(x0, y + h - (x0 - at), x1, y + h - (x1 - at), surface.colors.muted, 0.5);
        }
    }
    function drawPiece(pen, piece, grouping, colors) {
        const {blocks} = trace.loaded;
        const {x, y, from, to, segment} = piece;
        const left = SEGMENTS_LEFT + x;
        const scale = piece.width / (to - from);
        const at = (place) => left + Math.max(0, Math.min(piece.width, (place - segment.place - from) * scale));
        hatch(pen, left, y, piece.width, LINE_HEIGHT);
        let drawn = left - 1;
        for (const row of segment.blocks) {
            const x0 = at(blocks.place[row]);
            const x1 = at(blocks.place[row] + blocks.bytes[row]);
            if (x1 <= left || x0 >= left + piece.width || (x1 - x0 < MERGED_PIXELS && x1 - drawn < 0.5))
                continue;
            const gap = x1 - x0 > 4 ? 0.75 : 0;
            pen.rect(x0, y, Math.max(0.75, x1 - x0 - gap), LINE_HEIGHT, colors[grouping.of[row]]);
            drawn = x1;
        }
        pen.frame(left, y, piece.width, LINE_HEIGHT, surface.colors.muted, 0.75);
    }
    function drawRequest(pen, request) {
        const {colors} = surface;
        request.text.forEach((line, i) => pen.text(SEGMENTS_LEFT, request.y + 15 + 16 * i, line, colors.danger, HEADING_NAME));
        for (const piece of request.pieces) {
            pen.rect(SEGMENTS_LEFT + piece.x, piece.y, piece.width, LINE_HEIGHT, colors.danger, 0.3);
            pen.frame(SEGMENTS_LEFT + piece.x, piece.y, piece.width, LINE_HEIGHT, colors.danger);
        }
    }
    function drawSegments(pen) {
        const {colors} = surface;
        const {blocks, error} = trace.loaded;
        if (!blocks) {
            pen.text(SEGMENTS_LEFT, 24, error ? `The segments cannot be shown: ${error.message}` : 'Reading the blocks…',
                error ? colors.danger : colors.muted, {size: 13});
            return;
        }
        const t = trace.cursorAt(state);
        if (!hasBlocks(trace, t, t)) {
            pen.text(SEGMENTS_LEFT, 24, missingText(trace), colors.muted, {size: 13});
            status.textContent = '';
            return;
        }
        compute(pen);
        const grouping = groupBlocks(trace, state.get('color'));
        const palette = grouping.colors(surface.theme);
        if (layout.request)
            drawRequest(pen, layout.request);
        for (const {group, y} of layout.headings) {
            pen.text(SEGMENTS_LEFT, y + 16, streamText(trace, group), colors.ink, HEADING_NAME);
            group.lines.forEach((line, i) => pen.text(SEGMENTS_LEFT + group.beside,
                y + 16 + (group.beside ? 0 : 16 * (i + 1)), line, colors.muted, HEADING_TEXT));
        }
        for (const piece of layout.pieces)
            drawPiece(pen, piece, grouping, palette);
        if (!layout.groups.length)
            pen.text(SEGMENTS_LEFT, layout.height + 16, 'Nothing is held at this time.', colors.muted, {size: 13});
        showStatus();
    }
    function showStatus() {
        const {groups, unit, t, leftOut} = layout;
        const held = groups.reduce((sum, group) => sum + group.bytes, 0);
        const used = groups.reduce((sum, group) => sum + group.used, 0);
        status.textContent = `At ${instantText(t, 1e3)}: ${formatBytes(held)} held, ${formatBytes(used)} in use. One pixel is ` +
            `${formatBytes(unit)}${leftOut ? '; ' + formatNumber(leftOut, 'more segment') + ' do not fit here' : ''}.`;
    }
    function drawSegmentMarks(pen) {
        const selected = state.get('selected');
        if (!layout || !selected || selected.block === undefined)
            return;
        const {blocks} = trace.loaded;
        const row = selected.block;
        for (const piece of layout.pieces) {
            if (!piece.segment.blocks.includes(row))
                continue;
            const scale = piece.width / (piece.to - piece.from);
            const from = Math.max(piece.from, blocks.place[row] - piece.segment.place);
            const to = Math.min(piece.to, blocks.place[row] + blocks.bytes[row] - piece.segment.place);
            if (to > from)
                pen.frame(SEGMENTS_LEFT + piece.x + (from - piece.from) * scale - 1, piece.y - 1,
                    Math.max(3, (to - from) * scale + 2), LINE_HEIGHT + 2, surface.colors.accent, 2.5);
        }
    }
    /** What is under the pointer: {piece, rows: blocks of the pixel, hole}. */
    function partAt(event) {
        const box = surface.frame.getBoundingClientRect();
        const x = event.clientX - box.left - SEGMENTS_LEFT;
        const y = event.clientY - box.top;
        const piece = layout && layout.pieces.find((p) => x >= p.x && x <= p.x + p.width && y >= p.y && y <= p.y + LINE_HEIGHT);
        if (!piece)
            return null;
        const {blocks} = trace.loaded;
        const {segment} = piece;
        const bytes = (piece.to - piece.from) / piece.width;
        const place = segment.place + piece.from + (x - piece.x) * bytes;
        const touches = (from, to) => from <= place && place < to;
        const exact = segment.blocks.filter((i) => touches(blocks.place[i], blocks.place[i] + blocks.bytes[i]));
        const near = segment.blocks.filter((i) => blocks.place[i] < place + bytes / 2 && blocks.place[i] + blocks.bytes[i] > place - bytes / 2);
        const hole = segment.holes.find(([from, to]) => touches(from, to));
        return {piece, rows: exact.length ? [...exact, ...near.filter((i) => i !== exact[0])] : hole && hole[1] - hole[0] > bytes ? [] : near, hole};
    }
    function describePart({piece, rows, hole}) {
        if (rows.length) {
            const what = describeBlock(trace, rows[0]);
            if (rows.length > 2)
                what.note = `${formatNumber(rows.length, 'block')} share this pixel: enlarge with + to see each.`;
            return what;
        }
        const what = piece.segment.row >= 0 ? describeSegment(trace, piece.segment.row) : {title: '', facts: []};
        const size = hole ? hole[1] - hole[0] : 0;
        what.title = hole ? `hole of ${formatBytes(size)} in a ${what.title}` : what.title;
        what.facts.push(['streams', streamText(trace, piece.group)]);
        what.note = 'A hole is cached: held from the device, free for requests of this stream and pool.';
        return what;
    }
    surface.frame.addEventListener('pointermove', (event) => {
        const found = partAt(event);
        surface.frame.style.cursor = found && found.rows.length ? 'pointer' : 'default';
        if (found)
            surface.tip.show(event.clientX, event.clientY, tipNode(describePart(found)));
        else
            surface.tip.hide();
    });
    surface.frame.addEventListener('pointerleave', () => surface.tip.hide());
    surface.frame.addEventListener('click', (event) => {
        const found = partAt(event);
        state.set({selected: found && found.rows.length ? {block: found.rows[0]} : null});
    });
    surface.frame.addEventListener('wheel', (event) => {
        if (!event.ctrlKey && !event.altKey)
            return;
        event.preventDefault();
        setZoom(zoom * Math.exp(-event.deltaY * 0.004));
    }, {passive: false});
    surface.frame.addEventListener('keydown', (event) => {
        const {from, to} = visibleTime(trace, state);
        const part = (to - from) / 100;
        const keys = {
            ' ': togglePlay, '.': () => stepChange(1), ',': () => stepChange(-1),
            '+': () => setZoom(zoom * 1.5), '=': () => setZoom(zoom * 1.5), '-': () => setZoom(zoom / 1.5),
            ArrowLeft: () => moveCursor(trace, state, trace.cursorAt(state) - part),
            ArrowRight: () => moveCursor(trace, state, trace.cursorAt(state) + part),
        };
        const mine = !event.ctrlKey && !event.metaKey && Object.hasOwn(keys, event.key);
        if (mine)
            keys[event.key]();
        if (mine || timeKey(trace, state, event))
            event.preventDefault();
    });
    function stepChange(direction) {
        const {blocks} = trace.loaded;
        const t = blocks ? changeNear(blocks, trace.cursorAt(state), direction) : null;
        if (t !== null)
            moveCursor(trace, state, t);
    }
    function togglePlay() {
        const {from, to} = visibleTime(trace, state);
        const starts = !state.get('playing');
        if (starts && trace.cursorAt(state) >= to - (to - from) / 1000)
            state.set({cursor: from});
        state.set({playing: starts});
    }
    function onPlaying() {
        const starts = state.get('playing');
        play.textContent = starts ? 'Pause' : 'Play';
        play.setAttribute('aria-label', starts ? 'pause' : 'play through time');
        cancelAnimationFrame(playing);
        let last = performance.now();
        const frame = (now) => {
            const {from, to} = visibleTime(trace, state);
            const t = Math.max(from, trace.cursorAt(state)) + (to - from) * (now - last) / 1000 / PLAY_SECONDS;
            last = now;
            state.set(t >= to ? {cursor: to, playing: false} : {cursor: t});
            if (t < to)
                playing = requestAnimationFrame(frame);
        };
        if (starts)
            playing = requestAnimationFrame(frame);
    }
    function saySegments() {
        if (!state.get('playing') && layout)
            surface.say(layout.groups.map((group) => `${streamText(trace, group)}: ${groupText(trace, group)}`).join('. '));
    }
    const redrawBoth = () => {
        surface.redraw();
        surface.redrawOver();
    };
    const unsubscribe = [
        state.subscribe(['cursor', 'device', 'color'], () => {
            redrawBoth();
            requestAnimationFrame(saySegments);
        }),
        state.subscribe(['selected'], surface.redrawOver),
        state.subscribe(['playing'], onPlaying),
    ];
    for (const name of ['curves', 'blocks', 'segments'])
        trace[name].then(redrawBoth, redrawBoth);
    trace.blocks.then((blocks) => blocks && blocks.live.deaths(), () => null);
    return {
        svg: () => surface.toSvg('Segments at the cursor'),
        rows() {
            const {blocks, segments} = trace.loaded;
            const out = [['stream and pool', 'segment address', 'offset', 'bytes', 'what', 'call site']];
            for (const group of blocks ? segmentsAt(trace, state.get('device'), trace.cursorAt(state)) : []) {
                for (const segment of group.segments) {
                    const address = segment.row >= 0 ? `0x${segments.address[segment.row].toString(16)}` : '';
                    const parts = [...segment.blocks.map((i) => [blocks.place[i] - segment.place, blocks.bytes[i], 'block',
                        trace.head.sites[blocks.site[i]].label]), ...segment.holes.map(([from, to]) => [from - segment.place, to - from, 'hole', ''])];
                    parts.sort((a, b) => a[0] - b[0]);
                    out.push(...parts.map((part) => [streamText(trace, group), address, ...part]));
                }
            }
            return out;
        },
        destroy() {
            cancelAnimationFrame(playing);
            state.set({playing: false});
            unsubscribe.forEach((call) => call());
            surface.destroy();
        },
    };
}
