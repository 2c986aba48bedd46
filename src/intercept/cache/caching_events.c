/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts and records the allocator's events: each in one step under the order of the trace, so that
 * a figure matches the events at that point. An event brings the attributes of the call that it
 * belongs to. Called by the allocator with one of its locks held. */
#include <stdatomic.h>

#include "intercept/cache/caching.h"
#include "intercept/cache/device_ops.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/route/upcalls.h"
#include "intercept/track/holding.h"
#include "intercept/track/track_change.h"

inline struct vs_caching_call vs_caching_request(const char *api, uint64_t bytes)
{
    struct vs_recorder *recorder = vs_process_recorder();
    bool selected = recorder && vs_recorder_selects(recorder, VS_LEVEL_BLOCK, bytes);
    uint64_t stack = selected ? vs_process_stack() : 0;
    return (struct vs_caching_call){
        .api = api, .stack = stack, .selected = selected, .holding = (uint8_t)vs_holds(stack)};
}

/* Requests of cudaMalloc belong to no stream. */
static uint64_t stream_of(const struct vs_allocator_event *e)
{
    return e->stream ? vs_stream_key_id(e->stream) : 0;
}

/* What events of segments have in common: all, those that begin to hold memory. */
#define MEMORY(e, of) .addr = (e)->addr, .size = (e)->size, .device = (of)->device
#define HELD(e, of)                                                                  \
    .context = (of)->id, .stream = stream_of(e), .pool = (e)->pool,                  \
    .stack = (e)->call ? ((const struct vs_caching_call *)(e)->call)->stack : 0

static struct vs_event segment_event(const struct vs_context *context,
                                     const struct vs_allocator_event *e,
                                     enum vs_allocator_event_kind kind)
{
    switch (kind) {
    case VS_ALLOCATOR_SEGMENT_ALLOC:
        return (struct vs_event){.kind = VS_EVENT_segment_alloc,
                                 .segment_alloc = {MEMORY(e, context), HELD(e, context)}};
    case VS_ALLOCATOR_SEGMENT_FREE:
        return (struct vs_event){.kind = VS_EVENT_segment_free, .segment_free = {MEMORY(e, context)}};
    case VS_ALLOCATOR_SEGMENT_MAP:
        return (struct vs_event){.kind = VS_EVENT_segment_map,
                                 .segment_map = {MEMORY(e, context), HELD(e, context), .reserved = e->requested}};
    default:
        return (struct vs_event){.kind = VS_EVENT_segment_unmap,
                                 .segment_unmap = {MEMORY(e, context), .reserved = e->requested}};
    }
}

/* Separate, so that the function that selects between them needs no frame. */
#define APART __attribute__((noinline))

#define CHANGE(what, context, e) \
    vs_change_##what(VS_LEVEL_BLOCK, VS_FAMILY_DEVICE, (context)->device, (e)->requested, (e)->size)

/* With a framework in the process: a block may hold its blocks. */
static APART void count_near_framework(struct vs_recorder *recorder, const struct vs_context *context,
                                       const struct vs_allocator_event *e, struct vs_event *event)
{
    const struct vs_caching_call *call = e->call;
    bool alloc = e->kind == VS_ALLOCATOR_ALLOC;
    struct vs_change change = alloc ? CHANGE(alloc, context, e) : CHANGE(free, context, e);
    if (alloc && call->holding == VS_HOLDING_YES)
        change.holds = vs_holding_block_add(e->addr);
    else if (!alloc)
        change.holds = vs_holding_block_remove(e->addr);
    if (alloc)
        vs_holding_latest = (struct vs_holding_latest){.addr = change.holds ? 0 : e->addr,
                                                       .size = e->size,
                                                       .key = vs_holding_key(call->stack),
                                                       .device = context->device,
                                                       .block = true};
    vs_recorder_change(recorder, &vs_process_book, change, alloc && call->selected, event);
}

VS_ALWAYS_INLINE static inline void count_alloc(struct vs_recorder *recorder,
                                                const struct vs_context *context,
                                                const struct vs_allocator_event *e,
                                                struct vs_event *event)
{
    const struct vs_caching_call *call = e->call; /* every request and free here has one */
    if (__builtin_expect(call->holding != VS_HOLDING_NEVER, 0))
        count_near_framework(recorder, context, e, event);
    else
        vs_recorder_change(recorder, &vs_process_book, CHANGE(alloc, context, e), call->selected,
                           event);
}

VS_ALWAYS_INLINE static inline void count_free(struct vs_recorder *recorder,
                                               const struct vs_context *context,
                                               const struct vs_allocator_event *e,
                                               struct vs_event *event)
{
    if (__builtin_expect(vs_holding_any_block(), 0))
        count_near_framework(recorder, context, e, event);
    else
        vs_recorder_change(recorder, &vs_process_book, CHANGE(free, context, e), false, event);
}

/* Without a recording (record=off, or its file could not be written). */
static APART void count_alone(const struct vs_context *context, const struct vs_allocator_event *e)
{
    if (e->kind == VS_ALLOCATOR_ALLOC)
        count_alloc(NULL, context, e, NULL);
    else
        count_free(NULL, context, e, NULL);
}

static APART void record_alloc(struct vs_recorder *recorder, const struct vs_context *context,
                               const struct vs_allocator_event *e)
{
    struct vs_caching_call *call = e->call;
    struct vs_event event;
    vs_event_begin(&event, VS_EVENT_alloc);
    event.alloc = (struct vs_event_alloc){.addr = e->addr,
                                          .requested = e->requested,
                                          .size = e->size,
                                          .family = VS_FAMILY_DEVICE,
                                          .device = context->device,
                                          .context = context->id,
                                          .stream = stream_of(e),
                                          .api = vs_process_api(call->api),
                                          .stack = call->stack};
    count_alloc(recorder, context, e, &event);
    vs_annotation_used(VS_ANNOTATED_DEVICE);
    call->time_ns = event.time_ns;
}

static APART void record_free(struct vs_recorder *recorder, const struct vs_context *context,
                              const struct vs_allocator_event *e)
{
    const struct vs_caching_call *call = e->call;
    struct vs_event event;
    vs_event_begin(&event, VS_EVENT_free);
    event.free = (struct vs_event_free){.addr = e->addr,
                                        .device = context->device,
                                        .stream = stream_of(e),
                                        .api = vs_process_api(call->api)};
    count_free(recorder, context, e, &event);
}

/* The owner of the last segment at an address, by address / 2 MiB: a hint, for frees if several
 * contexts have caches. A context is never freed. */
#define OWNER_PAGE_BYTES (UINT64_C(2) << 20)
#define OWNERS 65536u
static _Atomic(struct vs_context *) owners[OWNERS]; /* atomic; release pairs with acquire */

struct vs_context *vs_caching_likely_owner(uint64_t addr)
{
    return atomic_load_explicit(&owners[addr / OWNER_PAGE_BYTES % OWNERS], memory_order_acquire);
}

APART void vs_caching_segment(struct vs_context *context, const struct vs_allocator_event *e,
                              enum vs_allocator_event_kind kind)
{
    struct vs_event event;
    bool grows = kind == VS_ALLOCATOR_SEGMENT_ALLOC || kind == VS_ALLOCATOR_SEGMENT_MAP;
    uint64_t page = e->addr / OWNER_PAGE_BYTES, last = (e->addr + e->size - 1) / OWNER_PAGE_BYTES;
    if (last - page >= OWNERS)
        last = page + OWNERS - 1;
    for (; grows && page <= last; page++)
        atomic_store_explicit(&owners[page % OWNERS], context, memory_order_release);
    if (vs_process_recorder())
        event = segment_event(context, e, kind);
    vs_track_change(vs_change_segment(context->device, grows, e->requested), true, &event);
}

static void on_event(void *arg, const struct vs_allocator_event *e)
{
    struct vs_context *context = arg;
    struct vs_recorder *recorder = vs_process_recorder();
    switch (e->kind) {
    case VS_ALLOCATOR_ALLOC:
    case VS_ALLOCATOR_FREE:
        if (!recorder)
            count_alone(context, e);
        else if (e->kind == VS_ALLOCATOR_ALLOC)
            record_alloc(recorder, context, e);
        else
            record_free(recorder, context, e);
        break;
    case VS_ALLOCATOR_SEGMENT_ALLOC:
    case VS_ALLOCATOR_SEGMENT_FREE:
    case VS_ALLOCATOR_SEGMENT_MAP:
    case VS_ALLOCATOR_SEGMENT_UNMAP:
        vs_caching_segment(context, e, e->kind);
        break;
    default: /* out of memory: recorded by the caller if relevant */
        break;
    }
}

const struct vs_event_sink vs_caching_sink = {.event = on_event,
                                              .ignored = 1u << VS_ALLOCATOR_FREE_COMPLETED};
