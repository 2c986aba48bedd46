/* SPDX-License-Identifier: Apache-2.0
 *
 * The address axis of the block map: what is visible of it (state keys placeFrom, placeTo), zooming and
 * panning. Places are offsets on the axis of a device, from 0 to the end of what it ever held. */

const PLACE_MIN = 512;
const MARGIN = 1.01; // free space above the highest address

/** End of the address axis of a device; kept. @returns {number} bytes */
export function extentOf(trace, device) {
    const {blocks, segments} = trace.loaded;
    trace.extents = trace.extents || {};
    if (trace.extents[device] === undefined) {
        let end = 0;
        for (const table of [blocks, segments]) {
            for (let i = 0; table && i < table.count; i++) {
                if (table.device[i] === device)
                    end = Math.max(end, table.place[i] + table.bytes[i]);
            }
        }
        trace.extents[device] = Math.max(end, 1024);
    }
    return trace.extents[device];
}

/** @param {Object} trace with loaded blocks when the calls are made @param {Object} state
 * @returns {{now: function(): {placeFrom: number, placeTo: number, end: number},
 *   show: function(number, number): void, zoom: function(number, number): void, pan: function(number): void,
 *   scale: function({top: number, height: number}): function(number): number}} zoom(factor, part): around
 *   a part of the height from the top; pan(part): up by a part of what is visible */
export function createPlaceAxis(trace, state) {
    const axis = {
        now() {
            const end = extentOf(trace, state.get('device')) * MARGIN;
            const from = state.get('placeFrom') ?? 0;
            const to = state.get('placeTo') ?? end;
            return to > from ? {placeFrom: from, placeTo: to, end} : {placeFrom: 0, placeTo: end, end};
        },
        show(from, to) {
            const {end} = axis.now();
            const span = Math.min(end, Math.max(PLACE_MIN, to - from));
            const start = Math.max(0, Math.min(end - span, from));
            state.set(span >= end ? {placeFrom: null, placeTo: null} : {placeFrom: start, placeTo: start + span});
        },
        zoom(factor, part) {
            const {placeFrom, placeTo} = axis.now();
            const at = placeTo - (placeTo - placeFrom) * Math.max(0, Math.min(1, part));
            const span = Math.max(PLACE_MIN, (placeTo - placeFrom) * factor);
            const below = (at - placeFrom) / (placeTo - placeFrom);
            axis.show(at - span * below, at + span * (1 - below));
        },
        pan(part) {
            const {placeFrom, placeTo} = axis.now();
            const by = (placeTo - placeFrom) * part;
            axis.show(placeFrom + by, placeTo + by);
        },
        scale(area) {
            const {placeFrom, placeTo} = axis.now();
            return (place) => area.top + area.height * (placeTo - place) / (placeTo - placeFrom);
        },
    };
    return axis;
}
