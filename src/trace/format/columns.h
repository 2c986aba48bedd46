/* SPDX-License-Identifier: Apache-2.0
 *
 * The records of a frame rearranged into columns (codec 2, docs/internals/trace-format.md §2.6): all first
 * bytes lie together, all time differences, all sizes of `alloc` and so on, and an address that
 * occurred before in the frame is stored as a distance back to it. The result compresses to about
 * half the size of rows. The recording threads do no extra work: the background thread rearranges
 * their records. The reader decodes events from the columns (trace/read/reader.c). */
#ifndef VS_COLUMNS_H
#define VS_COLUMNS_H

#include "base/vs_err.h"
#include "trace/format/event.h"
#include "trace/format/format.h"

/* The columns that are not fields of an event kind, in file order. */
enum vs_column {
    VS_COLUMN_HEADS,        /* the first byte of every record */
    VS_COLUMN_THREADS,      /* varints */
    VS_COLUMN_TIMES,        /* first bytes of the varints: noise (compressed apart), unlike the
                             * second */
    VS_COLUMN_TIMES_SECOND,
    VS_COLUMN_TIMES_REST,
    VS_COLUMN_UPS, /* of stack nodes: parent differences, varints like the next two */
    VS_COLUMN_MODULES,
    VS_COLUMN_OFFSETS,
    VS_COLUMN_TEXT_LENGTHS, /* of string definitions, varints */
    VS_COLUMN_DESCRIPTIONS, /* of event kinds: varint length, record without its first byte */
    VS_COLUMN_TEXTS,
    VS_COLUMN_DELTAS,       /* of addresses without a distance */
    VS_COLUMNS_FIXED
};

/* Flags of a column's directory entry, stored with its size. */
#define VS_COLUMN_ADDRESS 1u  /* holds distances back; 0: the next difference follows in DELTAS */
#define VS_COLUMN_CONSTANT 2u /* one varint for all records of the kind */
#define VS_COLUMN_FLAG_BITS 2u

/* Distances count address fields and are smaller than this. */
#define VS_COLUMN_DISTANCE_END UINT32_C(65536)

/* The columns of a frame may be this much larger than its rows. */
#define VS_COLUMNS_SLACK ((size_t)64 << 10)

/* --- columns_split.c --- */

struct vs_splitter;

/* A range of the columns that is compressed separately, because that makes it smaller. */
struct vs_column_part {
    size_t begin, bytes;
    bool text;
};
#define VS_COLUMN_PARTS_MAX 512u

/* vs_splitter_open: for frames of up to *raw_max* bytes. Its memory is mapped and touched only as
 * far as frames need it. NULL when out of memory. */
struct vs_splitter *vs_splitter_open(size_t raw_max);
void vs_splitter_close(struct vs_splitter *splitter);

/* vs_splitter_split: rearranges the rows of one frame into columns. *parts* (room for
 * VS_COLUMN_PARTS_MAX) receives how they divide; *out* the columns, valid until the next call.
 * Returns their size; 0 when the rows cannot be rearranged. Takes no lock, calls no malloc. */
size_t vs_splitter_split(struct vs_splitter *splitter, const unsigned char *rows, size_t bytes,
                         const unsigned char **out, struct vs_column_part *parts, size_t *count);

#endif
