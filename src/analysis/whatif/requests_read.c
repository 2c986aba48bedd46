/* SPDX-License-Identifier: Apache-2.0
 *
 * An observer of the reading. At the level of the program the requests are its cudaMalloc calls; at
 * that of a framework they are its tensors, and cudaMalloc memory is a segment below them or other
 * memory (requests_segments.c). Memory of all other families is a level over time
 * (recorded_memory.c). A request has the slot of its block in the replay, so that a run needs a
 * table of the live blocks only. */
#include "analysis/whatif/requests_reading.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/state/reading.h"
#include "base/reading/vs_vec.h"
#include "base/vs_limit_spec.h"

#define OUT_OF_MEMORY 2 /* CUDA_ERROR_OUT_OF_MEMORY */
#define ORDERED_API "vramscope_torch_alloc"

/* --- entries of the log --- */

static uint32_t number_of(struct vs_map *map, uint64_t key)
{
    /* UINT64_MAX: not known; key + 1 would be 0, which a map cannot hold */
    return (uint32_t)vs_xmap_number(map, key == UINT64_MAX ? 1 : key + 1, map->count);
}

static uint32_t site_of(struct vs_requests_reading *r, uint64_t stack)
{
    struct vs_whatif_log *log = r->log;
    uint32_t site = number_of(&r->sites, stack);
    if (site == log->site_count)
        VS_VEC_ADD(log->stacks, log->site_count, log->site_capacity, stack);
    return site;
}

static uint32_t lane_of(struct vs_requests_reading *r, uint64_t stream, bool ordered)
{
    uint32_t lane = number_of(&r->lanes, ordered || r->framework ? stream : 0);
    return ordered ? lane | VS_LANE_ORDERED : lane;
}

void vs_reading_entry(struct vs_requests_reading *r, enum vs_request_kind kind)
{
    vs_request_add(&r->log->store, &(struct vs_request_entry){.kind = kind, .event = r->number,
                                                              .bytes = r->log->recorded.steps});
}

static void begin_request(struct vs_requests_reading *r, uint32_t slot, uint64_t bytes,
                          uint64_t stream, bool ordered, uint64_t stack)
{
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    struct vs_request_entry entry = {.kind = VS_REQUEST_ALLOC, .event = r->number, .bytes = bytes,
                                     .slot = slot, .site = site_of(r, stack)};
    entry.lane = lane_of(r, stream, ordered);
    vs_request_add(&r->log->store, &entry);
    r->live += bytes;
    recorded->request_count++;
    size_t left = 0; /* the program recovered from failures of at most that size */
    for (size_t i = 0; i < r->open_count; i++)
        if (bytes < r->open[i].bytes)
            r->open[left++] = r->open[i];
    r->open_count = left;
    /* the least memory with which all of this could be in use at once */
    uint64_t least = vs_recorded_held(&r->memory, r->live);
    if (r->live > recorded->live_peak)
        recorded->live_peak = r->live;
    if (least > recorded->least_peak)
        recorded->least_peak = least;
}

static void end_request(struct vs_requests_reading *r, uint32_t slot, uint64_t bytes)
{
    vs_request_add(&r->log->store, &(struct vs_request_entry){
                                       .kind = VS_REQUEST_FREE, .event = r->number, .slot = slot});
    r->live -= bytes;
    r->log->recorded.free_count++;
}

/* A request, or other memory, that failed. *stream*: of a framework's. */
static void failed(struct vs_requests_reading *r, enum vs_request_kind kind, uint64_t event,
                   uint64_t bytes, uint64_t stack, uint64_t stream)
{
    struct vs_request_entry entry = {.kind = kind, .event = event, .bytes = bytes,
                                     .site = site_of(r, stack)};
    if (entry.event < r->log->store.last_event)
        entry.event = r->log->store.last_event;
    if (kind == VS_REQUEST_FAILED)
        entry.lane = lane_of(r, stream, false);
    vs_request_add(&r->log->store, &entry);
    r->log->recorded.failures++;
    if (r->open_count == VS_OPEN_FAILURES)
        memmove(r->open, r->open + 1, --r->open_count * sizeof *r->open);
    r->open[r->open_count++] = (struct vs_open_failure){
        entry.event, bytes, r->replay->phases.steps.begun, vs_recorded_held(&r->memory, r->live)};
}

/* A step that ended recovered from the failures before it. */
static void end_step(struct vs_requests_reading *r)
{
    size_t left = 0;
    r->log->recorded.steps++;
    for (size_t i = 0; i < r->open_count; i++)
        if (r->replay->phases.steps.begun <= r->open[i].steps_begun)
            r->open[left++] = r->open[i];
    r->open_count = left;
    vs_reading_entry(r, VS_REQUEST_STEP);
}

/* --- blocks --- */

static bool is_account_of(const struct vs_requests_reading *r, unsigned account)
{
    return account != VS_HOST_INDEX && r->replay->accounts[account]->device == r->device;
}

static bool is_in_cache(const struct vs_requests_reading *r, uint64_t addr)
{
    const struct vs_replay_segment *segment = vs_segments_find(&r->replay->segments, addr);
    return segment && is_account_of(r, segment->device);
}

/* Tensors may be in it. */
static bool may_hold(const struct vs_requests_reading *r, uint64_t family)
{
    return r->framework && (family == VS_FAMILY_DEVICE || family == VS_FAMILY_VMM ||
                            family == VS_FAMILY_ASYNC);
}

static void begin_block(struct vs_requests_reading *r, uint32_t slot, const struct vs_live *live)
{
    const struct vs_event_alloc *e = &r->event->alloc;
    bool request = !r->framework && live->family == VS_FAMILY_DEVICE;
    if (r->release_tid == live->tid)
        vs_reading_released(r, true, is_in_cache(r, live->addr) ? 0 : live->size);
    r->refused_tid = r->refused_tid == live->tid ? 0 : r->refused_tid;
    vs_vec_room(&r->blocks, &r->block_capacity, slot + 1, sizeof *r->blocks);
    struct vs_request_block *block = &r->blocks[slot];
    *block = (struct vs_request_block){.role = request ? VS_ROLE_REQUEST : VS_ROLE_OTHER};
    if (may_hold(r, live->family)) {
        /* not counted as other memory, until a tensor elsewhere shows that it is not the
         * framework's */
        block->role = VS_ROLE_SEGMENT;
        block->undecided = true;
        if (!r->undecided++)
            r->undecided_since = r->number;
        if (r->process->segments_only)
            vs_reading_segment(r, live);
        if (live->family != VS_FAMILY_VMM)
            vs_reading_holder(r, live->addr, live->addr, live->size);
    }
    if (!(live->in_segment && request))
        vs_recorded_change(&r->memory, live->family, live->in_segment ? 0 : live->addr, live->size,
                           block->role, true);
    bool ordered =
        e->stream && strcmp(vs_reader_string(r->replay->reader, e->api), ORDERED_API) == 0;
    if (request)
        begin_request(r, slot, e->requested, e->stream, ordered, e->stack);
}

static void end_block(struct vs_requests_reading *r, uint32_t slot, const struct vs_live *live)
{
    struct vs_request_block *block = &r->blocks[slot];
    bool segment = r->framework && block->role == VS_ROLE_SEGMENT && !block->undecided;
    if (segment && r->event->kind == VS_EVENT_free)
        vs_reading_release(r);
    r->segments_lost |= segment;
    /* its free is not in the trace, but the address is in use again */
    r->log->recorded.unmatched += r->event->kind == VS_EVENT_alloc;
    if (block->role == VS_ROLE_REQUEST)
        end_request(r, slot, live->requested);
    if (block->undecided)
        r->undecided--;
    else if (segment)
        r->held_segments -= live->size;
    block->undecided = false;
    if (r->framework && live->family != VS_FAMILY_VMM)
        vs_reading_holder_gone(r, live->addr);
    if (!(live->in_segment && !r->framework))
        vs_recorded_change(&r->memory, live->family, live->in_segment ? 0 : live->addr, live->size,
                           block->role, false);
}

/* Segments ended with their context, and the tensors in them: those that no other driver memory
 * holds. */
static void lose_tensors(struct vs_requests_reading *r)
{
    const struct vs_live_table *tensors = &r->replay->framework_live;
    vs_vec_room(&r->gone, &r->gone_capacity, tensors->slots, sizeof *r->gone);
    for (uint32_t slot = 0; slot < tensors->slots; slot++) {
        const struct vs_live *live = &tensors->items[slot];
        if (!live->used || !is_account_of(r, live->device) || r->gone[slot])
            continue;
        const struct vs_replay_segment *holder = vs_segments_find(&r->holders, live->addr);
        if (holder && vs_live_table_find(&r->replay->device_live, holder->stream))
            continue;
        r->gone[slot] = true;
        end_request(r, slot, live->size);
    }
}

void vs_requests_changed(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct vs_requests_reading *r = context;
    const struct vs_replay_segment *piece = change->piece;
    const struct vs_live *live = change->live;
    bool born = change->kind == VS_CHANGE_BORN;
    uint32_t slot = change->slot / 2; /* of its level: only one of them has the requests */
    (void)replay;
    if (piece) {
        if (is_account_of(r, piece->device))
            r->memory.segments += change->kind == VS_CHANGE_HELD ? piece->size : -piece->size;
    } else if (!is_account_of(r, live->device)) {
        return;
    } else if (live->level == VS_LEVEL_FRAMEWORK) {
        const struct vs_event_framework_alloc *e = &r->event->framework_alloc;
        struct vs_whatif_recorded *recorded = &r->log->recorded;
        bool gone = slot < r->gone_capacity && r->gone[slot];
        if (r->framework && born) {
            if (slot < r->gone_capacity)
                r->gone[slot] = false;
            vs_reading_hold(r, e->addr, e->size);
            begin_request(r, slot, e->size, e->framework_stream, false, e->stack);
            if (e->total_reserved > recorded->reserved_peak)
                recorded->reserved_peak = e->total_reserved;
        } else if (r->framework) {
            /* a free after its memory was lost, or an address in use again whose free is not in the
             * trace */
            recorded->unmatched += gone == (r->event->kind == VS_EVENT_framework_free);
            if (!gone)
                end_request(r, slot, live->size);
        }
    } else if (vs_family_on_device(live->family)) {
        (born ? begin_block : end_block)(r, slot, live);
    }
}

/* --- events --- */

/* Memory changed by these only. */
static bool changes_memory(const struct vs_event *e)
{
    return vs_event_has(e, VS_PROPERTY_ALLOCATES | VS_PROPERTY_FREES) ||
           e->kind == VS_EVENT_context || e->kind == VS_EVENT_device_sample ||
           e->kind == VS_EVENT_device_usage || e->kind == VS_EVENT_alloc_failed;
}

enum vs_err vs_requests_before(void *context, struct vs_replay *replay, const struct vs_event *e)
{
    struct vs_requests_reading *r = context;
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    const struct vs_live *live;
    r->event = e;
    r->number = replay->events + 1;
    r->before_steps = !replay->phases.steps.begun;
    r->segments_lost = false;
    if (changes_memory(e)) /* levels first: a segment's release makes room before the next request */
        vs_recorded_say(&r->memory, &r->log->store, r->number);
    switch (e->kind) {
    case VS_EVENT_free:
        live = vs_live_table_find(&replay->device_live, e->free.addr);
        recorded->unmatched += e->free.device == r->device && e->free.addr && !r->framework &&
                               !(live && is_account_of(r, live->device) &&
                                 vs_family_on_device(live->family));
        break;
    case VS_EVENT_segment_alloc:
        if (e->segment_alloc.device == r->device && r->release_tid == e->tid)
            vs_reading_released(r, true, e->segment_alloc.size);
        break;
    case VS_EVENT_segment_map:
        if (e->segment_map.device == r->device && r->release_tid == e->tid)
            vs_reading_released(r, true, e->segment_map.reserved);
        break;
    case VS_EVENT_segment_free:
        if (is_in_cache(r, e->segment_free.addr))
            vs_reading_release(r);
        break;
    case VS_EVENT_segment_unmap:
        if (e->segment_unmap.device == r->device && e->segment_unmap.reserved)
            vs_reading_release(r);
        break;
    case VS_EVENT_framework_alloc:
        if (!r->framework || e->framework_alloc.device != r->device || !e->framework_alloc.addr)
            break;
        if (r->release_tid == e->tid)
            vs_reading_released(r, false, 0);
        r->refused_tid = r->refused_tid == e->tid ? 0 : r->refused_tid;
        break;
    case VS_EVENT_framework_free:
        if (!r->framework || e->framework_free.device != r->device || !e->framework_free.addr)
            break;
        if (r->undecided)
            vs_reading_decide(r, e->tid);
        recorded->unmatched +=
            !vs_live_table_find(&replay->framework_live, e->framework_free.addr);
        break;
    default: break;
    }
    return VS_OK;
}

enum vs_err vs_requests_after(void *context, struct vs_replay *replay, const struct vs_event *e)
{
    struct vs_requests_reading *r = context;
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    struct vs_limit_spec spec;
    switch (e->kind) {
    case VS_EVENT_device:
        if (e->device.device != r->device)
            break;
        if (!recorded->device_name)
            recorded->device_name = e->device.name;
        recorded->total_bytes = r->memory.total = e->device.total_bytes;
        if (r->process->limit[0] && vs_limit_parse(r->process->limit, &spec) == VS_OK)
            recorded->limit_bytes = vs_limit_bytes(&spec, (uint32_t)r->device,
                                                   e->device.total_bytes);
        break;
    case VS_EVENT_context:
        if (e->context.alive || !e->context.context || e->context.device != r->device)
            break;
        if (r->segments_lost)
            lose_tensors(r);
        if (r->segments_lost || !r->framework) /* else the framework's cache goes on */
            vs_reading_entry(r, VS_REQUEST_CONTEXT);
        break;
    case VS_EVENT_alloc_failed: {
        const struct vs_event_alloc_failed *f = &e->alloc_failed;
        if (f->device != r->device || f->error != OUT_OF_MEMORY || !vs_family_on_device(f->family))
            break;
        if (f->device_total_bytes)
            vs_recorded_reading(&r->memory, f->device_free_bytes, f->device_total_bytes);
        if (may_hold(r, f->family)) {
            r->refused_tid = e->tid;
            r->refused_bytes = f->requested;
            r->refused_event = r->number;
            break;
        }
        r->release_tid = r->release_tid == e->tid ? 0 : r->release_tid;
        failed(r, f->family == VS_FAMILY_DEVICE ? VS_REQUEST_FAILED : VS_REQUEST_OTHER_FAILED,
               r->number, f->requested, f->stack, 0);
        break;
    }
    case VS_EVENT_framework_oom:
        if (!r->framework || e->framework_oom.device != r->device)
            break;
        r->refused_tid = r->release_tid = 0;
        failed(r, VS_REQUEST_FAILED, r->number, e->framework_oom.requested, e->framework_oom.stack,
               e->framework_oom.framework_stream);
        break;
    case VS_EVENT_vmm_map:
        if (r->framework && e->vmm_map.device == r->device)
            vs_reading_holder(r, VS_ADDR_MEMORY + e->vmm_map.memory, e->vmm_map.addr,
                              e->vmm_map.size);
        break;
    case VS_EVENT_vmm_unmap: vs_reading_holder_gone(r, e->vmm_unmap.addr); break;
    case VS_EVENT_device_sample:
        if (e->device_sample.device == r->device)
            vs_recorded_reading(&r->memory, e->device_sample.free_bytes,
                                e->device_sample.total_bytes);
        break;
    case VS_EVENT_device_usage:
        if (e->device_usage.device == r->device)
            vs_recorded_usage(&r->memory, e);
        break;
    case VS_EVENT_graph_memory:
        if (e->graph_memory.device == r->device)
            r->memory.graph_driver = e->graph_memory.reserved;
        break;
    case VS_EVENT_range_push:
    case VS_EVENT_range_pop:
    case VS_EVENT_range_start:
    case VS_EVENT_range_end:
        if (r->before_steps && replay->phases.steps.begun)
            vs_reading_entry(r, VS_REQUEST_STEP);
        if (replay->step_ended)
            end_step(r);
        break;
    case VS_EVENT_end: /* a program that ends well got over all of them */
        if (e->end.reason == VS_END_EXIT && !e->end.status && !r->process->until_event)
            r->open_count = 0;
        break;
    default: break;
    }
    if (changes_memory(e)) {
        uint64_t serving = r->framework ? r->held_segments : r->memory.segments + r->memory.direct;
        uint64_t held = vs_recorded_held(&r->memory, serving);
        if (!r->framework && serving > recorded->reserved_peak)
            recorded->reserved_peak = serving;
        if (held > recorded->held_peak)
            recorded->held_peak = held;
    }
    /* the framework's failure follows the device's */
    uint64_t until = r->process->until_event;
    r->stopped = until && r->number >= until && !r->refused_tid;
    return VS_OK;
}

enum vs_err vs_requests_conclude(struct vs_requests_reading *r)
{
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    vs_recorded_say(&r->memory, &r->log->store, r->number);
    if (r->refused_tid) /* the driver refused memory to the framework, of which nothing followed */
        failed(r, VS_REQUEST_FAILED, r->refused_event, r->refused_bytes, 0, 0);
    const struct vs_replay *replay = r->replay;
    r->log->slot_count = (uint32_t)(r->framework ? replay->framework_live : replay->device_live).slots;
    recorded->exe = r->process->exe;
    recorded->cached = r->process->policy && !r->framework;
    for (int i = 0; i < VS_POLICY_COUNT && recorded->cached; i++)
        if (vs_policies[i] == r->process->policy)
            recorded->policy = (enum vs_policy_id)i;
    memcpy(recorded->conf, r->process->conf[r->framework], sizeof recorded->conf);
    recorded->recording = replay->recording;
    recorded->events = r->stopped ? r->number : replay->events;
    recorded->total_bytes = r->memory.total;
    recorded->other_peak = r->memory.other_peak;
    recorded->outside_peak = r->memory.outside_peak;
    recorded->contexts_peak = r->memory.contexts_peak;
    recorded->others_peak = r->memory.others_peak;
    recorded->pool_kept_peak = r->memory.pool_kept_peak;
    if (recorded->expandable)
        recorded->policy = VS_POLICY_EXPANDABLE;
    if (r->open_count) {
        const struct vs_open_failure *last = &r->open[r->open_count - 1]; /* the latest */
        recorded->last_failure = last->event;
        if (last->live + last->bytes > recorded->least_peak)
            recorded->least_peak = last->live + last->bytes;
    }
    return vs_request_store_seal(&r->log->store);
}

void vs_requests_begin(struct vs_requests_reading *r, struct vs_whatif_log *log, struct vs_replay *replay,
                       const struct vs_requests_process *process, uint64_t device, enum vs_whatif_requests requests)
{
    *r = (struct vs_requests_reading){.log = log, .replay = replay, .process = process, .device = device,
                                      .event = replay->event, .number = replay->events,
                                      .framework = requests == VS_WHATIF_FRAMEWORK,
                                      .before_steps = !replay->phases.steps.begun};
    log->recorded = (struct vs_whatif_recorded){.requests = requests, .device = device, .steps = process->steps,
                                                .limit_bytes = VS_WHATIF_NONE};
    if (!r->before_steps)
        vs_reading_entry(r, VS_REQUEST_STEP);
}

void vs_requests_end(struct vs_requests_reading *r)
{
    free(r->blocks);
    free(r->gone);
    vs_map_free(&r->sites);
    vs_map_free(&r->lanes);
    vs_segments_free(&r->holders);
    vs_map_free(&r->memory.pages);
}
