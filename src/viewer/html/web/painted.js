/* SPDX-License-Identifier: Apache-2.0
 *
 * A view of blocks whose picture is painted pixel by pixel in slices: the block map and the stack. While a
 * gesture runs, the latest picture is moved and scaled, over that of the whole trace where it does not
 * reach; the exact one follows. A click selects the block under the pointer, a double click fits it. */
import {tipNode} from './surface.js';
import {ChartView} from './view.js';
import {bindTimeAxis, showTime, visibleTime} from './viewport.js';
import {timeScale} from './timegrid.js';
import {describeBlock} from './describe.js';
import {colorRaster} from './raster.js';
import {upperBound} from './liveindex.js';
import {briefBlock, dimmedRows} from './blockdraw.js';

const LONG_ROWS = 300000; // blocks of a picture that takes many frames
const CLICKED_APART = 0.3; // of a block's lifetime, beside it when it is fitted

/** A view has vertical (createByteAxis), rasterJob(view, spare), bandAt(clientX, clientY): {row, note}, bandOf(row):
 * {low, high}, outline(pen, area, row, color, thick), order(rows), showStatus(). */
export class PaintedView extends ChartView {
    constructor(element, context, options) {
        super(element, context, options);
        this.colorist = this.makePainter();
        this.recoloring = false;
        this.canvases = {now: document.createElement('canvas'), whole: document.createElement('canvas')};
        this.pictures = {now: null, whole: null, spare: null}; // rasters whose colours are in these canvases
        this.job = null; // the view that is being painted
        this.margin = 0; // painted beside what is visible, as a part of it
        this.pointed = -1; // the block under the pointer
        this.lastSite = undefined;
    }

    /** Connects the gestures, when the view has its axes. @param {Object} [more] of bindTimeAxis */
    bind(more = {}) {
        const {state, surface} = this;
        this.axis = bindTimeAxis(this.trace, state, {
            frame: surface.frame, plot: () => this.plot(), vertical: this.vertical, key: (event) => this.onBlockKey(event),
            hover: (event) => this.hoverBlock(event),
            click: (event) => {
                const {row} = this.bandAt(event.clientX, event.clientY);
                this.setCursor(event, {selected: row >= 0 ? {[this.what()]: row} : null});
            }, ...more,
        });
        surface.frame.addEventListener('dblclick', (event) => {
            const {row} = this.bandAt(event.clientX, event.clientY);
            if (row >= 0)
                this.fit(row);
        });
        this.state.subscribe(['color', 'search', 'selected'], (keys) => {
            const site = state.get('selected') && state.get('selected').site;
            if (keys.has('color') || keys.has('search') || site !== this.lastSite)
                this.recolor();
            this.lastSite = site;
            surface.redrawOver();
        });
        this.state.subscribe(['cursor', 'cursor2', 'hover'], surface.redrawOver);
    }

    /** What the bands are of: 'block', or 'segment'. */
    what() {
        return 'block';
    }

    blocksNow() {
        return this.trace.loaded.blocks;
    }

    /** The rows that are dimmed, as a function; null: none. */
    dim() {
        return dimmedRows(this.trace, this.state);
    }

    /** Forgets all pictures: the rows are others. */
    restart() {
        this.painter.stop();
        this.colorist.stop();
        Object.assign(this, {job: null, pointed: -1, recoloring: false, pictures: {now: null, whole: null, spare: null}});
        this.redrawAll();
    }

    /** What is visible of the blocks; null: the page has none of them. */
    viewNow() {
        const {state, surface} = this;
        const {placeFrom, placeTo} = this.vertical.now();
        const range = this.blockRange(visibleTime(this.trace, state));
        const {width, height} = this.plot();
        return range && {...range, placeFrom, placeTo, device: state.get('device'), density: surface.density,
            unit: this.pixelTime() / surface.density, width: Math.max(1, Math.round(width * surface.density)),
            height: Math.max(1, Math.round(height * surface.density))};
    }

    blockRange(range) {
        return range;
    }

    /** Whether a picture shows all of a view, pixel by pixel. */
    fits(picture, view) {
        return picture && view && picture.from <= view.from && picture.to >= view.to &&
            Math.abs(picture.unit / view.unit - 1) < 1e-6 &&
            ['placeFrom', 'placeTo', 'height'].every((key) => picture[key] === view[key]);
    }

    /** Paints what is visible now. A job for another view is finished first, unless it is a long one: its
     * picture is nearer to what is visible than the one before. */
    refresh() {
        const view = this.blocksNow() && this.surface.width ? this.viewNow() : null;
        if (!view || this.fits(this.job, view) || (!this.job && this.fits(this.pictures.now, view)))
            return;
        const {born} = this.blocksNow();
        if (this.margin) {
            const beside = (view.to - view.from) * this.margin;
            Object.assign(view, this.blockRange({from: Math.max(0, view.from - beside),
                to: Math.min(Math.max(1, this.trace.head.duration), view.to + beside)}));
            view.width = Math.max(1, Math.round((view.to - view.from) / view.unit));
        }
        view.rows = upperBound(born, view.to) - upperBound(born, view.from);
        if (this.job && (this.job.rows < LONG_ROWS || view.rows > this.job.rows / 4))
            return;
        this.job = view;
        delete this.surface.frame.dataset.colors;
        this.painter.start(this.paintJob(view), (painted) => this.onPainted(painted));
    }

    *paintJob(view) {
        const raster = yield* this.rasterJob(view, this.pictures.spare);
        this.pictures.spare = null;
        const key = this.colorKey();
        const grouping = this.grouping();
        const image = yield* colorRaster(raster, grouping, grouping.colors(this.surface.theme), this.look());
        return {raster, image, key};
    }

    onPainted({raster, image, key}) {
        this.job = null;
        this.pictures.spare = this.pictures.now !== this.pictures.whole ? this.pictures.now : null;
        this.pictures.now = raster;
        this.put('now', image);
        const all = this.blockRange({from: 0, to: Math.max(1, this.trace.head.duration)});
        if (raster.from <= all.from && raster.to >= all.to && raster.placeTo - raster.placeFrom >= this.vertical.now().end * 0.999) {
            this.pictures.whole = raster;
            this.put('whole', image);
        }
        this.surface.redraw();
        this.surface.redrawOver();
        this.showStatus();
        if (this.recoloring || key !== this.colorKey())
            this.recolor(); // from the pictures that there are now
        else
            this.tellColors();
        this.refresh();
    }

    /** What the colours of a picture depend on. */
    colorKey() {
        const {state} = this;
        return JSON.stringify([state.get('color'), state.get('search'), (state.get('selected') || {}).site]);
    }

    look() {
        const {surface} = this;
        const hex = (color) => /^#[0-9a-f]{6}$/i.test(color) ? color : surface.theme === 'dark' ? '#1a1f28' : '#ffffff';
        return {panel: hex(surface.colors.panel), ink: hex(surface.colors.ink), dim: this.dim()};
    }

    put(name, image) {
        Object.assign(this.canvases[name], {width: image.width, height: image.height});
        this.canvases[name].getContext('2d').putImageData(image, 0, 0);
    }

    /** For tests: the picture is that of what is visible, in these colours. */
    tellColors() {
        const axis = this.trace === this.trace.source ? 'time' : 'events';
        Object.assign(this.surface.frame.dataset, {colors: this.state.get('color'), axis});
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

    /** Gives the pictures the present colours. */
    recolor() {
        const {surface} = this;
        if (!this.blocksNow())
            return;
        this.recoloring = true;
        delete surface.frame.dataset.colors;
        this.colorist.start(this.recolorJob(), (images) => {
            this.recoloring = false;
            for (const {name, raster, image} of images) {
                if (this.pictures[name] === raster)
                    this.put(name, image);
            }
            if (this.pictures.now && !this.job)
                this.tellColors();
            surface.redraw();
            surface.redrawOver();
        });
    }

    /** Draws the latest picture, and beside it that of the whole trace. */
    drawPictures(pen, area) {
        const {now, whole} = this.pictures;
        const x = timeScale(visibleTime(this.trace, this.state), area);
        const y = this.vertical.scale(area);
        const right = area.left + area.width;
        const draw = (name, from, to) => {
            const picture = this.pictures[name];
            const [a, b] = [Math.max(area.left, from), Math.min(right, to)];
            if (!picture || b <= a)
                return;
            pen.clip(a, area.top, b - a, area.height);
            pen.image(this.canvases[name], x(picture.from), y(picture.placeTo), x(picture.to) - x(picture.from),
                y(picture.placeFrom) - y(picture.placeTo));
            pen.unclip();
        };
        const known = now && now.placeFrom <= this.vertical.now().placeFrom;
        const [from, to] = known ? [x(now.from), x(now.to)] : [right, right];
        if (whole !== now) {
            draw('whole', area.left, from);
            draw('whole', to, right);
        }
        draw('now', area.left, right);
    }

    /** The outlines of the block under the pointer and of the selected one. */
    drawOutlines(pen, area) {
        const {state, surface} = this;
        const {[this.what()]: row} = state.get('selected') || {};
        const {count, device} = this.blocksNow();
        pen.clip(area.left, area.top, area.width, area.height);
        if (this.pointed >= 0)
            this.outline(pen, area, this.pointed, surface.colors.ink, 1.5);
        if (row !== undefined && row < count && device[row] === state.get('device'))
            this.outline(pen, area, row, surface.colors.accent, 3);
        pen.unclip();
    }

    hoverBlock(event) {
        const {surface} = this;
        const {row, note = ''} = event && event.buttons === 0 ? this.bandAt(event.clientX, event.clientY) : {row: -1};
        if (row !== this.pointed) {
            this.pointed = row;
            surface.redrawOver();
        }
        if (row < 0)
            return surface.tip.hide();
        surface.tip.show(event.clientX, event.clientY, tipNode({...this.brief(row), note}));
    }

    brief(row) {
        return briefBlock(this.trace.source, row);
    }

    describe(row) {
        return describeBlock(this.trace.source, row);
    }

    /** Shows a block alone, with a little around it. */
    fit(row) {
        const {trace} = this;
        const {born, died, bytes} = this.blocksNow();
        const end = Math.min(died[row], trace.head.duration);
        const margin = (end - born[row]) * CLICKED_APART + 1;
        const {low, high} = this.bandOf(row);
        const pad = Math.max(0, bytes[row] * 4 - (high - low)) / 2 + bytes[row] * 0.2;
        showTime(trace, this.state, born[row] - margin, end + margin);
        this.vertical.show(low - pad, high + pad);
    }

    /** Selects the next block that is live at the cursor, in the order of the view. */
    step(direction) {
        const {trace, state} = this;
        const {live, device} = this.blocksNow();
        const t = trace.cursorAt(state);
        const rows = this.order([...live.collect(t, t, (i) => device[i] === state.get('device'))]);
        if (!rows.length)
            return;
        const selected = state.get('selected');
        const at = rows.indexOf(selected ? selected[this.what()] : -1);
        const row = rows[(at + direction + (at < 0 && direction < 0 ? 1 : 0) + rows.length) % rows.length];
        state.set({selected: {[this.what()]: row}});
        const what = this.describe(row);
        this.surface.say(`${what.title}. ${what.facts.map(([label, text]) => `${label} ${text}`).join(', ')}`);
    }

    onBlockKey(event) {
        const {state} = this;
        if (event.ctrlKey || event.metaKey || event.altKey || !this.blocksNow())
            return false;
        const selected = state.get('selected');
        const keys = {
            ArrowUp: () => event.shiftKey ? this.vertical.zoom(1 / 1.5, 0.5) : this.vertical.pan(0.1),
            ArrowDown: () => event.shiftKey ? this.vertical.zoom(1.5, 0.5) : this.vertical.pan(-0.1),
            '.': () => this.step(1),
            ',': () => this.step(-1),
            z: () => selected && selected[this.what()] !== undefined && this.fit(selected[this.what()]),
            Escape: () => state.set({selected: null}),
        };
        if (!Object.hasOwn(keys, event.key))
            return false;
        keys[event.key]();
        return true;
    }

    /** Resolves when what is visible has been painted. */
    async ready() {
        const rows = this.blocksNow();
        if (rows)
            await rows.live.deaths();
        await super.ready();
    }
}
