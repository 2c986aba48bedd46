/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Written from the document and the structs, independently of trace_state_fields.c,
 * so that exchanged fields are detected. The states of the golden trace are older than the user's
 * level, which is not printed. */
#include "golden/checkpoint_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

#define LINE(name, ...)              \
    do {                             \
        fputs(name, out);            \
        NUMBERS(__VA_ARGS__);        \
        putc('\n', out);             \
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
    unsigned count = event->kind == VS_EVENT_range_push    ? 2 /* without the fields appended since */
                     : event->kind == VS_EVENT_range_start ? 3
                                                           : info->field_count;
    NUMBERS(event->kind, event->tid, event->time_ns, count);
    for (unsigned i = 0; i < count; i++)
        number(out, event->fields[i]);
}

static void put_growth(FILE *out, const struct vs_growth *g)
{
    NUMBERS(g->base, g->last, g->first_step, g->first_step_number, g->last_step, g->rises,
            g->falls);
}

/* --- the records --- */

static void put_phases(FILE *out, const struct vs_phases *phases)
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

static void put_threads(FILE *out, const struct vs_phases *phases)
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
        putc('\n', out);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct vs_map_slot *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* The contents of a map by key, malloc'ed, *count* of them. */
static struct vs_map_slot *sorted(const struct vs_map *map, size_t *count)
{
    struct vs_map_slot *slots = calloc(map->count + 1, sizeof *slots);
    const struct vs_map_slot *slot;
    size_t cursor = 0;
    for (*count = 0; *count < map->count && (slot = vs_map_next(map, &cursor)); ++*count)
        slots[*count] = *slot;
    qsort(slots, *count, sizeof *slots, by_key);
    return slots;
}

static void put_maps(FILE *out, const struct vs_replay *replay)
{
    size_t count;
    struct vs_map_slot *slots = sorted(&replay->phases.open_steps, &count);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "open_steps %" PRIu64 " %" PRIu64 "\n", slots[i].key, slots[i].value);
    free(slots);
    slots = sorted(&replay->device_live.by_addr, &count);
    for (size_t i = 0; i < count; i++) {
        const struct vs_live *l = &replay->device_live.items[slots[i].value];
        LINE("live", l->addr, l->requested, l->size, l->time_ns, l->context, l->epoch, l->site,
             l->family, l->device, l->in_segment, l->counted);
    }
    free(slots);
}

static void put_segments(FILE *out, const struct vs_segments *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_replay_segment *s = &set->items[i];
        LINE("segments", s->addr, s->size, s->context, s->stream, s->pool, s->device, s->mapped,
             s->view);
    }
}

static void put_tally(FILE *out, const struct vs_activity_tally *t)
{
    NUMBERS(t->count, t->bytes, t->time_ns);
}

static void put_activity(FILE *out, const struct vs_activity *activity)
{
    for (size_t i = 0; i < activity->kernel_count; i++) {
        const struct vs_kernel_row *k = &activity->kernels[i];
        LINE("kernels", k->name, k->device, k->count, k->time_ns, k->shortest_ns, k->longest_ns);
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

static void put_all(FILE *out, const struct vs_trace_state *m)
{
    const struct vs_replay *replay = m->replay;
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
    putc('\n', out);
    put_phases(out, &replay->phases);
    for (unsigned i = 0; i < replay->account_count; i++)
        put_account(out, replay->accounts[i], false);
    put_account(out, replay->accounts[VS_HOST_INDEX], true);
    for (unsigned i = 0; i < replay->account_count; i++)
        put_usage(out, &replay->accounts[i]->usage, i);
    put_sites(out, &replay->sites);
    put_threads(out, &replay->phases);
    put_maps(out, replay);
    put_segments(out, &replay->segments);
    size_t count;
    struct vs_map_slot *slots = sorted(&replay->framework_live.by_addr, &count);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "framework_live %" PRIu64 " %" PRIu64 "\n", slots[i].key,
                replay->framework_live.items[slots[i].value].size);
    free(slots);
    for (size_t i = 0; i < replay->failure_count; i++) {
        const struct vs_failure *f = &replay->failures[i];
        fputs("failures", out);
        NUMBERS(f->event, f->time_ns, f->requested, f->context, f->stream, f->api, f->stack,
                f->error, f->device_free, f->device_total, f->allocated, f->reserved,
                f->step_begun, f->tid, f->framework, f->recovered, f->account, f->family);
        put_place(out, &f->place);
        putc('\n', out);
    }
    put_activity(out, &m->activity);
    for (size_t i = 0; i < m->retained.count; i++) {
        if (!m->retained.items[i].kind)
            continue;
        fputs("events", out);
        put_event(out, &m->retained.items[i]);
        putc('\n', out);
    }
}

/* --- definitions --- */

static void put_modules(FILE *out, const struct vs_reader *r)
{
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

static void put_definitions(FILE *out, const struct vs_reader *r, const struct vs_checkpoint *before,
                            const struct vs_checkpoint *item)
{
    for (uint64_t id = before->strings + 1; id <= item->strings; id++) {
        fputs("string", out);
        put_text(out, vs_reader_string(r, id));
        putc('\n', out);
    }
    for (uint64_t id = before->stack_nodes + 1; id <= item->stack_nodes; id++) {
        const struct vs_stack_node *node = &r->table.nodes[id - 1];
        LINE("node", node->pc, node->parent, node->module == VS_NO_MODULE ? 0 : node->module + 1u);
    }
}

/* Prints the lines of *state* that are not in *before*, then how many are in both. */
static void put_new(FILE *out, const char *state, const char *before)
{
    unsigned again = 0;
    for (const char *line = state, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        size_t length = (size_t)(end + 1 - line);
        const char *same = before;
        while (same && strncmp(same, line, length) != 0) {
            same = strchr(same, '\n');
            same = same ? same + 1 : NULL;
        }
        again += same != NULL;
        fwrite(line, 1, same ? 0 : length, out);
    }
    fprintf(out, "unchanged %u\n", again);
}

/* *before* is the state of the checkpoint before this one as text, and becomes this one's. */
static enum vs_err put_state(FILE *out, struct vs_reader *reader, struct vs_checkpoints *all,
                             size_t index, char **before)
{
    char *text = NULL;
    size_t bytes;
    FILE *state = open_memstream(&text, &bytes);
    struct vs_trace_state *point = vs_trace_state_open(reader);
    enum vs_err err = vs_checkpoints_each(all, index, VS_CHECKPOINT_STATE, vs_trace_state_load, point);
    if (!err)
        err = vs_trace_state_loaded(point);
    if (!err && point->replay->events != vs_checkpoints_item(all, index)->shown)
        err = VS_ERR_CORRUPT;
    if (!err) {
        put_modules(state, reader);
        put_all(state, point);
    }
    fclose(state);
    put_new(out, text, *before);
    free(*before);
    *before = text;
    vs_trace_state_close(point);
    return err;
}

enum vs_err vs_checkpoint_print(struct vs_reader *reader, FILE *out)
{
    enum vs_err err = vs_reader_attach(reader);
    if (err)
        return err == VS_ERR_NOT_FOUND ? VS_OK : err;
    const struct vs_checkpoint none = {0}, *before = &none, *item;
    struct vs_checkpoints *all = vs_reader_checkpoints(reader);
    const struct vs_checkpoint_table *t = vs_checkpoints_table(all);
    char *state = NULL;
    LINE("table", t->known_kinds, t->unknown, t->fingerprint, t->frames, t->events, t->first_ns,
         t->last_ns, t->count, t->spare_frames);
    for (size_t i = 0; !err && (item = vs_checkpoints_item(all, i)) != NULL; i++) {
        LINE("checkpoint", item->sequence, item->event, item->shown, item->time_ns, item->strings,
             item->stack_nodes, item->definition_frames, item->state_frames);
        err = vs_reader_to_checkpoint(reader, i);
        if (!err)
            put_definitions(out, reader, before, item);
        if (!err)
            err = put_state(out, reader, all, i, &state);
        before = item;
    }
    free(state);
    return err;
}
