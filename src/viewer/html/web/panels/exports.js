/* SPDX-License-Identifier: Apache-2.0
 *
 * The visible part of a view as a file: SVG, PNG (drawn from the SVG) or CSV. Nothing leaves the
 * browser: files are made in memory and saved as downloads. */
import {printable} from '../format.js';

const PNG_SCALE = 2;
const STARTS_FORMULA = /^[=+\-@\t\r\n]/;

/** One field of CSV: quoted where needed; text that a spreadsheet would run as a formula gets an
 * apostrophe in front, numbers stay as they are. @param {any} value @returns {string} */
export function csvField(value) {
    if (typeof value === 'number')
        return Number.isFinite(value) ? String(value) : '';
    let text = value === null || value === undefined ? '' : String(value);
    if (STARTS_FORMULA.test(text))
        text = `'${text}`;
    return /[",\r\n\t\u0000]/.test(text) || text !== text.trim() ? `"${text.replace(/\u0000/g, '\\x00').replace(/"/g, '""')}"` : text;
}

/** @param {Array[]} rows the first is the header @returns {string} */
export function csvText(rows) {
    return rows.map((row) => row.map(csvField).join(',')).join('\r\n') + '\r\n';
}

function save(blob, name) {
    const address = URL.createObjectURL(blob);
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Draws SVG text on a canvas. @param {string} text @returns {Promise<Blob>} */
export async function pngOf(text) {
    const address = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
    try {
        const image = new Image();
        image.src = address;
        await image.decode();
        const canvas = document.createElement('canvas');
        canvas.width = Math.max(1, Math.round(image.naturalWidth * PNG_SCALE));
        canvas.height = Math.max(1, Math.round(image.naturalHeight * PNG_SCALE));
        const draw = canvas.getContext('2d');
        draw.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--panel').trim();
        draw.fillRect(0, 0, canvas.width, canvas.height);
        draw.drawImage(image, 0, 0, canvas.width, canvas.height);
        const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
        if (!blob)
            throw new Error(`the picture has ${canvas.width} × ${canvas.height} pixels, too many for a PNG: ` +
                'make the window smaller, or export SVG');
        return blob;
    } finally {
        URL.revokeObjectURL(address);
    }
}

/** Saves a view when it is complete.
 * @param {{svg: function(): string, rows: function(): Array[], ready?: function(): Promise<void>}} view
 * @param {string} name of the file without ending @param {string} format svg, png, csv
 * @returns {Promise<void>} rejected with a message for the reader */
export async function exportView(view, name, format) {
    const file = `${printable(name).replace(/[^\w.-]+/g, '-').slice(0, 80)}.${format}`;
    if (view.ready)
        await view.ready();
    if (format === 'csv')
        save(new Blob(['\ufeff', csvText(view.rows())], {type: 'text/csv'}), file);
    else if (format === 'svg')
        save(new Blob([view.svg()], {type: 'image/svg+xml'}), file);
    else
        save(await pngOf(view.svg()), file);
}
