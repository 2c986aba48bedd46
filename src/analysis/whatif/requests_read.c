/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header: one pass over the trace, event by event. At the level of the program the requests
 * are its cudaMalloc calls; at that of a framework they are its tensors, and cudaMalloc memory is a
 * segment below them or other memory (requests_segments.c). Memory of all other families is a level
 * over time (recorded_memory.c). */
#include "analysis/whatif/requests_read.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/growth/growth.h"
#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_limit_spec.h"
#include "base/vs_text.h"

#define OUT_OF_MEMORY 2 /* CUDA_ERROR_OUT_OF_MEMORY */
#define ORDERED_API "vramscope_torch_alloc"

/* --- driver memory --- */

/* The end of *block*, for whatever reason. */
static enum vs_err end_block(struct vs_requests_reading *r, struct vs_request_block *block)
{
    enum vs_err err = VS_OK;
    if (block->slot != VS_NO_SLOT)
        err = vs_reading_freed(r, block->slot);
    if (block->undecided)
        r->undecided--;
    else if (r->framework && block->role == VS_ROLE_SEGMENT)
        r->held_segments -= block->bytes;
    if (r->framework && block->family != VS_FAMILY_VMM)
        vs_reading_holder_gone(r, block->addr);
    if (!(block->in_cache && !r->framework))
        vs_recorded_free(&r->memory, block->family, block->in_cache ? 0 : block->addr, block->bytes,
                         block->role);
    vs_reading_drop_block(r, block);
    return err;
}

static bool in_cache(const struct vs_requests_reading *r, uint64_t addr)
{
    return r->cache.count && vs_segments_find(&r->cache, addr);
}

/* Tensors may be in it. */
static bool may_hold(const struct vs_requests_reading *r, uint64_t family)
{
    return r->framework && (family == VS_FAMILY_DEVICE || family == VS_FAMILY_VMM ||
                            family == VS_FAMILY_ASYNC);
}

static enum vs_err fill_block(struct vs_requests_reading *r, struct vs_request_block *block)
{
    const struct vs_event_alloc *e = &r->event->alloc;
    bool request = !r->framework && e->family == VS_FAMILY_DEVICE;
    block->bytes = e->size;
    block->context = e->context;
    block->tid = r->event->tid;
    block->family = (uint8_t)e->family;
    block->in_cache = e->family == VS_FAMILY_DEVICE && in_cache(r, e->addr);
    block->role = request ? VS_ROLE_REQUEST : VS_ROLE_OTHER;
    enum vs_err err = VS_OK;
    if (may_hold(r, e->family)) {
        block->role = VS_ROLE_SEGMENT;
        vs_reading_undecided(r, block);
        if (r->segments_only)
            vs_reading_segment(r, block);
        if (e->family != VS_FAMILY_VMM)
            vs_reading_holder(r, e->addr, e->addr, e->size);
    }
    if (!err && !(block->in_cache && request))
        vs_recorded_alloc(&r->memory, e->family, block->in_cache ? 0 : e->addr, e->size,
                          block->role);
    if (err || !request)
        return err;
    bool ordered = e->stream && strcmp(vs_reader_string(r->reader, e->api), ORDERED_API) == 0;
    return vs_reading_request(r, e->requested, e->stream, ordered, e->stack,
                              &block->slot);
}

static enum vs_err take_alloc(struct vs_requests_reading *r)
{
    const struct vs_event_alloc *e = &r->event->alloc;
    uint32_t index;
    if (e->device != r->device || !e->addr || !vs_family_on_device(e->family))
        return VS_OK;
    struct vs_request_block *block = vs_reading_find(r, e->addr);
    enum vs_err err = VS_OK;
    if (block) { /* its free is not in the trace, but the address is in use again */
        r->log->recorded.unmatched++;
        err = end_block(r, block);
    }
    if (!err && r->release_tid == r->event->tid)
        err = vs_reading_released(r, true, in_cache(r, e->addr) ? 0 : e->size);
    r->refused_tid = r->refused_tid == r->event->tid ? 0 : r->refused_tid;
    if (!err)
        err = vs_reading_block(r, e->addr, &index);
    return err ? err : fill_block(r, &r->blocks[index]);
}

static enum vs_err take_free(struct vs_requests_reading *r)
{
    struct vs_request_block *block = r->event->free.addr ? vs_reading_find(r, r->event->free.addr)
                                                         : NULL;
    if (!block) {
        r->log->recorded.unmatched += r->event->free.device == r->device && r->event->free.addr &&
                                      !r->framework;
        return VS_OK;
    }
    if (r->framework && block->role == VS_ROLE_SEGMENT && !block->undecided)
        vs_reading_release(r);
    return end_block(r, block);
}

/* Segments ended with their context, and the tensors in them: those that no other driver memory
 * holds. */
static enum vs_err lose_tensors(struct vs_requests_reading *r)
{
    struct vs_map kept = {0};
    const struct vs_map_slot *tensor;
    enum vs_err err = VS_OK;
    for (size_t cursor = 0; !err && (tensor = vs_map_next(&r->tensors, &cursor));) {
        const struct vs_replay_segment *holder = vs_segments_find(&r->holders, tensor->key);
        if (holder && vs_reading_find(r, holder->stream))
            vs_xmap_put(&kept, tensor->key, tensor->value);
        else
            err = vs_reading_freed(r, (uint32_t)tensor->value - 1);
    }
    vs_map_free(&r->tensors);
    r->tensors = kept;
    return err;
}

static enum vs_err take_context(struct vs_requests_reading *r)
{
    const struct vs_event_context *e = &r->event->context;
    bool lost = false; /* segments with tensors */
    enum vs_err err = VS_OK;
    if (e->alive || e->context == 0 || e->device != r->device)
        return VS_OK;
    for (size_t i = 0; i < r->block_count && !err; i++) {
        struct vs_request_block *block = &r->blocks[i];
        if (!block->used || block->context != e->context ||
            !vs_family_ends_with_context(block->family))
            continue;
        lost |= r->framework && block->role == VS_ROLE_SEGMENT && !block->undecided;
        err = end_block(r, block);
    }
    if (!err && lost)
        err = lose_tensors(r);
    for (size_t i = r->cache.count; i-- > 0;) {
        struct vs_replay_segment segment = r->cache.items[i];
        if (segment.context != e->context)
            continue;
        vs_segments_remove(&r->cache, segment.addr, &segment);
        r->memory.segments -= segment.view ? 0 : segment.size;
    }
    /* the framework's cache goes on where the context was another library's */
    return err || (r->framework && !lost) ? err : vs_reading_entry(r, VS_REQUEST_CONTEXT);
}

/* --- segments of vramscope's cache --- */

static enum vs_err add_segment(struct vs_requests_reading *r, uint64_t addr, uint64_t size,
                               uint64_t reserved, uint64_t context, bool mapped)
{
    struct vs_replay_segment old = {0}, segment = {.addr = addr, .size = size, .context = context,
                                                   .mapped = mapped, .view = !reserved};
    unsigned joined;
    enum vs_err err = VS_OK;
    if (r->release_tid == r->event->tid)
        err = vs_reading_released(r, true, reserved);
    if (err || !size)
        return err;
    if (!mapped)
        vs_segments_add(&r->cache, &segment, &old);
    else if (!vs_segments_map(&r->cache, &segment, &joined))
        return VS_OK; /* it overlaps a segment */
    r->memory.segments += reserved - (old.view ? 0 : old.size);
    return VS_OK;
}

static enum vs_err take_segment(struct vs_requests_reading *r)
{
    const struct vs_event *e = r->event;
    struct vs_replay_segment gone;
    int change;
    switch (e->kind) {
    case VS_EVENT_segment_alloc:
        return e->segment_alloc.device != r->device
                   ? VS_OK
                   : add_segment(r, e->segment_alloc.addr, e->segment_alloc.size,
                                 e->segment_alloc.size, e->segment_alloc.context, false);
    case VS_EVENT_segment_map:
        return e->segment_map.device != r->device
                   ? VS_OK
                   : add_segment(r, e->segment_map.addr, e->segment_map.size,
                                 e->segment_map.reserved, e->segment_map.context, true);
    case VS_EVENT_segment_free:
        if (!vs_segments_find(&r->cache, e->segment_free.addr))
            return VS_OK;
        vs_reading_release(r);
        if (vs_segments_remove(&r->cache, e->segment_free.addr, &gone))
            r->memory.segments -= gone.view ? 0 : gone.size;
        return VS_OK;
    default:
        if (e->segment_unmap.device != r->device)
            return VS_OK;
        if (e->segment_unmap.reserved)
            vs_reading_release(r);
        for (;;) {
            enum vs_err err = VS_OK;
            vs_segments_unmap(&r->cache, e->segment_unmap.addr,
                              e->segment_unmap.size, &gone, &change);
            if (err || !gone.size)
                return err;
            r->memory.segments -= gone.view ? 0 : gone.size;
        }
    }
}

/* --- tensors --- */

static enum vs_err take_tensor(struct vs_requests_reading *r)
{
    const struct vs_event_framework_alloc *e = &r->event->framework_alloc;
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    uint64_t old;
    uint32_t slot;
    enum vs_err err = VS_OK;
    if (!r->framework || e->device != r->device || !e->addr)
        return VS_OK;
    if (r->release_tid == r->event->tid)
        err = vs_reading_released(r, false, 0);
    r->refused_tid = r->refused_tid == r->event->tid ? 0 : r->refused_tid;
    if (!err && vs_map_remove(&r->tensors, e->addr, &old)) {
        recorded->unmatched++;
        err = vs_reading_freed(r, (uint32_t)old - 1);
    }
    vs_reading_hold(r, e->addr, e->size);
    if (!err)
        err = vs_reading_request(r, e->size, e->framework_stream, false, e->stack, &slot);
    if (e->total_reserved > recorded->reserved_peak)
        recorded->reserved_peak = e->total_reserved;
    if (!err)
        vs_xmap_put(&r->tensors, e->addr, slot + UINT64_C(1));
    return err;
}

static enum vs_err take_tensor_free(struct vs_requests_reading *r)
{
    const struct vs_event_framework_free *e = &r->event->framework_free;
    uint64_t slot;
    if (!r->framework || e->device != r->device || !e->addr)
        return VS_OK;
    if (r->undecided)
        vs_reading_decide(r, r->event->tid);
    if (!vs_map_remove(&r->tensors, e->addr, &slot)) {
        r->log->recorded.unmatched++;
        return VS_OK;
    }
    return vs_reading_freed(r, (uint32_t)slot - 1);
}

/* --- failures --- */

/* The driver refused memory to a framework, and nothing of the framework followed. */
static enum vs_err refused_alone(struct vs_requests_reading *r)
{
    r->refused_tid = 0;
    return vs_reading_failed(r, VS_REQUEST_FAILED, r->refused_event, r->refused_bytes, 0, 0);
}

static enum vs_err take_failure(struct vs_requests_reading *r)
{
    const struct vs_event_alloc_failed *e = &r->event->alloc_failed;
    if (e->device != r->device || e->error != OUT_OF_MEMORY || !vs_family_on_device(e->family))
        return VS_OK;
    if (e->device_total_bytes)
        vs_recorded_reading(&r->memory, e->device_free_bytes, e->device_total_bytes);
    if (may_hold(r, e->family)) {
        r->refused_tid = r->event->tid;
        r->refused_bytes = e->requested;
        r->refused_event = r->number;
        return VS_OK;
    }
    r->release_tid = r->release_tid == r->event->tid ? 0 : r->release_tid;
    return vs_reading_failed(r, e->family == VS_FAMILY_DEVICE ? VS_REQUEST_FAILED
                                                              : VS_REQUEST_OTHER_FAILED,
                             r->number, e->requested, e->stack, 0);
}

static enum vs_err take_framework_failure(struct vs_requests_reading *r)
{
    const struct vs_event_framework_oom *e = &r->event->framework_oom;
    if (!r->framework || e->device != r->device)
        return VS_OK;
    r->refused_tid = 0;
    r->release_tid = 0;
    return vs_reading_failed(r, VS_REQUEST_FAILED, r->number, e->requested, e->stack,
                             e->framework_stream);
}

/* --- steps --- */

static enum vs_err end_step(struct vs_requests_reading *r)
{
    r->log->recorded.steps++;
    vs_reading_recovered(r);
    return vs_reading_entry(r, VS_REQUEST_STEP);
}

static enum vs_err take_range(struct vs_requests_reading *r)
{
    const struct vs_event *e = r->event;
    bool ended = false, before_steps = !r->phases.steps.begun;
    enum vs_err err = VS_OK;
    switch (e->kind) {
    case VS_EVENT_range_push:
        vs_phases_push(&r->phases, e->tid, vs_reader_string(r->reader, e->range_push.name),
                       e->range_push.domain, e->time_ns);
        break;
    case VS_EVENT_range_pop:
        ended = vs_phases_pop(&r->phases, e->tid, e->range_pop.domain, e->time_ns);
        break;
    case VS_EVENT_range_start:
        vs_phases_start(&r->phases, e->range_start.range, e->tid,
                        vs_reader_string(r->reader, e->range_start.name), e->time_ns);
        break;
    default: ended = vs_phases_end(&r->phases, e->range_end.range, e->time_ns);
    }
    if (before_steps && r->phases.steps.begun)
        err = vs_reading_entry(r, VS_REQUEST_STEP);
    return err || !ended ? err : end_step(r);
}

/* Steps that were found: each begins with an event, where the one before ends. */
static enum vs_err take_found(struct vs_requests_reading *r)
{
    const struct vs_growth_steps *steps = r->query->steps;
    enum vs_err err = VS_OK;
    if (!steps || r->found == steps->count || steps->items[r->found].event > r->number)
        return VS_OK;
    if (r->found++ == 0)
        err = vs_reading_entry(r, VS_REQUEST_STEP);
    else
        err = end_step(r);
    return err;
}

/* --- the recorded run --- */

static void take_option(struct vs_requests_reading *r)
{
    const char *name = vs_reader_string(r->reader, r->event->option.name);
    const char *value = vs_reader_string(r->reader, r->event->option.value);
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    if (strcmp(name, "limit") == 0)
        strncpy(r->limit, value, sizeof r->limit - 1);
    else if (strcmp(name, "source") == 0)
        r->segments_only = strcmp(value, "torch-snapshot") == 0;
    else if (strcmp(name, r->framework ? "PYTORCH_ALLOC_CONF" : "alloc_conf") == 0 && *value)
        strncpy(recorded->conf, value, sizeof recorded->conf - 1);
}

static void take_device(struct vs_requests_reading *r)
{
    const struct vs_event_device *e = &r->event->device;
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    struct vs_limit_spec spec;
    if (e->device != r->device)
        return;
    recorded->total_bytes = r->memory.total = e->total_bytes;
    if (r->limit[0] && vs_limit_parse(r->limit, &spec) == VS_OK)
        recorded->limit_bytes = vs_limit_bytes(&spec, (uint32_t)r->device, e->total_bytes);
}

static void take_process(struct vs_requests_reading *r)
{
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    const char *exe = vs_reader_string(r->reader, r->event->process.exe);
    strncpy(recorded->program, vs_text_base_name(exe), sizeof recorded->program - 1);
    const struct vs_policy *policy =
        vs_policy_of_trace(vs_reader_string(r->reader, r->event->process.policy));
    recorded->cached = policy && !r->framework;
    for (int i = 0; i < VS_POLICY_COUNT && recorded->cached; i++) {
        if (vs_policies[i] == policy)
            recorded->policy = (enum vs_policy_id)i;
    }
}

static enum vs_err take_event(struct vs_requests_reading *r)
{
    const struct vs_event *e = r->event;
    switch (e->kind) {
    case VS_EVENT_process: take_process(r); return VS_OK;
    case VS_EVENT_option: take_option(r); return VS_OK;
    case VS_EVENT_device: take_device(r); return VS_OK;
    case VS_EVENT_recording_changed:
        vs_recording_event(&r->log->recorded.recording, e);
        return VS_OK;
    case VS_EVENT_context: return take_context(r);
    case VS_EVENT_alloc: return take_alloc(r);
    case VS_EVENT_free: return take_free(r);
    case VS_EVENT_alloc_failed: return take_failure(r);
    case VS_EVENT_segment_alloc:
    case VS_EVENT_segment_free:
    case VS_EVENT_segment_map:
    case VS_EVENT_segment_unmap: return take_segment(r);
    case VS_EVENT_framework_alloc: return take_tensor(r);
    case VS_EVENT_framework_free: return take_tensor_free(r);
    case VS_EVENT_framework_oom: return take_framework_failure(r);
    case VS_EVENT_vmm_map:
        if (r->framework && e->vmm_map.device == r->device)
            vs_reading_holder(r, VS_ADDR_MEMORY + e->vmm_map.memory, e->vmm_map.addr, e->vmm_map.size);
        return VS_OK;
    case VS_EVENT_vmm_unmap: vs_reading_holder_gone(r, e->vmm_unmap.addr); return VS_OK;
    case VS_EVENT_device_sample:
        if (e->device_sample.device == r->device)
            vs_recorded_reading(&r->memory, e->device_sample.free_bytes,
                                e->device_sample.total_bytes);
        return VS_OK;
    case VS_EVENT_device_usage:
        if (e->device_usage.device == r->device)
            vs_recorded_usage(&r->memory, e);
        return VS_OK;
    case VS_EVENT_graph_memory:
        if (e->graph_memory.device == r->device)
            vs_recorded_graphs(&r->memory, e->graph_memory.reserved);
        return VS_OK;
    case VS_EVENT_range_push:
    case VS_EVENT_range_pop:
    case VS_EVENT_range_start:
    case VS_EVENT_range_end: return take_range(r);
    case VS_EVENT_mark:
        vs_phases_mark(&r->phases, e->tid, vs_reader_string(r->reader, e->mark.name),
                       vs_reader_string(r->reader, e->mark.domain));
        return VS_OK;
    case VS_EVENT_end: /* a program that ends well got over all of them */
        if (e->end.reason == VS_END_EXIT && !e->end.status && !r->query->until_event)
            r->open_count = 0;
        return VS_OK;
    default: return VS_OK;
    }
}

static void note_peaks(struct vs_requests_reading *r)
{
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    uint64_t serving = r->memory.segments + r->memory.direct;
    if (r->framework)
        serving = r->held_segments;
    else if (serving > recorded->reserved_peak)
        recorded->reserved_peak = serving;
    uint64_t held = vs_recorded_held(&r->memory, serving);
    if (held > recorded->held_peak)
        recorded->held_peak = held;
}

/* Memory changed by these only. */
static bool changes_memory(const struct vs_event *e)
{
    return vs_event_has(e, VS_PROPERTY_ALLOCATES | VS_PROPERTY_FREES) ||
           e->kind == VS_EVENT_context || e->kind == VS_EVENT_device_sample ||
           e->kind == VS_EVENT_device_usage || e->kind == VS_EVENT_alloc_failed;
}

static enum vs_err one(struct vs_requests_reading *r)
{
    if (!changes_memory(r->event))
        return take_event(r);
    /* levels first: a segment's release makes room before the next request */
    enum vs_err err = vs_recorded_say(&r->memory, &r->log->store, r->number);
    if (!err)
        err = take_event(r);
    note_peaks(r);
    return err;
}

static enum vs_err read_events(struct vs_requests_reading *r)
{
    struct vs_event event;
    uint64_t until = r->query->until_event;
    enum vs_err err;
    vs_reader_rewind(r->reader);
    r->event = &event;
    while ((err = vs_reader_next(r->reader, &event)) == VS_OK) {
        r->number++;
        err = take_found(r);
        if (!err)
            err = one(r);
        /* the framework's failure follows the device's */
        if (until && r->number >= until && !r->refused_tid)
            break;
    }
    bool all = err == VS_ERR_END;
    if (all)
        err = VS_OK;
    if (!err && all && r->found && r->query->steps->done == r->query->steps->begun)
        err = end_step(r);
    if (!err)
        err = vs_recorded_say(&r->memory, &r->log->store, r->number);
    return !err && r->refused_tid ? refused_alone(r) : err;
}

static void conclude(struct vs_requests_reading *r)
{
    struct vs_whatif_recorded *recorded = &r->log->recorded;
    recorded->events = r->number;
    recorded->total_bytes = r->memory.total;
    recorded->other_peak = r->memory.other_peak;
    recorded->outside_peak = r->memory.outside_peak;
    recorded->contexts_peak = r->memory.contexts_peak;
    recorded->others_peak = r->memory.others_peak;
    recorded->pool_kept_peak = r->memory.pool_kept_peak;
    if (recorded->expandable)
        recorded->policy = VS_POLICY_EXPANDABLE;
    if (!r->open_count)
        return;
    const struct vs_open_failure *last = &r->open[r->open_count - 1]; /* the latest */
    recorded->last_failure = last->event;
    if (last->live + last->bytes > recorded->least_peak)
        recorded->least_peak = last->live + last->bytes;
}

static void release(struct vs_requests_reading *r)
{
    free(r->blocks);
    free(r->slot_bytes);
    vs_map_free(&r->by_addr);
    vs_map_free(&r->tensors);
    vs_map_free(&r->sites);
    vs_map_free(&r->lanes);
    vs_segments_free(&r->cache);
    vs_segments_free(&r->holders);
    vs_phases_free(&r->phases);
    vs_recorded_memory_free(&r->memory);
}

enum vs_err vs_requests_read(struct vs_reader *reader, const struct vs_whatif_query *query,
                             struct vs_whatif_log *log)
{
    struct vs_requests_reading *r = vs_xcalloc(1, sizeof *r);
    *r = (struct vs_requests_reading){.reader = reader, .log = log, .query = query,
                                      .device = query->device};
    enum vs_err err =
        vs_requests_choose(reader, &r->device, &log->recorded.requests);
    log->recorded.device = r->device;
    log->recorded.limit_bytes = VS_WHATIF_NONE;
    r->framework = log->recorded.requests == VS_WHATIF_FRAMEWORK;
    if (!err)
        vs_phases_init(&r->phases);
    if (!err)
        err = read_events(r);
    if (!err)
        conclude(r);
    if (!err)
        err = vs_request_store_seal(&log->store);
    release(r);
    free(r);
    return err;
}
