/* SPDX-License-Identifier: Apache-2.0
 *
 * The records of a frame rearranged into columns (codec 2, docs/trace-format.md §2.6):
 * all first bytes, all time differences, all sizes of `alloc` and so on each lie
 * together, and an address that occurred before in the frame is a distance back to it.
 * That compresses to about half of what rows do, and costs the recording threads
 * nothing: the background thread rearranges what they have written. Reading puts the
 * very same rows together again, so that nothing behind it knows of columns. */
#ifndef VS_COLUMNS_H
#define VS_COLUMNS_H

#include "base/vs_err.h"
#include "trace/format/event.h"
#include "trace/format/format.h"

/* The columns that are not fields of a kind, in file order. */
enum vs_column {
    VS_COLUMN_HEADS,        /* the first byte of every record */
    VS_COLUMN_THREADS,      /* varints */
    VS_COLUMN_TIMES,        /* first bytes of the varints: noise, unlike the second */
    VS_COLUMN_TIMES_SECOND,
    VS_COLUMN_TIMES_REST,
    VS_COLUMN_UPS, /* of stack nodes, varints, as are the next two */
    VS_COLUMN_MODULES,
    VS_COLUMN_OFFSETS,
    VS_COLUMN_TEXT_LENGTHS, /* of string definitions, varints */
    VS_COLUMN_DESCRIPTIONS, /* of event kinds: varint length, then the record but its first byte */
    VS_COLUMN_TEXTS,
    VS_COLUMN_DELTAS,       /* of addresses that no distance is given for */
    VS_COLUMNS_FIXED
};

/* An entry of the directory, beside the size of the column. */
#define VS_COLUMN_ADDRESS 1u  /* holds distances back; 0: the next difference follows in DELTAS */
#define VS_COLUMN_CONSTANT 2u /* one varint for all records of the kind */
#define VS_COLUMN_FLAG_BITS 2u

/* A distance counts address fields and is less than this. */
#define VS_COLUMN_DISTANCE_END UINT32_C(65536)

/* How much larger than the rows the columns of a frame may be. */
#define VS_COLUMNS_SLACK ((size_t)64 << 10)

/* --- columns_split.c (write side) --- */

struct vs_splitter;

/* One stretch of the columns that had better be compressed by itself. */
struct vs_column_part {
    size_t begin, bytes;
    bool text;
};
#define VS_COLUMN_PARTS_MAX 512u

/* vs_splitter_open: for frames of up to *raw_max* bytes. Its memory is mapped, and
 * touched as far as frames need it. NULL without memory. */
struct vs_splitter *vs_splitter_open(size_t raw_max);
void vs_splitter_close(struct vs_splitter *splitter);

/* vs_splitter_split: the columns of the rows of one frame, and in *parts* (room for
 * VS_COLUMN_PARTS_MAX) how they divide. *out*: the columns, valid until the next call.
 * Returns their size; 0 when the rows cannot be rearranged. Takes no lock, no malloc. */
size_t vs_splitter_split(struct vs_splitter *splitter, const unsigned char *rows, size_t bytes,
                         const unsigned char **out, struct vs_column_part *parts, size_t *count);

/* --- columns_join.c (read side) --- */

struct vs_joiner;

/* vs_joiner_open: NULL without memory (about 0.6 MiB). */
struct vs_joiner *vs_joiner_open(void);
void vs_joiner_close(struct vs_joiner *joiner);

/* What vs_joiner_join may write behind the rows. */
#define VS_JOIN_ROOM (1u + (2u + VS_KIND_FIELDS_MAX) * VS_VARINT_MAX)

/* vs_joiner_join: the rows of *columns* again; *rows* has room for *row_bytes* +
 * VS_JOIN_ROOM. false when they are not what makes exactly *row_bytes* of rows. Any
 * bytes may be given. */
bool vs_joiner_join(struct vs_joiner *joiner, const unsigned char *columns, size_t bytes,
                    unsigned char *rows, size_t row_bytes);

#endif
