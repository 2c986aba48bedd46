/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds blocks by what a reader types: ">100M", "4k..64k" (sizes), "0x7f12c0000000" (an address in the block),
 * and words of the call site, its stack, the kind or the phase. Of several, separated by spaces, all must hold. */
import {matchSites, phaseName} from './grouping.js';
import {blockAddress} from './life.js';

const SIZE = /^(\d+(?:\.\d+)?)(?:([kmgt])?(?:ib|b)?)$/i;
const SIZE_LETTERS = ' kmgt';

/** "100M" in bytes, with units of 1024; NaN: no size. */
function sizeOf(text) {
    const match = SIZE.exec(text);
    return match ? Number(match[1]) * 1024 ** SIZE_LETTERS.indexOf((match[2] || ' ').toLowerCase()) : NaN;
}

/** [lowest, highest] size of a term such as ">100M", or null. */
function sizeRange(term) {
    const [, sign, text] = /^(>=|<=|>|<|=)(.+)$/.exec(term) || [];
    const [low, high] = sign ? [sizeOf(text), sizeOf(text)] : term.split('..').map(sizeOf);
    if (Number.isNaN(low) || !(high >= low))
        return null;
    return {'>': [low + 1, Infinity], '>=': [low, Infinity], '<': [0, low - 1], '<=': [0, low]}[sign] || [low, high];
}

function testOf(trace, term) {
    const {head, loaded: {blocks, lives}} = trace;
    const range = sizeRange(term);
    if (range)
        return (row) => blocks.bytes[row] >= range[0] && blocks.bytes[row] <= range[1];
    if (/^0x[0-9a-f]+$/i.test(term)) {
        const above = (row) => Number(term) - (blockAddress(trace, lives || {}, row) || Infinity);
        return (row) => above(row) >= 0 && above(row) < blocks.bytes[row];
    }
    const holds = (name) => name.toLowerCase().includes(term.toLowerCase());
    const sites = matchSites(trace, term);
    const kinds = head.kinds.map(holds);
    const phases = ['', ...head.phases.map((_, i) => phaseName(head, i + 1))].map(holds);
    return (row) => sites[blocks.site[row]] || kinds[blocks.kind[row]] || phases[blocks.phase[row]];
}

/** Whether a block is what *text* looks for, as a function of its row; null: no text. Kept for the next call.
 * @param {Object} trace with loaded blocks, and for addresses lives @param {string} text @returns {(function(number): boolean)|null} */
export function matchBlocks(trace, text) {
    const wanted = text.replace(/([<>=])\s+(?=\d)/g, '$1').trim();
    if (!wanted)
        return null;
    const {blocks, lives} = trace.loaded;
    if (!trace.found || trace.found.wanted !== wanted || trace.found.blocks !== blocks || trace.found.lives !== lives) {
        const tests = wanted.split(/\s+/).map((term) => testOf(trace, term));
        trace.found = {wanted, blocks, lives, test: (row) => tests.every((test) => test(row))};
    }
    return trace.found.test;
}

/** The rows of a device's blocks that *text* finds, in order of birth; their bytes.
 * @returns {{rows: Uint32Array, bytes: number}} */
export function findBlocks(trace, text, device) {
    const {blocks} = trace.loaded;
    const test = matchBlocks(trace, text);
    const rows = [];
    let bytes = 0;
    for (let row = 0; test && row < blocks.count; row++) {
        if (blocks.device[row] === device && blocks.died[row] > blocks.born[row] && test(row)) { // 0 ns: a segment's memory
            rows.push(row);
            bytes += blocks.bytes[row];
        }
    }
    return {rows: Uint32Array.from(rows), bytes};
}
