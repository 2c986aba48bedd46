/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of numbers from the elements of the page: base64 of a raw deflate stream in each; joined,
 * they are the columns one after another (head.sections has names, types and sizes). Types: u8,
 * varint (LEB128), delta (zigzag LEB128 of the difference to the value before), f64. Decoding yields
 * to the event loop. */
import {inSlices, turn} from './slices.js';

const VALUES_PER_CALL = 1 << 15;
const COLUMN_ARRAYS = {
    born: Float64Array, lived: Float64Array, bytes: Float64Array, place: Float64Array,
    address: Float64Array, start: Float64Array, duration: Float64Array, waste: Float64Array,
    kind: Uint8Array, family: Uint8Array, type: Uint8Array, device: Uint8Array, depth: Uint8Array,
    stream: Uint32Array, pool: Float64Array,
    freed_phase: Uint32Array, freed_by: Uint32Array, site: Uint32Array, segment: Uint32Array, phase: Uint32Array, step: Uint32Array, name: Uint32Array,
};

/** The element *id* when the parser has read all of it; null if the page has none.
 * @param {Document} page @param {string} id @returns {Promise<Element|null>} */
export async function elementRead(page, id) {
    for (;;) {
        const element = page.getElementById(id);
        if (page.readyState !== 'loading' || (element && element.nextElementSibling))
            return element;
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
}

function fromBase64(text) {
    if (Uint8Array.fromBase64)
        return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}

async function inflateInto(parts, packed) {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const reader = stream.getReader();
    for (;;) {
        const {value, done} = await reader.read();
        if (done)
            return;
        parts.push(value);
    }
}

function joinBytes(parts) {
    let size = 0;
    for (const part of parts)
        size += part.length;
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
    }
    return bytes;
}

function decodeVarints(bytes, at, out, from, to) {
    for (let i = from; i < to; i++) {
        let byte = bytes[at++];
        let value = byte & 127;
        if (byte > 127) {
            byte = bytes[at++];
            value |= (byte & 127) << 7;
            if (byte > 127) {
                byte = bytes[at++];
                value |= (byte & 127) << 14;
                for (let unit = 2 ** 21; byte > 127; unit *= 128) {
                    byte = bytes[at++];
                    value += (byte & 127) * unit;
                }
            }
        }
        out[i] = value;
    }
    return at;
}

function addDeltas(out, from, to) {
    let value = from ? out[from - 1] : 0;
    for (let i = from; i < to; i++) {
        const coded = out[i];
        value += coded % 2 ? -(coded + 1) / 2 : coded / 2;
        out[i] = value;
    }
}

async function decodeColumn(column, bytes, at) {
    const {type, count} = column;
    const end = at + column.bytes;
    if (type === 'u8')
        return bytes.slice(at, end);
    if (type === 'f64')
        return new Float64Array(bytes.slice(at, end).buffer);
    if (type !== 'varint' && type !== 'delta')
        throw new Error(`column ${column.name} has the unknown type ${type}`);
    const Out = type === 'delta' ? Float64Array : COLUMN_ARRAYS[column.name] || Float64Array;
    const out = new Out(count);
    await inSlices(count, VALUES_PER_CALL, (from, to) => {
        at = decodeVarints(bytes, at, out, from, to);
        if (type === 'delta')
            addDeltas(out, from, to);
    });
    if (at !== end)
        throw new Error(`column ${column.name} is damaged`);
    return out;
}

/** Decodes the columns of a section.
 * @param {{columns: Array}} section row of head.sections @param {Uint8Array[]} packed deflate streams
 * @returns {Promise<Object<string, ArrayLike<number>>>} by name of the column, and `count` */
export async function decodeSection(section, packed) {
    const parts = [];
    for (const chunk of packed)
        await inflateInto(parts, chunk);
    const bytes = joinBytes(parts);
    const table = {count: section.columns.length ? section.columns[0].count : 0};
    let at = 0;
    for (const column of section.columns) {
        table[column.name] = await decodeColumn(column, bytes, at);
        at += column.bytes;
    }
    if (at !== bytes.length)
        throw new Error('the section has another length than its columns');
    return table;
}

/** Reads a section of the page. @param {Document} page @param {string} prefix '' or 'b.'
 * @param {string} name @param {Object} head @returns {Promise<Object>} columns; null if there is none */
export async function readSection(page, prefix, name, head) {
    const section = head.sections && head.sections[name];
    if (!section)
        return null;
    const packed = [];
    for (let i = 0; i < section.chunks; i++) {
        const single = section.chunks === 1;
        let element = await elementRead(page, single ? `${prefix}${name}` : `${prefix}${name}.${i}`);
        if (!element && single)
            element = await elementRead(page, `${prefix}${name}.0`);
        if (!element)
            throw new Error(`the page lacks its section ${name}: it was cut off; write it again`);
        packed.push(fromBase64(element.textContent));
        await turn();
    }
    return decodeSection(section, packed);
}
