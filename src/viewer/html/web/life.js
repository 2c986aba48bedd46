/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a block beyond its own row: its address, who had these addresses before and after, and
 * what its stream did last. */
import {upperBound} from './liveindex.js';

const WORK_LOOKED_AT = 1 << 16;
const WORK_TYPES = 3; // kernels, copies and memsets come first among the types

/** Memory that turned out to hold a framework's tensors: a segment has it instead. */
export function isPlaceholder({head, loaded: {blocks}}, row) {
    return blocks.died[row] === blocks.born[row] && !blocks.segment[row] && head.devices[blocks.device[row]].framework &&
        head.kinds[blocks.kind[row]] === 'no tensors';
}

/** The address of a block; 0 where it has none. @param {Object} lives of trace.lives() */
export function blockAddress(trace, lives, row) {
    const {blocks, segments} = trace.loaded;
    const segment = blocks.segment ? blocks.segment[row] : 0;
    if (segment && segments && segment <= segments.count)
        return segments.address[segment - 1] + blocks.place[row] - segments.place[segment - 1];
    return segment || !lives.address ? 0 : lives.address[row];
}

/** The blocks that had an address of block *row* last before it, and first after it; -1: none.
 * @returns {{before: number, after: number}} */
export function neighboursOf(trace, lives, row) {
    const {born, died, bytes, device, count} = trace.loaded.blocks;
    const start = blockAddress(trace, lives, row);
    const end = start + bytes[row];
    const shares = (i) => {
        const address = device[i] === device[row] && !isPlaceholder(trace, i) ? blockAddress(trace, lives, i) : 0;
        return address && address < end && address + bytes[i] > start;
    };
    let before = -1;
    let after = -1;
    for (let i = 0; start && i < count && born[i] <= born[row]; i++) {
        if (i !== row && died[i] <= born[row] && (before < 0 || died[i] >= died[before]) && shares(i))
            before = i;
    }
    for (let i = upperBound(born, died[row] - 1, count); start && i < count && after < 0; i++) {
        if (i !== row && shares(i))
            after = i;
    }
    return {before, after};
}

/** The latest kernel, copy or memset that began on the stream of block *row* before it was freed.
 * @returns {{name: number, idle: number}|null} name: index in head.names; idle: ns from its end until
 *   then, 0: it was running. null: not recorded, or the block is not freed */
export function lastWorkOf(trace, row) {
    const {head: {streams}, loaded: {blocks, activity}} = trace;
    const died = blocks.died[row];
    const stream = streams[blocks.stream[row] - 1];
    if (!activity || !stream || died === Infinity)
        return null;
    let i = upperBound(activity.start, died, activity.count) - 1;
    for (const last = Math.max(0, i - WORK_LOOKED_AT); i >= last && activity.start[i] >= blocks.born[row]; i--) {
        const own = streams[activity.stream[i] - 1];
        const same = activity.stream[i] === blocks.stream[row] || (stream.default && own && own.default);
        if (same && activity.type[i] < WORK_TYPES && activity.device[i] === blocks.device[row])
            return {name: activity.name[i], idle: Math.max(0, died - activity.start[i] - activity.duration[i])};
    }
    return null;
}
