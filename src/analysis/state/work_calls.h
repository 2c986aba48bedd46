/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels, copies and memsets have in common, and the calls that began them (`work_call`), which come before or
 * behind their records: the later call of two takes the earlier one's place, a million correlations apart.
 * Not thread-safe. */
#ifndef VS_WORK_CALLS_H
#define VS_WORK_CALLS_H

#include "base/reading/vs_xalloc.h"
#include "trace/format/event.h"

#define VS_WORK_CALLS_MAX (UINT64_C(1) << 20)

struct vs_work {
    uint64_t correlation, graph, graph_node;
    uint64_t bytes; /* of a copy or memset */
    uint64_t name;  /* of a kernel: string id */
};

/* vs_work_of: all 0 for another event. */
static inline struct vs_work vs_work_of(const struct vs_event *event)
{
#define VS_WORK(of, ...) {(of).correlation, (of).graph, (of).graph_node, __VA_ARGS__}
    switch (event->kind) {
    case VS_EVENT_kernel: return (struct vs_work)VS_WORK(event->kernel, 0, event->kernel.name);
    case VS_EVENT_memcpy: return (struct vs_work)VS_WORK(event->memcpy, event->memcpy.bytes, 0);
    case VS_EVENT_memset: return (struct vs_work)VS_WORK(event->memset, event->memset.bytes, 0);
    default: return (struct vs_work){0};
    }
#undef VS_WORK
}

struct vs_work_call {
    uint64_t correlation, stack, api;
    uint32_t thread;
};

/* Zero-initialise; free(ring). */
struct vs_work_calls {
    struct vs_work_call *ring; /* NULL: none was recorded */
};

static inline void vs_work_calls_add(struct vs_work_calls *calls, const struct vs_event *event)
{
    const struct vs_event_work_call *of = &event->work_call;
    if (!calls->ring)
        calls->ring = vs_xcalloc(VS_WORK_CALLS_MAX, sizeof *calls->ring);
    calls->ring[of->correlation % VS_WORK_CALLS_MAX] = (struct vs_work_call){
        of->correlation, of->stack, of->api, (uint32_t)(of->thread ? of->thread : event->tid)};
}

/* vs_work_calls_find: NULL: not recorded. */
static inline const struct vs_work_call *vs_work_calls_find(const struct vs_work_calls *calls, uint64_t correlation)
{
    const struct vs_work_call *call = calls->ring ? &calls->ring[correlation % VS_WORK_CALLS_MAX] : NULL;
    return correlation && call && call->correlation == correlation ? call : NULL;
}

#endif
