/* SPDX-License-Identifier: Apache-2.0
 *
 * The fields of each kind of record of a state, in their order, written and read by the
 * same code; docs/internals/trace-format.md §2.8 lists them. Each value is checked here as far as later code
 * depends on it alone; trace_state_load.c checks conditions between records. */
#include "analysis/checkpoint/trace_state_fields.h"

#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

/* After adding a field to one of these, add it below as well, at the end of its record or in one of
 * its own, and correct the size here. Where states without it are incomplete, let them not be used,
 * as those without has_user_level, or raise VS_CHECKPOINT_VERSION. Use of the device between readings
 * is not stored: it is needed of whole traces only, which are read from the begin. */
_Static_assert(sizeof(struct vs_account) == 2856, "fields of an account, between readings none");
_Static_assert(sizeof(struct vs_site) == 192, "fields of a call site");
_Static_assert(sizeof(struct vs_live) == 96, "fields of a live allocation; its event is of the reading");
_Static_assert(sizeof(struct vs_failure) == 184, "fields of a failure");
_Static_assert(sizeof(struct vs_phase) == 104, "fields of a phase");
_Static_assert(sizeof(struct vs_steps) == 80, "fields of the steps");
_Static_assert(sizeof(struct vs_replay) == 49376,
               "fields of a replay, of its window, end, first failures, peaks and raised peaks none");

/* Passes each of *fields*, up to NULL. */
static void u64s(struct vs_state_record *r, uint64_t *const *fields)
{
    while (*fields)
        vs_state_u64(r, *fields++);
}

static void place_io(struct vs_state_record *r, struct vs_place *place, const struct vs_phases *in)
{
    vs_state_u32(r, &place->phase, (uint32_t)in->count - 1);
    vs_state_bool(r, &place->step_known);
    vs_state_u64(r, &place->step);
}

static void peaks_io(struct vs_state_record *r, uint64_t **peaks, uint32_t *count)
{
    vs_state_u32(r, count, VS_HOST_INDEX + 1);
    if (!r->writing && !r->bad && *count)
        *peaks = vs_xcalloc(*count, sizeof **peaks);
    for (uint32_t d = 0; !r->bad && d < *count; d++)
        vs_state_u64(r, &(*peaks)[d]);
}

void vs_trace_state_io_phase(struct vs_state_record *r, struct vs_trace_state_phase *one,
                             uint32_t parent_max)
{
    struct vs_phase *phase = &one->phase;
    vs_state_u64(r, &one->index);
    vs_state_u32(r, &phase->parent, parent_max);
    vs_state_bool(r, &phase->is_step);
    vs_state_text(r, &one->name, &one->length);
    vs_state_text(r, &one->prefix, &one->prefix_length);
    u64s(r, (uint64_t *const[]){&phase->times, &phase->time_ns, &phase->allocs,
                                &phase->alloc_bytes, NULL});
    peaks_io(r, &phase->peaks, &phase->peak_count);
    u64s(r, (uint64_t *const[]){&phase->user_allocs, &phase->user_bytes, NULL});
    peaks_io(r, &phase->user_peaks, &phase->user_count);
}

void vs_trace_state_io_event(struct vs_state_record *r, struct vs_event *event)
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
    u64s(r, (uint64_t *const[]){&growth->base, &growth->last, &growth->first_step,
                                &growth->first_step_number, &growth->last_step, NULL});
    vs_state_u32(r, &growth->rises, UINT32_MAX);
    vs_state_u32(r, &growth->falls, UINT32_MAX);
}

void vs_trace_state_io_totals(struct vs_state_record *r, struct vs_trace_state *m)
{
    struct vs_replay *replay = m->replay;
    u64s(r, (uint64_t *const[]){&replay->events, &replay->first_ns, &replay->now_ns,
                                &replay->failure_total, &replay->unmatched_frees,
                                &replay->ignored, &replay->phases.unmatched_pops,
                                &m->activity.last_ns, NULL});
    vs_state_u32(r, &replay->phases.main_tid, UINT32_MAX);
    vs_state_bool(r, &replay->sites.step_seen);
    vs_state_bool(r, &replay->has_process);
    if (replay->has_process)
        vs_trace_state_io_event(r, &replay->process);
    vs_state_bool(r, &replay->has_end);
    if (replay->has_end)
        vs_trace_state_io_event(r, &replay->end);
    struct vs_steps *steps = &replay->phases.steps;
    vs_state_bool(r, &steps->open);
    vs_state_u32(r, &steps->tid, UINT32_MAX);
    u64s(r, (uint64_t *const[]){&steps->range, &steps->begun, &steps->done, &steps->number,
                                &steps->time_ns, &steps->total_ns, &steps->shortest_ns,
                                &steps->longest_ns, &steps->longest_number, NULL});
    struct vs_recording_state *state = &replay->recording;
    vs_state_bool(r, &state->selects);
    u64s(r, (uint64_t *const[]){&state->min_size, &state->sample, &state->seed,
                                &state->limit_bytes, NULL});
    vs_state_u32(r, &state->stage, VS_RECORDING_TOTALS);
    for (int stage = 0; stage <= VS_RECORDING_TOTALS; stage++) {
        vs_state_u64(r, &state->since_ns[stage]);
        vs_state_u64(r, &state->since_bytes[stage]);
    }
    vs_state_bool(r, &m->has_user_level);
    vs_state_u64(r, &replay->mark.name);
    vs_state_u32(r, &replay->mark.tid, UINT32_MAX);
    vs_state_u32(r, &replay->mark.depth, UINT32_MAX);
    u64s(r, (uint64_t *const[]){&replay->recording.pauses, &replay->recording.paused_ns,
                                &replay->recording.paused_total_ns, NULL});
}

static void peak_io(struct vs_state_record *r, struct vs_peak *peak, const struct vs_phases *phases)
{
    u64s(r, (uint64_t *const[]){&peak->bytes, &peak->event, &peak->time_ns, NULL});
    place_io(r, &peak->place, phases);
    u64s(r, (uint64_t *const[]){&peak->allocated, &peak->requested, &peak->reserved, NULL});
}

static void sample_io(struct vs_state_record *r, struct vs_sample_mark *mark,
                      const struct vs_phases *phases)
{
    u64s(r, (uint64_t *const[]){&mark->used, &mark->free, &mark->total, &mark->event,
                                &mark->time_ns, NULL});
    place_io(r, &mark->place, phases);
}

/* The parts of the ledger that follow from other records or fields. */
static void complete_sums(struct vs_account *a, uint64_t block_bytes)
{
    struct vs_ledger *sums = &a->sums, *framework = &a->framework;
    sums->direct_bytes = sums->now.family[VS_FAMILY_DEVICE] - block_bytes;
    sums->peak.allocated = a->peak_allocated.bytes;
    sums->peak.requested = a->peak_requested.bytes;
    sums->peak.reserved = a->peak_reserved.bytes;
    framework->now.requested = framework->now.family[VS_FAMILY_DEVICE] = framework->now.allocated;
}

void vs_trace_state_io_account(struct vs_state_record *r, struct vs_account *a,
                               const struct vs_phases *phases)
{
    struct vs_ledger *sums = &a->sums, *framework = &a->framework;
    uint64_t block_bytes = vs_ledger_block_bytes(sums);
    u64s(r, (uint64_t *const[]){&a->device, &a->name, &a->uuid, &a->total_bytes, &a->sm_count,
                                &a->cc_major, &a->cc_minor, &a->simulated, &a->driver_version,
                                &sums->now.allocated, &sums->now.requested, &sums->now.reserved,
                                &sums->segment_bytes, &a->segment_count, &a->segment_allocs,
                                &a->segment_frees, &block_bytes, &a->graph_used_peak,
                                &sums->graph_driver, &a->graph_reserved_peak,
                                &sums->graph_reserved, &a->peak_reserved_first_ns, &a->lost_bytes,
                                &a->lost_count, &framework->family[VS_FAMILY_DEVICE].allocs,
                                &framework->family[VS_FAMILY_DEVICE].frees,
                                &framework->now.allocated, &framework->peak.allocated,
                                &framework->peak.reserved, &a->framework_ooms, &a->sample_free,
                                &a->sample_total, &a->step_peak, &a->steps_peak, &a->step_largest,
                                &a->steps_largest, &a->freed_bytes, &a->largest, NULL});
    vs_state_bool(r, &a->described);
    uint64_t count = VS_FAMILY_COUNT;
    vs_state_u64(r, &count);
    if (count > VS_FAMILY_COUNT)
        r->bad = true;
    for (unsigned f = 0; !r->bad && f < count; f++) {
        struct vs_family_counts *counts = &a->sums.family[f];
        uint64_t live = vs_ledger_live(&a->sums, f);
        u64s(r, (uint64_t *const[]){&counts->allocs, &counts->frees, &a->family[f].failures,
                                    &a->family[f].bytes, &a->sums.now.family[f], &live,
                                    &a->sums.peak.family[f], NULL});
        if (!r->writing)
            counts->live_before = live - counts->allocs + counts->frees;
    }
    peak_io(r, &a->peak_allocated, phases);
    peak_io(r, &a->peak_requested, phases);
    peak_io(r, &a->peak_reserved, phases);
    place_io(r, &a->peak_reserved_first_place, phases);
    sample_io(r, &a->peak_used, phases);
    sample_io(r, &a->last_used, phases);
    growth_io(r, &a->growth);
    for (int i = 0; i < VS_LEVEL_COUNT * VS_WHY_COUNT; i++) {
        struct vs_unrecorded *sum = &a->unrecorded[i / VS_WHY_COUNT][i % VS_WHY_COUNT];
        u64s(r, (uint64_t *const[]){&sum->allocs, &sum->requested, &sum->size, &sum->frees,
                                    &sum->freed_requested, &sum->freed_size, NULL});
    }
    if (!r->writing)
        complete_sums(a, block_bytes);
}

void vs_trace_state_io_usage(struct vs_state_record *r, struct vs_device_usage *u)
{
    u64s(r, (uint64_t *const[]){&u->own, &u->pools, &u->others, &u->others_count, &u->graphs,
                                NULL});
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
            r->bad = r->next == r->end;
            if (r->bad)
                return;
            vs_vec_room(&u->contexts, &u->context_capacity, i + 1, sizeof *u->contexts);
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

/* The figures that sites of both levels have. */
#define COUNTER(name, key) &site->name,
static void site_figures_io(struct vs_state_record *r, struct vs_site *site)
{
    u64s(r, (uint64_t *const[]){&site->allocs, &site->frees, &site->bytes, &site->largest,
                                &site->live_bytes, &site->live_count, &site->lost_bytes,
                                &site->lost_count, VS_SITE_COUNTERS(COUNTER) &site->lifetime_ns,
                                &site->largest_before_step, &site->largest_in_step, NULL});
    growth_io(r, &site->growth);
    vs_state_bool(r, &site->touched);
}

void vs_trace_state_io_site(struct vs_state_record *r, struct vs_site *site)
{
    vs_state_u32(r, &site->device, VS_HOST_INDEX);
    vs_state_u32(r, &site->family, VS_FAMILY_COUNT - 1);
    vs_state_u64(r, &site->stack);
    vs_state_u64(r, &site->api);
    site_figures_io(r, site);
}

void vs_trace_state_io_framework_site(struct vs_state_record *r, struct vs_site *site)
{
    vs_state_u32(r, &site->device, VS_HOST_INDEX);
    vs_state_u64(r, &site->stack);
    vs_state_u64(r, &site->mark);
    vs_state_bool(r, &site->by_mark);
    site_figures_io(r, site);
}

void vs_trace_state_io_live(struct vs_state_record *r, struct vs_live *live,
                            struct vs_trace_state_last_live *last)
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

void vs_trace_state_io_birth(struct vs_state_record *r, struct vs_live *live,
                             const struct vs_phases *phases)
{
    vs_state_u32(r, &live->tid, UINT32_MAX);
    vs_state_u32(r, &live->mark, UINT32_MAX);
    place_io(r, &live->place, phases);
}

void vs_trace_state_io_framework_birth(struct vs_state_record *r, struct vs_live *live,
                                       struct vs_trace_state_last_live *last,
                                       const struct vs_phases *phases)
{
    vs_state_step(r, &live->time_ns, &last->time_ns);
    vs_state_step(r, &live->epoch, &last->epoch);
    vs_state_u32(r, &live->site, UINT32_MAX);
    vs_state_u8(r, &live->device, VS_HOST_INDEX);
    vs_trace_state_io_birth(r, live, phases);
}

void vs_trace_state_io_user(struct vs_state_record *r, struct vs_account *a,
                            const struct vs_phases *phases)
{
    struct vs_user_account *user = &a->user;
    vs_state_bool(r, &user->reports);
    u64s(r, (uint64_t *const[]){&user->backing, &user->step_peak, &user->steps_peak,
                                &user->step_largest, &user->steps_largest, &user->largest,
                                &user->freed_bytes, &a->framework_retries, NULL});
    peak_io(r, &user->peak, phases);
    growth_io(r, &user->growth);
}

void vs_trace_state_io_segment(struct vs_state_record *r, struct vs_replay_segment *segment,
                               uint64_t *last)
{
    vs_state_step(r, &segment->addr, last);
    u64s(r, (uint64_t *const[]){&segment->size, &segment->context, &segment->stream,
                                &segment->pool, NULL});
    vs_state_u32(r, &segment->device, VS_HOST_INDEX);
    vs_state_bool(r, &segment->mapped);
    vs_state_bool(r, &segment->view);
}

void vs_trace_state_io_mapping(struct vs_state_record *r, struct vs_replay_segment *mapping,
                               uint64_t *last)
{
    vs_state_step(r, &mapping->addr, last);
    vs_state_u64(r, &mapping->size);
    vs_state_u64(r, &mapping->memory);
    vs_state_u32(r, &mapping->device, VS_HOST_INDEX);
}

void vs_trace_state_io_failure(struct vs_state_record *r, struct vs_failure *f,
                               const struct vs_phases *phases)
{
    u64s(r, (uint64_t *const[]){&f->event, &f->time_ns, &f->requested, &f->context, &f->stream,
                                &f->api, &f->stack, &f->error, &f->device_free, &f->device_total,
                                &f->allocated, &f->reserved, &f->step_begun, NULL});
    vs_state_u32(r, &f->tid, UINT32_MAX);
    vs_state_bool(r, &f->framework);
    vs_state_bool(r, &f->recovered);
    vs_state_u32(r, &f->account, VS_HOST_INDEX);
    vs_state_u32(r, &f->family, VS_FAMILY_COUNT - 1);
    place_io(r, &f->place, phases);
    u64s(r, (uint64_t *const[]){&f->mark, &f->device_requested, &f->device_event,
                                &f->device_stack, &f->attempts, NULL});
    vs_state_bool(r, &f->answered);
    vs_state_u32(r, &f->overhead, 1 + VS_OVERHEAD_LAUNCH);
}

void vs_trace_state_io_range(struct vs_state_record *r, struct vs_range *range,
                             const struct vs_phases *phases)
{
    vs_state_u64(r, &range->domain);
    vs_state_u64(r, &range->time_ns);
    place_io(r, &range->place, phases);
    vs_state_bool(r, &range->is_step);
}

static void tally_io(struct vs_state_record *r, struct vs_activity_tally *tally)
{
    u64s(r, (uint64_t *const[]){&tally->count, &tally->bytes, &tally->time_ns, NULL});
}

void vs_trace_state_io_device_activity(struct vs_state_record *r, struct vs_device_activity *row)
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

void vs_trace_state_io_kernel(struct vs_state_record *r, struct vs_kernel_row *row)
{
    u64s(r, (uint64_t *const[]){&row->name, &row->device, &row->count, &row->time_ns,
                                &row->shortest_ns, &row->longest_ns, NULL});
}
