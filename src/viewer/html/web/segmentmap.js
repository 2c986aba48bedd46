/* SPDX-License-Identifier: Apache-2.0
 *
 * The segments at the cursor's instant: blocks in colours, holes hatched, by stream and pool, all on one
 * scale; above them the failed request on the same scale, beside the largest hole. Plays through time. */
import {breakLines} from './pen.js';
import {button, make} from './dom.js';
import {ChartView} from './view.js';
import {moveCursor, timeKey, visibleTime} from './viewport.js';
import {HEADING_STEP, LINE_HEIGHT, LINE_STEP, changeNear, failureNear, groupText, layOutRequest, layOutSegments,
    scaleToFit, segmentsAt, streamText} from './segmentlayout.js';
import {missingText} from './timegrid.js';
import {hasBlocks} from './series.js';
import {briefBlock, dimmedRows, showHeld} from './blockdraw.js';
import {describeSegment} from './describe.js';
import {formatBytes, formatNumber, formatTime} from './format.js';

const SEGMENTS_HEIGHT = 420;
const SEGMENTS_LEFT = 12;
const PLAY_SECONDS = 15;
const PLAY_FRAME_MS = 100; // most time that passes in a frame: a page that was stopped goes on where it was
const REQUEST_LINES = 2;
const MERGED_PIXELS = 1;
const AT_FAILURE_NS = 1000; // the cursor is at the failure
const HEADING_NAME = {weight: '600', size: 12};
const HEADING_TEXT = {size: 12};

class SegmentmapView extends ChartView {
    constructor(element, context) {
        const bar = make('div.v-bar');
        element.append(bar); // above the surface
        super(element, context, {label: 'Segments at the cursor', height: SEGMENTS_HEIGHT, legend: true});
        const {trace, state} = context;
        this.bar = bar;
        this.zoom = state.get('segmentZoom');
        this.layout = null; // what is drawn: {pieces, headings, groups, unit}
        this.least = 0; // the height that the page gives
        this.playing = 0;
        state.ended(() => cancelAnimationFrame(this.playing));
        this.button('◀', 'previous change', () => this.stepChange(-1));
        this.play = this.button('Play', 'play through time', () => this.togglePlay());
        this.button('▶', 'next change', () => this.stepChange(1));
        this.button('−', 'smaller scale', () => this.setZoom(this.zoom / 1.5));
        this.button('+', 'larger scale', () => this.setZoom(this.zoom * 1.5));
        this.status = make('span.v-status');
        this.bar.append(this.status);
        this.surface.point((event) => this.partAt(event), (found) => this.describePart(found));
        this.surface.frame.addEventListener('click', (event) => {
            const {rows: [block] = [], piece: {segment} = {}} = this.partAt(event) || {};
            state.set({selected: block !== undefined ? {block} : segment && segment.row >= 0 ? {segment: segment.row} : null});
        });
        this.surface.frame.addEventListener('wheel', (event) => {
            if (!event.ctrlKey && !event.altKey)
                return;
            event.preventDefault();
            this.setZoom(this.zoom * Math.exp(-event.deltaY * 0.004));
        }, {passive: false});
        this.surface.frame.addEventListener('keydown', (event) => {
            const {from, to} = visibleTime(trace, state);
            const part = (to - from) / 100;
            const keys = {
                ' ': () => this.togglePlay(), '.': () => this.stepChange(1), ',': () => this.stepChange(-1),
                '+': () => this.setZoom(this.zoom * 1.5), '=': () => this.setZoom(this.zoom * 1.5),
                '-': () => this.setZoom(this.zoom / 1.5),
                ArrowLeft: () => moveCursor(trace, state, trace.cursorAt(state) - part),
                ArrowRight: () => moveCursor(trace, state, trace.cursorAt(state) + part),
            };
            const mine = !event.ctrlKey && !event.metaKey && Object.hasOwn(keys, event.key);
            if (mine)
                keys[event.key]();
            if (mine || timeKey(trace, state, event))
                event.preventDefault();
        });
        this.state.subscribe(['cursor', 'color'], () => {
            this.redrawAll();
            requestAnimationFrame(() => this.saySegments());
        });
        this.state.subscribe(['selected', 'search'], () => {
            delete this.surface.legend.dataset.key;
            this.redrawAll();
        });
        this.state.subscribe(['playing'], () => this.onPlaying());
        this.onPlaying(); // goes on where the page was made anew
        this.followTrace('curves', 'blocks', 'segments');
        trace.blocks.then((blocks) => blocks && blocks.live.deaths(), () => null);
    }

    button(text, label, call) {
        const node = button(text, call, {'aria-label': label});
        this.bar.append(node);
        return node;
    }

    width() {
        return Math.max(50, this.surface.width - 2 * SEGMENTS_LEFT);
    }

    setZoom(value) {
        this.zoom = Math.max(1, Math.min(4096, value));
        this.state.set({segmentZoom: this.zoom});
        this.surface.redraw();
    }

    mostHeld(groups) {
        const {trace} = this;
        const curve = trace.loaded.curves && trace.loaded.curves[this.state.get('device')];
        const now = groups.reduce((sum, group) => sum + group.bytes, 0);
        const most = curve && curve.reserved_max ? curve.reserved_max.reduce((a, b) => Math.max(a, b), 0) : 0;
        return Math.max(now, most, 1024);
    }

    /** Breaks the headings of the groups into lines. */
    breakHeadings(pen, groups) {
        const {trace} = this;
        for (const group of groups) {
            group.lines = breakLines(pen, groupText(trace, group), this.width(), HEADING_TEXT);
            const name = pen.measure(streamText(trace, group), HEADING_NAME) + 10;
            const fits = group.lines.length === 1 && name + pen.measure(group.lines[0], HEADING_TEXT) <= this.width();
            group.beside = fits ? name : 0;
            group.heading = HEADING_STEP + (group.beside ? 0 : 16 * group.lines.length);
        }
    }

    /** The failed request, and the holes: those of the failure only where the cursor is at it. */
    requestText({failure, largest, cut}, groups, t) {
        const free = groups.reduce((sum, group) => sum + group.free, 0);
        const request = `The request of ${formatBytes(failure.bytes)} that failed at ${formatTime(failure.time)}, ` +
            `to scale${cut ? ' (cut: it is longer)' : ''}`;
        const holes = `largest hole ${formatBytes(largest)}, all holes together ${formatBytes(free)}`;
        if (Math.abs(t - failure.time) >= AT_FAILURE_NS)
            return `${request}. At the cursor, ${formatTime(t)}: ${holes}`;
        return largest >= failure.bytes
            ? `${request}: a hole of ${formatBytes(largest)} exists, in another stream or pool`
            : `${request}: no hole is large enough: ${holes}`;
    }

    compute(pen) {
        const {trace, state, surface} = this;
        const device = state.get('device');
        const t = trace.cursorAt(state);
        const groups = segmentsAt(trace, device, t);
        const failure = failureNear(trace, device, t);
        this.least = this.least || surface.height;
        this.breakHeadings(pen, groups);
        const height = this.least - (failure ? 3 * LINE_STEP + HEADING_STEP : 0);
        const unit = scaleToFit(groups, this.mostHeld(groups), this.width(), height) / this.zoom;
        let top = 6;
        let request = null;
        if (failure) {
            const largest = groups.reduce((best, group) => Math.max(best, group.largest), 0);
            request = {failure, largest, y: top, cut: failure.bytes > unit * this.width() * REQUEST_LINES};
            request.text = breakLines(pen, this.requestText(request, groups, t), this.width(), HEADING_NAME);
            const below = top + 8 + 16 * request.text.length;
            Object.assign(request, layOutRequest(failure.bytes, unit, this.width(), below, REQUEST_LINES));
            top = request.lines + LINE_STEP + 8;
        }
        this.layout = {...layOutSegments(groups, unit, this.width(), top), groups, unit, request, t};
        const wanted = Math.max(this.least, this.layout.height + 8);
        if (Math.abs(wanted - surface.height) > 1 && (wanted > surface.height || this.layout.height + 60 < surface.height))
            surface.setHeight(wanted);
    }

    hatch(pen, x, y, w, h) {
        const {surface} = this;
        pen.rect(x, y, w, h, surface.colors.muted, 0.14);
        if (w < 5)
            return;
        for (let at = x - h + (6 - (x - h) % 6) % 6; at < x + w; at += 6) {
            const x0 = Math.max(x, at);
            const x1 = Math.min(x + w, at + h);
            pen.line(x0, y + h - (x0 - at), x1, y + h - (x1 - at), surface.colors.muted, 0.5);
        }
    }

    drawPiece(pen, piece, grouping, colors, dim) {
        const {blocks} = this.trace.loaded;
        const {x, y, from, to, segment} = piece;
        const left = SEGMENTS_LEFT + x;
        const scale = piece.width / (to - from);
        const at = (place) => left + Math.max(0, Math.min(piece.width, (place - segment.place - from) * scale));
        this.hatch(pen, left, y, piece.width, LINE_HEIGHT);
        let drawn = left - 1;
        for (const row of segment.blocks) {
            const x0 = at(blocks.place[row]);
            const x1 = at(blocks.place[row] + blocks.bytes[row]);
            if (x1 <= left || x0 >= left + piece.width || (x1 - x0 < MERGED_PIXELS && x1 - drawn < 0.5))
                continue;
            const gap = x1 - x0 > 4 ? 0.75 : 0;
            pen.rect(x0, y, Math.max(0.75, x1 - x0 - gap), LINE_HEIGHT,
                dim && dim(row) ? this.surface.colors.grid : colors[grouping.of[row]]);
            drawn = x1;
        }
        pen.frame(left, y, piece.width, LINE_HEIGHT, this.surface.colors.muted, 0.75);
    }

    drawRequest(pen, request) {
        const {colors} = this.surface;
        request.text.forEach((line, i) =>
            pen.text(SEGMENTS_LEFT, request.y + 15 + 16 * i, line, colors.danger, HEADING_NAME));
        for (const piece of request.pieces) {
            pen.rect(SEGMENTS_LEFT + piece.x, piece.y, piece.width, LINE_HEIGHT, colors.danger, 0.3);
            pen.frame(SEGMENTS_LEFT + piece.x, piece.y, piece.width, LINE_HEIGHT, colors.danger);
        }
    }

    draw(pen) {
        const {trace, state, surface} = this;
        const {colors} = surface;
        if (!trace.loaded.blocks)
            return this.sayWaiting(pen, SEGMENTS_LEFT, 24, 'segments');
        const t = trace.cursorAt(state);
        if (!hasBlocks(trace, t, t)) {
            pen.text(SEGMENTS_LEFT, 24, missingText(trace), colors.muted, {size: 13});
            this.status.textContent = '';
            return;
        }
        this.compute(pen);
        const grouping = this.grouping();
        const dim = dimmedRows(trace, this.state);
        const palette = grouping.colors(surface.theme);
        if (this.layout.request)
            this.drawRequest(pen, this.layout.request);
        for (const {group, y} of this.layout.headings) {
            pen.text(SEGMENTS_LEFT, y + 16, streamText(trace, group), colors.ink, HEADING_NAME);
            group.lines.forEach((line, i) => pen.text(SEGMENTS_LEFT + group.beside,
                y + 16 + (group.beside ? 0 : 16 * (i + 1)), line, colors.muted, HEADING_TEXT));
        }
        for (const piece of this.layout.pieces)
            this.drawPiece(pen, piece, grouping, palette, dim);
        if (!this.layout.groups.length)
            pen.text(SEGMENTS_LEFT, this.layout.height + 16, 'Nothing is held at this time.', colors.muted, {size: 13});
        this.showStatus();
    }

    showStatus() {
        const {groups, unit, t, leftOut} = this.layout;
        const held = groups.reduce((sum, group) => sum + group.bytes, 0);
        const used = groups.reduce((sum, group) => sum + group.used, 0);
        this.status.textContent = `At ${formatTime(t)}: ${formatBytes(held)} held, ${formatBytes(used)} in use. One pixel is ` +
            `${formatBytes(unit)}${leftOut ? '; ' + formatNumber(leftOut, 'more segment') + ' do not fit here' : ''}.`;
    }

    drawOver(pen) {
        const {trace, state} = this;
        const selected = state.get('selected');
        if (trace.loaded.blocks)
            showHeld(this.surface, this.surface.legend, trace, state, 'blocks', false);
        if (!this.layout || !selected || selected.block === undefined)
            return;
        const {blocks} = trace.loaded;
        const row = selected.block;
        for (const piece of this.layout.pieces) {
            if (!piece.segment.blocks.includes(row))
                continue;
            const scale = piece.width / (piece.to - piece.from);
            const from = Math.max(piece.from, blocks.place[row] - piece.segment.place);
            const to = Math.min(piece.to, blocks.place[row] + blocks.bytes[row] - piece.segment.place);
            if (to > from)
                pen.frame(SEGMENTS_LEFT + piece.x + (from - piece.from) * scale - 1, piece.y - 1,
                    Math.max(3, (to - from) * scale + 2), LINE_HEIGHT + 2, this.surface.colors.accent, 2.5);
        }
    }

    /** What is under the pointer: {piece, rows: blocks of the pixel, hole}. */
    partAt(event) {
        const box = this.surface.frame.getBoundingClientRect();
        const x = event.clientX - box.left - SEGMENTS_LEFT;
        const y = event.clientY - box.top;
        const holds = (p) => x >= p.x && x <= p.x + p.width && y >= p.y && y <= p.y + LINE_HEIGHT;
        const piece = this.layout && this.layout.pieces.find(holds);
        if (!piece)
            return null;
        const {blocks} = this.trace.loaded;
        const {segment} = piece;
        const bytes = (piece.to - piece.from) / piece.width;
        const place = segment.place + piece.from + (x - piece.x) * bytes;
        const touches = (from, to) => from <= place && place < to;
        const exact = segment.blocks.filter((i) => touches(blocks.place[i], blocks.place[i] + blocks.bytes[i]));
        const near = segment.blocks.filter((i) => blocks.place[i] < place + bytes / 2 &&
            blocks.place[i] + blocks.bytes[i] > place - bytes / 2);
        const hole = segment.holes.find(([from, to]) => touches(from, to));
        const others = hole && hole[1] - hole[0] > bytes ? [] : near;
        return {piece, hole, rows: exact.length ? [...exact, ...near.filter((i) => i !== exact[0])] : others};
    }

    describePart({piece, rows, hole}) {
        const {trace} = this;
        if (rows.length) {
            const what = briefBlock(trace, rows[0]);
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

    stepChange(direction) {
        const {trace, state} = this;
        const {blocks} = trace.loaded;
        const t = blocks ? changeNear(blocks, trace.cursorAt(state), direction) : null;
        if (t !== null)
            moveCursor(trace, state, t);
    }

    togglePlay() {
        const {trace, state} = this;
        const {from, to} = visibleTime(trace, state);
        const starts = !state.get('playing');
        if (starts && trace.cursorAt(state) >= to - (to - from) / 1000)
            state.set({cursor: from});
        state.set({playing: starts});
    }

    onPlaying() {
        const {trace, state} = this;
        const starts = state.get('playing');
        this.play.textContent = starts ? 'Pause' : 'Play';
        this.play.setAttribute('aria-label', starts ? 'pause' : 'play through time');
        cancelAnimationFrame(this.playing);
        let last = performance.now();
        const frame = (now) => {
            const {from, to} = visibleTime(trace, state);
            const passed = Math.min(now - last, PLAY_FRAME_MS) / 1000;
            const t = Math.max(from, trace.cursorAt(state)) + (to - from) * passed / PLAY_SECONDS;
            last = now;
            state.set(t >= to ? {cursor: to, playing: false} : {cursor: t});
            if (t < to)
                this.playing = requestAnimationFrame(frame);
        };
        if (starts)
            this.playing = requestAnimationFrame(frame);
    }

    saySegments() {
        const {trace} = this;
        if (!this.state.get('playing') && this.layout)
            this.surface.say(this.layout.groups.map((group) => `${streamText(trace, group)}: ${groupText(trace, group)}`).join('. '));
    }

    rows() {
        const {trace, state} = this;
        const {blocks, segments} = trace.loaded;
        const out = [['stream and pool', 'segment address', 'offset', 'bytes', 'what', 'call site']];
        for (const group of blocks ? segmentsAt(trace, state.get('device'), trace.cursorAt(state)) : []) {
            for (const segment of group.segments) {
                const address = segment.row >= 0 ? `0x${segments.address[segment.row].toString(16)}` : '';
                const parts = [...segment.blocks.map((i) => [blocks.place[i] - segment.place, blocks.bytes[i], 'block',
                    trace.head.sites[blocks.site[i]].label]),
                ...segment.holes.map(([from, to]) => [from - segment.place, to - from, 'hole', ''])];
                parts.sort((a, b) => a[0] - b[0]);
                out.push(...parts.map((part) => [streamText(trace, group), address, ...part]));
            }
        }
        return out;
    }
}

export const mountSegmentmap = (element, context) => new SegmentmapView(element, context);
