/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a moment as records, both ways; docs/trace-format.md §2.8 lists them. One
 * function per kind of record names the fields, in their order. What is read is checked as
 * far as later code relies on it: indexes, order, nothing twice. Maps are made again. */
#include <stdlib.h>
#include <string.h>

#include "analysis/moment.h"
#include "analysis/vec.h"
#include "trace/state_record.h"

enum tag {
    TAG_TOTALS = 1, TAG_PHASE, TAG_ACCOUNT, TAG_USAGE, TAG_SITES, TAG_THREAD, TAG_OPEN_STEPS,
    TAG_LIVE, TAG_SEGMENTS, TAG_FRAMEWORK, TAG_FAILURE, TAG_KERNELS, TAG_ACTIVITY, TAG_EVENTS
};

#define BATCH 1024 /* items in one record */

/* A field added to one of these is added below as well, at the end of its record, and
 * VS_CHECKPOINT_VERSION is raised; then the size here is corrected. */
_Static_assert(sizeof(struct vs_account) == 1912, "fields of an account");
_Static_assert(sizeof(struct vs_site) == 176, "fields of a call site");
_Static_assert(sizeof(struct vs_live) == 64, "fields of a live allocation");
_Static_assert(sizeof(struct vs_failure) == 136, "fields of a failure");
_Static_assert(sizeof(struct vs_phase) == 72, "fields of a phase");
_Static_assert(sizeof(struct vs_steps) == 80, "fields of the steps");
_Static_assert(sizeof(struct vs_replay) == 1560, "fields of a replay, of its window none");

static void place_io(struct vs_state_record *r, struct vs_place *place, const struct vs_phases *in)
{
    vs_state_u32(r, &place->phase, (uint32_t)in->count - 1);
    vs_state_bool(r, &place->step_known);
    vs_state_u64(r, &place->step);
}

static void event_io(struct vs_state_record *r, struct vs_event *event)
{
    vs_state_u32(r, &event->kind, VS_EVENT_CODE_MAX);
    vs_state_u32(r, &event->tid, UINT32_MAX);
    vs_state_u64(r, &event->time_ns);
    const struct vs_event_info *info = vs_event_describe(event->kind);
    uint64_t count = info ? info->field_count : 0, passed = 0;
    vs_state_u64(r, &count);
    if (!info || count > VS_EVENT_FIELDS_MAX) {
        r->bad = true;
        return;
    }
    if (!r->writing)
        memset(event->fields, 0, sizeof event->fields);
    for (uint64_t i = 0; i < count; i++)
        vs_state_u64(r, i < info->field_count ? &event->fields[i] : &passed);
}

static void growth_io(struct vs_state_record *r, struct vs_growth *growth)
{
    vs_state_u64(r, &growth->base);
    vs_state_u64(r, &growth->last);
    vs_state_u64(r, &growth->first_step);
    vs_state_u64(r, &growth->first_step_number);
    vs_state_u64(r, &growth->last_step);
    vs_state_u32(r, &growth->rises, UINT32_MAX);
    vs_state_u32(r, &growth->falls, UINT32_MAX);
}

static void steps_io(struct vs_state_record *r, struct vs_steps *steps)
{
    vs_state_bool(r, &steps->open);
    vs_state_u32(r, &steps->tid, UINT32_MAX);
    uint64_t *const fields[] = {&steps->range, &steps->begun, &steps->done, &steps->number,
                                &steps->time_ns, &steps->total_ns, &steps->shortest_ns,
                                &steps->longest_ns, &steps->longest_number};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        vs_state_u64(r, fields[i]);
}

static void recording_io(struct vs_state_record *r, struct vs_recording_state *state)
{
    vs_state_bool(r, &state->selects);
    vs_state_u64(r, &state->min_size);
    vs_state_u64(r, &state->sample);
    vs_state_u64(r, &state->seed);
    vs_state_u64(r, &state->limit_bytes);
    vs_state_u32(r, &state->stage, VS_RECORDING_TOTALS);
    for (int stage = 0; stage <= VS_RECORDING_TOTALS; stage++) {
        vs_state_u64(r, &state->since_ns[stage]);
        vs_state_u64(r, &state->since_bytes[stage]);
    }
}

static void unrecorded_io(struct vs_state_record *r,
                          struct vs_unrecorded sums[VS_LEVEL_COUNT][VS_WHY_COUNT])
{
    for (int i = 0; i < VS_LEVEL_COUNT * VS_WHY_COUNT; i++) {
        struct vs_unrecorded *sum = &sums[i / VS_WHY_COUNT][i % VS_WHY_COUNT];
        uint64_t *const fields[] = {&sum->allocs, &sum->requested, &sum->size, &sum->frees,
                                    &sum->freed_requested, &sum->freed_size};
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
            vs_state_u64(r, fields[k]);
    }
}

static void totals_io(struct vs_state_record *r, struct vs_moment *m)
{
    struct vs_replay *replay = m->replay;
    uint64_t *const fields[] = {&replay->events, &replay->first_ns, &replay->now_ns,
                                &replay->failure_total, &replay->unmatched_frees, &replay->ignored,
                                &replay->phases.unmatched_pops, &m->activity.last_ns};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        vs_state_u64(r, fields[i]);
    vs_state_u32(r, &replay->phases.main_tid, UINT32_MAX);
    vs_state_bool(r, &replay->sites.step_seen);
    vs_state_bool(r, &replay->has_process);
    if (replay->has_process)
        event_io(r, &replay->process);
    vs_state_bool(r, &replay->has_end);
    if (replay->has_end)
        event_io(r, &replay->end);
    steps_io(r, &replay->phases.steps);
    recording_io(r, &replay->recording);
}

/* --- accounts --- */

static void peak_io(struct vs_state_record *r, struct vs_peak *peak, const struct vs_phases *phases)
{
    vs_state_u64(r, &peak->bytes);
    vs_state_u64(r, &peak->event);
    vs_state_u64(r, &peak->time_ns);
    place_io(r, &peak->place, phases);
    vs_state_u64(r, &peak->allocated);
    vs_state_u64(r, &peak->requested);
    vs_state_u64(r, &peak->reserved);
}

static void sample_io(struct vs_state_record *r, struct vs_sample_mark *mark,
                      const struct vs_phases *phases)
{
    vs_state_u64(r, &mark->used);
    vs_state_u64(r, &mark->free);
    vs_state_u64(r, &mark->total);
    vs_state_u64(r, &mark->event);
    vs_state_u64(r, &mark->time_ns);
    place_io(r, &mark->place, phases);
}

static void families_io(struct vs_state_record *r, struct vs_family_account *families)
{
    uint64_t count = VS_FAMILY_COUNT;
    vs_state_u64(r, &count);
    if (count > VS_FAMILY_COUNT)
        r->bad = true;
    for (uint64_t f = 0; !r->bad && f < count; f++) {
        struct vs_family_account *family = &families[f];
        uint64_t *const fields[] = {&family->allocs, &family->frees, &family->failures,
                                    &family->bytes, &family->live_bytes, &family->live_count,
                                    &family->peak_bytes};
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            vs_state_u64(r, fields[i]);
    }
}

static void account_io(struct vs_state_record *r, struct vs_account *a,
                       const struct vs_phases *phases)
{
    uint64_t *const fields[] = {
        &a->device, &a->name, &a->uuid, &a->total_bytes, &a->sm_count, &a->cc_major, &a->cc_minor,
        &a->simulated, &a->driver_version, &a->allocated, &a->requested, &a->reserved,
        &a->segment_bytes, &a->segment_count, &a->segment_allocs, &a->segment_frees,
        &a->block_bytes, &a->graph_used_peak, &a->graph_reserved, &a->graph_reserved_peak,
        &a->graph_held, &a->peak_reserved_first_ns, &a->lost_bytes, &a->lost_count,
        &a->framework.allocs, &a->framework.frees, &a->framework.allocated,
        &a->framework.peak_allocated, &a->framework.peak_reserved, &a->framework.ooms,
        &a->sample_free, &a->sample_total, &a->step_peak, &a->steps_peak, &a->step_largest,
        &a->steps_largest, &a->freed_bytes, &a->largest};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        vs_state_u64(r, fields[i]);
    vs_state_bool(r, &a->described);
    families_io(r, a->family);
    peak_io(r, &a->peak_allocated, phases);
    peak_io(r, &a->peak_requested, phases);
    peak_io(r, &a->peak_reserved, phases);
    place_io(r, &a->peak_reserved_first_place, phases);
    sample_io(r, &a->peak_used, phases);
    sample_io(r, &a->last_used, phases);
    growth_io(r, &a->growth);
    unrecorded_io(r, a->unrecorded);
}

static void usage_io(struct vs_state_record *r, struct vs_device_usage *u)
{
    uint64_t *const fields[] = {&u->own, &u->pools, &u->others, &u->others_count, &u->graphs};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        vs_state_u64(r, fields[i]);
    bool *const flags[] = {&u->own_known, &u->pools_known, &u->others_seen, &u->graphs_known};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        vs_state_bool(r, flags[i]);
    vs_state_u32(r, &u->others_how, UINT32_MAX);
    vs_state_size(r, &u->process_count);
    if (u->process_count > VS_BALANCE_PROCESSES) {
        u->process_count = 0;
        r->bad = true;
    }
    for (size_t i = 0; i < u->process_count; i++) {
        vs_state_u64(r, &u->process[i].pid);
        vs_state_u64(r, &u->process[i].bytes);
    }
    size_t count = u->context_count;
    vs_state_size(r, &count);
    for (size_t i = 0; i < count && !r->bad; i++) {
        if (!r->writing) {
            r->bad = r->next == r->end ||
                     vs_vec_grow(&u->contexts, &u->context_capacity, i + 1, sizeof *u->contexts);
            if (r->bad)
                return;
            u->context_count = i + 1;
        }
        struct vs_usage_context *context = &u->contexts[i];
        vs_state_u64(r, &context->context);
        vs_state_bool(r, &context->measured);
        vs_state_u32(r, &context->how, UINT32_MAX);
        for (int what = 0; what < VS_OVERHEAD_WHAT_COUNT; what++)
            vs_state_s64(r, &context->bytes[what]);
    }
}

/* --- lists --- */

static void site_io(struct vs_state_record *r, struct vs_site *site)
{
    uint64_t *const fields[] = {
        &site->stack, &site->api, &site->allocs, &site->frees, &site->bytes, &site->largest,
        &site->live_bytes, &site->live_count, &site->lost_bytes, &site->lost_count,
        &site->temporaries, &site->lifetime_ns, &site->largest_before_step,
        &site->largest_in_step};
    vs_state_u32(r, &site->device, VS_HOST_INDEX);
    vs_state_u32(r, &site->family, VS_FAMILY_COUNT - 1);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        vs_state_u64(r, fields[i]);
    growth_io(r, &site->growth);
    vs_state_bool(r, &site->touched);
}

struct last_live {
    uint64_t addr, time_ns, epoch;
};

static void live_io(struct vs_state_record *r, struct vs_live *live, struct last_live *last)
{
    uint64_t rounding = live->size - live->requested;
    uint64_t flags = (uint64_t)live->in_segment | (uint64_t)live->counted << 1;
    vs_state_step(r, &live->addr, &last->addr);
    vs_state_u64(r, &live->requested);
    int64_t signed_rounding = (int64_t)rounding;
    vs_state_s64(r, &signed_rounding);
    live->size = live->requested + (uint64_t)signed_rounding;
    vs_state_step(r, &live->time_ns, &last->time_ns);
    vs_state_u64(r, &live->context);
    vs_state_step(r, &live->epoch, &last->epoch);
    vs_state_u32(r, &live->site, UINT32_MAX);
    vs_state_u8(r, &live->family, VS_FAMILY_COUNT - 1);
    vs_state_u8(r, &live->device, VS_HOST_INDEX);
    vs_state_u64(r, &flags);
    live->in_segment = flags & 1;
    live->counted = flags >> 1 & 1;
}

static void segment_io(struct vs_state_record *r, struct vs_segment *segment, uint64_t *last)
{
    vs_state_step(r, &segment->addr, last);
    vs_state_u64(r, &segment->size);
    vs_state_u64(r, &segment->context);
    vs_state_u64(r, &segment->stream);
    vs_state_u64(r, &segment->pool);
    vs_state_u32(r, &segment->device, VS_HOST_INDEX);
    vs_state_bool(r, &segment->mapped);
    vs_state_bool(r, &segment->view);
}

static void failure_io(struct vs_state_record *r, struct vs_failure *f,
                       const struct vs_phases *phases)
{
    uint64_t *const fields[] = {&f->event, &f->time_ns, &f->requested, &f->context, &f->stream,
                                &f->api, &f->stack, &f->error, &f->device_free, &f->device_total,
                                &f->allocated, &f->reserved, &f->step_begun};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        vs_state_u64(r, fields[i]);
    vs_state_u32(r, &f->tid, UINT32_MAX);
    vs_state_bool(r, &f->framework);
    vs_state_bool(r, &f->recovered);
    vs_state_u32(r, &f->account, VS_HOST_INDEX);
    vs_state_u32(r, &f->family, VS_FAMILY_COUNT - 1);
    place_io(r, &f->place, phases);
}

static void range_io(struct vs_state_record *r, struct vs_range *range,
                     const struct vs_phases *phases)
{
    vs_state_u64(r, &range->domain);
    vs_state_u64(r, &range->time_ns);
    place_io(r, &range->place, phases);
    vs_state_bool(r, &range->is_step);
}

static void tally_io(struct vs_state_record *r, struct vs_tally *tally)
{
    vs_state_u64(r, &tally->count);
    vs_state_u64(r, &tally->bytes);
    vs_state_u64(r, &tally->time_ns);
}

static void device_activity_io(struct vs_state_record *r, struct vs_device_activity *row)
{
    uint64_t kinds = VS_COPY_KIND_COUNT;
    vs_state_u64(r, &row->device);
    tally_io(r, &row->kernels);
    tally_io(r, &row->sets);
    tally_io(r, &row->syncs);
    vs_state_u64(r, &kinds);
    if (kinds > VS_COPY_KIND_COUNT)
        r->bad = true;
    for (uint64_t k = 0; !r->bad && k < kinds; k++)
        tally_io(r, &row->copies[k]);
}

static void kernel_io(struct vs_state_record *r, struct vs_kernel_row *row)
{
    vs_state_u64(r, &row->name);
    vs_state_u64(r, &row->device);
    vs_state_u64(r, &row->count);
    vs_state_u64(r, &row->time_ns);
    vs_state_u64(r, &row->shortest_ns);
    vs_state_u64(r, &row->longest_ns);
}

/* --- writing --- */

static void save_phases(struct vs_state_record *r, struct vs_phases *phases)
{
    for (size_t i = 0; i < phases->count; i++) {
        struct vs_phase *phase = &phases->items[i];
        const char *name = phase->name, *prefix = phase->prefix;
        size_t length = strlen(name), prefix_length = prefix == name ? 0 : strlen(prefix) + 1;
        uint64_t index = i;
        vs_state_u64(r, &index);
        vs_state_u32(r, &phase->parent, UINT32_MAX);
        vs_state_bool(r, &phase->is_step);
        vs_state_text(r, &name, &length);
        vs_state_text(r, &prefix, &prefix_length); /* with its NUL, or none: that is the name */
        vs_state_u64(r, &phase->times);
        vs_state_u64(r, &phase->time_ns);
        vs_state_u64(r, &phase->allocs);
        vs_state_u64(r, &phase->alloc_bytes);
        vs_state_u32(r, &phase->peak_count, VS_HOST_INDEX + 1);
        for (unsigned d = 0; d < phase->peak_count; d++)
            vs_state_u64(r, &phase->peaks[d]);
        vs_state_end(r, TAG_PHASE);
    }
}

static void save_account(struct vs_state_record *r, struct vs_replay *replay, unsigned index)
{
    bool host = index == VS_HOST_INDEX;
    vs_state_bool(r, &host);
    account_io(r, replay->accounts[index], &replay->phases);
    vs_state_end(r, TAG_ACCOUNT);
    if (host)
        return;
    uint64_t number = index;
    vs_state_u64(r, &number);
    usage_io(r, &replay->accounts[index]->usage);
    vs_state_end(r, TAG_USAGE);
}

static void save_threads(struct vs_state_record *r, struct vs_phases *phases)
{
    for (size_t i = 0; i < phases->thread_count; i++) {
        struct vs_thread *thread = &phases->threads[i];
        bool whole = thread->depth <= thread->capacity || thread->capacity == VS_RANGE_DEPTH_MAX;
        uint32_t kept = thread->depth < thread->capacity ? thread->depth : thread->capacity;
        uint32_t depth = whole ? thread->depth : kept; /* what found no room is forgotten */
        vs_state_u32(r, &thread->tid, UINT32_MAX);
        vs_state_u64(r, &thread->last_alloc);
        vs_state_u32(r, &depth, UINT32_MAX);
        for (uint32_t k = 0; k < kept; k++)
            range_io(r, &thread->ranges[k], phases);
        vs_state_end(r, TAG_THREAD);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct vs_map_slot *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* What a map holds, by its keys, so that the same state is always the same bytes, and
 * neighbours take little room. NULL when out of memory (and *r is bad). */
static struct vs_map_slot *sorted(struct vs_state_record *r, const struct vs_map *map)
{
    struct vs_map_slot *slots = malloc((map->count + 1) * sizeof *slots);
    size_t cursor = 0, n = 0;
    const struct vs_map_slot *slot;
    while (slots && n < map->count && (slot = vs_map_next(map, &cursor)) != NULL)
        slots[n++] = *slot;
    if (slots)
        qsort(slots, n, sizeof *slots, by_key);
    else
        r->bad = true;
    return slots;
}

static void save_map(struct vs_state_record *r, const struct vs_map *map, enum tag tag)
{
    struct vs_map_slot *slots = sorted(r, map);
    for (size_t i = 0; slots && i < map->count; i++) {
        vs_state_u64(r, &slots[i].key);
        vs_state_u64(r, &slots[i].value);
        if ((i + 1) % BATCH == 0 || i + 1 == map->count)
            vs_state_end(r, tag);
    }
    free(slots);
}

static void save_lives(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_map_slot *slots = sorted(r, &replay->by_addr);
    struct last_live last = {0};
    for (size_t i = 0; slots && i < replay->by_addr.count; i++) {
        live_io(r, &replay->lives[slots[i].value], &last);
        if ((i + 1) % BATCH == 0 || i + 1 == replay->by_addr.count) {
            vs_state_end(r, TAG_LIVE);
            last = (struct last_live){0};
        }
    }
    free(slots);
}

/* Items in batches. */
#define SAVE(count, tag, one)                              \
    do {                                                   \
        for (size_t i = 0; i < (count); i++) {             \
            one;                                           \
            if ((i + 1) % BATCH == 0 || i + 1 == (count)) \
                vs_state_end(r, tag);                      \
        }                                                  \
    } while (0)

static void save_lists(struct vs_state_record *r, struct vs_moment *m)
{
    struct vs_replay *replay = m->replay;
    uint64_t last = 0;
    SAVE(replay->sites.count, TAG_SITES, site_io(r, &replay->sites.items[i]));
    save_threads(r, &replay->phases);
    save_map(r, &replay->phases.open_steps, TAG_OPEN_STEPS);
    save_lives(r, replay);
    for (size_t i = 0; i < replay->segments.count; i++) {
        if (i % BATCH == 0)
            last = 0;
        segment_io(r, &replay->segments.items[i], &last);
        if ((i + 1) % BATCH == 0 || i + 1 == replay->segments.count)
            vs_state_end(r, TAG_SEGMENTS);
    }
    save_map(r, &replay->framework_live, TAG_FRAMEWORK);
    for (size_t i = 0; i < replay->failure_count; i++) {
        failure_io(r, &replay->failures[i], &replay->phases);
        vs_state_end(r, TAG_FAILURE);
    }
    SAVE(m->activity.kernel_count, TAG_KERNELS, kernel_io(r, &m->activity.kernels[i]));
    SAVE(m->activity.device_count, TAG_ACTIVITY, device_activity_io(r, &m->activity.devices[i]));
    size_t n = 0;
    for (size_t i = 0; i < m->carried.count; i++) {
        if (!m->carried.items[i].kind)
            continue;
        event_io(r, &m->carried.items[i]);
        if (++n % BATCH == 0)
            vs_state_end(r, TAG_EVENTS);
    }
    if (n % BATCH)
        vs_state_end(r, TAG_EVENTS);
}

enum vs_err vs_moment_save(struct vs_moment *m, vs_checkpoint_take *take, void *context)
{
    struct vs_state_record record = {.writing = true, .take = take, .context = context};
    struct vs_state_record *r = &record;
    struct vs_replay *replay = m->replay;
    totals_io(r, m);
    vs_state_end(r, TAG_TOTALS);
    save_phases(r, &replay->phases);
    for (unsigned i = 0; i < replay->account_count; i++)
        save_account(r, replay, i);
    save_account(r, replay, VS_HOST_INDEX);
    save_lists(r, m);
    return vs_state_flush(r);
}

/* --- reading: each takes one record --- */

static enum vs_err load_phase(struct vs_state_record *r, struct vs_phases *phases)
{
    const char *name, *prefix;
    size_t length, prefix_length;
    struct vs_phase phase = {0};
    uint64_t index = 0;
    vs_state_u64(r, &index);
    vs_state_u32(r, &phase.parent, (uint32_t)phases->count - 1);
    vs_state_bool(r, &phase.is_step);
    vs_state_text(r, &name, &length);
    vs_state_text(r, &prefix, &prefix_length);
    vs_state_u64(r, &phase.times);
    vs_state_u64(r, &phase.time_ns);
    vs_state_u64(r, &phase.allocs);
    vs_state_u64(r, &phase.alloc_bytes);
    vs_state_u32(r, &phase.peak_count, VS_HOST_INDEX + 1);
    if (r->bad)
        return VS_ERR_CORRUPT;
    if (phase.peak_count) {
        phase.peaks = calloc(phase.peak_count, sizeof *phase.peaks);
        if (!phase.peaks)
            return VS_ERR_NOMEM;
    }
    for (unsigned d = 0; d < phase.peak_count; d++)
        vs_state_u64(r, &phase.peaks[d]);
    return vs_phases_restore(phases, index, &phase, name, length, prefix_length ? prefix : NULL,
                             prefix_length ? prefix_length - 1 : 0);
}

static enum vs_err load_account(struct vs_state_record *r, struct vs_replay *replay)
{
    bool host = false;
    vs_state_bool(r, &host);
    struct vs_account *account = replay->accounts[VS_HOST_INDEX];
    if (!host) {
        if (replay->account_count == VS_DEVICES_MAX)
            return VS_ERR_CORRUPT;
        account = calloc(1, sizeof *account);
        if (!account)
            return VS_ERR_NOMEM;
        replay->accounts[replay->account_count++] = account;
    }
    account_io(r, account, &replay->phases);
    return VS_OK;
}

static enum vs_err load_usage(struct vs_state_record *r, struct vs_replay *replay)
{
    uint64_t index = 0;
    vs_state_u64(r, &index);
    if (index >= replay->account_count || replay->accounts[index]->usage.contexts)
        return VS_ERR_CORRUPT;
    usage_io(r, &replay->accounts[index]->usage);
    return VS_OK;
}

static enum vs_err load_sites(struct vs_state_record *r, struct vs_replay *replay)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        struct vs_site site = {0};
        uint32_t index;
        site_io(r, &site);
        if (r->bad || !replay->accounts[site.device])
            return VS_ERR_CORRUPT;
        bool touched = site.touched;
        site.touched = false;
        size_t before = replay->sites.count;
        err = vs_sites_get(&replay->sites, site.stack, site.api, site.device, &index);
        if (!err && index != before)
            return VS_ERR_CORRUPT; /* twice */
        if (!err)
            replay->sites.items[index] = site;
        if (!err && touched)
            err = vs_sites_touch(&replay->sites, index);
    }
    return err;
}

static enum vs_err load_thread(struct vs_state_record *r, struct vs_phases *phases)
{
    uint32_t tid = 0;
    struct vs_thread *thread;
    size_t before = phases->thread_count;
    vs_state_u32(r, &tid, UINT32_MAX);
    enum vs_err err = vs_phases_thread(phases, tid, &thread);
    if (err)
        return err;
    if (phases->thread_count == before)
        return VS_ERR_CORRUPT;
    vs_state_u64(r, &thread->last_alloc);
    uint32_t depth = 0;
    vs_state_u32(r, &depth, UINT32_MAX);
    if (!depth || r->bad)
        return VS_OK;
    uint32_t kept = depth < VS_RANGE_DEPTH_MAX ? depth : VS_RANGE_DEPTH_MAX;
    err = vs_phases_room(phases, thread, kept);
    if (err)
        return err == VS_ERR_LIMIT ? VS_ERR_CORRUPT : err;
    for (uint32_t k = 0; k < kept; k++) {
        thread->ranges[k] = (struct vs_range){0};
        range_io(r, &thread->ranges[k], phases);
    }
    thread->depth = depth;
    return VS_OK;
}

static enum vs_err load_map(struct vs_state_record *r, struct vs_map *map)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        uint64_t key = 0, value = 0;
        vs_state_u64(r, &key);
        vs_state_u64(r, &value);
        if (!key || r->bad)
            return VS_ERR_CORRUPT;
        err = vs_map_put(map, key, value);
    }
    return err;
}

static enum vs_err load_lives(struct vs_state_record *r, struct vs_replay *replay)
{
    struct last_live last = {0};
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        struct vs_live live = {.used = true};
        live_io(r, &live, &last);
        if (r->bad || !live.addr || vs_map_get(&replay->by_addr, live.addr) ||
            live.site >= replay->sites.count || !replay->accounts[live.device] ||
            replay->live_slots >= UINT32_MAX - 1)
            return VS_ERR_CORRUPT;
        err = vs_vec_grow(&replay->lives, &replay->live_capacity, replay->live_slots + 1,
                          sizeof *replay->lives);
        if (!err)
            err = vs_map_put(&replay->by_addr, live.addr, replay->live_slots);
        if (err)
            return err;
        replay->lives[replay->live_slots++] = live;
        replay->live_count++;
    }
    return err;
}

static enum vs_err load_segments(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_segments *set = &replay->segments;
    uint64_t last = 0;
    while (!r->bad && r->next < r->end) {
        struct vs_segment segment = {0};
        segment_io(r, &segment, &last);
        if (r->bad || !segment.size || segment.device >= replay->account_count ||
            (set->count && segment.addr <= set->items[set->count - 1].addr))
            return VS_ERR_CORRUPT;
        enum vs_err err = vs_vec_grow(&set->items, &set->capacity, set->count + 1,
                                      sizeof *set->items);
        if (err)
            return err;
        set->items[set->count++] = segment;
    }
    return VS_OK;
}

static enum vs_err load_failure(struct vs_state_record *r, struct vs_replay *replay)
{
    struct vs_failure failure = {0};
    failure_io(r, &failure, &replay->phases);
    if (r->bad || !replay->accounts[failure.account] || replay->failure_count == VS_FAILURES_KEPT)
        return VS_ERR_CORRUPT;
    enum vs_err err = vs_vec_grow(&replay->failures, &replay->failure_capacity,
                                  replay->failure_count + 1, sizeof *replay->failures);
    if (err)
        return err;
    replay->failures[replay->failure_count++] = failure;
    replay->failures_open += !failure.recovered;
    return VS_OK;
}

static enum vs_err load_activity(struct vs_state_record *r, struct vs_activity *activity,
                                 enum tag tag)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        if (tag == TAG_KERNELS) {
            struct vs_kernel_row row = {0};
            kernel_io(r, &row);
            err = r->bad ? VS_ERR_CORRUPT : vs_activity_restore_kernel(activity, &row);
        } else {
            struct vs_device_activity row = {0};
            device_activity_io(r, &row);
            err = r->bad ? VS_ERR_CORRUPT : vs_activity_restore_device(activity, &row);
        }
    }
    return err;
}

static enum vs_err load_events(struct vs_state_record *r, struct vs_carried *carried)
{
    enum vs_err err = VS_OK;
    while (!err && !r->bad && r->next < r->end) {
        struct vs_event event;
        event_io(r, &event);
        err = r->bad ? VS_ERR_CORRUPT : vs_carried_event(carried, &event);
    }
    return err;
}

static enum vs_err load_record(struct vs_state_record *r, struct vs_moment *m, unsigned tag)
{
    switch ((enum tag)tag) {
    case TAG_TOTALS: totals_io(r, m); return VS_OK;
    case TAG_PHASE: return load_phase(r, &m->replay->phases);
    case TAG_ACCOUNT: return load_account(r, m->replay);
    case TAG_USAGE: return load_usage(r, m->replay);
    case TAG_SITES: return load_sites(r, m->replay);
    case TAG_THREAD: return load_thread(r, &m->replay->phases);
    case TAG_OPEN_STEPS: return load_map(r, &m->replay->phases.open_steps);
    case TAG_LIVE: return load_lives(r, m->replay);
    case TAG_SEGMENTS: return load_segments(r, m->replay);
    case TAG_FRAMEWORK: return load_map(r, &m->replay->framework_live);
    case TAG_FAILURE: return load_failure(r, m->replay);
    case TAG_KERNELS:
    case TAG_ACTIVITY: return load_activity(r, &m->activity, (enum tag)tag);
    case TAG_EVENTS: return load_events(r, &m->carried);
    }
    return VS_OK; /* of a newer writer */
}

enum vs_err vs_moment_load(void *context, const unsigned char *bytes, size_t count)
{
    struct vs_moment *m = context;
    struct vs_state_record record = {0};
    unsigned tag;
    while ((tag = vs_state_next(&record, &bytes, &count)) != 0) {
        enum vs_err err = load_record(&record, m, tag);
        if (err)
            return err;
    }
    return record.bad ? VS_ERR_CORRUPT : VS_OK;
}

enum vs_err vs_moment_loaded(struct vs_moment *m)
{
    return m->replay->events && vs_replay_check(m->replay) ? VS_OK : VS_ERR_CORRUPT;
}
