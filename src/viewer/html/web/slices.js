/* SPDX-License-Identifier: Apache-2.0
 *
 * Long work in slices of a few milliseconds, so that the page answers while it runs. Two kinds:
 * work that must be finished (decoding, sorting) yields to the event loop; work for the screen
 * (raster, sums per column) runs in animation frames and is dropped when it is out of date. */

const SLICE_MS = 7;
const YIELD = new MessageChannel();
const waitingForTurn = [];
YIELD.port1.onmessage = () => waitingForTurn.shift()();

/** Lets the event loop run. @returns {Promise<void>} */
export function turn() {
    return new Promise((resolve) => {
        waitingForTurn.push(resolve);
        YIELD.port2.postMessage(0);
    });
}

/** Calls step(from, to) for parts of 0..count, yielding every few milliseconds.
 * @param {number} count @param {number} part most per call
 * @param {function(number, number): void} step @returns {Promise<void>} */
export async function inSlices(count, part, step) {
    let until = performance.now() + SLICE_MS;
    for (let from = 0; from < count; from += part) {
        step(from, Math.min(count, from + part));
        if (performance.now() > until) {
            await turn();
            until = performance.now() + SLICE_MS;
        }
    }
}

const PAINT_MS = 6; // of a frame, for all views together
const paintQueue = {painters: [], frame: 0};

/** Continues the oldest job; then the next, while there is time. */
function paintFrame() {
    paintQueue.frame = 0;
    const until = performance.now() + PAINT_MS;
    while (paintQueue.painters.length && performance.now() < until) {
        const painter = paintQueue.painters.shift();
        if (painter.run(until))
            paintQueue.painters.unshift(painter);
    }
    askForPaint();
}

function askForPaint() {
    if (paintQueue.painters.length && !paintQueue.frame)
        paintQueue.frame = requestAnimationFrame(paintFrame);
}

/** Runs jobs in animation frames: start() replaces the job before, next() waits for its end. A job is a
 * generator that yields often; what it returns goes to *call*. idle() resolves when no job is left.
 * @returns {{start: function(Generator, function(any): void): void,
 *   next: function(function(): Generator, function(any): void): void, stop: function(): void,
 *   idle: function(): Promise<void>}} */
export function createPainter() {
    let job = null;
    let done = null;
    let waiting = null;
    const painter = {
        /** True: the job is not finished. */
        run(until) {
            while (job) {
                const {value, done: over} = job.next();
                if (over) {
                    const call = done;
                    job = done = null;
                    call(value);
                    return false; // what it started waits for its turn
                }
                if (performance.now() > until) {
                    return true;
                }
            }
            return false;
        },
    };
    const handle = {
        start(generator, call) {
            job = generator;
            done = call;
            if (!paintQueue.painters.includes(painter))
                paintQueue.painters.push(painter);
            askForPaint();
        },
        /** Starts make() when the job before has ended; of several that wait, the latest. */
        next(make, call) {
            waiting = {make, call};
            if (!job)
                startWaiting();
        },
        stop() {
            job = done = waiting = null;
        },
        async idle() {
            while (job || waiting)
                await new Promise(requestAnimationFrame);
        },
    };
    function startWaiting() {
        const {make, call} = waiting;
        waiting = null;
        handle.start(make(), (value) => {
            call(value);
            if (waiting && !job)
                startWaiting();
        });
    }
    return handle;
}
