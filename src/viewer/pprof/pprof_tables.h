/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pprof profile is written with. Field numbers are those of profile.proto
 * (https://github.com/google/pprof/blob/main/proto/profile.proto). Not thread-safe. */
#ifndef VS_PPROF_TABLES_H
#define VS_PPROF_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/naming/stack_names.h"
#include "base/reading/vs_intern.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "trace/read/reader.h"

/* --- proto_writer.c: protocol buffers ---
 *
 * A message is built in memory field by field, and written into another one, or to a file as a
 * field of the outermost message. Numbers that are 0 are left out, as the encoding allows. */

/* A message. Zero-initialise; free(bytes). */
struct vs_proto {
    unsigned char *bytes;
    size_t count, capacity;
};

/* vs_proto_uints: the numbers that follow, as fields 1, 2, …; those that are 0 are left out. */
#define vs_proto_uints(message, ...)                                \
    vs_proto_fields((message), (const uint64_t[]){__VA_ARGS__}, \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void vs_proto_fields(struct vs_proto *message, const uint64_t *values, unsigned count);
void vs_proto_bytes(struct vs_proto *message, unsigned field, const void *bytes, size_t count);
/* vs_proto_packed: several numbers as one field. */
void vs_proto_packed(struct vs_proto *message, unsigned field, const uint64_t *values,
                     size_t count);

/* vs_proto_write: writes *message* as field *field* of the outermost message, and empties it.
 * _text, _uint: likewise a string, also an empty one, or a number. The caller checks *out*. */
void vs_proto_write(FILE *out, unsigned field, struct vs_proto *message);
void vs_proto_write_text(FILE *out, unsigned field, const char *text);
void vs_proto_write_uint(FILE *out, unsigned field, uint64_t value);

/* --- pprof_tables.c: what samples refer to by number ---
 *
 * Strings, functions, mappings (loaded objects with their build ids) and locations. Entries are
 * added when they are asked for and written once, at the end. */

struct vs_pprof_location {
    uint32_t first, count; /* frames of the named stack, the outermost first: later ones are inlined */
    uint64_t mapping, address;
};

/* Zero-initialise, then set reader and names. */
struct vs_pprof_tables {
    const struct vs_reader *reader;
    const struct vs_stack_names *names;
    struct vs_intern strings;
    struct vs_pprof_location *locations; /* number 1 is the first */
    size_t location_count, location_capacity;
    struct vs_map by_location;
    uint32_t *frames; /* of the locations */
    size_t frame_count, frame_capacity;
    struct vs_intern objects; /* of the mappings: module indices; number 1 is the first */
};

/* vs_pprof_string: the number of *text*; 0 for "". */
uint64_t vs_pprof_string(struct vs_pprof_tables *tables, const char *text);

/* vs_pprof_mapping: the number of the mapping of module *object*; 0 for none. The first one that is
 * asked for should be the program: pprof names the profile after it. */
uint64_t vs_pprof_mapping(struct vs_pprof_tables *tables, uint32_t object);

/* vs_pprof_stack: the numbers of the locations of *stack*, the innermost first, in *ids* (as many
 * as it has frames); returns how many. */
size_t vs_pprof_stack(struct vs_pprof_tables *tables, const struct vs_named_stack *stack,
                      uint64_t *ids);

/* vs_pprof_tables_write: writes all tables; the strings last, because the others add some. */
void vs_pprof_tables_write(struct vs_pprof_tables *tables, FILE *out);

void vs_pprof_tables_free(struct vs_pprof_tables *tables);

#endif
