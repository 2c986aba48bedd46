/* SPDX-License-Identifier: Apache-2.0
 *
 * A recorder within a Python process: called from any number of Python frames, it records pairs of
 * allocation and free, the allocations with stacks of native frames (bench_chain) below those, and
 * returns the ns per event of the best of many slices. */
#include <stdint.h>
#include <string.h>

#include "base/vs_clock.h"
#include "trace/record/recorder.h"

#define SLICES 100u
#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t (*leaf_function)(void *argument);
typedef uint64_t (*chain_function)(int depth, leaf_function leaf, void *argument);

EXPORTED double bench_record(const char *path, chain_function chain, int depth, int python,
                             uint64_t events, double *bytes, uint64_t *frames);

static uint64_t leaf(void *argument)
{
    uint64_t stack = vs_recorder_stack(argument, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

static void record(struct vs_recorder *r, chain_function chain, int depth, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        struct vs_event e = {.kind = VS_EVENT_alloc};
        e.alloc.addr = UINT64_C(0x7f3a00000000) + i % 256 * 8388608;
        e.alloc.requested = e.alloc.size = 2097152;
        e.alloc.stack = depth < 0 ? 0 : chain(depth, leaf, r);
        vs_recorder_event(r, &e);
        memset(&e, 0, sizeof e);
        e.kind = VS_EVENT_free;
        e.free.addr = UINT64_C(0x7f3a00000000) + i % 256 * 8388608;
        vs_recorder_event(r, &e);
    }
}

/* *depth* below 0: no stacks. *bytes*: of the file, per event. *frames*: stack nodes in it. Returns
 * below 0 when the trace cannot be created at *path*. */
EXPORTED double bench_record(const char *path, chain_function chain, int depth, int python,
                             uint64_t events, double *bytes, uint64_t *frames)
{
    struct vs_recorder_config config = {.path = path, .compression = 1, .flush_ms = 1000,
                                        .stack_depth_max = depth < 0 ? 0 : 128, .python = python};
    struct vs_recorder *r = NULL;
    struct vs_recorder_stats stats;
    if (vs_recorder_open(&config, &r))
        return -1;
    uint64_t pairs = events / 2 / SLICES + 1, best = UINT64_MAX;
    for (unsigned i = 0; i < SLICES; i++) {
        uint64_t start = vs_clock_ns();
        record(r, chain, depth, pairs);
        uint64_t took = vs_clock_ns() - start;
        best = took < best ? took : best;
    }
    vs_recorder_flush(r);
    vs_recorder_stats(r, &stats);
    *bytes = (double)stats.bytes_written / (double)stats.events;
    *frames = stats.stack_nodes;
    vs_recorder_close(r, VS_END_EXIT, 0);
    return (double)best / (double)(2 * pairs);
}
