/* SPDX-License-Identifier: Apache-2.0
 *
 * One set of drawing calls for the screen and for export: canvasPen draws on a canvas, svgPen writes
 * SVG, so that an exported picture is the one on the screen. Positions are CSS pixels. Names go into
 * SVG escaped, without control characters. */
import {printable} from './format.js';

const PEN_CHARACTERS = 500;
/** The page's font, for canvas and SVG. */
export const PEN_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** Names are shown without control characters, and cut: they may have 64 KiB. */
function penText(text) {
    return text.length > PEN_CHARACTERS ? `${printable(text.slice(0, PEN_CHARACTERS))}…` : printable(text);
}

function fontOf({size = 11, weight = ''}) {
    return `${weight} ${size}px ${PEN_FONT}`.trim();
}

/** *text* in lines of at most *width* pixels, broken at spaces.
 * @param {Object} pen @param {string} text @param {number} width @param {Object} options as of pen.text
 * @returns {string[]} */
export function breakLines(pen, text, width, options) {
    const lines = [];
    let line = '';
    for (const word of text.split(' ')) {
        const longer = line ? `${line} ${word}` : word;
        if (line && pen.measure(longer, options) > width) {
            lines.push(line);
            line = word;
        } else {
            line = longer;
        }
    }
    return [...lines, line];
}

/** @param {CanvasRenderingContext2D} context scaled to CSS pixels */
export function canvasPen(context) {
    const trace = (xs, ys, count) => {
        context.beginPath();
        for (let i = 0; i < count; i++)
            context.lineTo(xs[i], ys[i]);
    };
    return {
        context,
        rect(x, y, width, height, fill, alpha = 1) {
            context.globalAlpha = alpha;
            context.fillStyle = fill;
            context.fillRect(x, y, width, height);
            context.globalAlpha = 1;
        },
        frame(x, y, width, height, color, thick = 1, dash = []) {
            context.strokeStyle = color;
            context.lineWidth = thick;
            context.setLineDash(dash);
            context.strokeRect(x, y, width, height);
            context.setLineDash([]);
        },
        line(x0, y0, x1, y1, color, thick = 1, dash = []) {
            this.path([x0, x1], [y0, y1], 2, color, thick, dash);
        },
        path(xs, ys, count, color, thick = 1, dash = []) {
            trace(xs, ys, count);
            context.strokeStyle = color;
            context.lineWidth = thick;
            context.setLineDash(dash);
            context.stroke();
            context.setLineDash([]);
        },
        polygon(xs, ys, count, fill, alpha = 1) {
            trace(xs, ys, count);
            context.globalAlpha = alpha;
            context.fillStyle = fill;
            context.fill();
            context.globalAlpha = 1;
        },
        text(x, y, text, color, options = {}) {
            context.font = fontOf(options);
            context.textAlign = options.align || 'left';
            context.textBaseline = 'alphabetic';
            if (options.halo) {
                context.strokeStyle = options.halo;
                context.lineWidth = 4;
                context.lineJoin = 'round';
                context.strokeText(penText(text), x, y);
            }
            context.fillStyle = color;
            context.fillText(penText(text), x, y);
        },
        measure(text, options = {}) {
            context.font = fontOf(options);
            return context.measureText(penText(text)).width;
        },
        clip(x, y, width, height) {
            context.save();
            context.beginPath();
            context.rect(x, y, width, height);
            context.clip();
        },
        unclip() {
            context.restore();
        },
        image(canvas, x, y, width, height) {
            context.imageSmoothingEnabled = false;
            context.drawImage(canvas, x, y, width, height);
        },
    };
}

const SVG_ESCAPES = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

function svgText(text) {
    return penText(text).replace(/[&<>"']/g, (c) => SVG_ESCAPES[c]);
}

function svgNumber(value) {
    return String(Math.round(value * 100) / 100);
}

function svgPoints(xs, ys, count) {
    const points = [];
    for (let i = 0; i < count; i++)
        points.push(`${svgNumber(xs[i])},${svgNumber(ys[i])}`);
    return points.join(' ');
}

function svgStroke(color, thick, dash) {
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    return `stroke="${svgText(color)}" stroke-width="${svgNumber(thick)}"${dashes} fill="none"`;
}

/** The calls of canvasPen, rect with a title, note(text): what a reader of the file should know, and finish(title): the text
 * of the SVG file.
 * @param {number} width @param {number} height @param {string} background */
export function svgPen(width, height, background) {
    const out = [];
    const notes = [];
    const measure = document.createElement('canvas').getContext('2d');
    let clips = 0;
    const fillOf = (fill, alpha) => `fill="${svgText(fill)}"${alpha < 1 ? ` fill-opacity="${svgNumber(alpha)}"` : ''}`;
    const box = (x, y, w, h) => `x="${svgNumber(x)}" y="${svgNumber(y)}" width="${svgNumber(Math.max(0, w))}" ` +
        `height="${svgNumber(Math.max(0, h))}"`;
    return {
        rect: (x, y, w, h, fill, alpha = 1, title = '') => out.push(`<rect ${box(x, y, w, h)} ${fillOf(fill, alpha)}` +
            (title ? `><title>${svgText(title)}</title></rect>` : '/>')),
        frame: (x, y, w, h, color, thick = 1, dash = []) =>
            out.push(`<rect ${box(x, y, w, h)} ${svgStroke(color, thick, dash)}/>`),
        line(x0, y0, x1, y1, color, thick = 1, dash = []) {
            this.path([x0, x1], [y0, y1], 2, color, thick, dash);
        },
        path: (xs, ys, count, color, thick = 1, dash = []) =>
            out.push(`<polyline points="${svgPoints(xs, ys, count)}" ${svgStroke(color, thick, dash)}/>`),
        polygon: (xs, ys, count, fill, alpha = 1) =>
            out.push(`<polygon points="${svgPoints(xs, ys, count)}" ${fillOf(fill, alpha)}/>`),
        text(x, y, text, color, options = {}) {
            const anchor = {left: 'start', center: 'middle', right: 'end'}[options.align || 'left'];
            const weight = options.weight ? ` font-weight="${options.weight}"` : '';
            const halo = options.halo ? ` paint-order="stroke" stroke="${svgText(options.halo)}" stroke-width="4"` : '';
            out.push(`<text x="${svgNumber(x)}" y="${svgNumber(y)}" font-size="${options.size || 11}"${weight}${halo} ` +
                `text-anchor="${anchor}" fill="${svgText(color)}">${svgText(text)}</text>`);
        },
        measure(text, options = {}) {
            measure.font = fontOf(options);
            return measure.measureText(penText(text)).width;
        },
        clip(x, y, w, h) {
            clips++;
            out.push(`<clipPath id="c${clips}"><rect ${box(x, y, w, h)}/></clipPath><g clip-path="url(#c${clips})">`);
        },
        unclip: () => out.push('</g>'),
        image: (canvas, x, y, w, h) => out.push(`<image ${box(x, y, w, h)} preserveAspectRatio="none" ` +
            `href="${canvas.toDataURL('image/png')}"/>`),
        note: (text) => notes.push(text),
        finish: (title) => `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
            `viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif"><title>${svgText(title)}</title>` +
            notes.map((text) => `<desc>${svgText(text)}</desc>`).join('') +
            `<rect width="100%" height="100%" fill="${svgText(background)}"/>${out.join('')}</svg>\n`,
    };
}
