/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan file: the place of each request of a program, stream by stream. docs/plan-format.md is
 * the normative text. Little-endian, as on every machine with an NVIDIA GPU. A header, then one
 * vs_plan_stream per stream, then all entries. */
#ifndef VS_PLAN_FORMAT_H
#define VS_PLAN_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define VS_PLAN_MAGIC UINT64_C(0x0a4e414c50535601) /* \1 V S P L A N \n */
#define VS_PLAN_VERSION 1u
#define VS_PLAN_GRANULE UINT64_C(512) /* sizes and offsets are counted in these */
#define VS_PLAN_NONE UINT32_MAX
#define VS_PLAN_STREAMS_MAX 64u
#define VS_PLAN_ENTRIES_MAX (UINT32_C(1) << 26)

struct vs_plan_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; /* size of this structure; later versions may append fields */
    uint64_t checksum;     /* XXH64, seed 0, of the file with this field 0 */
    uint64_t file_bytes;
    uint64_t device_bytes; /* memory of the device the trace was made on; 0: unknown */
    uint64_t live_bytes;   /* peak of live bytes: the lower bound */
    uint32_t stream_count;
    uint32_t entry_count;  /* of all streams */
    uint32_t device;       /* ordinal; VS_PLAN_NONE: any */
    uint32_t reserved;     /* 0 */
    char program[64];      /* base name of the executable, NUL-terminated; may be empty */
};
_Static_assert(sizeof(struct vs_plan_header) == 128, "on disk");

/* The requests of one stream, in order: first the prologue, once, then the period, repeatedly.
 * Streams are numbered by their first request. */
struct vs_plan_stream {
    uint32_t first;    /* entry */
    uint32_t prologue; /* entries */
    uint32_t period;   /* entries; 0: nothing repeats */
    uint32_t repeats;  /* repetitions of the period in the trace, for information */
    uint32_t granules; /* size of the memory that all offsets lie in */
    uint32_t reserved; /* 0 */
};
_Static_assert(sizeof(struct vs_plan_stream) == 24, "on disk");

struct vs_plan_entry {
    uint32_t granules; /* of the request, rounded up; at least 1 */
    uint32_t offset;   /* in granules; VS_PLAN_NONE: not placed */
    uint32_t reserved; /* VS_PLAN_NONE */
    uint32_t life;     /* requests of its stream until it is freed; 0: never */
};
_Static_assert(sizeof(struct vs_plan_entry) == 16, "on disk");

#endif
