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
#include "viewer/common/proto_writer.h"

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
