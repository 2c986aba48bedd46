/* SPDX-License-Identifier: Apache-2.0
 *
 * A profile for pprof: for each call stack, phase, kind of tensor, family, stream and device the
 * allocations (all, or those of the window) and the part of them that is in use when the device has
 * its peak (or at the time asked for). Sample types have the names of Go's heap profiles. A first
 * pass finds the peaks, a second one takes every allocation at its end. Memory: the live set, the
 * stacks, and one row per sample. Memory of the host is not in the profile. */
#include "viewer/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/stack_sums.h"
#include "analysis/kinds/allocation_log.h"
#include "base/reading/vs_intern.h"
#include "base/reading/vs_vec.h"
#include "viewer/common/gzip_stream.h"
#include "viewer/pprof/pprof_tables.h"

/* Fields of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_TIME = 9, PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11, PROFILE_PERIOD = 12, PROFILE_COMMENT = 13, PROFILE_DEFAULT = 14
};
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };

enum { ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE, VALUES };

/* What one sample sums up, and its sums. */
struct pprof_row {
    struct vs_stack_of of;
    uint64_t stream;
    uint32_t phase;
    uint16_t account;
    uint8_t kind, family; /* kind VS_KIND_COUNT: not a tensor */
    uint64_t values[VALUES];
};

struct pprof {
    struct vs_stack_points points;
    struct vs_stack_sums about; /* without devices */
    struct vs_stack_names *names;
    struct vs_pprof_tables tables;
    FILE *out;
    struct vs_replay *replay; /* at the end of the reading */
    struct vs_intern keys;  /* what a row sums up as numbers */
    struct pprof_row *rows; /* by number of the key */
    size_t capacity;
    struct pprof_rest {
        uint64_t bytes, blocks;
    } rest[VS_DEVICES_MAX]; /* not recorded one by one, at the time, by number of the time */
};

static enum vs_err take(void *context, const struct vs_replay *replay,
                        const struct vs_allocation_life *life)
{
    struct pprof *p = context;
    size_t point = 0;
    (void)replay;
    while (point < p->points.count && p->points.items[point].device != life->device)
        point++;
    if (life->host || !life->counted || point == p->points.count)
        return VS_OK;
    uint64_t event = p->points.items[point].event;
    bool allocated = life->born_event >= p->points.first_event &&
                     life->born_event <= p->points.last_event;
    bool in_use = life->born_event <= event &&
                  (life->end == VS_ALLOCATION_LIVE || life->ended_event > event);
    if (!allocated && !in_use)
        return VS_OK;
    uint8_t kind = life->tensor ? (uint8_t)life->kind : VS_KIND_COUNT;
    const struct vs_stack_of *of = &life->site;
    const uint64_t key[] = {of->stack, of->mark, of->stack ? 0 : of->api, of->tensor, life->stream,
                            (uint64_t)life->place.phase << 32 | (uint64_t)life->account << 16 |
                                (uint64_t)kind << 8 | life->family};
    size_t known = p->keys.count, number = vs_intern(&p->keys, key, sizeof key);
    vs_vec_room(&p->rows, &p->capacity, number + 1, sizeof *p->rows);
    struct pprof_row *row = &p->rows[number];
    if (number == known)
        *row = (struct pprof_row){.of = *of, .stream = life->stream, .phase = life->place.phase,
                                  .account = (uint16_t)life->account, .kind = kind,
                                  .family = (uint8_t)life->family};
    uint64_t weight = p->about.weight;
    row->values[ALLOC_OBJECTS] += allocated ? weight : 0;
    row->values[ALLOC_SPACE] += allocated ? life->size * weight : 0;
    row->values[INUSE_OBJECTS] += in_use ? weight : 0;
    row->values[INUSE_SPACE] += in_use ? life->size * weight : 0;
    return VS_OK;
}

/* After the event of a peak: keeps the memory that has no events of its own. */
static enum vs_err keep_rest(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct pprof *p = context;
    (void)event;
    for (size_t i = 0; i < p->points.count; i++)
        if (p->points.items[i].event == replay->events)
            vs_stack_unrecorded(replay, vs_replay_account(replay, p->points.items[i].device),
                                &p->rest[i].bytes, &p->rest[i].blocks);
    return VS_OK;
}

/* --- writing --- */

static void add_label(struct pprof *p, struct vs_proto *sample, const char *key, const char *text)
{
    struct vs_proto label = {0};
    uint64_t key_number = vs_pprof_string(&p->tables, key); /* also where it is not used */
    if (!*text)
        return;
    vs_proto_uints(&label, key_number, vs_pprof_string(&p->tables, text));
    vs_proto_bytes(sample, SAMPLE_LABEL, label.bytes, label.count);
    free(label.bytes);
}

static void write_sample(struct pprof *p, struct vs_proto *sample,
                         const struct vs_named_stack *stack, const uint64_t values[VALUES])
{
    uint64_t *ids = vs_xcalloc(stack->count, sizeof *ids);
    size_t count = vs_pprof_stack(&p->tables, stack, ids);
    vs_proto_packed(sample, SAMPLE_LOCATION, ids, count);
    vs_proto_packed(sample, SAMPLE_VALUE, values, VALUES);
    free(ids);
}

static void put_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
    struct vs_proto message = {0};
    uint64_t type_number = vs_pprof_string(&p->tables, type);
    vs_proto_uints(&message, type_number, vs_pprof_string(&p->tables, unit));
    vs_proto_write(p->out, field, &message);
    free(message.bytes);
}

static enum vs_err write_profile(struct pprof *p, FILE *out)
{
    p->out = vs_gzip_stream(out);
    static const char *const types[VALUES] = {
        [ALLOC_OBJECTS] = "alloc_objects", [ALLOC_SPACE] = "alloc_space",
        [INUSE_OBJECTS] = "inuse_objects", [INUSE_SPACE] = "inuse_space"};
    const struct vs_replay *replay = p->replay;
    for (int i = 0; i < VALUES; i++)
        put_type(p, PROFILE_SAMPLE_TYPE, types[i], i % 2 ? "bytes" : "count");
    put_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
    vs_proto_write_uint(p->out, PROFILE_PERIOD, 1);
    if (replay->has_process) {
        const struct vs_event_process *process = &replay->process.process;
        vs_proto_write_uint(p->out, PROFILE_TIME, process->start_realtime_ns);
        const char *exe = vs_reader_string(replay->reader, process->exe);
        uint64_t comment =
            vs_pprof_string(&p->tables, vs_reader_string(replay->reader, process->cmdline));
        if (comment)
            vs_proto_write_uint(p->out, PROFILE_COMMENT, comment);
        const struct vs_module *module; /* the program's own mapping becomes the first */
        for (uint32_t i = 0; (module = vs_reader_module(p->tables.reader, i)) != NULL; i++)
            if (!*module->function && strcmp(module->path, exe) == 0) {
                vs_pprof_mapping(&p->tables, i);
                break;
            }
    }
    vs_proto_write_uint(p->out, PROFILE_DURATION, replay->now_ns - vs_replay_start_ns(replay));
    vs_proto_write_uint(p->out, PROFILE_DEFAULT, vs_pprof_string(&p->tables, types[INUSE_SPACE]));
    struct vs_proto sample = {0};
    for (size_t i = 0; i < p->keys.count; i++) {
        const struct pprof_row *row = &p->rows[i];
        struct vs_named_stack stack = vs_stack_names_of(p->names, &row->of);
        char phase[VS_PLACE_TEXT_MAX], number[24];
        bool tensor = row->kind != VS_KIND_COUNT;
        write_sample(p, &sample, &stack, row->values);
        vs_phases_text(&replay->phases, (struct vs_place){.phase = row->phase}, phase);
        add_label(p, &sample, "phase", phase);
        if (tensor)
            add_label(p, &sample, "kind", vs_kind_name((enum vs_kind)row->kind));
        add_label(p, &sample, "family", tensor ? "tensor" : vs_family_name(row->family));
        snprintf(number, sizeof number, "%llu", (unsigned long long)row->stream);
        add_label(p, &sample, "stream", number);
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)replay->accounts[row->account]->device);
        add_label(p, &sample, "device", number);
        vs_proto_write(p->out, PROFILE_SAMPLE, &sample);
    }
    for (size_t i = 0; i < p->points.count; i++) {
        uint64_t values[VALUES] = {0, 0, p->rest[i].blocks, p->rest[i].bytes};
        if (!p->rest[i].bytes)
            continue;
        uint32_t frame = vs_stack_names_label(p->names, "allocations not recorded one by one");
        write_sample(p, &sample, &(struct vs_named_stack){&frame, 1, 1, 0}, values);
        vs_proto_write(p->out, PROFILE_SAMPLE, &sample);
    }
    free(sample.bytes);
    vs_pprof_tables_write(&p->tables, p->out);
    bool failed = ferror(p->out);
    return fclose(p->out) != 0 || failed ? VS_ERR_IO : VS_OK;
}

enum vs_err vs_export_pprof(struct vs_reader *reader, FILE *out,
                            const struct vs_export_options *options,
                            struct vs_export_result *result)
{
    struct pprof *p = vs_xcalloc(1, sizeof *p);
    /* The first pass, which also learns the condition of the trace. */
    struct vs_stack_query query = {.subject = options->point ? VS_STACKS_AT : VS_STACKS_AT_PEAK,
                                   .window = options->window, .one_device = options->one_device,
                                   .device = options->device};
    enum vs_err err = vs_stack_points_read(reader, &query, &p->points, &p->about);
    *result = (struct vs_export_result){.recording = p->about.recording, .ended = p->about.ended,
                                        .condition = p->about.condition};
    memcpy(result->why, p->about.why, sizeof result->why);
    const struct vs_observer observer = {VS_KINDS_EVERY, NULL, keep_rest, p};
    if (!err) {
        p->tables.reader = reader;
        p->tables.names = p->names = vs_stack_names_open(reader);
        err = vs_allocations_read(reader, vs_stack_names_symbols(p->names), NULL, take, p,
                                  &observer, &p->replay);
    }
    if (!err)
        err = write_profile(p, out);
    result->written = p->keys.count;
    vs_replay_close(p->replay);
    vs_stack_names_close(p->names);
    vs_pprof_tables_free(&p->tables);
    vs_intern_free(&p->keys);
    free(p->rows);
    free(p);
    return err;
}
