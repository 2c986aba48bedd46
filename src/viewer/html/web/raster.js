/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact picture of blocks over time and address. Blocks that live at once never overlap, so every
 * pixel has a share of each block that touches it: the block with the largest share owns the pixel,
 * and the number of blocks that touch it is kept, so nothing is hidden without being counted. A
 * generator that pauses often; colours are put on afterwards, without the blocks. */

const BIG = 5; // pixels: from this width and height on a block gets an edge of its own

/** Empty arrays for a raster, those of *spare* again if they fit. */
function rasterArrays(size, spare) {
    if (spare && spare.owner.length === size) {
        for (const name of ['owner', 'share', 'filled', 'hits', 'edge'])
            spare[name].fill(0);
        return spare;
    }
    return {owner: new Uint32Array(size), share: new Float32Array(size), filled: new Float32Array(size),
        hits: new Uint32Array(size), edge: new Uint8Array(size)};
}

/** The blocks of *device* in from..to and placeFrom..placeTo on width × height pixels.
 * @param {Object} blocks with live index
 * @param {{from: number, to: number, placeFrom: number, placeTo: number, device: number,
 *          width: number, height: number}} view
 * @param {Object|null} spare a raster that is not needed any more: its arrays are used again
 * @returns {Generator<void, Object>} view with owner (row + 1; 0: nothing), share (of the owner), filled
 *   (part of the pixel that is memory in use), hits (blocks in the pixel), edge (1: border of a block) and
 *   large (rows worth a label) */
export function* rasterize(blocks, view, spare) {
    const {from, to, placeFrom, placeTo, device, width, height} = view;
    const {born, died, place, bytes, device: devices} = blocks;
    const {owner, share, filled, hits, edge} = rasterArrays(width * height, spare);
    const large = [];
    const sx = width / (to - from);
    const sy = height / (placeTo - placeFrom);

    function cover(row, x, y, part) {
        const pixel = y * width + x;
        hits[pixel]++;
        filled[pixel] += part;
        if (part > share[pixel]) {
            share[pixel] = part;
            owner[pixel] = row + 1;
        }
    }
    /** One line of pixels of a block: whole pixels between two parts of pixels. */
    function coverLine(row, y, x0, x1, first, last, part) {
        cover(row, first, y, (Math.min(x1, first + 1) - x0) * part);
        const base = y * width;
        for (let pixel = base + first + 1; pixel < base + last; pixel++) {
            hits[pixel]++;
            filled[pixel] += part;
            if (part > share[pixel]) {
                share[pixel] = part;
                owner[pixel] = row + 1;
            }
        }
        if (last > first)
            cover(row, last, y, (x1 - last) * part);
    }
    function coverEdges(first, last, top, bottom) {
        for (let x = first; x <= last; x++)
            edge[bottom * width + x] = 1;
        for (let y = top; y <= bottom; y++)
            edge[y * width + first] = 1;
    }
    function draw(row) {
        const low = place[row];
        if (devices[row] !== device || low >= placeTo || low + bytes[row] <= placeFrom)
            return;
        const x0 = Math.max(0, (born[row] - from) * sx);
        const x1 = Math.min(width, (died[row] - from) * sx);
        const y0 = Math.max(0, (placeTo - low - bytes[row]) * sy);
        const y1 = Math.min(height, (placeTo - low) * sy);
        const first = Math.min(width - 1, Math.floor(x0));
        const last = Math.max(first, Math.ceil(x1) - 1);
        const top = Math.min(height - 1, Math.floor(y0));
        const bottom = Math.max(top, Math.ceil(y1) - 1);
        for (let y = top; y <= bottom; y++)
            coverLine(row, y, x0, x1, first, last, Math.min(y1, y + 1) - Math.max(y0, y));
        if (x1 - x0 >= BIG && y1 - y0 >= BIG) {
            coverEdges(first, last, top, bottom);
            if (x1 - x0 >= 90 && y1 - y0 >= 14)
                large.push({row, from: born[row], to: died[row], low, high: low + bytes[row]});
        }
    }
    yield* blocks.live.steps(from, to, draw);
    return {...view, owner, share, filled, hits, edge, large};
}

function packColor(hex, toward, amount) {
    const channel = (color, at) => parseInt(color.slice(at, at + 2), 16);
    const mix = (at) => Math.round(channel(hex, at) * (1 - amount) + channel(toward, at) * amount);
    return (255 << 24 | mix(5) << 16 | mix(3) << 8 | mix(1)) >>> 0;
}

const SHADES = 8;

/** Colours a raster.
 * @param {Object} raster from rasterize, or of a stack, without filled @param {{of: ArrayLike<number>}} grouping
 * @param {string[]} colors of the groups @param {{panel: string, ink: string, dim: function(number): boolean}} look
 *   panel: '#rrggbb' behind the blocks; ink: of edges; dim: rows that the search leaves out
 * @returns {Generator<void, ImageData>} */
export function* colorRaster(raster, grouping, colors, {panel, ink, dim}) {
    const {width, height, owner, filled, edge} = raster;
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const tables = colors.map(() => null);
    const tableOf = (group) => {
        if (!tables[group]) {
            tables[group] = new Uint32Array(SHADES + 2);
            for (let s = 0; s < SHADES; s++)
                tables[group][s] = packColor(colors[group], panel, 0.6 * (1 - (s + 1) / SHADES));
            tables[group][SHADES] = packColor(colors[group], ink, 0.28); // an edge
            tables[group][SHADES + 1] = packColor(colors[group], panel, 0.17); // the second tone
        }
        return tables[group];
    };
    const faint = packColor(panel, ink, 0.1);
    const {of} = grouping;
    for (let i = 0; i < owner.length; i++) {
        const row = owner[i] - 1;
        if ((i & 0xffff) === 0xffff)
            yield;
        if (row < 0)
            continue;
        if (dim && dim(row)) {
            pixels[i] = faint;
            continue;
        }
        const shade = filled ? Math.min(SHADES - 1, Math.floor(filled[i] * SHADES)) : SHADES - 1;
        pixels[i] = tableOf(of[row])[edge[i] ? SHADES + edge[i] - 1 : shade];
    }
    return image;
}
