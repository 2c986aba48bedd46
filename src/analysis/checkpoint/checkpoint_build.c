/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints are placed before event frames. Two limits determine their distance:
 * at least the interval, and never more than their share of the bytes read so far, so that with a
 * large live set they become rarer and the trace does not become large. */
#include "analysis/checkpoint/checkpoint_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "trace/read/checkpoint.h"
#include "trace/read/definition_log.h"
#include "trace/read/rewrite.h"
#include "trace/read/seek.h"

#define INTERVAL_DEFAULT ((uint64_t)1 << 20)
#define SHARE_DEFAULT 10u
#define LOG_BYTES_MAX ((size_t)2 << 20) /* definitions collected before they are written */
#define COUNT_MAX ((VS_FRAME_RAW_MAX - sizeof(struct vs_checkpoint_table)) / \
                   sizeof(struct vs_checkpoint))

/* Where frames are written: one of the two. */
struct target {
    struct vs_rewrite *rewrite;
    struct vs_cache_writer *cache;
};

struct build {
    struct vs_reader *reader;
    const struct vs_checkpoint_options *options;
    struct target target;
    uint64_t start_bytes; /* of the target, without the first checkpoint */
    const struct vs_frame_list *frames;
    struct vs_trace_state *point;
    struct vs_definition_log log;
    unsigned char *raw;
    struct vs_checkpoint next; /* frames so far of the checkpoint being written */
    struct vs_checkpoint *items;
    size_t count, capacity;
    uint64_t last_bytes;  /* of the latest checkpoint */
    uint64_t due;         /* first event where the next one may be made */
    struct vs_checkpoint_table table;
};

static uint64_t target_bytes(const struct target *target)
{
    return target->rewrite ? vs_rewrite_bytes(target->rewrite)
                           : vs_cache_writer_bytes(target->cache);
}

static enum vs_err add_frame(struct build *b, const void *payload, size_t bytes)
{
    uint64_t time_ns = b->next.time_ns, sequence = b->next.sequence;
    return b->target.rewrite ? vs_rewrite_add(b->target.rewrite, VS_FRAME_CHECKPOINT, time_ns,
                                              sequence, payload, bytes)
                             : vs_cache_writer_add(b->target.cache, time_ns, sequence, payload,
                                                   bytes);
}

static enum vs_err add_state(void *context, const unsigned char *bytes, size_t count)
{
    struct build *b = context;
    b->next.state_frames++;
    return add_frame(b, bytes, count);
}

static enum vs_err add_definitions(struct build *b)
{
    const struct vs_checkpoint_head head = {VS_CHECKPOINT_VERSION, VS_CHECKPOINT_DEFINITIONS};
    const unsigned char *piece;
    size_t at = 0, bytes;
    enum vs_err err = b->log.failed ? VS_ERR_NOMEM : VS_OK;
    while (!err && (bytes = vs_definition_log_piece(&b->log, &at, &piece)) > 0) {
        memcpy(b->raw, &head, sizeof head);
        memcpy(b->raw + sizeof head, piece, bytes);
        b->next.definition_frames++;
        err = add_frame(b, b->raw, sizeof head + bytes);
    }
    vs_definition_log_clear(&b->log);
    return err;
}

/* Called when the reader is at the first record of an event frame: a checkpoint, if one is due. */
static enum vs_err at_frame(struct build *b)
{
    const struct vs_checkpoint_options *options = b->options;
    struct vs_reader_counts now = vs_reader_counts(b->reader);
    if (!now.recovered)
        b->table.frames = now.sequence <= b->frames->count ? now.sequence : b->frames->count;
    if (options->progress && !options->progress(options->context, vs_reader_position(b->reader),
                                                vs_reader_bytes(b->reader)))
        return VS_ERR_STATE;
    if (now.recovered || now.sequence < 2 || now.sequence > b->frames->count ||
        now.events < b->due || b->count == COUNT_MAX)
        return VS_OK;
    uint64_t before = target_bytes(&b->target), taken = before - b->start_bytes + b->last_bytes;
    uint64_t read = b->frames->items[now.sequence - 1].offset;
    if (taken > read / 100 * (options->share ? options->share : SHARE_DEFAULT))
        return VS_OK;
    b->next.sequence = now.sequence;
    /* the time of the events before: the reader already has that of the frame's start */
    b->next.time_ns = b->point->replay->now_ns;
    enum vs_err err = add_definitions(b);
    if (!err)
        err = vs_trace_state_save(b->point, add_state, b);
    if (err)
        return err;
    b->next.event = now.events;
    b->next.shown = b->point->replay->events;
    b->next.strings = now.strings;
    b->next.stack_nodes = now.stack_nodes;
    VS_VEC_ADD(b->items, b->count, b->capacity, b->next);
    b->next = (struct vs_checkpoint){0};
    b->last_bytes = target_bytes(&b->target) - before;
    b->due = now.events + (options->interval ? options->interval : INTERVAL_DEFAULT);
    return VS_OK;
}

static enum vs_err read_all(struct build *b)
{
    struct vs_event event;
    bool frame;
    enum vs_err err = VS_OK;
    vs_reader_rewind(b->reader);
    while (!err) {
        err = vs_definition_log_next(&b->log, b->reader, &event, &frame);
        if (!err && frame)
            err = at_frame(b);
        else if (!err)
            vs_trace_state_event(b->point, &event);
        if (!err && b->log.used > LOG_BYTES_MAX)
            err = add_definitions(b);
    }
    return err == VS_ERR_END ? VS_OK : err;
}

static enum vs_err add_table(struct build *b)
{
    struct vs_reader_counts end = vs_reader_counts(b->reader);
    struct vs_checkpoint_table *table = &b->table;
    table->spare_frames = b->next.definition_frames;
    b->next = (struct vs_checkpoint){0};
    table->head = (struct vs_checkpoint_head){VS_CHECKPOINT_VERSION, VS_CHECKPOINT_TABLE};
    table->known_kinds = vs_checkpoint_known_kinds();
    table->unknown = end.unknown;
    table->fingerprint = vs_frame_list_fingerprint(b->frames, table->frames);
    table->events = end.events;
    table->first_ns = b->point->replay->first_ns;
    table->last_ns = b->point->replay->now_ns;
    table->count = (uint32_t)b->count;
    memcpy(b->raw, table, sizeof *table);
    if (b->count)
        memcpy(b->raw + sizeof *table, b->items, b->count * sizeof *b->items);
    return add_frame(b, b->raw, sizeof *table + b->count * sizeof *b->items);
}

static enum vs_err build(struct vs_reader *reader, const struct target *target,
                         const struct vs_checkpoint_options *options,
                         struct vs_checkpoint_result *result)
{
    struct build b = {.reader = reader, .options = options, .target = *target,
                      .frames = vs_reader_frames(reader), .raw = vs_xcalloc(1, VS_FRAME_RAW_MAX)};
    b.start_bytes = target_bytes(target);
    b.due = options->interval ? options->interval : INTERVAL_DEFAULT;
    b.point = vs_trace_state_open(reader);
    enum vs_err err = b.frames ? read_all(&b) : VS_ERR_NOMEM;
    if (!err)
        err = add_table(&b);
    if (!err && result)
        *result = (struct vs_checkpoint_result){b.count, target_bytes(target) - b.start_bytes,
                                                b.table.events};
    vs_trace_state_close(b.point);
    vs_definition_log_free(&b.log);
    free(b.items);
    free(b.raw);
    return err;
}

enum vs_err vs_checkpoint_into_trace(const char *path, const struct vs_checkpoint_options *options,
                                     struct vs_checkpoint_result *result, char *why)
{
    struct vs_reader *reader;
    struct target target = {0};
    *why = 0;
    enum vs_err err =
        vs_rewrite_open(path, NULL, 1u << VS_FRAME_CHECKPOINT, &target.rewrite, why);
    if (err)
        return err;
    err = vs_reader_open(path, &reader, why);
    if (err) {
        vs_rewrite_cancel(target.rewrite);
        return err;
    }
    err = build(reader, &target, options, result);
    char text[VS_READER_WHY_MAX];
    enum vs_condition condition = vs_reader_condition(reader, text);
    if (!err && condition != VS_TRACE_COMPLETE && condition != VS_TRACE_LIVE) {
        snprintf(why, VS_READER_WHY_MAX, "%.200s: %.250s; it is left unchanged", path, text);
        err = VS_ERR_CORRUPT;
    }
    vs_reader_close(reader);
    if (!err && options->bytes_max && vs_rewrite_whole_bytes(target.rewrite) > options->bytes_max)
        err = VS_ERR_LIMIT;
    if (!err)
        return vs_rewrite_commit(target.rewrite, why);
    vs_rewrite_cancel(target.rewrite);
    if (err != VS_ERR_STATE && !*why)
        snprintf(why, VS_READER_WHY_MAX, "%.400s: cannot make checkpoints: %s", path,
                 vs_err_text(err));
    return err;
}

enum vs_err vs_checkpoint_recorded(const char *path, uint64_t events_min,
                                   const struct vs_checkpoint_options *options, char *why)
{
    struct vs_reader *reader;
    struct vs_extent extent;
    struct vs_checkpoint_options within = *options;
    *why = 0;
    if (vs_reader_open(path, &reader, why) != VS_OK)
        return VS_OK; /* reported by the verbs that show it */
    bool wanted = vs_reader_finished(reader) && vs_reader_extent(reader, &extent) == VS_OK &&
                  extent.events >= events_min;
    if (wanted)
        within.bytes_max = vs_size_limit(reader);
    uint64_t bytes = vs_reader_bytes(reader);
    vs_reader_close(reader);
    if (!wanted || (within.bytes_max && bytes >= within.bytes_max))
        return VS_OK;
    enum vs_err err = vs_checkpoint_into_trace(path, &within, NULL, why);
    return err == VS_ERR_LIMIT ? VS_OK : err;
}

enum vs_err vs_checkpoint_need(struct vs_reader *reader, uint64_t events_min,
                               const struct vs_checkpoint_options *options)
{
    struct vs_extent extent;
    struct target target = {0};
    enum vs_err err = vs_reader_attach(reader);
    if (err == VS_ERR_NOT_FOUND)
        err = vs_checkpoint_cache_attach(reader);
    if (err != VS_ERR_NOT_FOUND)
        return err;
    err = vs_reader_extent(reader, &extent);
    if (err || extent.events < events_min)
        return err;
    err = vs_cache_writer_open(reader, &target.cache);
    if (err)
        return err == VS_ERR_NOMEM ? err : VS_OK;
    err = build(reader, &target, options, NULL);
    if (err) {
        vs_cache_writer_cancel(target.cache);
        return err == VS_ERR_NOMEM || err == VS_ERR_STATE ? err : VS_OK;
    }
    if (vs_cache_writer_commit(target.cache) == VS_OK)
        err = vs_checkpoint_cache_attach(reader);
    return err == VS_ERR_NOMEM ? err : VS_OK;
}

#define SAID_WITHIN 1000u /* events: a recording begins with the limits in force */

uint64_t vs_size_limit(struct vs_reader *reader)
{
    struct vs_event event;
    uint64_t limit = 0;
    vs_reader_rewind(reader);
    for (unsigned i = 0; i < SAID_WITHIN && !limit && vs_reader_next(reader, &event) == VS_OK; i++) {
        if (event.kind == VS_EVENT_recording_changed)
            limit = event.recording_changed.limit_bytes;
    }
    return limit;
}
