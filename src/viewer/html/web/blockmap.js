/* SPDX-License-Identifier: Apache-2.0
 *
 * Every block as a rectangle of time × address, coloured by call site, phase, kind and so on. While a
 * gesture runs, the latest picture is moved and scaled; the exact one follows in slices (raster.js).
 * Blocks smaller than a pixel are counted, said at the pointer, and unfold on zooming. */
import {createPainter} from './slices.js';
import {make} from './dom.js';
import {tipNode} from './surface.js';
import {ChartView} from './view.js';
import {bindTimeAxis, byteTicks, createPlaceAxis, showTime, visibleTime} from './viewport.js';
import {drawByteGrid, drawMissing, drawTimeGrid, missingText, timeScale} from './timegrid.js';
import {groupBlocks} from './grouping.js';
import {describeBlock} from './describe.js';
import {colorRaster, rasterize} from './raster.js';
import {upperBound} from './liveindex.js';
import {dimmedRows, drawBlockLabels, drawBlockVectors, drawHeld, showHeld} from './blockdraw.js';
import {formatNumber} from './format.js';

const BLOCKMAP_HEIGHT = 420;
const LONG_ROWS = 300000; // blocks of a picture that takes many frames
const ROWS_MAX = 200000;

class BlockmapView extends ChartView {
    constructor(element, context) {
        super(element, context, {label: 'Blocks over time and address', height: BLOCKMAP_HEIGHT, legend: true,
            onTheme: () => this.recolor()});
        const {trace, state} = context;
        this.colorist = createPainter();
        this.recoloring = false;
        this.canvases = {now: document.createElement('canvas'), whole: document.createElement('canvas')};
        this.pictures = {now: null, whole: null, spare: null}; // rasters whose colours are in these canvases
        this.job = null; // the view that is being painted
        this.pointed = -1; // the block under the pointer
        this.status = make('div.v-bar.v-status');
        this.surface.legend.classList.add('v-legend-chosen');
        element.append(this.status);
        this.vertical = createPlaceAxis(trace, state);
        this.places = this.vertical.now;
        this.axis = bindTimeAxis(trace, state, {
            frame: this.surface.frame, plot: () => this.plot(), vertical: this.vertical, key: (event) => this.onMapKey(event),
            hover: (event) => this.hoverBlock(event),
            click: (event) => {
                const {row} = this.blockAt(event.clientX, event.clientY);
                this.setCursor(event, {selected: row >= 0 ? {block: row} : null});
            },
        });
        this.surface.frame.addEventListener('dblclick', (event) => {
            const {row} = this.blockAt(event.clientX, event.clientY);
            if (row >= 0)
                this.fit(row);
        });
        this.follow(['from', 'to', 'device', 'placeFrom', 'placeTo'], () => this.redrawAll());
        this.follow(['color', 'search', 'selected'], (keys) => {
            delete this.surface.legend.dataset.key;
            const site = state.get('selected') && state.get('selected').site;
            if (keys.has('color') || keys.has('search') || site !== this.lastSite)
                this.recolor();
            this.lastSite = site;
            this.surface.redrawOver();
        });
        this.follow(['cursor', 'cursor2', 'hover'], this.surface.redrawOver);
        this.lastSite = undefined;
        this.followTrace('blocks', 'segments');
    }

    blocksNow() {
        return this.trace.loaded.blocks;
    }

    viewNow() {
        const {state, surface} = this;
        const {width, height} = this.plot();
        const {placeFrom, placeTo} = this.places();
        return {...visibleTime(this.trace, state), placeFrom, placeTo, device: state.get('device'),
            width: Math.max(1, Math.round(width * surface.density)),
            height: Math.max(1, Math.round(height * surface.density))};
    }

    sameView(a, b) {
        return a && b && ['from', 'to', 'placeFrom', 'placeTo', 'device', 'width', 'height']
        .every((key) => a[key] === b[key]);
    }

    *paintJob(view) {
        const raster = yield* rasterize(this.blocksNow(), view, this.pictures.spare);
        this.pictures.spare = null;
        const key = this.colorKey();
        const grouping = this.grouping();
        const image = yield* colorRaster(raster, grouping, grouping.colors(this.surface.theme), this.look());
        return {raster, image, key};
    }

    /** What the colours of a picture depend on. */
    colorKey() {
        const {state, surface} = this;
        return JSON.stringify([state.get('color'), state.get('search'), (state.get('selected') || {}).site, surface.theme]);
    }

    look() {
        const {surface} = this;
        return {panel: this.hexOf(surface.colors.panel), ink: this.hexOf(surface.colors.ink),
            dim: dimmedRows(this.trace, this.state)};
    }

    hexOf(color) {
        return /^#[0-9a-f]{6}$/i.test(color) ? color : this.surface.theme === 'dark' ? '#1a1f28' : '#ffffff';
    }

    put(canvas, image) {
        canvas.width = image.width;
        canvas.height = image.height;
        canvas.getContext('2d').putImageData(image, 0, 0);
    }

    onPainted({raster, image, key}) {
        this.job = null;
        const {end} = this.places();
        this.pictures.spare = this.pictures.now !== this.pictures.whole ? this.pictures.now : null;
        this.pictures.now = raster;
        this.put(this.canvases.now, image);
        if (raster.from === 0 && raster.to >= this.trace.head.duration && raster.placeTo - raster.placeFrom >= end * 0.999) {
            this.pictures.whole = raster;
            this.put(this.canvases.whole, image);
        }
        this.surface.redraw();
        this.showStatus();
        if (this.recoloring || key !== this.colorKey())
            this.recolor(); // from the pictures that there are now
        else
            this.tellColors();
        if (!this.sameView(raster, this.viewNow()))
            this.refresh();
    }

    /** Paints what is visible now. A job for another view is finished first, unless it is a long one: its
     * picture is nearer to what is visible than the one before. */
    refresh() {
        if (!this.blocksNow() || !this.surface.width)
            return;
        const view = this.viewNow();
        if (this.sameView(this.job, view) || (!this.job && this.sameView(this.pictures.now, view)))
            return;
        const {born} = this.blocksNow();
        view.rows = upperBound(born, view.to) - upperBound(born, view.from);
        if (this.job && (this.job.rows < LONG_ROWS || view.rows > this.job.rows / 4))
            return;
        this.job = view;
        delete this.surface.frame.dataset.colors;
        this.painter.start(this.paintJob(view), (painted) => this.onPainted(painted));
    }

    *recolorJob() {
        const {surface} = this;
        const grouping = this.grouping();
        const images = [];
        for (const name of ['now', 'whole']) {
            const raster = this.pictures[name];
            if (raster)
                images.push({name, raster,
                    image: yield* colorRaster(raster, grouping, grouping.colors(surface.theme), this.look())});
        }
        return images;
    }

    /** For tests: the picture is that of what is visible, in these colours. */
    tellColors() {
        this.surface.frame.dataset.colors = this.state.get('color');
    }

    /** Gives the pictures the present colours. */
    recolor() {
        const {surface} = this;
        this.recoloring = true;
        delete surface.frame.dataset.colors;
        this.colorist.start(this.recolorJob(), (images) => {
            this.recoloring = false;
            for (const {name, raster, image} of images) {
                if (this.pictures[name] === raster)
                    this.put(this.canvases[name], image);
            }
            if (this.pictures.now && !this.job)
                this.tellColors();
            surface.redraw();
            surface.redrawOver();
        });
    }

    drawPicture(pen, area, picture, canvas) {
        const {state} = this;
        if (!picture || picture.device !== state.get('device'))
            return;
        const x = timeScale(visibleTime(this.trace, state), area);
        const y = this.vertical.scale(area);
        const left = x(picture.from);
        const top = y(picture.placeTo);
        pen.image(canvas, left, top, x(picture.to) - left, y(picture.placeFrom) - top);
    }

    draw(pen) {
        const {trace, surface} = this;
        const area = this.plot();
        const range = visibleTime(trace, this.state);
        if (!this.blocksNow())
            return this.sayWaiting(pen, area.left + 8, area.top + 22);
        const {placeFrom, placeTo} = this.places();
        const y = this.vertical.scale(area);
        const x = timeScale(range, area);
        drawTimeGrid(pen, surface, area, range);
        drawByteGrid(pen, surface, area, byteTicks(placeFrom, placeTo, area.height), y);
        pen.clip(area.left, area.top, area.width, area.height);
        const plane = {trace, state: this.state, range, x, y};
        drawHeld(pen, surface, area, plane);
        if (!pen.finish || !drawBlockVectors(pen, surface, area, plane)) {
            if (!this.sameView(this.pictures.now, this.viewNow()))
                this.drawPicture(pen, area, this.pictures.whole, this.canvases.whole);
            this.drawPicture(pen, area, this.pictures.now, this.canvases.now);
        }
        drawBlockLabels(pen, surface, area, plane, this.pictures.now);
        pen.unclip();
        drawMissing(pen, surface, area, trace, range);
    }

    outline(pen, area, row, color, thick) {
        const {trace} = this;
        const {blocks} = trace.loaded;
        const x = timeScale(visibleTime(trace, this.state), area);
        const y = this.vertical.scale(area);
        const left = Math.max(area.left - 4, x(blocks.born[row]));
        const right = Math.min(area.left + area.width + 4, x(blocks.died[row]));
        const top = y(blocks.place[row] + blocks.bytes[row]);
        pen.frame(left - 1, top - 1, Math.max(2, right - left + 2), Math.max(2, y(blocks.place[row]) - top + 2), color, thick);
    }

    drawOver(pen) {
        const {trace, state, surface} = this;
        const area = this.plot();
        if (this.blocksNow()) {
            pen.clip(area.left, area.top, area.width, area.height);
            const selected = state.get('selected');
            if (this.pointed >= 0)
                this.outline(pen, area, this.pointed, surface.colors.ink, 1.5);
            if (selected && selected.block !== undefined && selected.block < this.blocksNow().count &&
                this.blocksNow().device[selected.block] === state.get('device'))
                this.outline(pen, area, selected.block, surface.colors.accent, 3);
            pen.unclip();
        }
        this.drawTimes(pen);
        if (this.blocksNow())
            showHeld(surface, trace, state, state.get('hover') ?? trace.cursorAt(state), this.pixelTime());
    }

    showStatus() {
        const {hits, width, height} = this.pictures.now;
        let merged = 0;
        for (let i = 0; i < hits.length; i++)
            merged += hits[i] > 1 ? 1 : 0;
        const part = merged / (width * height);
        this.status.textContent = [
            part > 0.001
                ? `In ${Math.max(1, Math.round(part * 100))} % of the pixels several blocks are merged: zoom in to see each.`
                : 'Every block in this part is drawn by itself.',
            'Wheel: time. Wheel on the axis, or Alt: address. Double click: fit the block.', missingText(this.trace),
        ].filter(Boolean).join(' ');
    }

    /** The block at a point of the window, and how many blocks its pixel stands for. */
    blockAt(clientX, clientY) {
        const {trace, state, surface} = this;
        const {blocks} = trace.loaded;
        const area = this.plot();
        const {x: px, y: py} = this.inPlot(clientX, clientY);
        if (!blocks || px < 0 || py < 0 || px >= area.width || py >= area.height)
            return {row: -1, hits: 0};
        const {from, to} = visibleTime(trace, state);
        const {placeFrom, placeTo} = this.places();
        const t = from + (to - from) * px / area.width;
        const place = placeTo - (placeTo - placeFrom) * py / area.height;
        let row = -1;
        blocks.live.visit(t, t, (i) => {
            const above = blocks.place[i] + blocks.bytes[i];
            if (blocks.device[i] === state.get('device') && blocks.place[i] <= place && place < above)
                row = i;
        });
        const picture = this.pictures.now;
        let hits = row >= 0 ? 1 : 0;
        if (this.sameView(picture, this.viewNow())) {
            const pixel = Math.min(picture.height - 1, Math.floor(py * surface.density)) * picture.width +
                Math.min(picture.width - 1, Math.floor(px * surface.density));
            hits = Math.max(hits, picture.hits[pixel]);
            row = row >= 0 ? row : picture.owner[pixel] - 1;
        }
        return {row, hits, t};
    }

    isSmall(row) {
        const {trace} = this;
        const {blocks} = trace.loaded;
        const {from, to} = visibleTime(trace, this.state);
        const {placeFrom, placeTo} = this.places();
        const area = this.plot();
        return (blocks.died[row] - blocks.born[row]) / (to - from) * area.width < 1.5 ||
            blocks.bytes[row] / (placeTo - placeFrom) * area.height < 1.5;
    }

    hoverBlock(event) {
        const {surface} = this;
        const found = event && event.buttons === 0 ? this.blockAt(event.clientX, event.clientY) : {row: -1};
        if (found.row !== this.pointed) {
            this.pointed = found.row;
            surface.redrawOver();
        }
        if (found.row < 0)
            return surface.tip.hide();
        const what = describeBlock(this.trace, found.row);
        if (found.hits > 1 && this.isSmall(found.row))
            what.note = `${formatNumber(found.hits, 'block')} are merged in this pixel, this one is the largest: ` +
                'zoom in to see each.';
        surface.tip.show(event.clientX, event.clientY, tipNode(what));
    }

    fit(row) {
        const {trace} = this;
        const {blocks} = trace.loaded;
        const end = Math.min(blocks.died[row], trace.head.duration);
        const margin = (end - blocks.born[row]) * 0.3 + 1;
        const pad = blocks.bytes[row] * 1.5;
        showTime(trace, this.state, blocks.born[row] - margin, end + margin);
        this.vertical.show(blocks.place[row] - pad, blocks.place[row] + blocks.bytes[row] + pad);
    }

    /** Selects the next block live at the cursor, by address. */
    step(direction) {
        const {trace, state} = this;
        const {blocks} = trace.loaded;
        const t = trace.cursorAt(state);
        const rows = [...trace.liveAt(t, state.get('device'))].sort((a, b) => blocks.place[a] - blocks.place[b]);
        if (!rows.length)
            return;
        const selected = state.get('selected');
        const at = rows.indexOf(selected ? selected.block : -1);
        const row = rows[(at + direction + (at < 0 && direction < 0 ? 1 : 0) + rows.length) % rows.length];
        state.set({selected: {block: row}});
        const what = describeBlock(trace, row);
        this.surface.say(`${what.title}. ${what.facts.map(([label, text]) => `${label} ${text}`).join(', ')}`);
    }

    onMapKey(event) {
        const {state} = this;
        if (event.ctrlKey || event.metaKey || event.altKey || !this.blocksNow())
            return false;
        const selected = state.get('selected');
        const keys = {
            ArrowUp: () => event.shiftKey ? this.vertical.zoom(1 / 1.5, 0.5) : this.vertical.pan(0.1),
            ArrowDown: () => event.shiftKey ? this.vertical.zoom(1.5, 0.5) : this.vertical.pan(-0.1),
            '.': () => this.step(1),
            ',': () => this.step(-1),
            z: () => selected && selected.block !== undefined && this.fit(selected.block),
            Escape: () => state.set({selected: null}),
        };
        if (!Object.hasOwn(keys, event.key))
            return false;
        keys[event.key]();
        return true;
    }

    rows() {
        const {trace, state} = this;
        const {from, to} = visibleTime(trace, state);
        const {placeFrom, placeTo} = this.places();
        const {blocks} = trace.loaded;
        const header = ['block', 'born_ns', 'freed_ns', 'bytes', 'place', 'call site', 'kind', 'phase'];
        const grouping = groupBlocks(trace, 'phase');
        const rows = blocks ? [...trace.overlapping(from, to, state.get('device'))].filter((i) =>
            blocks.place[i] < placeTo && blocks.place[i] + blocks.bytes[i] > placeFrom).slice(0, ROWS_MAX) : [];
        return [header, ...rows.map((i) => [i, blocks.born[i], blocks.died[i] === Infinity ? '' : blocks.died[i],
            blocks.bytes[i], blocks.place[i], trace.head.sites[blocks.site[i]].label,
            trace.head.kinds[blocks.kind[i]] || '', grouping.names[blocks.phase[i]]])];
    }

    destroy() {
        this.colorist.stop();
        super.destroy();
    }
}

export const mountBlockmap = (element, context) => new BlockmapView(element, context);
