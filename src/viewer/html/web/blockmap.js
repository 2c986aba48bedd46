/* SPDX-License-Identifier: Apache-2.0
 *
 * Every block as a rectangle of time × address, coloured by call site, phase, kind and so on. While a
 * gesture runs, the latest picture is moved and scaled; the exact one follows in slices (raster.js).
 * Blocks smaller than a pixel are counted, said at the pointer, and unfold on zooming. */
import {make} from './dom.js';
import {PaintedView} from './painted.js';
import {byteTicks, createByteAxis, extentOf, visibleTime} from './viewport.js';
import {drawByteGrid, drawMissing, drawTimeGrid, missingText, timeScale} from './timegrid.js';
import {groupBlocks} from './grouping.js';
import {rasterize} from './raster.js';
import {drawBlockLabels, drawBlockVectors, drawHeld, showHeld} from './blockdraw.js';
import {formatNumber} from './format.js';

const BLOCKMAP_HEIGHT = 420;
const ROWS_MAX = 200000;

class BlockmapView extends PaintedView {
    constructor(element, context) {
        super(element, context, {label: 'Blocks over time and address', height: BLOCKMAP_HEIGHT, legend: true});
        const {trace, state} = context;
        this.status = make('div.v-bar.v-status');
        this.surface.legend.classList.add('v-legend-chosen');
        element.append(this.status);
        this.vertical = createByteAxis(state, 'placeFrom', 'placeTo', () => extentOf(trace, state.get('device')));
        this.bind();
        this.state.subscribe(['from', 'to', 'placeFrom', 'placeTo'], () => this.redrawAll());
        this.followTrace('blocks', 'segments', 'steps');
    }

    rasterJob(view, spare) {
        return rasterize(this.blocksNow(), view, spare);
    }

    bandOf(row) {
        const {place, bytes} = this.blocksNow();
        return {low: place[row], high: place[row] + bytes[row]};
    }

    order(rows) {
        const {place} = this.blocksNow();
        return rows.sort((a, b) => place[a] - place[b]);
    }

    draw(pen) {
        const {trace, surface} = this;
        const area = this.plot();
        const range = visibleTime(trace, this.state);
        if (!this.blocksNow())
            return this.sayWaiting(pen, area.left + 8, area.top + 22);
        const {placeFrom, placeTo} = this.vertical.now();
        const y = this.vertical.scale(area);
        const x = timeScale(range, area);
        drawTimeGrid(pen, surface, area, range, trace.ticks);
        drawByteGrid(pen, surface, area, byteTicks(placeFrom, placeTo, area.height), y);
        pen.clip(area.left, area.top, area.width, area.height);
        const plane = {trace, state: this.state, range, x, y};
        drawHeld(pen, surface, area, plane);
        if (!pen.finish || !drawBlockVectors(pen, surface, area, plane))
            this.drawPictures(pen, area);
        drawBlockLabels(pen, surface, area, plane, this.pictures.now, this.grouping(), this.dim());
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
        if (this.blocksNow())
            this.drawOutlines(pen, this.plot());
        this.drawTimes(pen);
        if (this.blocksNow())
            showHeld(surface, surface.legend, trace, state);
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

    /** The block at a point of the window; note: how many blocks its pixel stands for. */
    bandAt(clientX, clientY) {
        const {trace, state, surface} = this;
        const {blocks} = trace.loaded;
        const area = this.plot();
        const {x: px, y: py} = this.inPlot(clientX, clientY);
        if (!blocks || px < 0 || py < 0 || px >= area.width || py >= area.height)
            return {row: -1};
        const {from, to} = visibleTime(trace, state);
        const {placeFrom, placeTo} = this.vertical.now();
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
        if (this.fits(picture, this.viewNow())) {
            const pixel = Math.min(picture.height - 1, Math.floor(py * surface.density)) * picture.width +
                Math.min(picture.width - 1, Math.floor(px * surface.density));
            hits = Math.max(hits, picture.hits[pixel]);
            row = row >= 0 ? row : picture.owner[pixel] - 1;
        }
        return {row, note: row >= 0 && hits > 1 && this.isSmall(row)
            ? `${formatNumber(hits, 'block')} in this pixel, this one is the largest: zoom in.` : ''};
    }

    isSmall(row) {
        const {trace} = this;
        const {blocks} = trace.loaded;
        const {from, to} = visibleTime(trace, this.state);
        const {placeFrom, placeTo} = this.vertical.now();
        const area = this.plot();
        return (blocks.died[row] - blocks.born[row]) / (to - from) * area.width < 1.5 ||
            blocks.bytes[row] / (placeTo - placeFrom) * area.height < 1.5;
    }

    rows() {
        const [trace, state] = [this.trace.source, this.state.source];
        const {from, to} = visibleTime(trace, state);
        const {placeFrom, placeTo} = this.vertical.now();
        const {blocks} = trace.loaded;
        const header = ['block', 'born_ns', 'freed_ns', 'bytes', 'place', 'call site', 'kind', 'phase'];
        const grouping = groupBlocks(trace, 'phase');
        const rows = blocks ? [...trace.overlapping(from, to, state.get('device'))].filter((i) =>
            blocks.place[i] < placeTo && blocks.place[i] + blocks.bytes[i] > placeFrom).slice(0, ROWS_MAX) : [];
        return [header, ...rows.map((i) => [i, blocks.born[i], blocks.died[i] === Infinity ? '' : blocks.died[i],
            blocks.bytes[i], blocks.place[i], trace.head.sites[blocks.site[i]].label,
            trace.head.kinds[blocks.kind[i]] || '', grouping.names[blocks.phase[i]]])];
    }
}

export const mountBlockmap = (element, context) => new BlockmapView(element, context);
