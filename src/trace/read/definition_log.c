/* SPDX-License-Identifier: Apache-2.0
 *
 * Records are copied as bytes, so that fields that a later version appends to
 * `module` are preserved. Its fields must not depend on the events before, as A and T fields do. */
#include "trace/read/definition_log.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"

/* Maximum size of a piece, unless it is a single record (a string at most). */
#define PIECE_BYTES ((size_t)1 << 20)

static unsigned char *room(struct vs_definition_log *log, size_t bytes)
{
    size_t begun = log->cut_count ? log->cuts[log->cut_count - 1] : 0;
    if (log->used - begun + bytes > PIECE_BYTES && log->used > begun) {
        size_t *cut = vs_vec_push(&log->cuts, &log->cut_count, &log->cut_capacity, sizeof *cut);
        *cut = log->used;
    }
    if (log->failed)
        return NULL;
    vs_vec_room(&log->bytes, &log->capacity, log->used + bytes, 1);
    unsigned char *at = log->bytes + log->used;
    log->used += bytes;
    return at;
}

/* The module event of which *r* kept the row. */
static void add_module(struct vs_definition_log *log, const struct vs_reader *r)
{
    const struct vs_reader_kind *kind = &r->kinds[VS_EVENT_module];
    const unsigned char *record = r->row, *end = record + r->row_bytes;
    uint64_t passed;
    unsigned char head = *record++;
    for (unsigned i = 0; i < kind->field_count; i++)
        log->failed |= kind->codecs[i] == VS_CODEC_A || kind->codecs[i] == VS_CODEC_T;
    if (head & VS_RECORD_TID)
        log->failed |= !vs_get_varint(&record, end, &passed);
    if (!(head & VS_RECORD_SAME_TIME))
        log->failed |= !vs_get_varint(&record, end, &passed);
    unsigned char *at = room(log, 1 + (size_t)(end - record));
    if (!at)
        return;
    *at = VS_EVENT_module | VS_RECORD_SAME_TIME;
    memcpy(at + 1, record, (size_t)(end - record));
}

enum vs_err vs_definition_log_next(struct vs_definition_log *log, struct vs_reader *r,
                                   struct vs_event *event, bool *frame)
{
    enum vs_record what;
    enum vs_err err;
    *frame = false;
    r->row_kinds = UINT64_C(1) << VS_EVENT_module;
    while (!(err = vs_reader_record(r, event, &what))) {
        if (what == VS_RECORD_IS_DEFINITION) {
            unsigned char *at = room(log, r->row_bytes);
            if (at)
                memcpy(at, r->row, r->row_bytes);
        } else if (what != VS_RECORD_IS_FRAME && event->kind == VS_EVENT_module) {
            add_module(log, r);
        }
        *frame = what == VS_RECORD_IS_FRAME;
        if (*frame || what == VS_RECORD_IS_EVENT)
            break;
    }
    r->row_kinds = 0;
    return err;
}

size_t vs_definition_log_piece(const struct vs_definition_log *log, size_t *at,
                               const unsigned char **bytes)
{
    size_t end = log->used;
    for (size_t i = log->cut_count; i-- > 0 && log->cuts[i] > *at;)
        end = log->cuts[i];
    *bytes = log->bytes + *at;
    size_t piece = end - *at;
    *at = end;
    return piece;
}

void vs_definition_log_clear(struct vs_definition_log *log)
{
    log->used = log->cut_count = 0;
}

void vs_definition_log_free(struct vs_definition_log *log)
{
    free(log->cuts);
    free(log->bytes);
    *log = (struct vs_definition_log){0};
}
