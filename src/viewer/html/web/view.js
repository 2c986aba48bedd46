/* SPDX-License-Identifier: Apache-2.0
 *
 * What the views on a surface share: its drawing, the painter of what takes long, and what of the state
 * and the trace they follow. A view has draw(pen), and may have drawOver(pen) and refresh(). */
import {createPainter} from './slices.js';
import {createSurface} from './surface.js';
import {groupBlocks} from './grouping.js';
import {AXIS_HEIGHT, drawCursors, drawTimeMark, plotOf} from './timegrid.js';
import {visibleTime} from './viewport.js';

/** A view of a trace and a device, in a theme, until its state ends. It has svg(): string and rows(): Array[]. */
export class ChartView {
    /** @param {HTMLElement} element @param {{trace: Object, other: Object, state: Object}} context
     * @param {Object} options of createSurface, but for draw, drawOver and onSize */
    constructor(element, {trace, state}, options) {
        this.trace = trace;
        this.state = state;
        this.label = options.label;
        this.painters = [];
        this.painter = this.makePainter();
        this.surface = createSurface(element, state, {...options, draw: (pen) => this.draw(pen),
            drawOver: (pen) => this.drawOver(pen), onSize: () => this.refresh()});
    }

    plot() {
        return plotOf(this.surface, 8, AXIS_HEIGHT);
    }

    /** Where in the plot a point of the window is, in pixels. */
    inPlot(clientX, clientY) {
        const box = this.surface.frame.getBoundingClientRect();
        const {left, top} = this.plot();
        return {x: clientX - box.left - left, y: clientY - box.top - top};
    }

    grouping() {
        return groupBlocks(this.trace, this.state.get('color'));
    }

    /** Says what the view waits for, or why it stays empty. */
    sayWaiting(pen, left, y, what = 'blocks') {
        const {colors} = this.surface;
        const {blocks, error} = this.trace.loaded;
        pen.text(left, y, error ? `The ${what} cannot be shown: ${error.message}`
            : blocks ? 'Adding up the blocks…' : 'Reading the blocks…', error ? colors.danger : colors.muted, {size: 13});
    }

    makePainter() {
        const painter = createPainter();
        this.state.ended(painter.stop);
        this.painters.push(painter);
        return painter;
    }

    /** Draws anew when the sections *names* of the trace are there, or cannot be read. */
    followTrace(...names) {
        for (const name of names)
            this.trace[name].then(() => this.redrawAll(), () => this.redrawAll());
    }

    /** A click on the time axis. @param {Object} [more] what else changes */
    setCursor(event, more = {}) {
        this.state.set({cursor: Math.max(0, this.axis.timeAt(event.clientX)), cursor2: null, ...more});
    }

    /** The cursors, and the crosshair with its time. */
    drawTimes(pen) {
        const area = this.plot();
        drawCursors(pen, this.surface, area, this.trace, this.state);
        drawTimeMark(pen, this.surface, area, this.trace, this.state);
    }

    pixelTime() {
        const {from, to} = visibleTime(this.trace, this.state);
        return (to - from) / this.plot().width;
    }

    /** Starts what the picture of what is visible needs. */
    refresh() {}

    redrawAll() {
        this.surface.redraw();
        this.surface.redrawOver();
        this.refresh();
    }

    /** Resolves when what is visible is exact. */
    ready() {
        return Promise.all(this.painters.map((painter) => painter.idle()));
    }

    svg() {
        return this.surface.toSvg(this.label);
    }
}
