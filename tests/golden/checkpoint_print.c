/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Written from the document and the structs, independently of trace_state_fields.c,
 * so that exchanged fields are detected. */
#include "golden/checkpoint_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/checkpoint/trace_state.h"
#include "trace/read/reader_internal.h"
#include "trace/read/seek.h"

static void number(FILE *out, uint64_t value)
{
    fprintf(out, " %" PRIu64, value);
}

#define NUMBERS(...)                                                                  \
    do {                                                                              \
        const uint64_t values[] = {__VA_ARGS__};                                      \
        for (size_t at = 0; at < sizeof values / sizeof *values; at++)                \
            number(out, values[at]);                                                  \
    } while (0)

static void put_text(FILE *out, const char *text)
{
    fputs(" \"", out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else
            fprintf(out, *p < 0x20 || *p >= 0x7f ? "\\x%02x" : "%c", *p);
    }
    putc('"', out);
}

static void put_place(FILE *out, const struct vs_place *place)
{
    NUMBERS(place->phase, place->step_known, place->step);
}

static void put_event(FILE *out, const struct vs_event *event)
{
    const struct vs_event_info *info = vs_event_describe(event->kind);
    NUMBERS(event->kind, event->tid, event->time_ns, info->field_count);
    for (unsigned i = 0; i < info->field_count; i++)
        number(out, event->fields[i]);
}

static void put_growth(FILE *out, const struct vs_growth *g)
{
    NUMBERS(g->base, g->last, g->first_step, g->first_step_number, g->last_step, g->rises,
            g->falls);
}

/* --- the records --- */

static void put_totals(FILE *out, const struct vs_trace_state *m)
{
    const struct vs_replay *r = m->replay;
    const struct vs_steps *s = &r->phases.steps;
    const struct vs_recording_state *c = &r->recording;
    fputs("totals", out);
    NUMBERS(r->events, r->first_ns, r->now_ns, r->failure_total, r->unmatched_frees, r->ignored,
            r->phases.unmatched_pops, m->activity.last_ns, r->phases.main_tid,
            r->sites.step_seen);
    r->has_process ? put_event(out, &r->process) : number(out, 0);
    r->has_end ? put_event(out, &r->end) : number(out, 0);
    NUMBERS(s->open, s->tid, s->range, s->begun, s->done, s->number, s->time_ns, s->total_ns,
            s->shortest_ns, s->longest_ns, s->longest_number);
    NUMBERS(c->selects, c->min_size, c->sample, c->seed, c->limit_bytes, c->stage);
    for (int what = 0; what < 4; what++)
        NUMBERS(c->since_ns[what], c->since_bytes[what]);
    if (m->has_user_level)
        NUMBERS(1, r->mark.name, r->mark.tid, r->mark.depth);
    if (c->pauses) /* not in the states of earlier versions */
        NUMBERS(c->pauses, c->paused_ns, c->paused_total_ns);
    putc('\n', out);
}

static void put_phases(FILE *out, const struct vs_phases *phases, bool user_level)
{
    for (size_t i = 0; i < phases->count; i++) {
        const struct vs_phase *p = &phases->items[i];
        fputs("phases", out);
        NUMBERS(i, p->parent, p->is_step);
        put_text(out, p->name);
        put_text(out, p->prefix);
        NUMBERS(p->times, p->time_ns, p->allocs, p->alloc_bytes, p->peak_count);
        for (unsigned d = 0; d < p->peak_count; d++)
            number(out, p->peaks[d]);
        if (user_level) {
            NUMBERS(p->user_allocs, p->user_bytes, p->user_count);
            for (unsigned d = 0; d < p->user_count; d++)
                number(out, p->user_peaks[d]);
        }
        putc('\n', out);
    }
}

static void put_peak(FILE *out, const struct vs_peak *p)
{
    NUMBERS(p->bytes, p->event, p->time_ns);
    put_place(out, &p->place);
    NUMBERS(p->allocated, p->requested, p->reserved);
}

static void put_use(FILE *out, const struct vs_sample_mark *m)
{
    NUMBERS(m->used, m->free, m->total, m->event, m->time_ns);
    put_place(out, &m->place);
}

static void put_families(FILE *out, const struct vs_account *a)
{
    number(out, VS_FAMILY_COUNT);
    for (int i = 0; i < VS_FAMILY_COUNT; i++) {
        const struct vs_ledger *sums = &a->sums;
        NUMBERS(sums->family[i].allocs, sums->family[i].frees, a->family[i].failures,
                a->family[i].bytes, sums->now.family[i], vs_ledger_live(sums, (unsigned)i),
                sums->peak.family[i]);
    }
}

static void put_account(FILE *out, const struct vs_account *a, bool host)
{
    const struct vs_ledger *sums = &a->sums, *framework = &a->framework;
    fputs("accounts", out);
    NUMBERS(host, a->device, a->name, a->uuid, a->total_bytes, a->sm_count, a->cc_major,
            a->cc_minor, a->simulated, a->driver_version, sums->now.allocated,
            sums->now.requested, sums->now.reserved);
    NUMBERS(sums->segment_bytes, a->segment_count, a->segment_allocs, a->segment_frees,
            vs_ledger_block_bytes(sums), a->graph_used_peak, sums->graph_driver,
            a->graph_reserved_peak, sums->graph_reserved, a->peak_reserved_first_ns,
            a->lost_bytes, a->lost_count);
    NUMBERS(framework->family[VS_FAMILY_DEVICE].allocs, framework->family[VS_FAMILY_DEVICE].frees,
            framework->now.allocated, framework->peak.allocated, framework->peak.reserved,
            a->framework_ooms);
    NUMBERS(a->sample_free, a->sample_total, a->step_peak, a->steps_peak, a->step_largest,
            a->steps_largest, a->freed_bytes, a->largest, a->described);
    put_families(out, a);
    put_peak(out, &a->peak_allocated);
    put_peak(out, &a->peak_requested);
    put_peak(out, &a->peak_reserved);
    put_place(out, &a->peak_reserved_first_place);
    put_use(out, &a->peak_used);
    put_use(out, &a->last_used);
    put_growth(out, &a->growth);
    for (int level = 0; level < VS_LEVEL_COUNT; level++) {
        for (int why = 0; why < VS_WHY_COUNT; why++) {
            const struct vs_unrecorded *u = &a->unrecorded[level][why];
            NUMBERS(u->allocs, u->requested, u->size, u->frees, u->freed_requested,
                    u->freed_size);
        }
    }
    putc('\n', out);
}

static void put_usage(FILE *out, const struct vs_device_usage *u, unsigned index)
{
    fputs("usage", out);
    NUMBERS(index, u->own, u->pools, u->others, u->others_count, u->graphs, u->own_known,
            u->pools_known, u->others_seen, u->graphs_known, u->others_how, u->process_count);
    for (size_t i = 0; i < u->process_count; i++)
        NUMBERS(u->process[i].pid, u->process[i].bytes);
    number(out, u->context_count);
    for (size_t i = 0; i < u->context_count; i++) {
        const struct vs_usage_context *c = &u->contexts[i];
        NUMBERS(c->context, c->measured, c->how);
        for (int what = 0; what < VS_OVERHEAD_WHAT_COUNT; what++)
            fprintf(out, " %" PRId64, c->bytes[what]);
    }
    putc('\n', out);
}

static void put_sites(FILE *out, const struct vs_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *s = &sites->items[i];
        if (s->level != VS_LEVEL_DEVICE)
            continue;
        fputs("call_sites", out);
        NUMBERS(s->device, s->family, s->stack, s->api, s->allocs, s->frees, s->bytes, s->largest,
                s->live_bytes, s->live_count, s->lost_bytes, s->lost_count, s->temporaries,
                s->lifetime_ns, s->largest_before_step, s->largest_in_step);
        put_growth(out, &s->growth);
        NUMBERS(s->touched);
        putc('\n', out);
    }
}

static void put_threads(FILE *out, const struct vs_phases *phases, bool user_level)
{
    for (size_t i = 0; i < phases->thread_count; i++) {
        const struct vs_thread *t = &phases->threads[i];
        fputs("threads", out);
        NUMBERS(t->tid, t->last_alloc, t->depth);
        for (uint32_t k = 0; k < t->depth && k < VS_RANGE_DEPTH_MAX; k++) {
            NUMBERS(t->ranges[k].domain, t->ranges[k].time_ns);
            put_place(out, &t->ranges[k].place);
            NUMBERS(t->ranges[k].is_step);
        }
        if (user_level)
            NUMBERS(t->last_framework_alloc);
        putc('\n', out);
    }
}

static int by_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The contents of a map, as pairs by key; malloc'ed, *count* of them. */
static uint64_t (*pairs_of(const struct vs_map *map, size_t *count))[2]
{
    uint64_t (*pairs)[2] = malloc((map->count + 1) * sizeof *pairs);
    const struct vs_map_slot *slot;
    size_t cursor = 0;
    for (*count = 0; pairs && *count < map->count && (slot = vs_map_next(map, &cursor)); ++*count) {
        pairs[*count][0] = slot->key;
        pairs[*count][1] = slot->value;
    }
    if (pairs)
        qsort(pairs, *count, sizeof *pairs, by_first);
    return pairs;
}

static enum vs_err put_map(FILE *out, const struct vs_map *map, const char *name)
{
    size_t count;
    uint64_t (*pairs)[2] = pairs_of(map, &count);
    for (size_t i = 0; pairs && i < count; i++)
        fprintf(out, "%s %" PRIu64 " %" PRIu64 "\n", name, pairs[i][0], pairs[i][1]);
    free(pairs);
    return pairs ? VS_OK : VS_ERR_NOMEM;
}

static enum vs_err put_lives(FILE *out, const struct vs_replay *replay)
{
    size_t count;
    uint64_t (*pairs)[2] = pairs_of(&replay->device_live.by_addr, &count);
    for (size_t i = 0; pairs && i < count; i++) {
        const struct vs_live *l = &replay->device_live.items[pairs[i][1]];
        fputs("live", out);
        NUMBERS(l->addr, l->requested, l->size, l->time_ns, l->context, l->epoch, l->site,
                l->family, l->device, l->in_segment, l->counted);
        putc('\n', out);
    }
    free(pairs);
    return pairs ? VS_OK : VS_ERR_NOMEM;
}

static enum vs_err put_blocks(FILE *out, const struct vs_live_table *table)
{
    size_t count;
    uint64_t (*pairs)[2] = pairs_of(&table->by_addr, &count);
    for (size_t i = 0; pairs && i < count; i++)
        fprintf(out, "framework_live %" PRIu64 " %" PRIu64 "\n", pairs[i][0],
                table->items[pairs[i][1]].size);
    free(pairs);
    return pairs ? VS_OK : VS_ERR_NOMEM;
}

static void put_segments(FILE *out, const struct vs_segments *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_replay_segment *s = &set->items[i];
        fputs("segments", out);
        NUMBERS(s->addr, s->size, s->context, s->stream, s->pool, s->device, s->mapped, s->view);
        putc('\n', out);
    }
}

static void put_mappings(FILE *out, const struct vs_segments *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_replay_segment *m = &set->items[i];
        fputs("mappings", out);
        NUMBERS(m->addr, m->size, m->memory, m->device);
        putc('\n', out);
    }
}

static void put_failures(FILE *out, const struct vs_replay *replay, bool user_level)
{
    for (size_t i = 0; i < replay->failure_count; i++) {
        const struct vs_failure *f = &replay->failures[i];
        fputs("failures", out);
        NUMBERS(f->event, f->time_ns, f->requested, f->context, f->stream, f->api, f->stack,
                f->error, f->device_free, f->device_total, f->allocated, f->reserved,
                f->step_begun, f->tid, f->framework, f->recovered, f->account, f->family);
        put_place(out, &f->place);
        if (user_level)
            NUMBERS(f->mark, f->device_requested, f->device_event, f->device_stack, f->attempts,
                    f->answered, f->overhead);
        putc('\n', out);
    }
}

/* --- the user's level --- */

static void put_user_levels(FILE *out, const struct vs_replay *replay)
{
    for (unsigned i = 0; i < replay->account_count; i++) {
        const struct vs_account *a = replay->accounts[i];
        const struct vs_user_account *u = &a->user;
        if (!u->split)
            continue;
        fputs("user_levels", out);
        NUMBERS(i, u->reports, u->backing, u->step_peak, u->steps_peak, u->step_largest,
                u->steps_largest, u->largest, u->freed_bytes, a->framework_retries);
        put_peak(out, &u->peak);
        put_growth(out, &u->growth);
        putc('\n', out);
    }
}

static void put_framework_sites(FILE *out, const struct vs_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_site *s = &sites->items[i];
        if (s->level != VS_LEVEL_FRAMEWORK)
            continue;
        fputs("framework_sites", out);
        NUMBERS(s->device, s->stack, s->mark, s->by_mark, s->allocs, s->frees, s->bytes,
                s->largest, s->live_bytes, s->live_count, s->lost_bytes, s->lost_count,
                s->temporaries, s->lifetime_ns, s->largest_before_step, s->largest_in_step);
        put_growth(out, &s->growth);
        NUMBERS(s->touched);
        putc('\n', out);
    }
}

/* A loaded table has its rows in the order of addresses, and its sites by level. */
static void put_births(FILE *out, const struct vs_replay *replay)
{
    const struct vs_live_table *blocks = &replay->framework_live, *device = &replay->device_live;
    size_t before = 0;
    while (before < replay->sites.count && replay->sites.items[before].level == VS_LEVEL_DEVICE)
        before++;
    for (size_t i = 0; i < blocks->slots; i++) {
        const struct vs_live *l = &blocks->items[i];
        fputs("framework_births", out);
        NUMBERS(l->time_ns, l->epoch, l->site - before, l->device, l->tid, l->mark);
        put_place(out, &l->place);
        putc('\n', out);
    }
    for (size_t i = 0; i < device->slots; i++) {
        fputs("births", out);
        NUMBERS(device->items[i].tid, device->items[i].mark);
        put_place(out, &device->items[i].place);
        putc('\n', out);
    }
    for (size_t i = 0; i < replay->sites.count; i++)
        if (replay->sites.items[i].backing)
            fprintf(out, "backing %zu\n", i);
}

static void put_user(FILE *out, const struct vs_trace_state *m)
{
    if (!m->has_user_level)
        return;
    put_user_levels(out, m->replay);
    put_framework_sites(out, &m->replay->sites);
    put_births(out, m->replay);
}

static void put_tally(FILE *out, const struct vs_activity_tally *t)
{
    NUMBERS(t->count, t->bytes, t->time_ns);
}

static void put_activity(FILE *out, const struct vs_activity *activity)
{
    for (size_t i = 0; i < activity->kernel_count; i++) {
        const struct vs_kernel_row *k = &activity->kernels[i];
        fputs("kernels", out);
        NUMBERS(k->name, k->device, k->count, k->time_ns, k->shortest_ns, k->longest_ns);
        putc('\n', out);
    }
    for (size_t i = 0; i < activity->device_count; i++) {
        const struct vs_device_activity *d = &activity->devices[i];
        fputs("activities", out);
        NUMBERS(d->device);
        put_tally(out, &d->kernels);
        put_tally(out, &d->sets);
        put_tally(out, &d->syncs);
        NUMBERS(VS_COPY_KIND_COUNT);
        for (int kind = 0; kind < VS_COPY_KIND_COUNT; kind++)
            put_tally(out, &d->copies[kind]);
        putc('\n', out);
    }
}

static enum vs_err put_moment(FILE *out, const struct vs_trace_state *m)
{
    const struct vs_replay *replay = m->replay;
    put_totals(out, m);
    put_phases(out, &replay->phases, m->has_user_level);
    for (unsigned i = 0; i < replay->account_count; i++)
        put_account(out, replay->accounts[i], false);
    put_account(out, replay->accounts[VS_HOST_INDEX], true);
    for (unsigned i = 0; i < replay->account_count; i++)
        put_usage(out, &replay->accounts[i]->usage, i);
    put_sites(out, &replay->sites);
    put_threads(out, &replay->phases, m->has_user_level);
    enum vs_err err = put_map(out, &replay->phases.open_steps, "open_steps");
    if (!err)
        err = put_lives(out, replay);
    put_segments(out, &replay->segments);
    if (!err)
        err = put_blocks(out, &replay->framework_live);
    put_failures(out, replay, m->has_user_level);
    put_activity(out, &m->activity);
    for (size_t i = 0; i < m->retained.count; i++) {
        if (!m->retained.items[i].kind)
            continue;
        fputs("events", out);
        put_event(out, &m->retained.items[i]);
        putc('\n', out);
    }
    put_user(out, m);
    put_mappings(out, &replay->mappings);
    return err;
}

/* --- definitions --- */

static void put_definitions(FILE *out, const struct vs_reader *r, const struct vs_checkpoint *before,
                            const struct vs_checkpoint *item)
{
    for (uint64_t id = before ? before->strings + 1 : 1; id <= item->strings; id++) {
        fputs("string", out);
        put_text(out, vs_reader_string(r, id));
        putc('\n', out);
    }
    for (uint64_t id = before ? before->stack_nodes + 1 : 1; id <= item->stack_nodes; id++) {
        const struct vs_stack_node *node = &r->table.nodes[id - 1];
        fputs("node", out);
        NUMBERS(node->pc, node->parent, node->module == VS_NO_MODULE ? 0 : node->module + 1u);
        putc('\n', out);
    }
    const struct vs_module *module;
    for (uint32_t i = 0; (module = vs_reader_module(r, i)) != NULL; i++) {
        fputs("module", out);
        NUMBERS(module->base, module->start, module->end);
        put_text(out, module->path);
        put_text(out, module->build_id);
        put_text(out, module->function);
        putc('\n', out);
    }
}

static enum vs_err put_state(FILE *out, struct vs_reader *reader, struct vs_checkpoints *all,
                             size_t index)
{
    struct vs_trace_state *moment = vs_trace_state_open(reader);
    enum vs_err err = vs_checkpoints_each(all, index, VS_CHECKPOINT_STATE, vs_trace_state_load, moment);
    if (!err)
        err = vs_trace_state_loaded(moment);
    if (!err && moment->replay->events != vs_checkpoints_item(all, index)->shown)
        err = VS_ERR_CORRUPT;
    if (!err)
        err = put_moment(out, moment);
    else
        fputs("state refused\n", out);
    vs_trace_state_close(moment);
    return err == VS_ERR_NOMEM ? err : VS_OK;
}

enum vs_err vs_checkpoint_print(struct vs_reader *reader, FILE *out)
{
    enum vs_err err = vs_reader_attach(reader);
    if (err)
        return err == VS_ERR_NOT_FOUND ? VS_OK : err;
    const struct vs_checkpoint *before = NULL, *item;
    struct vs_checkpoints *all = vs_reader_checkpoints(reader);
    const struct vs_checkpoint_table *t = vs_checkpoints_table(all);
    fputs("table", out);
    NUMBERS(t->known_kinds, t->unknown, t->fingerprint, t->frames, t->events, t->first_ns,
            t->last_ns, t->count, t->spare_frames);
    putc('\n', out);
    for (size_t i = 0; !err && (item = vs_checkpoints_item(all, i)) != NULL; i++) {
        fputs("checkpoint", out);
        NUMBERS(item->sequence, item->event, item->shown, item->time_ns, item->strings,
                item->stack_nodes, item->definition_frames, item->state_frames);
        putc('\n', out);
        err = vs_reader_to_checkpoint(reader, i);
        if (err == VS_ERR_CORRUPT) {
            fputs("definitions refused\n", out);
            return VS_OK;
        }
        if (!err) {
            put_definitions(out, reader, before, item);
            err = put_state(out, reader, all, i);
        }
        before = item;
    }
    return err;
}
