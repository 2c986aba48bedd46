/* SPDX-License-Identifier: Apache-2.0
 *
 * The records of a checkpoint's state: a tag, a length, fields as varints. The same functions write
 * and read, so that each field is named once and both directions agree. Fields are only appended to
 * a record; missing ones read as 0, unknown ones are skipped with the record, and so are records of
 * unknown tags. Invalid bytes set `bad`; no byte outside the input is read. */
#ifndef VS_STATE_RECORD_H
#define VS_STATE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "trace/read/checkpoint.h"

/* Zero-initialise. For writing, set *take* and *context*: *take* receives whole frames, the head of
 * the payload included. */
struct vs_state_record {
    bool writing;
    bool bad;       /* reading: invalid contents; writing: beyond a limit */
    enum vs_err err; /* returned by *take* */
    const unsigned char *next, *end; /* reading: of the present record */
    unsigned char *body;             /* writing: of the present record */
    size_t body_used, body_capacity;
    unsigned char *frame;
    size_t frame_used;
    uint64_t written;
    vs_checkpoint_take *take;
    void *context;
};

/* The fields. When reading, *value* is set (0 after the record's last field). */
void vs_state_u64(struct vs_state_record *record, uint64_t *value);
void vs_state_s64(struct vs_state_record *record, int64_t *value);
/* Values above the type's maximum, or above *max*, are bad. */
void vs_state_u32(struct vs_state_record *record, uint32_t *value, uint32_t max);
void vs_state_u8(struct vs_state_record *record, uint8_t *value, uint8_t max);
void vs_state_bool(struct vs_state_record *record, bool *value);
void vs_state_size(struct vs_state_record *record, size_t *value);
/* vs_state_step: stores *value* as the difference to *last*, which is then set to it. */
void vs_state_step(struct vs_state_record *record, uint64_t *value, uint64_t *last);
/* vs_state_text: when reading, **text* points into the record, *length* bytes without NUL. */
void vs_state_text(struct vs_state_record *record, const char **text, size_t *length);

/* vs_state_end: the fields since the last call are a record of *tag*. vs_state_flush: passes on the
 * last frame and frees all or the error of *take*. */
void vs_state_end(struct vs_state_record *record, unsigned tag);
enum vs_err vs_state_flush(struct vs_state_record *record) VS_MUST_CHECK;

/* vs_state_next: for reading the *count* bytes of a frame at **bytes*, which is advanced: returns
 * the next record's tag, its fields to be read from *record*; 0 at the end, or when bad. */
unsigned vs_state_next(struct vs_state_record *record, const unsigned char **bytes, size_t *count);

#endif
