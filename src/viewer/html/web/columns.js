/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of numbers from the elements of the page: a raw deflate stream in each; joined,
 * they are the columns one after another (head.sections has names, types and sizes). Types: u8,
 * varint (LEB128), delta (zigzag LEB128 of the difference to the value before), f64, and planes (docs/internals/
 * view-format.md). Decoding yields to the event loop. */
import {inSlices, turn} from './slices.js';

const VALUES_PER_CALL = 1 << 15;
const ESCAPED = [0, 8, 9, 10, 11, 12, 13, 26, 27, 34, 38, 60, 62, 127]; // characters that a page cannot have (page_column.c)
const COLUMN_ARRAYS = {
    born: Float64Array, lived: Float64Array, bytes: Float64Array, place: Float64Array,
    address: Float64Array, start: Float64Array, duration: Float64Array, waste: Float64Array,
    kind: Uint8Array, family: Uint8Array, type: Uint8Array, device: Uint8Array, depth: Uint8Array,
    stream: Uint32Array, pool: Float64Array,
    freed_phase: Uint32Array, freed_by: Uint32Array, module: Uint32Array, tensor: Uint32Array, site: Uint32Array, segment: Uint32Array, phase: Uint32Array, step: Uint32Array, name: Uint32Array,
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

/** The bytes of an element's text: 7 bits in each character, above U+0100 an escaped value and the one after it; first
 * their count. */
function bytesOfText(text) {
    const bytes = new Uint8Array(text.length * 7 / 4 + 1);
    let [bits, have, at, second] = [0, 0, 0, -1];
    for (let i = 0; i < text.length || second >= 0;) {
        let value = second;
        if (second >= 0) {
            second = -1;
        } else {
            value = text.charCodeAt(i++);
            if (value > 127) {
                second = value & 127;
                value = ESCAPED[(value - 256) >> 7];
            }
        }
        bits = bits << 7 | value;
        have += 7;
        if (have > 7)
            bytes[at++] = bits >> (have -= 8);
    }
    return bytes.subarray(4, 4 + new DataView(bytes.buffer).getUint32(0));
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

function undoZigzag(out, from, to) {
    for (let i = from; i < to; i++) {
        const coded = out[i];
        const short = coded | 0; // most: 32 bits, without the slow remainder of floating point
        out[i] = short === coded ? short >> 1 ^ -(short & 1) : coded % 2 ? -(coded + 1) / 2 : coded / 2;
    }
}

function addDeltas(out, from, to) {
    let value = from ? out[from - 1] : 0;
    for (let i = from; i < to; i++)
        out[i] = value += out[i];
}

/** Bytes of *column* from *at* on, a plane after the other: the lowest bytes of all values first. */
async function addPlanes({planes = []}, bytes, at, out) {
    let unit = 1;
    for (const count of planes) {
        const begin = at;
        const factor = unit;
        await inSlices(count, VALUES_PER_CALL * 4, (from, to) => {
            for (let i = from; i < to; i++)
                out[i] += bytes[begin + i] * factor;
        });
        at += count;
        unit *= 256;
    }
    return at;
}

async function decodeColumn(column, bytes, at) {
    const {type, count} = column;
    const end = at + column.bytes;
    if (type === 'u8')
        return bytes.slice(at, end);
    if (type === 'f64')
        return new Float64Array(bytes.slice(at, end).buffer);
    const [how, what] = type.split('_');
    const signed = how === 'delta' || what;
    if (!['varint', 'delta', 'planes'].includes(how))
        throw new Error(`column ${column.name} has the unknown type ${type}`);
    const Out = signed ? Float64Array : COLUMN_ARRAYS[column.name] || Float64Array;
    const out = new Out(count);
    if (how === 'planes')
        at = await addPlanes(column, bytes, at, out);
    await inSlices(count, VALUES_PER_CALL, (from, to) => {
        if (how !== 'planes')
            at = decodeVarints(bytes, at, out, from, to);
        if (signed)
            undoZigzag(out, from, to);
        if (how === 'delta' || what === 'delta')
            addDeltas(out, from, to);
    });
    if (at !== end)
        throw new Error(`column ${column.name} is damaged`);
    return out;
}

/** Of blocks: died from the rows born in between, and what follows from where the block was that was freed last before
 * each. */
async function followFrees(table, names) {
    const {count, born, kept, after} = table;
    const died = table.died = after;
    const last = new Uint32Array(count + 1); // row + 1 of the last block freed before the birth of each row
    await inSlices(count, VALUES_PER_CALL, (from, to) => {
        for (let i = from; i < to; i++) {
            const next = i + kept[i];
            died[i] = kept[i] ? born[next - 1] + after[i] : Infinity;
            if (kept[i] && died[i] > born[i] && (!last[next] || died[i] >= died[last[next] - 1]))
                last[next] = i + 1;
        }
    });
    for (const name of names) {
        const values = new COLUMN_ARRAYS[name](count);
        const steps = table[name];
        let freed = 0;
        await inSlices(count, VALUES_PER_CALL, (from, to) => {
            for (let i = from; i < to; i++) {
                freed = last[i] || freed;
                values[i] = freed ? steps[i] + values[freed - 1] : steps[i];
            }
        });
        table[name] = values;
    }
    delete table.after;
    delete table.kept;
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
    if (table.kept)
        await followFrees(table, section.columns.filter(({type}) => type === 'planes_freed').map(({name}) => name));
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
        const element = await elementRead(page, `${prefix}${name}${section.chunks > 1 ? `.${i}` : ''}`);
        if (!element)
            throw new Error(`the page lacks its section ${name}: it was cut off; write it again`);
        packed.push(bytesOfText(element.textContent));
        await turn();
    }
    return decodeSection(section, packed);
}
