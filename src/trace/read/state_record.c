/* SPDX-License-Identifier: Apache-2.0
 *
 * Records do not cross frames. */
#include "trace/read/state_record.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"
#include "trace/format/format.h"

#define FRAME_BYTES ((size_t)1 << 20) /* a frame is passed on once it has this size */
#define RECORD_BYTES_MAX (VS_FRAME_RAW_MAX - FRAME_BYTES - 64)

static unsigned char *room(struct vs_state_record *record, size_t bytes)
{
    vs_vec_room(&record->body, &record->body_capacity, record->body_used + bytes, 1);
    return record->body + record->body_used;
}

void vs_state_u64(struct vs_state_record *record, uint64_t *value)
{
    if (record->writing) {
        unsigned char *at = room(record, VS_VARINT_MAX);
        record->body_used = (size_t)(vs_put_varint(at, *value) - record->body);
        return;
    }
    *value = 0;
    if (record->bad || record->next == record->end)
        return;
    if (!vs_get_varint(&record->next, record->end, value))
        record->bad = true;
}

void vs_state_s64(struct vs_state_record *record, int64_t *value)
{
    uint64_t coded = vs_zigzag((uint64_t)*value);
    vs_state_u64(record, &coded);
    *value = (int64_t)vs_unzigzag(coded);
}

void vs_state_step(struct vs_state_record *record, uint64_t *value, uint64_t *last)
{
    uint64_t coded = record->writing ? vs_zigzag(*value - *last) : 0;
    vs_state_u64(record, &coded);
    if (!record->writing)
        *value = *last + vs_unzigzag(coded);
    *last = *value;
}

/* Any narrower integer. */
static uint64_t narrow(struct vs_state_record *record, uint64_t value, uint64_t max)
{
    vs_state_u64(record, &value);
    if (value > max) {
        record->bad = true;
        return 0;
    }
    return value;
}

void vs_state_u32(struct vs_state_record *record, uint32_t *value, uint32_t max)
{
    *value = (uint32_t)narrow(record, *value, max);
}

void vs_state_u8(struct vs_state_record *record, uint8_t *value, uint8_t max)
{
    *value = (uint8_t)narrow(record, *value, max);
}

void vs_state_bool(struct vs_state_record *record, bool *value)
{
    *value = narrow(record, *value, 1) != 0;
}

void vs_state_size(struct vs_state_record *record, size_t *value)
{
    *value = (size_t)narrow(record, *value, SIZE_MAX);
}

void vs_state_text(struct vs_state_record *record, const char **text, size_t *length)
{
    vs_state_size(record, length);
    if (record->writing) {
        memcpy(room(record, *length), *text, *length);
        record->body_used += *length;
        return;
    }
    if (record->bad || *length > (size_t)(record->end - record->next)) {
        record->bad = true;
        *length = 0;
    }
    *text = (const char *)record->next;
    record->next += *length;
}

static void hand_out(struct vs_state_record *record)
{
    struct vs_checkpoint_head head = {VS_CHECKPOINT_VERSION, VS_CHECKPOINT_STATE};
    memcpy(record->frame, &head, sizeof head);
    if (!record->err)
        record->err = record->take(record->context, record->frame, record->frame_used);
    record->written += record->frame_used;
    record->frame_used = sizeof head;
}

void vs_state_end(struct vs_state_record *record, unsigned tag)
{
    if (!record->writing)
        return;
    if (!record->frame) {
        record->frame = vs_xcalloc(1, VS_FRAME_RAW_MAX);
        record->frame_used = sizeof(struct vs_checkpoint_head);
    }
    if (record->body_used > RECORD_BYTES_MAX)
        record->bad = true;
    size_t bytes = record->body_used;
    record->body_used = 0;
    if (record->bad)
        return;
    unsigned char *at = record->frame + record->frame_used;
    at = vs_put_varint(at, tag);
    at = vs_put_varint(at, bytes);
    if (bytes)
        memcpy(at, record->body, bytes);
    record->frame_used = (size_t)(at - record->frame) + bytes;
    if (record->frame_used >= FRAME_BYTES)
        hand_out(record);
}

enum vs_err vs_state_flush(struct vs_state_record *record)
{
    if (!record->bad && record->frame && record->frame_used > sizeof(struct vs_checkpoint_head))
        hand_out(record);
    enum vs_err err = record->err ? record->err : record->bad ? VS_ERR_NOMEM : VS_OK;
    free(record->frame);
    free(record->body);
    record->frame = record->body = NULL;
    record->body_capacity = record->body_used = 0;
    return err;
}

unsigned vs_state_next(struct vs_state_record *record, const unsigned char **bytes, size_t *count)
{
    const unsigned char *p = *bytes, *end = *bytes + *count;
    uint64_t tag, length;
    if (record->bad || p == end)
        return 0;
    if (!vs_get_varint(&p, end, &tag) || !tag || tag > UINT32_MAX ||
        !vs_get_varint(&p, end, &length) || length > (uint64_t)(end - p)) {
        record->bad = true;
        return 0;
    }
    record->next = p;
    record->end = p + length;
    *count = (size_t)(end - record->end);
    *bytes = record->end;
    return (unsigned)tag;
}
